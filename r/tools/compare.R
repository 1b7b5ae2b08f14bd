# Rscript compare.R: our sir, save, phd and mave beside those of the packages dr and MAVE, on three data sets, as the
# tables of docs/r.md. dr and MAVE come from their own sources, nothing of theirs is here; without them nothing is compared.
for (package in c("dr", "MAVE")) {
  if (!requireNamespace(package, quietly = TRUE)) {
    message("the package ", package, " is not installed: nothing is compared")
    quit(status = 0)
  }
}
library(stonet)

cosine <- function(a, b) min(svd(crossprod(qr.Q(qr(a)), qr.Q(qr(b))))$d)
largest <- function(a, b) max(abs(a - b) / pmax(abs(b), 1e-12))

sets <- list(
  ais = list(LBM ~ log(SSF) + log(Wt) + log(Hg) + log(Ht) + log(WCC) + log(RCC) + log(Hc) + log(Ferr), dr::ais),
  airquality = list(Ozone ~ Solar.R + Wind + Temp, stats::na.omit(airquality)),
  radial = list(y ~ ., stonet_generate("radial", 300, seed = 1))
)

cat("| data | method | eigenvalues | cosine, 2 directions | statistics | p-values |\n| --- | --- | --- | --- | --- | --- |\n")
worst <- 0
for (name in names(sets)) {
  formula <- sets[[name]][[1]]
  data <- sets[[name]][[2]]
  for (method in c("sir", "save", "phdres", "phdy")) {
    sliced <- method %in% c("sir", "save")
    theirs <- if (sliced) {
      dr::dr(formula, data = data, method = method, nslices = 8)
    } else {
      dr::dr(formula, data = data, method = method)
    }
    tests <- dr::dr.test(theirs, numdir = 3)
    ours <- dr_compat(formula, data, method = method, nslices = if (sliced) 8, numdir = 3, threads = 2)
    values <- largest(ours$evalues[1:3], abs(theirs$evalues[1:3]))
    close <- cosine(ours$evectors[, 1:2], theirs$evectors[, 1:2])
    statistics <- largest(ours$tests$Stat, tests[[1]])
    p <- max(abs(ours$tests$p.value - tests[[3]]))
    worst <- max(worst, values, 1 - close, statistics, p)
    cat(sprintf("| %s | %s | %.1e | %.7f | %.1e | %.1e |\n", name, method, values, close, statistics, p))
  }
}
cat(sprintf("\nlargest difference: %.1e\n\n", worst))

cat("Tests of coordinates: the largest difference from drop1() of dr\n\n| data | method | statistics | p-values |\n| --- | --- | --- | --- |\n")
for (name in names(sets)) {
  for (method in c("sir", "save", "ire")) {
    theirs <- stats::drop1(dr::dr(sets[[name]][[1]], data = sets[[name]][[2]], method = method, nslices = 8))
    ours <- drop1(dr_compat(sets[[name]][[1]], sets[[name]][[2]], method = method, nslices = 8))
    cat(sprintf("| %s | %s | %.1e | %.1e |\n", name, method, largest(ours[[1]], theirs[[1]]), max(abs(ours$P.value - theirs[[ncol(theirs)]]))))
  }
}

cat("| data | q | cosine, meanMAVE and mave | cosine, meanOPG and opg |\n| --- | --- | --- | --- |\n")
for (name in names(sets)) {
  formula <- sets[[name]][[1]]
  data <- sets[[name]][[2]]
  for (q in 1:2) {
    close <- vapply(c(mave = "meanMAVE", opg = "meanOPG"), function(theirs) {
      ours <- stonet(formula, data, dim = q, method = if (theirs == "meanMAVE") "mave" else "opg", seed = 1, threads = 2)
      cosine(coef(ours), stats::coef(MAVE::mave(formula, data = data, method = theirs, max.dim = q), q))
    }, 0)
    cat(sprintf("| %s | %d | %.4f | %.4f |\n", name, q, close[1], close[2]))
  }
}
if (worst > 1e-3) quit(status = 1)
