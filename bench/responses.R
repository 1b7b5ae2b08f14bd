# Censored times: a default StoNet and Cox's model on held-out halves of tables of package survival.
#
#     Rscript bench/responses.R build/bin/stonet veteran gbsg
#     Rscript bench/responses.R build/bin/stonet simulated
#
# Each table is cut in two halves by the seed 2034; each is predicted from the other. Harrell's C of both.
# simulated: log T = Z1 + e / 2, Z1 = sin(2 x1) + .7 (x2^2 - 1), ten columns, 500 rows, about 30 % censored, seeds 41 to 43.
# Distance correlation with Z1 of Z fitted to T itself, to the censored times, and to these without heed to the
# censoring; and of Cox's linear predictor.
library(survival)
given <- commandArgs(TRUE)
program <- given[1]
tables <- list(
  veteran = function() veteran,
  gbsg = function() with(gbsg, data.frame(time = rfstime, status, age, meno, size, grade, nodes, pgr, er, hormon))
)
folder <- tempfile()
dir.create(folder)
at <- function(name) file.path(folder, name)

dcor <- function(a, b) {
  centred <- function(v) { d <- as.matrix(dist(v)); d - outer(rowMeans(d), rowMeans(d), "+") + mean(d) }
  a <- centred(a)
  b <- centred(b)
  sqrt(sum(a * b) / sqrt(sum(a * a) * sum(b * b)))
}

z_of <- function(data, response) {
  write.csv(data, at("t.csv"), row.names = FALSE)
  system2(program, c("fit", at("t.csv"), response, "--features 1-10 --dim 1 --threads 1 --quiet --out", at("m")))
  system2(program, c("transform", at("m"), at("t.csv"), "--quiet --out", at("z.csv")))
  read.csv(at("z.csv"))[[1]]
}

simulated <- function(seed) {
  set.seed(seed)
  x <- matrix(rnorm(5000), 500)
  truth <- sin(2 * x[, 1]) + .7 * (x[, 2]^2 - 1)
  log_time <- truth + .5 * rnorm(500)
  end <- rnorm(500, .8)
  data <- data.frame(x, time = exp(pmin(log_time, end)), status = as.numeric(log_time <= end), whole = log_time)
  data$naive <- log(data$time)
  cox <- coxph(Surv(time, status) ~ ., data[c(1:10, 11, 12)])
  c(censored = mean(data$status == 0), whole = dcor(z_of(data, "--target whole"), truth),
    times = dcor(z_of(data, "--target time --event status"), truth),
    naive = dcor(z_of(data, "--target naive"), truth), cox = dcor(cox$linear.predictors, truth))
}

if (identical(given[-1], "simulated")) {
  found <- vapply(41:43, simulated, numeric(5))
  print(round(cbind(mean = rowMeans(found), se = apply(found, 1, sd) / sqrt(3)), 3))
  quit()
}
for (name in given[-1]) {
  data <- tables[[name]]()
  set.seed(2034)
  half <- sample(rep(1:2, length.out = nrow(data)))
  for (k in 1:2) {
    write.csv(data[half != k, ], at("train.csv"), row.names = FALSE)
    write.csv(data[half == k, ], at("test.csv"), row.names = FALSE)
    system2(program, c("fit", at("train.csv"), "--target time --event status --dim 1 --threads 1 --quiet --out", at("m")))
    said <- system2(program, c("score", at("m"), at("test.csv")), stdout = TRUE)
    cox <- coxph(Surv(time, status) ~ ., data[half != k, ])
    risk <- predict(cox, data[half == k, ])
    c_cox <- concordance(Surv(time, status) ~ risk, data[half == k, ], reverse = TRUE)$concordance
    number <- function(what) as.numeric(sub(".* ", "", grep(paste0("^", what), said, value = TRUE)))
    cat(sprintf("%-8s half %d: %d rows, %.0f %% censored, C stonet %.3f, cox %.3f\n", name, k, sum(half == k),
                100 * mean(data$status == 0), number("concordance"), c_cox))
  }
}
