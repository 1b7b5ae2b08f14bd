# Rscript compare.R: dr_compat() beside package dr, and mave and opg beside package MAVE, as the tables of docs/r.md. dr and MAVE
# come from their own sources, nothing of theirs is here; without one of them its tables are left out.
there <- vapply(c(dr = "dr", MAVE = "MAVE"), requireNamespace, NA, quietly = TRUE)
for (package in names(there)[!there]) message("the package ", package, " is not installed: nothing is compared with it")
if (!any(there)) quit(status = 0)
library(stonet)

cosine <- function(a, b) min(svd(crossprod(qr.Q(qr(a)), qr.Q(qr(b))))$d)
largest <- function(a, b) max(abs(a - b) / pmax(abs(b), 1e-12))
table_of <- function(title, ...) cat("\n", title, "\n\n| ", paste(c(...), collapse = " | "), " |\n|", rep(" --- |", ...length()), "\n", sep = "")
silently <- function(expr) { utils::capture.output(value <- expr); value }

sets <- list(
  airquality = list(Ozone ~ Solar.R + Wind + Temp, stats::na.omit(airquality)),
  radial = list(y ~ ., stonet_generate("radial", 300, seed = 1))
)
if (there[["dr"]]) {
  athletes <- LBM ~ log(SSF) + log(Wt) + log(Hg) + log(Ht) + log(WCC) + log(RCC) + log(Hc) + log(Ferr)
  sets <- c(list(ais = list(athletes, dr::ais)), sets)
}
worst <- 0
note <- function(...) worst <<- max(worst, ...)

# ---- dr: directions and tests of dimension ----

dimensions <- function(name, method) {
  formula <- sets[[name]][[1L]]
  data <- sets[[name]][[2L]]
  slices <- if (!startsWith(method, "phd")) list(nslices = 8)
  theirs <- do.call(dr::dr, c(list(formula, data = data, method = method), slices))
  tests <- dr::dr.test(theirs, numdir = 3)
  ours <- do.call(dr_compat, c(list(formula, data, method = method, numdir = 3, threads = 2), slices))
  found <- c(largest(ours$evalues[1:3], abs(theirs$evalues[1:3])), 1 - cosine(ours$evectors[, 1:2], theirs$evectors[, 1:2]),
             largest(ours$tests$Stat, tests[[1L]]), max(abs(ours$tests$p.value - tests[[3L]])))
  note(found)
  cat(sprintf("| %s | %s | %.1e | %.7f | %.1e | %.1e |\n", name, method, found[1L], 1 - found[2L], found[3L], found[4L]))
}

# ---- dr: ire; its iterations stop early unless told not to ----

ire_pair <- function(formula, data, nslices, group = NULL) {
  exact <- list(method = "ire", nslices = nslices, numdir = 3, eps = 1e-13, itmax = 5000)
  theirs <- do.call(dr::dr, c(list(formula, data = data), if (!is.null(group)) list(group = group), exact))
  ours <- do.call(dr_compat, c(list(formula, data, method = "ire", nslices = nslices, numdir = 3), if (!is.null(group)) list(group = group)))
  list(theirs = theirs, ours = ours, tests = rbind(theirs$indep.test, do.call(rbind, lapply(theirs$result, `[[`, "summary"))))
}

ire_row <- function(name, pair) {
  coordinates <- silently(stats::drop1(pair$theirs, update = FALSE))
  ours <- drop1(pair$ours)
  same <- pair$ours$tests$Test > 0.999 * pair$tests$Test # dr can stay in a minimum that is not the least
  found <- c(largest(pair$ours$tests$Test[same], pair$tests$Test[same]), max(abs(pair$ours$tests$p.value - pair$tests$p.value)[same]),
             1 - cosine(pair$ours$evectors, dr::dr.basis(pair$theirs, ncol(pair$ours$evectors))),
             largest(ours$Statistic, coordinates$Test), max(abs(ours$P.value - coordinates$p.value)))
  note(found)
  cat(sprintf("| %s | %d of %d | %.1e | %.1e | %.7f | %.1e | %.1e |\n", name, sum(same), length(same), found[1L], found[2L], 1 - found[3L],
              found[4L], found[5L]))
}

# Two groups of equal size whose x has mean 0 and covariance 1, where dr's coordinates of the groups are the same: its ire takes
# each group in the coordinates of its own QR decomposition, whose signs depend on the order of the rows.
whitened <- function(n, p) {
  set.seed(1)
  part <- function() sqrt(n) * qr.Q(qr(scale(matrix(stats::rnorm(n * p), n), scale = FALSE)))
  signs <- function(x) sign(diag(qr.R(qr(x))))
  repeat {
    x <- rbind(part(), part())
    z <- qr.Q(qr(x))
    if (all(signs(z[1:n, ]) == signs(z[n + 1:n, ]))) break
  }
  data.frame(x, y = x[, 1L] + 0.5 * x[, 2L]^2 + 0.3 * stats::rnorm(2 * n), g = rep(0:1, each = n))
}

# ---- dr: tests of coordinates; for sir with as many slices as columns, since dr leaves weights out beyond that ----

coordinates <- function(name, method) {
  formula <- sets[[name]][[1L]]
  data <- sets[[name]][[2L]]
  ours <- dr_compat(formula, data, method = method, nslices = min(8, ncol(dr_compat(formula, data)$x)))
  h <- min(8, ncol(ours$x))
  theirs <- dr::dr(formula, data = data, method = method, nslices = h)
  ask <- function(...) silently(stats::drop1(theirs, update = FALSE, trace = 0, ...))
  p <- if (method == "save") as.list(ask()[c(4L, 3L)])
       else list(ask(pval = "restricted")$P.value, ask()$P.value) # dr has the two names the other way round
  found <- c(largest(drop1(ours)$Statistic, ask()$Statistic), max(abs(drop1(ours)$P.value - p[[1L]])),
             max(abs(drop1(ours, law = "normal")$P.value - p[[2L]])))
  note(found)
  cat(sprintf("| %s | %s | %.1e | %.1e | %.1e |\n", name, method, found[1L], found[2L], found[3L]))
}

# ---- dr: groups. Its sir does not weigh the groups: of two equal ones its eigenvalues are twice ours ----

groups <- function(name, formula, data, method) {
  theirs <- dr::dr(formula, data = data, group = ~g, method = method, nslices = 4, pool = TRUE)
  ours <- dr_compat(formula, data, group = ~g, method = method, nslices = 4)
  parts <- if (method == "sir") 2 else 1
  tests <- dr::dr.test(theirs, 3)
  tests_of <- function(object) silently(stats::drop1(object, update = FALSE, trace = 0))
  apart <- tests_of(dr::dr(formula, data = data, group = ~g, method = method, nslices = 4))
  own <- drop1(ours, law = "normal")
  found <- c(largest(parts * ours$evalues[1:3], theirs$evalues[1:3]), 1 - cosine(ours$evectors[, 1:2], theirs$evectors[, 1:2]),
             largest(parts * ours$tests$Stat[1:3], tests[[1L]]), largest(own$Statistic, apart$Test), max(abs(own$P.value - apart$P.value)))
  note(found)
  cat(sprintf("| %s | %s | %.1e | %.7f | %.1e | %.1e | %.1e |\n", name, method, found[1L], 1 - found[2L], found[3L], found[4L], found[5L]))
}

if (there[["dr"]]) {
  table_of("Tests of dimension", "data", "method", "eigenvalues", "cosine, 2 directions", "statistics", "p-values")
  for (name in names(sets)) for (method in c("sir", "save", "phdres", "phdy")) dimensions(name, method)
  table_of("ire", "data", "same minimum", "statistics", "p-values", "cosine, 3 directions", "statistics of coordinates", "p-values")
  for (name in names(sets)) {
    ire_row(name, ire_pair(sets[[name]][[1L]], sets[[name]][[2L]], 8))
  }
  equal <- whitened(150, 4)
  ire_row("two equal groups", ire_pair(y ~ X1 + X2 + X3 + X4, equal, 4, ~g))
  table_of("Tests of coordinates", "data", "method", "statistics", "p-values, any x", "p-values, normal x")
  for (name in names(sets)) for (method in c("sir", "save")) coordinates(name, method)
  table_of("Groups", "data", "method", "eigenvalues", "cosine, 2 directions", "statistics", "statistics of coordinates", "p-values")
  for (method in c("sir", "save")) groups("two equal groups", y ~ X1 + X2 + X3 + X4, equal, method)
  cat(sprintf("\nlargest difference: %.1e\n", worst))
}

if (there[["MAVE"]]) {
  table_of("MAVE", "data", "q", "cosine, meanMAVE and mave", "cosine, meanOPG and opg")
  for (name in names(sets)) {
    for (q in 1:2) {
      close <- vapply(c(mave = "meanMAVE", opg = "meanOPG"), function(theirs) {
        ours <- stonet(sets[[name]][[1L]], sets[[name]][[2L]], dim = q, method = if (theirs == "meanMAVE") "mave" else "opg", seed = 1, threads = 2)
        cosine(coef(ours), stats::coef(MAVE::mave(sets[[name]][[1L]], data = sets[[name]][[2L]], method = theirs, max.dim = q), q))
      }, 0)
      cat(sprintf("| %s | %d | %.4f | %.4f |\n", name, q, close[1L], close[2L]))
    }
  }
}
if (worst > 1e-3) quit(status = 1)
