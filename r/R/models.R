# What R asks of any model: coefficients and their errors, likelihood, nested models, simulated responses.

# Networks whose Z is B'x without being one of the library's linear maps: their derivatives are the same in every row.
is_linear_network <- function(object) {
  fitted <- object$about$fitted
  object$method == "nnsdr" || (identical(fitted$activation, "identity") && (is.null(fitted$front) || fitted$front == "none"))
}

coef.stonet <- function(object, newdata = NULL, y = NULL, se = FALSE, pairs = if (se) 50 else 0, seed = object$seed,
                        threads = object$threads, quiet = FALSE, ...) {
  unknown_arguments(...)
  a_flag(se, "se")
  linear <- is_linear(object)
  if (pairs > 0) linear_only(object)
  table <- if (!is.null(newdata)) new_problem(object, newdata, y, response = pairs > 0, quiet = quiet)$table
           else if (pairs > 0 || !linear) training_problem(object)$table
  coef_table(object, pointer_of(object), table, pairs, run_of(seed, threads, quiet = quiet))
}

coef_table <- function(object, pointer, table, pairs, how) {
  found <- in_run(function(run) .Call(C_coef, pointer, table, whole_number(pairs, "pairs"), run), how)
  rows <- as.data.frame(found$rows)
  values <- as.matrix(rows[setdiff(names(rows), "feature")])
  rownames(values) <- rows$feature
  if (is_linear_network(object)) {
    found <- list(kind = "directions")
    values <- values[, seq_len(object$dim), drop = FALSE]
  }
  structure(values, kind = found$kind, shares = if (length(found$shares) > 0L) found$shares,
            class = c("stonet_coef", "matrix", "array"))
}

is_linear <- function(object) !inherits(try(.Call(C_coef, pointer_of(object), NULL, 0, NULL), silent = TRUE), "stonet_failure")

linear_only <- function(object) {
  if (!is_linear(object)) {
    fail("coefficients of method \"", object$method, "\" have no standard errors: standard_errors() has those of Z, and ",
         "predict(se.fit = TRUE) those of predictions", kind = "unsupported")
  }
}

print.stonet_coef <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  linear <- identical(attr(x, "kind"), "directions")
  cat(if (linear) "Z is linear in x: change of its columns for one unit of x\n"
      else "Z is not linear in x: mean change of its columns for one unit of x, and leading directions\n")
  print(matrix(x, nrow(x), dimnames = dimnames(x)), digits = digits, ...)
  invisible(x)
}

# Pairs of fits of the same settings on complementary halves of the rows (of each class, or of the groups). The fit keeps them, so
# that a second call only predicts; models that are large together are made again each time.
kept_bytes <- 2^28

half_fits <- function(object, pairs, how) {
  pairs <- whole_number(pairs, "pairs", 1)
  kept <- object$handle$halves
  if (!identical(kept$seed, how$seed) || !.Call(C_model_is_there, kept$fits[[1L]][[1L]])) kept <- list(seed = how$seed)
  if (length(kept$fits) >= pairs) return(kept$fits[seq_len(pairs)])
  problem <- training_problem(object)
  group <- if (is.null(problem$group)) seq_len(problem$rows) else problem$group
  stratum <- if (object$classifier && is.null(problem$group)) as.character(problem$y) else rep(1, max(group))
  halves <- with_seed(how$seed, lapply(seq_len(pairs), function(i) {
    stats::ave(seq_along(stratum), stratum, FUN = function(k) sample(rep_len(sample(1:2), length(k))))
  }))
  quietly <- utils::modifyList(how, list(quiet = TRUE))
  fit <- function(rows) {
    part <- checked(.Call(C_subset, problem$table, rows))
    tryCatch(in_run(function(run) .Call(C_refit, pointer_of(object), part, run), quietly), stonet_stopped = function(w) {
      fail("stopped before the standard errors were finished", kind = "interrupted")
    })
  }
  for (i in seq(length(kept$fits) + 1L, pairs)) kept$fits[[i]] <- lapply(1:2, function(side) fit(which(halves[[i]][group] == side)))
  if (2 * pairs * length(object$file) <= kept_bytes) object$handle$halves <- kept
  kept$fits
}

# Half the rows give twice the variance, and the halves are independent: the variance is the mean of (a - b)^2 / 4, where a and b
# are what the two fits answer; outer = TRUE: the covariance.
half_variance <- function(object, pairs, how, ask, outer = FALSE) {
  squares <- lapply(half_fits(object, pairs, how), function(pair) {
    left <- ask(pair[[1L]]) - ask(pair[[2L]])
    if (outer) tcrossprod(as.vector(left)) else left^2
  })
  Reduce(`+`, squares) / (4 * length(squares))
}

vcov.stonet <- function(object, pairs = 50, seed = object$seed, threads = object$threads, ...) {
  unknown_arguments(...)
  whole <- coef(object, pairs = pairs, seed = seed, threads = threads)
  at <- grep("_se$", colnames(whole), invert = TRUE)
  own <- whole[, at, drop = FALSE]
  how <- run_of(seed, threads, quiet = TRUE)
  ask <- function(pointer) {
    half <- unclass(coef_table(object, pointer, NULL, 0, how))
    sweep(half, 2L, ifelse(colSums(half * own) < 0, -1, 1), "*")
  }
  found <- half_variance(object, pairs, how, ask, outer = TRUE)
  scale <- as.vector(whole[, at + 1L]) / sqrt(diag(found)) # the errors are those that coef() has
  found <- found * outer(scale, scale)
  found[!is.finite(found)] <- 0
  names <- as.vector(outer(rownames(own), colnames(own), function(row, column) paste0(column, ":", row)))
  dimnames(found) <- list(names, names)
  found
}

# The coefficients of a linear reduction in one column, with errors and normal intervals.
coef_rows <- function(object, level, ...) {
  whole <- coef(object, se = TRUE, ...)
  at <- grep("_se$", colnames(whole), invert = TRUE)
  estimate <- as.vector(whole[, at])
  error <- as.vector(whole[, at + 1L])
  reach <- stats::qnorm(0.5 + real_number(level, "level", 0, 1) / 2) * error
  data.frame(term = rep(rownames(whole), length(at)), component = rep(colnames(whole)[at], each = nrow(whole)),
             estimate = estimate, std.error = error, conf.low = estimate - reach, conf.high = estimate + reach)
}

confint.stonet <- function(object, parm, level = 0.95, ...) {
  rows <- coef_rows(object, level, ...)
  ends <- as.matrix(rows[c("conf.low", "conf.high")])
  dimnames(ends) <- list(paste0(rows$component, ":", rows$term), paste(format(100 * c(1 - level, 1 + level) / 2, trim = TRUE), "%"))
  if (missing(parm)) ends else ends[parm, , drop = FALSE]
}

# Deviation of the responses around their predictions: on held-out rows where there were some.
noise_of <- function(object) {
  held <- held_out(object)
  if (!is.null(held$mse)) sqrt(held["model", "mse"]) else sqrt(colMeans(as.matrix(residuals(object))^2))
}

# Of the rows of the fit: multinomial, or normal around the predictions. Networks have no count of parameters.
logLik.stonet <- function(object, ...) {
  training_rows(object)
  no_law(object, "logLik()")
  if (!object$predicts) fail("this model gives Z and no predictions", kind = "unsupported")
  weights <- if (is.null(object$weights)) rep(1, nrow(object$fitted.values)) else object$weights
  if (object$classifier) {
    value <- sum(weights * log(object$fitted.values[cbind(seq_along(weights), match(as.character(object$y), object$levels))]))
  } else {
    left <- as.matrix(object$y) - object$fitted.values
    sd <- if (identical(object$about$fitted$response, "location-scale")) predict(object, type = "spread", quiet = TRUE)
          else rep(sqrt(colSums(weights * left^2) / sum(weights)), each = nrow(left))
    value <- sum(weights * stats::dnorm(left, 0, sd, log = TRUE))
  }
  q <- object$dim
  linear <- isTRUE(object$about$learner$name %in% c("linear", "logistic")) && is_linear(object)
  df <- if (linear) q * (length(object$features) - q) + (q + 1) * (object$outputs - object$classifier) +
    if (object$classifier) 0 else object$outputs else NA_real_
  structure(value, df = df, nobs = object$nobs, class = "logLik")
}

# ---- nested sets of variables ----

kept_columns <- function(object) {
  no_law(object, "this test")
  training_problem(object)
  columns <- object$model$features$columns
  as.data.frame(if (is.list(columns)) columns else as.data.frame(columns), optional = TRUE)
}

# Whether the response depends on some columns given others, on complete rows.
adds <- function(frame, y, more, given, seed, threads) {
  y <- as.data.frame(y)
  whole <- stats::complete.cases(frame[c(more, given)], y)
  z <- if (length(given) > 0L) frame[whole, given, drop = FALSE]
  independence_test(frame[whole, more, drop = FALSE], y[whole, , drop = FALSE], z, seed = seed, threads = threads, quiet = TRUE)
}

nested_table <- function(tests, names, heading, ...) {
  table <- data.frame(..., Statistic = vapply(tests, function(test) if (is.null(test)) NA_real_ else unname(test$statistic), 0),
                      p = vapply(tests, function(test) if (is.null(test)) NA_real_ else test$p.value, 0), row.names = names,
                      check.names = FALSE)
  names(table)[ncol(table)] <- "Pr(>T)"
  structure(table, heading = paste0(heading, "\n"), class = c("anova", "data.frame"))
}

anova.stonet <- function(object, ..., seed = object$seed, threads = object$threads) {
  models <- c(list(object), Filter(function(one) inherits(one, "stonet"), list(...)))
  largest <- models[[length(models)]]
  frame <- kept_columns(largest)
  sets <- if (length(models) > 1L) lapply(models, function(one) names(kept_columns(one)))
          else lapply(seq_along(frame), function(j) names(frame)[seq_len(j)])
  for (i in seq_along(sets)[-1L]) {
    if (!all(sets[[i - 1L]] %in% sets[[i]]) || length(sets[[i]]) == length(sets[[i - 1L]])) {
      fail("these models are not nested: give them from few variables to more, each with all variables of the one before")
    }
    if (length(models) > 1L && !identical(as.vector(models[[i]]$y), as.vector(object$y))) fail("these models have different responses")
  }
  alone <- length(models) == 1L
  tests <- lapply(seq_along(sets), function(i) {
    if (i == 1L && !alone) return(NULL)
    before <- if (i > 1L) sets[[i - 1L]] else character()
    adds(frame, largest$y, setdiff(sets[[i]], before), before, seed, threads)
  })
  heading <- paste0("Does the response depend on the variables of a row, given those of the rows above?\n",
                    "Response: ", paste(object$y_names, collapse = ", "), " (generalised covariance measure)")
  if (alone) return(nested_table(tests, names(frame), heading, Df = rep(1L, length(sets))))
  score <- function(one) {
    held <- held_out(one)
    if (is.null(held)) NA_real_ else held["model", 1L]
  }
  nested_table(tests, vapply(sets, paste, "", collapse = " + "), heading, Variables = lengths(sets),
               "Held-out" = vapply(models, score, 0), Df = c(NA, diff(lengths(sets))))
}

drop1.stonet <- function(object, scope, seed = object$seed, threads = object$threads, ...) {
  unknown_arguments(...)
  frame <- kept_columns(object)
  scope <- if (missing(scope)) names(frame) else if (inherits(scope, "formula")) all.vars(scope) else scope
  gone <- setdiff(scope, names(frame))
  if (length(gone) > 0L) fail("'", gone[1L], "' is no column of this fit")
  tests <- lapply(scope, function(name) adds(frame, object$y, name, setdiff(names(frame), name), seed, threads))
  nested_table(tests, scope, paste0("Does the response depend on a variable, given all others?\nResponse: ",
                                    paste(object$y_names, collapse = ", "), " (generalised covariance measure)"), Df = rep(1L, length(scope)))
}

simulate.stonet <- function(object, nsim = 1, seed = NULL, ...) {
  unknown_arguments(...)
  no_law(object, "simulate()")
  if (is.null(seed)) {
    if (!exists(".Random.seed", globalenv())) stats::runif(1)
    state <- get(".Random.seed", globalenv())
    found <- drawn_responses(object, nsim)
  } else {
    state <- structure(seed, kind = as.list(RNGkind()))
    found <- with_seed(seed, drawn_responses(object, nsim))
  }
  structure(found, seed = state)
}

drawn_responses <- function(object, nsim) {
  training_rows(object)
  mean <- object$fitted.values
  if (is.null(mean)) fail("this model gives Z and no predictions", kind = "unsupported")
  if (!object$classifier && ncol(mean) > 1L) fail("simulate() is for one response", kind = "unsupported")
  sd <- if (object$classifier) NULL
        else if (identical(object$about$fitted$response, "location-scale")) predict(object, type = "spread", quiet = TRUE)
        else noise_of(object)
  draws <- lapply(seq_len(whole_number(nsim, "nsim", 1)), function(i) {
    if (!object$classifier) return(mean[, 1L] + sd * stats::rnorm(nrow(mean)))
    cell <- rowSums(stats::runif(nrow(mean)) > t(apply(mean, 1L, cumsum))) + 1L
    factor(object$levels[pmin(cell, ncol(mean))], levels(most_probable(object, mean)), ordered = isTRUE(object$is_ordered))
  })
  frame <- as.data.frame(stats::setNames(draws, paste0("sim_", seq_along(draws))))
  if (is.character(object$row_names)) rownames(frame) <- object$row_names
  frame
}

# ---- a page ----

report <- function(object, ...) UseMethod("report")

# One HTML file with what print, summary and the pictures say; newdata, rows that were not fitted, add scores.
report.stonet <- function(object, newdata = NULL, y = NULL, path = tempfile(fileext = ".html"), ...) {
  unknown_arguments(...)
  escape <- function(text) gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE), fixed = TRUE)
  part <- function(title, ...) c(paste0("<h2>", title, "</h2>"), ...)
  printed <- function(expr) c("<pre>", escape(utils::capture.output(print(expr))), "</pre>")
  picture <- function(draw) {
    if (!capabilities("cairo")) return(NULL)
    file <- tempfile(fileext = ".svg")
    on.exit(unlink(file))
    grDevices::svg(file, 6, 4.5)
    tryCatch(draw(), finally = grDevices::dev.off())
    readLines(file, encoding = "UTF-8")[-1L]
  }
  scored <- if (!is.null(newdata)) stonet_score(object, newdata, y)
  importance <- if (object$predicts) stonet_importance(object, newdata, y, quiet = TRUE)
  page <- c(
    "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>stonet</title><style>body{font-family:sans-serif;max-width:50em;",
    "margin:2em auto}pre{background:#f4f4f4;padding:1em;overflow:auto}</style></head><body>",
    paste0("<h1>", escape(object$title), "</h1>"), printed(summary(object)),
    if (!is.null(object$z)) part("Z by the response", picture(function() plot(object))),
    if (!is.null(scored)) part(paste("Scores of", scored$n, "new rows"), printed(unlist(scored[lengths(scored) == 1L])),
                               if (!is.null(scored$confusion)) printed(scored$confusion)),
    if (!is.null(importance)) part("Importance of the variables", picture(function() {
      graphics::par(mar = c(4, 9, 1, 1))
      plot(importance)
    }), printed(importance)),
    if (is_linear(object) || !is.null(object$model)) part("Coefficients", printed(coef(object, quiet = TRUE))), "</body></html>"
  )
  writeLines(enc2utf8(page), path, useBytes = TRUE)
  if (interactive()) utils::browseURL(path)
  invisible(path)
}
