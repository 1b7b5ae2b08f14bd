"""Rows that belong together are never parted when rows are held out."""
import inspect

import numpy as np
import pytest
from cheap import SETTINGS, make

import stonet


@pytest.fixture
def people():
    """40 people, four nearly equal rows each, whose response belongs to the person and not to the features."""
    numbers = np.random.default_rng(3)
    person = np.tile(np.arange(40), 4)
    X = numbers.normal(size=(40, 3))[person] + 1e-5 * numbers.normal(size=(160, 3))
    return X, numbers.normal(size=40)[person], np.array([f"p{k}" for k in person])


def held_out_mse(model):
    return 2 * model.model_.describe()["fitted"]["held_out_loss"]


def test_held_out_errors_are_those_of_new_people(people):
    X, y, person = people
    settings = {"n_components": 1, "front": "kernel", "random_state": 1}
    parted = stonet.StoNetRegressor(**settings).fit(X, y)
    together = stonet.StoNetRegressor(**settings).fit(X, y, groups=person)
    assert held_out_mse(parted) < 0.3
    assert held_out_mse(together) > 0.7
    new = np.random.default_rng(4).normal(size=(1000, 3))
    response = np.random.default_rng(5).normal(size=1000)
    together.calibrate(X, y, groups=person)
    low, high = together.predict_interval(new, 0.9).T
    assert np.mean((low <= response) & (response <= high)) > 0.8


def test_order_and_coefficients_take_groups(people):
    X, y, person = people
    found = stonet.order(X, y, method="gsir", rule="cv", max_components=1, groups=person)
    assert found.n_components == 0
    assert stonet.order(X, y, method="gsir", rule="cv", max_components=1).n_components == 1
    model = make("SlicedInverseRegression").fit(X, y, groups=person)
    apart, together = (model.coef_table(X, y, pairs=5, groups=groups).columns["z1_se"] for groups in (None, person))
    assert not np.array_equal(apart, together)
    errors, _ = model.standard_errors(X, X, y, refits=4, groups=person)
    assert not np.array_equal(errors, model.standard_errors(X, X, y, refits=4)[0])


def test_every_supervised_estimator_takes_groups():
    for name in SETTINGS:
        fit = inspect.signature(getattr(stonet, name).fit).parameters
        assert ("groups" in fit) == (fit["y"].default is inspect.Parameter.empty), name


def test_wrong_groups_are_refused(people):
    X, y, person = people
    model = make("SlicedInverseRegression")
    with pytest.raises(ValueError, match="groups are 160 values"):
        model.fit(X, y, groups=person[:5])
    with pytest.raises(ValueError, match="group of row 3 is missing"):
        model.fit(X, y, groups=np.where(np.arange(160) == 3, np.nan, 1.0))
