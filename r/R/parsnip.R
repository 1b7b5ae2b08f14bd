# The engine "stonet" for mlp() of package parsnip, made known as soon as parsnip is loaded.

.onLoad <- function(libname, pkgname) {
  if (isNamespaceLoaded("parsnip")) add_engine() else setHook(packageEvent("parsnip", "onLoad"), function(...) add_engine())
}

add_engine <- function() {
  of <- function(name) getExportedValue("parsnip", name)
  if ("stonet" %in% of("get_from_env")("mlp")$engine) return(invisible())
  for (mode in c("regression", "classification")) {
    of("set_model_engine")("mlp", mode, "stonet")
    of("set_dependency")("mlp", "stonet", "stonet", mode)
  }
  ours <- c(hidden_units = "hidden", penalty = "weight_decay", epochs = "epochs") # parsnip checks activation by engines it knows
  for (name in names(ours)) of("set_model_arg")("mlp", "stonet", name, ours[[name]], list(pkg = "dials", fun = name), FALSE)
  for (mode in c("regression", "classification")) {
    of("set_fit")("mlp", mode, "stonet", list(interface = "data.frame", protect = c("x", "y"), func = c(pkg = "stonet", fun = "stonet"),
                                              defaults = list()))
    of("set_encoding")("mlp", mode, "stonet", list(predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
                                                   allow_sparse_x = FALSE))
  }
  answer <- function(mode, type, ours, post = NULL) {
    of("set_pred")("mlp", mode, "stonet", type, list(pre = NULL, post = post, func = c(fun = "predict"), args = list(
      object = quote(object$fit), newdata = quote(new_data), type = ours)))
  }
  answer("regression", "numeric", "response")
  answer("regression", "raw", "response")
  answer("classification", "class", "class")
  answer("classification", "raw", "prob")
  answer("classification", "prob", "prob", function(x, object) as.data.frame(x))
}
