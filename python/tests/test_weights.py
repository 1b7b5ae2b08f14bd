"""Rows that count differently: whole weights are rows that come so many times."""
import numpy as np
import pytest
from cheap import SETTINGS, make

WEIGHTED = [
    "PrincipalComponents",
    "PartialLeastSquares",
    "SlicedInverseRegression",
    "SlicedAverageVariance",
    "DirectionalRegression",
    "PrincipalHessianDirections",
]


@pytest.fixture
def rows():
    numbers = np.random.default_rng(1)
    X = numbers.normal(size=(240, 4)) + 0.5 * numbers.normal(size=(240, 1))
    y = X[:, 0] + X[:, 1] ** 2 + 0.3 * numbers.normal(size=240)
    return X, y, np.arange(240) * 7 % 4


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_repeated_rows(name, rows):
    X, y, weight = rows
    weighted = make(name).fit(X, y, sample_weight=weight)
    repeated = make(name).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    plain = make(name).fit(X, y)
    z, same, other = (model.transform(X) for model in (weighted, repeated, plain))
    for k in range(z.shape[1]):
        assert abs(np.corrcoef(z[:, k], same[:, k])[0, 1]) > 1 - 1e-5
    assert not np.allclose(np.abs(z), np.abs(other), atol=1e-3)
    again = make(name).fit_transform(X, y, sample_weight=weight)
    assert np.array_equal(again, z)


def test_every_other_estimator_takes_no_weights(rows):
    X, y, weight = rows
    for name in SETTINGS:
        if name in WEIGHTED or name.startswith("StoNet"):
            continue
        with pytest.raises(TypeError, match="sample_weight"):
            make(name).fit(X, y, sample_weight=weight)


def test_weights_that_cannot_be(rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match="from 0 on"):
        make("SlicedInverseRegression").fit(X, y, sample_weight=np.full(240, -1.0))
    with pytest.raises(ValueError, match="all weights are 0|at least one non-zero"):
        make("SlicedInverseRegression").fit(X, y, sample_weight=np.zeros(240))
