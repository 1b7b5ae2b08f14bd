# Failures of the library, and of calls that never reach it, as conditions of class stonet_error.

fail <- function(..., kind = "argument") {
  stop(structure(
    class = c(paste0("stonet_", kind, "_error"), "stonet_error", "error", "condition"),
    list(message = paste0(...), call = NULL)
  ))
}

# The value of a .Call, or the condition that its failure is.
checked <- function(value) {
  if (inherits(value, "stonet_failure")) fail(value$message, kind = value$kind)
  value
}

# Errors of R's own tools (a variable that is not there, say) under our class too.
as_stonet_error <- function(expr) {
  tryCatch(expr, error = function(e) {
    if (inherits(e, "stonet_error")) stop(e)
    fail(conditionMessage(e))
  })
}

warn <- function(text, class = character()) {
  warning(structure(class = c(class, "stonet_warning", "warning", "condition"), list(message = text, call = NULL)))
}

one_of <- function(value, known, name) {
  if (!is.character(value) || length(value) != 1L || is.na(value) || !value %in% known) {
    fail(name, " is one of ", paste0("\"", known, "\"", collapse = ", "), ", not ", shown(value))
  }
  value
}

shown <- function(value) {
  text <- paste(deparse(value, nlines = 1L), collapse = " ")
  if (nchar(text) > 60L) paste0(substr(text, 1L, 57L), "...") else text
}

whole_number <- function(value, name, least = 0) {
  if (!is.numeric(value) || length(value) != 1L || is.na(value) || value != floor(value) || value < least ||
        value > 2^53) {
    fail(name, " is a whole number from ", least, ", not ", shown(value))
  }
  as.double(value)
}

real_number <- function(value, name, low, high) {
  if (!is.numeric(value) || length(value) != 1L || is.na(value) || value <= low || value >= high) {
    fail(name, " is a number between ", low, " and ", high, ", not ", shown(value))
  }
  as.double(value)
}

a_flag <- function(value, name) {
  if (!is.logical(value) || length(value) != 1L || is.na(value)) fail(name, " is TRUE or FALSE, not ", shown(value))
  value
}

a_text <- function(value, name) {
  if (!is.character(value) || length(value) != 1L || is.na(value) || !nzchar(value)) {
    fail(name, " is one text, not ", shown(value))
  }
  value
}
