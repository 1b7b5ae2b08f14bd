# Tests of independence and sufficiency, and data to try things on.

test_names <- c("auto", "rit", "rcit", "rcot", "dcor", "gcm")
null_laws <- c("lpb4", "hbe", "gamma", "chi2", "perm")
test_titles <- c(
  rit = "Randomized independence test", rcit = "Randomized conditional independence test",
  rcot = "Randomized conditional correlation test", dcor = "Distance correlation test",
  gcm = "Generalised covariance measure"
)

# Columns of numbers; the tests look at a column of texts by the indicators of its values.
test_matrix <- function(values, name) {
  if (is.null(values)) return(NULL)
  columns <- if (is.data.frame(values)) as_columns(values) else if (is.matrix(values)) list(values) else list(as_column(values, name))
  parts <- lapply(columns, function(column) {
    if (is.factor(column)) outer(as.integer(column), seq_along(levels(column)), `==`) + 0 else as.matrix(column)
  })
  whole <- do.call(cbind, parts)
  if (!is.numeric(whole) && !is.logical(whole)) fail(name, " is numbers, texts or a data frame of such, not ", shown(values))
  storage.mode(whole) <- "double"
  if (anyNA(whole) || !all(is.finite(whole))) {
    fail(name, " has cells that are missing or infinite: leave those rows out", kind = "data")
  }
  dimnames(whole) <- NULL
  whole
}

independence_test <- function(x, y, z = NULL, test = "auto", null_law = "lpb4", features = 5, condition_features = 0,
                              repeats = 1, permutations = 1000, seed = NULL, threads = 0, quiet = FALSE) {
  data_name <- paste(shown(substitute(x)), "and", shown(substitute(y)),
                     if (!is.null(z)) paste("given", shown(substitute(z))) else "")
  options <- list(
    test = match(one_of(test, test_names, "test"), test_names) - 1,
    null_law = match(one_of(null_law, null_laws, "null_law"), null_laws) - 1,
    features = whole_number(features, "features", 1), condition_features = whole_number(condition_features, "condition_features"),
    repeats = whole_number(repeats, "repeats", 1), permutations = whole_number(permutations, "permutations", 1)
  )
  x <- test_matrix(x, "x")
  y <- test_matrix(y, "y")
  z <- test_matrix(z, "z")
  if (nrow(y) != nrow(x)) fail("x has ", nrow(x), " rows and y has ", nrow(y))
  if (!is.null(z) && nrow(z) != nrow(x)) fail("x has ", nrow(x), " rows and z has ", nrow(z))
  found <- in_run(function(run) .Call(C_independence, x, y, z, options, run), run_of(seed, threads, quiet = quiet))
  name <- test_names[found$test + 1L]
  structure(
    list(statistic = c(T = found$statistic), p.value = found$p_value, method = unname(test_titles[name]),
         data.name = trimws(data_name), parameter = c(n = found$n), alternative = "they are dependent", test = name),
    class = "htest"
  )
}

sufficiency_test <- function(object, newdata, y = NULL, seed = object$seed, threads = object$threads, quiet = FALSE) {
  check_stonet(object)
  problem <- new_problem(object, newdata, y, response = TRUE, quiet = quiet)
  tell_met(object, problem, quiet)
  found <- in_run(function(run) .Call(C_sufficiency, pointer_of(object), problem$table, run), run_of(seed, threads, quiet = quiet))
  structure(
    list(statistic = c(T = found$statistic), p.value = found$p_value,
         method = paste("Test of sufficiency:", tolower(test_titles[[test_names[found$test + 1L]]])),
         data.name = shown(substitute(newdata)), parameter = c(n = found$n),
         alternative = "the response depends on x given Z",
         estimate = c("explained by Z" = found$explained_by_z, "by Z and x" = found$explained_by_z_and_x),
         prediction.p.value = found$prediction_p_value),
    class = "htest"
  )
}

stonet_generate <- function(name, rows, seed = NULL) {
  known <- checked(.Call(C_generators))
  if (missing(name)) return(as.data.frame(known[c("name", "task", "columns", "truth", "help")]))
  if (isTRUE(known$truth[match(name, known$name)] == 0))
    fail(name, " is a table with text or dates: write it by 'stonet generate ", name, " --out FILE'")
  found <- checked(.Call(C_generate, a_text(name, "name"), whole_number(rows, "rows", 1), seed_of(seed)))
  frame <- as.data.frame(found$x)
  names(frame) <- paste0("x", seq_along(frame))
  if (!is.null(found$codes)) {
    frame$y <- factor(found$labels[found$codes], levels = found$labels)
  } else if (ncol(found$y) == 1L) {
    y <- found$y[, 1L]
    task <- known$task[match(sub(":.*", "", name), known$name)]
    frame$y <- if (identical(task, "classification")) factor(y) else y
  } else {
    frame[paste0("y", seq_len(ncol(found$y)))] <- as.data.frame(found$y)
  }
  attr(frame, "truth") <- found$truth
  frame
}
