# What R knows of a model and the library does not: the formula with the bases of poly(), ns() and their like, and the order of
# levels. It travels as text in the model file, and comes back without running code that a stranger may have put there.

note_of <- function(object) {
  if (is.null(object$terms) && is.null(object$all_levels)) return(NULL)
  parts <- list(formula = if (!is.null(object$terms)) stats::formula(object$terms), variables = attr(object$terms, "predvars"),
                levels = object$all_levels, is_ordered = object$is_ordered, xlevels = object$xlevels)
  parts <- as.call(c(quote(list), Filter(Negate(is.null), parts)))
  paste(deparse(parts, control = c("keepNA", "keepInteger", "niceNames", "digits17")), collapse = "\n")
}

# Functions that compute from their arguments and do nothing else.
harmless <- c(
  "list", "c", "~", "+", "-", "*", "/", "^", "%%", "%/%", ":", "(", "<", ">", "<=", ">=", "==", "!=", "!", "&", "|", "%in%", "ifelse",
  "I", "abs", "sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "atan", "round", "floor", "ceiling", "pmin",
  "pmax", "poly", "ns", "bs", "scale", "cut", "factor", "ordered", "as.factor", "as.numeric", "as.double", "as.integer",
  "as.character", "as.logical", "as.Date", "cbind", "splines::ns", "splines::bs", "stats::poly", "Surv", "survival::Surv"
)

is_harmless <- function(code) {
  if (!is.call(code)) return(is.atomic(code) || is.name(code))
  if (!paste(deparse(code[[1L]]), collapse = "") %in% harmless) return(FALSE)
  all(vapply(as.list(code)[-1L], is_harmless, NA))
}

with_note <- function(object) {
  if (is.null(object$note)) return(object)
  code <- tryCatch(str2lang(object$note), error = function(e) NULL)
  if (!is.call(code) || !identical(code[[1L]], quote(list)) || !is_harmless(code)) {
    say("the formula in this file is not used: it calls functions that R does not run from a file; give newdata the columns of the model",
        about = "formula")
    return(object)
  }
  for (part in c("is_ordered", "xlevels")) object[[part]] <- eval(code[[part]], baseenv())
  levels <- eval(code$levels, baseenv())
  if (object$classifier && all(object$levels %in% levels)) {
    object$all_levels <- levels
    object$levels <- levels[levels %in% object$levels]
  }
  if (is.null(code$formula)) return(object)
  object$terms <- stats::terms(stats::as.formula(code$formula, new.env(parent = asNamespace("stats"))))
  attr(object$terms, "predvars") <- code$variables
  object
}

# ns() and bs() of a formula are found in a session that has not attached splines.
with_splines <- function(terms) {
  here <- new.env(parent = environment(terms))
  if (!exists("ns", here, mode = "function")) here$ns <- ns
  if (!exists("bs", here, mode = "function")) here$bs <- bs
  environment(terms) <- here
  terms
}
