"""partial_fit by pieces that are kept and fitted together: what is kept, what is refused, what is forgotten."""
from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from cheap import make
from scipy.sparse import csr_matrix
from sklearn.base import clone

import stonet
from stonet._run import RunContext

pytestmark = pytest.mark.filterwarnings("ignore:the fit is not clearly better", "ignore:.*direction")


def learner(name, **more):
    """Quick, and of those that keep their pieces."""
    return make(name, epochs="auto", random_state=1, front="none", activation="tanh", **more)


def test_pieces_are_fitted_together(waveform):
    """When a quarter has been added: one fit of all rows, to the bit. The caller may use its arrays again."""
    X, y = waveform[0][:120], waveform[1][:120] > 0
    frame = pd.DataFrame({"first": X[:, 0], "word": np.where(X[:, 1] > 0, "b", "a")})
    for table, weight in ((X, 1.0 + np.arange(120) % 2), (csr_matrix(X), None), (frame, None)):
        rows = table.iloc if hasattr(table, "iloc") else table

        def learn(estimator, method, first, last):
            piece = rows[first:last].copy()
            getattr(estimator, method)(piece, y[first:last], sample_weight=None if weight is None else weight[first:last])
            if isinstance(piece, np.ndarray):
                piece[:] = 0
            return estimator.transform(table)

        pieces = make("StoNetClassifier", epochs="auto", random_state=1)
        learn(pieces, "partial_fit", 0, 40)
        Z = learn(pieces, "partial_fit", 40, 80)
        assert np.array_equal(Z, learn(clone(pieces), "fit", 0, 80))
        pickled = pickle.loads(pickle.dumps(pieces))  # has no rows, and trains further
        assert not np.array_equal(learn(pickled, "partial_fit", 80, 90), Z)
        assert np.array_equal(learn(pieces, "partial_fit", 80, 90), Z)
        assert np.array_equal(learn(pieces, "partial_fit", 90, 120), learn(clone(pieces), "fit", 0, 120))
        with pytest.raises(ValueError, match="the first was a"):
            pieces.partial_fit(csr_matrix(X) if table is X else np.zeros(table.shape), y)


@pytest.mark.filterwarnings("ignore")
def test_pieces_are_fitted_together_where_the_dimension_is_chosen(waveform):
    X, y = waveform[0][:80], waveform[1][:80] > 0
    pieces = make("StoNetClassifier", n_components="auto", epochs="auto", random_state=1)
    pieces.partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    assert np.array_equal(pieces.transform(X), clone(pieces).fit(X, y).transform(X))


def test_no_piece_is_kept_beyond_the_bound_or_with_epochs(waveform, monkeypatch):
    X, y, _ = waveform
    assert make("StoNetClassifier", random_state=1).partial_fit(X, y)._pieces is None
    monkeypatch.setattr("stonet._networks._CELLS_KEPT", X[:110].size)
    pieces = make("StoNetClassifier", epochs="auto", random_state=1).partial_fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="not fitted on"):
        pieces.partial_fit(X[100:105], np.full(5, 77))
    for first in (100, 105, 110):  # the last is too much: one more fit of all rows
        pieces.partial_fit(X[first : first + 5], y[first : first + 5])
    before = pieces.transform(X)
    assert pieces._pieces is None and np.array_equal(before, clone(pieces).fit(X[:115], y[:115]).transform(X))
    assert not np.array_equal(pieces.partial_fit(X[115:], y[115:]).transform(X), before)


def test_tables_that_are_all_numbers_in_some_pieces(numbers):
    X, y = pd.DataFrame(numbers[0]).astype("Float64").add_prefix("x"), numbers[1]
    pieces = learner("StoNetRegressor").partial_fit(X[:40].astype(float), y[:40])
    with pytest.raises(ValueError, match="a table with more than plain numbers, the first was a table of plain numbers"):
        pieces.partial_fit(X[40:], y[40:])


def test_weights_of_sparse_pieces_are_refused(numbers):
    X, y = csr_matrix(numbers[0]), numbers[1]
    pieces = learner("StoNetRegressor").partial_fit(X[:40], y[:40])
    with pytest.raises(ValueError, match="sparse"):
        pieces.partial_fit(X[40:45], y[40:45], sample_weight=np.full(5, 9.0))
    pieces.partial_fit(X[40:], y[40:])
    assert np.array_equal(pieces.transform(X), clone(pieces).fit(X, y).transform(X))


def test_one_weight_for_a_piece(numbers):
    X, y = numbers
    pieces = learner("StoNetRegressor").partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:], sample_weight=2.0)
    weights = np.where(np.arange(60) < 40, 1.0, 2.0)
    assert np.array_equal(pieces.transform(X), clone(pieces).fit(X, y, sample_weight=weights).transform(X))


def test_responses_of_another_shape(numbers):
    X, y = numbers
    pieces = learner("StoNetRegressor").partial_fit(X[:40], y[:40])
    with pytest.raises(ValueError, match="y has the shape"):
        pieces.partial_fit(X[40:42], np.stack([y[40:42], y[40:42]], axis=1))
    pieces.partial_fit(X[40:], y[40:, np.newaxis])
    assert np.array_equal(pieces.predict(X), clone(pieces).fit(X, y).predict(X))


def test_a_bad_response_is_refused_with_its_piece(numbers):
    X, y = numbers
    times = np.column_stack([np.exp(y), np.arange(60) % 3 > 0])
    pieces = learner("StoNetRegressor", task="survival").partial_fit(X[:40], times[:40])
    with pytest.raises(ValueError, match="row 2"):
        pieces.partial_fit(X[40:42], [[1.0, 1.0], [-1.0, 1.0]])
    pieces.partial_fit(X[40:], times[40:])
    assert np.array_equal(pieces.transform(X), clone(pieces).fit(X, times).transform(X))


def test_further_training_ends_the_keeping(numbers):
    """A fit of all pieces would not know of the rows that warm_start gave."""
    X, y = numbers
    pieces = learner("StoNetRegressor").partial_fit(X[:40], y[:40]).set_params(warm_start=True).fit(X[40:50], y[40:50])
    trained = pickle.loads(pickle.dumps(pieces))
    assert np.array_equal(pieces.partial_fit(X[50:], y[50:]).transform(X), trained.partial_fit(X[50:], y[50:]).transform(X))


def test_a_fit_keeps_no_rows_after_a_piece_that_failed(numbers):
    X, y = numbers
    model = learner("StoNetRegressor")
    with pytest.raises(ValueError):
        model.partial_fit(X[:40], np.full(40, np.nan))
    model.fit(X[:40], y[:40])
    other = clone(model).fit(X[:40], y[:40])
    assert np.array_equal(model.partial_fit(X[40:], y[40:]).transform(X), other.partial_fit(X[40:], y[40:]).transform(X))
    assert model._pieces is None


def test_pieces_outlive_an_interruption(numbers, monkeypatch):
    X, y = numbers
    pieces = learner("StoNetRegressor").partial_fit(X[:40], y[:40])
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(RunContext, "_should_stop", lambda self, user: setattr(self, "interrupted", True) or 1)
        pieces.partial_fit(X[40:], y[40:])
    pieces.partial_fit(X[40:], y[40:])
    assert np.array_equal(pieces.transform(X), clone(pieces).fit(X, y).transform(X))


def test_importances_are_of_the_network_as_it_is(numbers):
    X, y = numbers
    model = make("StoNetRegressor", random_state=1).fit(X, y)
    before = model.feature_importances_
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).feature_importances_, before)
    again = pickle.loads(pickle.dumps(model)).partial_fit(X, -X[:, 3])
    model.partial_fit(X, -X[:, 3])
    assert not np.array_equal(model.feature_importances_, before)
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)


def test_weights_of_classes_that_a_piece_does_not_have(waveform):
    X, y, _ = waveform
    model = make("StoNetClassifier", random_state=1, class_weight={1: 5}).fit(X, y)
    same = make("StoNetClassifier", random_state=1).fit(X, y, np.where(y == 1, 5.0, 1.0))
    part = y == -1
    Z = model.partial_fit(X[part], y[part]).transform(X)
    assert np.array_equal(Z, same.partial_fit(X[part], y[part]).transform(X))
    with pytest.raises(ValueError, match="class_weight"):
        make("StoNetClassifier", class_weight={7: 5}).fit(X, y)
