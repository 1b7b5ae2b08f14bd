"""Tests of independence, plain and conditional."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _library
from ._core import filled, first_missing
from ._library import check, lib
from ._run import RunContext
from ._show import Shown

if TYPE_CHECKING:
    from ._core import Float64Matrix, Model, Table

TESTS = ("auto", "rit", "rcit", "rcot", "dcor", "gcm")
NULL_LAWS = ("lpb4", "hbe", "gamma", "chi2", "perm")


class _IndependenceFields(NamedTuple):
    statistic: float
    p_value: float
    test: str
    n: int


class IndependenceTestResult(_IndependenceFields, Shown):
    """Outcome of a test; a small p-value speaks against independence."""


class _SufficiencyFields(NamedTuple):
    statistic: float
    p_value: float
    test: str
    n: int
    prediction_p_value: float
    explained_by_z: float
    explained_by_z_and_x: float
    lost: float


class SufficiencyTestResult(_SufficiencyFields, Shown):
    """Whether Z keeps all that X says about the response; small p-values say that it does not.

    ``p_value`` is that of the test of independence given Z, ``prediction_p_value`` that of X adding nothing to Z for a
    learner on held-out rows; ``lost`` is the share of the variation of the response that X explains there and Z does
    not.
    """


def _matrix(values: Any, name: str) -> Float64Matrix:
    """Columns of numbers; a text column becomes the indicators of its values."""
    array = np.asarray(filled(values))
    array = array.reshape(-1, 1) if array.ndim == 1 else array
    if array.ndim != 2:
        raise ValueError(f"{name} is a column or a table of columns, and this has {array.ndim} dimensions")
    if array.dtype.kind in "OUS":
        parts = [_numbers_or_indicators(array[:, j], name) for j in range(array.shape[1])]
        array = np.concatenate(parts, axis=1)
    return np.ascontiguousarray(array, dtype=np.float64)


def _numbers_or_indicators(column: Any, name: str) -> Any:
    missing = first_missing(column)
    if missing is not None:
        raise ValueError(f"row {missing + 1} of {name} has no value: leave out the rows that lack some")
    if all(isinstance(value, (int, float, np.number)) for value in column):
        return column.astype(np.float64).reshape(-1, 1)
    return (column.reshape(-1, 1) == np.unique(column)).astype(np.float64)


def _choice(value: str, known: tuple[str, ...], name: str) -> int:
    if value not in known:
        raise ValueError(f"{name} is one of {', '.join(known)}, not {value!r}")
    return known.index(value)


def _result(found: _library.IndependenceResult) -> IndependenceTestResult:
    return IndependenceTestResult(found.statistic, found.p_value, TESTS[found.test], found.n)


def independence_test(
    x: Any,
    y: Any,
    z: Any = None,
    *,
    test: str = "auto",
    null_law: str = "lpb4",
    features: int = 5,
    condition_features: int = 0,
    repeats: int = 1,
    permutations: int = 1000,
    random_state: int = 1,
    n_jobs: int | None = None,
) -> IndependenceTestResult:
    """Test whether x and y are independent, given z when there is one.

    Parameters
    ----------
    x, y, z : array-like of shape (n_samples,) or (n_samples, n_columns)
        Columns of text become indicators of their values.
    test : {"auto", "rit", "rcit", "rcot", "dcor", "gcm"}
        Random Fourier features (rit; given z rcit or the plainer rcot), covariances of residuals given z (gcm) or
        distance correlation (dcor). auto: rit, or gcm with z.
    null_law : {"lpb4", "hbe", "gamma", "chi2", "perm"}
        Law of the statistic under independence. Permutations (perm) replace the others where few rows decide: rare
        values, few rows. Not used by dcor.
    features, condition_features : int
        Random features of x and of y, and of z (0: a number that suits its columns).
    repeats : int
        Repeat with other features and combine the p-values.
    permutations : int
        Permutations, wherever a test permutes; no such p-value is below 1 / (permutations + 1).
    random_state : int
        Seed; the same one gives the same p-value for any number of threads.
    n_jobs : int or None
        Threads; None and -1 are all cores.

    Examples
    --------
    >>> import numpy as np, stonet
    >>> x = np.random.default_rng(1).normal(size=500)
    >>> stonet.independence_test(x, x**2).p_value < 0.001
    True
    """
    columns, response = _matrix(x, "x"), _matrix(y, "y")
    given = None if z is None else _matrix(z, "z")
    for name, other in (("y", response), ("z", given)):
        if other is not None and len(other) != len(columns):
            raise ValueError(f"x has {len(columns)} rows and {name} has {len(other)}")
    options = _library.IndependenceOptions(
        test=_choice(test, TESTS, "test"), null_law=_choice(null_law, NULL_LAWS, "null_law"), features=features,
        condition_features=condition_features, repeats=repeats, permutations=permutations,
    )
    sides = _library.Sides(
        n=len(columns), dx=columns.shape[1], dy=response.shape[1], dz=0 if given is None else given.shape[1],
        x=columns.ctypes.data, y=response.ctypes.data, z=None if given is None else given.ctypes.data,
    )
    found = _library.IndependenceResult()
    with RunContext(int(random_state), n_jobs) as run:
        check(
            lib.stonet_independence(ctypes.byref(sides), ctypes.byref(options), run.pointer, ctypes.byref(found))
        )
    return _result(found)


def sufficiency_result(model: Model, table: Table, run: RunContext, rows: int) -> SufficiencyTestResult:
    """The library's two looks at whether the response depends on the features given the model's Z."""
    found = _library.SufficiencyResult()
    check(lib.stonet_sufficiency(model.handle, table.handle, None, run.pointer, ctypes.byref(found)))
    gain = found.gain
    return SufficiencyTestResult(
        found.statistic, found.p_value, TESTS[found.test], rows, gain.p_value, gain.explained_z, gain.explained_zx,
        gain.explained_zx - gain.explained_z,
    )
