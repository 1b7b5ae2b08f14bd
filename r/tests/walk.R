# What docs/r.md promises, step by step: each paragraph does something and checks it. Some two minutes.
library(stonet)

step <- function(what, ...) {
  held <- c(...)
  if (!all(held)) stop("not so: ", what, " (", paste(which(!held), collapse = ", "), ")", call. = FALSE)
  cat("ok ", what, "\n", sep = "")
}

# The value of an expression and the classes of what it said; `heard` has those of all of them.
heard <- character()
said <- function(expr) {
  classes <- character()
  on.exit(heard <<- union(heard, classes))
  note <- function(condition) classes <<- c(classes, grep("^stonet_", class(condition), value = TRUE))
  value <- withCallingHandlers(expr, message = function(m) { note(m); invokeRestart("muffleMessage") },
                               warning = function(w) { note(w); invokeRestart("muffleWarning") })
  list(value = value, classes = classes)
}
error_of <- function(expr) tryCatch({ expr; "" }, stonet_error = conditionMessage)
air <- na.omit(airquality[1:4])

# ---- R says what the program says ----

fit <- said(stonet(Species ~ ., iris, dim = 2, seed = 1, threads = 2))
step("a fit says what was fitted", c("stonet_fitted", "stonet_note") %in% fit$classes)
iris_fit <- fit$value
step("quiet = TRUE and suppressMessages() silence it",
     length(said(stonet(Ozone ~ ., airquality[!is.na(airquality$Ozone), ], dim = 1, method = "sir", quiet = TRUE))$classes) == 0)
step("missing cells are told", "stonet_missing_cells" %in%
       said(stonet(Ozone ~ ., airquality[!is.na(airquality$Ozone), ], dim = 1, method = "sir"))$classes)

plants <- stonet(uptake ~ Type + Treatment + conc, as.data.frame(CO2), dim = 1, method = "sir", slices = 6, quiet = TRUE)
new <- data.frame(Type = "Ontario", Treatment = "chilled", conc = 200)
step("levels without a training row are a warning", c("stonet_unseen_levels", "stonet_warning") %in% said(predict(plants, new))$classes,
     length(said(predict(plants, new, quiet = TRUE))$classes) == 0)
step("scores of the training rows are told", "stonet_training_rows" %in% said(stonet_score(plants))$classes)

set.seed(1)
fan <- data.frame(a = runif(400), b = runif(400))
fan$y <- fan$a + fan$a^2 * rnorm(400)
quick <- function(...) stonet(..., epochs = 20, activation = "tanh", front = "none", seed = 1, threads = 2)
step("residuals whose size depends on x are told", "stonet_residuals" %in% said(quick(y ~ ., fan, dim = 1))$classes)
noise <- data.frame(a = rnorm(80), b = rnorm(80), y = rnorm(80))
step("a fit that finds nothing warns", "stonet_nothing_found" %in% said(quick(y ~ ., noise, dim = 1))$classes)
step("rows that repeat are told", "stonet_copies" %in% said(quick(y ~ ., noise[rep(1:80, 2), ], dim = 1))$classes)
leak <- transform(fan, z = 2 * y)
step("a column that is the response warns", "stonet_leak" %in% said(stonet(y ~ ., leak, dim = 1, method = "sir"))$classes)
cars <- stonet(mpg ~ wt + hp + disp, mtcars, dim = 1, method = "sir", slices = 5, seed = 1)
sure <- calibrate(cars, threads = 2)
step("a level that the calibration cannot reach warns", "stonet_few_rows" %in%
       said(predict(sure, mtcars[1:2, ], type = "interval", level = 0.999))$classes)

file <- tempfile(fileext = ".model")
save_model(cars, file)
bytes <- readBin(file, raw(), file.size(file))
at <- grepRaw("stonet.hash", bytes, fixed = TRUE)
bytes[at + 8L] <- charToRaw("u") # as older versions wrote it, without a hash
old <- tempfile(fileext = ".model")
writeBin(bytes, old)
step("an older file without a hash is told, a newer one is not", "stonet_old_file" %in% said(load_model(old))$classes,
     length(said(load_model(file))$classes) == 0, identical(predict(load_model(old, quiet = TRUE), mtcars), predict(cars, mtcars)))

enough <- function(progress) if (progress$stage == "training") stop("enough")
stopped <- said(quick(y ~ ., fan, dim = 1, verbose = enough))
step("a fit that was stopped warns and is kept", "stonet_stopped" %in% stopped$classes, stopped$value$outcome == "stopped")
table_of_r.md <- c("fitted", "unseen_levels", "residuals", "training_rows", "missing_cells", "nothing_found", "copies", "leak", "few_rows",
                   "old_file", "stopped")
step("every class of the table in docs/r.md was heard", paste0("stonet_", table_of_r.md) %in% heard)

shown <- capture.output(print(iris_fit), print(summary(iris_fit)))
step("print and summary head a fit by what it is", vapply(
  c("network, .*; layers 4-", "held-out error rate 0.0.*constant guess 0.*linear model 0", "not calibrated", "error rate on the rows of the fit"),
  function(line) any(grepl(line, shown)), NA), !any(grepl("^loss", shown)), sum(grepl("Share of", shown)) == 1,
  any(grepl("calibrated by cv.* on 32 rows", capture.output(print(sure)))), any(grepl("learner on Z: ", capture.output(print(sure)))))

# ---- factor levels keep their order ----

turned <- iris
turned$Species <- factor(iris$Species, levels = c("virginica", "setosa", "versicolor", "none"), ordered = TRUE)
classes <- stonet(Species ~ ., turned, dim = 2, method = "sir", seed = 1, threads = 2)
step("levels of predictions, columns of probabilities, ordered factors",
     identical(levels(predict(classes)), levels(turned$Species)), is.ordered(predict(classes, turned)),
     identical(colnames(predict(classes, type = "prob")), c("virginica", "setosa", "versicolor")),
     sum(diag(table(predict(classes), turned$Species))) > 135,
     identical(as.character(predict(classes)), as.character(predict(stonet(Species ~ ., iris, dim = 2, method = "sir", seed = 1)))))
save_model(classes, file)
step("and after a file", identical(predict(load_model(file), turned), predict(classes, turned)))

# ---- generics ----

one <- stonet(Ozone ~ Wind, air, dim = 1, method = "sir", slices = 8, seed = 1, threads = 2)
three <- stonet(Ozone ~ Solar.R + Wind + Temp, air, dim = 1, method = "sir", slices = 8, learner = "linear", seed = 1, threads = 2)
v <- vcov(three)
with_se <- coef(three, se = TRUE)
step("coef(se = TRUE), vcov, confint, tidy(conf.int = TRUE) agree", all.equal(unname(sqrt(diag(v))), as.vector(with_se[, "z1_se"])),
     isSymmetric(v), all.equal(as.vector(confint(three)[, 1]), as.vector(with_se[, 1] - qnorm(0.975) * with_se[, 2])),
     nrow(confint(three, "z1:Temp", level = 0.9)) == 1, all(eigen(v)$values > -1e-12))
step("logLik, nobs, AIC", nobs(three) == 111, is.finite(AIC(three)),
     all.equal(as.double(logLik(three)), sum(dnorm(residuals(three), 0, sqrt(mean(residuals(three)^2)), log = TRUE))),
     is.na(attr(logLik(iris_fit), "df")))
steps <- anova(one, three)
step("anova of nested variables, drop1", inherits(steps, "anova"), steps[2, "Pr(>T)"] < 0.05, nrow(anova(three)) == 3,
     drop1(three)["Temp", "Pr(>T)"] < 0.05, grepl("not nested", error_of(anova(three, one))))
drawn <- simulate(three, 2, seed = 1)
step("simulate", dim(drawn) == c(111, 2), identical(drawn, simulate(three, 2, seed = 1)), abs(cor(drawn$sim_1, air$Ozone)) > 0.5,
     identical(levels(simulate(classes, 1, seed = 1)$sim_1), levels(turned$Species)))
p <- predict(three, air[1:5, ], se.fit = TRUE, pairs = 5)
fits <- three$handle$halves$fits
again <- predict(three, air[1:5, ], se.fit = TRUE, pairs = 5)
step("predict(se.fit = TRUE)", identical(p$fit, predict(three, air[1:5, ])), p$se.fit > 0, p$se.fit < sd(air$Ozone), p$residual.scale > 0)
step("a second call of it fits nothing again", identical(again, p), identical(fits[[1]][[1]], three$handle$halves$fits[[1]][[1]]))
step("update", identical(update(three, . ~ . - Temp)$x_names, c("Solar.R", "Wind")))
step("coef of the first example, of a linear network, without room for errors",
     identical(rownames(coef(iris_fit)), names(iris)[1:4]),
     identical(attr(coef(quick(Species ~ ., iris, dim = 2, quiet = TRUE)), "kind"), "gradients"),
     identical(attr(coef(stonet(Species ~ ., iris, 2, epochs = 5, activation = "identity", front = "none", seed = 1, quiet = TRUE)), "kind"), "directions"),
     any(grepl("is linear in x", capture.output(print(coef(stonet(mpg ~ wt + hp, mtcars, 1, "nnsdr", epochs = 5, refine = 5, seed = 1)))))),
     grepl("standard_errors()", error_of(coef(iris_fit, se = TRUE)), fixed = TRUE))
page <- report(three, air, path = tempfile(fileext = ".html"))
step("report", any(grepl("</html>", readLines(page))), any(grepl("Importance of the variables", readLines(page))))
if (requireNamespace("generics", quietly = TRUE)) {
  step("tidy, glance, augment", identical(generics::tidy(three, conf.int = TRUE)$term, c("Solar.R", "Wind", "Temp")),
       generics::glance(iris_fit)$criterion == "error_rate", generics::glance(iris_fit)$held_out < 0.1,
       c(".lower", ".upper", ".fitted", ".resid") %in% names(generics::augment(sure, interval = TRUE)))
}
grDevices::pdf(NULL)
answers <- list(iris_fit, coef(three, se = TRUE), stonet_importance(three, quiet = TRUE), stonet_order(Ozone ~ ., air, method = "sir"),
                stonet_compare(Ozone ~ ., air, methods = c("sir", "none"), dim = 1, folds = 3, seed = 1, threads = 2))
for (answer in answers) plot(answer)
plot(sure, which = "calibration")
if (requireNamespace("ggplot2", quietly = TRUE)) {
  drawn <- lapply(answers, ggplot2::autoplot)
  step("autoplot of every answer", vapply(drawn, inherits, NA, "ggplot"), inherits(ggplot2::autoplot(sure, which = "calibration"), "ggplot"))
}
invisible(grDevices::dev.off())

# ---- idioms ----

step("errors in R's words", grepl("give a formula with a response", error_of(stonet(~., mtcars, method = "sir"))),
     grepl("calibrate()", error_of(predict(cars, mtcars, type = "interval")), fixed = TRUE),
     grepl("did you mean \"sir\"", error_of(stonet(mpg ~ ., mtcars, method = "SIR"))),
     grepl("stonet_methods(\"stonet\") lists them", error_of(stonet(mpg ~ ., mtcars, metod = "sir")), fixed = TRUE),
     grepl("offset", error_of(stonet(mpg ~ wt, mtcars, offset = hp))), grepl("offset", error_of(stonet(mpg ~ wt + offset(hp), mtcars))))
step("kind = \"stability\"", nrow(stonet_importance(three, kind = "stability", repeats = 3, seed = 1, threads = 2)) == 3)
bent <- stonet(mpg ~ poly(hp, 2) + splines::ns(wt, 3), mtcars, dim = 1, method = "sir", slices = 5)
save_model(bent, file)
step("a reloaded model with poly() and ns() predicts", identical(predict(load_model(file), mtcars[3:6, ]), predict(bent, mtcars[3:6, ])))
hours <- data.frame(t = as.difftime(as.double(1:60), units = "hours"), y = sin((1:60) / 9), x = cos(1:60))
days <- hours
units(days$t) <- "days"
clock <- stonet(y ~ ., hours, dim = 1, method = "sir", slices = 5)
step("differences of times have one unit", identical(predict(clock, days), predict(clock, hours)))
doses <- transform(ToothGrowth, dose = factor(dose, ordered = TRUE))
teeth <- stonet(len ~ supp + dose, doses, dim = 1, method = "sir", slices = 5, quiet = TRUE)
step("ordered columns may come as ranks", identical(predict(teeth, transform(doses, dose = as.integer(dose))), predict(teeth, doses)),
     grepl("ranks from 1 to 3", error_of(predict(teeth, transform(doses, dose = 7)))))
friedman <- stonet_generate("friedman", 300, seed = 1)
if (requireNamespace("recipes", quietly = TRUE)) {
  recipe <- step_stonet(recipes::recipe(y ~ ., friedman), recipes::all_numeric_predictors(), num_comp = 2, method = "sir", seed = 1)
  step("step_stonet()", c("z1", "z2", "y") %in% names(recipes::bake(recipes::prep(recipe, friedman), friedman)))
}
other <- "parsnip"
if (requireNamespace(other, quietly = TRUE)) {
  of <- function(name) getExportedValue(other, name)
  model <- of("set_engine")(of("mlp")(mode = "classification"), "stonet", dim = 2, method = "sir", seed = 1)
  flowers <- of("fit_xy")(model, iris[1:4], iris$Species)
  direct <- stonet(iris[1:4], iris$Species, dim = 2, method = "sir", seed = 1)
  step("parsnip", identical(predict(flowers, iris)$.pred_class, predict(direct, iris)),
       names(predict(flowers, iris, type = "prob")) == paste0(".pred_", levels(iris$Species)))
}
if (requireNamespace("caret", quietly = TRUE)) {
  z <- transform(stonet(friedman[1:10], friedman$y, dim = 2, method = "sir"), friedman[1:10])
  step("caret", inherits(caret::train(z, friedman$y, method = "lm"), "train"))
}
if (.Platform$OS.type == "unix") {
  fits <- parallel::mclapply(1:2, function(seed) coef(stonet(mpg ~ wt + hp, mtcars, 1, "sir", seed = seed)), mc.cores = 2)
  step("mclapply", identical(fits[[1]], fits[[2]]))
}

other <- "future"
if (requireNamespace(other, quietly = TRUE)) {
  of <- function(name) getExportedValue(other, name)
  before <- of("plan")("multisession", workers = 2)
  far <- of("value")(of("future")(predict(stonet(mpg ~ wt + hp, mtcars, 1, "sir", seed = 1, threads = 1))))
  of("plan")(before)
  step("future", identical(far, predict(stonet(mpg ~ wt + hp, mtcars, 1, "sir", seed = 1))))
}

# ---- users of package dr ----

slow <- dr_compat(mpg ~ disp + hp + wt, mtcars, nslices = 5)
text <- capture.output(print(slow))
step("dr_compat() prints as dr does", vapply(c("Slice Sizes:", "Estimated Basis Vectors for Central Subspace:", "R^2(OLS|dr)",
                                               "Large-sample Marginal Dimension Tests:", "0D vs >= 1D"),
                                             function(line) any(grepl(line, text, fixed = TRUE)), NA))
set.seed(2)
x <- matrix(rnorm(1200), 300, 4, dimnames = list(NULL, paste0("x", 1:4)))
known <- data.frame(x, y = x[, 1] + 0.3 * x[, 1]^2 + 0.3 * rnorm(300), g = rep(0:1, 150))
for (method in c("sir", "save", "ire")) {
  found <- dr_compat(y ~ x1 + x2 + x3 + x4, known, method = method, nslices = 6)
  table <- drop1(found)
  step(paste("tests of coordinates by", method), table["- x1", "P.value"] < 1e-4, all(table[-1, "P.value"] > 0.001),
       all.equal(table["- x2", ], dr_coordinate_test(found, ~ . - x2), check.attributes = FALSE),
       abs(found$evectors[1, 1]) > 0.9, found$tests$p.value[1] < 1e-6)
}
whole <- dr_compat(y ~ x1 + x2 + x3 + x4, known, nslices = 6)
step("the statistic is n times the trace", all.equal(whole$tests$Stat[1], 300 * sum(whole$evalues), tolerance = 1e-5))
near <- function(found, value) isTRUE(all.equal(found, value, tolerance = 1e-6))
step("the numbers of dr 3.0.11 on these rows", near(dr_compat(y ~ x1 + x2 + x3 + x4, known, nslices = 4)$tests$Stat[1:2], c(243.5677764304, 3.5298983940)),
     near(drop1(dr_compat(y ~ x1 + x2 + x3 + x4, known, method = "save", nslices = 6))$P.value[2:4], c(0.04390832164, 0.05619211932, 0.39962162422)),
     near(drop1(dr_compat(y ~ x1 + x2 + x3 + x4, known, method = "ire", nslices = 6))$Statistic[2:4], c(2.461050156, 14.485731833, 3.736151889)),
     near(drop1(dr_compat(y ~ x1 + x2 + x3 + x4, known, group = ~g, nslices = 4), law = "normal")$P.value[2:4],
          c(0.4875201063, 0.6566375601, 0.2673045570)))
inner <- do.call(rbind, lapply(split(known, known$g), function(part) transform(part, y = y + 5 * g)))
parted <- dr_compat(y ~ x1 + x2 + x3 + x4, inner, group = ~g, nslices = 5)
step("groups: a shift between them does no harm", abs(parted$evectors[1, 1]) > 0.98, parted$tests$df[1] == 4 * (10 - 2),
     all.equal(dr_compat(y ~ x1 + x2 + x3 + x4, known, group = ~g, nslices = 5)$evalues, parted$evalues),
     abs(dr_compat(y ~ x1 + x2 + x3 + x4, inner, group = ~g, nslices = 5, method = "ire")$evectors[1, 1]) > 0.98)
one_group <- dr_compat(y ~ x1 + x2 + x3 + x4, transform(known, g = 1), group = ~g, nslices = 6)
step("one group is none", all.equal(one_group$evalues, whole$evalues, tolerance = 1e-5),
     all.equal(one_group$tests$p.value, whole$tests$p.value, tolerance = 1e-4))
other <- "dr" # where it is there
if (requireNamespace(other, quietly = TRUE)) {
  theirs <- getExportedValue(other, "dr")(mpg ~ disp + hp + wt, mtcars, method = "sir", nslices = 5)
  step("the slices and eigenvalues of dr", all.equal(abs(theirs$evalues), slow$evalues, tolerance = 1e-5), identical(as.vector(theirs$slice.info$slice.sizes), slow$slice.info$slice.sizes))
}
