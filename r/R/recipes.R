# A step for package recipes: the selected columns give way to Z.

step_stonet <- function(recipe, ..., outcome = NULL, role = "predictor", trained = FALSE, num_comp = 2,
                        method = "stonet", settings = list(), seed = NULL, prefix = "z", columns = NULL, fit = NULL,
                        skip = FALSE, id = NULL) {
  need("recipes")
  if (is.null(id)) id <- recipes::rand_id("stonet")
  recipes::add_step(recipe, recipes::step(
    subclass = "stonet", terms = rlang_terms(...), outcome = outcome, role = role, trained = trained,
    num_comp = num_comp, method = method, settings = settings, seed = seed, prefix = prefix, columns = columns,
    fit = fit, skip = skip, id = id
  ))
}


# rlang comes with recipes.
rlang_terms <- function(...) getExportedValue("rlang", "enquos")(...)

prep.step_stonet <- function(x, training, info = NULL, ...) {
  columns <- unname(recipes::recipes_eval_select(x$terms, training, info))
  outcome <- x$outcome
  if (is.null(outcome)) outcome <- info$variable[info$role == "outcome"]
  if (length(outcome) == 0L) fail("step_stonet() needs an outcome: the recipe has none, and the argument outcome names none")
  y <- if (length(outcome) == 1L) training[[outcome]] else as.matrix(as.data.frame(training[outcome]))
  arguments <- c(list(as.data.frame(training[columns]), y, dim = x$num_comp, method = x$method, seed = x$seed), x$settings)
  fit <- do.call(stonet, arguments)
  fit$call <- NULL
  recipes::step(
    subclass = "stonet", terms = x$terms, outcome = outcome, role = x$role, trained = TRUE, num_comp = x$num_comp,
    method = x$method, settings = x$settings, seed = x$seed, prefix = x$prefix, columns = columns, fit = fit,
    skip = x$skip, id = x$id
  )
}

bake.step_stonet <- function(object, new_data, ...) {
  z <- transform(object$fit, as.data.frame(new_data[object$columns]))
  colnames(z) <- paste0(object$prefix, seq_len(ncol(z)))
  rest <- new_data[setdiff(names(new_data), object$columns)]
  rest[colnames(z)] <- as.data.frame(z)
  rest
}

print.step_stonet <- function(x, width = 60L, ...) {
  what <- if (x$trained) paste0(length(x$columns), " columns") else "the selected columns"
  cat("Reduction of ", what, " to ", x$num_comp, " by ", x$method, if (x$trained) " [trained]", "\n", sep = "")
  invisible(x)
}

tidy.step_stonet <- function(x, ...) {
  if (x$trained) {
    data.frame(terms = x$columns, method = x$method, id = x$id)
  } else {
    data.frame(terms = NA_character_, method = x$method, id = x$id)
  }
}

required_pkgs.step_stonet <- function(x, ...) "stonet"
