# Censored times, counts and ordered classes: default StoNets beside the models that people use.
#
#     Rscript bench/responses.R build/bin/stonet linear 20           data sets
#     Rscript bench/responses.R FOLDER veteran pbc gbsg colon rotterdam flchain
#         writes the tables there; python3 bench/responses.py folds FOLDER fits them; called again, it compares
#     Rscript bench/responses.R build/bin/stonet counts 10
#     Rscript bench/responses.R build/bin/stonet ordered 10
#
# Simulated times are in bench/responses.py. Real tables are cut in two halves REPEATS (an environment variable, 5) times;
# each half is predicted from the other.
# Needs Debian's r-cran-survival and r-cran-mass. Where r-cran-ranger, r-cran-gbm and r-cran-pscl are not installed, forests,
# boosting and bioChemists are left out. Every fit has one thread.
library(survival)
given <- commandArgs(TRUE)
program <- given[1]
has <- function(package) requireNamespace(package, quietly = TRUE)
folder <- tempfile()
dir.create(folder)
at <- function(name) file.path(folder, name)

# ---- the program ----

stonet <- function(...) {
  said <- system2(program, c(...), stdout = TRUE, stderr = at("said"))
  if (!is.null(attr(said, "status"))) stop(paste(readLines(at("said")), collapse = "\n"))
  said
}
fit <- function(data, ...) {
  write.csv(data, at("train.csv"), row.names = FALSE)
  stonet("fit", at("train.csv"), ..., "--dim 1 --threads 1 --quiet --out", at("m"))
}
ask <- function(what, data, ...) {
  write.csv(data, at("test.csv"), row.names = FALSE)
  stonet(what, at("m"), at("test.csv"), ..., "--quiet --out", at("out.csv"))
  as.matrix(read.csv(at("out.csv")))
}
read_scores <- function(lines) {
  said <- strsplit(lines, " +")
  setNames(as.numeric(sapply(said, `[`, 2)), sapply(said, `[`, 1))
}
scores <- function(data) {
  write.csv(data, at("test.csv"), row.names = FALSE)
  read_scores(stonet("score", at("m"), at("test.csv")))
}
table_of <- function(found) {
  found <- t(found)
  cat(sprintf("%-24s %8.4f (%.4f)\n", colnames(found), colMeans(found), apply(found, 2, sd) / sqrt(nrow(found))), sep = "")
}
# The difference of two columns of each data set or fold. Halves share rows: the error is of the five means of two folds.
paired <- function(found, a, b, each = 1) {
  if (anyNA(found[b, ])) return(invisible())
  d <- colMeans(matrix(found[a, ] - found[b, ], each))
  cat(sprintf("  %s - %s: %.4f (%.4f)\n", a, b, mean(d), sd(d) / sqrt(length(d))))
}
halves <- function(n, repeats = as.integer(Sys.getenv("REPEATS", "5"))) {
  set.seed(2034)
  unlist(lapply(seq_len(repeats), function(r) { half <- sample(rep(1:2, length.out = n)); list(half == 1, half == 2) }), FALSE)
}

# ---- where the truth is linear: coefficients of the log median time, over their standard errors in survreg ----

linear <- function(seed) {
  set.seed(seed)
  n <- 500
  x <- matrix(rnorm(5 * n), n)
  beta <- c(1, -.5, .25, 0, 0)
  log_time <- c(x %*% beta) + .5 * rnorm(n)
  end <- rnorm(n, .8)
  data <- data.frame(x, time = exp(pmin(log_time, end)), status = as.numeric(log_time <= end))
  fit(data, "--target time --event status --set activation=identity --set front=none --set weight_decay=0.0001 --set epochs=200")
  grid <- data.frame(rbind(0, diag(5)))
  known <- survreg(Surv(time, status) ~ ., data, dist = "lognormal")
  of <- log(ask("predict", grid)[, 1])
  ours <- of[-1] - of[1]
  se <- sqrt(diag(vcov(known)))[2:6]
  cox <- coxph(Surv(time, status) ~ ., data)
  c(worst_from_survreg = max(abs(ours - coef(known)[-1]) / se), worst_from_truth = max(abs(ours - beta) / se),
    survreg_from_truth = max(abs(coef(known)[-1] - beta) / se),
    angle_to_cox = 1 - abs(sum(ours * coef(cox))) / sqrt(sum(ours^2) * sum(coef(cox)^2)))
}

# ---- real times ----

tables <- list(
  veteran = function() veteran,
  gbsg = function() with(gbsg, data.frame(time = rfstime, status, age, meno, size, grade, nodes, pgr, er, hormon)),
  pbc = function() na.omit(with(pbc[1:312, ], data.frame(time, status = as.numeric(status == 2), age, sex, trt, ascites, hepato,
                           spiders, edema, bili, chol, albumin, copper, alk.phos, ast, trig, platelet, protime, stage))),
  colon = function() na.omit(with(colon[colon$etype == 2, ], data.frame(time, status, rx, sex, age, obstruct, perfor, adhere,
                           nodes, differ, extent, surg, node4))),
  rotterdam = function() with(rotterdam, data.frame(time = dtime, status = death, year, age, meno, size, grade, nodes, pgr, er,
                              hormon, chemo)),
  flchain = function() { d <- na.omit(with(flchain, data.frame(time = futime, status = death, age, sex, kappa, lambda, flc.grp,
                         creatinine, mgus))); d[d$time > 0, ] })

# Graf's integrated Brier score at the 100 midpoints that 'stonet score' has; s: rows x midpoints.
midpoints <- function(test) max(test$time[test$status == 1]) * (seq_len(100) - .5) / 100
brier <- function(test, s) {
  order <- survfit(Surv(time, 1 - status) ~ 1, test)
  g <- stepfun(order$time, c(1, order$surv))
  before <- stepfun(order$time, c(1, order$surv), right = TRUE)
  at <- midpoints(test)
  mean(sapply(seq_along(at), function(k) {
    later <- test$time > at[k]
    w <- ifelse(later, 1 / g(at[k]), test$status / before(test$time))
    mean(ifelse(w > 0, w * (later - s[, k])^2, 0))
  }))
}
harrell <- function(test, risk) concordance(Surv(time, status) ~ risk, test, reverse = TRUE)$concordance
real_times <- function(train, test, own) {
  at <- midpoints(test)
  cox <- coxph(Surv(time, status) ~ ., train)
  curves <- summary(survfit(cox, test), times = at, extend = TRUE)$surv
  aft <- survreg(Surv(time, status) ~ ., train, dist = "weibull")
  eta <- predict(aft, test, type = "lp")
  forest <- c(C = NA, IBS = NA)
  if (nrow(train) < 1000 && has("ranger")) { # its time grows with rows times distinct times
    made <- ranger::ranger(Surv(time, status) ~ ., train, num.trees = 500, num.threads = 1, seed = 1, verbose = FALSE)
    of <- predict(made, test, num.threads = 1, verbose = FALSE)
    trees <- cbind(1, of$survival)[, findInterval(at, of$unique.death.times) + 1]
    forest <- c(C = harrell(test, rowSums(of$chf)), IBS = brier(test, trees))
  }
  c(C_stonet = own[["concordance"]], C_cox = harrell(test, predict(cox, test)), C_weibull = harrell(test, -eta),
    C_forest = forest[["C"]], IBS_stonet = own[["integrated_brier"]], IBS_cox = brier(test, t(curves)),
    IBS_weibull = brier(test, outer(eta, at, function(e, t) exp(-exp((log(t) - e) / aft$scale)))), IBS_forest = forest[["IBS"]])
}

# ---- counts: deviance of rows that were not fitted ----

deviance_of <- function(k, mean) mean(2 * (ifelse(k > 0, k * log(k / mean), 0) - k + mean))
boosted <- function(train, test) {
  if (!has("gbm")) return(rep(NA, nrow(test)))
  columns <- setdiff(names(train), c("k", "years"))
  formula <- reformulate(c(columns, "offset(log(years))"), "k")
  made <- gbm::gbm(formula, "poisson", train, n.trees = 400, interaction.depth = 3, shrinkage = .05, cv.folds = 3, n.cores = 1, verbose = FALSE,
                   n.minobsinnode = min(10, floor(nrow(train) / 12)))
  exp(suppressWarnings(predict(made, test, gbm::gbm.perf(made, FALSE, method = "cv")))) * test$years
}
deviance_of_fit <- function(train, test, ...) {
  fit(train, "--target k --exposure years", ...)
  scores(test)[["deviance"]]
}
# numbers: with the columns that glm has, where the default also has few distinct numbers as categories.
count_fold <- function(train, test) {
  numbers <- deviance_of_fit(train, test, "--set levels=none")
  linear <- suppressWarnings(glm(k ~ . - years + offset(log(years)), poisson, train))
  set.seed(1)
  c(stonet = deviance_of_fit(train, test), numbers = numbers, glm = deviance_of(test$k, predict(linear, test, "response")),
    boosting = deviance_of(test$k, boosted(train, test)))
}
simulated_counts <- function(seed, nonlinear) {
  set.seed(seed)
  x <- matrix(rnorm(5 * 1500), 1500)
  eta <- if (nonlinear) sin(2 * x[, 1]) + .5 * abs(x[, 2]) - .4 else .5 * x[, 1] - .3 * x[, 2]
  years <- runif(1500, .5, 4)
  data <- data.frame(x, k = rpois(1500, years * exp(eta)), years)
  count_fold(data[1:500, ], data[-(1:500), ])
}
count_tables <- list(
  Insurance = function() with(MASS::Insurance, data.frame(district = factor(paste0("d", District)), group = as.numeric(Group),
                              age = as.numeric(Age), k = Claims, years = Holders)),
  bioChemists = function() with(pscl::bioChemists, data.frame(fem, mar, kid5, phd, ment, k = art, years = 1)))

# ---- ordered classes: log loss of rows that were not fitted ----

ordered_fold <- function(train, test) {
  classes <- sort(unique(c(train$q, test$q)))
  log_loss <- function(p) -mean(log(pmax(p[cbind(seq_len(nrow(test)), match(test$q, classes))], 1e-12)))
  fit(train, "--target q --set task=ordinal")
  own <- scores(test)
  fit(train, "--target q --set task=classification")
  unordered <- scores(test)
  linear <- MASS::polr(factor(q, levels = classes) ~ ., train)
  c(ordered = own[["log_loss"]], unordered = unordered[["log_loss"]], polr = log_loss(predict(linear, test, "probs")),
    rank_error = own[["rank_error"]], polr_rank_error = mean(abs(match(test$q, classes) - as.numeric(predict(linear, test)))))
}
simulated_ordered <- function(seed) {
  set.seed(seed)
  x <- matrix(rnorm(8 * 1500), 1500)
  score <- 1.5 * sin(1.5 * x[, 1]) + x[, 2] - .5 * x[, 3]^2 + rlogis(1500)
  data <- data.frame(x, q = 3 + findInterval(score, c(-3.5, -1.5, 0, 1.5, 3)))
  ordered_fold(data[1:500, ], data[-(1:500), ])
}
housing <- function() with(MASS::housing[rep(seq_len(nrow(MASS::housing)), MASS::housing$Freq), ],
                           data.frame(infl = as.numeric(Infl), type = as.character(Type), cont = as.character(Cont), q = as.numeric(Sat)))

# ---- the call ----

over_halves <- function(data, one) {
  sapply(halves(nrow(data)), function(part) one(droplevels(data[part, ]), data[!part, ]))
}
# The tables go to the folder, or the scores of their fits are read from there.
times_of <- function(name, folder) {
  data <- tables[[name]]()
  cut <- halves(nrow(data))
  stem <- file.path(folder, name)
  files <- sprintf("%s-%d-%d.scores", stem, (seq_along(cut) + 1) %/% 2, 2 - seq_along(cut) %% 2)
  if (!all(file.exists(files))) {
    sides <- sapply(cut[c(TRUE, FALSE)], ifelse, 1, 2)
    colnames(sides) <- paste0("half", seq_len(ncol(sides)))
    return(write.csv(cbind(data, sides), paste0(stem, ".csv"), row.names = FALSE, quote = FALSE))
  }
  found <- sapply(seq_along(cut), function(k) {
    real_times(droplevels(data[cut[[k]], ]), data[!cut[[k]], ], read_scores(readLines(files[k])))
  })
  cat(sprintf("%s: %d rows\n", name, nrow(data)))
  table_of(found)
  for (of in c("C", "IBS")) for (other in c("cox", "weibull", "forest")) paired(found, paste0(of, "_stonet"), paste0(of, "_", other), 2)
}
sets <- function(k, default) if (is.na(given[k])) default else as.integer(given[k])
if (identical(given[2], "linear")) {
  found <- sapply(2200 + seq_len(sets(3, 20)), linear)
  table_of(found)
  cat("largest:", round(apply(found, 1, max), 3), "\n")
} else if (identical(given[2], "counts")) {
  for (nonlinear in c(TRUE, FALSE)) {
    cat(if (nonlinear) "simulated, nonlinear\n" else "simulated, linear\n")
    found <- sapply(2500 + seq_len(sets(3, 10)), simulated_counts, nonlinear)
    table_of(found)
    for (other in c("glm", "boosting")) paired(found, "stonet", other)
  }
  for (name in if (has("pscl")) names(count_tables) else "Insurance") {
    found <- over_halves(count_tables[[name]](), count_fold)
    cat(name, "\n")
    table_of(found)
    for (own in c("stonet", "numbers")) for (other in c("glm", "boosting")) paired(found, own, other, 2)
  }
} else if (identical(given[2], "ordered")) {
  cat("simulated\n")
  found <- sapply(2400 + seq_len(sets(3, 10)), simulated_ordered)
  table_of(found)
  for (other in c("unordered", "polr")) paired(found, "ordered", other)
  found <- over_halves(housing(), ordered_fold)
  cat("housing\n")
  table_of(found)
  for (other in c("unordered", "polr")) paired(found, "ordered", other, 2)
} else {
  for (name in given[-1]) times_of(name, given[1])
}
