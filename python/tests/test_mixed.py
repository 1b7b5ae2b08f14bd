"""DataFrames whose columns are not all numbers, and models that go from the program to Python and back."""
from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from cheap import make

import stonet
from stonet.errors import StonetError, StonetWarning


def mixed(rows=120, seed=3):
    """Numbers, text, flags, an order, dates, a column with missing cells; the response is a function of most."""
    random = np.random.default_rng(seed)
    a = random.normal(size=rows)
    town = random.choice(["Ulm", "Jena", "Köln"], rows)
    size = random.choice(["S", "M", "L"], rows)
    flag = random.random(rows) < 0.4
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, rows), unit="D")
    gaps = random.normal(size=rows)
    gaps[::10] = np.nan
    y = a + (town == "Ulm") + 0.5 * flag + 0.1 * random.normal(size=rows)
    frame = pd.DataFrame(
        {
            "a": a,
            "town": town,
            "size": pd.Categorical(size, ["S", "M", "L"], ordered=True),
            "flag": flag,
            "day": day,
            "gaps": gaps,
        }
    )
    return frame, y


def command(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def test_all_kinds_of_columns_are_fitted():
    X, y = mixed()
    model = make("StoNetRegressor", epochs=60, random_state=1).fit(X, y)
    assert list(model.feature_names_in_) == list(X.columns) and model.n_features_in_ == 6
    assert model.model_.input_kinds() == {
        "a": "number", "town": "text", "size": "ordered", "flag": "text", "day": "date", "gaps": "number",
    }
    assert model.score(X, y) > 0.7
    assert model.transform(X).shape == (120, 2)


@pytest.mark.parametrize("estimator", ["SlicedInverseRegression", "PrincipalComponents", "GSIR", "StoNetClassifier"])
def test_every_kind_of_estimator_takes_them(estimator):
    X, y = mixed()
    response = np.where(y > 0.4, "high", "low") if estimator == "StoNetClassifier" else y
    model = make(estimator, n_components=1, random_state=1).fit(X, response)
    assert np.isfinite(model.transform(X)).all()
    again = make(estimator, n_components=1, random_state=1).fit_transform(X, response)
    assert np.array_equal(again, model.transform(X))


def test_dtypes_that_say_the_same_give_the_same_bits():
    X, y = mixed()
    plain = make("SlicedInverseRegression", n_components=1).fit(X, y).transform(X)
    others = {
        "strings": X.assign(town=X["town"].astype("string")),
        "categories": X.assign(town=X["town"].astype("category")),
        "nullable": X.assign(a=X["a"].astype("Float64"), flag=X["flag"].astype("boolean"), gaps=X["gaps"].astype("Float64")),
        "objects": X.assign(day=X["day"].dt.date.astype(object), a=X["a"].astype(object)),
        "zones": X.assign(day=X["day"].dt.tz_localize("UTC")),
    }
    for what, same in others.items():
        assert np.array_equal(make("SlicedInverseRegression", n_components=1).fit(same, y).transform(same), plain), what


def test_arrow_columns():
    pytest.importorskip("pyarrow")
    X, y = mixed()
    arrow = X.drop(columns="size").convert_dtypes(dtype_backend="pyarrow")
    plain = make("SlicedInverseRegression", n_components=1).fit(X.drop(columns="size"), y)
    model = make("SlicedInverseRegression", n_components=1).fit(arrow, y)
    assert np.array_equal(model.transform(arrow), plain.transform(X.drop(columns="size")))


def test_texts_never_seen_are_told():
    X, y = mixed()
    model = make("SlicedInverseRegression", n_components=1).fit(X, y)
    new = X.assign(town=["Bonn", *X["town"][1:]])
    with pytest.warns(StonetWarning, match="column 'town': 1 of 120 rows have values that no training row had .Bonn."):
        model.transform(new)


def test_cells_that_are_no_values_are_refused():
    X, y = mixed()
    with pytest.raises(ValueError, match="column 'lists' has cells of the type list"):
        make("SlicedInverseRegression").fit(X.assign(lists=[[1]] * len(X)), y)


def test_columns_must_be_those_of_the_fit():
    X, y = mixed()
    model = make("SlicedInverseRegression", n_components=1).fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(X.rename(columns={"a": "b"}))
    with pytest.raises(StonetError, match="column 'a' has text and was numbers"):
        model.transform(X.assign(a="x"))
    with pytest.raises(ValueError, match="missing"):
        make("SlicedInverseRegression").fit(X, pd.Series(y).where(y > 0))


def test_numbers_with_missing_cells_in_arrays():
    X, y = mixed()
    x = X[["a", "gaps"]].to_numpy()
    model = make("SlicedInverseRegression", n_components=1).fit(x, y)
    assert np.isfinite(model.transform(x)).all()


def test_nullable_responses():
    X, y = mixed()
    plain = make("SlicedInverseRegression", n_components=1).fit(X, y).transform(X)
    nullable = make("SlicedInverseRegression", n_components=1).fit(X, pd.Series(y, dtype="Float64")).transform(X)
    assert np.array_equal(plain, nullable)
    labels = pd.Series(np.where(y > 0.4, "high", "low"), dtype="category")
    model = make("StoNetClassifier", random_state=1).fit(X, labels)
    assert list(model.classes_) == ["high", "low"] and set(model.predict(X)) <= {"high", "low"}


def test_a_model_of_the_program_is_used_in_python(program, tmp_path):
    X, y = mixed()
    table = X.assign(size=X["size"].astype(str), y=y, row=[f"r{i}" for i in range(len(y))])
    table.to_csv(tmp_path / "t.csv", index=False)
    command(program, "fit", tmp_path / "t.csv", "--target", "y", "--id", "row", "--ordinal", "size=S,M,L", "--dim", 2,
            "--set", "hidden=8", "--set", "epochs=30", "--quiet", "--out", tmp_path / "m")
    said = command(program, "transform", tmp_path / "m", tmp_path / "t.csv")
    expected = np.array([line.split(",")[1:] for line in said.splitlines()[1:]], dtype=np.float32)
    model = stonet.load(tmp_path / "m")
    assert np.array_equal(model.transform(X), expected)
    assert np.array_equal(model.transform(table), expected)  # with the response and the ids beside them
    assert np.array_equal(model.transform(table[table.columns[::-1]]), expected)  # in any order
    assert np.array_equal(model.transform(pd.read_csv(tmp_path / "t.csv", parse_dates=["day"])), expected)
    twice = pd.concat([table, table[["town"]]], axis=1)
    with pytest.raises(ValueError, match="two columns 'town'"):
        model.transform(twice)


def test_a_model_of_python_is_used_by_the_program(program, tmp_path):
    X, y = mixed()
    X.to_csv(tmp_path / "x.csv", index=False)
    model = make("StoNetRegressor", random_state=1).fit(X, y)
    model.save(tmp_path / "m")
    said = command(program, "predict", tmp_path / "m", tmp_path / "x.csv")
    # float() of repr() is exact, so that the CSV has the same numbers
    assert np.array_equal(np.array(said.split()[1:], dtype=np.float64), model.predict(X))


def test_warm_start_goes_on(numbers):
    X, y = numbers
    model = make("StoNetRegressor", warm_start=True, random_state=1, epochs=5).fit(X, y)
    before, names = model.model_, len(model.history_["loss"]) if "loss" in model.history_ else None
    first = model.predict(X)
    model.fit(X, y)
    assert model.model_ is before and names != 0 and not np.array_equal(first, model.predict(X))
    cold = make("StoNetRegressor", random_state=1, epochs=5)
    assert np.array_equal(cold.fit(X, y).predict(X), cold.fit(X, y).predict(X))


def test_the_callback_hears_every_epoch_and_can_stop(numbers):
    X, y = numbers
    heard = []
    make("StoNetRegressor", callback=heard.append, epochs=12, random_state=1).fit(X, y)
    training = [told for told in heard if told["stage"] == "training"]
    assert len({told["done"] for told in training}) == 12 and np.isfinite(training[-1]["loss"])
    assert training[-1]["done"] <= training[-1]["total"] and training[-1]["seconds"] >= 0
    stopped = []
    model = make(
        "StoNetRegressor", epochs=5000, random_state=1,
        callback=lambda told: stopped.append(told["done"]) or told["done"] >= 3,
    ).fit(X, y)
    assert max(stopped) < 100 and np.isfinite(model.predict(X)).all()


def test_an_exception_of_the_callback_comes_out(numbers):
    X, y = numbers

    def broken(told):
        raise RuntimeError("from inside")

    with pytest.raises(RuntimeError, match="from inside"):
        make("StoNetRegressor", callback=broken, random_state=1).fit(X, y)


def test_the_dimension_of_a_mixed_table():
    X, y = mixed()
    assert stonet.order(X, y, method="sir").n_components >= 0
    assert make("SlicedInverseRegression", n_components="auto").fit(X, y).transform(X).ndim == 2


def test_pandas_is_not_loaded_for_arrays():
    fits = "import sys, numpy; from sklearn.decomposition import PCA; PCA().fit(numpy.eye(5)); before = 'pandas' in sys.modules"
    code = "import stonet; stonet.PrincipalComponents().fit(numpy.eye(5)); assert ('pandas' in sys.modules) == before"
    subprocess.run([sys.executable, "-W", "ignore", "-c", f"{fits}; {code}"], check=True)  # scikit-learn itself may load it


def test_sparse_matrices_give_what_dense_ones_do():
    sparse = pytest.importorskip("scipy.sparse")
    random = np.random.default_rng(2)
    X = random.random((150, 30)) * (random.random((150, 30)) < 0.2)
    y = X[:, 0] - X[:, 1] + 0.05 * random.normal(size=150)
    for name in ("SlicedInverseRegression", "StoNetRegressor"):
        dense = make(name, n_components=1, random_state=1).fit(X.astype(np.float32), y)
        for kind in (sparse.csr_matrix, sparse.coo_matrix, sparse.csc_matrix):
            model = make(name, n_components=1, random_state=1).fit(kind(X), y)
            assert np.allclose(model.transform(kind(X)), dense.transform(X.astype(np.float32)), atol=1e-2)
            assert np.allclose(model.transform(kind(X)), model.transform(X), atol=1e-4)
    unsorted = sparse.csr_matrix((np.ones(3), [2, 0, 2], [0, 2, 3]), shape=(2, 30))
    assert np.isfinite(model.transform(unsorted)).all() and not unsorted.has_sorted_indices
