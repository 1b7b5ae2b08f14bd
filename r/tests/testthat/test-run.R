test_that("an interrupt keeps the model so far", {
  data <- waves(200)
  seen <- 0
  listen <- function(progress) {
    if (progress$stage == "training") seen <<- seen + 1
    if (seen == 3) tools::pskill(Sys.getpid(), tools::SIGINT)
  }
  expect_warning(
    fit <- stonet(y ~ ., data, epochs = 2000, weight_decay = 0.01, activation = "tanh", front = "none", restarts = 1,
                  sdr_iterations = 0, threads = 1, seed = 1, verbose = listen),
    "stopped on request", class = "stonet_stopped"
  )
  expect_identical(fit$outcome, "stopped")
  expect_true(all(is.finite(predict(fit, data, "prob"))))
})

test_that("an error of the listener stops the job", {
  expect_warning(
    fit <- stonet(y ~ ., waves(100), epochs = 500, weight_decay = 0.01, activation = "tanh", front = "none", restarts = 1,
                  threads = 1, seed = 1, verbose = function(progress) if (progress$stage == "training") stop("enough")),
    class = "stonet_stopped"
  )
  expect_identical(fit$outcome, "stopped")
})

test_that("reports of progress say where the job is", {
  stages <- character()
  fit <- stonet(y ~ ., waves(60), epochs = 2, weight_decay = 0.01, activation = "tanh", front = "none", threads = 1, seed = 1,
                verbose = function(progress) stages <<- c(stages, progress$stage))
  expect_true("training" %in% stages)
})

test_that("verbose shows notes, and silence is kept otherwise", {
  shown <- capture.output(
    expect_message(stonet(y ~ ., waves(60), epochs = 3, weight_decay = 0.01, activation = "tanh", front = "none", restarts = 1,
                          threads = 1, seed = 1, verbose = TRUE), "Z1 carries the whole effect", class = "stonet_note"),
    type = "message"
  )
  expect_match(shown, "training \\[#+\\] 3/3", all = FALSE)
  expect_silent(stonet(Species ~ ., iris, method = "sir", dim = 2, quiet = TRUE))
})

test_that("processes forked from R can fit, too", {
  skip_on_os("windows")
  one <- function(seed) stonet(y ~ ., waves(80), epochs = 1, weight_decay = 0.01, activation = "tanh", front = "none",
                               restarts = 1, threads = 2, seed = seed)$z
  here <- lapply(1:2, one)
  expect_identical(parallel::mclapply(1:2, one, mc.cores = 2), here)
})
