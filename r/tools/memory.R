# Rscript memory.R ROWS COLUMNS METHOD: what a table and a fit add to the memory of R.
library(stonet)
of <- function(name) {
  status <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep(name, status, value = TRUE))) / 1024
}
arguments <- commandArgs(TRUE)
rows <- as.numeric(arguments[1])
columns <- as.numeric(arguments[2])
method <- arguments[3]
set.seed(1)
x <- matrix(rnorm(rows * columns), rows)
y <- x[, 1] + rnorm(rows)
invisible(gc())
at_first <- of("VmRSS")
cat(sprintf("matrix %.1f MB, in single precision %.1f MB, resident %.1f MB\n", rows * columns * 8 / 2^20,
            rows * columns * 4 / 2^20, at_first))
own <- asNamespace("stonet")
problem <- own$matrix_problem(x, y)
invisible(gc())
with_table <- of("VmRSS")
cat(sprintf("the table adds %.1f MB\n", with_table - at_first))
writeLines("5", "/proc/self/clear_refs") # the peak is counted anew
settings <- list(dim = 1, task = "regression")
if (method == "stonet") {
  settings <- c(settings, list(epochs = 0.05, weight_decay = 0.01, activation = "tanh", front = "none", restarts = 1,
                               sdr_iterations = 0, levels = "none"))
}
run <- .Call(own$C_run, 1, 2, FALSE, FALSE)
model <- .Call(own$C_fit, method, settings, problem$table, run)
stopifnot(!inherits(model, "stonet_failure"))
cat(sprintf("the fit adds %.1f MB at its peak\n", of("VmHWM") - with_table))
