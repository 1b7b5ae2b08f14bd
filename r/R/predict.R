# What a model says about rows.

z_of <- function(object, problem, draws = 0, activated = FALSE, seed = 1, threads = object$threads) {
  z <- checked(.Call(C_transform, pointer_of(object), problem$table, draws, activated, seed,
                     whole_number(threads, "threads")))
  colnames(z) <- paste0("z", seq_len(ncol(z)))
  if (draws == 0) rownames(z) <- names_for(problem)
  z
}

# Automatic row names are no names.
names_for <- function(problem) if (is.character(problem$row_names)) problem$row_names

predicted <- function(object, problem, what, level = 0.9, by_class = FALSE, threads = object$threads) {
  found <- checked(.Call(C_predict, pointer_of(object), problem$table, what, level, by_class,
                         whole_number(threads, "threads")))
  names <- if (object$classifier) object$levels else object$y_names
  dress <- function(values) {
    if (object$classifier) values <- values[, match(object$levels, object$about$classes), drop = FALSE]
    dimnames(values) <- list(names_for(problem), if (length(names) == ncol(values)) names)
    values
  }
  if (is.list(found)) lapply(found, dress) else dress(found)
}

predict.stonet <- function(object, newdata, type = c("response", "prob", "class", "z", "interval", "set", "spread", "survival"),
                           level = 0.9, by_class = FALSE, times = NULL, se.fit = FALSE, pairs = 25, seed = object$seed,
                           threads = object$threads, quiet = FALSE, ...) {
  unknown_arguments(...)
  type <- one_of(type[1L], eval(formals()$type), "type")
  if (a_flag(se.fit, "se.fit")) return(predict_se(object, if (!missing(newdata)) newdata, type, pairs, run_of(seed, threads, quiet = quiet)))
  if (missing(newdata) || is.null(newdata)) {
    problem <- if (type %in% c("interval", "set", "spread", "survival")) training_problem(object) else training_rows(object)
  } else {
    problem <- new_problem(object, newdata, quiet = quiet)
  }
  if (type == "z") return(if (is.null(problem$table)) object$z else z_of(object, problem, threads = threads))
  if (!object$predicts) {
    fail("this model was fitted without a response, or with learner = \"none\": it gives Z (type = \"z\") and no ",
         "predictions", kind = "unsupported")
  }
  if (type %in% c("prob", "class", "set") && !object$classifier) {
    fail("type = \"", type, "\" is for classes, and this response is numbers", kind = "unsupported")
  }
  if (type %in% c("interval", "spread") && object$classifier) {
    fail("type = \"", type, "\" is for numbers, and this response is classes", kind = "unsupported")
  }
  if (type == "survival") return(survival_of(object, problem, times, threads))
  level <- real_number(level, "level", 0, 1)
  if (type %in% c("interval", "set") && !is_quiet(quiet)) tell_few_rows(object, level)
  mean <- if (type == "set" || type == "spread") NULL
          else if (is.null(problem$table)) object$fitted.values
          else predicted(object, problem, "mean", threads = threads)
  switch(type,
    prob = mean,
    class = most_probable(object, mean),
    response = if (object$classifier) most_probable(object, mean) else plain(mean),
    set = predicted(object, problem, "set", level, a_flag(by_class, "by_class"), threads),
    spread = plain(predicted(object, problem, "spread", threads = threads)),
    interval = interval_of(mean, predicted(object, problem, "interval", level, threads = threads))
  )
}

# Times and counts: what is seen of them is no number that a prediction could be subtracted from.
has_law <- function(object) isTRUE(object$about$task %in% c("survival", "interval", "count"))
no_law <- function(object, what) if (has_law(object)) fail(what, " is for plain numbers and classes", kind = "unsupported")

# The probability of being beyond each time, and the mean time up to the last of them.
survival_of <- function(object, problem, times, threads) {
  if (!object$about$task %in% c("survival", "interval")) fail("type = \"survival\" is for times", kind = "unsupported")
  if (!is.numeric(times) || length(times) == 0L || !all(is.finite(times) & times > 0) || is.unsorted(times, strictly = TRUE)) {
    fail("times are numbers above 0 in ascending order, not ", shown(times))
  }
  found <- checked(.Call(C_survival, pointer_of(object), problem$table, as.double(times), whole_number(threads, "threads")))
  beyond <- found[[1L]]
  dimnames(beyond) <- list(names_for(problem), paste0("S(", format(times, trim = TRUE), ")"))
  cbind(beyond, mean = found[[2L]][, 1L])
}

# A level so high that the rows of the calibration cannot vouch for it.
tell_few_rows <- function(object, level) {
  rows <- object$about$calibration$rows
  each <- if (object$classifier) level else 1 - (1 - level) / object$outputs
  needed <- ceiling((1 - 1e-12) / (1 - each)) - 1
  if (!is.null(rows) && rows < needed) {
    say(paste0("the calibration has ", rows, " rows, and level ", level, " needs ", needed, ": ",
               if (object$classifier) "the sets hold all classes" else "the intervals are infinite"), warns = TRUE)
  }
}

# Predictions with standard errors, as predict.lm() has them.
predict_se <- function(object, newdata, type, pairs, how) {
  if (!object$predicts || !type %in% c("response", "prob")) {
    fail("se.fit = TRUE is for predictions (type = \"response\" or \"prob\"); standard_errors() has those of Z")
  }
  problem <- rows_or_training(object, newdata, quiet = how$quiet)
  ask <- function(pointer) predicted(with_pointer(object, pointer), problem, "mean")
  dress <- function(values) if (object$classifier) values else plain(values)
  list(fit = dress(predicted(object, problem, "mean")), se.fit = dress(sqrt(half_variance(object, pairs, how, ask))),
       residual.scale = if (object$classifier || has_law(object)) NA_real_ else noise_of(object))
}

# The same object around another model.
with_pointer <- function(object, pointer) {
  object$handle <- new.env(parent = emptyenv())
  object$handle$pointer <- pointer
  object
}

# A matrix of one column as a vector.
plain <- function(values) if (ncol(values) == 1L) values[, 1L] else values

most_probable <- function(object, p) {
  levels <- if (is.null(object$all_levels)) object$levels else object$all_levels
  found <- factor(object$levels[max.col(p, ties.method = "first")], levels, ordered = isTRUE(object$is_ordered))
  if (!is.null(rownames(p))) names(found) <- rownames(p)
  found
}

# Columns fit, lwr, upr as predict.lm() has them; of several responses an array, the last index the response.
interval_of <- function(mean, ends) {
  if (ncol(mean) == 1L) {
    return(matrix(c(mean, ends$low, ends$high), ncol = 3L, dimnames = list(rownames(mean), c("fit", "lwr", "upr"))))
  }
  whole <- array(c(mean, ends$low, ends$high), c(nrow(mean), ncol(mean), 3L),
                 list(rownames(mean), colnames(mean), c("fit", "lwr", "upr")))
  aperm(whole, c(1L, 3L, 2L))
}

# What is kept of the rows of the fit answers for them.
training_rows <- function(object) {
  if (is.null(object$z) || (object$predicts && is.null(object$fitted.values))) {
    fail("what this model says about the rows of its fit is not kept: give newdata")
  }
  list(table = NULL, row_names = object$row_names)
}

unknown_arguments <- function(...) {
  if (...length() > 0L) {
    fail("there is no argument '", c(names(list(...)), "without a name")[1L], "' here")
  }
}

transform.stonet <- function(`_data`, newdata, draws = 0, activated = FALSE, seed = NULL, threads = `_data`$threads,
                             quiet = FALSE, ...) {
  object <- `_data`
  unknown_arguments(...)
  draws <- whole_number(draws, "draws")
  activated <- a_flag(activated, "activated")
  if (missing(newdata) || is.null(newdata)) {
    training_rows(object)
    if (draws == 0 && !activated) return(object$z)
    newdata <- NULL
  }
  problem <- rows_or_training(object, newdata, quiet = quiet)
  z <- z_of(object, problem, draws, activated, if (draws > 0) seed_of(seed) else 1, threads)
  if (draws == 0) return(z)
  z <- array(z, c(problem$rows, draws, ncol(z)), list(names_for(problem), NULL, colnames(z)))
  aperm(z, c(1L, 3L, 2L))
}

fitted.stonet <- function(object, ...) {
  training_rows(object)
  if (!object$predicts) fail("this model gives Z and no predictions", kind = "unsupported")
  padded(object, plain_response(object, object$fitted.values))
}

plain_response <- function(object, values) if (object$classifier) values else plain(values)

# Rows that na.exclude() left out come back as NA.
padded <- function(object, values) stats::naresid(object$na.action, values)

residuals.stonet <- function(object, ...) {
  training_rows(object)
  no_law(object, "residuals()")
  if (!object$predicts) fail("this model gives Z and no predictions", kind = "unsupported")
  if (object$classifier) {
    is <- outer(as.character(object$y), object$levels, `==`)
    return(padded(object, is - object$fitted.values))
  }
  left <- as.matrix(object$y) - object$fitted.values
  padded(object, plain(left))
}

stonet_score <- function(object, newdata = NULL, y = NULL, level = 0.9, by_class = FALSE, threads = object$threads,
                         quiet = FALSE) {
  check_stonet(object)
  problem <- rows_or_training(object, newdata, y, response = TRUE, quiet = quiet)
  tell_met(object, problem, quiet)
  found <- checked(.Call(C_score, pointer_of(object), problem$table, real_number(level, "level", 0, 1),
                         a_flag(by_class, "by_class"), whole_number(threads, "threads")))
  found <- found[!vapply(found, function(value) is.null(value) || (length(value) == 1L && is.na(value)), NA)]
  if (!is.null(found$confusion)) {
    order <- match(object$levels, object$about$classes)
    found$confusion <- matrix(found$confusion[order, order], length(order), dimnames = list(true = object$levels, predicted = object$levels))
  }
  found
}

calibrate <- function(object, newdata = NULL, y = NULL, rows = c("auto", "cv", "split", "fresh"), folds = 0,
                      sets = c("aps", "lac"), group = NULL, seed = object$seed, threads = object$threads,
                      verbose = FALSE, quiet = FALSE) {
  check_stonet(object)
  kinds <- c("auto", "cv", "split", "fresh")
  kind <- match(one_of(rows[1L], kinds, "rows"), kinds) - 1
  set <- match(one_of(sets[1L], c("aps", "lac"), "sets"), c("aps", "lac")) - 1
  if (is.null(newdata) && kind == 3) fail("rows = \"fresh\" needs newdata that the model was not fitted on")
  problem <- rows_or_training(object, newdata, y, response = TRUE, group = group, quiet = quiet)
  copy <- checked(.Call(C_model_from_bytes, object$file))
  in_run(function(run) .Call(C_calibrate, copy, problem$table, kind, whole_number(folds, "folds"), set, run),
         run_of(seed, threads, verbose, quiet))
  made <- new_stonet(copy)
  for (part in c("handle", "file", "about", "calibrated")) object[[part]] <- made[[part]]
  if (object$classifier && !is.null(object$z)) { # the temperature has changed the probabilities
    own <- kind < 3 && problem$rows == nrow(object$z)
    object["fitted.values"] <- list(if (own) predicted(object, problem, "mean"))
  }
  object
}

standard_errors <- function(object, newdata = NULL, train = NULL, y = NULL, refits = 50, seed = object$seed,
                            threads = object$threads, verbose = FALSE, quiet = FALSE) {
  check_stonet(object)
  of <- rows_or_training(object, newdata, quiet = quiet)
  from <- rows_or_training(object, train, y, response = length(object$y_names) > 0L, quiet = quiet)
  found <- in_run(function(run) {
    .Call(C_transform_se, pointer_of(object), from$table, of$table, whole_number(refits, "refits"), run)
  }, run_of(seed, threads, verbose, quiet))
  dimnames(found$se) <- list(names_for(of), paste0("z", seq_len(ncol(found$se))))
  found
}
