# Rscript leaks.R [FITS]: memory of the process over many fits, predictions, failures and dropped handles; fails when it grows.
library(stonet)
resident <- function() {
  status <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep("VmRSS", status, value = TRUE))) / 1024
}
fits <- commandArgs(TRUE)
fits <- if (length(fits) > 0) as.integer(fits[1]) else 1000L
x <- as.matrix(iris[1:4])
once <- function(i) {
  fit <- stonet(Species ~ ., iris, method = "sir", dim = 2, seed = i, threads = 1)
  net <- stonet(x, iris$Species, epochs = 1, weight_decay = 0.01, activation = "tanh", front = "none", restarts = 1,
                sdr_iterations = 0, seed = i, threads = 1)
  predict(fit, iris, type = "prob")
  transform(net, x)
  stonet_order(Species ~ ., iris, method = "sir", rule = "tests")
  try(stonet(Species ~ ., iris, method = "sir", slices = 1), silent = TRUE)
  invisible(unserialize(serialize(fit, NULL)))
}
for (i in seq_len(fits / 4)) once(i)
invisible(gc())
before <- resident()
for (i in seq_len(fits)) once(i)
invisible(gc())
grown <- resident() - before
cat(sprintf("%d fits of each of two methods: %.1f MB before, %.1f MB more after\n", fits, before, grown))
if (grown > 5) quit(status = 1)
