test_that("dr_compat has the parts that users of dr read", {
  found <- dr_compat(mpg ~ disp + hp + wt, mtcars, nslices = 5)
  expect_identical(dim(found$evectors), c(3L, 3L))
  expect_equal(colSums(found$evectors^2), c(Dir1 = 1, Dir2 = 1, Dir3 = 1))
  expect_length(found$evalues, 3)
  expect_identical(rownames(found$tests)[1], "0D vs >= 1D")
  expect_output(print(found), "Large-sample Marginal Dimension Tests")
  expect_identical(rownames(dr_compat(mpg ~ disp + hp + wt, mtcars, method = "phdres")$evectors), c("disp", "hp", "wt"))
})

test_that("a plain version of sir agrees", {
  data <- stonet_generate("ratio", 200, seed = 3)
  x <- as.matrix(data[1:5])
  slice <- ceiling(rank(data$y) / 200 * 8)
  centred <- scale(x, scale = FALSE)
  root <- chol(crossprod(centred) / 200)
  z <- centred %*% solve(root)
  means <- apply(z, 2, function(column) tapply(column, slice, mean))
  values <- eigen(crossprod(means) / 8)
  found <- dr_compat(y ~ x1 + x2 + x3 + x4 + x5, data, nslices = 8)
  expect_equal(found$evalues, values$values, tolerance = 1e-4)
  plain <- solve(root, values$vectors[, 1])
  expect_equal(abs(sum(plain * found$evectors[, 1]) / sqrt(sum(plain^2))), 1, tolerance = 1e-4)
  statistic <- 200 * sum(values$values)
  expect_equal(found$tests$Stat[1], statistic, tolerance = 1e-4)
  expect_equal(found$tests$df[1], 5 * 7)
  expect_equal(found$tests$p.value[1], stats::pchisq(statistic, 35, lower.tail = FALSE), tolerance = 1e-4)
})

test_that("a plain version of phd agrees, in units of the response", {
  data <- stonet_generate("radial", 150, seed = 3)
  x <- as.matrix(data[1:4])
  centred <- scale(x, scale = FALSE)
  z <- centred %*% solve(chol(crossprod(centred) / 150))
  left <- stats::residuals(stats::lm(data$y ~ x))
  values <- eigen(crossprod(z, left * z) / 150)$values
  found <- dr_compat(y ~ x1 + x2 + x3 + x4, data, method = "phdres")
  expect_equal(found$evalues, sort(abs(values), decreasing = TRUE), tolerance = 1e-4)
})

# The numbers of package dr 3.0.11 for these rows, computed once; r/tools/compare.R compares where dr is there.
known <- function() {
  set.seed(2)
  x <- matrix(rnorm(1200), 300, 4, dimnames = list(NULL, paste0("x", 1:4)))
  data.frame(x, y = x[, 1] + 0.3 * x[, 1]^2 + 0.3 * rnorm(300), g = rep(0:1, 150))
}
every_column <- y ~ x1 + x2 + x3 + x4

test_that("tests of dimension have the numbers of dr", {
  sir <- dr_compat(every_column, known(), nslices = 4, numdir = 3)
  expect_equal(sir$tests$Stat, c(243.5677764304, 3.5298983940, 0.3837275415), tolerance = 1e-6)
  expect_equal(sir$tests$p.value[2:3], c(0.7399876893, 0.8254193071), tolerance = 1e-6)
  phd <- dr_compat(every_column, known(), method = "phdres", numdir = 3)
  expect_equal(phd$tests$p.value.general, c(9.051648320e-12, 9.355561581e-01, 8.428047277e-01), tolerance = 1e-5)
  ire <- dr_compat(every_column, known(), method = "ire", nslices = 6)
  expect_equal(ire$tests$Test, c(686.6516655932, 17.6968585086, 4.9403191014, 0.4031840738), tolerance = 1e-7)
  expect_equal(unname(ire$solutions[[1]][, 1]), c(0.998351253518, 0.005879440304, -0.048422278342, 0.030257061025), tolerance = 1e-6)
  save <- dr_compat(every_column, known(), method = "save", group = ~g, nslices = 4, numdir = 3)
  expect_equal(save$evalues, c(0.66649323713, 0.10507439979, 0.09864849659, 0.07843145976))
  expect_equal(save$tests$p.value, c(1.223738666e-08, 2.932926980e-01, 6.684725133e-01))
  grouped <- dr_compat(every_column, known(), group = ~g, nslices = 4)
  expect_equal(grouped$evalues, c(0.8037193272262, 0.0265991302455, 0.0094731219749, 0.0004747061505)) # half of dr's
})

test_that("tests of coordinates have the numbers of dr", {
  ask <- function(..., law = "general", d = NULL) drop1(dr_compat(every_column, known(), ...), law = law, d = d)[-1L, ]
  sir <- ask(nslices = 4)
  expect_equal(sir$Statistic, c(0.6053061044, 3.0694283455, 0.7776324223))
  expect_equal(sir$P.value, c(0.7887827509, 0.2245859467, 0.7287220635))
  expect_equal(ask(nslices = 4, law = "normal")$P.value, c(0.7952423928, 0.2444245872, 0.7372432635))
  expect_equal(ask(nslices = 4, law = "normal", d = 1)$P.value, c(0.1899371537, 0.3215113131, 0.1303232550))
  expect_equal(ask(method = "save", nslices = 6)$P.value, c(0.04390832164, 0.05619211932, 0.39962162422))
  expect_equal(ask(method = "save", nslices = 6, law = "normal")$P.value, c(0.07227608436, 0.07278954188, 0.24972067603))
  expect_equal(ask(method = "ire", nslices = 6)$Statistic, c(2.461050156, 14.485731833, 3.736151889), tolerance = 1e-6)
  expect_equal(ask(group = ~g, nslices = 4, law = "normal")$P.value, c(0.4875201063, 0.6566375601, 0.2673045570))
})

test_that("slices may be the user's, and what cannot be is said", {
  halves <- dr_compat(every_column, known(), nslices = 2, slice.function = function(y, h) 1 + (y > stats::median(y)))
  expect_identical(halves$slice.info$slice.sizes, c(150L, 150L))
  expect_error(dr_compat(every_column, known(), slice.function = "arc"), "function of the response", class = "stonet_error")
  expect_error(dr_compat(y ~ x1 + x2 + x5, transform(known(), x5 = x1 + x2), group = ~g), "linear in each other", class = "stonet_error")
  expect_error(dr_compat(every_column, known()[1:25, ], method = "ire"), "fewer slices", class = "stonet_error")
  expect_error(drop1(dr_compat(every_column, known(), method = "save"), d = 1), "tests given d", class = "stonet_error")
})
