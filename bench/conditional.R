# Which columns are said to matter: share of false ones among those named (FDR) and share of the true ones named
# (power), by `importance --kind conditional --fdr 0.1`, by permutation (importance above two standard errors), and
# by the columns that Lasso-SIR keeps. 300 rows to fit, 300 to ask, 20 columns.
#
#     Rscript bench/conditional.R build/bin/stonet FIRST LAST [options of fit]
given <- commandArgs(TRUE)
program <- normalizePath(given[1])
seeds <- given[2]:given[3]
options <- paste(given[-(1:3)], collapse = " ")
p <- 20
independent <- function(n) matrix(rnorm(n * p), n)
chain <- function(n) {
  x <- matrix(rnorm(n * p), n)
  for (j in 2:p) x[, j] <- 0.7 * x[, j - 1] + sqrt(1 - 0.49) * x[, j]
  x
}
copies <- function(n) { # columns 6 to 9 follow columns 1 to 4 by .95
  x <- matrix(rnorm(n * p), n)
  x[, 6:9] <- 0.95 * x[, 1:4] + sqrt(1 - 0.95^2) * x[, 6:9]
  x
}
skewed <- function(n) exp(chain(n) / 2)
designs <- list(
  "linear, independent" = list(independent, function(x) x[, 1:5] %*% c(1, 1, 1, 0.5, 0.5), 1:5),
  "linear, autoregression .7" = list(chain, function(x) x[, c(1, 5, 9, 13, 17)] %*% rep(1, 5), c(1, 5, 9, 13, 17)),
  "copies at .95" = list(copies, function(x) x[, 1] + x[, 2] + x[, 3]^2 / 2 + x[, 4], 1:4),
  "products and squares" = list(independent, function(x) x[, 1] * x[, 2] + x[, 3]^2 + x[, 4], 1:4),
  "skewed, autoregression" = list(skewed, function(x) 2 * log(x[, 1]) + 2 * sin(x[, 7]) + x[, 14], c(1, 7, 14)))
folder <- tempfile()
dir.create(folder)
setwd(folder)

run <- function(...) read.csv(pipe(paste(program, ..., "--quiet --threads 1")), check.names = FALSE)
json <- function(...) jsonlite::fromJSON(paste(system(paste(program, ..., "--json --quiet --threads 1"), intern = TRUE), collapse = ""))

measure <- function(design, seed) {
  set.seed(seed)
  for (part in c("train.csv", "test.csv")) {
    x <- design[[1]](300)
    colnames(x) <- paste0("x", 1:p)
    write.csv(data.frame(x, y = as.vector(design[[2]](x) + rnorm(300))), part, row.names = FALSE)
  }
  system(paste(program, "fit train.csv --target y --dim 1 --quiet --threads 1 --out my.model", options))
  system(paste(program, "fit train.csv --target y --dim 2 --method lasso-sir --quiet --threads 1 --out lasso.model"))
  tested <- json("importance my.model test.csv --target y --kind conditional")
  permuted <- json("importance my.model test.csv --target y")
  kept <- json("importance lasso.model test.csv --target y --kind gradient")
  named <- list(tested$q_value <= 0.1, permuted$importance > 2 * permuted$se, kept$importance > 1e-9)
  truth <- 1:p %in% design[[3]]
  sapply(named, function(is) c(sum(is & !truth) / max(1, sum(is)), sum(is & truth) / sum(truth)))
}

cat("| design | conditional: FDR | power | permutation: FDR | power | Lasso-SIR: FDR | power |\n")
cat("| --- | --- | --- | --- | --- | --- | --- |\n")
for (name in names(designs)) {
  found <- sapply(seeds, function(seed) as.vector(measure(designs[[name]], seed)))
  cells <- sprintf("%.2f (%.2f)", rowMeans(found), apply(found, 1, sd) / sqrt(length(seeds)))
  cat("|", paste(c(name, cells), collapse = " | "), "|\n")
}
