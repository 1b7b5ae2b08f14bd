# 40 people, four nearly equal rows each, whose response belongs to the person and not to the features.
people <- function() {
  set.seed(3)
  person <- rep(1:40, 4)
  x <- matrix(rnorm(40 * 3), 40)[person, ] + rnorm(160 * 3, sd = 1e-5)
  data.frame(x, y = rnorm(40)[person], person = paste("p", person))
}

test_that("rows of a group are never parted", {
  frame <- people()
  parted <- stonet_compare(y ~ X1 + X2 + X3, frame, methods = "gsir", dim = 1, seed = 1, threads = 1)
  together <- stonet_compare(y ~ X1 + X2 + X3, frame, group = person, methods = "gsir", dim = 1, seed = 1, threads = 1)
  expect_lt(parted$table$mean, 0.5 * var(frame$y))
  expect_gt(together$table$mean, 0.7 * var(frame$y))
  matrix <- stonet_compare(as.matrix(frame[1:3]), frame$y, group = frame$person, methods = "gsir", dim = 1, seed = 1, threads = 1)
  expect_equal(matrix$values, together$values)
})

test_that("groups that are wrong are refused", {
  frame <- people()
  expect_error(stonet(y ~ X1, frame, group = c(NA, person[-1]), method = "sir", dim = 1), "group of row 1 is missing",
               class = "stonet_error")
  expect_error(stonet(as.matrix(frame[1:3]), frame$y, group = 1:3, method = "sir", dim = 1), "160 values",
               class = "stonet_error")
})
