"""How many dimensions, which variables, what Z is made of: the library's answers as Python values."""
from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from . import _library
from ._core import Float64Matrix, Model, SparseTable, Table, filled, made_spec
from ._library import check, last_error, lib, take_text
from ._run import RunContext
from ._show import Shown
from ._tables import ArrowTable, MixedTable, as_frame, is_arrow, is_mixed

if TYPE_CHECKING:
    from ._base import BaseReduction

Columns = dict[str, npt.NDArray[np.float64]]


class _OrderFields(NamedTuple):
    n_components: int  # 0: nothing in X was found to tell about y
    rule: str
    reason: str
    table: Columns  # "k" and what the rule looks at; NaN where there is nothing to say


class OrderResult(_OrderFields, Shown):
    """The dimension that was chosen, and the table it was chosen from."""

    def _columns(self) -> Columns:
        return self.table


class _ImportanceFields(NamedTuple):
    variables: list[str]
    importance: npt.NDArray[np.float64]
    se: npt.NDArray[np.float64]
    z: Float64Matrix  # variables x components: the share or derivative of each column of Z; no columns for the other kinds
    p_value: npt.NDArray[np.float64] | None = None  # "conditional": of y being independent of the variable given the others
    q_value: npt.NDArray[np.float64] | None = None  # those of a and less have a share of false ones of a at most


class ImportanceResult(_ImportanceFields, Shown):
    """One entry a variable, in the order of the columns of X."""

    def _columns(self) -> dict[str, Any]:
        of_z = {f"z{k + 1}": self.z[:, k] for k in range(self.z.shape[1])}
        return {"variable": self.variables, "importance": self.importance, "se": self.se, **of_z}


class _CoefFields(NamedTuple):
    kind: str  # "directions", or "gradients": means over the rows
    features: list[str]
    columns: Columns  # z1, z2, .. with z1_se, .. or direction1, ..
    shares: npt.NDArray[np.float64]  # of the trace of E[J'J], for direction1, ..


class CoefTable(_CoefFields, Shown):
    """What the columns of Z are made of, in units of X."""

    def _columns(self) -> dict[str, Any]:
        return {"feature": self.features, **self.columns}


def _numbers(rows: list[dict[str, Any]], name: str) -> npt.NDArray[np.float64]:
    """A column of JSON rows; null is NaN."""
    return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)


def _parsed(text: str | None) -> Any:
    if text is None:
        raise MemoryError(last_error())
    return json.loads(text)


def choose_order(
    method: str, settings: Mapping[str, object], table: Table, run: RunContext, **wishes: Any
) -> OrderResult:
    """stonet_order for a method with settings."""
    rule = ctypes.c_int()
    check(lib.stonet_order_rule_find(str(wishes.pop("rule", "auto")).encode(), ctypes.byref(rule)))
    options = _library.OrderOptions(rule=rule.value, **{"level": 0.05, **wishes})
    found = ctypes.c_void_p()
    with made_spec(method, settings) as spec:
        check(lib.stonet_order(spec, table.handle, ctypes.byref(options), run.pointer, ctypes.byref(found)))
    try:
        content = _parsed(take_text(lib.stonet_order_json(found)))
    finally:
        lib.stonet_order_free(found)
    rows = content["rows"]
    columns = {name: _numbers(rows, name) for name in rows[0]}
    return OrderResult(content["chosen"], content["rule"], content["reason"], columns)


def ask_importance(
    model: Model, table: Table, kind: str, repeats: int, train: Table | None, run: RunContext
) -> ImportanceResult:
    """stonet_importance of a model, asked about the rows of the table."""
    code = ctypes.c_int()
    check(lib.stonet_importance_kind_find(kind.encode(), ctypes.byref(code)))
    options = _library.ImportanceOptions(
        kind=code.value, repeats=repeats, train=None if train is None else train.handle
    )
    found = ctypes.c_void_p()
    check(lib.stonet_importance(model.handle, table.handle, ctypes.byref(options), run.pointer, ctypes.byref(found)))
    try:
        rows = _parsed(take_text(lib.stonet_importance_json(found)))
    finally:
        lib.stonet_importance_free(found)
    of_z = [name for name in rows[0] if name.startswith("z")] if rows else []
    tests = [_numbers(rows, name) for name in ("p_value", "q_value")] if rows and "p_value" in rows[0] else []
    z = np.array([[row[name] for name in of_z] for row in rows], dtype=np.float64).reshape(len(rows), len(of_z))
    return ImportanceResult(
        [row["variable"] for row in rows], _numbers(rows, "importance"), _numbers(rows, "se"), z, *tests
    )


def ask_coef(model: Model, table: Table | None, pairs: int, run: RunContext) -> CoefTable:
    """stonet_coef of a model."""
    options = _library.CoefOptions(pairs=pairs)
    found = ctypes.c_void_p()
    handle = None if table is None else table.handle
    check(lib.stonet_coef(model.handle, handle, ctypes.byref(options), run.pointer, ctypes.byref(found)))
    try:
        content = _parsed(take_text(lib.stonet_coef_json(found)))
    finally:
        lib.stonet_coef_free(found)
    rows = content["rows"]
    columns = {name: _numbers(rows, name) for name in rows[0] if name != "feature"}
    shares = np.array([np.nan if share is None else share for share in content["shares"]], dtype=np.float64)
    return CoefTable(content["kind"], [row["feature"] for row in rows], columns, shares)


def ask_report(model: Model, table: Table, name: str, importance: str, points: int, run: RunContext) -> str:
    """stonet_report of a model, about the rows of the table."""
    options = _library.ReportOptions(model_name=name.encode(), importance=importance.encode(), points=points)
    page = ctypes.c_void_p()
    check(lib.stonet_report(model.handle, table.handle, ctypes.byref(options), run.pointer, ctypes.byref(page)))
    text = take_text(page.value)
    if text is None:
        raise MemoryError(_library.last_error())
    return text


def _table_of(X: Any) -> Table:
    if is_arrow(X):
        return ArrowTable(X)
    frame = as_frame(X)
    if frame is not None and is_mixed(frame):
        return MixedTable(frame)
    if issparse(X):
        return SparseTable(X.tocsr())
    rows = np.asarray(filled(X))
    if rows.dtype.kind != "f":
        rows = rows.astype(np.float64)
    if rows.ndim != 2:
        raise ValueError(f"X is a table of rows and columns, and this has {rows.ndim} dimensions")
    return Table(rows, [str(name) for name in X.columns] if hasattr(X, "columns") else None)


def order(
    X: Any,
    y: Any = None,
    *,
    method: str = "stonet",
    rule: str = "auto",
    max_components: int = 0,
    level: float = 0.05,
    resamples: int = 0,
    folds: int = 0,
    groups: Any = None,
    settings: Mapping[str, object] | None = None,
    random_state: int = 1,
    n_jobs: int | None = None,
) -> OrderResult:
    """Say how many dimensions are enough.

    ``n_components="auto"`` of an estimator takes the word of the rule that suits its method.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Numbers or class labels; only rules for pca do without.
    method : str
        As on the command line: "stonet", "sir", "gsir", ...
    rule : {"auto", "cv", "ladle", "augmentation", "tests", "bic", "independence"}
        auto: ladle for pca, sir, save, dr and phd (augmentation when wide), else cv.
    max_components : int
        The largest dimension to look at; 0: as many as the rule and the data allow.
    level : float
        Of the tests.
    resamples, folds : int
        Of ladle, augmentation and permutation tests, and of cv; 0: the defaults.
    groups : array-like of shape (n_samples,), default=None
        Rows with the same value, such as those of one patient, stay together when rows are held out.
    settings : dict
        Settings of the method, by their names on the command line.
    random_state : int
        Seed; the same one gives the same table for any number of threads.
    n_jobs : int or None
        Threads; None and -1 are all cores.

    Returns
    -------
    OrderResult
        ``n_components`` (0 says that nothing in X was found to tell about y), ``rule``, ``reason``, ``table``.

    Examples
    --------
    >>> import numpy as np, stonet
    >>> X = np.random.default_rng(1).normal(size=(300, 4))
    >>> stonet.order(X, X[:, 0] + X[:, 1], method="sir").n_components
    1
    """
    from ._base import set_response

    table = _table_of(X)
    if y is not None:
        set_response(table, y)
    table.set_groups(groups)
    with RunContext(int(random_state), n_jobs) as run:
        return choose_order(
            method, settings or {}, table, run, rule=rule, max=max_components, level=level, resamples=resamples,
            folds=folds,
        )


def importance(
    estimator: BaseReduction,
    X: Any,
    y: Any,
    *,
    kind: str = "permutation",
    repeats: int = 0,
    train: tuple[Any, Any] | None = None,
    groups: Any = None,
    random_state: Any = 1,
) -> ImportanceResult:
    """Say which variables a fitted estimator uses: the same as ``estimator.importance``."""
    return estimator.importance(
        X, y, kind=kind, repeats=repeats, train=train, groups=groups, random_state=random_state
    )
