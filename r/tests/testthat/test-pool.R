test_that("estimates are pooled by Rubin's rules", {
  # mice 3.15: pool.scalar(q, u, n = 30, k = 2), and without n and k
  q <- c(2.1, 2.4, 1.9, 2.6)
  u <- c(.10, .12, .09, .11)
  found <- pool_estimates(q, u, df = 28)
  expect_equal(c(found$estimate, found$variance, found$df, found$fmi),
               c(2.25, .2258333, 5.6325444, .6427744), tolerance = 1e-6)
  expect_equal(pool_estimates(q, u)$df, 10.4790963, tolerance = 1e-6)
})

test_that("shapes, edges and names", {
  found <- pool_estimates(cbind(a = c(1, 1), b = c(1, 3)), cbind(c(1, 1), c(0, 0)))
  expect_equal(rownames(found), c("a", "b"))
  expect_equal(found$df, c(Inf, 1))
  expect_equal(found$fmi, c(0, 1))
  expect_error(pool_estimates(1, 1), "two tables")
  expect_error(pool_estimates(1:2, 1:3), "same shape")
  expect_error(pool_estimates(1:2, c(1, -1)), "not below 0")
  expect_error(pool_estimates(1:2, c(1, NA)), "finite")
})
