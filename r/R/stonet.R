# Fitting, and the object that a fit is.

stonet <- function(x, ...) UseMethod("stonet")

stonet.formula <- function(formula, data, dim = 2, method = "stonet", ..., weights, group, subset, na.action, model = TRUE,
                           seed = NULL, threads = 0, verbose = FALSE, quiet = FALSE) {
  call <- match.call()
  call[[1L]] <- quote(stonet)
  problem <- formula_problem(match.call(expand.dots = FALSE), parent.frame())
  fit_problem(problem, call, dim, method, list(...), model, run_of(seed, threads, verbose, quiet))
}

stonet.default <- function(x, y = NULL, dim = 2, method = "stonet", ..., weights = NULL, group = NULL, model = TRUE,
                           seed = NULL, threads = 0, verbose = FALSE, quiet = FALSE) {
  call <- match.call()
  call[[1L]] <- quote(stonet)
  how <- run_of(seed, threads, verbose, quiet)
  fit_problem(matrix_problem(x, y, weights, group), call, dim, method, list(...), model, how)
}

# Numbers are numbers in R and classes are factors: the library need not guess what the response is.
with_task <- function(settings, problem, quiet = FALSE) {
  if (problem$numeric && is.null(settings[["task"]])) {
    if (!quiet && is.null(dim(problem$y)) && length(unique(problem$y)) == 2L) {
      say("the response has two values and is a number here: factor() makes it classes")
    }
    settings$task <- if (is.null(attr(problem$y, "task"))) "regression" else attr(problem$y, "task")
  }
  settings
}

fit_problem <- function(problem, call, dim, method, settings, model, how) {
  method <- method_of(method)
  settings <- with_task(settings_of(settings), problem, how$quiet)
  order <- NULL
  if (identical(dim, "auto")) {
    order <- order_problem(problem, method, settings, list(), how)
    dim <- max(1L, order$chosen)
    if (order$chosen == 0L && !how$quiet) {
      say(paste0("the rule ", order$rule, " says that x tells nothing about the response (", order$reason,
                 "); one dimension is fitted all the same"), warns = TRUE)
    }
  }
  settings <- c(list(dim = whole_number(dim, "dim", 1)), settings)
  object <- new_stonet(in_run(function(run) .Call(C_fit, method, settings, problem$table, run), how))
  object$call <- call
  object$order <- order
  object$seed <- how$seed
  object$threads <- how$threads
  for (part in c("terms", "na.action", "y", "y_names", "x_names", "weights", "row_names")) object[[part]] <- problem[[part]]
  object <- with_levels(object, problem$features)
  if (a_flag(model, "model")) object$model <- problem[c("features", "weights", "group")]
  object$z <- z_of(object, problem)
  if (object$predicts) object$fitted.values <- predicted(object, problem, "mean")
  if (!how$quiet && !is.null(held_out(object))) {
    say(paste(c(network_said(object), held_out_said(object)), collapse = "\n"), about = "fitted")
  }
  object
}

# Classes in the order of R's levels (the library sorts them), and the levels of the columns.
with_levels <- function(object, features) {
  known <- if (is.factor(object$y)) levels(object$y)
           else if (is.character(object$y) || is.logical(object$y)) levels(factor(object$y))
  if (object$classifier && all(object$levels %in% known)) {
    object$levels <- known[known %in% object$levels]
    object$all_levels <- known
    object$is_ordered <- is.ordered(object$y)
  }
  if (is.list(features$columns)) object$xlevels <- lapply(Filter(is.ordered, features$columns), levels)
  object
}

# The object around a model of the library: its file as bytes, so that saveRDS() and save() keep it, and a place for
# the pointer, which is made again from them when it has not come along.
new_stonet <- function(pointer, bytes = checked(.Call(C_model_bytes, pointer))) {
  info <- .Call(C_model_info, pointer)
  checked(info$about)
  handle <- new.env(parent = emptyenv())
  handle$pointer <- pointer
  about <- info$about
  structure(
    list(
      handle = handle, file = bytes, method = about$method, title = about$title, dim = info$dim,
      classifier = info$classifier, predicts = info$outputs > 0L, outputs = info$outputs,
      levels = if (info$classifier) as.character(about$classes), calibrated = info$calibrated, outcome = about$outcome,
      features = info$features, x_names = about$inputs, y_names = about$target, nobs = about$rows, seed = about$seed,
      about = about, hash = info$hash, note = info$note, history = if (!is.null(info$history)) utils::read.csv(text = info$history), threads = 0
    ),
    class = "stonet"
  )
}

pointer_of <- function(object) {
  pointer <- object$handle$pointer
  if (!.Call(C_model_is_there, pointer)) {
    pointer <- checked(.Call(C_model_from_bytes, object$file))
    object$handle$pointer <- pointer
  }
  pointer
}

save_model <- function(object, path) {
  check_stonet(object)
  checked(.Call(C_model_save, pointer_of(object), path.expand(a_text(path, "path")), note_of(object)))
  invisible(path)
}

load_model <- function(path, quiet = FALSE) {
  object <- new_stonet(checked(.Call(C_model_load, path.expand(a_text(path, "path")))))
  if (is.null(object$hash) && !is_quiet(quiet)) say(paste(path, "is of an older version and has no hash: damage to it goes unnoticed"))
  object$call <- match.call()
  with_note(object)
}

export_model <- function(object, path, format = c("onnx", "c", "json"), name = "model") {
  check_stonet(object)
  format <- one_of(format[1L], c("onnx", "c", "json"), "format")
  path <- path.expand(a_text(path, "path"))
  checked(.Call(C_model_export, pointer_of(object), format, a_text(name, "name"), path))
  invisible(path)
}

check_stonet <- function(object) {
  if (!inherits(object, "stonet")) fail("this is of class ", class(object)[1L], ", not a model that stonet() has fitted")
  object
}

stonet_methods <- function(method = NULL) {
  known <- checked(.Call(C_methods))
  titles <- data.frame(method = known$methods$name, title = known$methods$title)
  if (is.null(method)) return(titles)
  at <- match(method_of(method), titles$method)
  if (is.na(at)) fail("there is no method '", method, "': stonet_methods() names them")
  settings <- c(as_rows(known$methods$settings[[at]]), as_rows(known$common))
  field <- function(name) vapply(settings, function(one) paste(setting_shown(one[[name]]), collapse = ","), "")
  data.frame(
    setting = field("name"), default = field("default"), low = field("low"), high = field("high"),
    choices = field("choices"), help = field("help")
  )
}

setting_shown <- function(value) if (length(value) == 0L || all(is.na(value))) "" else value

# A list of columns, or of rows that are not alike, as a list of rows.
as_rows <- function(table) {
  if (is.null(names(table))) return(table)
  lapply(seq_along(table[[1L]]), function(i) lapply(table, `[[`, i))
}
