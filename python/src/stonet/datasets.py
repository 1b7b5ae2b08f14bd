"""Data from models whose sufficient predictor is known."""
from __future__ import annotations

import ctypes
import json
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._library import check, lib, seed_of, take_text


class Generated(NamedTuple):
    """Features, response and the known sufficient predictor of each row."""

    X: npt.NDArray[np.float32]
    y: npt.NDArray[Any]
    truth: npt.NDArray[np.float64]


def generators() -> list[dict[str, Any]]:
    """The generators: name, help, task and number of columns of each."""
    text = take_text(lib.stonet_generators_json())
    found: list[dict[str, Any]] = json.loads(text or "[]")
    return found


def _copy(pointer: Any, rows: int, columns: int, dtype: Any) -> npt.NDArray[Any]:
    if not pointer or columns == 0:
        return np.empty((rows, 0), dtype=dtype)
    return np.ctypeslib.as_array(pointer, shape=(rows, columns)).astype(dtype, copy=True)


def _labels(handle: ctypes.c_void_p, codes: Any, rows: int, classes: int) -> npt.NDArray[Any]:
    labels = np.array([lib.stonet_data_class_label(handle, code).decode() for code in range(classes)])
    try:
        labels = labels.astype(np.int64)
    except ValueError:
        pass
    chosen: npt.NDArray[Any] = labels[_copy(codes, rows, 1, np.int64)[:, 0]]
    return chosen


def generate(name: str, rows: int = 1000, *, random_state: int = 1) -> Generated:
    """Draw data from a built-in model; ``generators()`` lists them.

    ``"NAME:P"`` draws P columns instead of the usual number; the further ones are noise.
    The same name, rows and seed give what ``stonet generate`` gives on the command line. That also writes
    tables with text, dates and missing cells; these are refused here.

    Examples
    --------
    >>> from stonet import datasets
    >>> X, y, truth = datasets.generate("waveform", rows=400)
    >>> X.shape
    (400, 21)
    """
    handle = ctypes.c_void_p()
    check(lib.stonet_generate(name.encode(), int(rows), seed_of(int(random_state)), ctypes.byref(handle)))
    try:
        n = int(lib.stonet_data_rows(handle))
        X = _copy(lib.stonet_data_x(handle), n, int(lib.stonet_data_columns(handle)), np.float32)
        count = ctypes.c_int64()
        codes = lib.stonet_data_classes(handle, ctypes.byref(count))
        if codes:
            y = _labels(handle, codes, n, count.value)
        else:
            targets = lib.stonet_data_targets(handle, ctypes.byref(count))
            y = _copy(targets, n, count.value, np.float64)
            y = y[:, 0] if y.shape[1] == 1 else y
        truth_pointer = lib.stonet_data_truth(handle, ctypes.byref(count))
        truth = _copy(truth_pointer, n, count.value, np.float64)
        if not truth_pointer:
            raise ValueError(f"{name} is a table with text or dates: write it by 'stonet generate {name} --out FILE'")
    finally:
        lib.stonet_data_free(handle)
    return Generated(X, y, truth)
