"""The C library through ctypes: structures, prototypes, and status codes turned into exceptions.

ctypes.CDLL releases the GIL during every call, so other Python threads run while C computes.
"""
from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_ubyte, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from .errors import BY_STATUS, INTERRUPTED, StonetError


class Progress(ctypes.Structure):
    _fields_ = [
        ("stage", c_char_p),
        ("done", c_int64),
        ("total", c_int64),
        ("loss", c_double),
        ("validation_loss", c_double),
        ("seconds", c_double),
    ]


ON_PROGRESS = ctypes.CFUNCTYPE(None, POINTER(Progress), c_void_p)
ON_MESSAGE = ctypes.CFUNCTYPE(None, c_int, c_char_p, c_void_p)
SHOULD_STOP = ctypes.CFUNCTYPE(c_int, c_void_p)


class Options(ctypes.Structure):
    """A struct that begins with its own size, so that the library knows which members the caller has."""

    def __init__(self, **members: Any) -> None:
        super().__init__(size=ctypes.sizeof(self), **members)


class Run(Options):
    _fields_ = [
        ("size", c_size_t),
        ("seed", c_uint64),
        ("threads", c_int),
        ("on_progress", ON_PROGRESS),
        ("on_message", ON_MESSAGE),
        ("should_stop", SHOULD_STOP),
        ("user", c_void_p),
        ("checkpoint", c_void_p),
        ("team", c_void_p),
    ]


class UseOptions(Options):
    _fields_ = [
        ("size", c_size_t),
        ("threads", c_int),
        ("seed", c_uint64),
        ("draws", c_int64),
        ("activated", c_int),
        ("impute", c_int),
        ("level", c_double),
        ("by_class", c_int),
        ("cell_draws", c_int64),
        ("team", c_void_p),
    ]


class CalibrateOptions(Options):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("folds", c_int), ("sets", c_int)]


_SCORES = """
    error_rate accuracy log_loss mse mse_scaled r2 correlation balanced_accuracy brier calibration_error auc level coverage
    width log_likelihood concordance uno integrated_brier deviance deviance_explained rank_error kappa
"""


class Scores(Options):
    _fields_ = [("size", c_size_t), ("n", c_int64), ("is_classifier", c_int)] + [
        (name, c_double) for name in _SCORES.split()
    ]


class Sides(ctypes.Structure):
    """Three matrices with the same rows; z may be missing."""

    _fields_ = [("n", c_int64), ("dx", c_int64), ("dy", c_int64), ("dz", c_int64)] + [
        (name, c_void_p) for name in ("x", "y", "z")
    ]


class IndependenceOptions(Options):
    _fields_ = [
        ("size", c_size_t),
        ("test", c_int),
        ("null_law", c_int),
        ("features", c_int64),
        ("condition_features", c_int64),
        ("repeats", c_int64),
        ("permutations", c_int64),
    ]


class IndependenceResult(ctypes.Structure):
    _fields_ = [("test", c_int), ("statistic", c_double), ("p_value", c_double), ("n", c_int64)]


class PredictionGain(ctypes.Structure):
    _fields_ = [("p_value", c_double), ("explained_z", c_double), ("explained_zx", c_double), ("n", c_int64)]


class SufficiencyResult(ctypes.Structure):
    _fields_ = [("test", c_int), ("statistic", c_double), ("p_value", c_double), ("gain", PredictionGain)]


class OrderOptions(Options):
    _fields_ = [
        ("size", c_size_t),
        ("rule", c_int),
        ("max", c_int64),
        ("level", c_double),
        ("resamples", c_int64),
        ("folds", c_int),
    ]


class ImportanceOptions(Options):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("repeats", c_int64), ("train", c_void_p)]


class CoefOptions(Options):
    _fields_ = [("size", c_size_t), ("pairs", c_int64)]


class ReportOptions(Options):
    _fields_ = [
        ("size", c_size_t), ("model_name", c_char_p), ("data_name", c_char_p), ("importance", c_char_p),
        ("order", c_char_p), ("points", c_int64),
    ]


# Handles and strings that must be given back are void pointers, so that ctypes does not lose them.
HANDLE = c_void_p
OUT = POINTER(c_void_p)
NAMES = POINTER(c_char_p)

# name -> (result, arguments); a result of c_int is a stonet_status unless the name says otherwise.
PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "stonet_version": (c_char_p, []),
    "stonet_last_error": (c_char_p, []),
    "stonet_string_free": (None, [c_void_p]),
    "stonet_data_wrap": (c_int, [c_void_p, c_int64, c_int64, OUT]),
    "stonet_data_wrap_double": (c_int, [c_void_p, c_int64, c_int64, OUT]),
    "stonet_data_wrap_sparse": (c_int, [c_void_p, c_void_p, c_void_p, c_int64, c_int64, OUT]),
    "stonet_data_set_names": (c_int, [HANDLE, NAMES]),
    "stonet_data_set_classes": (c_int, [HANDLE, c_void_p, NAMES, c_int64]),
    "stonet_data_set_targets": (c_int, [HANDLE, c_void_p, c_int64]),
    "stonet_data_set_weights": (c_int, [HANDLE, c_void_p]),
    "stonet_data_set_groups": (c_int, [HANDLE, c_void_p]),
    "stonet_data_begin": (c_int, [c_int64, OUT]),
    "stonet_data_add_numbers": (c_int, [HANDLE, c_char_p, c_void_p]),
    "stonet_data_add_dates": (c_int, [HANDLE, c_char_p, c_void_p]),
    "stonet_data_add_codes": (c_int, [HANDLE, c_char_p, c_void_p, NAMES, c_int64, c_int]),
    "stonet_data_end": (c_int, [HANDLE, c_void_p, OUT]),
    "stonet_data_end_for": (c_int, [HANDLE, HANDLE, c_void_p, OUT]),
    "stonet_columns_free": (None, [HANDLE]),
    "stonet_data_from_arrow": (c_int, [c_void_p, c_void_p, OUT]),
    "stonet_data_from_arrow_for": (c_int, [HANDLE, c_void_p, c_void_p, OUT]),
    "stonet_data_subset": (c_int, [HANDLE, c_void_p, c_int64, OUT]),
    "stonet_check_rows": (c_int, [HANDLE, HANDLE, POINTER(Run)]),
    "stonet_data_rows": (c_int64, [HANDLE]),
    "stonet_data_columns": (c_int64, [HANDLE]),
    "stonet_data_column_name": (c_char_p, [HANDLE, c_int64]),
    "stonet_data_x": (POINTER(c_float), [HANDLE]),
    "stonet_data_targets": (POINTER(c_double), [HANDLE, POINTER(c_int64)]),
    "stonet_data_classes": (POINTER(c_int32), [HANDLE, POINTER(c_int64)]),
    "stonet_data_class_label": (c_char_p, [HANDLE, c_int64]),
    "stonet_data_truth": (POINTER(c_double), [HANDLE, POINTER(c_int64)]),
    "stonet_data_free": (None, [HANDLE]),
    "stonet_generate": (c_int, [c_char_p, c_int64, c_uint64, OUT]),
    "stonet_generators_json": (c_void_p, []),
    "stonet_spec_create": (c_int, [c_char_p, OUT]),
    "stonet_spec_set": (c_int, [HANDLE, c_char_p, c_char_p]),
    "stonet_spec_free": (None, [HANDLE]),
    "stonet_methods_json": (c_void_p, []),
    "stonet_checkpoint_open": (c_int, [c_char_p, c_double, OUT]),
    "stonet_checkpoint_remove": (c_int, [HANDLE]),
    "stonet_checkpoint_free": (None, [HANDLE]),
    "stonet_fit": (c_int, [HANDLE, HANDLE, POINTER(Run), OUT]),
    "stonet_fit_more": (c_int, [HANDLE, HANDLE, POINTER(Run)]),
    "stonet_model_outcome": (c_int, [HANDLE]),
    "stonet_model_dim": (c_int64, [HANDLE]),
    "stonet_model_outputs": (c_int64, [HANDLE]),
    "stonet_model_inputs": (c_int64, [HANDLE]),
    "stonet_model_is_classifier": (c_int, [HANDLE]),
    "stonet_model_class_label": (c_char_p, [HANDLE, c_int64]),
    "stonet_transform": (c_int, [HANDLE, HANDLE, POINTER(UseOptions), c_void_p]),
    "stonet_predict": (c_int, [HANDLE, HANDLE, POINTER(UseOptions), c_void_p]),
    "stonet_predict_spread": (c_int, [HANDLE, HANDLE, POINTER(UseOptions), c_void_p]),
    "stonet_predict_survival": (
        c_int, [HANDLE, HANDLE, POINTER(UseOptions), c_void_p, c_int64, c_void_p, c_void_p],
    ),
    "stonet_calibrate": (c_int, [HANDLE, HANDLE, POINTER(CalibrateOptions), POINTER(Run)]),
    "stonet_model_is_calibrated": (c_int, [HANDLE]),
    "stonet_predict_interval": (c_int, [HANDLE, HANDLE, POINTER(UseOptions), c_void_p, c_void_p]),
    "stonet_predict_set": (c_int, [HANDLE, HANDLE, POINTER(UseOptions), c_void_p]),
    "stonet_score": (c_int, [HANDLE, HANDLE, POINTER(UseOptions), POINTER(Scores)]),
    "stonet_confusion": (c_int, [HANDLE, HANDLE, POINTER(UseOptions), c_void_p]),
    "stonet_transform_se": (c_int, [HANDLE, HANDLE, HANDLE, c_int64, POINTER(Run), c_void_p, POINTER(c_double)]),
    "stonet_model_save": (c_int, [HANDLE, c_char_p]),
    "stonet_model_load": (c_int, [c_char_p, OUT]),
    "stonet_model_save_bytes": (c_int, [HANDLE, POINTER(POINTER(c_ubyte)), POINTER(c_size_t)]),
    "stonet_model_hash": (c_char_p, [c_void_p]),
    "stonet_model_load_bytes": (c_int, [c_char_p, c_size_t, OUT]),
    "stonet_export_format_find": (c_int, [c_char_p, POINTER(c_int)]),
    "stonet_model_export": (c_int, [HANDLE, c_int, c_char_p, POINTER(POINTER(c_ubyte)), POINTER(c_size_t)]),
    "stonet_bytes_write": (c_int, [c_char_p, POINTER(c_ubyte), c_size_t]),
    "stonet_bytes_free": (None, [POINTER(c_ubyte)]),
    "stonet_model_json": (c_void_p, [HANDLE]),
    "stonet_model_history_csv": (c_void_p, [HANDLE]),
    "stonet_model_free": (None, [HANDLE]),
    "stonet_model_features": (c_int64, [HANDLE]),
    "stonet_model_support": (c_int64, [HANDLE, c_void_p]),
    "stonet_model_directions": (c_int, [HANDLE, c_void_p]),
    "stonet_model_tensors": (c_int, [HANDLE, OUT]),
    "stonet_tensors_shape": (c_int, [HANDLE, c_char_p, POINTER(c_int64), POINTER(c_int)]),
    "stonet_tensors_get": (c_int, [HANDLE, c_char_p, c_void_p, c_int64]),
    "stonet_tensors_free": (None, [HANDLE]),
    "stonet_order": (c_int, [HANDLE, HANDLE, POINTER(OrderOptions), POINTER(Run), OUT]),
    "stonet_order_rule_find": (c_int, [c_char_p, POINTER(c_int)]),
    "stonet_order_json": (c_void_p, [HANDLE]),
    "stonet_order_free": (None, [HANDLE]),
    "stonet_importance": (c_int, [HANDLE, HANDLE, POINTER(ImportanceOptions), POINTER(Run), OUT]),
    "stonet_importance_kind_find": (c_int, [c_char_p, POINTER(c_int)]),
    "stonet_importance_json": (c_void_p, [HANDLE]),
    "stonet_importance_free": (None, [HANDLE]),
    "stonet_report": (c_int, [HANDLE, HANDLE, POINTER(ReportOptions), POINTER(Run), OUT]),
    "stonet_coef": (c_int, [HANDLE, HANDLE, POINTER(CoefOptions), POINTER(Run), OUT]),
    "stonet_coef_json": (c_void_p, [HANDLE]),
    "stonet_coef_free": (None, [HANDLE]),
    "stonet_independence": (
        c_int,
        [POINTER(Sides), POINTER(IndependenceOptions), POINTER(Run), POINTER(IndependenceResult)],
    ),
    "stonet_sufficiency": (
        c_int,
        [HANDLE, HANDLE, POINTER(IndependenceOptions), POINTER(Run), POINTER(SufficiencyResult)],
    ),
}


def _load() -> ctypes.CDLL:
    """The library inside the package, or the one that STONET_LIBRARY names (for work on the library itself)."""
    path = os.environ.get("STONET_LIBRARY") or str(Path(__file__).with_name("libstonet.so"))
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"the stonet library could not be loaded from {path}: {error}") from error
    for name, (result, arguments) in PROTOTYPES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


lib = _load()


def last_error() -> str:
    return str(lib.stonet_last_error().decode("utf-8", "replace"))


def check(status: int) -> None:
    """Raises what a status other than STONET_OK stands for, with the library's sentence."""
    if status == 0:
        return
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    raise BY_STATUS.get(status, StonetError)(last_error())


def take_text(pointer: int | None) -> str | None:
    """A Python string from a char * of the library, which is freed; None for NULL."""
    if not pointer:
        return None
    try:
        return ctypes.string_at(pointer).decode("utf-8", "replace")
    finally:
        lib.stonet_string_free(pointer)


def seed_of(seed: int) -> int:
    """A seed as the library takes it: 64 bits, to which a longer or negative one would be cut."""
    if not 0 <= seed < 2**64:
        raise ValueError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed}")
    return seed


def path_bytes(path: str | os.PathLike[str]) -> bytes:
    """The name of a file as the library takes it, which would end at a null character."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError(f"the file name {path!r} has a null character: choose another name")
    return name


def names_array(names: list[str]) -> Any:
    for name in names:
        if "\0" in name:
            raise ValueError(f"the name or label {name!r} has a null character, which would end it in the library")
    return (c_char_p * len(names))(*[name.encode("utf-8", "surrogateescape") for name in names])
