"""What a fitted StoNet says of itself, and results as tables."""
from __future__ import annotations

import pickle

import numpy as np
import pytest
from cheap import make
from scipy.sparse import csr_matrix
from sklearn.feature_selection import SelectFromModel

import stonet


def test_facts_of_a_default_fit(waveform):
    X, y, _ = waveform
    fitted = stonet.StoNetClassifier(2, random_state=1, n_jobs=1).fit(X, y)
    found = fitted.info()["fitted"]
    assert fitted.front_ == found.get("front", "none")
    assert fitted.held_out_error_ == found["held_out_error"] < 0.3
    assert fitted.effective_dim_ == found["effective_dimension"]
    assert fitted.explained_share_.shape == (2,) and len(fitted.history_["loss"]) > 0
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.front_, again.held_out_error_) == (fitted.front_, fitted.held_out_error_)


def test_held_out_error_of_numbers(numbers):
    fitted = stonet.StoNetRegressor(1, random_state=1, n_jobs=1).fit(*numbers)
    assert fitted.held_out_error_ == 2 * fitted.info()["fitted"]["held_out_loss"]
    assert make("StoNetRegressor").fit(*numbers).held_out_error_ is None  # nothing was chosen


def test_feature_importances(waveform):
    X, y, _ = waveform
    X = np.hstack([X, np.zeros((len(X), 1), dtype=np.float32)])
    X[:, -1] = np.random.default_rng(1).normal(size=len(X))
    fitted = make("StoNetClassifier", random_state=1, epochs=100).fit(X, y)
    share = fitted.feature_importances_
    slopes = fitted.importance(X, y, kind="gradient").importance
    np.testing.assert_allclose(share, slopes / slopes.sum())
    assert SelectFromModel(make("StoNetClassifier", random_state=1)).fit(X, y).transform(X).shape[1] < X.shape[1]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).feature_importances_, share)
    with pytest.raises(AttributeError, match="not fitted yet"):
        make("StoNetClassifier").feature_importances_
    unasked = make("StoNetClassifier", random_state=1).fit(X, y)
    with pytest.raises(AttributeError, match="no rows"):
        pickle.loads(pickle.dumps(unasked)).feature_importances_
    sparse = make("StoNetClassifier", random_state=1).fit(csr_matrix(X), y)
    assert sparse.feature_importances_.shape == (X.shape[1],)


def test_class_weight(waveform):
    X, y, _ = waveform
    plain, first, second = (
        make("StoNetClassifier", random_state=1, class_weight=given).fit(X, y)
        for given in (None, {-1: 10, 1: 1}, {-1: 1, 1: 10})
    )
    shares = [(model.predict(X) == -1).mean() for model in (first, plain, second)]
    assert shares[0] > shares[1] > shares[2]
    weights = np.where(y == -1, 10.0, 1.0)
    same = make("StoNetClassifier", random_state=1).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(same.predict_proba(X), first.predict_proba(X))
    # rows that count already count by both
    both = make("StoNetClassifier", random_state=1, class_weight={-1: 5}).fit(X, y, np.where(y == -1, 2.0, 1.0))
    np.testing.assert_array_equal(both.predict_proba(X), first.predict_proba(X))
    balanced = make("StoNetClassifier", random_state=1, class_weight="balanced", warm_start=True)
    with pytest.raises(ValueError, match="give a dict"):  # with the first piece, too
        balanced.partial_fit(X, y)
    balanced.fit(X, y)
    with pytest.raises(ValueError, match="give a dict"):
        balanced.fit(X, y)
    before = first.predict_proba(X)
    assert not np.array_equal(first.partial_fit(X, y).predict_proba(X), before)


def test_decision_function(waveform):
    X, y, _ = waveform
    two = make("StoNetClassifier", random_state=1).fit(X, y)
    log = two.predict_log_proba(X)
    np.testing.assert_allclose(two.decision_function(X), log[:, 1] - log[:, 0])
    three = make("StoNetClassifier", random_state=1).fit(X, np.arange(len(y)) % 3)
    scores = three.decision_function(X)
    assert scores.shape == (len(X), 3)
    np.testing.assert_array_equal(three.classes_[scores.argmax(axis=1)], three.predict(X))


def test_results_as_tables(waveform):
    pytest.importorskip("pandas")
    X, y, _ = waveform
    fitted = make("StoNetClassifier", random_state=1).fit(X, y)
    slopes = fitted.importance(X, y, kind="gradient")
    frame = slopes.to_frame()
    assert frame["variable"].tolist() == slopes.variables and list(frame)[:3] == ["variable", "importance", "se"]
    assert frame["z1"].tolist() == slopes.z[:, 0].tolist()
    assert fitted.coef_table(X).to_frame().shape[0] == X.shape[1]
    assert stonet.order(X, y, method="sir").to_frame()["k"].tolist()[0] == 0
    test = stonet.independence_test(X[:, 0], X[:, 1])
    assert test.to_frame().shape == (1, 4) and f"<td>{test.test}</td>" in test._repr_html_()
    assert fitted.sufficiency_test(X, y).to_frame().shape == (1, 8)
    named = stonet.ImportanceResult(["<b>"], np.ones(1), np.ones(1), np.ones((1, 0)))
    assert "&lt;b&gt;" in named._repr_html_() and named[0] == ["<b>"]


def test_plots_of_results(waveform, numbers):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y, _ = waveform
    fitted = make("StoNetClassifier", random_state=1).fit(X, y)
    assert len(stonet.plot.importance(fitted.importance(X, y, kind="gradient"), most=5).patches) == 5
    assert stonet.plot.calibration(y == 1, fitted.predict_proba(X)[:, 1]).get_xlabel() == "probability"
    with pytest.raises(ValueError, match="column of predict_proba"):
        stonet.plot.calibration(y == 1, fitted.predict_proba(X))
    X, y = numbers
    regressor = make("StoNetRegressor", random_state=1).fit(X, y).calibrate(X, y, rows="split")
    ax = stonet.plot.intervals(y, regressor.predict_interval(X))
    assert ax.get_legend().get_texts()[0].get_text().startswith("inside")
    few = stonet.plot.intervals([0, 9, 9, 9, 0], np.tile([[-1.0, 1.0]], (5, 1)), most=2)  # the share is of all rows
    assert [text.get_text() for text in few.get_legend().get_texts()] == ["inside: 40%", "outside: 60%"]
    with pytest.raises(ValueError, match="two numbers"):
        stonet.plot.intervals(y, y)


def test_inverse_transform():
    random = np.random.default_rng(3)
    X = random.normal(size=(300, 2)) @ random.normal(size=(2, 6)) * [1, 10, 100, 1, 1, 1] + [5, 0, 0, -3, 1e3, 0]
    X[:, 5] = 7.0
    whole = stonet.PrincipalComponents(2).fit(X)
    np.testing.assert_allclose(whole.inverse_transform(whole.transform(X)), X, rtol=1e-4, atol=1e-3)
    one = stonet.PrincipalComponents(1).fit(X)  # what is lost is not along the component
    back = one.inverse_transform(one.transform(X))
    np.testing.assert_allclose(one.transform(back), one.transform(X), atol=1e-4)
    assert 0 < ((back - X) ** 2).sum()
    coder = stonet.Autoencoder(2, epochs=400, hidden=8, random_state=1, n_jobs=1).fit(X)
    got = coder.inverse_transform(coder.transform(X))
    assert ((got - X) ** 2)[:, 2].mean() < 0.05 * X[:, 2].var() and np.ptp(got[:, 5]) < 1e-3
    with pytest.raises(ValueError, match="2 columns here"):
        coder.inverse_transform(X)
    pandas = pytest.importorskip("pandas")
    words = pandas.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down")})
    mixed = stonet.PrincipalComponents(1).fit(words)
    with pytest.raises(ValueError, match="no way back"):
        mixed.inverse_transform(mixed.transform(words))


@pytest.mark.parametrize("curves", ["none", "snv"])
def test_curves_have_no_way_back(curves):
    """The components are of the curves as they were prepared."""
    X = 5 + np.random.default_rng(1).normal(size=(60, 40)).cumsum(axis=1)
    fitted = stonet.PrincipalComponents(40, curves=curves).fit(X)
    if curves == "none":
        np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(X)), X, atol=1e-3)
    else:
        with pytest.raises(ValueError, match="no way back to curves"):
            fitted.inverse_transform(fitted.transform(X))


def test_load_knows_the_settings_of_the_file(tmp_path):
    X = 5 + np.random.default_rng(1).normal(size=(60, 40)).cumsum(axis=1)
    given = {"curves": "snv", "missing": "mean", "scale": "common", "task": "regression", "random_state": 3}
    for estimator in (stonet.SlicedInverseRegression(1, slices=5, **given), make("StoNetRegressor", n_components=1, **given)):
        estimator.fit(X, X[:, 0]).save(tmp_path / "m.model")
        found, fitted = stonet.load(tmp_path / "m.model").get_params(), estimator.get_params()
        assert {name: found[name] for name in given} == given
        assert found.get("slices") == fitted.get("slices")


def test_load_knows_its_kind(waveform, tmp_path):
    X, y, _ = waveform
    make("StoNetClassifier", random_state=1).fit(X, y).save(tmp_path / "m.model")
    assert isinstance(stonet.load(tmp_path / "m.model", stonet.StoNetClassifier), stonet.StoNetClassifier)
    with pytest.raises(ValueError, match="is a StoNetClassifier, not a StoNetRegressor"):
        stonet.load(tmp_path / "m.model", stonet.StoNetRegressor)


@pytest.mark.parametrize("labels", [("2" * 30, "1" * 30), ("1_0", "2_0"), ("01", "1"), ("nan", "inf"), ("1", "2"), ("0.5", "2")])
def test_labels_of_a_file(labels, waveform, tmp_path):
    """Numbers where all are and no two are the same one."""
    X, y, _ = waveform
    fitted = make("StoNetClassifier", random_state=1).fit(X, np.where(y > 0, *labels))
    fitted.save(tmp_path / "m.model")
    found = stonet.load(tmp_path / "m.model")
    wanted = [float(label) for label in fitted.classes_] if "2" in labels else list(fitted.classes_)
    assert found.classes_.tolist() == wanted
    assert np.array_equal(found.predict(X), np.array(wanted)[np.searchsorted(fitted.classes_, fitted.predict(X))])
