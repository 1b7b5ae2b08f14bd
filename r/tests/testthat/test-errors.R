# Calls that cannot be right: what is wrong with each, and a piece of the sentence that says so.

fit <- stonet(Species ~ ., iris, method = "sir", dim = 2)
numbers <- stonet(mpg ~ wt + hp, mtcars, method = "sir", dim = 1, slices = 5)
x <- as.matrix(mtcars[-1])
bad <- x
bad[3, 2] <- Inf

calls <- list(
  "a method that is not there" = list(quote(stonet(mpg ~ ., mtcars, method = "sri")), "sri"),
  "a method that is no text" = list(quote(stonet(mpg ~ ., mtcars, method = 3)), "method is one text"),
  "a setting that is not there" = list(quote(stonet(mpg ~ ., mtcars, method = "sir", sloces = 3)), "did you mean 'slices'"),
  "a setting out of range" = list(quote(stonet(mpg ~ ., mtcars, method = "sir", slices = 1)), "slices"),
  "a setting that is a list" = list(quote(stonet(mpg ~ ., mtcars, method = "sir", slices = list(1, 2))), "slices"),
  "a setting that is missing" = list(quote(stonet(mpg ~ ., mtcars, method = "sir", slices = NA)), "slices"),
  "a setting without a name" = list(quote(stonet(mpg ~ ., mtcars, 2, "sir", 7)), "by name"),
  "a setting given twice" = list(quote(do.call(stonet, list(mpg ~ ., mtcars, slices = 3, slices = 4))), "twice"),
  "dim 0" = list(quote(stonet(mpg ~ ., mtcars, dim = 0)), "dim is a whole number from 1"),
  "dim in words" = list(quote(stonet(mpg ~ ., mtcars, dim = "two")), "dim is a whole number"),
  "dim that is half" = list(quote(stonet(mpg ~ ., mtcars, dim = 1.5)), "dim is a whole number"),
  "a negative seed" = list(quote(stonet(mpg ~ ., mtcars, seed = -1)), "seed is a whole number"),
  "threads in words" = list(quote(stonet(mpg ~ ., mtcars, threads = "all")), "threads"),
  "verbose that is a text" = list(quote(stonet(mpg ~ ., mtcars, verbose = "yes")), "verbose"),
  "a variable that is not there" = list(quote(stonet(mpg ~ horses, mtcars)), "horses"),
  "no variables" = list(quote(stonet(mpg ~ 1, mtcars)), "no variables"),
  "an offset" = list(quote(stonet(mpg ~ wt + offset(hp), mtcars)), "offset"),
  "an interaction" = list(quote(stonet(mpg ~ wt * hp, mtcars)), "I(wt * hp)"),
  "no response where one is needed" = list(quote(stonet(~., mtcars, method = "sir")), "give a formula with a response"),
  "a response of another length" = list(quote(stonet(x, 1:3)), "32 rows and the response has 3"),
  "a response that is a list" = list(quote(stonet(x, as.list(1:32))), "the response is of class list"),
  "a response that is complex" = list(quote(stonet(x, complex(real = 1:32))), "the response is of class complex"),
  "one class" = list(quote(stonet(x, factor(rep("a", 32)))), "the same in all 32 rows"),
  "x as a text" = list(quote(stonet("mtcars", 1:32)), "x is a matrix"),
  "x as a vector" = list(quote(stonet(1:32, 1:32)), "x is a matrix"),
  "x with infinity" = list(quote(stonet(bad, mtcars$mpg, method = "sir")), "row 3"),
  "x without rows" = list(quote(stonet(x[0, ], numeric())), "row"),
  "two columns of one name" = list(quote(stonet(cbind(a = 1:32, a = 32:1), mtcars$mpg)), "'a'"),
  "a list column" = list(quote(stonet(data.frame(a = I(as.list(1:32))), mtcars$mpg)), "the column 'a' is of class"),
  "weights of another length" = list(quote(stonet(x, mtcars$mpg, weights = 1:3)), "weights are 32 numbers"),
  "negative weights" = list(quote(stonet(x, mtcars$mpg, weights = rep(-1, 32))), "weights are finite numbers from 0"),
  "newdata without a variable" = list(quote(predict(numbers, mtcars["wt"])), "hp"),
  "newdata that is a matrix" = list(quote(predict(numbers, x)), "newdata is a data frame"),
  "a type that is not there" = list(quote(predict(numbers, mtcars, type = "link")), "type is one of"),
  "probabilities of numbers" = list(quote(predict(numbers, mtcars, type = "prob")), "for classes"),
  "an interval of classes" = list(quote(predict(fit, iris, type = "interval")), "for numbers"),
  "an interval without calibration" = list(quote(predict(numbers, mtcars, type = "interval")), "calibrat"),
  "a level of 2" = list(quote(predict(numbers, mtcars, type = "interval", level = 2)), "level is a number between"),
  "an argument that predict does not have" = list(quote(predict(numbers, mtcars, tpye = "z")), "tpye"),
  "a spread of a model without one" = list(quote(predict(numbers, mtcars, type = "spread")), "location-scale"),
  "a class that was not there" = list(quote(stonet_score(fit, transform(iris, Species = "rose"))), "rose"),
  "a rule that is not there" = list(quote(stonet_order(mpg ~ ., mtcars, rule = "laddle")), "ladle"),
  "a rule for other methods" = list(quote(stonet_order(mpg ~ ., mtcars, method = "gsir", rule = "ladle")), "ladle"),
  "one list in a grid" = list(quote(stonet_tune(mpg ~ ., mtcars, grid = list(hidden = list(c(3, 2))))), "outside of the grid"),
  "a grid without names" = list(quote(stonet_tune(mpg ~ ., mtcars, grid = list(1, 2))), "a grid is a list"),
  "a criterion that is not there" = list(quote(stonet_tune(mpg ~ ., mtcars, criterion = "r2")), "criterion is one of"),
  "methods that are numbers" = list(quote(stonet_compare(mpg ~ ., mtcars, methods = 1:2)), "methods are texts"),
  "a setting that no method has" = list(quote(stonet_compare(mpg ~ ., mtcars, methods = "sir", leaves = 3)), "leaves"),
  "a kind of importance that is not there" = list(quote(stonet_importance(fit, iris, kind = "gini")), "kind is one of"),
  "something that is no model" = list(quote(stonet_importance(lm(mpg ~ wt, mtcars), mtcars)), "not a model"),
  "tests of unequal lengths" = list(quote(independence_test(1:10, 1:9)), "10 rows and y has 9"),
  "a test that is not there" = list(quote(independence_test(1:10, 1:10, test = "pearson")), "test is one of"),
  "missing cells in a test" = list(quote(independence_test(c(NA, 1:9), 1:10)), "missing"),
  "a generator that is not there" = list(quote(stonet_generate("wave", 10)), "wave"),
  "a folder that is not there" = list(quote(save_model(fit, file.path(tempdir(), "no", "m"))), "no"),
  "a file that is not there" = list(quote(load_model(file.path(tempdir(), "none.model"))), "none.model"),
  "a file that is no model" = list(quote({
    path <- tempfile()
    writeLines("nothing", path)
    load_model(path)
  }), "model")
)

test_that("bad calls are conditions of class stonet_error with a sentence", {
  expect_gte(length(calls), 30)
  for (what in names(calls)) {
    error <- tryCatch(suppressMessages(eval(calls[[what]][[1L]])), error = identity)
    expect_true(inherits(error, "stonet_error"), label = paste0(what, ": of class stonet_error"))
    said <- if (inherits(error, "error")) conditionMessage(error) else "nothing"
    expect_true(grepl(calls[[what]][[2L]], said, fixed = TRUE), label = paste0(what, ": \"", said, "\""))
  }
})

test_that("the kind of failure is in the class", {
  expect_error(load_model(tempfile()), class = "stonet_io_error")
  expect_error(stonet(mpg ~ ., mtcars, method = "none", leaves = 1), class = "stonet_argument_error")
})

test_that("a name that comes twice in new rows is refused", {
  twice <- cbind(mtcars[c("wt", "hp")], wt = 1000)
  by_formula <- stonet(mpg ~ wt + hp, mtcars, method = "sir", dim = 1, slices = 4)
  by_matrix <- stonet(mtcars[c("wt", "hp")], mtcars$mpg, method = "sir", dim = 1, slices = 4)
  for (fit in list(by_formula, by_matrix)) expect_error(predict(fit, twice), "two columns 'wt'", class = "stonet_error")
})
