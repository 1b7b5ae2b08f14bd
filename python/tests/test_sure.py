"""Intervals, sets, scores and standard errors of Z: the same as the command line's, and kept in pickles."""
from __future__ import annotations

import json
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from cheap import make

import stonet


@pytest.fixture(scope="module")
def regressor(numbers):
    X, y = numbers
    return make("StoNetRegressor", n_components=1, random_state=1).fit(X, y).calibrate(X, y, folds=5)


def test_intervals(numbers, regressor):
    X, y = numbers
    ends = regressor.predict_interval(X, 0.9)
    assert ends.shape == (60, 2) and (ends[:, 0] < ends[:, 1]).all()
    wide = regressor.predict_interval(X, 0.95)
    assert (wide[:, 1] - wide[:, 0] >= ends[:, 1] - ends[:, 0]).all()
    assert np.isinf(regressor.predict_interval(X, 0.999)).all()
    scores = regressor.scores(X, y)
    assert scores["coverage"] == np.mean((y >= ends[:, 0]) & (y <= ends[:, 1]))
    assert scores["interval_width"] == pytest.approx(np.mean(ends[:, 1] - ends[:, 0]))
    assert {"mse", "r2", "level", "n"} <= set(scores) and "auc" not in scores
    again = pickle.loads(pickle.dumps(regressor))
    assert np.array_equal(again.predict_interval(X, 0.9), ends)


def test_several_outputs(numbers):
    X, y = numbers
    model = make("StoNetRegressor", random_state=1).fit(X, np.column_stack([y, -y])).calibrate(X, np.column_stack([y, -y]))
    assert model.predict_interval(X).shape == (60, 2, 2)


def test_sets_and_scores(waveform):
    X, y, _ = waveform
    model = make("StoNetClassifier", random_state=1).fit(X[:100], y[:100])
    assert "coverage" not in model.scores(X[100:], y[100:])
    before = model.predict(X[100:])
    model.calibrate(X[100:], y[100:], rows="fresh", sets="lac")
    inside = model.predict_set(X[100:], 0.9)
    assert inside.dtype == bool and inside.shape == (100, len(model.classes_)) and inside.any(axis=1).all()
    scores = model.scores(X[100:], y[100:], level=0.9)
    codes = np.searchsorted(model.classes_, y[100:])
    assert scores["coverage"] == inside[np.arange(100), codes].mean() >= 0.9
    assert scores["set_size"] == inside.sum(axis=1).mean()
    assert scores["confusion"].sum() == 100
    assert scores["confusion"].trace() / 100 == pytest.approx(scores["accuracy"])
    assert np.array_equal(model.predict(X[100:]), before)
    assert model.predict_set(X[100:], 0.9, by_class=True).shape == inside.shape


def test_as_the_command_line(tmp_path, numbers, program):
    X, y = numbers
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = make("StoNetRegressor", n_components=1, random_state=1).fit(frame, y).calibrate(frame, y)
    model.save(tmp_path / "m.model")
    frame[["d", "c", "b", "a"]].assign(y=y).to_csv(tmp_path / "t.csv", index=False)  # found by their names
    call = [program, "score", tmp_path / "m.model", tmp_path / "t.csv", "--target", "y", "--json"]
    printed = json.loads(subprocess.check_output(call, text=True))
    ours = model.scores(frame, y)
    for name in ("coverage", "interval_width", "mse"):
        assert printed[name] == pytest.approx(ours[name], rel=1e-5)
    loaded = stonet.load(tmp_path / "m.model")
    assert np.array_equal(loaded.predict_interval(frame), model.predict_interval(frame))


def test_standard_errors(numbers):
    X, y = numbers
    model = make("SlicedInverseRegression", n_components=1).fit(X, y)
    se, stability = model.standard_errors(X[:5], X, y, refits=10)
    assert se.shape == (5, 1) and (se > 0).all() and 0.5 < stability <= 1


def test_weights_count_in_calibration_as_in_the_fit(waveform):
    X, y, _ = waveform
    weights = np.where(y == -1, 5.0, 1.0)
    by_class = make("StoNetClassifier", random_state=1, class_weight={-1: 5}).fit(X, y).calibrate(X, y, folds=3)
    by_row = make("StoNetClassifier", random_state=1).fit(X, y, weights).calibrate(X, y, folds=3, sample_weight=weights)
    assert np.array_equal(by_class.predict_proba(X), by_row.predict_proba(X))
    assert np.array_equal(by_class.predict_set(X), by_row.predict_set(X))
    unlike = make("StoNetClassifier", random_state=1).fit(X, y, weights).calibrate(X, y, folds=3)
    assert not np.array_equal(unlike.predict_proba(X), by_row.predict_proba(X))


def test_mistakes(numbers, waveform):
    X, y = numbers
    model = make("StoNetRegressor", random_state=1).fit(X, y)
    with pytest.raises(stonet.StonetError, match="was not calibrated"):
        model.predict_interval(X)
    with pytest.raises(ValueError, match="rows is one of"):
        model.calibrate(X, y, rows="old")
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.calibrate(X, y, rows="fresh").predict_interval(X, 90)
