# For users of package dr: its names and tables. Directions and tests of dimension are the library's; groups and the tests of
# coordinates are computed here, in double precision, by the formulas of the papers that ?dr_compat names; ire is in ire.R.

dr_compat <- function(formula, data, subset, group = NULL, na.action = stats::na.fail, weights, method = "sir", nslices = NULL,
                      numdir = 4, slice.function = NULL, threads = 0) {
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
  h <- if (is.null(nslices)) max(8, ncol(x) + 3) else whole_number(nslices, "nslices", 2)
  slices <- if (sliced) slices_of(problem$y, h, problem$group, slice.function)
  found <- if (method == "ire") dr_ire(x, slices, problem$group, numdir)
           else if (grouped) dr_grouped(x, slices, problem$group, method, numdir)
           else dr_library(problem, slices, method, numdir, ncol(x), how)
  rownames(found$evectors) <- colnames(x)
  if (method == "ire") found$solutions <- lapply(found$solutions, `rownames<-`, colnames(x))
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

# Rows in the order of the response, about n / h a slice; equal values stay together. Groups are sliced one by one. A function
# of the user's returns the number of each row's slice, or dr's list with it.
slices_of <- function(y, h, group = NULL, by = NULL) {
  if (!is.null(group)) {
    found <- integer(length(group))
    for (g in unique(group)) found[group == g] <- max(found) + slices_of(y[group == g], h, by = by)
    return(found)
  }
  if (is.function(by)) {
    found <- by(y, h)
    if (is.list(found)) found <- found$slice.indicator
    if (length(found) != length(y) || anyNA(found)) fail("slice.function returns the number of each row's slice")
    return(match(found, sort(unique(found))))
  }
  if (!is.null(by)) fail("slice.function is a function of the response and the number of slices, not ", shown(by))
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

# ---- here: groups, coordinates ----

# x centred within its groups, and the root of the pooled covariance: z = x root^-1.
standardised <- function(x, group = NULL) {
  if (is.null(group)) group <- rep(1L, nrow(x))
  centred <- x - apply(x, 2L, stats::ave, group)
  if (qr(centred)$rank < ncol(x)) fail("columns of x are linear in each other: leave one out", kind = "data")
  root <- chol(crossprod(centred) / nrow(x))
  list(z = centred %*% backsolve(root, diag(ncol(x))), root = root)
}

# m_s, or I - V_s, of each slice.
slice_means <- function(z, slices) rowsum(z, slices) / as.vector(table(slices))
slice_gaps <- function(z, slices) {
  lapply(split(seq_len(nrow(z)), slices), function(rows) {
    part <- z[rows, , drop = FALSE]
    diag(ncol(z)) - crossprod(sweep(part, 2L, colMeans(part))) / length(rows)
  })
}

# Directions of sum_s f_s m_s m_s' (sir) or sum_s f_s (I - V_s)^2 (save) over the slices of all groups, and the tests of their number:
# n times the sum of the other eigenvalues, or n / 2 sum_s f_s |H'(I - V_s)H|^2 in the other eigenvectors H.
dr_grouped <- function(x, slices, group, method, numdir) {
  scaled <- standardised(x, group)
  f <- as.vector(table(slices)) / nrow(x)
  gaps <- if (method == "save") slice_gaps(scaled$z, slices)
  matrix <- if (method == "sir") crossprod(sqrt(f) * slice_means(scaled$z, slices))
            else Reduce(`+`, Map(function(f, gap) f * gap %*% gap, f, gaps))
  values <- eigen(matrix, symmetric = TRUE)
  k <- seq_len(numdir) - 1
  free <- length(f) - length(unique(group))
  rest <- function(d) seq_len(ncol(x)) > d
  statistic <- nrow(x) * vapply(k, function(d) {
    if (method == "sir") return(sum(values$values[rest(d)]))
    out <- values$vectors[, rest(d), drop = FALSE]
    sum(f * vapply(gaps, function(gap) sum((t(out) %*% gap %*% out)^2), 0)) / 2
  }, 0)
  df <- if (method == "sir") (ncol(x) - k) * (free - k) else free * (ncol(x) - k) * (ncol(x) - k + 1) / 2
  tests <- data.frame(k = k, statistic = statistic, df = df, p_value = stats::pchisq(statistic, df, lower.tail = FALSE))
  list(evectors = unit_columns(backsolve(scaled$root, values$vectors)), evalues = values$values, tests = dr_table(tests[df > 0, ]))
}

# p-value of a sum of weighted chi-squares by one that has the same mean and variance (Bentler and Xie).
mixture_p <- function(statistic, weights) {
  df <- sum(weights)^2 / sum(weights^2)
  stats::pchisq(statistic * df / sum(weights), df, lower.tail = FALSE)
}

# Columns that complete those of a matrix, orthogonal to them.
complement <- function(kept) qr.Q(qr(kept), complete = TRUE)[, -seq_len(ncol(kept)), drop = FALSE]

dr_coordinate_test <- function(object, hypothesis, d = NULL, law = c("general", "normal")) {
  if (!inherits(object, "dr_compat")) fail("this is of class ", class(object)[1L], ", not what dr_compat() gives")
  law <- one_of(law[1L], c("general", "normal"), "law")
  if (startsWith(object$method, "phd")) fail("tests of coordinates are for sir, save and ire", kind = "unsupported")
  if (!is.null(d)) {
    if (object$method != "sir" || !is.null(object$group)) fail("tests given d are for sir without groups", kind = "unsupported")
    d <- whole_number(d, "d", 1)
  }
  kept <- hypothesis_basis(object, hypothesis)
  if (ncol(kept) >= ncol(object$x)) fail("the hypothesis leaves no variable out")
  found <- if (object$method == "ire") list(ire_coordinates(object, kept)) else {
    rows <- split(seq_len(nrow(object$x)), if (is.null(object$group)) rep(1L, nrow(object$x)) else object$group)
    lapply(rows, function(rows) { # each group by its own covariance; statistics and weights add up
      scaled <- standardised(object$x[rows, , drop = FALSE])
      basis <- scaled$root %*% kept
      if (object$method == "sir") sir_coordinates(scaled$z, object$slices[rows], basis, law, d)
      else save_coordinates(scaled$z, object$slices[rows], basis, law)
    })
  }
  statistic <- sum(vapply(found, `[[`, 0, "statistic"))
  data.frame(Statistic = statistic, P.value = mixture_p(statistic, unlist(lapply(found, `[[`, "weights"))), row.names = "Test")
}

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

# n sum_s f_s |H'm_s|^2 (Cook 2004), and the weights of its law for any x, or for x of constant conditional covariance, where they
# are 1 - the eigenvalues. Given d directions, the d largest eigenvalues less those within the hypothesis, and the weights of the
# d leading combinations of slices.
sir_coordinates <- function(z, slices, basis, law, d = NULL) {
  n <- nrow(z)
  out <- complement(basis)
  indicator <- outer(slices, sort(unique(slices)), `==`) + 0
  f <- colMeans(indicator)
  means <- sweep(crossprod(z, indicator) / n, 2L, sqrt(f), "/") # sqrt(f_s) m_s
  e <- sweep(sweep(indicator, 2L, f), 2L, sqrt(f), "/") - z %*% means
  if (is.null(d)) {
    statistic <- n * sum(crossprod(out, means)^2)
  } else {
    largest <- function(m) sum(utils::head(svd(m, 0L, 0L)$d^2, d))
    statistic <- n * (largest(means) - largest(t(qr.Q(qr(basis))) %*% means))
    e <- e %*% svd(means, 0L)$v[, seq_len(min(d, dim(means))), drop = FALSE]
  }
  weights <- if (law == "normal") rep(eigen(crossprod(e) / n, symmetric = TRUE)$values, each = ncol(out)) else product_values(e, z %*% out)
  list(statistic = statistic, weights = pmax(weights, 0))
}

# (n / 2) sum_s f_s |H'(I - V_s)H|^2 (Shao, Cook and Weisberg 2007).
save_coordinates <- function(z, slices, basis, law) {
  n <- nrow(z)
  w <- z %*% complement(basis)
  r <- ncol(w)
  f <- table(slices) / n
  statistic <- n / 2 * sum(f * vapply(slice_gaps(w, slices), function(gap) sum(gap^2), 0))
  weights <- if (law == "normal") rep(1, r * (r + 1) / 2) else product_values(w, w) / 2
  list(statistic = statistic, weights = rep(pmax(weights, 0), length(f) - 1L))
}

# Eigenvalues of the covariance of the products of two sets of columns.
product_values <- function(a, b) {
  both <- a[, rep(seq_len(ncol(a)), each = ncol(b)), drop = FALSE] * b[, rep(seq_len(ncol(b)), ncol(a)), drop = FALSE]
  eigen(stats::cov(both) * (nrow(a) - 1) / nrow(a), symmetric = TRUE)$values
}

drop1.dr_compat <- function(object, scope, d = NULL, law = c("general", "normal"), ...) {
  unknown_arguments(...)
  names <- colnames(object$x)
  if (!missing(scope)) names <- if (inherits(scope, "formula")) attr(stats::terms(scope), "term.labels") else scope
  rows <- lapply(names, function(name) {
    if (!name %in% colnames(object$x)) fail("'", name, "' is no column of this fit")
    dr_coordinate_test(object, diag(ncol(object$x))[, colnames(object$x) != name, drop = FALSE], d, law)
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
  if (is.null(x$solutions)) print_directions(x, digits)
  if (!is.null(x$tests)) {
    cat("\nLarge-sample Marginal Dimension Tests:\n")
    print(x$tests, digits = digits)
  }
  if (!is.null(x$solutions)) cat("\nSolutions for various dimensions:\n")
  for (solution in x$solutions) {
    cat("\n Dimension = ", ncol(solution), "\n", sep = "")
    print(solution, digits = digits)
  }
  invisible(x)
}

print_directions <- function(x, digits) {
  shown <- seq_len(x$numdir)
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
}
