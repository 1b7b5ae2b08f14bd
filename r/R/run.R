# How a job is run: seed, threads, progress, interrupt.

# NULL: drawn from R's generator, whose state moves on, so that set.seed() governs it.
seed_of <- function(seed) {
  if (is.null(seed)) return(as.double(sample.int(.Machine$integer.max, 1L)))
  whole_number(seed, "seed")
}

verbose_of <- function(verbose) {
  if (is.function(verbose)) verbose else a_flag(verbose, "verbose")
}

# job is a function of the run; what the library says on the way becomes messages (if asked for) and warnings.
in_run <- function(job, seed, threads, verbose) {
  verbose <- verbose_of(verbose)
  run <- .Call(C_run, seed_of(seed), whole_number(threads, "threads"), verbose, interactive())
  value <- job(run)
  said <- .Call(C_run_said, run)
  if (isTRUE(verbose)) for (note in said$notes) message("note: ", note)
  for (text in said$warnings) warn(text)
  value <- checked(value)
  if (said$interrupted) warn("stopped on request: this is what there is so far", "stonet_stopped")
  value
}

# Settings by name; the library checks what they say.
settings_of <- function(settings) {
  names <- names(settings)
  if (length(settings) > 0L && (is.null(names) || any(!nzchar(names)))) {
    fail("settings are given by name: one of the arguments has none")
  }
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
