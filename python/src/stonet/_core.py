"""Owners of the library's handles: a table of data and a fitted model."""
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from ._library import check, lib, names_array, path_bytes, take_text
from ._run import RunContext
from .errors import StonetWarning

Float32Matrix = npt.NDArray[np.float32]
Float64Matrix = npt.NDArray[np.float64]


_ma: Any = np.ma  # NumPy says nothing of its types


def filled(values: Any) -> Any:
    """The masked cells of a NumPy array are missing ones."""
    if not _ma.isMaskedArray(values):
        return values
    return values.astype(values.dtype if values.dtype.kind in "fO" else np.float64).filled(np.nan)


def complete(values: Any, name: str) -> Any:
    """What cannot be missing has no masked cells."""
    if not _ma.isMaskedArray(values):
        return values
    if _ma.is_masked(values):
        raise ValueError(f"{name} has masked values, and rows without it tell nothing: leave them out")
    return values.data


def first_missing(values: Iterable[Any]) -> int | None:
    """The place of the first that is None, NaN or pandas.NA."""
    nothing = (None, getattr(sys.modules.get("pandas"), "NA", None))
    return next((row for row, value in enumerate(values) if any(value is none for none in nothing) or value != value), None)


def _address(array: npt.NDArray[Any]) -> int:
    return int(array.ctypes.data)


class Table:
    """A stonet_data over a NumPy matrix, which it shares when that is float32 or float64 in C order."""

    def __init__(self, x: npt.NDArray[Any], names: Sequence[str] | None = None) -> None:
        double = x.dtype not in (np.float32, np.float16)
        self._x: Float32Matrix | Float64Matrix = np.ascontiguousarray(
            x, dtype=np.float64 if double else np.float32
        )
        self.handle = ctypes.c_void_p()
        n, p = self._x.shape
        self.rows = n
        wrap = lib.stonet_data_wrap_double if double else lib.stonet_data_wrap
        check(wrap(_address(self._x), n, p, ctypes.byref(self.handle)))
        if names is not None:
            check(lib.stonet_data_set_names(self.handle, names_array(list(names))))

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            lib.stonet_data_free(self.handle)
            self.handle = ctypes.c_void_p()

    def _check_rows(self, y: npt.NDArray[Any]) -> None:
        """The library trusts the caller for the length of an array."""
        if len(y) != self.rows:
            raise ValueError(f"X has {self.rows} rows and y has {len(y)}")

    def set_classes(self, codes: npt.NDArray[Any], labels: Sequence[str]) -> None:
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        self._check_rows(codes)
        check(lib.stonet_data_set_classes(self.handle, _address(codes), names_array(list(labels)), len(labels)))

    def set_targets(self, y: npt.NDArray[Any]) -> None:
        targets = np.ascontiguousarray(y, dtype=np.float64)
        self._check_rows(targets)
        columns = 1 if targets.ndim == 1 else targets.shape[1]
        check(lib.stonet_data_set_targets(self.handle, _address(targets), columns))

    def set_weights(self, weights: npt.NDArray[Any]) -> None:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        self._check_rows(weights)
        check(lib.stonet_data_set_weights(self.handle, _address(weights)))

    def some(self, most: int) -> Table:
        """At most so many of its rows, evenly spaced, as a copy."""
        rows = np.unique(np.linspace(0, self.rows - 1, min(most, self.rows)).astype(np.int64))
        part = Table.__new__(Table)
        part.handle, part.rows = ctypes.c_void_p(), len(rows)
        check(lib.stonet_data_subset(self.handle, _address(rows), len(rows), ctypes.byref(part.handle)))
        return part

    def set_groups(self, groups: Any) -> None:
        """Numbers or texts, one a row: rows with the same one are never parted. None: no groups."""
        if groups is None:
            return
        known: dict[Any, int] = {}
        values = np.asarray(groups)
        if values.ndim != 1 or len(values) != self.rows:
            raise ValueError(f"groups are {self.rows} values, one a row, not an array of shape {values.shape}")
        missing = first_missing(values.tolist())
        if missing is not None:
            raise ValueError(f"the group of row {missing} is missing")
        codes = np.array([known.setdefault(value, len(known)) for value in values.tolist()], dtype=np.int64)
        check(lib.stonet_data_set_groups(self.handle, _address(codes)))


class SparseTable(Table):
    """A stonet_data over a SciPy matrix in CSR format, of which it shares what is as the library wants it."""

    def __init__(self, x: Any, names: Sequence[str] | None = None) -> None:
        if not x.has_canonical_format:
            x = x.copy()
            x.sum_duplicates()
        self._start = np.ascontiguousarray(x.indptr, dtype=np.int64)
        self._column = np.ascontiguousarray(x.indices, dtype=np.int32)
        self._value = np.ascontiguousarray(x.data, dtype=np.float32)
        self.handle = ctypes.c_void_p()
        self.rows, columns = x.shape
        if columns > np.iinfo(np.int32).max:
            raise ValueError(f"X has {columns} columns, and a sparse table can have {np.iinfo(np.int32).max}")
        places = (_address(self._start), _address(self._column), _address(self._value))
        check(lib.stonet_data_wrap_sparse(*places, self.rows, columns, ctypes.byref(self.handle)))
        if names is not None:
            check(lib.stonet_data_set_names(self.handle, names_array(list(names))))


def setting_text(value: object) -> str:
    """A setting as the library reads it: numbers exactly, lists by commas, None as 'none'."""
    if value is None:
        return "none"
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        real = float(value)
        return str(int(real)) if real.is_integer() and abs(real) < 2**53 else repr(real)
    if isinstance(value, (Sequence, np.ndarray)):
        return ",".join(setting_text(part) for part in value) if len(value) > 0 else "none"
    raise TypeError(f"a setting is a number, a text or a list of numbers, not {value!r}")


@contextlib.contextmanager
def made_spec(method: str, settings: Mapping[str, object]) -> Iterator[ctypes.c_void_p]:
    """A stonet_spec with these settings, for the time of the block."""
    spec = ctypes.c_void_p()
    check(lib.stonet_spec_create(method.encode(), ctypes.byref(spec)))
    try:
        for name, value in settings.items():
            check(lib.stonet_spec_set(spec, name.encode(), setting_text(value).encode()))
        yield spec
    finally:
        lib.stonet_spec_free(spec)


@contextlib.contextmanager
def kept_in(checkpoint: str | os.PathLike[str] | None, every: float, run: RunContext) -> Iterator[None]:
    """Gives the run a checkpoint, whose file is removed when all went well."""
    if checkpoint is None:
        yield
        return
    handle = ctypes.c_void_p()
    check(lib.stonet_checkpoint_open(path_bytes(checkpoint), every, ctypes.byref(handle)))
    run.checkpoint = handle
    try:
        yield
        if not run.interrupted:
            check(lib.stonet_checkpoint_remove(handle))
    finally:
        run.checkpoint = None
        lib.stonet_checkpoint_free(handle)


class Model:
    """A fitted model; pickled as the bytes of its model file."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self._handle = handle
        self._kinds: dict[str, str] | None = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.stonet_model_free(self._handle)
            self._handle = ctypes.c_void_p()

    @classmethod
    def fit(cls, method: str, settings: Mapping[str, object], table: Table, run: RunContext) -> Model:
        model = ctypes.c_void_p()
        with made_spec(method, settings) as spec:
            check(lib.stonet_fit(spec, table.handle, run.pointer, ctypes.byref(model)))
        return cls(model)

    def fit_more(self, table: Table, run: RunContext) -> None:
        """Trains on more rows, from where the model stands."""
        check(lib.stonet_fit_more(self._handle, table.handle, run.pointer))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        handle = ctypes.c_void_p()
        check(lib.stonet_model_load(path_bytes(path), ctypes.byref(handle)))
        if lib.stonet_model_hash(handle) is None:
            warnings.warn(
                f"{os.fspath(path)} is of an older version and has no hash: damage to it goes unnoticed",
                StonetWarning, stacklevel=3,
            )
        return cls(handle)

    @classmethod
    def from_bytes(cls, content: bytes) -> Model:
        handle = ctypes.c_void_p()
        check(lib.stonet_model_load_bytes(content, len(content), ctypes.byref(handle)))
        return cls(handle)

    def save(self, path: str | os.PathLike[str]) -> None:
        check(lib.stonet_model_save(self._handle, path_bytes(path)))

    def to_bytes(self) -> bytes:
        content = ctypes.POINTER(ctypes.c_ubyte)()
        size = ctypes.c_size_t()
        check(lib.stonet_model_save_bytes(self._handle, ctypes.byref(content), ctypes.byref(size)))
        try:
            return ctypes.string_at(content, size.value)
        finally:
            lib.stonet_bytes_free(content)

    def export(self, path: str | os.PathLike[str], format: str, name: str) -> None:
        """The model as a file of another format."""
        code, content, size = ctypes.c_int(), ctypes.POINTER(ctypes.c_ubyte)(), ctypes.c_size_t()
        check(lib.stonet_export_format_find(format.encode(), ctypes.byref(code)))
        check(lib.stonet_model_export(
            self._handle, code.value, name.encode(), ctypes.byref(content), ctypes.byref(size)
        ))
        try:
            check(lib.stonet_bytes_write(path_bytes(path), content, size.value))
        finally:
            lib.stonet_bytes_free(content)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Model.from_bytes, (self.to_bytes(),)

    @property
    def handle(self) -> ctypes.c_void_p:
        return self._handle

    @property
    def dim(self) -> int:
        return int(lib.stonet_model_dim(self._handle))

    @property
    def outputs(self) -> int:
        return int(lib.stonet_model_outputs(self._handle))

    @property
    def inputs(self) -> int:
        return int(lib.stonet_model_inputs(self._handle))

    @property
    def is_classifier(self) -> bool:
        return bool(lib.stonet_model_is_classifier(self._handle))

    @property
    def diverged(self) -> bool:
        return bool(lib.stonet_model_outcome(self._handle) == 2)

    def directions(self) -> Float64Matrix:
        """Of a linear reduction: features x dim, in units of X."""
        out = np.empty((int(lib.stonet_model_features(self._handle)), self.dim), dtype=np.float64)
        check(lib.stonet_model_directions(self._handle, _address(out)))
        return out

    def tensors(self, *names: str) -> dict[str, Float64Matrix]:
        """Numbers of the model by the names they have in its file, with their shapes."""
        handle, rank, shape = ctypes.c_void_p(), ctypes.c_int(), (ctypes.c_int64 * 4)()
        check(lib.stonet_model_tensors(self._handle, ctypes.byref(handle)))
        found = {}
        try:
            for name in names:
                check(lib.stonet_tensors_shape(handle, name.encode(), shape, ctypes.byref(rank)))
                out = np.empty(tuple(shape[: rank.value]), dtype=np.float64)
                check(lib.stonet_tensors_get(handle, name.encode(), _address(out), out.size))
                found[name] = out
        finally:
            lib.stonet_tensors_free(handle)
        return found

    def support(self) -> npt.NDArray[np.bool_]:
        """Whether the model looks at each of its columns."""
        used = np.empty(self.inputs, dtype=np.uint8)
        if lib.stonet_model_support(self._handle, _address(used)) < 0:
            raise MemoryError(_library.last_error())
        return used.astype(bool)

    def input_kinds(self) -> dict[str, str]:
        """number, date, text, ordered, or none for one that is left out, by the names of the input columns."""
        if self._kinds is None:
            about = self.describe()
            self._kinds = dict(zip(about["inputs"], about["input_kinds"]))
        return self._kinds

    def text_inputs(self) -> set[str]:
        return {name for name, kind in self.input_kinds().items() if kind in ("text", "ordered")}

    @property
    def is_mixed(self) -> bool:
        """Whether some of its input columns are no plain numbers."""
        return any(kind != "number" for kind in self.input_kinds().values())

    def check_rows(self, table: Table, run: RunContext) -> None:
        """Warns of texts that no training row had."""
        check(lib.stonet_check_rows(self._handle, table.handle, run.pointer))

    def class_labels(self) -> list[str]:
        count = self.outputs if self.is_classifier else 0
        return [lib.stonet_model_class_label(self._handle, code).decode("utf-8", "replace") for code in range(count)]

    def describe(self) -> dict[str, Any]:
        text = take_text(lib.stonet_model_json(self._handle))
        if text is None:
            raise MemoryError(_library.last_error())
        content: dict[str, Any] = json.loads(text)
        return content

    def history(self) -> str | None:
        return take_text(lib.stonet_model_history_csv(self._handle))

    def transform(
        self, table: Table, rows: int, *, draws: int = 0, activated: bool = False, impute: bool = False,
        seed: int = 1, threads: int = 0,
    ) -> Float32Matrix:
        """Z of the rows; with draws M > 0, M stochastic passes one below the other."""
        options = _library.UseOptions(
            threads=threads, seed=_library.seed_of(seed), draws=draws, activated=int(activated), impute=int(impute)
        )
        z = np.empty((rows * max(1, draws), self.dim), dtype=np.float32)
        check(lib.stonet_transform(self._handle, table.handle, ctypes.byref(options), _address(z)))
        return z

    def predict(self, table: Table, rows: int, *, threads: int = 0, spread: bool = False) -> Float64Matrix:
        """Probabilities of the classes, or the predicted numbers; spread: their standard deviations instead."""
        options = _library.UseOptions(threads=threads)
        out = np.empty((rows, self.outputs), dtype=np.float64)
        call = lib.stonet_predict_spread if spread else lib.stonet_predict
        check(call(self._handle, table.handle, ctypes.byref(options), _address(out)))
        return out

    def survival(
        self, table: Table, rows: int, times: npt.NDArray[Any], threads: int = 0
    ) -> tuple[Float64Matrix, Float64Matrix]:
        """The probability of being beyond each of the times, and the mean time up to the last."""
        at = np.ascontiguousarray(times, dtype=np.float64)
        beyond, mean = np.empty((rows, len(at)), dtype=np.float64), np.empty(rows, dtype=np.float64)
        options = _library.UseOptions(threads=threads)
        check(lib.stonet_predict_survival(
            self._handle, table.handle, ctypes.byref(options), _address(at), len(at), _address(beyond), _address(mean)
        ))
        return beyond, mean
