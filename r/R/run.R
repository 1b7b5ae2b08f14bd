# How a job is run: seed, threads, progress, interrupt.

# NULL: drawn from R's generator, whose state moves on, so that set.seed() governs it.
seed_of <- function(seed) {
  if (is.null(seed)) return(as.double(sample.int(.Machine$integer.max, 1L)))
  whole_number(seed, "seed")
}

# Random numbers of R by a seed of their own; the state of R's generator stays as it was.
with_seed <- function(seed, expr) {
  before <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(before)) rm(".Random.seed", envir = globalenv()) else assign(".Random.seed", before, globalenv()))
  set.seed(seed %% .Machine$integer.max)
  expr
}

is_quiet <- function(quiet) a_flag(quiet, "quiet") || isTRUE(getOption("stonet.quiet"))

run_of <- function(seed, threads, verbose = FALSE, quiet = FALSE) {
  list(seed = seed_of(seed), threads = whole_number(threads, "threads"), quiet = is_quiet(quiet),
       verbose = if (is.function(verbose)) verbose else a_flag(verbose, "verbose"))
}

# job is a function of the run; what the library says on the way becomes messages and warnings.
in_run <- function(job, how) {
  run <- .Call(C_run, how$seed, how$threads, how$verbose, interactive())
  value <- job(run)
  said <- .Call(C_run_said, run)
  if (!how$quiet) {
    for (text in said$notes) say(text)
    for (text in said$warnings) say(text, warns = TRUE)
  }
  value <- checked(value)
  if (said$interrupted) say("stopped on request: this is what there is so far", warns = TRUE, about = "stopped")
  value
}

# Settings by name; the library checks what they say.
settings_of <- function(settings) {
  names <- names(settings)
  if (length(settings) > 0L && (is.null(names) || any(!nzchar(names)))) {
    fail("settings are given by name: one of the arguments has none")
  }
  if ("offset" %in% names) fail(no_offset)
  twice <- names[duplicated(names)]
  if (length(twice) > 0L) fail("the setting '", twice[1L], "' is given twice")
  for (name in names) {
    value <- settings[[name]]
    if (!is.null(value) && !((is.numeric(value) || is.character(value) || is.logical(value)) && !anyNA(value))) {
      fail("the setting '", name, "' is a number, a text, TRUE or FALSE, or several numbers, not ", shown(value))
    }
  }
  settings
}

# The name of a method as the library has it.
method_of <- function(method) {
  method <- a_text(method, "method")
  known <- stonet_methods()$method
  if (!method %in% known && tolower(method) %in% known) {
    fail("there is no method \"", method, "\": did you mean \"", tolower(method), "\"?")
  }
  method
}
