"""What users do: pipelines, searches, frames, pickles, labels, pieces that scikit-learn's checks do not reach."""
from __future__ import annotations

import copy
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from cheap import SETTINGS, make
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import stonet

pytestmark = pytest.mark.filterwarnings("ignore:.*direction")


@pytest.mark.parametrize("name", SETTINGS)
def test_pickle_copy_clone(name, waveform):
    X, y, _ = waveform
    estimator = make(name, random_state=2).fit(X, y)
    Z = estimator.transform(X)
    for again in (pickle.loads(pickle.dumps(estimator)), copy.deepcopy(estimator), clone(estimator).fit(X, y)):
        assert np.array_equal(again.transform(X), Z)
    assert not hasattr(clone(estimator), "model_")


@pytest.mark.parametrize("name", SETTINGS)
def test_pandas_in_and_out(name, waveform):
    X, y, _ = waveform
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])], index=np.arange(len(X)) + 100)
    estimator = make(name, random_state=2).set_output(transform="pandas").fit(frame, pd.Series(y, index=frame.index))
    Z = estimator.transform(frame)
    assert list(Z.columns) == list(estimator.get_feature_names_out())
    assert Z.columns[0] == name.lower() + "0"
    assert (Z.index == frame.index).all()
    assert np.array_equal(Z, make(name, random_state=2).fit(X, y).transform(X))


def test_pipeline_search_and_scores(waveform):
    X, y, _ = waveform
    pipeline = make_pipeline(StandardScaler(), make("StoNetClassifier", random_state=1))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.8
    search = GridSearchCV(pipeline, {"stonetclassifier__n_components": [1, 2]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.8
    reduced = make_pipeline(make("GSIR", n_components=1), LogisticRegression())
    search = GridSearchCV(reduced, {"gsir__ex": [0.01, 0.1]}, cv=2, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.8


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(backend, waveform):
    X, y, _ = waveform
    jobs = [joblib.delayed(make("StoNetClassifier", random_state=seed).fit)(X, y) for seed in (1, 1, 2)]
    first, same, other = (fitted.transform(X) for fitted in joblib.Parallel(2, backend=backend)(jobs))
    assert np.array_equal(first, same) and not np.array_equal(first, other)


def test_labels_of_any_kind(waveform):
    X, y, _ = waveform
    plain = make("StoNetClassifier", random_state=1).fit(X, y)
    for labels in (np.where(y > 0, "yes", "no"), y > 0, np.where(y > 0, 3.0, -1.0), pd.Categorical(y > 0), pd.Series(y > 0, dtype="boolean")):
        fitted = make("StoNetClassifier", random_state=1).fit(X, labels)
        assert np.array_equal(fitted.classes_, np.unique(labels))
        assert np.array_equal(fitted.predict_proba(X), plain.predict_proba(X))
        assert fitted.score(X, np.array(labels.tolist())) == plain.score(X, y)


def test_several_responses(numbers):
    X, y = numbers
    both = np.stack([y, -2 * y + 10], axis=1)
    predicted = make("StoNetRegressor", random_state=1, epochs=200).fit(X, both).predict(X)
    assert predicted.shape == both.shape
    assert np.corrcoef(predicted[:, 1], both[:, 1])[0, 1] > 0.8
    with pytest.raises(ValueError):
        make("StoNetClassifier").fit(X, both)


def test_seeds_and_threads(waveform):
    X, y, _ = waveform
    Z = make("StoNetClassifier", random_state=5).fit(X, y).transform(X)
    assert np.array_equal(make("StoNetClassifier", random_state=5, n_jobs=2).fit(X, y).transform(X), Z)
    state = np.random.RandomState(5)
    assert not np.array_equal(make("StoNetClassifier", random_state=state).fit(X, y).transform(X), Z)
    np.random.seed(3)
    free = [make("StoNetClassifier").fit(X, y).transform(X) for _ in range(2)]
    assert not np.array_equal(*free)
    with pytest.raises(ValueError, match="n_jobs"):
        make("StoNetClassifier", n_jobs=0).fit(X, y)


def test_float32_is_shared_not_copied(waveform):
    X = np.ascontiguousarray(waveform.X)
    table = stonet.GSIR()._training_table(X)
    assert np.shares_memory(table._x, X)


def test_doubles_far_from_zero_keep_their_digits(waveform):
    X = waveform.X.astype(np.float64)
    table = stonet.SlicedInverseRegression()._training_table(X)
    assert np.shares_memory(table._x, X)
    sir = stonet.SlicedInverseRegression(n_components=1)
    near, far = (sir.fit(x, waveform.y).transform(x) for x in (X, X + 2.0**24))
    assert np.allclose(near, far, atol=1e-4)


def test_draw_and_impute(waveform):
    X, y, _ = waveform
    fitted = make("StoNetClassifier", random_state=1).fit(X, y)
    draws = fitted.draw(X, 5, random_state=1)
    assert draws.shape == (5, len(X), 2)
    assert np.array_equal(draws, fitted.draw(X, 5, random_state=1))
    assert not np.array_equal(draws[0], draws[1])
    assert fitted.impute(X, y, random_state=1).shape == (len(X), 2)
    for strange in (np.full(len(X), 9), np.full(len(X), "text")):
        with pytest.raises(ValueError, match="not fitted on"):
            fitted.impute(X, strange)
    for estimator in (fitted, make("StoNetRegressor").fit(X, y)):
        with pytest.raises(ValueError, match="rows"):
            estimator.impute(X, y[:50])


def test_history_and_progress(waveform, capfd):
    X, y, _ = waveform
    fitted = make("StoNetClassifier", verbose=1).fit(X, y)
    assert fitted.history_["loss"][-1] < fitted.history_["loss"][0]
    assert "training [" in capfd.readouterr().err
    make("StoNetClassifier").fit(X, y)
    assert capfd.readouterr().err == ""
    assert make("PrincipalComponents").fit(X).history_ is None


def test_regressor_learns(numbers):
    X, y = numbers
    assert stonet.StoNetRegressor(n_components=1, random_state=1).fit(X, y).score(X, y) > 0.7


@pytest.mark.parametrize("name", ["PrincipalComponents", "Autoencoder"])
def test_sufficiency_of_text_classes(waveform, name):
    """Methods that never saw a response are tested on whatever it is."""
    X, y = waveform[:2]
    words = np.where(np.asarray(y) == np.asarray(y)[0], "first", "other")
    reduction = make(name, n_components=1, random_state=1).fit(X)
    assert reduction.sufficiency_test(X, words).p_value < 0.05
    assert 0 <= reduction.sufficiency_test(X, np.arange(len(X))).p_value <= 1
    assert reduction.model_.describe()["target"] is None


def test_labels_with_a_null_character_are_refused(waveform):
    """C would end the text there, and two classes would be one."""
    labels = np.array(["a\0b", "a\0c"], dtype=object)[np.arange(len(waveform[0])) % 2]
    with pytest.raises(ValueError, match="null character"):
        make("SlicedInverseRegression", n_components=1).fit(waveform[0], labels)


def test_sufficiency(waveform):
    X, y, _ = waveform
    fresh = stonet.datasets.generate("waveform", rows=200, random_state=9)
    result = make("StoNetClassifier", random_state=1).fit(X, y).sufficiency_test(fresh.X, fresh.y)
    assert 0 <= result.p_value <= 1 and result.n == 200 and result.test == "gcm"
    assert 0 <= result.prediction_p_value <= 1 and result.explained_by_z > 0.3
    assert result.lost == result.explained_by_z_and_x - result.explained_by_z


def test_partial_fit_of_classes(waveform):
    pieces = [stonet.datasets.generate("waveform", rows=200, random_state=seed) for seed in range(1, 11)]
    unseen = stonet.datasets.generate("waveform", rows=1000, random_state=99)
    estimator = make("StoNetClassifier", epochs=2, random_state=1)
    scores = []
    for X, y, _ in pieces:
        assert estimator.partial_fit(X, np.where(y > 0, "up", "down"), classes=["down", "up"]) is estimator
        scores.append(estimator.score(unseen.X, np.where(unseen.y > 0, "up", "down")))
    assert scores[-1] > 0.85 and scores[-1] >= scores[0]
    assert len(estimator.history_["loss"]) == 10 * 2 + 2
    again = pickle.loads(pickle.dumps(estimator))
    X, y, _ = waveform
    words = np.where(y > 0, "up", "down")
    assert np.array_equal(again.partial_fit(X, words).transform(X), estimator.partial_fit(X, words).transform(X))
    with pytest.raises(ValueError, match="not fitted on"):
        estimator.partial_fit(X, np.full(len(X), "aside"))
    with pytest.raises(ValueError, match="no rows of class 'aside'"):
        make("StoNetClassifier").partial_fit(X, words, classes=["aside", "down", "up"])


@pytest.mark.parametrize("front", ["none", "kernel", "columns", "components"])
def test_a_fit_that_chose_its_settings_goes_on_with_weights(waveform, front):
    X, y, _ = waveform
    estimator = make("StoNetClassifier", front=front, epochs="auto", random_state=1).fit(X[::2], y[::2])
    before = estimator.score(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        estimator.partial_fit(X[1::2], y[1::2], sample_weight=np.full(len(X[1::2]), 2.0))
    assert estimator.score(X, y) > before - 0.05
    further = clone(estimator).set_params(warm_start=True).fit(X, y)
    assert further.fit(X, y, sample_weight=np.ones(len(X))).score(X, y) > before - 0.05


def test_facts_and_logarithms(waveform):
    X, y, _ = waveform
    estimator = make("StoNetClassifier", random_state=1).fit(X, y)
    assert np.allclose(np.exp(estimator.predict_log_proba(X)), estimator.predict_proba(X))
    assert estimator.info()["method"] == "stonet" and "held_out" in str(estimator.info()["fitted"])


def test_partial_fit_of_numbers(numbers):
    X, y = numbers
    estimator = make("StoNetRegressor", epochs=5, random_state=1).partial_fit(X[:30], y[:30])
    before = estimator.score(X, y)
    for _ in range(20):
        estimator.partial_fit(X[30:], y[30:]).partial_fit(X[:30], y[:30])
    assert estimator.score(X, y) > max(before, 0.8)


def test_the_columns_of_z_are_axes_ordered_by_share():
    X, y, _ = stonet.datasets.generate("friedman", rows=200, random_state=3)
    model = stonet.StoNetRegressor(n_components=2, epochs=20, weight_decay=0.01, random_state=1).fit(X, y)
    Z = model.transform(X).astype(float)
    assert abs(np.corrcoef(Z.T)[0, 1]) < 0.01
    assert model.explained_share_.shape == (2,)
    assert model.explained_share_[0] >= model.explained_share_[1] >= 0
    assert abs(model.explained_share_.sum() - 1) < 1e-9


def test_location_and_scale_give_a_spread():
    X, y, _ = stonet.datasets.generate("location-scale:5", rows=300, random_state=3)
    settings = {"n_components": 2, "epochs": 20, "weight_decay": 0.01, "random_state": 1}
    model = stonet.StoNetRegressor(response="location-scale", **settings).fit(X, y)
    spread = model.predict_spread(X)
    assert spread.shape == (300,) and (spread > 0).all()
    assert model.predict(X).shape == (300,)
    plain = stonet.StoNetRegressor(**settings).fit(X, y)
    with pytest.raises(ValueError, match="location-scale"):
        plain.predict_spread(X)


def test_masked_cells_are_missing(numbers):
    """What a NumPy mask hides is no number: NaN among the features, refused in the response and the weights."""
    X, y = numbers
    mask = np.zeros(X.shape, dtype=bool)
    mask[3, 1] = mask[7, 0] = True
    hidden = np.where(mask, np.nan, X).astype(X.dtype)
    masked = np.ma.MaskedArray(np.where(mask, 999, X).astype(X.dtype), mask)
    fitted = make("SlicedInverseRegression").fit(masked, y)
    assert np.array_equal(fitted.transform(masked), make("SlicedInverseRegression").fit(hidden, y).transform(hidden))
    whole = np.ma.MaskedArray(np.round(X * 100).astype(int), mask)
    assert make("PrincipalComponents").fit(whole).transform(whole).shape[0] == len(X)
    response = np.ma.MaskedArray(y, mask[:, 0])
    for fit in (
        lambda: make("StoNetRegressor").fit(X, response),
        lambda: make("SlicedInverseRegression").fit(X, response),
        lambda: make("SlicedInverseRegression").fit(X, y, sample_weight=np.ma.MaskedArray(np.ones(len(y)), mask[:, 0])),
        lambda: stonet.order(X, response, method="sir"),
    ):
        with pytest.raises(ValueError, match="masked"):
            fit()


def test_tags_of_all_versions():
    """scikit-learn since 1.6 refuses a class with tags as they were before, unless it has both kinds itself."""
    for name in SETTINGS:
        for part in type(make(name)).__mro__:
            if part.__module__.startswith("stonet") and "_more_tags" in vars(part):
                assert "__sklearn_tags__" in vars(part), part
