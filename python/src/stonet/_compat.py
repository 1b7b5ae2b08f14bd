"""What is called differently from version to version of scikit-learn, 1.2 to the newest, and of Python, 3.9 to the newest."""
from __future__ import annotations

import sys
from typing import Any

import sklearn
from sklearn.utils import validation

if sys.version_info >= (3, 10):
    from dataclasses import dataclass as dataclass
else:  # all arguments may be given by their places there

    def dataclass(kw_only: bool = False, **how: bool) -> Any:
        import dataclasses

        return dataclasses.dataclass(**how)


_VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
_FINITE = "ensure_all_finite" if _VERSION >= (1, 6) else "force_all_finite"


def validated(estimator: Any, *data: Any, finite: bool | str = True, **how: Any) -> Any:
    """X, or X and y, checked as scikit-learn does; the number and names of the features are kept or compared."""
    how[_FINITE] = finite
    if hasattr(validation, "validate_data"):
        return validation.validate_data(estimator, *data, **how)
    return estimator._validate_data(*data, **how)


def check_columns(estimator: Any, X: Any, reset: bool) -> None:
    """The same for the features of a table that is no matrix."""
    if hasattr(validation, "_check_feature_names"):
        validation._check_feature_names(estimator, X, reset=reset)
        validation._check_n_features(estimator, X, reset=reset)
    else:
        estimator._check_feature_names(X, reset=reset)
        estimator._check_n_features(X, reset=reset)
