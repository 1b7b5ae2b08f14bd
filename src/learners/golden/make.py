#!/usr/bin/python3
"""Writes regressions.txt: small data sets with the coefficients scikit-learn gives them.

Each case: "case NAME KIND n p outputs penalty", n rows of p features and the response, then "coef" and one row
an output: its p coefficients and its intercept. Features are multiples of 1/64, exact in single precision.
"""
import os

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

rng = np.random.default_rng(20221)


def grid(shape, scale=1.0, shift=0.0):
    return np.round((shift + scale * rng.standard_normal(shape)) * 64) / 64


def logistic_labels(x, classes, sharpness):
    eta = sharpness * x[:, : min(3, x.shape[1])] @ rng.standard_normal((min(3, x.shape[1]), classes))
    return np.argmax(eta + rng.gumbel(size=eta.shape), axis=1)


def gradient_size(model, x, y, l2):
    """Largest entry of the gradient in the intercepts and of l2 w - X' residual, relative to n."""
    p = model.predict_proba(x)
    r = p - (y[:, None] == model.classes_[None, :])
    if len(model.classes_) == 2:
        r = r[:, 1:]
    g = r.T @ x + l2 * model.coef_
    return max(np.abs(g).max(), np.abs(r.sum(0)).max()) / len(y)


def logistic(out, name, x, y, l2=1.0):
    model = LogisticRegression(C=1 / l2, solver="newton-cg", tol=1e-10, max_iter=500).fit(x, y)
    assert gradient_size(model, x, y, l2) < 2e-9, (name, gradient_size(model, x, y, l2))
    write(out, name, "logistic", x, y[:, None], y.max() + 1, l2, model.coef_, model.intercept_)


def linear(out, name, x, y, ridge=0.0):
    model = (Ridge(alpha=ridge, solver="svd") if ridge else LinearRegression()).fit(x, y)
    write(out, name, "linear", x, y, y.shape[1], ridge, model.coef_, model.intercept_)


def write(out, name, kind, x, y, outputs, penalty, coef, intercept):
    print("case", name, kind, *x.shape, outputs, penalty, file=out)
    for row in np.hstack([x, y]):
        print(*(f"{v:.17g}" for v in row), file=out)
    print("coef", coef.shape[0], file=out)
    for row in np.hstack([coef, intercept[:, None]]):
        print(*(f"{v:.17g}" for v in row), file=out)


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "regressions.txt"), "w") as out:
    x = grid((60, 3))
    logistic(out, "binary", x, logistic_labels(x, 2, 1.5))
    x = grid((90, 4))
    logistic(out, "multinomial", x, logistic_labels(x, 4, 1.0))
    logistic(out, "weak_penalty", x, logistic_labels(x, 3, 1.0), l2=0.01)
    logistic(out, "strong_penalty", x, logistic_labels(x, 3, 1.0), l2=100.0)
    x = grid((40, 2))
    logistic(out, "separable", x, (x[:, 0] + x[:, 1] > 0).astype(int))
    logistic(out, "separable_three", x, np.digitize(x[:, 0], [-0.5, 0.5]))
    x = grid((50, 2))
    x = np.column_stack([x, x[:, 0] + x[:, 1], x[:, 0]])
    logistic(out, "collinear", x, logistic_labels(x, 2, 1.0))
    logistic(out, "collinear_three", x, logistic_labels(x, 3, 1.0))
    x = grid((12, 20))
    logistic(out, "more_columns_than_rows", x, np.arange(12) % 2)
    logistic(out, "more_columns_than_rows_three", x, np.arange(12) % 3)
    x = grid((30, 1))
    logistic(out, "one_feature", x, logistic_labels(x, 2, 2.0))
    x = grid((80, 3))
    x = np.column_stack([100 + 30 * x[:, 0], x[:, 1], np.full(80, 2.5), np.round(x[:, 2] * 4) / 64])
    logistic(out, "unlike_scales", x, logistic_labels(x - x.mean(0), 2, 0.05))

    x = grid((50, 4))
    linear(out, "plain", x, x @ rng.standard_normal((4, 3)) + 0.3 * rng.standard_normal((50, 3)))
    linear(out, "ridge", x, x @ rng.standard_normal((4, 2)) + rng.standard_normal((50, 2)), ridge=2.5)
    x = grid((40, 2), shift=3.0)
    x = np.column_stack([x, x[:, 0] - x[:, 1], np.full(40, 1.5)])
    linear(out, "collinear", x, x[:, :1] + rng.standard_normal((40, 1)))
    linear(out, "collinear_ridge", x, x[:, :1] + rng.standard_normal((40, 1)), ridge=0.1)
    x = grid((10, 25))
    linear(out, "more_columns_than_rows", x, rng.standard_normal((10, 2)))
    linear(out, "more_columns_than_rows_ridge", x, rng.standard_normal((10, 2)), ridge=1.0)
    x = grid((20, 1))
    linear(out, "one_feature", x, 2 * x + rng.standard_normal((20, 1)))
