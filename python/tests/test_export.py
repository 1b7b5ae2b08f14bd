"""Exported models answer as the library does: ONNX in every evaluator there is, JSON by its own formulas."""
from __future__ import annotations

import csv
import json
import subprocess
from itertools import product
from pathlib import Path

import export_samples
import numpy as np
import pytest

import stonet


@pytest.fixture(scope="module")
def samples(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "samples"
    export_samples.make(program, folder)
    return folder


def test_onnx_answers_as_the_library(samples):
    pytest.importorskip("onnx", reason="Debian has it as python3-onnx")
    import onnx_run

    paths = sorted(samples.glob("*.onnx"))
    assert len(paths) > 100
    assert {path.stem.rsplit("-", 1)[1] for path in paths} == set(onnx_run.KINDS)
    for name, run in onnx_run.evaluators().items():
        for path in paths:
            assert onnx_run.check(path, run) <= onnx_run.TOLERANCE, (name, path.stem)


def first_rows(path, count):
    sample = json.loads(path.with_suffix(".json").read_text())
    return {name: np.array(column[:count], dtype=object if name == "colour" else float)
            for name, column in sample["inputs"].items()}


def test_onnx_has_no_answer_for_missing_cells(samples):
    """Where the model refuses them, or would draw them given the others: NaN for the row, and for no other; a new word or code counts as the average."""
    pytest.importorskip("onnx")
    import onnx_run

    refuses, draws = (next(samples.glob(f"*-{method}-mixed.onnx")) for method in ("sir", "save"))
    given = first_rows(refuses, 6)
    given["number"][1, 0] = np.nan
    given["colour"][2, 0] = ""
    given["colour"][3, 0] = "NA"
    given["colour"][4, 0] = "new"
    given["code"][5, 0] = 77
    for run, path in product(onnx_run.evaluators().values(), (refuses, draws)):
        got = run(path, given)
        for values in (got["z"], got["prediction"]):
            assert np.isnan(values).all(axis=1).tolist() == [False, True, True, True, False, False]


def test_new_and_missing_cells_are_as_in_the_library(samples, program, tmp_path):
    pytest.importorskip("onnx")
    import onnx_run

    path = next(samples.glob("*-stonet+none-mixed.onnx"))
    rows = [["1.5", "new", "77", "1000000.25"], ["2.5", "plain", "1", "1000000.5"], ["", "plain", "", "1000000.5"],
            ["2.5", "NA", "1", ""]]
    table = tmp_path / "new.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([["number", "colour", "code", "large"], *rows])
    model = samples / "work" / f"{path.stem}.model"
    done = subprocess.run([program, "predict", model, table], capture_output=True, text=True, check=True)
    wanted = [float(line) for line in done.stdout.split()[1:]]
    given = {name: np.array([[row[j] if j == 1 else float(row[j] or "nan")] for row in rows],
                            dtype=object if j == 1 else float)
             for j, name in enumerate(("number", "colour", "code", "large"))}
    for run in onnx_run.evaluators().values():
        np.testing.assert_allclose(run(path, given)["prediction"][:, 0], wanted, rtol=1e-5)


def features(exported, columns):
    """Encoded as the text in the file says."""
    rows = len(columns[0])
    raw = np.empty((rows, len(exported["features"])))
    mean, centre, factor = (np.array([f[key] for f in exported["features"]]) for key in ("mean", "centre", "factor"))
    for about, cells in zip(exported["columns"], columns):
        first, known = about["first_feature"], about.get("categories") or about.get("levels", [])
        gone = np.array([str(one) in exported["na"] or f"{one:.0f}" in exported["na"] if isinstance(one, float)
                         else one in exported["na"] for one in cells])
        if about.get("indicator"):
            raw[:, first + about["features"] - 1] = gone
        if about["kind"] in ("number", "date"):
            coarse = abs(centre[first] * factor[first]) <= 256
            raw[:, first] = np.where(gone, mean[first], np.float32(cells) if coarse else cells)
            if about.get("season"):
                phase = 2 * np.pi * np.array(cells) / 365.2425
                raw[:, first + 1], raw[:, first + 2] = np.sin(phase), np.cos(phase)
            first += 1
        for i, one in enumerate(cells):
            hits = [float(word == one) for word in known]
            if about.get("other") and not any(hits) and not gone[i]:
                hits[-1] = 1.0
            raw[i, first : first + len(known)] = hits if any(hits) else mean[first : first + len(known)]
    curves = exported.get("curves", {"of": []})
    for curve in curves["of"]:
        x = np.float32(raw[:, curve["features"]]).astype(float)
        made = x @ np.array(curve["matrix"]).T
        if "sd(x)" in curves["formula"]:
            made /= x.std(axis=1, ddof=1, keepdims=True)
        raw[:, curve["features"]] = made
    return np.float32((raw - centre) * factor).astype(float)


def evaluate(exported, columns):
    psi = {"tanh": np.tanh, "relu": lambda v: np.maximum(v, 0), "sigmoid": lambda v: 1 / (1 + np.exp(-v))}
    values = [features(exported, columns)]
    for step in exported["steps"][1:]:
        v, matrix = values[step["in"]], np.array(step.get("matrix", [[]]))
        kind = step["kind"]
        if kind == "affine":
            parts = v.reshape(len(v), step.get("runs", 1), -1) @ matrix.T + step["offset"]
            v = parts.reshape(len(v), -1)
        elif kind == "scale":
            v = v * step["factor"] + step["offset"]
        elif kind == "activation":
            v = psi[step["activation"]](v)
        elif kind == "kernel":
            v = np.exp(-step["number"] * ((v[:, None, :] - matrix[None]) ** 2).sum(axis=2))
        elif kind == "columns":
            v = v[:, step["columns"]]
        elif kind == "exp":
            v = np.exp(v)
        elif kind == "largest":
            v = v.reshape(len(v), step["width"], -1).max(axis=2)
        elif kind == "join":
            v = np.hstack([v, values[step["other"]]])
        else:
            v = np.exp(v - v.max(axis=1, keepdims=True)) if kind == "softmax" else v ** step["number"]
            v = v / v.sum(axis=1, keepdims=True)
        assert v.shape[1] == step["width"]
        values.append(v)
    return values


def test_json_is_enough_to_compute_with(samples):
    for path in sorted(samples.glob("*.onnx")):
        sample = json.loads(path.with_suffix(".json").read_text())
        exported = json.loads((samples / "work" / f"{path.stem}.export.json").read_text())
        given = sample["inputs"]
        matrix = list(given) == ["x"]
        columns = list(zip(*given["x"])) if matrix else [[cell[0] for cell in column] for column in given.values()]
        values = evaluate(exported, columns)
        wanted = {name.rstrip("_"): answer for name, answer in sample["wanted"].items()}
        np.testing.assert_allclose(values[exported["z"]["step"]], wanted["z"], atol=1e-5, rtol=1e-5, err_msg=path.stem)
        answer = wanted.get("probabilities", wanted.get("prediction"))
        assert (exported["answer"] is None) == (answer is None)
        if answer is not None:
            np.testing.assert_allclose(values[exported["answer"]["step"]], answer, atol=1e-5, rtol=1e-5)


def test_one_matrix_and_no_label_without_an_answer(waveform, tmp_path):
    pytest.importorskip("onnx")
    import onnx_run

    X, y, _ = waveform
    X = np.float32(X)
    model = stonet.StoNetClassifier(2, hidden=4, epochs=2, front="none", weight_decay=0.01, missing="error").fit(X, y)
    model.export(tmp_path / "m.onnx", "onnx-matrix")
    given = X.copy()
    given[1, 0] = np.nan
    for run in onnx_run.evaluators().values():
        got = run(tmp_path / "m.onnx", {"x": given})
        whole = np.arange(len(X)) != 1
        np.testing.assert_allclose(got["probabilities"][whole], model.predict_proba(X)[whole], atol=1e-5)
        assert got["label"][1] == "" and np.isnan(got["probabilities"][1]).all() and (got["label"][whole] != "").all()


def test_estimators_export(numbers, tmp_path):
    X, y = numbers
    model = stonet.SlicedInverseRegression(1).fit(X, y)
    for format in ("onnx", "c", "json"):
        path = tmp_path / f"my.{format}"
        model.export(path, name="sir")
        assert path.stat().st_size > 100
    model.export(tmp_path / "matrix.onnx", "onnx-matrix")
    assert "int sir_transform(" in (tmp_path / "my.c").read_text()
    model.export(tmp_path / "other", "json")
    assert (tmp_path / "other").read_bytes() == (tmp_path / "my.json").read_bytes()
    with pytest.raises(ValueError, match="onnx-matrix, c or json"):
        model.export(tmp_path / "my.pmml")
    with pytest.raises(ValueError, match="name in C"):
        model.export(tmp_path / "my.c", name="a b")
    assert not Path(tmp_path / "my.pmml").exists()
