# broom's three questions; their generics are those of package generics, which need not be there.

tidy.stonet <- function(x, conf.int = FALSE, conf.level = 0.95, ...) {
  if (a_flag(conf.int, "conf.int")) return(coef_rows(x, conf.level, ...))
  unknown_arguments(...)
  fitted <- x$about$fitted
  part <- function(values) if (length(values) >= x$dim) values[seq_len(x$dim)] else rep(NA_real_, x$dim)
  data.frame(term = paste0("z", seq_len(x$dim)), share = part(fitted$explained_share), eigenvalue = part(fitted$eigenvalues))
}

glance.stonet <- function(x, ...) {
  held <- held_out(x)
  one <- function(row, column) if (is.null(held)) NA_real_ else held[row, column]
  likelihood <- if (x$predicts && !is.null(x$fitted.values)) logLik(x)
  data.frame(
    method = x$method, dim = x$dim, nobs = x$nobs, columns = length(x$x_names), outputs = x$outputs,
    classifier = x$classifier, calibrated = x$calibrated, outcome = x$outcome,
    criterion = if (is.null(held)) NA_character_ else names(held)[1L], held_out = one(1L, 1L), held_out_se = one(1L, 2L),
    constant = one(2L, 1L), linear = one(3L, 1L), logLik = if (is.null(likelihood)) NA_real_ else as.double(likelihood),
    df = if (is.null(likelihood)) NA_real_ else attr(likelihood, "df"), seed = x$seed
  )
}

augment.stonet <- function(x, data = NULL, newdata = NULL, interval = FALSE, level = 0.9, ...) {
  unknown_arguments(...)
  rows <- if (is.null(newdata)) data else newdata
  if (is.null(rows)) {
    frame <- as.data.frame(x)
    z <- x$z
  } else {
    if (!is.data.frame(rows)) fail("data and newdata are data frames, not of class ", class(rows)[1L])
    frame <- rows
    z <- transform(x, rows)
  }
  frame[paste0(".", colnames(z))] <- as.data.frame(z)
  if (is.null(rows)) frame <- frame[setdiff(names(frame), colnames(z))]
  if (!x$predicts) return(frame)
  if (x$classifier) {
    p <- if (is.null(rows)) x$fitted.values else predict(x, rows, type = "prob")
    frame$.pred_class <- unname(most_probable(x, p))
    frame[paste0(".pred_", x$levels)] <- as.data.frame(p)
  } else {
    p <- if (is.null(rows)) x$fitted.values else as.matrix(predict(x, rows))
    frame[if (ncol(p) == 1L) ".fitted" else paste0(".fitted_", x$y_names)] <- as.data.frame(p)
    if (a_flag(interval, "interval") && ncol(p) == 1L) {
      ends <- predict(x, rows, type = "interval", level = level)
      frame[c(".lower", ".upper")] <- as.data.frame(ends[, c("lwr", "upr"), drop = FALSE])
    }
    if (is.null(rows) && ncol(p) == 1L && !has_law(x)) frame$.resid <- as.double(x$y) - p[, 1L]
  }
  frame
}
