"""How many dimensions, which variables, what Z is made of."""
from __future__ import annotations

import json
import re

import numpy as np
import pytest
from cheap import make
from scipy.sparse import csr_matrix

import stonet


@pytest.fixture(scope="module")
def two_indices():
    """Two directions that matter, of six columns in different units."""
    X = np.random.default_rng(4).normal(size=(400, 6))
    y = X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.1 * np.random.default_rng(5).normal(size=400)
    return (X * np.array([1, 10, 1, 0.1, 1, 1])).astype(np.float32), y


def test_order(two_indices):
    X, y = two_indices
    found = stonet.order(X, y, method="sir", settings={"slices": 8})
    assert found.n_components == 2 and found.rule == "ladle" and len(found.reason) > 20
    assert found.table["k"][0] == 0 and len({len(column) for column in found.table.values()}) == 1
    again = stonet.order(X, y, method="sir", settings={"slices": 8}, n_jobs=2)
    for name, column in found.table.items():
        assert np.array_equal(column, again.table[name], equal_nan=True)
    assert stonet.order(X, y, method="gsir", rule="cv", max_components=2, folds=3).rule == "cv"
    noise = np.random.default_rng(6).normal(size=len(X))
    assert stonet.order(X, noise, method="sir", rule="tests", level=0.001).n_components == 0
    sparse = stonet.order(csr_matrix(X), y, method="sir", settings={"slices": 8})
    assert sparse.n_components == stonet.SlicedInverseRegression("auto", slices=8, random_state=1).fit(csr_matrix(X), y).model_.dim
    with pytest.raises(ValueError, match="no rule 'ladel'"):
        stonet.order(X, y, rule="ladel")
    with pytest.raises(ValueError, match="rows and columns"):
        stonet.order(X[0], y)


def test_components_left_to_the_data(two_indices):
    X, y = two_indices
    fitted = stonet.SlicedInverseRegression("auto", slices=8, random_state=1).fit(X, y)
    assert fitted.order_.n_components == 2
    assert fitted.transform(X).shape == (len(X), 2)
    closed = stonet.SlicedInverseRegression(2, slices=8, random_state=1).fit(X, y)
    assert np.array_equal(fitted.transform(X), closed.transform(X))
    assert not hasattr(closed, "order_")
    # A method whose rule needs predictions is chosen with a learner on Z, and fitted without.
    assert make("GSIR", n_components="auto", random_state=1).fit(X[:120], y[:120]).order_.rule == "cv"
    assert stonet.PrincipalComponents("auto").fit(X).transform(X).shape[1] >= 1
    noise = np.random.default_rng(6).normal(size=len(X))
    with pytest.warns(stonet.StonetWarning, match="tells nothing about y"):
        assert stonet.SlicedInverseRegression("auto").fit(X, noise).transform(X).shape[1] == 1
    with pytest.raises(ValueError):
        stonet.SlicedInverseRegression("several").fit(X, y)


def test_components(two_indices):
    X, y = two_indices
    fitted = stonet.SlicedInverseRegression(2).fit(X, y)
    assert fitted.components_.shape == (2, 6)
    Z = fitted.transform(X)
    assert np.allclose(Z - Z[0], (X - X[0]) @ fitted.components_.T, atol=1e-4)
    with pytest.raises(AttributeError, match="not a linear function"):
        make("KernelSIR").fit(X, y).components_
    assert not hasattr(stonet.SlicedInverseRegression(2), "components_")


def test_order_takes_all_digits(two_indices):
    """A column far from 0 is not rounded on its way in, whatever its type."""
    X, y = two_indices
    far = X.astype(np.float64) + 1e9
    wanted = stonet.order(X.astype(np.float64), y, method="sir").n_components
    assert wanted > 0 and stonet.order(far, y, method="sir").n_components == wanted
    whole = np.round(X * 1000).astype(np.int64)
    response = whole[:, 0] / 1000 + whole[:, 1] / 1000
    assert stonet.order(whole + 10**9, response, method="sir").n_components == 1
    assert stonet.order((whole + 10**9).tolist(), response.tolist(), method="sir").n_components == 1


def test_importance(two_indices):
    X, y = two_indices
    fitted = stonet.StoNetRegressor(2, epochs=60, hidden=8, weight_decay=0.01, random_state=1).fit(X, y)
    for kind, dim in (("permutation", 2), ("gradient", 2), ("shapley", 0)):
        found = fitted.importance(X, y, kind=kind, repeats=4)
        assert set(np.argsort(found.importance)[-2:]) == {0, 1}
        assert found.z.shape == (6, dim) and (found.se >= 0).all()
        same = stonet.importance(fitted, X, y, kind=kind, repeats=4)
        assert np.array_equal(found.importance, same.importance) and found.variables == same.variables
    refits = fitted.importance(X, y, kind="refit", train=(X, y))
    assert refits.z.shape == (6, 0) and refits.importance[0] > 0.1
    with pytest.raises(ValueError, match="fitted on"):
        fitted.importance(X, y, kind="refit")
    with pytest.raises(ValueError, match="no kind of importance"):
        fitted.importance(X, y, kind="magic")
    with pytest.raises(ValueError):
        stonet.SlicedInverseRegression(1).fit(X, y).importance(X, y)


def test_selection(two_indices):
    X, y = two_indices
    fitted = stonet.StoNetRegressor(
        1, select="group", select_penalty=0.005, epochs=20, weight_decay=0.01, random_state=1
    ).fit(X, y)
    assert fitted.support_.dtype == bool and fitted.support_[:2].all() and not fitted.support_.all()
    changed = X.copy()
    changed[:, ~fitted.support_] = 7.0
    assert np.array_equal(fitted.predict(X), fitted.predict(changed))
    assert stonet.SlicedInverseRegression(1).fit(X, y).support_.all()
    assert not hasattr(stonet.StoNetRegressor(1), "support_")
    shares = fitted.importance(X, y, kind="stability", repeats=2)
    assert shares.z.shape == (6, 0) and ((shares.importance >= 0) & (shares.importance <= 1)).all()
    assert shares.importance[:2].max() >= 0.75


def test_report(two_indices, tmp_path):
    X, y = two_indices
    fitted = stonet.StoNetRegressor(1, epochs=5, weight_decay=0.01, random_state=1).fit(X, y)
    path = fitted.report(X, y, tmp_path / "page.html", importance="gradient", points=50)
    page = fitted.report(X, y, importance="gradient", points=50)
    assert page.startswith("<!") and path == tmp_path / "page.html" and path.read_text(encoding="utf-8") == page
    content = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S).group(1))
    assert content["shown"] == 50 and content["rows"] == len(X) and content["model"] == "StoNetRegressor"
    assert content["importance"]["kind"] == "gradient" and "history" in content
    reduced = stonet.PrincipalComponents(2).fit(X).report(X)
    assert "importance\":{" not in reduced
    with pytest.raises(ValueError, match="no kind of importance"):
        fitted.report(X, y, importance="magic")


def test_coef_table(two_indices):
    X, y = two_indices
    sir = stonet.SlicedInverseRegression(2).fit(X, y)
    plain, errors = sir.coef_table(), sir.coef_table(X, y, pairs=10)
    assert plain.kind == "directions" and list(errors.columns) == ["z1", "z1_se", "z2", "z2_se"]
    assert np.allclose(plain.columns["z1"], sir.components_[0], rtol=1e-12, atol=0)
    assert (errors.columns["z1_se"] > 0).all()
    assert abs(errors.columns["z1"][0]) > 4 * errors.columns["z1_se"][0]
    kernel = make("KernelSIR", n_components=1).fit(X, y).coef_table(X)
    assert kernel.kind == "gradients" and list(kernel.columns) == ["z1", "direction1"]
    assert 0 < kernel.shares[0] <= 1 and len(kernel.features) == 6
    with pytest.raises(ValueError, match="give rows"):
        make("KernelSIR").fit(X, y).coef_table()
