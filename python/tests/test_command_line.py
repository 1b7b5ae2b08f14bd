"""The same settings and seed give the command line's numbers, to the bit, and model files go both ways."""
from __future__ import annotations

import subprocess

import numpy as np
import pandas as pd
import pytest
from cheap import SETTINGS, make

import stonet
from stonet._core import setting_text


def run(program, *arguments):
    subprocess.run([program, *map(str, arguments)], check=True, capture_output=True)


def settings_of(name):
    return [part for key, value in SETTINGS[name].items() for part in ("--set", f"{key}={setting_text(value)}")]


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.filterwarnings("ignore:.*direction")
def test_same_numbers(name, program, waveform, numbers, tmp_path):
    X, y = numbers if name == "StoNetRegressor" else waveform[:2]
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y.astype(np.float64))
    estimator = make(name, random_state=7).fit(X, y)
    fit = ["--target-file", tmp_path / "y.npy", "--dim", 2, "--method", estimator._method, "--seed", 7]
    run(program, "fit", tmp_path / "x.npy", *fit, *settings_of(name), "--quiet", "--out", tmp_path / "m")
    run(program, "transform", tmp_path / "m", tmp_path / "x.npy", "--out", tmp_path / "z.npy")
    assert np.array_equal(np.load(tmp_path / "z.npy").astype(np.float32), estimator.transform(X))
    if hasattr(estimator, "predict"):
        proba = ["--proba"] if hasattr(estimator, "predict_proba") else []
        run(program, "predict", tmp_path / "m", tmp_path / "x.npy", *proba, "--out", tmp_path / "p.npy")
        mine = estimator.predict_proba(X) if proba else estimator.predict(X)
        assert np.array_equal(np.load(tmp_path / "p.npy").reshape(mine.shape), mine)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.filterwarnings("ignore:.*direction")
def test_files_go_both_ways(name, program, waveform, tmp_path):
    X, y, _ = waveform
    np.save(tmp_path / "x.npy", X)
    estimator = make(name, random_state=3).fit(X, y)
    estimator.save(tmp_path / "python.model")
    run(program, "transform", tmp_path / "python.model", tmp_path / "x.npy", "--out", tmp_path / "z.npy")
    assert np.array_equal(np.load(tmp_path / "z.npy").astype(np.float32), estimator.transform(X))
    back = stonet.load(tmp_path / "python.model")
    assert type(back) is type(estimator)
    assert np.array_equal(back.transform(X), estimator.transform(X))
    for setting, value in SETTINGS[name].items():
        assert setting_text(back.get_params()[setting]) == setting_text(value)
    assert np.array_equal(type(back)(**back.get_params()).fit(X, y).transform(X), estimator.transform(X))


def test_text_labels_and_names_in_files(program, waveform, tmp_path):
    X, y, _ = waveform
    frame = pd.DataFrame(X, columns=[f"sensor {j}" for j in range(X.shape[1])])
    words = np.where(y > 0, "up", "down")
    estimator = make("StoNetClassifier", random_state=1).fit(frame, words)
    estimator.save(tmp_path / "m")
    frame.assign(target=words).to_csv(tmp_path / "d.csv", index=False)
    run(program, "score", tmp_path / "m", tmp_path / "d.csv", "--target", "target")
    run(program, "predict", tmp_path / "m", tmp_path / "d.csv", "--out", tmp_path / "p.csv")
    assert np.array_equal(pd.read_csv(tmp_path / "p.csv")["prediction"], estimator.predict(frame))
    back = stonet.load(tmp_path / "m")
    assert list(back.classes_) == ["down", "up"]
    assert list(back.feature_names_in_) == list(frame.columns)
    assert np.array_equal(back.predict(frame), estimator.predict(frame))


def test_model_with_a_learner_comes_back_as_a_transformer(program, waveform, tmp_path):
    X, y, _ = waveform
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    fit = ["--target-file", tmp_path / "y.npy", "--dim", 1, "--method", "gsir", "--learner", "logistic"]
    run(program, "fit", tmp_path / "x.npy", *fit, "--out", tmp_path / "m")
    back = stonet.load(tmp_path / "m")
    assert isinstance(back, stonet.GSIR) and back.transform(X).shape == (len(X), 1)


def test_generators_are_the_same(program, tmp_path):
    run(program, "generate", "waveform", "--rows", 50, "--seed", 4, "--out", tmp_path / "w.csv")
    table = pd.read_csv(tmp_path / "w.csv")
    X, y, _ = stonet.datasets.generate("waveform", rows=50, random_state=4)
    assert np.array_equal(table.iloc[:, : X.shape[1]].to_numpy(np.float32), X)
    assert np.array_equal(table["y"], y)
