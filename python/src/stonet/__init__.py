"""stonet: nonlinear sufficient dimension reduction for scikit-learn.

From many variables X and a response y to the few numbers Z that keep what X says about y. Names are loaded when
they are first used, so that ``import stonet`` costs little.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._names import ESTIMATORS as _ESTIMATORS

if TYPE_CHECKING:
    from . import datasets as datasets, errors as errors, plot as plot  # "as": also for those who import this
    from ._answers import CoefTable as CoefTable, ImportanceResult as ImportanceResult, OrderResult as OrderResult
    from ._answers import importance as importance, order as order
    from ._files import load as load
    from ._generated import *  # noqa: F403
    from ._pool import pool_estimates as pool_estimates
    from .errors import StonetError as StonetError, StonetWarning as StonetWarning
    from .independence import IndependenceTestResult as IndependenceTestResult
    from .independence import SufficiencyTestResult as SufficiencyTestResult, independence_test as independence_test

    __version__: str

_HOME = {
    **{name: "_generated" for name in _ESTIMATORS},
    "load": "_files",
    "order": "_answers",
    "importance": "_answers",
    "OrderResult": "_answers",
    "ImportanceResult": "_answers",
    "CoefTable": "_answers",
    "pool_estimates": "_pool",
    "independence_test": "independence",
    "IndependenceTestResult": "independence",
    "SufficiencyTestResult": "independence",
    "StonetError": "errors",
    "StonetWarning": "errors",
}
_MODULES = ("datasets", "errors", "plot")

__all__ = [  # noqa: F822 (loaded on first use)
    *_ESTIMATORS,
    "load",
    "order",
    "importance",
    "OrderResult",
    "ImportanceResult",
    "CoefTable",
    "pool_estimates",
    "independence_test",
    "IndependenceTestResult",
    "SufficiencyTestResult",
    "StonetError",
    "StonetWarning",
    *_MODULES,
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from ._library import lib

        return lib.stonet_version().decode()
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'stonet' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
