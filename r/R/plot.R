# Pictures, in base graphics; autoplot() methods make the same ones where ggplot2 is there.

colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")

# A colour for each row: by class, or from low to high.
row_colours <- function(y) {
  if (is.null(y)) return(colours[1L])
  if (!is.null(dim(y))) y <- y[, 1L]
  if (is.numeric(y)) {
    ramp <- grDevices::hcl.colors(64L, "viridis")
    return(ramp[cut(y, 64L, labels = FALSE)])
  }
  rep_len(colours, nlevels(factor(y)))[as.integer(factor(y))]
}

plot.stonet <- function(x, which = c("z", "training", "order"), axes = c(1, 2), ...) {
  switch(one_of(which[1L], c("z", "training", "order"), "which"),
    z = plot_z(x, axes, ...), training = plot_training(x, ...),
    order = {
      if (is.null(x$order)) fail("the dimension of this fit was not chosen from the data: dim = \"auto\" does that")
      plot(x$order, ...)
    }
  )
  invisible(x)
}

plot_z <- function(x, axes, ...) {
  training_rows(x)
  if (!is.numeric(axes) || anyNA(axes) || !all(axes %in% seq_len(1000L))) fail("axes are numbers of columns of Z, not ", shown(axes))
  if (max(axes) > x$dim && x$dim > 1L) fail("Z has ", x$dim, " columns, and axes asks for column ", max(axes))
  col <- row_colours(x$y)
  dots <- list(...)
  draw <- function(a, b, xlab, ylab) {
    own <- list(x = a, y = b, xlab = xlab, ylab = ylab, col = col, pch = 19, cex = 0.7)
    do.call(graphics::plot, utils::modifyList(own, dots))
  }
  if (x$dim == 1L || length(axes) == 1L) {
    k <- if (x$dim == 1L) 1L else axes
    if (is.null(x$y)) {
      graphics::hist(x$z[, k], xlab = paste0("z", k), main = "")
    } else {
      y <- if (is.null(dim(x$y))) x$y else x$y[, 1L]
      draw(x$z[, k], if (is.numeric(y)) y else as.integer(factor(y)), paste0("z", k), x$y_names[1L])
    }
  } else {
    draw(x$z[, axes[1L]], x$z[, axes[2L]], paste0("z", axes[1L]), paste0("z", axes[2L]))
    if (x$classifier) graphics::legend("topright", legend = levels(factor(x$y)), col = rep_len(colours, x$outputs), pch = 19, bty = "n")
  }
}

# The losses of the training, pass by pass; what comes after it is left out.
training_curve <- function(x) {
  history <- x$history
  if (!is.null(history$stage)) history <- history[history$stage == "training", ]
  losses <- grep("loss", names(history), value = TRUE)
  losses <- losses[vapply(history[losses], function(column) is.numeric(column) && any(is.finite(column)), NA)]
  if (length(losses) == 0L) {
    fail("the method ", x$method, " is not trained pass by pass: there is no curve", kind = "unsupported")
  }
  list(epoch = history$epoch, losses = history[losses])
}

plot_training <- function(x, ...) {
  curve <- training_curve(x)
  graphics::matplot(curve$epoch, as.matrix(curve$losses), type = "l", lty = 1, col = colours, xlab = "epoch",
                    ylab = "loss", ...)
  if (length(curve$losses) > 1L) {
    graphics::legend("topright", legend = names(curve$losses), col = colours[seq_along(curve$losses)], lty = 1, bty = "n")
  }
}

plot.stonet_order <- function(x, ...) {
  name <- setdiff(names(x$table), "k")[1L]
  graphics::plot(x$table$k, x$table[[name]], type = "b", pch = 19, xlab = "k", ylab = name, ...)
  graphics::abline(v = x$chosen, lty = 2)
  invisible(x)
}

plot.stonet_importance <- function(x, n = 20L, ...) {
  top <- as.data.frame(x)
  top <- utils::head(top[order(-top$importance), , drop = FALSE], n)
  top <- top[rev(seq_len(nrow(top))), ]
  bars <- graphics::barplot(top$importance, names.arg = top$variable, horiz = TRUE, las = 1, col = colours[1L],
                            xlab = paste0("importance (", attr(x, "kind"), ")"), ...)
  some <- is.finite(top$se) & top$se > 0
  if (any(some)) {
    graphics::segments((top$importance - top$se)[some], bars[some], (top$importance + top$se)[some], bars[some])
  }
  invisible(x)
}

plot.stonet_results <- function(x, ...) {
  table <- x$table
  label <- trimws(paste0(table$method, " ", table$dim))
  graphics::dotchart(table$mean, labels = label, xlab = paste("held-out", x$criterion), pch = 19, ...)
  rows <- seq_len(nrow(table))
  some <- is.finite(table$se)
  if (any(some)) graphics::segments((table$mean - table$se)[some], rows[some], (table$mean + table$se)[some], rows[some])
  invisible(x)
}

autoplot.stonet <- function(object, which = c("z", "training", "order"), axes = c(1, 2), ...) {
  which <- one_of(which[1L], c("z", "training", "order"), "which")
  if (which == "order") {
    if (is.null(object$order)) fail("the dimension of this fit was not chosen from the data: dim = \"auto\" does that")
    return(autoplot.stonet_order(object$order))
  }
  if (which == "training") {
    curve <- training_curve(object)
    long <- utils::stack(curve$losses)
    long$epoch <- rep(curve$epoch, length(curve$losses))
    return(ggplot2::ggplot(long, ggplot2::aes(.data$epoch, .data$values, colour = .data$ind)) + ggplot2::geom_line() +
             ggplot2::labs(y = "loss", colour = NULL))
  }
  training_rows(object)
  if (max(axes) > object$dim && object$dim > 1L) fail("Z has ", object$dim, " columns, and axes asks for column ", max(axes))
  y <- if (is.null(dim(object$y))) object$y else object$y[, 1L]
  if (is.character(y) || is.logical(y)) y <- factor(y)
  across <- if (object$dim == 1L) 1L else axes[1L]
  frame <- data.frame(a = object$z[, across])
  up <- "z"
  if (object$dim > 1L && length(axes) > 1L) {
    frame$b <- object$z[, axes[2L]]
    up <- paste0("z", axes[2L])
  } else {
    frame$b <- if (is.null(y)) 0 else y
    up <- object$y_names[1L]
  }
  if (!is.null(y)) frame$y <- y
  picture <- ggplot2::ggplot(frame, ggplot2::aes(.data$a, .data$b)) + ggplot2::labs(x = paste0("z", across), y = up)
  if (is.null(y)) return(picture + ggplot2::geom_point())
  picture + ggplot2::geom_point(ggplot2::aes(colour = .data$y)) + ggplot2::labs(colour = object$y_names[1L])
}

autoplot.stonet_order <- function(object, ...) {
  name <- setdiff(names(object$table), "k")[1L]
  frame <- data.frame(k = object$table$k, value = object$table[[name]])
  ggplot2::ggplot(frame[is.finite(frame$value), ], ggplot2::aes(.data$k, .data$value)) + ggplot2::geom_line() + ggplot2::geom_point() +
    ggplot2::geom_vline(xintercept = object$chosen, linetype = 2) + ggplot2::labs(y = name)
}

autoplot.stonet_importance <- function(object, n = 20L, ...) {
  top <- as.data.frame(object)
  top <- utils::head(top[order(-top$importance), , drop = FALSE], n)
  top$variable <- factor(top$variable, levels = rev(top$variable))
  ggplot2::ggplot(top, ggplot2::aes(.data$importance, .data$variable)) + ggplot2::geom_col() + ggplot2::labs(y = NULL)
}

utils::globalVariables(".data")
