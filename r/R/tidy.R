# broom's three questions; their generics are those of package generics, which need not be there.

tidy.stonet <- function(x, ...) {
  fitted <- x$about$fitted
  column <- paste0("z", seq_len(x$dim))
  part <- function(values) if (length(values) >= x$dim) values[seq_len(x$dim)] else rep(NA_real_, x$dim)
  data.frame(term = column, share = part(fitted$explained_share), eigenvalue = part(fitted$eigenvalues))
}

glance.stonet <- function(x, ...) {
  fitted <- x$about$fitted
  one <- function(name) if (is.null(fitted[[name]])) NA_real_ else fitted[[name]]
  data.frame(
    method = x$method, dim = x$dim, nobs = x$nobs, columns = length(x$x_names), outputs = x$outputs,
    classifier = x$classifier, outcome = x$outcome, held_out_loss = one("held_out_loss"),
    held_out_error = one("held_out_error"), seed = x$seed
  )
}

augment.stonet <- function(x, data = NULL, newdata = NULL, ...) {
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
    if (is.null(rows) && ncol(p) == 1L) frame$.resid <- as.double(x$y) - p[, 1L]
  }
  frame
}
