"""Pictures of a reduction. Needs matplotlib, which nothing else in the package does."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._answers import ImportanceResult
    from ._base import BaseReduction


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("stonet.plot needs matplotlib: install it, or plot the arrays yourself") from error
    return pyplot.subplots(figsize=(5.5, 4.5), constrained_layout=True)[1]


def reduction(Z: Any, y: Any, *, ax: Any = None) -> Any:
    """Show Z by the response: one colour a class, or a colour scale for numbers.

    With two columns or more the first two are the axes; with one, Z is shown against the response. Returns the axes.
    """
    Z, y = np.asarray(Z), np.asarray(y)
    ax = _axes(ax)
    classes = np.unique(y)
    categorical = y.dtype.kind in "OUSb" or (len(classes) <= 20 and bool(np.all(classes == np.floor(classes))))
    flat = Z.shape[1] == 1
    if categorical:
        for k, label in enumerate(classes):
            rows = np.flatnonzero(y == label)
            # One column: the classes as bands, each spread a little so that points do not hide each other.
            height = k + 0.6 * ((np.arange(len(rows)) * 0.618034) % 1 - 0.5) if flat else Z[rows, 1]
            ax.scatter(Z[rows, 0], height, s=12, alpha=0.7, label=str(label))
        ax.legend(title="response")
    elif flat:
        ax.scatter(Z[:, 0], y, s=12, alpha=0.7)
    else:
        points = ax.scatter(Z[:, 0], Z[:, 1], c=y, s=12, alpha=0.8)
        ax.figure.colorbar(points, ax=ax, label="response")
    ax.set_xlabel("Z1")
    ax.set_ylabel(("class" if categorical else "response") if flat else "Z2")
    if flat and categorical:
        ax.set_yticks(range(len(classes)), [str(label) for label in classes])
    return ax


def training_curve(estimator: BaseReduction, *, ax: Any = None) -> Any:
    """Show the training loss by epoch of a fitted estimator that trains a network. Returns the axes."""
    history = estimator.history_
    if history is None:
        raise ValueError(f"{type(estimator).__name__} has no training history")
    ax = _axes(ax)
    ax.plot(np.arange(1, len(history["loss"]) + 1), history["loss"], label="training")
    stages = history.get("stage")
    if stages is not None and len(np.unique(stages)) > 1:
        border = int(np.flatnonzero(stages != stages[0])[0]) + 0.5
        ax.axvline(border, color="grey", linestyle=":", label="full-data stage begins")
        ax.legend()
    ax.set_xlabel("epoch")
    ax.set_ylabel("loss")
    return ax


def error_by_dimension(dimensions: Sequence[int], errors: Any, *, ax: Any = None, label: str | None = None) -> Any:
    """Show held-out error against the dimension q, with a band of one standard error. Returns the axes.

    ``errors`` has a row for each dimension and a column for each split: from ``GridSearchCV.cv_results_``, say.
    """
    values = np.asarray(errors, dtype=np.float64)
    values = values.reshape(len(dimensions), -1)
    ax = _axes(ax)
    mean = values.mean(axis=1)
    ax.plot(dimensions, mean, marker="o", label=label)
    if values.shape[1] > 1:
        spread = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
        ax.fill_between(dimensions, mean - spread, mean + spread, alpha=0.2)
    ax.set_xticks(list(dimensions))
    ax.set_xlabel("dimension q")
    ax.set_ylabel("held-out error")
    if label is not None:
        ax.legend()
    return ax


def importance(result: ImportanceResult, *, most: int = 20, ax: Any = None) -> Any:
    """Show which variables count, the largest first, with a line of one standard error each way. Returns the axes."""
    ax = _axes(ax)
    order = np.argsort(-result.importance, kind="stable")[:most][::-1]
    error = np.where(np.isfinite(result.se), result.se, 0.0)[order]
    ax.barh(range(len(order)), result.importance[order], xerr=error)
    ax.set_yticks(range(len(order)), [result.variables[j] for j in order])
    ax.set_xlabel("importance")
    return ax


def calibration(y: Any, probability: Any, *, bins: int = 10, ax: Any = None) -> Any:
    """Show how often what is said to have a probability is true: rows in bins of equal size. Returns the axes.

    ``y`` has 1 (or True) for rows of the class and 0 for others; ``probability`` is what the model says of that class.
    """
    said, truth = np.asarray(probability, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if said.shape != truth.shape or said.ndim != 1 or not np.isin(truth, (0.0, 1.0)).all():
        raise ValueError("y has 0 or 1 for each row, and probability one number: choose a column of predict_proba")
    ax = _axes(ax)
    parts = [rows for rows in np.array_split(np.argsort(said, kind="stable"), bins) if len(rows) > 0]
    share = np.array([truth[rows].mean() for rows in parts])
    error = np.sqrt(share * (1 - share) / np.array([len(rows) for rows in parts]))
    ax.plot([0, 1], [0, 1], color="grey", linestyle=":")
    ax.errorbar([said[rows].mean() for rows in parts], share, yerr=error, marker="o")
    ax.set_xlabel("probability")
    ax.set_ylabel("share of the rows")
    return ax


def intervals(y: Any, ends: Any, *, most: int = 200, ax: Any = None) -> Any:
    """Show intervals of ``predict_interval`` with the response, rows by the middle of theirs. Returns the axes.

    At most ``most`` rows are shown; the shares inside and outside are of all.
    """
    y, ends = np.asarray(y, dtype=np.float64), np.asarray(ends, dtype=np.float64)
    if ends.shape != (len(y), 2):
        raise ValueError(f"ends has a row of two numbers for each of the {len(y)} rows, not the shape {ends.shape}")
    ax = _axes(ax)
    rows = np.argsort(ends.mean(axis=1), kind="stable")
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(int))]
    place = np.arange(len(rows))
    inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
    ax.vlines(place, ends[rows, 0], ends[rows, 1], color="lightgrey")
    for which, name in ((inside, "inside"), (~inside, "outside")):
        ax.scatter(place[which[rows]], y[rows][which[rows]], s=12, label=f"{name}: {which.mean():.0%}")
    ax.legend(title="response")
    ax.set_xlabel("row")
    ax.set_ylabel("response")
    return ax
