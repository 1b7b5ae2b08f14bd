test_that("whole weights are repeated rows", {
  weights <- rep(c(1, 2, 3, 1), length.out = nrow(mtcars))
  frame <- mtcars
  frame$w <- weights
  weighted <- stonet(mpg ~ wt + hp + disp, frame, weights = w, method = "sir", dim = 1, slices = 4, learner = "linear")
  repeated <- stonet(mpg ~ wt + hp + disp, mtcars[rep(seq_len(32), weights), ], method = "sir", dim = 1, slices = 4, learner = "linear")
  expect_equal(abs(cor(transform(weighted, mtcars), transform(repeated, mtcars)))[1], 1, tolerance = 1e-6)
  expect_equal(predict(weighted, mtcars), predict(repeated, mtcars), tolerance = 1e-4)
  by_matrix <- stonet(as.matrix(mtcars[c("wt", "hp", "disp")]), mtcars$mpg, weights = weights, method = "sir", dim = 1, slices = 4)
  expect_identical(by_matrix$z, weighted$z)
  plain <- stonet(mpg ~ wt + hp + disp, mtcars, method = "sir", dim = 1, slices = 4)
  expect_false(isTRUE(all.equal(plain$fitted.values, weighted$fitted.values)))
})

test_that("methods without a weighted form say so", {
  expect_error(stonet(mpg ~ wt + hp, mtcars, weights = cyl, method = "kdr", dim = 1), "weight", class = "stonet_error")
})

test_that("rare classes can be given their due", {
  set.seed(7)
  frame <- data.frame(a = rnorm(400), b = rnorm(400))
  frame$y <- factor(ifelse(frame$a + rnorm(400) > 2.6, "rare", "common"))
  plain <- stonet(y ~ ., frame, method = "sir", dim = 1)
  balanced <- stonet(y ~ ., frame, method = "sir", dim = 1, class_weight = "balanced")
  expect_gt(stonet_score(balanced, frame)$balanced_accuracy, stonet_score(plain, frame)$balanced_accuracy)
})

test_that("dr_compat takes weights, and has no tests then", {
  found <- dr_compat(mpg ~ wt + hp + disp, mtcars, weights = cyl, nslices = 4)
  expect_null(found$tests)
  expect_identical(dim(found$evectors), c(3L, 3L))
  expect_output(print(found), "Estimated Basis Vectors")
})
