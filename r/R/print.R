# What a fit looks like.

print.stonet <- function(x, ...) {
  cat(x$title, "\n", sep = "")
  if (!is.null(x$call)) cat("\nCall: ", paste(trimws(deparse(x$call)), collapse = " "), "\n", sep = "")
  what <- if (x$classifier) paste0(", ", x$outputs, " classes")
          else if (!x$predicts) ""
          else if (x$outputs == 1L) ", a number as response"
          else paste0(", ", x$outputs, " numbers as response")
  cat("\n", x$nobs, " rows, ", length(x$x_names), " columns reduced to ", x$dim, what, "\n", sep = "")
  cat(rows_said(x), sep = "")
  if (x$outcome != "done") cat("the fit ", if (x$outcome == "stopped") "was stopped early" else "diverged; this is the last good model",
                               "\n", sep = "")
  invisible(x)
}

# Lines about cells and rows that were not there, and columns that the model does without.
rows_said <- function(x) {
  missing <- x$about$missing
  cells <- unlist(missing$cells)
  left_out <- setdiff(x$about$inputs, x$about$support)
  c(
    if (length(x$na.action) > 0L) paste0(stats::naprint(x$na.action), "\n"),
    if (sum(cells) > 0) {
      most <- utils::head(sort(cells, decreasing = TRUE), 5L)
      paste0(sum(cells), " missing cells (", paste(names(most), most, collapse = ", "),
             if (length(cells) > 5L) ", ..", "): missing = \"", missing$way, "\"\n")
    },
    if (!is.null(x$about$support) && length(left_out) > 0L) {
      paste0(length(x$about$support), " of the columns are used\n")
    }
  )
}

summary.stonet <- function(object, newdata = NULL, y = NULL, ...) {
  unknown_arguments(...)
  fitted <- object$about$fitted
  held_out <- NULL
  if (!is.null(fitted$held_out_rows)) {
    names <- c("model", "constant", "linear")
    prefix <- c("held_out_", "held_out_constant_", "held_out_linear_")
    pick <- function(what) vapply(paste0(prefix, what), function(name) if (is.null(fitted[[name]])) NA_real_ else fitted[[name]], 0)
    held_out <- data.frame(loss = pick("loss"), loss_se = pick("loss_se"), error = pick("error"), error_se = pick("error_se"),
                           row.names = names)
    held_out <- held_out[, colSums(!is.na(held_out)) > 0L, drop = FALSE]
  }
  tests <- NULL
  if (!is.null(newdata) && object$method %in% c("sir", "save", "phd", "dr")) {
    problem <- new_problem(object, newdata, y, response = TRUE)
    settings <- lapply(as.list(object$about$settings), identity)
    settings$task <- if (object$classifier) "classification" else "regression"
    tests <- order_problem(problem, object$method, settings, list(rule = "tests"), object$seed, object$threads, FALSE)$table
  }
  structure(
    list(call = object$call, title = object$title, said = rows_said(object), nobs = object$nobs, columns = length(object$x_names), dim = object$dim,
         outcome = object$outcome, shares = fitted$explained_share, eigenvalues = fitted$eigenvalues, tests = tests,
         held_out = held_out, held_out_rows = fitted$held_out_rows, choice = unlist(fitted$choice), order = object$order,
         training = training_scores(object), widths = fitted$widths, calibration = object$about$calibration),
    class = "summary.stonet"
  )
}

training_scores <- function(object) {
  if (is.null(object$fitted.values) || is.null(object$y)) return(NULL)
  if (object$classifier) {
    return(c(error_rate = mean(as.character(object$y) != as.character(most_probable(object, object$fitted.values)))))
  }
  y <- as.matrix(object$y)
  c(mse = mean((y - object$fitted.values)^2))
}

print.summary.stonet <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat(x$title, "\n", sep = "")
  if (!is.null(x$call)) cat("\nCall: ", paste(trimws(deparse(x$call)), collapse = " "), "\n", sep = "")
  cat("\n", x$nobs, " rows, ", x$columns, " columns reduced to ", x$dim,
      if (!is.null(x$widths)) paste0(", network ", paste(x$widths, collapse = "-")), "\n", sep = "")
  cat(x$said, sep = "")
  if (!is.null(x$choice)) cat(paste0(c("chosen: ", rep("next: ", length(x$choice) - 1L)), x$choice, "\n")[seq_len(min(3L, length(x$choice)))], sep = "")
  if (x$outcome != "done") cat("outcome: ", x$outcome, "\n", sep = "")
  if (!is.null(x$training)) cat("on the rows of the fit: ", names(x$training), " ", format(x$training, digits = digits), "\n", sep = "")
  if (!is.null(x$shares)) {
    cat("\nShare of the effect on the output, column by column of Z:\n")
    print(stats::setNames(round(x$shares, digits), paste0("z", seq_along(x$shares))))
  }
  if (!is.null(x$eigenvalues)) {
    cat("\nEigenvalues:\n")
    print(x$eigenvalues, digits = digits)
  }
  if (!is.null(x$tests)) {
    cat("\nTests that k directions are enough:\n")
    print(x$tests, digits = digits, row.names = FALSE)
  }
  if (!is.null(x$held_out)) {
    cat("\nOn ", x$held_out_rows, " held-out rows of the fit:\n", sep = "")
    print(x$held_out, digits = digits)
  }
  if (!is.null(x$order)) cat("\ndimension by the rule ", x$order$rule, ": ", x$order$reason, "\n", sep = "")
  invisible(x)
}

formula.stonet <- function(x, ...) {
  if (is.null(x$terms)) fail("this model was fitted without a formula")
  stats::formula(x$terms)
}

nobs.stonet <- function(object, ...) object$nobs

as.data.frame.stonet <- function(x, ...) {
  training_rows(x)
  frame <- as.data.frame(x$z)
  if (length(x$y_names) == 1L && !is.null(x$y)) {
    frame[[x$y_names]] <- x$y
  } else if (!is.null(x$y)) {
    frame[x$y_names] <- as.data.frame(x$y)
  }
  if (!is.null(x$row_names) && length(x$row_names) == nrow(frame)) attr(frame, "row.names") <- x$row_names
  frame
}
