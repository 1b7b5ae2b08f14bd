# Rscript bench/tables.R FOLDER: small public tables for bench/tables.py, from R packages of Debian (r-cran-mlbench,
# r-cran-mass, r-cran-kernlab, r-cran-survival). The response is the last column; classes are c1, c2, ..
folder <- commandArgs(TRUE)[1]
dir.create(folder, showWarnings = FALSE)
library(mlbench); library(MASS); library(kernlab); library(survival)
put <- function(name, table, response, drop = character(), most = 3000) {
  y <- table[[response]]
  if (is.factor(y)) y <- paste0("c", as.integer(y))
  table <- table[, setdiff(names(table), c(response, drop))]
  table$response <- y
  set.seed(1)
  if (nrow(table) > most) table <- table[sample(nrow(table), most), ]
  write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE, na = "")
}
for (name in c("BostonHousing", "Glass", "Ionosphere", "LetterRecognition", "Ozone", "PimaIndiansDiabetes2", "Satellite",
               "Servo", "Sonar", "Vehicle", "Vowel", "HouseVotes84")) data(list = name)
data(spam)
names(Satellite)[37] <- "kind"
put("airquality", airquality[!is.na(airquality$Ozone), ], "Ozone")
put("biopsy", biopsy, "class", "ID")
put("birthwt", birthwt, "bwt", "low")
put("boston", BostonHousing, "medv")
put("cpus", cpus, "perf", c("name", "estperf"))
put("crabs", crabs, "sp")
put("flchain", flchain, "kappa", c("lambda", "flc.grp", "chapter", "futime", "death"), 2500)
put("glass", Glass, "Type")
put("infert", infert, "case")
put("ionosphere", Ionosphere, "Class")
put("iris", iris, "Species")
put("letter", LetterRecognition, "lettr", most = 2500)
put("nlschools", nlschools, "lang", "class")
put("ozone", Ozone[!is.na(Ozone$V4), ], "V4")
put("pbc", pbc[!is.na(pbc$bili), ], "bili", c("id", "time", "status"))
put("pima", PimaIndiansDiabetes2, "diabetes")
put("quakes", quakes, "mag")
put("satellite", Satellite, "kind", most = 2000)
put("servo", Servo, "Class")
put("sonar", Sonar, "Class")
put("spam", spam, "type", most = 1500)
put("swiss", swiss, "Fertility")
put("vehicle", Vehicle, "Class")
put("votes", HouseVotes84, "Class")
put("vowel", Vowel, "Class")
