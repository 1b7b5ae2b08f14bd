quick_law <- function(...) stonet(..., dim = 1, seed = 1, epochs = 3, activation = "tanh", front = "none", threads = 1, quiet = TRUE)

times <- function() {
  set.seed(4)
  x <- rnorm(120)
  time <- exp(x + 0.3 * rnorm(120))
  end <- exp(rnorm(120, 0.5))
  data.frame(x = x, w = rnorm(120), time = pmin(time, end), seen = as.integer(time <= end))
}

test_that("Surv() is a time that was cut short", {
  skip_if_not_installed("survival")
  Surv <- survival::Surv
  fit <- quick_law(Surv(time, seen) ~ x + w, times())
  plain <- quick_law(cbind(time, seen) ~ x + w, times(), task = "survival")
  expect_identical(predict(fit, times()), predict(plain, times()))
  expect_output(print(fit), "response Surv\\(time, seen\\), a time")
  beyond <- predict(fit, times()[1:4, ], type = "survival", times = c(0.5, 2))
  expect_identical(colnames(beyond), c("S(0.5)", "S(2.0)", "mean"))
  expect_true(all(beyond[, 1] >= beyond[, 2] & beyond[, 3] < 2 & beyond >= 0))
  expect_gt(stonet_score(fit, times(), quiet = TRUE)$concordance, 0.6)
  ends <- quick_law(Surv(low, high, type = "interval2") ~ x + w, transform(times(), low = time, high = ifelse(seen == 1, time * 1.1, NA)))
  expect_true(all(predict(ends, times()) > 0))
})

test_that("what times cannot answer is said", {
  skip_if_not_installed("survival")
  Surv <- survival::Surv
  fit <- quick_law(Surv(time, seen) ~ x + w, times())
  for (ask in list(residuals, logLik, anova, simulate)) expect_error(ask(fit), "plain numbers and classes", class = "stonet_error")
  expect_error(predict(fit, times(), type = "survival"), "ascending order", class = "stonet_error")
  expect_error(quick_law(Surv(time, time + 1, seen) ~ x, times()), "counting", class = "stonet_error")
  expect_error(predict(quick_law(w ~ x, times()), times(), type = "survival", times = 1), "is for times", class = "stonet_error")
})

test_that("counts and ordered classes go by task", {
  set.seed(5)
  data <- data.frame(x = rnorm(100), years = runif(100, 1, 3))
  data$n <- rpois(100, data$years * exp(data$x / 2))
  data$rank <- 1 + findInterval(data$x + 0.3 * rnorm(100), c(-0.5, 0.5))
  counts <- quick_law(cbind(n, years) ~ x, data, task = "count")
  expect_true(is.finite(stonet_score(counts, data, quiet = TRUE)$deviance))
  ranks <- quick_law(rank ~ x, data, task = "ordinal")
  expect_gt(stonet_score(ranks, data, quiet = TRUE)$kappa, 0)
})

test_that("an ordered factor has its own order, and task = \"classification\" forgets it", {
  set.seed(6)
  data <- data.frame(x = rnorm(100))
  words <- c("poor", "fair", "good")
  data$q <- factor(words[1 + findInterval(data$x + 0.3 * rnorm(100), c(-0.5, 0.5))], words, ordered = TRUE)
  data$rank <- as.numeric(data$q)
  fit <- quick_law(q ~ x, data)
  ranks <- quick_law(rank ~ x, data, task = "ordinal")
  expect_identical(unname(predict(fit, data, type = "prob")), unname(predict(ranks, data, type = "prob")))
  expect_identical(levels(predict(fit, data)), words)
  expect_identical(stonet_score(fit, data, quiet = TRUE)$kappa, stonet_score(ranks, data, quiet = TRUE)$kappa)
  expect_identical(fit$about$task, "ordinal")
  expect_identical(quick_law(q ~ x, data, task = "classification")$about$task, "classification")
})
