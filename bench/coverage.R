# Coverage of 90 % intervals where the noise is small and where it is large: data sets of 300 rows of five normal
# columns, y = sin(x1) + x3 / 2 + sd(x) e, 4,000 new rows each. By quarter of the rows by sd(x); of x2 where it is
# the same everywhere.
#
#     Rscript bench/coverage.R build/bin/stonet FIRST LAST [options of fit]
given <- commandArgs(TRUE)
program <- normalizePath(given[1])
seeds <- given[2]:given[3]
options <- given[-(1:3)]
designs <- list(
  "one column" = function(x) 0.2 + 0.8 * pnorm(1.5 * x[, 2]),
  "away from 0" = function(x) 0.2 + 0.8 * pmin(abs(x[, 1]) / 2, 1),
  "two columns" = function(x) 0.2 + 0.8 * plogis(x[, 2] + x[, 3]),
  "the same" = function(x) rep(0.6, nrow(x)))
folder <- tempfile()
dir.create(folder)
setwd(folder)

draw <- function(n, sd) {
  x <- matrix(rnorm(5 * n), n)
  list(x = x, sd = sd(x), table = data.frame(x, y = sin(x[, 1]) + 0.5 * x[, 3] + sd(x) * rnorm(n)))
}

measure <- function(sd, seed) {
  set.seed(seed)
  train <- draw(300, sd)
  test <- draw(4000, sd)
  write.csv(train$table, "train.csv", row.names = FALSE)
  write.csv(test$table, "test.csv", row.names = FALSE)
  fit <- paste(c(program, "fit train.csv --target y --dim 1 --calibrate --quiet --threads 1 --out my.model", options),
               collapse = " ")
  if (system(fit) != 0) stop("the fit failed")
  found <- read.csv(pipe(paste(program, "predict my.model test.csv --interval 0.9 --threads 1")))
  low <- found[[grep("low", names(found))[1]]]
  high <- found[[grep("high", names(found))[1]]]
  inside <- test$table$y >= low & test$table$y <= high
  by <- if (length(unique(test$sd)) == 1) test$x[, 2] else test$sd
  quarter <- cut(by, quantile(by, 0:4 / 4), labels = FALSE, include.lowest = TRUE)
  c(mean(inside), tapply(inside, quarter, mean), mean(high - low))
}

cat("| sd(x) | all rows | first quarter | second | third | last | width |\n| --- | --- | --- | --- | --- | --- | --- |\n")
for (name in names(designs)) {
  found <- sapply(seeds, function(seed) measure(designs[[name]], seed))
  error <- apply(found, 1, sd) / sqrt(length(seeds))
  cells <- sprintf("%.3f (%.3f)", rowMeans(found), error)
  cat("|", paste(c(name, cells), collapse = " | "), "|\n")
}
