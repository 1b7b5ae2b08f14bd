"""Tables whose columns are not all numbers: DataFrames with text, categories, flags, dates, missing cells.

They are handed to the library column by column, and go through the same schema as a file of the command line.
"""
from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._core import Model, Table
from ._library import check, lib, names_array

_DAY = np.timedelta64(1, "D")
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_arrow(X: Any) -> bool:
    """Whether X hands itself over as an Arrow stream: tables of pyarrow and others."""
    return hasattr(X, "__arrow_c_stream__") and not _is_pandas(X)


def as_frame(X: Any) -> Any:
    """X as a pandas DataFrame when it is one or becomes one; else None."""
    if _is_pandas(X):
        return X
    if not isinstance(X, np.ndarray) and hasattr(X, "to_pandas") and hasattr(X, "columns"):
        return X.to_pandas()
    return None


def _is_plain(dtype: Any) -> bool:
    """Numbers and flags as NumPy has them, without a place for missing cells but NaN."""
    return isinstance(dtype, np.dtype) and dtype.kind in "fiub"


def is_mixed(frame: Any) -> bool:
    """Whether a DataFrame has columns that are no plain numbers."""
    return not all(_is_plain(dtype) for dtype in frame.dtypes)


def _text(value: object) -> str:
    """A value as it stands in a CSV file."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


class ArrowTable(Table):
    """A stonet_data from an Arrow stream; `model`: for the rows of a model, of its columns alone."""

    def __init__(self, source: Any, model: Model | None = None) -> None:
        self.handle = ctypes.c_void_p()
        capsule = source.__arrow_c_stream__()  # released by the library, freed with the capsule
        stream = _capsule_pointer(capsule, b"arrow_array_stream")
        if model is None:
            check(lib.stonet_data_from_arrow(stream, None, ctypes.byref(self.handle)))
        else:
            check(lib.stonet_data_from_arrow_for(model.handle, stream, None, ctypes.byref(self.handle)))
        self.rows = int(lib.stonet_data_rows(self.handle))

    def names(self) -> list[str]:
        count = lib.stonet_data_columns(self.handle)
        return [lib.stonet_data_column_name(self.handle, j).decode("utf-8", "replace") for j in range(count)]


class MixedTable(Table):
    """A stonet_data from the columns of a DataFrame; `model`: for the rows of a model, of its columns alone."""

    def __init__(self, frame: Any, model: Model | None = None) -> None:
        self.handle = ctypes.c_void_p()
        self.rows = len(frame)
        self._kept: list[Any] = []  # what the library reads until the table is made
        names = [str(name) for name in frame.columns]
        self._text_inputs = set() if model is None else model.text_inputs()
        columns = ctypes.c_void_p()
        check(lib.stonet_data_begin(self.rows, ctypes.byref(columns)))
        try:
            for j, name in enumerate(names):
                self._add(columns, name, frame.iloc[:, j])
            if model is None:
                check(lib.stonet_data_end(columns, None, ctypes.byref(self.handle)))
            else:
                check(lib.stonet_data_end_for(model.handle, columns, None, ctypes.byref(self.handle)))
        finally:
            lib.stonet_columns_free(columns)
            self._kept.clear()

    def _add(self, columns: ctypes.c_void_p, name: str, series: Any) -> None:
        import pandas as pd

        label = names_array([name])[0]
        dtype = series.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            categories = [_text(value) for value in series.cat.categories]
            self._add_codes(columns, label, series.cat.codes.to_numpy(), categories, bool(series.cat.ordered))
            return
        kind = self._kind(series)
        if kind == "number" and name not in self._text_inputs:
            if series.dtype.kind == "m":
                series = series.dt.total_seconds() / 86400.0
            numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
            self._add_numbers(lib.stonet_data_add_numbers, columns, label, numbers)
        elif kind == "date" and name not in self._text_inputs:
            self._add_numbers(lib.stonet_data_add_dates, columns, label, self._days(series))
        else:
            try:
                codes, values = pd.factorize(series)
            except TypeError:
                kind = type(series.dropna().iloc[0]).__name__
                raise ValueError(f"column '{name}' has cells of the type {kind}, which are no numbers, texts or dates") from None
            self._add_codes(columns, label, codes, [_text(value) for value in values], ordered=False)

    @staticmethod
    def _kind(series: Any) -> str:
        """number, date or text; flags are texts, True and False, as in a file."""
        from pandas.api import types

        dtype = series.dtype
        if types.is_bool_dtype(dtype):
            return "text"
        if types.is_complex_dtype(dtype):
            raise ValueError(f"column {series.name!r} has complex numbers, which are no features")
        if types.is_numeric_dtype(dtype) or types.is_timedelta64_dtype(dtype):
            return "number"
        if types.is_datetime64_any_dtype(dtype):
            return "date"
        found = types.infer_dtype(series, skipna=True)
        if found in ("integer", "floating", "mixed-integer-float", "decimal", "empty"):
            return "number"
        return "date" if found in ("date", "datetime", "datetime64") else "text"

    @staticmethod
    def _days(series: Any) -> npt.NDArray[np.float64]:
        """Days since 1970-01-01, in universal time where there is a zone."""
        import pandas as pd

        moments = pd.to_datetime(series, utc=True).dt.tz_localize(None).to_numpy(dtype="datetime64[us]")
        days = (moments - np.datetime64(0, "us")) / _DAY
        days[np.isnat(moments)] = np.nan
        return np.asarray(days, dtype=np.float64)

    def _add_numbers(
        self, add: Any, columns: ctypes.c_void_p, label: bytes, numbers: npt.NDArray[np.float64]
    ) -> None:
        values = np.ascontiguousarray(numbers)
        self._kept.append(values)
        check(add(columns, label, values.ctypes.data))

    def _add_codes(
        self, columns: ctypes.c_void_p, label: bytes, codes: npt.NDArray[Any], texts: Sequence[str], ordered: bool
    ) -> None:
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        words = names_array(list(texts) if len(texts) > 0 else ["-"])
        self._kept += [codes, words]
        check(lib.stonet_data_add_codes(columns, label, codes.ctypes.data, words, max(1, len(texts)), int(ordered)))
