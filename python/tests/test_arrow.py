"""Arrow tables: from a stream made here by ctypes, and from pyarrow where it is installed."""
from __future__ import annotations

import ctypes

import numpy as np
import pytest
from cheap import make

import stonet

P, I64 = ctypes.c_void_p, ctypes.c_int64


class Schema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", P), ("flags", I64),
                ("n_children", I64), ("children", P), ("dictionary", P), ("release", P), ("private", P)]


class Array(ctypes.Structure):
    _fields_ = [("length", I64), ("null_count", I64), ("offset", I64), ("n_buffers", I64), ("n_children", I64),
                ("buffers", P), ("children", P), ("dictionary", P), ("release", P), ("private", P)]


class Stream(ctypes.Structure):
    _fields_ = [("get_schema", P), ("get_next", P), ("get_last_error", P), ("release", P), ("private", P)]


ASK = ctypes.CFUNCTYPE(ctypes.c_int, P, P)
RELEASE = ctypes.CFUNCTYPE(None, P)


class Numbers:
    """Columns of doubles as one batch; says how often what was released."""

    def __init__(self, columns):
        self.columns, self.released, self.left = columns, [], 1
        self.kept = [RELEASE(self._release(kind)) for kind in (Schema, Array, Stream)]
        self.of_schema, self.of_array, self.of_stream = (ctypes.cast(call, P).value for call in self.kept)

    def _release(self, kind):
        def call(place):
            kind.from_address(place).release = None
            self.released.append(kind.__name__)

        return call

    def _list(self, structs):
        pointers = (P * len(structs))(*[ctypes.addressof(one) for one in structs])
        self.kept += [structs, pointers]
        return ctypes.addressof(pointers)

    def _get_schema(self, stream, out):
        parts = [Schema(b"g", name.encode(), release=self.of_schema) for name in self.columns]
        whole = Schema(b"+s", n_children=len(parts), children=self._list(parts), release=self.of_schema)
        ctypes.memmove(out, ctypes.addressof(whole), ctypes.sizeof(whole))
        return 0

    def _get_next(self, stream, out):
        whole = Array()
        if self.left > 0:
            self.left -= 1
            parts = []
            for values in self.columns.values():
                buffers = (P * 2)(None, values.ctypes.data)
                self.kept.append(buffers)
                parts.append(Array(len(values), n_buffers=2, buffers=ctypes.addressof(buffers), release=self.of_array))
            rows = len(next(iter(self.columns.values())))
            whole = Array(rows, n_children=len(parts), children=self._list(parts), release=self.of_array)
        ctypes.memmove(out, ctypes.addressof(whole), ctypes.sizeof(whole))
        return 0

    def __arrow_c_stream__(self, requested_schema=None):
        calls = [ASK(self._get_schema), ASK(self._get_next)]
        stream = Stream(*(ctypes.cast(call, P).value for call in calls), None, self.of_stream)
        self.left = 1
        self.kept += [calls, stream]
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [P, ctypes.c_char_p, P]
        return new(ctypes.addressof(stream), b"arrow_array_stream", None)


def test_a_stream_is_the_same_as_the_matrix(numbers):
    X, y = numbers[0].astype(np.float64), numbers[1]
    columns = {name: np.ascontiguousarray(X[:, j]) for j, name in enumerate("abcd")}
    stream = Numbers(columns)
    model = stonet.SlicedInverseRegression(1).fit(stream, y)
    assert model.feature_names_in_.tolist() == list("abcd") and model.n_features_in_ == 4
    assert sorted(stream.released) == ["Array", "Schema", "Stream"]
    wanted = stonet.SlicedInverseRegression(1).fit(X, y).transform(X)
    np.testing.assert_array_equal(model.transform(Numbers(columns)), wanted)
    # new rows are found by name
    swapped = {name: columns[name] for name in "dcba"}
    np.testing.assert_array_equal(model.transform(Numbers({**swapped, "else": columns["a"]})), wanted)
    with pytest.raises(ValueError, match="no column 'b'"):
        model.transform(Numbers({name: columns[name] for name in "acd"}))
    with pytest.raises(ValueError, match="rows"):
        stonet.SlicedInverseRegression(1).fit(Numbers(columns), y[:-1])
    weighted = stonet.SlicedInverseRegression(1).fit(Numbers(columns), y, sample_weight=np.ones(len(y)))
    np.testing.assert_array_equal(weighted.transform(Numbers(columns)), wanted)
    assert stonet.order(Numbers(columns), y, method="sir").n_components == 1


def test_pieces_from_streams_that_can_be_read_once(numbers, monkeypatch):
    """Such rows are not kept: the network trains further."""
    X, y = numbers[0].astype(np.float64), numbers[1]
    model = make("StoNetRegressor", epochs="auto", random_state=1)
    for part in (slice(0, 30), slice(30, 60)):
        stream = Numbers({name: np.ascontiguousarray(X[part, j]) for j, name in enumerate("abcd")})
        capsules = [stream.__arrow_c_stream__()]
        monkeypatch.setattr(stream, "__arrow_c_stream__", capsules.pop)
        before = None if part.start == 0 else model.transform(Numbers(stream.columns))
        model.partial_fit(stream, y[part])
        assert model._pieces is None and capsules == []
    assert not np.array_equal(model.transform(Numbers(stream.columns)), before)


def test_pyarrow():
    """Text, categories, flags, dates and nulls: the same model as of pandas."""
    pa = pytest.importorskip("pyarrow", reason="Debian has python3-pyarrow from 14 on")
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(2)
    rows = 120
    town = random.choice(["Ulm", "Köln", "Jena"], size=rows)
    size = random.integers(0, 3, size=rows)
    area = random.normal(size=rows)
    area[::7] = np.nan
    day = np.datetime64("2020-01-01") + random.integers(0, 900, size=rows)
    frame = pandas.DataFrame({
        "town": town, "area": area, "day": day.astype("datetime64[ns]"),
        "size": pandas.Categorical.from_codes(size, ["small", "mid", "large"], ordered=True),
    })
    y = size + (town == "Ulm") + np.nan_to_num(area)
    table = pa.Table.from_pandas(frame)
    fitted = make("StoNetRegressor", random_state=1).fit(frame, y)
    other = make("StoNetRegressor", random_state=1).fit(table, y)
    np.testing.assert_array_equal(other.predict(frame), fitted.predict(frame))
    np.testing.assert_array_equal(other.predict(table), fitted.predict(frame))
    np.testing.assert_array_equal(fitted.predict(table.combine_chunks()), fitted.predict(frame))
    view = table.set_column(0, "town", table["town"].cast(pa.string_view()))
    np.testing.assert_array_equal(fitted.predict(view), fitted.predict(frame))
    batches = pa.Table.from_batches(table.to_batches(max_chunksize=50))
    np.testing.assert_array_equal(fitted.predict(batches), fitted.predict(frame))
    flags = table.append_column("flag", pa.array(size > 0))
    assert make("StoNetRegressor").fit(flags, y).predict(flags).shape == (rows,)
    lists = table.append_column("list", pa.array([[1]] * rows))
    with pytest.raises(ValueError, match="column 'list' has the Arrow type"):
        make("StoNetRegressor").fit(lists, y)
    np.testing.assert_array_equal(fitted.predict(lists), fitted.predict(frame))  # no column of the model
