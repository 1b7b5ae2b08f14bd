# How well response=location-scale finds a standard deviation that depends on x: data sets of five normal columns,
# y = sin(x1) + x3 / 2 + sd(x) e, sd from .2 to 1. Correlation of the fitted with the true sd on 4,000 new rows, beside
# mgcv's gaulss with smooth terms of every column.
#
#     Rscript bench/spread.R build/bin/stonet FIRST LAST [N]
given <- commandArgs(TRUE)
program <- normalizePath(given[1])
seeds <- given[2]:given[3]
n <- if (length(given) > 3) as.integer(given[4]) else 300L
library(mgcv)
designs <- list("one column" = function(x) 0.2 + 0.8 * pnorm(1.5 * x[, 2]),
                "away from 0" = function(x) 0.2 + 0.8 * pmin(abs(x[, 1]) / 2, 1),
                "two columns" = function(x) 0.2 + 0.8 * plogis(2 * (x[, 2] + x[, 3])))
folder <- tempfile()
dir.create(folder)
setwd(folder)

draw <- function(n, sd) {
  x <- matrix(rnorm(5 * n), n)
  list(sd = sd(x), table = data.frame(x, y = sin(x[, 1]) + 0.5 * x[, 3] + sd(x) * rnorm(n)))
}

measure <- function(sd, seed) {
  set.seed(seed)
  train <- draw(n, sd)
  test <- draw(4000, sd)
  write.csv(train$table, "train.csv", row.names = FALSE)
  write.csv(test$table, "test.csv", row.names = FALSE)
  fit <- "fit train.csv --target y --dim 2 --set response=location-scale --quiet --threads 1 --out my.model"
  if (system(paste(program, fit)) != 0) stop("the fit failed")
  found <- read.csv(pipe(paste(program, "predict my.model test.csv --spread --threads 1")))
  smooth <- gam(list(y ~ s(X1) + s(X2) + s(X3) + s(X4) + s(X5), ~ s(X1) + s(X2) + s(X3) + s(X4) + s(X5)),
                data = train$table, family = gaulss())
  other <- 1 / predict(smooth, test$table, type = "response")[, 2]
  c(cor(found[[ncol(found)]], test$sd), cor(other, test$sd))
}

cat("| sd |", n, "rows: location-scale | gaulss |\n| --- | --- | --- |\n")
for (name in names(designs)) {
  all <- sapply(seeds, function(seed) measure(designs[[name]], seed))
  error <- apply(all, 1, sd) / sqrt(length(seeds))
  cat(sprintf("| %s | %s |\n", name, paste(sprintf("%.3f (%.3f)", rowMeans(all), error), collapse = " | ")))
}
