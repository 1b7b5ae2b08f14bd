"""The docstrings of the estimators, put together from what each says of its own and what it shares with others."""
from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

from ._base import BaseReduction
from ._networks import BaseStoNet, BaseStoNetClassifier

_ATTRIBUTES: tuple[tuple[type, str], ...] = (
    (BaseReduction, "n_features_in_ : int"),
    (BaseReduction, "feature_names_in_ : ndarray of str, when X was a DataFrame"),
    (BaseStoNetClassifier, "classes_ : ndarray, the labels in sorted order"),
    (BaseReduction, "order_ : OrderResult, when n_components was left to the data"),
    (BaseStoNet, "front_, effective_dim_, explained_share_, held_out_error_ : what the fit chose and found; see python.md"),
    (BaseReduction, "history_ : dict of arrays, the training history by epoch, or None when there is none"),
)


def _entries(text: str) -> dict[str, str]:
    """By their names: an entry begins where nothing is indented."""
    return {entry.split(" :")[0]: entry for entry in re.split(r"\n+(?=\S)", text.strip())}


def _arguments(estimator: type[BaseReduction]) -> list[str]:
    """The dimension, then its own, then what it shares with ever more of the others."""
    names = ["n_components"]
    for kind in estimator.__mro__:
        of_parents = {name for parent in kind.__bases__ for name in getattr(parent, "__dataclass_fields__", ())}
        names += [name for name in getattr(kind, "__dataclass_fields__", ()) if name not in {*of_parents, *names}]
    return names


def describe(estimators: Iterable[type[BaseReduction]], shared: str) -> None:
    """Give each estimator the docstring that scikit-learn's have: all arguments in their order, then the attributes."""
    common = _entries(shared)
    for estimator in estimators:
        if estimator.__doc__ is None:  # python -OO
            continue
        title, _, own = inspect.cleandoc(estimator.__doc__).partition("\n")
        said = {**common, **_entries(own)}
        arguments = _arguments(estimator)
        attributes = [text for base, text in _ATTRIBUTES if issubclass(estimator, base)]
        parts = [title, "", "Parameters", "----------", *(said[name] for name in arguments)]
        estimator.__doc__ = "\n".join([*parts, "", "Attributes", "----------", *attributes])
