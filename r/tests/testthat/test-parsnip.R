test_that("parsnip finds the engine", {
  package <- "parsnip" # not suggested: Debian has none
  skip_if_not_installed(package)
  of <- function(name) getExportedValue(package, name)
  model <- of("set_engine")(of("mlp")(mode = "regression", epochs = 3), "stonet", dim = 1, front = "none", activation = "tanh", seed = 1)
  fit <- of("fit")(model, mpg ~ wt + hp, mtcars)
  direct <- stonet(mtcars[c("wt", "hp")], mtcars$mpg, dim = 1, epochs = 3, front = "none", activation = "tanh", seed = 1, quiet = TRUE)
  expect_identical(predict(fit, mtcars)$.pred, unname(predict(direct, mtcars)))
  expect_silent(stonet:::add_engine()) # a second time
})
