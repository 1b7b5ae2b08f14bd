"""Responses that are more than one number a row, as the library has them: two columns (docs/responses.md)."""
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._core import Float64Matrix, complete

LAWS = ("survival", "interval", "count")
_SECOND = {"survival": "a time and its event", "interval": "a lower and an upper bound", "count": "a count and its exposure"}


def _fields(y: npt.NDArray[Any]) -> Float64Matrix:
    """Time and event of a structured array, whose fields are found by their types, whatever they are called."""
    names = list(y.dtype.names or ())
    flags = [name for name in names if y.dtype[name].kind == "b"]
    times = [name for name in names if y.dtype[name].kind in "fiu"]
    if len(names) != 2 or len(flags) != 1 or len(times) != 1:
        raise ValueError(
            f"a structured y has two fields, a flag (True where the event was seen) and a time; this one has {y.dtype}"
        )
    return np.column_stack([y[times[0]], y[flags[0]]]).astype(np.float64)


def task_of(task: str, y: Any, exposure: Any) -> str:
    """What the response of a regressor is, where that was left to the data."""
    if task != "auto":
        return task
    if getattr(getattr(y, "dtype", None), "names", None) is not None:
        return "survival"
    return "count" if exposure is not None else "regression"


def law_columns(task: str, y: Any, exposure: Any) -> Float64Matrix:
    """Times, bounds or counts as numbers, one column or two; what they may be is checked by the library."""
    y = complete(y, "y")
    structured = getattr(getattr(y, "dtype", None), "names", None) is not None
    if structured and task != "survival":
        raise ValueError(f'y is a structured array, which stands for censored times, and task is "{task}"')
    if hasattr(y, "isna"):  # pandas has missing bounds that NumPy does not know
        y = y.to_numpy(dtype=np.float64, na_value=np.nan)
    columns = _fields(np.asarray(y)) if structured else np.array(y, dtype=np.float64)
    if columns.ndim == 1:
        columns = columns[:, np.newaxis]
    if exposure is not None:
        if task != "count" or columns.shape[1] != 1:
            raise ValueError("exposure goes with one column of counts (task='count')")
        more = np.asarray(complete(exposure, "exposure"), dtype=np.float64)
        if more.shape != (len(columns),):
            raise ValueError(f"y has {len(columns)} rows and exposure the shape {more.shape}")
        columns = np.column_stack([columns, more])
    if columns.ndim != 2 or columns.shape[1] > 2 or (task == "interval" and columns.shape[1] != 2):
        raise ValueError(f'y of task="{task}" has two columns, {_SECOND[task]}, and not the shape {np.shape(y)}')
    if task == "interval":  # open ends
        columns[np.isnan(columns[:, 0]), 0] = 0.0
        columns[np.isnan(columns[:, 1]), 1] = np.inf
    return columns


def order_of(y: Any) -> list[Any] | None:
    """The categories of a response that has them in order, from low to high; else None."""
    of_type = getattr(getattr(y, "dtype", None), "categories", None)
    return list(of_type) if of_type is not None and getattr(y.dtype, "ordered", False) else None
