"""From a model file back to an estimator."""
from __future__ import annotations

import os
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from . import _generated
from ._base import BaseReduction
from ._core import Model
from .errors import StonetUnsupportedError


Kind = TypeVar("Kind", bound=BaseReduction)


def _class_for(method: str, is_classifier: bool) -> type[BaseReduction]:
    if method == "stonet":
        return _generated.StoNetClassifier if is_classifier else _generated.StoNetRegressor
    for estimator in _generated.ESTIMATORS:
        if estimator._method == method:
            return estimator
    raise StonetUnsupportedError(f"the model is of method '{method}', which has no estimator in Python")


def _labels(texts: list[str]) -> npt.NDArray[Any]:
    """Whole numbers when all labels are, else numbers, else text: as the response had them. No two become the same."""
    for kind in (np.int64, np.float64):
        try:
            numbers = np.array([kind(text) for text in texts])
        except ValueError:
            continue
        except OverflowError:  # a floating point number would lose digits
            break
        # Python reads 1_0 as 10
        if "_" not in "".join(texts) and np.isfinite(numbers).all() and len(np.unique(numbers)) == len(texts):
            return numbers
    return np.array(texts)


@overload
def load(path: str | os.PathLike[str], kind: type[Kind]) -> Kind: ...


@overload
def load(path: str | os.PathLike[str], kind: None = None) -> Any: ...


def load(path: str | os.PathLike[str], kind: type[BaseReduction] | None = None) -> Any:
    """Read a model file, written by ``save`` or by the command line, as a fitted estimator.

    Models of the command line that predict by a learner on Z (method gsir with logistic regression, say) come
    back as transformers: they give Z, and the prediction is the next step of a Pipeline.

    Parameters
    ----------
    path : path-like
    kind : class, optional
        The estimator that the file must be of, ``stonet.StoNetClassifier`` say: for programs that are checked by their
        types. A file of another one is refused.
    """
    model = Model.load(path)
    about = model.describe()
    found = _class_for(about["method"], model.is_classifier)
    if kind is not None and not issubclass(found, kind):
        raise ValueError(f"{os.fspath(path)} is a {found.__name__}, not a {kind.__name__}")
    common = {"n_components": model.dim, "scale": about["scale"], "random_state": about["seed"] % 2**64}  # JSON has a sign
    estimator: BaseReduction = found(**common)
    told = {**about["settings"], "curves": about["curves"], "missing": about["missing"]["way"], "task": about["task"]}
    estimator.set_params(**{name: told[name] for name in found._get_param_names() if name in told})
    estimator.n_features_in_ = model.inputs
    names = about["inputs"]
    if names != [f"x{j + 1}" for j in range(len(names))]:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if isinstance(estimator, _generated.StoNetClassifier):
        estimator.classes_ = _labels(model.class_labels())
        estimator.task_ = about["task"]
    if isinstance(estimator, _generated.StoNetRegressor):
        estimator._one_output = model.outputs == 1
        estimator.task_ = about["task"]
    estimator._from_file = True
    estimator._keep(model)
    return estimator
