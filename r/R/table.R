# What R calls data as the library's tables. No column is encoded here: the library does that.

# One column of a data frame: numbers and flags as they are, texts as factors, dates, times and differences of them in
# days, whatever their units.
as_column <- function(column, name) {
  if (is.character(column)) column <- factor(column)
  if (is.factor(column)) return(column)
  if (inherits(column, "POSIXt")) return(structure(as.double(as.POSIXct(column)) / 86400, class = "Date"))
  if (inherits(column, "Date")) return(structure(as.double(column), class = "Date"))
  if (inherits(column, "difftime") && is.null(dim(column))) return(as.double(column, units = "days"))
  if ((is.numeric(column) || is.logical(column)) && is.null(dim(column))) {
    return(if (is.object(column)) as.double(column) else column)
  }
  fail("the column '", name, "' is of class ", class(column)[1L], ": columns are numbers, factors, texts, ",
       "logicals, dates or times")
}

# A data frame as a list of plain columns; a matrix in it becomes as many columns as it has.
as_columns <- function(frame) {
  columns <- list()
  for (name in names(frame)) {
    column <- frame[[name]]
    if (is.data.frame(column)) column <- as.matrix(column)
    if (is.matrix(column)) {
      own <- if (is.null(colnames(column))) seq_len(ncol(column)) else colnames(column)
      parts <- lapply(seq_len(ncol(column)), function(j) as_column(as.vector(column[, j]), paste0(name, ".", own[j])))
      columns[paste0(name, ".", own)] <- parts
    } else {
      columns[[name]] <- as_column(column, name)
    }
  }
  columns
}

# x as the library is given it: a matrix of numbers as it is, a data frame as its columns.
as_features <- function(x, rows = nrow(x)) {
  if (is.data.frame(x)) {
    check_names(names(x))
    columns <- as_columns(x)
    return(list(columns = columns, names = names(columns), rows = rows))
  }
  if (inherits(x, "Matrix")) fail("x is a matrix of package Matrix: as.matrix(x) makes it a plain one")
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x))) {
    fail("x is a matrix of numbers or a data frame, not of class ", class(x)[1L])
  }
  check_names(colnames(x))
  list(columns = x, names = colnames(x), rows = rows)
}

check_names <- function(names) {
  twice <- names[duplicated(names)]
  if (length(twice) > 0L) fail("two columns have the name '", twice[1L], "'")
  empty <- which(!nzchar(names) | is.na(names))
  if (length(empty) > 0L) fail("column ", empty[1L], " of x has no name, and others have")
}

# A time of package survival as two columns, time and event or the two bounds, where NA is an open bound; the attribute task says
# which.
times_of <- function(y) {
  if (!inherits(y, "Surv")) return(y)
  type <- attr(y, "type")
  if (!type %in% c("right", "interval")) {
    fail("a time of type \"", type, "\" is not known here: \"right\", \"interval\" and \"interval2\" are", kind = "unsupported")
  }
  y <- unclass(y)
  dimnames(y)[1L] <- list(NULL)
  if (type == "right") return(structure(cbind(time = y[, "time"], event = y[, "status"]), task = "survival"))
  status <- y[, "status"]
  ends <- cbind(low = ifelse(status == 2, NA, y[, "time1"]), high = ifelse(status == 3, y[, "time2"], y[, "time1"]))
  ends[status %in% 0, "high"] <- NA
  structure(ends, task = "interval")
}

# The response as a list of columns: one factor, or numbers; NULL when there is none.
as_response <- function(y, rows) {
  if (is.null(y)) return(NULL)
  y <- times_of(y)
  both <- if (identical(attr(y, "task"), "interval")) `&` else `|`
  if (is.data.frame(y)) y <- if (length(y) == 1L) y[[1L]] else as.matrix(y)
  if (NROW(y) != rows) fail("x has ", rows, " rows and the response has ", NROW(y))
  if (is.character(y) || is.logical(y)) y <- factor(y)
  if (is.factor(y) && is.null(dim(y))) {
    columns <- list(factor(y))
  } else if (is.numeric(y)) {
    y <- as.matrix(y)
    columns <- lapply(seq_len(ncol(y)), function(j) as.double(y[, j]))
  } else {
    fail("the response is of class ", class(y)[1L], ": it is numbers, a matrix of numbers, a factor, texts, logicals or Surv()")
  }
  missing <- Reduce(both, lapply(columns, is.na))
  if (any(missing)) {
    fail("the response is missing in ", sum(missing), " of ", rows, " rows (the first is row ", which(missing)[1L],
         "): leave them out, with na.action = na.omit say", kind = "data")
  }
  columns
}

# What the columns of the response are called, `name` when it has one column.
response_names <- function(y, name) {
  if (is.null(y)) return(NULL)
  if (NCOL(y) == 1L) return(name)
  if (!is.null(attr(y, "task"))) return(paste(name, colnames(y)))
  if (is.null(colnames(y))) paste0("y", seq_len(ncol(y))) else colnames(y)
}

make_table <- function(features, response = NULL, response_names = NULL, weights = NULL, model = NULL, group = NULL) {
  names <- features$names
  if (!is.null(names)) names <- c(names, response_names)
  checked(.Call(C_table, features$columns, response, names, as.double(features$rows), model, weights, group))
}

check_weights <- function(weights, rows) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights) || length(weights) != rows) {
    fail("weights are ", rows, " numbers, one a row, not ", shown(weights))
  }
  wrong <- which(!(is.finite(weights) & weights >= 0))
  if (length(wrong) > 0L) {
    fail("weights are finite numbers from 0, and that of row ", wrong[1L], " is ", weights[wrong[1L]],
         kind = "data")
  }
  as.double(weights)
}

# Which rows belong together, as numbers of the different values.
check_group <- function(group, rows) {
  if (is.null(group)) return(NULL)
  if (!is.atomic(group) || length(group) != rows) fail("group is ", rows, " values, one a row, not ", shown(group))
  if (anyNA(group)) fail("the group of row ", which(is.na(group))[1L], " is missing", kind = "data")
  match(group, unique(group))
}

# A problem is a table with what R wants to know of it later.
problem_of <- function(features, y, name, weights, row_names, terms = NULL, na.action = NULL, group = NULL) {
  weights <- check_weights(weights, features$rows)
  group <- check_group(group, features$rows)
  y <- times_of(y)
  response <- as_response(y, features$rows)
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  names <- response_names(y, name)
  list(
    table = make_table(features, response, names, weights, group = group),
    features = features, group = group, y = y, y_names = names, x_names = features$names,
    numeric = !is.null(response) && !is.factor(response[[1L]]), rows = features$rows, weights = weights,
    row_names = row_names, terms = terms, na.action = na.action
  )
}

# That of a call with x and y.
matrix_problem <- function(x, y, weights = NULL, group = NULL) {
  features <- as_features(x)
  name <- setdiff(c("y", "response", "the response"), features$names)[1L]
  problem_of(features, y, name, weights, if (is.data.frame(x)) attr(x, "row.names") else rownames(x),
             group = group)
}

no_offset <- "an offset has no place in a reduction: subtract it from the response first"

# Which variables of a model frame are predictors; refuses what a formula can say and a reduction cannot do.
predictors_of <- function(terms) {
  if (!is.null(attr(terms, "offset"))) fail(no_offset)
  crossed <- attr(terms, "order") > 1L
  if (any(crossed)) {
    label <- attr(terms, "term.labels")[crossed][1L]
    fail("the formula has the interaction ", label, ": nonlinear methods find interactions themselves; for a product ",
         "of numbers as a column of its own write I(", gsub(":", " * ", label, fixed = TRUE), ")")
  }
  factors <- attr(terms, "factors")
  if (length(factors) == 0L) fail("the formula names no variables to predict from")
  used <- unname(rowSums(factors) > 0)
  used[attr(terms, "response")] <- FALSE
  which(used)
}

# That of a call with a formula: call is the caller's match.call(), env where it was made.
formula_problem <- function(call, env) {
  if ("offset" %in% names(call[["..."]])) fail(no_offset)
  keep <- match(c("formula", "data", "subset", "weights", "group", "na.action"), names(call), 0L)
  frame_call <- call[c(1L, keep)]
  frame_call[[1L]] <- quote(stats::model.frame)
  if (is.null(frame_call$na.action)) frame_call$na.action <- quote(stats::na.pass)
  frame <- as_stonet_error(eval(frame_call, env))
  terms <- attr(frame, "terms")
  used <- predictors_of(terms)
  has_response <- attr(terms, "response") > 0L
  problem_of(
    as_features(frame[used], nrow(frame)), if (has_response) stats::model.response(frame),
    if (has_response) names(frame)[attr(terms, "response")], stats::model.weights(frame), attr(frame, "row.names"),
    terms, attr(frame, "na.action"), frame[["(group)"]]
  )
}

# Rows for a model that was fitted; response: whether theirs is wanted too.
new_problem <- function(object, newdata, y = NULL, response = FALSE, group = NULL, quiet = FALSE) {
  known <- if (is.null(object$terms)) object$x_names else all.vars(stats::delete.response(object$terms))
  twice <- if (is.data.frame(newdata)) intersect(names(newdata)[duplicated(names(newdata))], known)
  if (length(twice) > 0L) fail("newdata has two columns '", twice[1L], "': rename or remove one", kind = "data")
  if (is.null(object$terms)) {
    if (response && is.null(y)) y <- response_among(object, newdata)
    if (is.data.frame(newdata)) newdata <- newdata[setdiff(names(newdata), object$y_names)]
    features <- as_features(newdata)
  } else {
    if (!is.data.frame(newdata)) {
      fail("newdata is a data frame with the variables of the formula, not of class ", class(newdata)[1L])
    }
    terms <- with_splines(if (response) object$terms else stats::delete.response(object$terms))
    frame <- as_stonet_error(stats::model.frame(terms, newdata, na.action = stats::na.pass))
    features <- as_features(frame[predictors_of(terms)], nrow(frame))
    if (response) y <- stats::model.response(frame)
  }
  features$columns <- as_ranks(features$columns, object$xlevels)
  table <- make_table(features, if (response) as_response(y, features$rows), object$y_names, model = pointer_of(object),
                      group = check_group(group, features$rows))
  # tells of levels without a training row
  in_run(function(run) .Call(C_check_rows, pointer_of(object), table, run), run_of(1, 1, quiet = quiet))
  list(
    table = table,
    rows = features$rows, y = y, row_names = if (is.data.frame(newdata)) attr(newdata, "row.names") else rownames(newdata)
  )
}

# The rows of the fit, which it keeps unless model = FALSE.
training_problem <- function(object) {
  kept <- check_stonet(object)$model
  if (is.null(kept)) fail("this needs the rows of the fit, which the model has not kept: give newdata, or fit with model = TRUE")
  rows <- kept$features$rows
  response <- if (!is.null(object$y)) as_response(object$y, rows)
  table <- make_table(kept$features, response, object$y_names, kept$weights, pointer_of(object), kept$group)
  list(table = table, rows = rows, y = object$y, row_names = object$row_names, group = kept$group)
}

rows_or_training <- function(object, newdata, y = NULL, ...) {
  if (is.null(newdata)) training_problem(object) else new_problem(object, newdata, y, ...)
}

# Numbers where the fit had an ordered factor are ranks, from 1.
as_ranks <- function(columns, levels) {
  for (name in intersect(names(levels), if (is.list(columns)) names(columns))) {
    ranks <- columns[[name]]
    if (!is.numeric(ranks)) next
    if (!all(ranks %in% c(NA, seq_along(levels[[name]])))) {
      fail("the column '", name, "' was ordered in the fit: give it as such, or as ranks from 1 to ", length(levels[[name]]))
    }
    columns[[name]] <- factor(levels[[name]][ranks], levels[[name]], ordered = TRUE)
  }
  columns
}

# The response of a model fitted without a formula: the columns of that name.
response_among <- function(object, newdata) {
  if (is.data.frame(newdata) && length(object$y_names) > 0L && all(object$y_names %in% names(newdata))) {
    return(if (length(object$y_names) == 1L) newdata[[object$y_names]] else newdata[object$y_names])
  }
  fail("this model was fitted without a formula: give the response of the rows as y")
}
