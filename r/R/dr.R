# For users of package dr: the parts they read, computed by our library.

dr_compat <- function(formula, data, subset, na.action = stats::na.fail, weights, method = "sir", nslices = NULL,
                      numdir = 4, threads = 0) {
  call <- match.call()
  method <- one_of(method, c("sir", "save", "phd", "phdres", "phdy"), "method")
  frame_call <- match.call(expand.dots = FALSE)
  if (is.null(frame_call$na.action)) frame_call$na.action <- quote(stats::na.fail)
  problem <- formula_problem(frame_call, parent.frame())
  if (length(problem$y_names) != 1L) fail("dr_compat() takes one response", kind = "unsupported")
  settings <- if (problem$numeric) list(task = "regression") else list()
  ours <- method
  if (startsWith(method, "phd")) {
    ours <- "phd"
    settings$response <- if (method == "phdy") "raw" else "residual"
  } else {
    # as dr has it: at least eight slices, and more than there are columns
    settings$slices <- if (is.null(nslices)) max(8, length(problem$x_names) + 3) else whole_number(nslices, "nslices", 2)
  }
  how <- run_of(1, threads, quiet = TRUE)
  settings$dim <- length(problem$x_names)
  pointer <- in_run(function(run) .Call(C_fit, ours, settings, problem$table, run), how)
  fit <- new_stonet(pointer)
  directions <- in_run(function(run) .Call(C_coef, pointer, NULL, 0, run), how)
  rows <- as.data.frame(directions$rows)
  basis <- as.matrix(rows[setdiff(names(rows), "feature")])
  basis <- sweep(basis, 2L, sqrt(colSums(basis^2)), "/")
  dimnames(basis) <- list(rows$feature, paste0("Dir", seq_len(ncol(basis))))
  tests <- NULL
  if (is.null(problem$weights)) { # they have no weighted form
    tests <- order_problem(problem, ours, settings, list(rule = "tests", max = numdir - 1), how)$table
  }
  structure(
    list(evectors = basis, evalues = fit$about$fitted$eigenvalues * unit_of(ours, problem$y), tests = if (!is.null(tests)) dr_table(tests), method = method,
         numdir = min(whole_number(numdir, "numdir", 1), ncol(basis)), cases = problem$rows,
         slice.info = list(nslices = settings$slices), y.name = problem$y_names, call = call, terms = problem$terms,
         fit = fit),
    class = "dr_compat"
  )
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

print.dr_compat <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("\nCall: ", paste(trimws(deparse(x$call)), collapse = " "), "\n\nmethod ", x$method, ", ", x$cases, " rows\n", sep = "")
  shown <- seq_len(x$numdir)
  cat("\nDirections:\n")
  print(x$evectors[, shown, drop = FALSE], digits = digits)
  cat("\nEigenvalues:\n")
  print(x$evalues[seq_len(min(x$numdir, length(x$evalues)))], digits = digits)
  if (!is.null(x$tests)) {
    cat("\nTests of dimension:\n")
    print(x$tests, digits = digits)
  }
  invisible(x)
}
