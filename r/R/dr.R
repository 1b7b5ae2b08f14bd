# For users of package dr: its names and tables. Directions and tests of dimension are the library's; groups, ire and the tests of
# coordinates are computed here, in double precision, by the formulas of the papers that ?dr_compat names.

dr_compat <- function(formula, data, subset, group = NULL, na.action = stats::na.fail, weights, method = "sir", nslices = NULL,
                      numdir = 4, threads = 0) {
  call <- match.call()
  method <- one_of(method, c("sir", "save", "phd", "phdres", "phdy", "ire"), "method")
  frame_call <- match.call(expand.dots = FALSE)
  frame_call$group <- if (inherits(group, "formula")) group[[2L]]
  if (is.null(frame_call$na.action)) frame_call$na.action <- quote(stats::na.fail)
  problem <- formula_problem(frame_call, parent.frame())
  if (length(problem$y_names) != 1L) fail("dr_compat() takes one response", kind = "unsupported")
  grouped <- !is.null(problem$group)
  if (grouped && startsWith(method, "phd")) fail("groups are for sir, save and ire", kind = "unsupported")
  if ((grouped || method == "ire") && !is.null(problem$weights)) fail("groups and ire take no weights", kind = "unsupported")
  how <- run_of(1, threads, quiet = TRUE)
  x <- number_columns(problem$features)
  numdir <- min(whole_number(numdir, "numdir", 1), ncol(x))
  sliced <- !startsWith(method, "phd")
  slices <- if (sliced) slices_of(problem$y, if (is.null(nslices)) max(8, ncol(x) + 3) else whole_number(nslices, "nslices", 2), problem$group)
  found <- if (grouped || method == "ire") dr_here(x, slices, problem$group, method, numdir)
           else dr_library(problem, slices, method, numdir, ncol(x), how)
  rownames(found$evectors) <- colnames(x)
  structure(
    c(found, list(method = method, numdir = numdir, cases = problem$rows, x = x, y = problem$y, slices = slices, group = problem$group,
                  slice.info = if (sliced) list(nslices = length(table(slices)), slice.sizes = as.vector(table(slices))),
                  y.name = problem$y_names, call = call, terms = problem$terms)),
    class = "dr_compat"
  )
}

number_columns <- function(features) {
  x <- if (is.list(features$columns)) as.data.frame(features$columns, optional = TRUE) else as.data.frame(features$columns)
  if (!all(vapply(x, is.numeric, NA))) fail("dr_compat() takes columns of numbers", kind = "unsupported")
  as.matrix(x)
}

# Rows in the order of the response, about n / h a slice; equal values stay together. Groups are sliced one by one.
slices_of <- function(y, h, group = NULL) {
  if (!is.null(group)) {
    found <- integer(length(group))
    for (g in unique(group)) found[group == g] <- max(found) + slices_of(y[group == g], h)
    return(found)
  }
  if (!is.numeric(y)) y <- as.integer(factor(y))
  values <- sort(unique(y))
  if (length(values) <= h) return(match(y, values))
  last <- cumsum(table(y)) # the rows up to each value
  ends <- integer()
  end <- 0
  while (end < length(y) - 2L) {
    k <- which(last >= end + length(y) %/% h)[1L]
    if (is.na(k)) k <- length(last)
    ends <- c(ends, k)
    end <- last[k]
  }
  ends[length(ends)] <- length(last)
  findInterval(match(y, values), ends + 1L) + 1L
}

# By the library; slices are classes there.
dr_library <- function(problem, slices, method, numdir, p, how) {
  ours <- if (startsWith(method, "phd")) "phd" else method
  settings <- list(dim = p)
  if (ours == "phd") settings$response <- if (method == "phdy") "raw" else "residual"
  if (!is.null(slices)) problem$table <- make_table(problem$features, list(factor(slices)), problem$y_names, problem$weights)
  else if (problem$numeric) settings$task <- "regression"
  pointer <- in_run(function(run) .Call(C_fit, ours, settings, problem$table, run), how)
  directions <- in_run(function(run) .Call(C_coef, pointer, NULL, 0, run), how)$rows
  basis <- as.matrix(as.data.frame(directions)[-1L])
  tests <- NULL
  if (is.null(problem$weights)) { # they have no weighted form
    tests <- dr_table(order_problem(problem, ours, settings, list(rule = "tests", max = numdir - 1), how)$table)
  }
  list(evectors = unit_columns(basis), evalues = new_stonet(pointer)$about$fitted$eigenvalues * unit_of(ours, problem$y), tests = tests)
}

unit_columns <- function(basis) {
  basis <- sweep(basis, 2L, sqrt(colSums(basis^2)), "/")
  colnames(basis) <- paste0("Dir", seq_len(ncol(basis)))
  basis
}

# The library standardises the response before it takes phd's matrix; dr does not.
unit_of <- function(method, y) if (method == "phd" && is.numeric(y)) sqrt(mean((y - mean(y))^2)) else 1

# The tests under dr's names.
dr_table <- function(tests) {
  table <- data.frame(Stat = tests$statistic, df = tests$df, p.value = tests$p_value)
  if (!is.null(tests$p_value_general) && !all(is.na(tests$p_value_general))) table$p.value.general <- tests$p_value_general
  rownames(table) <- paste0(tests$k, "D vs >= ", tests$k + 1, "D")
  table
}

# ---- here: groups, ire, coordinates ----

# x centred within its groups, and the root of the pooled covariance: z = x R^-1.
standardised <- function(x, group = NULL) {
  if (is.null(group)) group <- rep(1L, nrow(x))
  centred <- x - apply(x, 2L, stats::ave, group)
  root <- chol(crossprod(centred) / nrow(x))
  list(z = centred %*% backsolve(root, diag(ncol(x))), root = root)
}

# sum_s f_s m_s m_s' (sir), or sum_s f_s (I - V_s)^2 (save), over the slices of all groups.
candidate <- function(z, slices, method) {
  total <- 0
  for (s in unique(slices)) {
    part <- z[slices == s, , drop = FALSE]
    mean <- colMeans(part)
    inner <- diag(ncol(z)) - crossprod(sweep(part, 2L, mean)) / nrow(part)
    total <- total + nrow(part) / nrow(z) * if (method == "sir") tcrossprod(mean) else inner %*% inner
  }
  total
}

dr_here <- function(x, slices, group, method, numdir) {
  if (method == "ire") return(dr_ire(x, slices, group, numdir))
  scaled <- standardised(x, group)
  values <- eigen(candidate(scaled$z, slices, method), symmetric = TRUE)
  tests <- NULL
  if (method == "sir") {
    k <- seq_len(numdir) - 1
    free <- length(unique(slices)) - length(unique(group))
    statistic <- nrow(x) * vapply(k, function(d) sum(values$values[seq_along(values$values) > d]), 0)
    df <- (ncol(x) - k) * (free - k)
    tests <- dr_table(data.frame(k = k, statistic = statistic, df = df, p_value = stats::pchisq(statistic, df, lower.tail = FALSE)))
  }
  list(evectors = unit_columns(backsolve(scaled$root, values$vectors)), evalues = values$values, tests = tests)
}

# Per group: zeta = S^-1 sum_s f_s (m_s - m) times contrasts, and the covariance of sqrt(n) vec(zeta) from
# S^-1 (x - m) e', e the residuals of the slices' indicators on x.
ire_parts <- function(x, slices, group) {
  if (is.null(group)) group <- rep(1L, nrow(x))
  lapply(split(seq_len(nrow(x)), group), function(rows) {
    centred <- scale(x[rows, , drop = FALSE], scale = FALSE)
    inverse <- chol2inv(chol(crossprod(centred) / length(rows)))
    indicator <- outer(slices[rows], unique(slices[rows]), `==`) + 0
    h <- ncol(indicator)
    contrast <- qr.Q(qr(cbind(1, diag(h)[, -1L])))[, -1L, drop = FALSE]
    zeta <- inverse %*% crossprod(centred, indicator) / length(rows)
    e <- scale(indicator, scale = FALSE) - centred %*% zeta
    influence <- (centred %*% inverse)[, rep(seq_len(ncol(x)), h - 1L)] * (e %*% contrast)[, rep(seq_len(h - 1L), each = ncol(x))]
    list(n = length(rows), zeta = zeta %*% contrast, covariance = crossprod(influence) / length(rows))
  })
}

# min over B, C of sum_g n_g |vec(zeta_g - B C_g)|^2 in the metric of the inverse covariance, by turns.
dr_ire <- function(x, slices, group, numdir) {
  parts <- lapply(ire_parts(x, slices, group), function(part) c(part, list(weight = part$n * solve(part$covariance))))
  p <- ncol(x)
  h <- sum(vapply(parts, function(part) ncol(part$zeta), 0L))
  start <- svd(do.call(cbind, lapply(parts, `[[`, "zeta")))$u
  fits <- lapply(seq_len(min(numdir, p, h) + 1L) - 1L, function(d) ire_fit(parts, start[, seq_len(d), drop = FALSE]))
  k <- seq_along(fits) - 1L
  df <- (p - k) * (h - k)
  value <- vapply(fits, `[[`, 0, "value")
  at <- seq_len(min(numdir, length(k)))
  tests <- data.frame(k = k, statistic = value, df = df, p_value = stats::pchisq(value, df, lower.tail = FALSE))[at, ]
  list(evectors = unit_columns(fits[[length(fits)]]$basis), evalues = -diff(value), tests = dr_table(tests))
}

ire_fit <- function(parts, basis) {
  d <- ncol(basis)
  p <- nrow(parts[[1L]]$zeta)
  cost <- function(part, left) sum(left * (part$weight %*% left))
  if (d == 0L) return(list(value = sum(vapply(parts, function(part) cost(part, as.vector(part$zeta)), 0)), basis = basis))
  before <- Inf
  for (turn in seq_len(500L)) {
    value <- 0
    normal <- 0
    right <- 0
    for (part in parts) {
      m <- ncol(part$zeta)
      by <- kronecker(diag(m), basis)
      c <- matrix(solve(crossprod(by, part$weight %*% by), crossprod(by, part$weight %*% as.vector(part$zeta))), d)
      value <- value + cost(part, as.vector(part$zeta - basis %*% c))
      by <- kronecker(t(c), diag(p))
      normal <- normal + crossprod(by, part$weight %*% by)
      right <- right + crossprod(by, part$weight %*% as.vector(part$zeta))
    }
    if (before - value < 1e-10 * value) break
    before <- value
    basis <- qr.Q(qr(matrix(solve(normal, right), p)))
  }
  list(value = value, basis = basis)
}

# p-value of a sum of weighted chi-squares by one that has the same mean and variance (Bentler and Xie).
mixture_p <- function(statistic, weights) {
  df <- sum(weights)^2 / sum(weights^2)
  stats::pchisq(statistic * df / sum(weights), df, lower.tail = FALSE)
}

dr_coordinate_test <- function(object, hypothesis, law = c("general", "normal")) {
  if (!inherits(object, "dr_compat")) fail("this is of class ", class(object)[1L], ", not what dr_compat() gives")
  law <- one_of(law[1L], c("general", "normal"), "law")
  if (startsWith(object$method, "phd")) fail("tests of coordinates are for sir, save and ire", kind = "unsupported")
  kept <- hypothesis_basis(object, hypothesis)
  r <- ncol(object$x) - ncol(kept)
  if (r < 1L) fail("the hypothesis leaves no variable out")
  if (object$method == "ire") return(coordinate_row(ire_coordinates(object, qr.Q(qr(kept), complete = TRUE)[, -seq_len(ncol(kept)), drop = FALSE])))
  if (!is.null(object$group)) fail("tests of coordinates with groups are for ire", kind = "unsupported")
  scaled <- standardised(object$x)
  out <- qr.Q(qr(scaled$root %*% kept), complete = TRUE)[, -seq_len(ncol(kept)), drop = FALSE]
  coordinate_row((if (object$method == "sir") sir_coordinates else save_coordinates)(scaled$z, object$slices, out, law))
}

coordinate_row <- function(found) data.frame(Statistic = found[["statistic"]], P.value = found[["p"]], row.names = "Test")

# A basis of what holds the directions if the hypothesis is true: a formula without the variables in question, or a matrix.
hypothesis_basis <- function(object, hypothesis) {
  if (!inherits(hypothesis, "formula")) {
    kept <- as.matrix(hypothesis)
    if (!is.numeric(kept) || nrow(kept) != ncol(object$x)) fail("the hypothesis is a formula, or a matrix of ", ncol(object$x), " rows")
    return(kept)
  }
  labels <- attr(stats::terms(stats::update(stats::formula(object$terms), hypothesis)), "term.labels")
  at <- match(labels, colnames(object$x))
  if (anyNA(at)) fail("'", labels[is.na(at)][1L], "' is no column of this fit")
  diag(ncol(object$x))[, at, drop = FALSE]
}

# n sum_s f_s |H'm_s|^2 (Cook 2004); by the law of any x, or of normal x, where the weights are 1 - the eigenvalues.
sir_coordinates <- function(z, slices, out, law) {
  n <- nrow(z)
  w <- z %*% out
  indicator <- outer(slices, unique(slices), `==`) + 0
  f <- colMeans(indicator)
  means <- crossprod(z, indicator) / n # f_s m_s
  statistic <- n * sum((t(out) %*% means)^2 %*% (1 / f))
  e <- sweep(sweep(indicator, 2L, f) - z %*% means, 2L, sqrt(f), "/")
  weights <- if (law == "normal") rep(eigen(crossprod(e) / n, symmetric = TRUE)$values, each = ncol(w))
             else product_values(e, w)
  c(statistic = statistic, p = mixture_p(statistic, pmax(weights, 0)))
}

# (n / 2) sum_s f_s |H'(I - V_s)H|^2 (Shao, Cook and Weisberg 2007).
save_coordinates <- function(z, slices, out, law) {
  n <- nrow(z)
  w <- z %*% out
  r <- ncol(w)
  f <- table(slices) / n
  statistic <- n / 2 * sum(vapply(names(f), function(s) {
    part <- w[slices == s, , drop = FALSE]
    f[[s]] * sum((diag(r) - crossprod(sweep(part, 2L, colMeans(part))) / nrow(part))^2)
  }, 0))
  df <- (length(f) - 1) * r * (r + 1) / 2
  if (law == "normal") return(c(statistic = statistic, p = stats::pchisq(statistic, df, lower.tail = FALSE)))
  products <- w[, rep(seq_len(r), r), drop = FALSE] * w[, rep(seq_len(r), each = r), drop = FALSE]
  values <- eigen(stats::cov(products), symmetric = TRUE)$values
  c(statistic = statistic, p = mixture_p(statistic, rep(pmax(values, 0) / 2, length(f) - 1)))
}

# Eigenvalues of the covariance of the products of two sets of columns.
product_values <- function(a, b) {
  both <- a[, rep(seq_len(ncol(a)), each = ncol(b)), drop = FALSE] * b[, rep(seq_len(ncol(b)), ncol(a)), drop = FALSE]
  eigen(stats::cov(both) * (nrow(a) - 1) / nrow(a), symmetric = TRUE)$values
}

# n vec(H'zeta)' (covariance of it)^-1 vec(H'zeta), over the groups (Cook and Ni 2005).
ire_coordinates <- function(object, out) {
  parts <- ire_parts(object$x, object$slices, object$group)
  found <- vapply(parts, function(part) {
    by <- kronecker(diag(ncol(part$zeta)), out)
    left <- crossprod(by, as.vector(part$zeta))
    c(part$n * sum(left * solve(crossprod(by, part$covariance %*% by), left)), length(left))
  }, c(0, 0))
  statistic <- sum(found[1L, ])
  c(statistic = statistic, p = stats::pchisq(statistic, sum(found[2L, ]), lower.tail = FALSE))
}

drop1.dr_compat <- function(object, scope, law = c("general", "normal"), ...) {
  unknown_arguments(...)
  names <- colnames(object$x)
  if (!missing(scope)) names <- if (inherits(scope, "formula")) attr(stats::terms(scope), "term.labels") else scope
  rows <- lapply(names, function(name) {
    if (!name %in% colnames(object$x)) fail("'", name, "' is no column of this fit")
    dr_coordinate_test(object, diag(ncol(object$x))[, colnames(object$x) != name, drop = FALSE], law)
  })
  table <- do.call(rbind, rows)
  rownames(table) <- paste("-", names)
  structure(table, heading = "Tests of coordinates: no variable but the others is needed\n", class = c("anova", "data.frame"))
}

# As summary() of dr prints it.
print.dr_compat <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  shown <- seq_len(x$numdir)
  cat("\nCall:\n", paste(trimws(deparse(x$call)), collapse = " "), "\n\nMethod:\n", x$method,
      if (!is.null(x$slice.info)) paste0(" with ", x$slice.info$nslices, " slices"), ", n = ", x$cases, ".\n", sep = "")
  if (!is.null(x$slice.info)) cat("\nSlice Sizes:\n", x$slice.info$slice.sizes, "\n")
  cat("\nEstimated Basis Vectors for Central Subspace:\n")
  print(x$evectors[, shown[shown <= ncol(x$evectors)], drop = FALSE], digits = digits)
  cat("\n")
  table <- rbind(Eigenvalues = x$evalues[shown])
  if (is.numeric(x$y)) { # how much of least squares the first directions hold
    ols <- stats::fitted(stats::lm(x$y ~ x$x))
    table <- rbind(table, "R^2(OLS|dr)" = vapply(shown, function(k) {
      if (k > ncol(x$evectors)) return(NA_real_)
      stats::cor(ols, stats::lm.fit(cbind(1, x$x %*% x$evectors[, seq_len(k)]), ols)$fitted.values)^2
    }, 0))
  }
  colnames(table) <- paste0("Dir", shown)
  print(table, digits = digits)
  if (!is.null(x$tests)) {
    cat("\nLarge-sample Marginal Dimension Tests:\n")
    print(x$tests, digits = digits)
  }
  invisible(x)
}
