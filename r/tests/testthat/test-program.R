# The same settings and seed give the program's numbers to the last bit.

# Z is computed and written in single precision.
as_float <- function(values) writeBin(as.vector(values), raw(), size = 4L)

same_numbers <- function(frame, target, settings, dim = 2, method = "stonet", classifier = FALSE) {
  folder <- tempfile("program")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  at <- function(name) file.path(folder, name)
  write_exact(frame, at("train.csv"))
  sets <- c(settings, list(task = if (classifier) "classification" else "regression"))
  words <- as.vector(rbind("--set", paste0(names(sets), "=", vapply(sets, as.character, ""))))
  program("fit", at("train.csv"), "--target", target, "--method", method, "--dim", dim, "--seed", "7", words, "--out", at("m"))
  program("transform", at("m"), at("train.csv"), "--out", at("z.csv"))
  program("predict", at("m"), at("train.csv"), if (classifier) "--proba", "--out", at("p.csv"))
  fit <- do.call(stonet, c(list(stats::reformulate(".", target), frame, dim = dim, method = method, seed = 7, threads = 2),
                           settings))
  z <- as.matrix(utils::read.csv(at("z.csv")))
  expect_identical(as_float(z), as_float(transform(fit)))
  p <- utils::read.csv(at("p.csv"))
  p <- as.matrix(p[vapply(p, is.numeric, NA)])
  expect_identical(unname(p), unname(as.matrix(fitted(fit))))
  save_model(fit, at("r"))
  program("transform", at("r"), at("train.csv"), "--out", at("again.csv"))
  expect_identical(readLines(at("again.csv")), readLines(at("z.csv")))
  theirs <- load_model(at("m"))
  expect_identical(unname(transform(theirs, frame)), unname(transform(fit)))
}

test_that("networks, classes", {
  same_numbers(waves(120), "y", list(epochs = 3, restarts = 2), classifier = TRUE)
})

test_that("networks, numbers", {
  same_numbers(stonet_generate("ratio", 120, 3), "y", list(epochs = 3, weight_decay = 0.01, front = "none"))
})

test_that("linear and kernel methods", {
  same_numbers(mtcars, "mpg", list(slices = 5), method = "sir")
  same_numbers(mtcars[1:5], "mpg", list(), method = "mave", dim = 1)
  same_numbers(stonet_generate("ratio", 100, 4), "y", list(), method = "gsir")
})

test_that("tables with texts", {
  same_numbers(as.data.frame(CO2)[c("Type", "Treatment", "conc", "uptake")], "uptake", list(slices = 5), method = "sir", dim = 1)
  same_numbers(iris, "Species", list(), method = "sir", classifier = TRUE)
})
