# What the library says, and what calls that never reach it say, as conditions: errors of class stonet_error, warnings of
# class stonet_warning, messages of class stonet_note. A further class says what they are about.

# What a sentence is about: the first pattern that fits.
subjects <- c(
  unseen_levels = "that no training row had|have no feature of their own", residuals = "size of the held-out residuals",
  training_rows = "look like the training rows", missing_cells = "cells are missing|missing cells|cells? (is|are) missing",
  nothing_found = "constant guess|tells nothing about", linear_better = "a linear model predicts better",
  copies = "another row exactly|features as another row", leak = "nearly the same as (the|a) response", left_out = "left out",
  dimension = "so Z has|carr(y|ies) the whole effect", few_rows = "the calibration (has|and)", old_file = "has no hash",
  two_values = "has two values", encoding = "^column|features?"
)

# Words of the program and of C, and what they are in R; name=value becomes name = "value".
words <- c(
  "name the target column or the target file" = "give a formula with a response, or y",
  "let the fit calibrate it, or calibrate the model \\('stonet calibrate', stonet_calibrate\\)" = "calibrate() does that",
  "'stonet order --rule cv'" = "stonet_order(rule = \"cv\")",
  "'stonet methods'" = "stonet_methods()", "'stonet methods ([a-z-]+)'" = "stonet_methods(\"\\1\")",
  ", or name it as their id" = "", "name the column that says so \\(group\\)" = "name them by the argument group",
  "\\btarget(s?)\\b" = "response\\1", "--([a-z]+)" = "\\1",
  "\\b([a-z_]+)=([a-z][a-z-]*)" = "\\1 = \"\\2\"", "\\b([a-z_]+)=([0-9])" = "\\1 = \\2"
)

in_r_words <- function(text) {
  for (word in names(words)) text <- gsub(word, words[[word]], text, perl = TRUE)
  text
}

say <- function(text, warns = FALSE, about = NULL) {
  text <- in_r_words(text)
  if (is.null(about)) about <- names(subjects)[vapply(subjects, grepl, NA, text)][1L]
  class <- c(if (!is.na(about)) paste0("stonet_", about), if (warns) c("stonet_warning", "warning") else c("stonet_note", "message"))
  condition <- structure(class = c(class, "condition"), list(message = paste0(text, if (!warns) "\n"), call = NULL))
  if (warns) warning(condition) else message(condition)
}

fail <- function(..., kind = "argument") {
  stop(structure(
    class = c(paste0("stonet_", kind, "_error"), "stonet_error", "error", "condition"),
    list(message = paste0(...), call = NULL)
  ))
}

# The value of a .Call, or the condition that its failure is.
checked <- function(value) {
  if (inherits(value, "stonet_failure")) fail(in_r_words(value$message), kind = value$kind)
  value
}

# Errors of R's own tools (a variable that is not there, say) under our class too.
as_stonet_error <- function(expr) {
  tryCatch(expr, error = function(e) {
    if (inherits(e, "stonet_error")) stop(e)
    fail(conditionMessage(e))
  })
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

need <- function(package) {
  if (!requireNamespace(package, quietly = TRUE)) fail("this needs the package ", package, ", which is not installed")
}
