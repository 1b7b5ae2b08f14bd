# Small tables and cheap fits; two threads at the most.
waves <- function(rows = 150, seed = 1) stonet_generate("waveform", rows, seed)
cheap <- function(...) stonet(..., epochs = 3, weight_decay = 0.01, activation = "tanh", front = "none", restarts = 1,
                              threads = 1, seed = 1)

# Runs the program, where the environment says which it is.
program <- function(...) {
  path <- Sys.getenv("STONET_PROGRAM")
  if (!nzchar(path)) testthat::skip("STONET_PROGRAM is not set")
  status <- system2(path, shQuote(c(...)), stdout = FALSE, stderr = FALSE)
  testthat::expect_identical(status, 0L)
}

write_exact <- function(frame, path) {
  exact <- lapply(frame, function(column) if (is.numeric(column)) sprintf("%.17g", column) else as.character(column))
  utils::write.csv(as.data.frame(exact, check.names = FALSE), path, row.names = FALSE, quote = FALSE, na = "")
}
