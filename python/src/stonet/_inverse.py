"""From Z back to X, for methods that learn it: principal components and the autoencoder."""
from __future__ import annotations

import numpy as np

from ._core import Float64Matrix, Model
from .errors import StonetUnsupportedError


def _from_components(model: Model, Z: Float64Matrix) -> Float64Matrix:
    """u = centre + Z B', B orthonormal."""
    tensors = model.tensors("method.centre", "method.direction")
    return np.asarray(tensors["method.centre"] + Z @ tensors["method.direction"].T)


def _from_bottleneck(model: Model, Z: Float64Matrix) -> Float64Matrix:
    """The second half of the network p - h - q - h - p, and out of its scaling: a constant column has factor 0."""
    names = ("w3", "b3", "w4", "b4", "mean", "factor")
    w3, b3, w4, b4, mean, factor = model.tensors(*(f"method.{name}" for name in names)).values()
    out = np.tanh(Z @ w3.T + b3) @ w4.T + b4
    return np.asarray(mean + np.divide(out, factor, out=np.zeros_like(out), where=factor != 0))


_WAYS = {"pca": _from_components, "autoencoder": _from_bottleneck}


def inverse(method: str, model: Model, Z: Float64Matrix) -> Float64Matrix:
    """The X that these Z stand for, in units of X; the features are u = (X - centre) factor."""
    if method not in _WAYS:
        raise StonetUnsupportedError(f"method '{method}' does not learn the way from Z back to X")
    scale = model.tensors("schema.centre", "schema.factor")
    if set(model.input_kinds().values()) != {"number"} or len(scale["schema.centre"]) != model.inputs:
        raise StonetUnsupportedError("there is no way back to columns of text, dates or levels: the way leads to numbers")
    if model.describe().get("curves", "none") != "none":
        raise StonetUnsupportedError("there is no way back to curves that were prepared: the way leads to the prepared ones")
    u = _WAYS[method](model, Z)
    factor = scale["schema.factor"]
    return np.asarray(scale["schema.centre"] + np.divide(u, factor, out=np.zeros_like(u), where=factor != 0))
