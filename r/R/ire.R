# Inverse regression estimation (Cook and Ni 2005), with groups as Wen and Cook (2007) have it, in double precision.
# z is x centred within its groups and scaled by the pooled covariance (n x p); directions are in its coordinates.

# Per group: s = cov(z), zeta = s^-1 sum_s f_s m_s (p x h, a column for each slice), and contrasts of the slices (h x h-1).
ire_parts <- function(z, slices, group) {
  if (is.null(group)) group <- rep(1L, nrow(z))
  lapply(split(seq_len(nrow(z)), group), function(rows) {
    z <- z[rows, , drop = FALSE]
    indicator <- outer(slices[rows], unique(slices[rows]), `==`) + 0
    h <- ncol(indicator)
    if (nrow(z) <= ncol(z) * (h - 1L)) {
      fail("ire needs more than ", ncol(z) * (h - 1L), " rows", if (length(unique(group)) > 1L) " in each group", " for ", ncol(z),
           " columns and ", h, " slices: take fewer slices", kind = "data")
    }
    s <- crossprod(z) / nrow(z)
    contrast <- qr.Q(qr(cbind(1, diag(h)[, -1L])))[, -1L, drop = FALSE]
    list(z = z, s = s, indicator = indicator, contrast = contrast, zeta = solve(s, crossprod(z, indicator)) / nrow(z))
  })
}

# The covariance of sqrt(n) vec(zeta A): that of A'e (x) s^-1 z, where e is what z leaves of the slices' indicators if the
# columns of zeta are in the span of the basis. A basis without columns is independence; without a basis, zeta is as it is.
ire_covariance <- function(part, basis = NULL) {
  zeta <- part$zeta
  if (!is.null(basis)) {
    by <- t(basis) %*% part$s
    zeta <- if (ncol(basis) == 0L) 0 * zeta else basis %*% solve(by %*% basis, by %*% zeta)
  }
  e <- (scale(part$indicator, scale = FALSE) - part$z %*% zeta) %*% part$contrast
  z <- t(solve(part$s, t(part$z)))
  influence <- z[, rep(seq_len(ncol(z)), ncol(e)), drop = FALSE] * e[, rep(seq_len(ncol(e)), each = ncol(z)), drop = FALSE]
  crossprod(scale(influence, scale = FALSE)) / nrow(z)
}

# What is fitted, A's columns of zeta, and its weight, n times the inverse covariance.
ire_targets <- function(parts, basis = NULL) {
  lapply(parts, function(part) {
    list(zeta = part$zeta %*% part$contrast, weight = nrow(part$z) * chol2inv(chol(ire_covariance(part, basis))))
  })
}

# min over B, C of sum_g |vec(zeta_g - T B C_g)|^2 in the metric of the weights, by turns; T is `within`.
ire_fit <- function(targets, basis, within = diag(nrow(targets[[1L]]$zeta))) {
  cost <- function(target, left) sum(left * (target$weight %*% left))
  if (ncol(basis) == 0L) return(list(value = sum(vapply(targets, function(target) cost(target, as.vector(target$zeta)), 0)), basis = basis))
  before <- Inf
  for (turn in seq_len(2000L)) {
    value <- 0
    normal <- 0
    right <- 0
    for (target in targets) {
      by <- kronecker(diag(ncol(target$zeta)), within %*% basis)
      c <- matrix(solve(crossprod(by, target$weight %*% by), crossprod(by, target$weight %*% as.vector(target$zeta))), ncol(basis))
      value <- value + cost(target, as.vector(target$zeta - within %*% basis %*% c))
      by <- kronecker(t(c), within)
      normal <- normal + crossprod(by, target$weight %*% by)
      right <- right + crossprod(by, target$weight %*% as.vector(target$zeta))
    }
    if (before - value <= 1e-12 * value) break
    before <- value
    basis <- qr.Q(qr(matrix(solve(normal, right), nrow(basis))))
  }
  list(value = value, basis = within %*% basis)
}

# The columns of a basis by what they explain: each is the best single direction of what the ones before leave.
ire_ordered <- function(targets, basis) {
  found <- basis[, 0L, drop = FALSE]
  while (ncol(found) < ncol(basis)) {
    left <- seq_len(ncol(basis) - ncol(found))
    rest <- qr.Q(qr(basis - found %*% crossprod(found, basis)))[, left, drop = FALSE]
    start <- svd(crossprod(rest, do.call(cbind, lapply(targets, `[[`, "zeta"))))$u[, 1L, drop = FALSE]
    next_one <- ire_fit(targets, start, rest)$basis
    found <- cbind(found, next_one / sqrt(sum(next_one^2)))
  }
  found
}

# d directions: once with the covariance as it is, and again with that of d directions. There can be several minima: the descent
# starts from the directions of sir and from those of zeta.
dr_ire <- function(x, slices, group, numdir) {
  scaled <- standardised(x, group)
  parts <- ire_parts(scaled$z, slices, group)
  p <- ncol(x)
  h <- sum(vapply(parts, function(part) ncol(part$contrast), 0L))
  f <- as.vector(table(slices)) / nrow(x)
  starts <- list(svd(t(sqrt(f) * slice_means(scaled$z, slices)), p)$u, svd(do.call(cbind, lapply(parts, `[[`, "zeta")), p)$u)
  none <- ire_fit(ire_targets(parts, diag(p)[, 0L, drop = FALSE]), diag(p)[, 0L, drop = FALSE])
  plain <- ire_targets(parts)
  fits <- lapply(seq_len(min(numdir, max(p - 1L, 1L), h)), function(d) {
    firsts <- lapply(starts, function(start) ire_fit(plain, start[, seq_len(d), drop = FALSE]))
    first <- firsts[[which.min(vapply(firsts, `[[`, 0, "value"))]]$basis
    targets <- ire_targets(parts, first)
    found <- ire_fit(targets, first)
    list(value = found$value, basis = ire_ordered(targets, qr.Q(qr(found$basis))))
  })
  k <- c(0L, seq_along(fits))
  tests <- data.frame(Test = c(none$value, vapply(fits, `[[`, 0, "value")), df = (p - k) * (h - k))
  tests$p.value <- stats::pchisq(tests$Test, tests$df, lower.tail = FALSE)
  rownames(tests) <- paste0(k, "D vs > ", k, "D")
  solutions <- lapply(fits, function(fit) {
    basis <- unit_columns(backsolve(scaled$root, fit$basis))
    sweep(basis, 2L, ifelse(basis[1L, ] < 0, -1, 1), "*")
  })
  list(evectors = solutions[[length(solutions)]], solutions = solutions, tests = tests)
}

# n vec(H'zeta)' (covariance of it)^-1 vec(H'zeta), over the groups; the covariance is that of the largest fit.
ire_coordinates <- function(object, kept) {
  scaled <- standardised(object$x, object$group)
  out <- complement(scaled$root %*% kept)
  basis <- qr.Q(qr(scaled$root %*% object$evectors))
  found <- vapply(ire_parts(scaled$z, object$slices, object$group), function(part) {
    by <- kronecker(diag(ncol(part$contrast)), out)
    left <- as.vector(crossprod(out, part$zeta %*% part$contrast))
    c(nrow(part$z) * sum(left * solve(crossprod(by, ire_covariance(part, basis) %*% by), left)), length(left))
  }, c(0, 0))
  list(statistic = sum(found[1L, ]), weights = rep(1, sum(found[2L, ])))
}
