"""Censored times, bounds, counts and ordered classes: the command line's numbers, to the bit, and what is refused."""
from __future__ import annotations

import json
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from cheap import make
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from test_command_line import run, settings_of

import stonet

ROWS = 200
random = np.random.default_rng(9)
X = random.normal(size=(ROWS, 3)).astype(np.float32)
ETA = 0.8 * X[:, 0] - 0.5 * X[:, 1]
TIME, END = np.exp(ETA + 0.4 * random.normal(size=ROWS)), np.exp(0.5 + random.normal(size=ROWS))
YEARS = 0.5 + 3 * random.uniform(size=ROWS)
SEEN = TIME <= END
TIMES = np.column_stack([np.minimum(TIME, END), SEEN])
BOUNDS = np.column_stack([np.where(TIME < 0.5, np.nan, np.floor(TIME)), np.where(SEEN, np.floor(TIME) + 1, np.nan)])
COUNTS = np.column_stack([random.poisson(YEARS * np.exp(ETA)), YEARS])
GRADES = np.digitize(2 * ETA + random.logistic(size=ROWS), [-1.0, 0.5, 2.0]) + 3
STRUCTURED = np.array(list(zip(SEEN, TIMES[:, 0])), dtype=[("status", bool), ("days", float)])
WORDS = pd.Categorical(np.array(["bad", "fair", "good", "best"])[GRADES - 3], ["bad", "fair", "good", "best"], ordered=True)
NUMBERS = {  # columns of the file, options of the command, y, arguments of fit
    "survival": (TIMES, ["--target", "a", "--event", "b"], STRUCTURED, {}),
    "interval": (BOUNDS, ["--target-low", "a", "--target-high", "b"], BOUNDS, {}),
    "count": (COUNTS, ["--target", "a", "--exposure", "b"], COUNTS[:, 0], {"exposure": YEARS}),
}


def regressor(task, **more):
    return make("StoNetRegressor", n_components=1, random_state=7, task=task, front="none", activation="tanh", **more)


def fitted(task):
    return regressor("auto" if task != "interval" else task).fit(X, NUMBERS[task][2], **NUMBERS[task][3])


def settings():
    return [*settings_of("StoNetRegressor"), "--set", "front=none", "--set", "activation=tanh"]


def answers(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("task", NUMBERS)
def test_numbers_of_the_command_line(task, program, tmp_path):
    columns, options, y, more = NUMBERS[task]
    model = fitted(task)
    frame = pd.DataFrame(np.column_stack([X, columns]), columns=["x1", "x2", "x3", "a", "b"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ["fit", tmp_path / "t.csv", *options, "--features", "1-3", "--dim", 1, "--seed", 7, "--quiet"]
    run(program, *fit, *settings(), "--out", tmp_path / "m")
    run(program, "predict", tmp_path / "m", tmp_path / "t.csv", "--out", tmp_path / "p.npy")
    assert np.allclose(np.load(tmp_path / "p.npy").ravel(), model.predict(X), rtol=1e-6)
    theirs = answers(program, "score", tmp_path / "m", tmp_path / "t.csv", "--json")
    mine = model.scores(X, columns if task == "count" else y)
    for name in ("log_likelihood", "concordance", "uno_concordance", "integrated_brier", "deviance", "deviance_explained"):
        assert (name in mine) == (theirs.get(name) is not None)
        assert name not in mine or np.isclose(mine[name], theirs[name], rtol=1e-5)
    chief = {"survival": "concordance", "interval": "log_likelihood", "count": "deviance_explained"}[task]
    assert model.score(X, y, **more) == mine[chief]
    assert model.task_ == task and model.held_out_error_ is None


def test_survival_belongs_to_the_median(program, tmp_path):
    model = fitted("survival")
    beyond = model.predict_survival(X, [0.5, 1.0, 2.0])
    assert beyond.shape == (ROWS, 3) and np.all(np.diff(beyond) < 0) and np.all((beyond > 0) & (beyond < 1))
    median = model.predict(X)
    assert np.isclose(model.predict_survival(X[:1], median[0])[0, 0], 0.5)
    fine = np.linspace(1e-6, 2.0, 4001)
    area = model.predict_survival(X[:2], fine).mean(axis=1) * 2.0
    assert np.allclose(model.predict_restricted_mean(X[:2], 2.0), area, rtol=2e-3)
    model.save(tmp_path / "m")
    np.save(tmp_path / "x.npy", X)
    run(program, "predict", tmp_path / "m", tmp_path / "x.npy", "--times", "0.5,1,2", "--out", tmp_path / "p.npy")
    mean = model.predict_restricted_mean(X, 2.0)
    assert np.array_equal(np.load(tmp_path / "p.npy"), np.column_stack([median, beyond, mean]))


def test_two_columns_are_the_structured_array():
    pair = regressor("survival").fit(X, pd.DataFrame({"time": TIMES[:, 0], "event": SEEN}))
    assert np.array_equal(pair.predict(X), fitted("survival").predict(X))
    assert np.array_equal(regressor("count").fit(X, COUNTS).predict(X), fitted("count").predict(X))


def test_bounds_of_nullable_columns():
    given = pd.DataFrame(BOUNDS, columns=["low", "high"]).astype("Float64")
    assert given.isna().any(axis=None)
    assert np.array_equal(regressor("interval").fit(X, given).predict(X), fitted("interval").predict(X))


def test_scikit_learn_cuts_structured_responses():
    found = cross_val_score(regressor("auto"), X, STRUCTURED, cv=3)
    assert len(found) == 3 and np.all(found > 0.7)
    assert clone(regressor("interval")).task == "interval"


@pytest.mark.parametrize("task", NUMBERS)
def test_files_and_further_training(task, tmp_path):
    model, (_, _, y, more) = fitted(task), NUMBERS[task]
    model.save(tmp_path / "m")
    for back in (stonet.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        assert back.task_ == task
        assert np.array_equal(back.predict(X), model.predict(X)) and back.score(X, y, **more) == model.score(X, y, **more)
    assert np.all(np.isfinite(model.partial_fit(X, y, **more).predict(X)))


def test_ordered_categories(program, tmp_path):
    chosen = make("StoNetClassifier", n_components=1, random_state=7, front="none", activation="tanh")
    model = clone(chosen).fit(X, WORDS)
    assert model.task_ == "ordinal" and list(model.classes_) == ["bad", "fair", "good", "best"]
    plain = clone(chosen).set_params(task="ordinal").fit(X, GRADES)
    assert np.array_equal(plain.predict_proba(X), model.predict_proba(X))
    assert set(plain.predict(X)) <= {3, 4, 5, 6} and model.predict(X[:1])[0] in model.classes_
    found = model.scores(X, WORDS)
    assert found["kappa"] > 0.4 and found["rank_error"] < 0.8
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", GRADES.astype(float))
    fit = ["fit", tmp_path / "x.npy", "--target-file", tmp_path / "y.npy", "--dim", 1, "--seed", 7, "--quiet"]
    run(program, *fit, *settings(), "--set", "task=ordinal", "--out", tmp_path / "m")
    theirs = answers(program, "score", tmp_path / "m", tmp_path / "x.npy", "--target-file", tmp_path / "y.npy", "--json")
    assert np.isclose(theirs["kappa"], found["kappa"]) and np.isclose(theirs["rank_error"], found["rank_error"])
    model.save(tmp_path / "p")
    back = stonet.load(tmp_path / "p")
    assert back.task_ == "ordinal" and list(back.classes_) == list(model.classes_)
    assert np.array_equal(back.predict(X), model.predict(X))
    assert np.all(model.calibrate(X, WORDS, folds=2).predict_set(X, 0.9).any(axis=1))
    assert clone(chosen).fit(X, pd.Categorical(WORDS, ordered=False)).task_ == "classification"


@pytest.mark.parametrize(
    "task, y, more, said",
    [
        ("survival", TIMES * [-1, 1], {}, "times must be above 0"),
        ("survival", TIMES * [1, 2], {}, "an event is 1"),
        ("survival", TIMES * [1, 0], {}, "all 200 rows of 'y1' are censored"),
        ("survival", TIMES[:, [0, 0, 0]], {}, "two columns, a time and its event"),
        ("survival", np.where(TIMES > 2, np.nan, TIMES), {}, "NaN"),
        ("interval", TIMES[:, 0], {}, "a lower and an upper bound"),
        ("interval", BOUNDS + [9, 0], {}, "above the"),
        ("interval", np.column_stack([TIME, np.full(ROWS, np.nan)]), {}, "censored on the right"),
        ("count", COUNTS[:, 0] - 1, {}, "whole numbers from 0"),
        ("count", COUNTS[:, 0], {"exposure": -YEARS}, "must be above 0"),
        ("count", COUNTS[:, 0], {"exposure": YEARS[:3]}, "exposure the shape"),
        ("count", COUNTS, {"exposure": YEARS}, "one column of counts"),
        ("count", STRUCTURED, {}, "a structured array"),
        ("regression", TIME, {"exposure": YEARS}, "exposure is for counts"),
        ("regression", np.column_stack([TIME, np.full(ROWS, np.inf)]), {}, "infinity"),
        ("auto", STRUCTURED[["days"]], {}, "two fields"),
        ("survival", TIMES[:5], {}, "200 rows and y has 5"),
    ],
)
def test_bad_responses(task, y, more, said):
    with pytest.raises(ValueError, match=said):
        regressor(task).fit(X, y, **more)


def test_what_has_no_meaning():
    with pytest.raises(ValueError, match="without an order"):
        make("StoNetClassifier", task="ordinal").fit(X, np.asarray(WORDS))
    with pytest.raises(stonet.StonetError, match="ascending|above 0|times"):
        fitted("survival").predict_survival(X, [2.0, 1.0])
    with pytest.raises(stonet.StonetError, match="time"):
        fitted("count").predict_survival(X, [1.0])
    with pytest.raises(ValueError, match="two fields|structured|float"):
        fitted("count").scores(X, STRUCTURED)
    with pytest.raises(stonet.StonetError, match="target column"):
        fitted("count").scores(X, COUNTS[:, 0])
