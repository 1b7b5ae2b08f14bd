# Rubin's rules: estimates of m completed tables, one row a table, become one, with the degrees of
# freedom of Barnard and Rubin (1999).

pool_estimates <- function(estimate, variance, df = Inf) {
  estimate <- as.matrix(estimate)
  variance <- as.matrix(variance)
  m <- nrow(estimate)
  if (!identical(dim(estimate), dim(variance)))
    stop("`estimate` and `variance` must have the same shape", call. = FALSE)
  if (m < 2) stop("pooling needs the estimates of two tables or more", call. = FALSE)
  if (!is.numeric(estimate) || !is.numeric(variance) || !all(is.finite(estimate)) ||
      !all(is.finite(variance)) || any(variance < 0))
    stop("estimates must be finite numbers, variances not below 0", call. = FALSE)
  if (!is.numeric(df) || length(df) != 1 || is.na(df) || df <= 0)
    stop("`df` must be one number above 0", call. = FALSE)
  within <- colMeans(variance)
  between <- apply(estimate, 2, stats::var)
  total <- within + (1 + 1 / m) * between
  lambda <- ifelse(total > 0, (1 + 1 / m) * between / total, 0)
  old <- (m - 1) / lambda^2
  observed <- if (is.finite(df)) (df + 1) / (df + 3) * df * (1 - lambda) else rep(Inf, length(old))
  pooled <- 1 / (1 / old + 1 / observed)
  increase <- lambda / (1 - lambda)
  fmi <- ifelse(is.finite(increase), (increase + 2 / (pooled + 3)) / (increase + 1), 1)
  data.frame(estimate = colMeans(estimate), variance = total, within = within, between = between,
             df = pooled, fmi = ifelse(lambda > 0, fmi, 0), row.names = colnames(estimate))
}
