# Calibrations of spectra: stonet with and without curves=auto beside partial least squares and ridge regression.
#
#     Rscript bench/spectra.R STONET FIRST LAST [SET ..]
#
# Needs Debian's r-cran-caret (tecator), r-cran-pls (gasoline, yarn, R's PLS) and r-cran-kohonen (nir). Prints the root
# mean square error on a quarter of the rows, held out at random, one line a split. Of tecator these are quarters of
# rows 1 to 172; split 0 is the published one, rows 173 to 215. Nothing is chosen on held-out rows.
suppressMessages({library(caret); library(pls); library(kohonen)})
arguments <- commandArgs(TRUE)
program <- arguments[1]
splits <- as.integer(arguments[2]):as.integer(arguments[3])

table_of <- function(set) {
  part <- strsplit(set, "-")[[1]]
  frame <- function(x, axis, y) setNames(data.frame(as.matrix(x), y), c(axis, "y"))
  if (part[1] == "tecator") {
    data(tecator)
    return(frame(absorp, seq(850, 1048, 2), endpoints[, match(part[2], c("water", "fat", "protein"))]))
  }
  data(list = part[1])
  switch(part[1],
         gasoline = frame(unclass(gasoline$NIR), seq(900, 1700, 2), gasoline$octane),
         yarn = frame(yarn$NIR, 1:268, yarn$density),
         nir = frame(nir$spectra, 1:200, nir$composition[, "ethanol"]))
}

# R's SIMPLS with the number of components that has the least error in ten parts of the training rows.
r_pls <- function(train, test) {
  x <- as.matrix(train[-ncol(train)])
  fit <- plsr(train$y ~ x, ncomp = min(20, nrow(train) %/% 2), method = "simpls", validation = "CV")
  best <- which.min(fit$validation$PRESS)
  drop(predict(fit, as.matrix(test[-ncol(test)]), ncomp = best))
}

# Ridge regression with the best of 17 penalties in five parts of the training rows.
r_ridge <- function(train, test) {
  penalty <- 10^seq(0, -8, by = -0.5)
  solve_all <- function(x, y, new) {
    centre <- colMeans(x)
    s <- svd(sweep(x, 2, centre))
    along <- drop(crossprod(s$u, y - mean(y)))
    u <- sweep(new, 2, centre) %*% s$v
    sapply(penalty, function(l) mean(y) + drop(u %*% (along * s$d / (s$d^2 + l * s$d[1]^2))))
  }
  x <- as.matrix(train[-ncol(train)])
  fold <- sample(rep(1:5, length.out = nrow(x)))
  error <- rowSums(sapply(1:5, function(k) {
    found <- solve_all(x[fold != k, ], train$y[fold != k], x[fold == k, , drop = FALSE])
    colSums((matrix(found, ncol = length(penalty)) - train$y[fold == k])^2)
  }))
  matrix(solve_all(x, train$y, as.matrix(test[-ncol(test)])), ncol = length(penalty))[, which.min(error)]
}

stonet <- function(...) function(train, test) {
  file <- tempfile(c("train", "test", "model", "out"), fileext = c(".csv", ".csv", ".stonet", ".csv"))
  write.csv(train, file[1], row.names = FALSE, quote = FALSE)
  write.csv(test, file[2], row.names = FALSE, quote = FALSE)
  on.exit(unlink(file))
  options <- c("fit", file[1], "--target", "y", "--out", file[3], "--threads", "1", "--quiet", ...)
  stopifnot(system2(program, options) == 0,
            system2(program, c("predict", file[3], file[2], "--out", file[4], "--quiet")) == 0)
  read.csv(file[4])[[1]]
}

methods <- list(
  R.pls = r_pls, R.ridge = r_ridge,
  pls = stonet("--method", "pls", "--dim", "auto", "--set", "learner=linear"),
  stonet = stonet("--dim", "1"), curves = stonet("--dim", "1", "--set", "curves=auto"))
sets <- if (length(arguments) > 3) arguments[-(1:3)] else
  c("tecator-fat", "tecator-water", "tecator-protein", "gasoline", "nir", "yarn")

cat("set,split", names(methods), sep = ",")
for (split in splits) for (set in sets) {
  d <- table_of(set)
  set.seed(1000 + split)
  test <- seq_len(nrow(d))[-(1:172)]
  if (!startsWith(set, "tecator") && split == 0) next
  if (startsWith(set, "tecator") && split > 0) d <- d[1:172, ]
  if (split > 0) test <- sample(nrow(d), nrow(d) %/% 4)
  error <- sapply(methods, function(m) sqrt(mean((m(d[-test, ], d[test, ]) - d$y[test])^2)))
  cat("\n", set, ",", split, ",", paste(signif(error, 4), collapse = ","), sep = "")
}
cat("\n")
