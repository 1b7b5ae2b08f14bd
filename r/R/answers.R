# How many dimensions, which variables, which settings, which method.

order_problem <- function(problem, method, settings, wishes, how) {
  settings <- settings[setdiff(names(settings), c("dim", "learner"))]
  options <- utils::modifyList(list(rule = "auto", max = 0, level = 0.05, resamples = 0, folds = 0), wishes)
  for (name in c("max", "resamples", "folds")) options[[name]] <- whole_number(options[[name]], name)
  options$rule <- a_text(options$rule, "rule")
  options$level <- real_number(options$level, "level", 0, 1)
  found <- in_run(function(run) .Call(C_order, method, settings, problem$table, options, run), how)
  structure(
    list(chosen = as.integer(found$chosen), rule = found$rule, reason = found$reason, method = found$method,
         table = as.data.frame(found$rows)),
    class = "stonet_order"
  )
}

stonet_order <- function(x, ...) UseMethod("stonet_order")

stonet_order.formula <- function(formula, data, method = "stonet", rule = "auto", max = 0, level = 0.05, resamples = 0,
                                 folds = 0, ..., weights, group, subset, na.action, seed = NULL, threads = 0, verbose = FALSE, quiet = FALSE) {
  problem <- formula_problem(match.call(expand.dots = FALSE), parent.frame())
  wishes <- list(rule = rule, max = max, level = level, resamples = resamples, folds = folds)
  order_problem(problem, method_of(method), with_task(settings_of(list(...)), problem, quiet), wishes, run_of(seed, threads, verbose, quiet))
}

stonet_order.default <- function(x, y = NULL, method = "stonet", rule = "auto", max = 0, level = 0.05, resamples = 0,
                                 folds = 0, ..., weights = NULL, group = NULL, seed = NULL, threads = 0, verbose = FALSE, quiet = FALSE) {
  problem <- matrix_problem(x, y, weights, group)
  wishes <- list(rule = rule, max = max, level = level, resamples = resamples, folds = folds)
  order_problem(problem, method_of(method), with_task(settings_of(list(...)), problem, quiet), wishes, run_of(seed, threads, verbose, quiet))
}

print.stonet_order <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("How many dimensions, by the rule ", x$rule, " for ", x$method, ": ", x$chosen, "\n", x$reason, "\n\n", sep = "")
  print(x$table, digits = digits, row.names = FALSE, ...)
  invisible(x)
}

as.data.frame.stonet_order <- function(x, ...) x$table

# Rows of a comparison or a search as a data frame; what is a list in a cell stays one.
results_of <- function(found, class, method = NULL) {
  rows <- as_rows(found$rows)
  number <- function(name) {
    vapply(rows, function(row) if (is.null(row[[name]]) || is.na(row[[name]])) NA_real_ else as.double(row[[name]]), 0)
  }
  table <- data.frame(
    method = vapply(rows, `[[`, "", "method"), dim = as.integer(number("dim")),
    settings = vapply(rows, function(row) settings_shown(row$settings), ""), mean = number("mean"), se = number("se"),
    seconds = number("seconds"), p_value = number("p_value"),
    failure = vapply(rows, function(row) if (length(row$failure) == 1L) as.character(row$failure) else NA_character_, "")
  )
  structure(
    list(table = table, best = found$best, criterion = found$criterion, stopped = found$stopped,
         values = do.call(rbind, lapply(rows, `[[`, "values")), settings = lapply(rows, function(row) as.list(row$settings)),
         chosen = lapply(rows, `[[`, "chosen")),
    class = class
  )
}

settings_shown <- function(settings) {
  if (length(settings) == 0L) return("")
  paste0(names(settings), "=", vapply(settings, function(value) paste(value, collapse = ","), ""), collapse = " ")
}

criteria <- c("auto", "error_rate", "log_loss", "mse", "discordance", "deviance")
criterion_code <- function(criterion) match(one_of(criterion[1L], criteria, "criterion"), criteria) - 1

# A grid by name, list(slices = c(5, 10)), as the library's lines; texts without names are such lines already.
grid_lines <- function(grid) {
  if (is.null(grid)) return(NULL)
  if (is.character(grid) && is.null(names(grid))) return(grid)
  if (!is.list(grid) || is.null(names(grid)) || any(!nzchar(names(grid)))) {
    fail("a grid is a list of values by name, list(slices = c(5, 10)) say, or texts like \"slices=5,10\"")
  }
  vapply(names(grid), function(name) {
    values <- grid[[name]]
    if (!is.list(values)) return(paste0(name, "=", paste(format_exact(values), collapse = ",")))
    if (length(values) == 1L && length(values[[1L]]) > 1L) {
      fail("the grid has one value of '", name, "', which is a list: give it as a setting, outside of the grid")
    }
    paste0(name, "=", paste(vapply(values, function(value) paste(format_exact(value), collapse = ","), ""), collapse = ";"))
  }, "")
}

format_exact <- function(values) if (is.double(values)) vapply(values, format, "", digits = 15, scientific = NA) else as.character(values)

tune_problem <- function(problem, method, dim, settings, grid, folds, trials, criterion, how) {
  settings <- with_task(settings_of(settings), problem, how$quiet)
  settings <- c(list(dim = whole_number(dim, "dim", 1)), settings)
  options <- list(grid = grid_lines(grid), inner_folds = whole_number(folds, "folds"),
                  trials = whole_number(trials, "trials"), criterion = criterion_code(criterion))
  found <- in_run(function(run) .Call(C_tune, method_of(method), settings, problem$table, options, run), how)
  results_of(found, c("stonet_tune", "stonet_results"))
}

stonet_tune <- function(x, ...) UseMethod("stonet_tune")

stonet_tune.formula <- function(formula, data, dim = 2, method = "stonet", grid = NULL, folds = 5, trials = 0,
                                criterion = "auto", ..., weights, group, subset, na.action, seed = NULL, threads = 0,
                                verbose = FALSE, quiet = FALSE) {
  problem <- formula_problem(match.call(expand.dots = FALSE), parent.frame())
  tune_problem(problem, method, dim, list(...), grid, folds, trials, criterion, run_of(seed, threads, verbose, quiet))
}

stonet_tune.default <- function(x, y, dim = 2, method = "stonet", grid = NULL, folds = 5, trials = 0, criterion = "auto",
                                ..., weights = NULL, group = NULL, seed = NULL, threads = 0, verbose = FALSE, quiet = FALSE) {
  problem <- matrix_problem(x, y, weights, group)
  tune_problem(problem, method, dim, list(...), grid, folds, trials, criterion, run_of(seed, threads, verbose, quiet))
}

compare_problem <- function(problem, methods, dim, settings, test, folds, tune, grid, criterion, how) {
  if (!is.character(methods) || length(methods) == 0L || anyNA(methods)) fail("methods are texts, not ", shown(methods))
  if (!is.numeric(dim) || length(dim) == 0L) fail("dim is one number or several, not ", shown(dim))
  settings <- with_task(settings_of(settings), problem, how$quiet)
  known <- checked(.Call(C_methods))
  own <- stats::setNames(lapply(known$methods$settings, function(table) vapply(as_rows(table), `[[`, "", "name")),
                         known$methods$name)
  common <- c(vapply(as_rows(known$common), `[[`, "", "name"), "learner")
  missing <- setdiff(as.character(names(settings)), c(unlist(own[methods]), common))
  missing <- missing[!startsWith(missing, "learner.")]
  if (length(missing) > 0L) fail("none of these methods has the setting '", missing[1L], "'")
  methods <- vapply(methods, method_of, "", USE.NAMES = FALSE)
  specs <- expand.grid(dim = dim, method = methods, stringsAsFactors = FALSE)
  wanted <- lapply(seq_len(nrow(specs)), function(i) {
    for_it <- names(settings) %in% c(own[[specs$method[i]]], common) | startsWith(as.character(names(settings)), "learner.")
    c(list(dim = whole_number(specs$dim[i], "dim", 1)), settings[for_it])
  })
  options <- list(folds = whole_number(folds, "folds"), tune = a_flag(tune, "tune"), grid = grid_lines(grid),
                  inner_folds = 0, trials = 0, criterion = criterion_code(criterion))
  found <- in_run(function(run) {
    .Call(C_compare, specs$method, wanted, problem$table, test, options, run)
  }, how)
  results_of(found, c("stonet_compare", "stonet_results"))
}

stonet_compare <- function(x, ...) UseMethod("stonet_compare")

stonet_compare.formula <- function(formula, data, methods = c("stonet", "sir", "none"), dim = 2, folds = 5, test = NULL,
                                   tune = FALSE, grid = NULL, criterion = "auto", ..., weights, group, subset, na.action, seed = NULL,
                                   threads = 0, verbose = FALSE, quiet = FALSE) {
  problem <- formula_problem(match.call(expand.dots = FALSE), parent.frame())
  held_out <- if (!is.null(test)) test_table(problem, test)
  compare_problem(problem, methods, dim, list(...), held_out, folds, tune, grid, criterion, run_of(seed, threads, verbose, quiet))
}

# Rows kept for testing, by the formula of the others.
test_table <- function(problem, test) {
  if (!is.data.frame(test)) fail("test is a data frame with the variables of the formula, not of class ", class(test)[1L])
  frame <- as_stonet_error(stats::model.frame(problem$terms, test, na.action = stats::na.pass))
  features <- as_features(frame[predictors_of(problem$terms)], nrow(frame))
  make_table(features, as_response(stats::model.response(frame), nrow(frame)), problem$y_names)
}

stonet_compare.default <- function(x, y, methods = c("stonet", "sir", "none"), dim = 2, folds = 5, tune = FALSE,
                                   grid = NULL, criterion = "auto", ..., weights = NULL, group = NULL, seed = NULL, threads = 0,
                                   verbose = FALSE, quiet = FALSE) {
  problem <- matrix_problem(x, y, weights, group)
  compare_problem(problem, methods, dim, list(...), NULL, folds, tune, grid, criterion, run_of(seed, threads, verbose, quiet))
}

print.stonet_results <- function(x, digits = 3L, ...) {
  table <- x$table[setdiff(names(x$table), c("seconds", "failure"))]
  if (all(is.na(table$p_value))) table$p_value <- NULL
  if (all(!nzchar(table$settings))) table$settings <- NULL
  names(table)[names(table) == "mean"] <- x$criterion
  cat("Held-out ", x$criterion, " over ", ncol(x$values), " splits", if (x$stopped) ", stopped early", "\n", sep = "")
  print(table, digits = digits, row.names = FALSE, ...)
  if (x$best > 0L) cat("best: row ", x$best, "\n", sep = "")
  for (text in unique(stats::na.omit(x$table$failure))) cat("failed: ", text, "\n", sep = "")
  invisible(x)
}

as.data.frame.stonet_results <- function(x, ...) x$table

stonet_importance <- function(object, newdata = NULL, y = NULL,
                              kind = c("permutation", "gradient", "shapley", "refit", "stability", "conditional", "vip"),
                              repeats = 0, train = NULL, train_y = NULL, seed = object$seed, threads = object$threads, verbose = FALSE,
                              quiet = FALSE) {
  check_stonet(object)
  kind <- one_of(kind[1L], eval(formals()$kind), "kind")
  problem <- rows_or_training(object, newdata, y, response = TRUE, quiet = quiet)
  tell_met(object, problem, quiet || kind == "stability")
  fitted_on <- if (!is.null(train)) new_problem(object, train, train_y, response = TRUE)$table
               else if (kind == "refit") training_problem(object)$table
  found <- in_run(function(run) {
    .Call(C_importance, pointer_of(object), problem$table, fitted_on, kind, whole_number(repeats, "repeats"), run)
  }, run_of(seed, threads, verbose, quiet))
  structure(as.data.frame(found), class = c("stonet_importance", "data.frame"), kind = kind,
            loss = if (object$classifier) "log loss" else "mse over the variance of the response")
}

# Scores on the rows of the fit are too good.
tell_met <- function(object, problem, quiet) {
  if (!is_quiet(quiet) && checked(.Call(C_met, pointer_of(object), problem$table))) {
    say("these look like the training rows; scores on them are too good")
  }
}

print.stonet_importance <- function(x, n = 20L, digits = 3L, ...) {
  kind <- attr(x, "kind")
  what <- switch(kind, gradient = "mean size of the change of the prediction for one standard deviation of the variable",
                 stability = "share of the halves of the rows in which the variable is selected",
                 vip = "part of the variable in the components, 1 on average",
                 shapley = paste("decrease of the loss,", attr(x, "loss")), paste("growth of the loss,", attr(x, "loss")))
  cat("Importance of the variables (", kind, "): ", what, "\n", sep = "")
  plain <- as.data.frame(x)
  plain <- plain[order(-plain$importance), , drop = FALSE]
  print(utils::head(plain, n), digits = digits, row.names = FALSE, ...)
  if (nrow(plain) > n) cat("and ", nrow(plain) - n, " more\n", sep = "")
  invisible(x)
}

as.data.frame.stonet_importance <- function(x, ...) {
  attr(x, "kind") <- attr(x, "loss") <- NULL
  class(x) <- "data.frame"
  x
}

