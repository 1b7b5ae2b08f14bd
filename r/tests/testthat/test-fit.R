test_that("a formula and a matrix are two ways to say the same", {
  by_formula <- stonet(mpg ~ ., mtcars, dim = 2, method = "sir", slices = 5, seed = 1)
  by_matrix <- stonet(as.matrix(mtcars[-1]), mtcars$mpg, dim = 2, method = "sir", slices = 5, seed = 1)
  by_frame <- stonet(mtcars[-1], mtcars$mpg, dim = 2, method = "sir", slices = 5, seed = 1)
  expect_s3_class(by_formula, "stonet")
  expect_identical(dim(by_formula$z), c(32L, 2L))
  expect_identical(by_formula$z, by_matrix$z)
  expect_identical(by_frame$z, by_matrix$z)
  expect_identical(rownames(by_formula$z), rownames(mtcars))
  expect_identical(predict(by_formula, mtcars), predict(by_matrix, as.matrix(mtcars[-1])))
})

test_that("formulas may transform, drop and select", {
  some <- stonet(log(mpg) ~ . - hp + I(wt^2), mtcars, subset = cyl > 4, method = "sir", slices = 4, dim = 1)
  expect_identical(some$nobs, as.numeric(sum(mtcars$cyl > 4)))
  expect_false("hp" %in% some$x_names)
  expect_true("I(wt^2)" %in% some$x_names)
  expect_identical(some$y_names, "log(mpg)")
  expect_length(predict(some, mtcars), 32L)
  curved <- stonet(mpg ~ poly(wt, 2) + hp, mtcars, method = "sir", slices = 4, dim = 1)
  expect_identical(length(curved$x_names), 3L)
  expect_equal(predict(curved, mtcars[1:3, ]), predict(curved)[1:3])
})

test_that("columns of every kind get in, as the library encodes them", {
  n <- 60
  frame <- data.frame(
    number = sin(1:n), count = rep(1:30, 2), flag = rep(c(TRUE, FALSE), n / 2), name = rep(c("a", "b", "c"), n / 3),
    size = factor(rep(c("low", "mid", "high"), n / 3), levels = c("low", "mid", "high"), ordered = TRUE),
    day = as.Date("2024-01-01") + 1:n, time = as.POSIXct("2024-01-01", tz = "UTC") + 3600 * (1:n)
  )
  frame$y <- frame$number + as.integer(frame$size) + 0.01 * (1:n)
  fit <- stonet(y ~ ., frame, method = "sir", dim = 1, slices = 5, ridge = 0.1)
  expect_true(all(c("number", "count", "flag", "name=a", "name=c", "size", "day", "time") %in% fit$features))
  expect_equal(unname(predict(fit, frame)), unname(predict(fit)))
  expect_identical(nrow(predict(fit, frame[1:5, ], type = "z")), 5L)
})

test_that("a text and a factor are the same column, whatever order the levels have", {
  frame <- data.frame(a = rep(c("u", "v", "w"), 20), b = sin(1:60), y = cos(1:60))
  again <- frame
  again$a <- factor(again$a, levels = c("w", "u", "v"))
  fit <- function(data) stonet(y ~ ., data, method = "sir", dim = 1, slices = 4, ridge = 0.1, seed = 1)
  expect_equal(fit(frame)$fitted.values, fit(again)$fitted.values)
  expect_equal(predict(fit(frame), again), predict(fit(frame), frame))
})

test_that("the response is what R says it is", {
  classes <- stonet(Species ~ ., iris, method = "sir", dim = 1)
  expect_true(classes$classifier)
  expect_identical(classes$levels, levels(iris$Species))
  flags <- stonet(am == 1 ~ wt + hp, mtcars, method = "sir", dim = 1)
  expect_identical(flags$levels, c("FALSE", "TRUE"))
  expect_message(numbers <- stonet(am ~ wt + hp, mtcars, method = "sir", dim = 1), "is a number here", class = "stonet_two_values")
  expect_false(numbers$classifier)
  asked <- stonet(am ~ wt + hp, mtcars, method = "sir", dim = 1, task = "classification")
  expect_true(asked$classifier)
  ordered_one <- iris
  ordered_one$Species <- factor(iris$Species, ordered = TRUE)
  expect_identical(stonet(Species ~ ., ordered_one, method = "sir", dim = 1)$z, classes$z)
  unused <- iris
  unused$Species <- factor(iris$Species, levels = c(levels(iris$Species), "none"))
  expect_identical(stonet(Species ~ ., unused, method = "sir", dim = 1)$levels, levels(iris$Species))
})

test_that("several responses at once", {
  fit <- stonet(cbind(mpg, qsec) ~ wt + hp + disp, mtcars, method = "sir", dim = 2, slices = 4)
  expect_identical(dim(predict(fit, mtcars)), c(32L, 2L))
  expect_identical(colnames(predict(fit, mtcars)), c("mpg", "qsec"))
  expect_identical(dim(residuals(fit)), c(32L, 2L))
})

test_that("na.action decides about missing rows", {
  fit <- stonet(Ozone ~ Wind + Temp + Solar.R, airquality, method = "sir", dim = 1, na.action = na.omit)
  expect_identical(fit$nobs, as.numeric(sum(stats::complete.cases(airquality[1:4]))))
  padded <- stonet(Ozone ~ Wind + Temp + Solar.R, airquality, method = "sir", dim = 1, na.action = na.exclude)
  expect_length(residuals(padded), nrow(airquality))
  given <- airquality[!is.na(airquality$Ozone), ]
  left <- stonet(Ozone ~ Wind + Temp + Solar.R, given, method = "sir", dim = 1, slices = 8)
  expect_identical(left$nobs, as.numeric(nrow(given)))
  expect_true(all(is.finite(predict(left, airquality))))
  expect_output(print(left), "5 missing cells (Solar.R 5): missing = \"gaussian\"", fixed = TRUE)
  expect_output(print(summary(fit)), "42 observations deleted")
  expect_error(stonet(Ozone ~ Wind + Temp + Solar.R, given, method = "sir", missing = "error"), "Solar.R", class = "stonet_error")
  expect_error(stonet(Ozone ~ Wind + Temp, airquality, method = "sir"), "missing in 37 of 153 rows", class = "stonet_error")
})

test_that("a reduction without a response gives Z and nothing else", {
  fit <- stonet(~ ., mtcars, method = "pca", dim = 2)
  expect_identical(dim(transform(fit, mtcars)), c(32L, 2L))
  expect_error(predict(fit, mtcars), "no predictions", class = "stonet_error")
  same <- stonet(as.matrix(mtcars), method = "pca", dim = 2)
  expect_identical(fit$z, same$z)
})

test_that("set.seed governs what is not told its seed, and the stream moves on", {
  data <- waves(60)
  one <- function() stonet(y ~ ., data, epochs = 1, weight_decay = 0.01, activation = "tanh", front = "none",
                           restarts = 1, threads = 1)$z
  set.seed(5)
  a <- one()
  b <- one()
  set.seed(5)
  c <- one()
  expect_identical(a, c)
  expect_false(identical(a, b))
  before <- .Random.seed
  stonet(mpg ~ wt, mtcars, method = "sir", dim = 1, seed = 3)
  expect_identical(.Random.seed, before)
})

test_that("the number of threads changes no bit", {
  data <- waves(100)
  a <- stonet(y ~ ., data, epochs = 2, weight_decay = 0.01, activation = "tanh", front = "none", seed = 1, threads = 1)
  b <- stonet(y ~ ., data, epochs = 2, weight_decay = 0.01, activation = "tanh", front = "none", seed = 1, threads = 2)
  expect_identical(a$z, b$z)
})

test_that("dim = \"auto\" takes the word of the rule", {
  set.seed(1)
  x <- matrix(rnorm(300 * 4), 300)
  fit <- stonet(x, x[, 1] + x[, 2] + 0.1 * rnorm(300), method = "sir", dim = "auto", threads = 2)
  expect_identical(fit$dim, 1L)
  expect_s3_class(fit$order, "stonet_order")
})

test_that("update and formula know the call", {
  fit <- stonet(mpg ~ wt + hp + disp, mtcars, method = "sir", dim = 1, slices = 4)
  expect_identical(update(fit, dim = 2)$dim, 2L)
  expect_identical(update(fit, . ~ . - disp)$x_names, c("wt", "hp"))
  expect_equal(formula(fit), mpg ~ wt + hp + disp, ignore_attr = TRUE)
  expect_identical(nobs(fit), 32)
})

test_that("wide tables and whole numbers pass", {
  set.seed(6)
  wide <- matrix(sample.int(50L, 40 * 3000, replace = TRUE), 40)
  fit <- stonet(wide, wide[, 7] + wide[, 8], method = "sir", dim = 1, ridge = 1, slices = 4)
  expect_identical(dim(transform(fit, wide[1:3, ])), c(3L, 1L))
  expect_identical(fit$z, stonet(wide + 0, wide[, 7] + wide[, 8], method = "sir", dim = 1, ridge = 1, slices = 4)$z)
})
