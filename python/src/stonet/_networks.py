"""What the estimators of the stochastic network share: prediction, going on with a training, weights, draws."""
from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse, vstack
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from . import _sure
from ._answers import ask_importance
from ._base import ArrayLike, SupervisedReduction, _class_text, response_array
from ._core import Float32Matrix, Float64Matrix, Model, Table, complete
from ._responses import LAWS, law_columns, order_of, task_of
from ._run import Callback, RunContext, threads_of
from ._tables import is_arrow

if TYPE_CHECKING:
    from typing_extensions import Self

_ROWS_FOR_SLOPES = 1000  # a mean over them has 3 % of the spread of one row
_CELLS_KEPT = 2**23  # of pieces, for fits of all of them: 32 to 64 MB
_GROWTH = 1.25  # of the rows between two of these fits, which then take the time of five fits of all rows together


def _stacked(parts: list[Any]) -> Any:
    """Pieces of one table below each other."""
    if issparse(parts[0]):
        return vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        return importlib.import_module("pandas").concat(parts, ignore_index=True)
    return np.concatenate(parts)


def _form(X: Any) -> str:
    """What goes with what."""
    if is_arrow(X):
        return "an Arrow stream"
    if issparse(X):
        return "a sparse matrix"
    return "a table of plain numbers" if isinstance(X, np.ndarray) else "a table with more than plain numbers"


def _is_full(pieces: list[Any] | None) -> bool:
    return pieces is not None and sum(part[0].size for part in pieces) > _CELLS_KEPT


class BaseStoNet(SupervisedReduction):
    """What the stochastic network can do beyond a plain reduction."""

    _not_settings = SupervisedReduction._not_settings | {"task", "class_weight", "warm_start", "callback"}
    warm_start: bool
    callback: Callback | None
    task: Any  # of each estimator other words
    task_: str  # what the response of the fit was
    _slopes: npt.NDArray[np.float64] | None

    def _wanted(self) -> dict[str, object]:
        return {**super()._wanted(), "task": self.task_}

    def _goes_on(self) -> bool:
        """Whether fit is to train the network it has further."""
        return bool(self.warm_start) and hasattr(self, "model_")

    @staticmethod
    def _refuse_on_going_on(**given: object) -> None:
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name} does not go with training that goes on (warm_start=True)")

    def _more_tags(self) -> dict[str, Any]:
        # a row that counts nothing still takes its place in a batch
        return {"_xfail_checks": {"check_sample_weights_invariance": "rows of weight 0 are in the batches"}}

    def __sklearn_tags__(self) -> Any:
        return super().__sklearn_tags__()

    def _keep(self, model: Model) -> None:
        super()._keep(model)
        found = model.describe()["fitted"]
        shares = found.get("explained_share")
        self.explained_share_ = None if shares is None else np.array(shares, dtype=np.float64)
        self.front_: str = found.get("front", "none")
        self.effective_dim_: float | None = found.get("effective_dimension")
        # the loss of numbers is half the squared error, in units of the variance of y
        has_square = self.task_ == "regression" and "held_out_loss" in found
        squared = 2 * found["held_out_loss"] if has_square else None
        self.held_out_error_: float | None = found.get("held_out_error", squared)

    def _train(
        self, X: Any, y: npt.NDArray[Any], sample_weight: ArrayLike | None, groups: ArrayLike | None,
        checkpoint: str | os.PathLike[str] | None, every: float,
    ) -> Self:
        """A fit of rows that were checked; further training where there is a network to go on from."""
        if self._goes_on():
            self._refuse_on_going_on(groups=groups, checkpoint=checkpoint)
            return self._fit_more(self._table_of(X, y, sample_weight))
        return self._fit_anew(X, y, sample_weight, groups, checkpoint, every)

    def _table_of(self, X: Any, y: npt.NDArray[Any], sample_weight: ArrayLike | None) -> Table:
        table = self._training_table(X)
        self._set_response(table, y)
        self._set_weights(table, sample_weight)
        return table

    def _fit_anew(
        self, X: Any, y: npt.NDArray[Any], sample_weight: ArrayLike | None, groups: ArrayLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None, every: float = 60.0,
    ) -> Self:
        table = self._table_of(X, y, sample_weight)
        table.set_groups(groups)
        in_pieces, self._pieces = getattr(self, "_pieces", None) == [], None
        self._fit_table(table, checkpoint, every)
        if in_pieces:
            pieces = self._with_piece([], X, y, sample_weight)
            self._pieces = None if _is_full(pieces) else pieces
        return self

    @contextlib.contextmanager
    def _keeping(self, last: list[Any] | None = None) -> Iterator[None]:
        """For a fit that keeps its rows for later ones; one that fails leaves the pieces that were kept before it."""
        self._pieces = []
        try:
            yield
        except BaseException:
            self._pieces = last
            raise

    def _with_piece(self, pieces: list[Any], X: Any, y: npt.NDArray[Any], weight: ArrayLike | None) -> list[Any] | None:
        """Copies of the pieces so far and of this one; None where no fit of all of them will come."""
        if isinstance(X, Table) or self.epochs != "auto":
            return None
        if issparse(X) and weight is not None:
            raise ValueError("rows of a sparse table have no weights: give an array, or repeat rows")
        if pieces and _form(X) != _form(pieces[0][0]):
            raise ValueError(f"this piece is {_form(X)}, the first was {_form(pieces[0][0])}: give all in one form")
        shape = (len(y), *(pieces[0][1] if pieces else y).shape[1:])
        if y.size != np.prod(shape):
            raise ValueError(f"y has the shape {y.shape} in this piece, and {shape} would go with the first one")
        return [*pieces, (X.copy(), y.reshape(shape).copy(), np.ones(len(y)) if weight is None else np.ones(len(y)) * weight)]

    def _fit_piece(self, X: Any, y: npt.NDArray[Any], sample_weight: ArrayLike | None) -> Self:
        """All rows so far anew where they have grown enough or are to be forgotten; further with these where none is kept."""
        last: list[Any] | None = getattr(self, "_pieces", None)
        table = self._table_of(X, y, sample_weight)  # refuses what is wrong with a piece before it is kept
        pieces = self._with_piece(last, X, y, sample_weight) if last else None
        if pieces is None:
            return self._fit_more(table)
        if self.task_ in LAWS:
            _sure.scores(self.model_, table, 0.9, False, threads_of(self.n_jobs))  # looks at each row of the response
        if sum(len(part[1]) for part in pieces) < _GROWTH * len(pieces[0][1]) and not _is_full(pieces):
            self._pieces = pieces
            return self
        X, y, weight = (_stacked([part[k] for part in pieces]) for k in range(3))
        with self._keeping(last):
            self._fit_anew(X, y, None if np.all(weight == 1) else weight)
        return self

    def _row_weights(self, y: ArrayLike, sample_weight: ArrayLike | None) -> ArrayLike | None:
        """What the rows count with all that the estimator says of them."""
        return sample_weight

    def _fit_more(self, table: Table) -> Self:
        self._pieces = None  # a fit of them would not know of these rows
        try:
            with self._run() as run:
                self.model_.fit_more(table, run)
                if self.model_.diverged:
                    run.warn_as = ConvergenceWarning
        finally:
            self._keep(self.model_)
            self._slopes = None
            if getattr(self, "_some_rows", None) is None:
                self._remember(table)
        return self

    def _remember(self, table: Table) -> None:
        """Some rows, for feature_importances_."""
        self._some_rows: Table | None = table.some(_ROWS_FOR_SLOPES)
        self._slopes = None

    def __getstate__(self) -> dict[str, Any]:
        """A file has no rows of the data."""
        state: dict[str, Any] = super().__getstate__()
        return {name: None if name in ("_some_rows", "_pieces") else value for name, value in state.items()}

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Shares of the columns of X in the slopes of the prediction: ``importance(.., kind="gradient")``.

        Means over at most 1000 of the training rows, made when they are first asked for. They add up to 1. Permutation on
        held-out rows says more (``importance``).
        """
        rows = getattr(self, "_some_rows", None)
        slopes: npt.NDArray[np.float64] | None = getattr(self, "_slopes", None)
        if slopes is None:
            if rows is None:
                why = "was read from a file, which has no rows" if hasattr(self, "model_") else "is not fitted yet"
                raise AttributeError(f"this {type(self).__name__} {why}: feature_importances_ needs some")
            with RunContext(1, self.n_jobs) as run:
                size = ask_importance(self.model_, rows, "gradient", 0, None, run).importance
            self._slopes = slopes = size / size.sum() if size.sum() > 0 else size
        return slopes

    def calibrate(
        self, X: ArrayLike, y: ArrayLike, *, rows: str = "auto", folds: int = 0, sets: str = "aps",
        groups: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn how far predictions are from the truth: for intervals, sets and better probabilities.

        Parameters
        ----------
        X, y
            The rows of ``fit``: the model is fitted again without parts of them. With ``rows="fresh"``, rows that
            it was not fitted on; training rows given so make intervals that are too narrow.
        rows : {"auto", "cv", "split", "fresh"}
            "cv": a refit without each of the folds (CV+); "split": one refit without a fifth of the rows; "auto":
            "cv" for fewer than 5000 rows, else "split".
        folds : int
            Of "cv"; 0 is 10.
        sets : {"aps", "lac"}
            What sets of classes are made by: larger for hard rows, or the smallest on average.
        groups : array-like of shape (n_samples,), default=None
            As for ``fit``: rows with the same value are never parted.
        sample_weight : array-like of shape (n_samples,), default=None
            As for ``fit``, for the fits, the temperature and the residual variance; a dict of ``class_weight`` counts too.
            Intervals and sets hold for rows as they come.
        """
        table = self._same_table(X)
        self._set_response(table, y)
        self._set_weights(table, self._row_weights(y, sample_weight))
        table.set_groups(groups)
        with RunContext(self._seed(self.random_state), self.n_jobs, self.verbose) as run:
            _sure.calibrate(self.model_, table, rows, folds, sets, run)
        return self

    def scores(self, X: ArrayLike, y: ArrayLike, *, level: float = 0.9, by_class: bool = False) -> dict[str, Any]:
        """All scores of ``stonet score``, by name; of a calibrated model coverage and width at the level too.

        Of counts with an exposure y has two columns, the counts and the exposures.
        """
        table, _ = self._new_table(X)
        self._set_response(table, y)
        return _sure.scores(self.model_, table, level, by_class, threads_of(self.n_jobs))

    def draw(
        self, X: ArrayLike, draws: int = 1, *, activated: bool = False, random_state: Any = None
    ) -> Float32Matrix:
        """Random passes through the network with its noise instead of the mean.

        ``activated``: the units behind Z, after the activation, of a network with ``hidden`` given.

        Returns
        -------
        Z : ndarray of shape (draws, n_samples, n_components), float32
        """
        if draws < 1:
            raise ValueError(f"draws is the number of random passes, at least 1, not {draws}")
        table, rows = self._new_table(X)
        z = self.model_.transform(
            table, rows, draws=draws, activated=activated, seed=self._seed(random_state),
            threads=threads_of(self.n_jobs),
        )
        return z.reshape(draws, rows, -1)

    def impute(
        self, X: ArrayLike, y: ArrayLike, *, activated: bool = False, random_state: Any = None
    ) -> Float32Matrix:
        """Draw the last hidden layer given X and the response, as training does."""
        table, rows = self._new_table(X)
        self._set_response(table, y)
        return self.model_.transform(
            table, rows, activated=activated, impute=True, seed=self._seed(random_state),
            threads=threads_of(self.n_jobs),
        )


class BaseStoNetClassifier(ClassifierMixin, BaseStoNet):  # type: ignore[misc]
    """Classes as the response."""

    classes_: npt.NDArray[Any]
    class_weight: Literal["balanced"] | dict[Any, float] | None

    def _wanted(self) -> dict[str, object]:
        balanced = isinstance(self.class_weight, str)
        return {**super()._wanted(), "class_weight": self.class_weight if balanced else None}

    def _find_classes(self, y: npt.NDArray[Any], order: list[Any] | None) -> None:
        """The task of a fit and its classes: sorted, or in the order that the categories of y have."""
        self.task_ = self.task if self.task != "auto" else "classification" if order is None else "ordinal"
        self.classes_ = np.unique(y)
        if self.task_ == "ordinal" and order is not None:
            self.classes_ = np.array([label for label in order if label in self.classes_])
        elif self.task_ == "ordinal" and self.classes_.dtype.kind not in "biuf":
            raise ValueError("the classes of y are texts without an order: give an ordered pandas Categorical, or numbers")
        if len(self.classes_) < 2:
            raise ValueError("the response y has one class only: a classifier needs two at least")

    def _row_weights(self, y: ArrayLike, sample_weight: ArrayLike | None) -> ArrayLike | None:
        """sample_weight times what a dict says of the classes; "balanced" is left to the library."""
        if not isinstance(self.class_weight, dict):
            return sample_weight
        labels = self.classes_.tolist()
        strange = [label for label in self.class_weight if label not in labels]
        if strange and len(self.class_weight) < len(labels) + len(strange):  # else of a table that lacks rare classes
            raise ValueError(f"class_weight has the class {strange[0]}, and y has none of it: y has {labels}")
        of_class = np.array([self.class_weight.get(label, 1.0) for label in response_array(y).ravel().tolist()], dtype=np.float64)
        return of_class if sample_weight is None else of_class * np.asarray(complete(sample_weight, "sample_weight"))

    def _refuse_balance(self) -> None:
        if self.class_weight == "balanced":
            raise ValueError('class_weight="balanced" is not known from a piece of the data: give a dict of weights')

    def _fit_more(self, table: Table) -> Self:
        self._refuse_balance()
        return super()._fit_more(table)

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *,
        groups: ArrayLike | None = None, checkpoint: str | os.PathLike[str] | None = None, every: float = 60.0,
    ) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Shared with the library without a copy when it is float32 or float64 and C-contiguous. SciPy's sparse
            matrices, and DataFrames with text, categories, flags and dates, are taken too.
        y : array-like of shape (n_samples,)
            Class labels: numbers or text. An ordered pandas Categorical is fitted as classes in that order (``task``).
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts, from 0 on.
        groups : array-like of shape (n_samples,), default=None
            Rows with the same value, such as those of one patient, stay together when rows are held out.
        checkpoint : path, optional
            A file in which what is done so far is kept, every so many seconds: the same call, ended by whatever,
            goes on from it to the same model. It is removed when the fit is done.
        every : float
            Seconds between two writings of that file.
        """
        order = order_of(y)
        X, y = self._checked(X, y, ensure_min_samples=2, reset=not self._goes_on())
        check_classification_targets(y)
        if not self._goes_on():
            self._find_classes(y, order)
        return self._train(X, y, self._row_weights(y, sample_weight), groups, checkpoint, every)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on a piece of the data; call it again with each further piece.

        The first piece is fitted as ``fit`` does, and must have rows of each class. While all rows have at most 2**23
        cells, they are kept, and all are fitted anew whenever a quarter has been added. Later pieces train the network
        further: the weights move towards the new ones by twice the share that the piece is of all rows so far. Pieces
        read from Arrow streams are not kept, and train further at once. With ``epochs`` given no row is kept either, the
        weights move all the way, and the network leans towards the last piece. Pieces should be drawn alike.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            All classes, as scikit-learn has it; the first piece is checked against it.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row of the piece counts, from 0 on.
        """
        self._refuse_balance()
        if not hasattr(self, "model_"):
            if classes is not None and len(missing := np.setdiff1d(classes, np.asarray(y)).tolist()) > 0:
                raise ValueError(
                    f"the first piece has no rows of class {missing[0]!r}: it must have some of every class"
                )
            with self._keeping():
                self.fit(X, y, sample_weight)
            return self
        X, y = self._checked(X, y, reset=False)
        return self._fit_piece(X, y, self._row_weights(y, sample_weight))

    def _set_response(self, table: Table, y: npt.NDArray[Any]) -> None:
        y = column_or_1d(complete(y, "y"), warn=True)
        values, inverse = np.unique(y, return_inverse=True)
        known = {label: code for code, label in enumerate(self.classes_.tolist())}
        for value in values.tolist():
            if value not in known:
                raise ValueError(f"y has the label {value!r}, which the model was not fitted on")
        codes = np.array([known[value] for value in values.tolist()])
        table.set_classes(codes[inverse], [_class_text(label) for label in self.classes_])

    def predict_proba(self, X: ArrayLike) -> Float64Matrix:
        """Probability of each class, in the order of ``classes_``."""
        table, rows = self._new_table(X)
        return self.model_.predict(table, rows, threads=threads_of(self.n_jobs))

    def predict_log_proba(self, X: ArrayLike) -> Float64Matrix:
        """Logarithms of the probabilities; -inf where one is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: ArrayLike) -> Float64Matrix:
        """Logarithms of the probabilities; with two classes, of the second over the first.

        Returns
        -------
        scores : ndarray of shape (n_samples,) with two classes, else (n_samples, n_classes)
        """
        log = np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))
        scores: Float64Matrix = log[:, 1] - log[:, 0] if log.shape[1] == 2 else log
        return scores

    def predict_set(self, X: ArrayLike, level: float = 0.9, *, by_class: bool = False) -> npt.NDArray[np.bool_]:
        """The classes that have the true one in this share of new rows; needs ``calibrate``.

        Returns
        -------
        inside : ndarray of bool, of shape (n_samples, n_classes)
            In the order of ``classes_``. With ``by_class`` the share is held in every class, rare ones too.
        """
        table, rows = self._new_table(X)
        return _sure.classes_inside(self.model_, table, rows, level, by_class, threads_of(self.n_jobs))

    def predict(self, X: ArrayLike) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        best = np.argmax(self.predict_proba(X), axis=1)
        predicted: npt.NDArray[Any] = self.classes_[best]
        return predicted


class BaseStoNetRegressor(RegressorMixin, BaseStoNet):  # type: ignore[misc]
    """Numbers as the response, one or several for each row; or times, counts."""

    def _checked_response(self, X: ArrayLike, y: ArrayLike, exposure: ArrayLike | None, **how: Any) -> tuple[Any, Any]:
        """X and the response of ``task_``."""
        if self.task_ not in LAWS:
            if exposure is not None:
                raise ValueError(f'exposure is for counts, and task is "{self.task_}"')
            X, y = self._checked(X, y, multi_output=True, y_numeric=True, **how)
            return X, y
        return self._checked(X, **how), law_columns(self.task_, y, exposure)

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, exposure: ArrayLike | None = None,
        groups: ArrayLike | None = None, checkpoint: str | os.PathLike[str] | None = None, every: float = 60.0,
    ) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Shared with the library without a copy when it is float32 or float64 and C-contiguous. SciPy's sparse
            matrices, and DataFrames with text, categories, flags and dates, are taken too.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers. Censored times: a structured array of events and times, or the columns time and event (1 seen, 0
            censored) with ``task="survival"``. Bounds of times: the columns low and high with ``task="interval"``, NaN where
            there is none.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts, from 0 on.
        exposure : array-like of shape (n_samples,), default=None
            Of counts: the time or size over which each was counted.
        groups : array-like of shape (n_samples,), default=None
            Rows with the same value, such as those of one patient, stay together when rows are held out.
        checkpoint : path, optional
            A file in which what is done so far is kept, every so many seconds: the same call, ended by whatever,
            goes on from it to the same model. It is removed when the fit is done.
        every : float
            Seconds between two writings of that file.
        """
        if not self._goes_on():
            self.task_ = task_of(self.task, y, exposure)
        X, y = self._checked_response(X, y, exposure, ensure_min_samples=2, reset=not self._goes_on())
        if not self._goes_on():
            self._one_output = y.ndim == 1 or self.task_ in LAWS
        return self._train(X, y, sample_weight, groups, checkpoint, every)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, exposure: ArrayLike | None = None
    ) -> Self:
        """Train on a piece of the data; call it again with each further piece.

        The first piece is fitted as ``fit`` does. While all rows have at most 2**23 cells, they are kept, and all are
        fitted anew whenever a quarter has been added. Later pieces train the network further: the weights move
        towards the new ones by twice the share that the piece is of all rows so far. Pieces read from Arrow streams are
        not kept, and train further at once. With ``epochs`` given no row is kept either, the weights move all the way,
        and the network leans towards the last piece. Pieces should be drawn alike.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            What each row of the piece counts, from 0 on.
        exposure : array-like of shape (n_samples,), default=None
            Of counts.
        """
        if not hasattr(self, "model_"):
            with self._keeping():
                self.fit(X, y, sample_weight, exposure=exposure)
            return self
        X, y = self._checked_response(X, y, exposure, reset=False)
        return self._fit_piece(X, y, sample_weight)

    def _set_response(self, table: Table, y: ArrayLike) -> None:
        law = self.task_ in LAWS
        table.set_targets(law_columns(self.task_, y, None) if law else np.asarray(complete(y, "y"), dtype=np.float64))

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, exposure: ArrayLike | None = None
    ) -> float:
        """R2; of times Harrell's C, of bounds the mean log likelihood, of counts the share of the deviance explained."""
        names = {"survival": "concordance", "interval": "log_likelihood", "count": "deviance_explained"}
        if getattr(self, "task_", None) not in names:
            return float(super().score(X, y, sample_weight))
        table, _ = self._new_table(X)
        table.set_targets(law_columns(self.task_, y, exposure))
        self._set_weights(table, sample_weight)
        found = _sure.scores(self.model_, table, 0.9, False, threads_of(self.n_jobs))
        return float(found.get(names[self.task_], np.nan))

    def predict_survival(self, X: ArrayLike, times: ArrayLike) -> Float64Matrix:
        """The probability that the time of each row is beyond each of these times, which ascend.

        Returns
        -------
        beyond : ndarray of shape (n_samples, n_times)
        """
        table, rows = self._new_table(X)
        return self.model_.survival(table, rows, np.atleast_1d(times), threads_of(self.n_jobs))[0]

    def predict_restricted_mean(self, X: ArrayLike, time: float) -> npt.NDArray[np.float64]:
        """The expected time of each row up to this one: the area below its survival curve."""
        table, rows = self._new_table(X)
        return self.model_.survival(table, rows, np.atleast_1d(time), threads_of(self.n_jobs))[1]

    def predict_interval(self, X: ArrayLike, level: float = 0.9) -> Float64Matrix:
        """Low and high ends that have the response between them in this share of new rows; needs ``calibrate``.

        Returns
        -------
        ends : ndarray of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            Several outputs share the level: all of a row are inside together. Infinite when the calibration had too
            few rows for the level.
        """
        table, rows = self._new_table(X)
        ends = _sure.interval(self.model_, table, rows, level, threads_of(self.n_jobs))
        return ends[:, 0] if self._one_output else ends

    def predict(self, X: ArrayLike) -> Float64Matrix:
        """The expected response of each row, in units of y: of times the median, of counts that for an exposure of 1."""
        table, rows = self._new_table(X)
        predicted = self.model_.predict(table, rows, threads=threads_of(self.n_jobs))
        return predicted[:, 0] if self._one_output else predicted

    def predict_spread(self, X: ArrayLike) -> npt.NDArray[np.float64]:
        """The standard deviation of the response around the prediction, with ``response="location-scale"``."""
        table, rows = self._new_table(X)
        spread = self.model_.predict(table, rows, threads=threads_of(self.n_jobs), spread=True)
        return spread[:, 0] if spread.shape[1] == 1 else spread

    def _more_tags(self) -> dict[str, Any]:
        return {"multioutput": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
