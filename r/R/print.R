# What a fit looks like.

print.stonet <- function(x, ...) {
  cat(head_of(x), sep = "\n")
  invisible(x)
}

# What it is, line by line: method, call, rows, network, held-out error, calibration, what was missing.
head_of <- function(x) {
  response <- paste(x$y_names, collapse = ", ")
  what <- if (!x$predicts) "no response"
          else if (has_law(x)) paste0("response ", sub(" (time|low)$", "", x$y_names[1L]), ", ", if (x$about$task == "count") "a count" else "a time")
          else if (x$classifier) paste0("response ", response, " of ", x$outputs, " classes")
          else paste0("response ", response, ", ", if (x$outputs == 1L) "a number" else paste(x$outputs, "numbers"))
  c(x$title, if (!is.null(x$call)) c("", paste("Call:", paste(trimws(deparse(x$call)), collapse = " "))), "",
    paste0(x$nobs, " rows, ", length(x$x_names), " columns reduced to ", x$dim, ", ", what),
    network_said(x), if (!is.null(x$about$learner$title)) paste("learner on Z:", x$about$learner$title), held_out_said(x),
    calibration_said(x), rows_said(x),
    if (x$outcome != "done") paste("the fit", if (x$outcome == "stopped") "was stopped early"
                                              else "diverged; this is the last good model"))
}

# "tanh network on kernel features (complexity 0.5), weight decay 0.01; layers 10-16-12-1", for methods that have one.
network_said <- function(x) {
  fitted <- x$about$fitted
  if (is.null(fitted$widths)) return(NULL)
  plain <- paste0(if (identical(fitted$activation, "identity")) "linear" else fitted$activation, " network",
                  if (!is.null(fitted$front)) paste0(", front ", fitted$front))
  chosen <- unlist(fitted$choice)[1L]
  if (!is.null(chosen)) plain <- sub("; held-out.*", "", chosen)
  family <- if (!identical(fitted$response, "mean") && !is.null(fitted$response)) paste0(", response = \"", fitted$response, "\"")
  paste0(plain, "; layers ", paste(fitted$widths, collapse = "-"), family)
}

# Errors on held-out rows of the model, a constant guess and a linear model, with their units as names: error_rate and
# log_loss of classes; mse in squared units of the response; what else a network minimises, as it is.
held_out <- function(x) {
  fitted <- x$about$fitted
  if (!isTRUE(fitted$held_out_rows > 0)) return(NULL)
  pick <- function(what) vapply(paste0(c("", "constant_", "linear_"), what), function(name) {
    value <- fitted[[paste0("held_out_", name)]]
    if (is.null(value)) NA_real_ else value
  }, 0)
  unit <- 1
  if (!x$about$task %in% c("regression", "classification")) {
    table <- data.frame(minus_log_likelihood = pick("loss"), minus_log_likelihood_se = pick("loss_se"))
  } else if (x$classifier) {
    table <- data.frame(error_rate = pick("error"), error_rate_se = pick("error_se"), log_loss = pick("loss"), log_loss_se = pick("loss_se"))
  } else {
    # the loss is half the squared error of standardised outputs, summed over them
    unit <- 2 / fitted$widths[length(fitted$widths)]
    kind <- switch(fitted$response, ensemble = "mse_of_functions", "location-scale" = "minus_log_likelihood",
                   if (x$outputs == 1L) "mse" else "mse_in_variances")
    if (kind == "mse") unit <- unit * x$about$targets$sd[1L]^2
    if (kind == "minus_log_likelihood") unit <- unit / 2
    table <- stats::setNames(data.frame(unit * pick("loss"), unit * pick("loss_se")), c(kind, paste0(kind, "_se")))
  }
  rownames(table) <- c("model", "constant", "linear")
  structure(table, interval = unit * c(fitted$held_out_low, fitted$held_out_high)) # of the first number; none in files of 0.2
}

held_out_said <- function(x, digits = 3L) {
  held <- held_out(x)
  if (is.null(held)) return(NULL)
  number <- function(value) format(value, digits = digits)
  interval <- attr(held, "interval")
  off <- if (length(interval) == 2L) paste0("95 % interval ", number(interval[1L]), " to ", number(interval[2L]))
         else paste0("standard error ", number(held[1L, 2L]))
  paste0("held-out ", gsub("_", " ", names(held)[1L]), " ", number(held[1L, 1L]), " (", off, ", ", x$about$fitted$held_out_rows, " rows)", if (!is.na(held[2L, 1L])) paste0("; constant guess ", number(held[2L, 1L])),
         if (!is.na(held[3L, 1L])) paste0(", linear model ", number(held[3L, 1L])))
}

calibration_said <- function(x) {
  if (!x$predicts || has_law(x)) return(NULL)
  if (!x$calibrated) return(paste0("not calibrated: calibrate() gives ", if (x$classifier) "sets" else "intervals"))
  paste0("calibrated by ", x$about$calibration$kind, " on ", x$about$calibration$rows, " rows")
}

# Cells and rows that were not there, and columns that the model does without.
rows_said <- function(x) {
  missing <- x$about$missing
  cells <- unlist(missing$cells)
  most <- utils::head(sort(cells, decreasing = TRUE), 5L)
  used <- unlist(x$about$support)
  c(
    if (length(x$na.action) > 0L) stats::naprint(x$na.action),
    if (sum(cells) > 0) {
      paste0(sum(cells), " missing cells (", paste(names(most), most, collapse = ", "), if (length(cells) > 5L) ", ..", "): missing = \"",
             missing$way, "\"", if (length(missing$indicators) > 0L) paste0("; indicators for ", paste(unlist(missing$indicators), collapse = ", ")))
    },
    if (length(used) < length(x$about$inputs)) paste0(length(used), " of ", length(x$about$inputs), " columns are used: ",
                                                      paste(utils::head(used, 10L), collapse = ", "), if (length(used) > 10L) ", ..")
  )
}

summary.stonet <- function(object, newdata = NULL, y = NULL, ...) {
  unknown_arguments(...)
  fitted <- object$about$fitted
  tests <- NULL
  if (!is.null(newdata) && object$method %in% c("sir", "save", "phd", "dr")) {
    problem <- new_problem(object, newdata, y, response = TRUE)
    settings <- lapply(as.list(object$about$settings), identity)
    settings$task <- if (object$classifier) "classification" else "regression"
    tests <- order_problem(problem, object$method, settings, list(rule = "tests"), run_of(object$seed, object$threads))$table
  }
  structure(
    list(head = head_of(object), shares = fitted$explained_share, eigenvalues = if (is.null(fitted$explained_share)) fitted$eigenvalues,
         tests = tests, held_out = held_out(object), held_out_rows = fitted$held_out_rows, choice = unlist(fitted$choice),
         loss = if (has_law(object)) "minus the log likelihood" else if (object$classifier) "the log loss" else "half the mse of the standardised response",
         order = object$order, training = training_scores(object)),
    class = "summary.stonet"
  )
}

training_scores <- function(object) {
  if (is.null(object$fitted.values) || is.null(object$y) || has_law(object)) return(NULL)
  if (object$classifier) {
    return(c("error rate" = mean(as.character(object$y) != as.character(most_probable(object, object$fitted.values)))))
  }
  c(mse = mean((as.matrix(object$y) - object$fitted.values)^2))
}

print.summary.stonet <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat(x$head, sep = "\n")
  if (!is.null(x$training)) cat(names(x$training), "on the rows of the fit:", format(unname(x$training), digits = digits), "\n")
  if (!is.null(x$shares)) {
    cat("\nShare of the effect on the output, column by column of Z:\n")
    print(stats::setNames(paste0(format(100 * x$shares, digits = 2L), "%"), paste0("z", seq_along(x$shares))), quote = FALSE)
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
    cat("\nOn ", x$held_out_rows, " held-out rows of the fit (se: standard error):\n", sep = "")
    print(x$held_out[rowSums(!is.na(x$held_out)) > 0L, ], digits = digits)
  }
  if (length(x$choice) > 1L) {
    cat("\nNext in the choice (the loss is ", x$loss, "):\n", paste0("  ", utils::head(x$choice[-1L], 2L), "\n"), sep = "")
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
