"""How sure predictions are: calibration, intervals, sets, scores, standard errors of Z."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from ._core import Float64Matrix, Model, Table
from ._library import check, lib
from ._run import RunContext

KINDS = {"auto": 0, "cv": 1, "split": 2, "fresh": 3}
SETS = {"aps": 0, "lac": 1}


def _choice(name: str, value: str, known: dict[str, int]) -> int:
    if value not in known:
        raise ValueError(f"{name} is one of {', '.join(map(repr, known))}, not {value!r}")
    return known[value]


def calibrate(model: Model, table: Table, kind: str, folds: int, sets: str, run: RunContext) -> None:
    options = _library.CalibrateOptions(
        kind=_choice("rows", kind, KINDS), folds=folds, sets=_choice("sets", sets, SETS)
    )
    check(lib.stonet_calibrate(model.handle, table.handle, ctypes.byref(options), run.pointer))


def interval(model: Model, table: Table, rows: int, level: float, threads: int) -> Float64Matrix:
    """rows x outputs x 2."""
    options = _library.UseOptions(threads=threads, level=level)
    ends = np.empty((2, rows, model.outputs), dtype=np.float64)
    check(
        lib.stonet_predict_interval(
            model.handle, table.handle, ctypes.byref(options), ends[0].ctypes.data, ends[1].ctypes.data
        )
    )
    return np.moveaxis(ends, 0, 2)


def classes_inside(
    model: Model, table: Table, rows: int, level: float, by_class: bool, threads: int
) -> npt.NDArray[np.bool_]:
    options = _library.UseOptions(threads=threads, level=level, by_class=int(by_class))
    inside = np.empty((rows, model.outputs), dtype=np.uint8)
    check(lib.stonet_predict_set(model.handle, table.handle, ctypes.byref(options), inside.ctypes.data))
    return inside.astype(bool)


def scores(model: Model, table: Table, level: float, by_class: bool, threads: int) -> dict[str, Any]:
    """What `stonet score` prints; without what the response or the model does not have."""
    options = _library.UseOptions(threads=threads, level=level, by_class=int(by_class))
    found = _library.Scores()
    check(lib.stonet_score(model.handle, table.handle, ctypes.byref(options), ctypes.byref(found)))
    numbers = {name: getattr(found, name) for name, kind in found._fields_ if kind is ctypes.c_double}
    result: dict[str, Any] = {"n": int(found.n), **{k: v for k, v in numbers.items() if not np.isnan(v)}}
    for name, said in (("width", "set_size" if model.is_classifier else "interval_width"), ("uno", "uno_concordance")):
        if name in result:
            result[said] = result.pop(name)
    if model.is_classifier:
        plain = _library.UseOptions(threads=threads)
        confusion = np.empty((model.outputs, model.outputs), dtype=np.int64)
        check(lib.stonet_confusion(model.handle, table.handle, ctypes.byref(plain), confusion.ctypes.data))
        result["confusion"] = confusion
    return result


def standard_errors(
    model: Model, train: Table, table: Table, rows: int, refits: int, run: RunContext
) -> tuple[Float64Matrix, float]:
    se = np.empty((rows, model.dim), dtype=np.float64)
    stability = ctypes.c_double()
    check(
        lib.stonet_transform_se(
            model.handle, train.handle, table.handle, refits, run.pointer, se.ctypes.data, ctypes.byref(stability)
        )
    )
    return se, stability.value
