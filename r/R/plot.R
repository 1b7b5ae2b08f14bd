# Pictures. Each answer says what its picture is, once; plot() draws it in base graphics, autoplot() by ggplot2.

colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")

# type: "points", "lines", "bars" or "dots"; frame has x, y and may have se (of x) and colour; line: a diagonal ("equal"),
# or where a vertical line stands.
picture <- function(type, x, y, xlab, ylab, colour = NULL, legend = NULL, se = NULL, line = NULL) {
  frame <- data.frame(x = x, y = y)
  frame$colour <- colour
  frame$se <- se
  structure(list(type = type, frame = frame, xlab = xlab, ylab = ylab, legend = legend, line = line), class = "stonet_picture")
}

plot.stonet_picture <- function(x, ...) {
  frame <- x$frame
  classes <- if (!is.null(frame$colour) && !is.numeric(frame$colour)) factor(frame$colour)
  col <- if (is.null(frame$colour)) colours[1L]
         else if (is.null(classes)) grDevices::hcl.colors(64L, "viridis")[cut(frame$colour, 64L, labels = FALSE)]
         else rep_len(colours, nlevels(classes))[as.integer(classes)]
  own <- list(xlab = x$xlab, ylab = x$ylab)
  draw <- function(call, ...) do.call(call, utils::modifyList(c(list(...), own), more))
  more <- list(...)
  if (x$type == "points") {
    y <- if (is.numeric(frame$y)) frame$y else as.integer(factor(frame$y))
    draw(graphics::plot, x = frame$x, y = y, col = col, pch = 19, cex = 0.7)
  } else if (x$type == "lines") {
    draw(graphics::plot, x = frame$x, y = frame$y, type = "n")
    for (part in split(seq_len(nrow(frame)), if (is.null(classes)) rep(1, nrow(frame)) else classes)) {
      graphics::lines(frame$x[part], frame$y[part], col = col[part[1L]], type = "b", pch = 19, cex = 0.7)
    }
  } else { # the first row on top
    at <- rev(seq_len(nrow(frame)))
    own$ylab <- NULL
    if (x$type == "bars") at <- draw(graphics::barplot, height = rev(frame$x), names.arg = rev(as.character(frame$y)), horiz = TRUE, las = 1,
                                     col = colours[1L])[at]
    else draw(graphics::dotchart, x = rev(frame$x), labels = rev(as.character(frame$y)), pch = 19)
    some <- which(is.finite(frame$se) & frame$se > 0)
    if (length(some) > 0L) graphics::segments((frame$x - frame$se)[some], at[some], (frame$x + frame$se)[some], at[some])
  }
  if (identical(x$line, "equal")) graphics::abline(0, 1, lty = 2) else if (!is.null(x$line)) graphics::abline(v = x$line, lty = 2)
  if (nlevels(classes) > 1L) graphics::legend("topright", legend = levels(classes), col = rep_len(colours, nlevels(classes)), pch = 19, bty = "n")
  invisible(x)
}

autoplot.stonet_picture <- function(object, ...) {
  frame <- object$frame
  if (object$type %in% c("bars", "dots")) frame$y <- factor(frame$y, levels = rev(unique(frame$y)))
  if (is.character(frame$colour) || is.logical(frame$colour)) frame$colour <- factor(frame$colour)
  made <- ggplot2::ggplot(frame, ggplot2::aes(.data$x, .data$y)) +
    ggplot2::labs(x = object$xlab, y = if (object$type %in% c("bars", "dots")) NULL else object$ylab)
  if (!is.null(frame$colour)) made <- made + ggplot2::aes(colour = .data$colour) + ggplot2::labs(colour = object$legend)
  made <- made + switch(object$type, points = list(ggplot2::geom_point()), lines = list(ggplot2::geom_line(), ggplot2::geom_point()),
                        bars = list(ggplot2::geom_col()), dots = list(ggplot2::geom_point()))
  if (any(is.finite(frame$se))) {
    made <- made + ggplot2::geom_errorbar(ggplot2::aes(xmin = .data$x - .data$se, xmax = .data$x + .data$se), width = 0.2)
  }
  if (identical(object$line, "equal")) made + ggplot2::geom_abline(linetype = 2)
  else if (!is.null(object$line)) made + ggplot2::geom_vline(xintercept = object$line, linetype = 2)
  else made
}

# ---- what the picture of an answer is ----

picture_of <- function(x, ...) UseMethod("picture_of")

picture_of.stonet <- function(x, which = c("z", "training", "order", "calibration"), axes = c(1, 2), newdata = NULL, y = NULL) {
  switch(one_of(which[1L], eval(formals()$which), "which"),
    z = picture_z(x, axes), training = picture_training(x), calibration = picture_calibration(x, newdata, y),
    order = {
      if (is.null(x$order)) fail("the dimension of this fit was not chosen from the data: dim = \"auto\" does that")
      picture_of(x$order)
    }
  )
}

picture_z <- function(x, axes) {
  training_rows(x)
  if (!is.numeric(axes) || anyNA(axes) || !all(axes %in% seq_len(1000L))) fail("axes are numbers of columns of Z, not ", shown(axes))
  if (max(axes) > x$dim && x$dim > 1L) fail("Z has ", x$dim, " columns, and axes asks for column ", max(axes))
  if (x$dim == 1L) axes <- 1L
  y <- if (is.null(dim(x$y))) x$y else x$y[, 1L]
  up <- if (length(axes) > 1L) x$z[, axes[2L]] else if (is.null(y)) 0 else y
  ylab <- if (length(axes) > 1L) paste0("z", axes[2L]) else if (is.null(y)) "" else x$y_names[1L]
  picture("points", x$z[, axes[1L]], up, paste0("z", axes[1L]), ylab, colour = y, legend = x$y_names[1L])
}

# The losses of the training, pass by pass; what comes after it is left out.
picture_training <- function(x) {
  history <- x$history
  if (!is.null(history$stage)) history <- history[history$stage == "training", ]
  losses <- grep("loss", names(history), value = TRUE)
  losses <- losses[vapply(history[losses], function(column) is.numeric(column) && any(is.finite(column)), NA)]
  if (length(losses) == 0L) {
    fail("the method ", x$method, " is not trained pass by pass: there is no curve", kind = "unsupported")
  }
  long <- utils::stack(history[losses])
  picture("lines", rep(history$epoch, length(losses)), long$values, "epoch", "loss", colour = as.character(long$ind))
}

# Classes: how often the most probable one is right, by its probability. Numbers: how many responses the intervals hold.
picture_calibration <- function(x, newdata, y) {
  if (!x$calibrated) fail("this model is not calibrated: calibrate() does that")
  problem <- rows_or_training(x, newdata, y, response = TRUE)
  tell_met(x, problem, FALSE)
  if (x$classifier) {
    p <- predicted(x, problem, "mean")
    top <- p[cbind(seq_len(nrow(p)), max.col(p, "first"))]
    bin <- cut(top, seq(0, 1, 0.1), include.lowest = TRUE)
    right <- as.character(most_probable(x, p)) == as.character(problem$y)
    said <- tapply(top, bin, mean)
    return(picture("lines", said[!is.na(said)], tapply(right, bin, mean)[!is.na(said)], "probability", "share that is right", line = "equal"))
  }
  levels <- seq(0.1, 0.9, 0.1)
  held <- vapply(levels, function(level) checked(.Call(C_score, pointer_of(x), problem$table, level, FALSE, x$threads))$coverage, 0)
  picture("lines", levels, held, "level", "share of responses in their interval", line = "equal")
}

picture_of.stonet_order <- function(x, ...) {
  name <- setdiff(names(x$table), "k")[1L]
  some <- is.finite(x$table[[name]])
  picture("lines", x$table$k[some], x$table[[name]][some], "k", name, line = x$chosen)
}

picture_of.stonet_importance <- function(x, n = 20L, ...) {
  top <- as.data.frame(x)
  top <- utils::head(top[order(-top$importance), , drop = FALSE], n)
  picture("bars", top$importance, top$variable, paste0("importance (", attr(x, "kind"), ")"), "", se = top$se)
}

picture_of.stonet_results <- function(x, ...) {
  label <- make.unique(trimws(paste0(x$table$method, " ", x$table$dim)))
  picture("dots", x$table$mean, label, paste("held-out", x$criterion), "", se = x$table$se)
}

picture_of.stonet_coef <- function(x, column = 1L, ...) {
  errors <- paste0(colnames(x)[column], "_se")
  picture("dots", unclass(x)[, column], rownames(x), colnames(x)[column], "", line = 0,
          se = if (errors %in% colnames(x)) unclass(x)[, errors])
}

# ---- methods ----

plot.stonet <- function(x, which = c("z", "training", "order", "calibration"), axes = c(1, 2), newdata = NULL, y = NULL, ...) {
  plot(picture_of(x, which, axes, newdata, y), ...)
  invisible(x)
}

plot_answer <- function(x, ...) {
  plot(picture_of(x), ...)
  invisible(x)
}

plot.stonet_order <- plot.stonet_results <- plot_answer

plot.stonet_importance <- function(x, n = 20L, ...) {
  plot(picture_of(x, n), ...)
  invisible(x)
}

plot.stonet_coef <- function(x, column = 1L, ...) {
  plot(picture_of(x, column), ...)
  invisible(x)
}

autoplot_answer <- function(object, ...) autoplot.stonet_picture(picture_of(object, ...))

autoplot.stonet <- autoplot.stonet_order <- autoplot.stonet_importance <- autoplot_answer
autoplot.stonet_results <- autoplot.stonet_coef <- autoplot_answer

utils::globalVariables(".data")
