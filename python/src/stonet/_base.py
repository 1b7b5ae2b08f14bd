"""What the estimators share: checking input as scikit-learn does, and handing it to the library.

What the stochastic network can do beyond that is in _networks.py; the estimators themselves, with their settings, are in
_generated.py.
"""
from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, check_consistent_length, check_is_fitted

from . import _sure
from ._answers import CoefTable, ImportanceResult, ask_coef, ask_importance, ask_report, choose_order
from ._compat import check_columns, validated
from ._core import Float32Matrix, Float64Matrix, Model, SparseTable, Table, complete, filled, kept_in
from ._inverse import inverse
from ._run import Callback, RunContext, threads_of, warn
from ._tables import ArrowTable, MixedTable, as_frame, is_arrow, is_mixed
from .errors import StonetUnsupportedError, StonetWarning
from .independence import SufficiencyTestResult, sufficiency_result

if TYPE_CHECKING:
    from typing_extensions import Self

_FLOATS = [np.float64, np.float32]  # what the library takes as it is; anything else becomes the first
ArrayLike = Any  # arrays, lists, DataFrames and Series: whatever scikit-learn takes


def _class_text(label: object) -> str:
    """The label as the library writes it, so that the command line knows it again: 1 for 1, 1.0 and True."""
    if isinstance(label, (bool, np.bool_, float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)


def response_array(y: ArrayLike) -> npt.NDArray[Any]:
    """The response as NumPy has it: nullable and Arrow numbers and flags become plain ones, missing cells are refused."""
    y = complete(y, "y")
    if hasattr(y, "dtype") and hasattr(y, "isna"):
        if y.isna().any():
            raise ValueError("y has missing values, and rows without a response tell nothing: leave them out")
        if not isinstance(y.dtype, np.dtype) and getattr(y.dtype, "kind", "O") in "iufb":
            return np.asarray(y.to_numpy(dtype=bool if y.dtype.kind == "b" else np.float64))
    return np.asarray(y)


def set_response(table: Table, y: ArrayLike) -> None:
    """Classes for text and flags; for numbers the library decides by the setting `task`."""
    y = response_array(y)
    if y.dtype.kind in "OUSb" and y.ndim == 1:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        table.set_classes(codes, [_class_text(label) for label in classes])
    else:
        table.set_targets(y)


def _history_columns(text: str) -> dict[str, npt.NDArray[Any]]:
    """The training history, one array a column; numbers where all cells are numbers (an empty one is NaN)."""
    rows = list(csv.reader(text.splitlines()))
    columns: dict[str, npt.NDArray[Any]] = {}
    for j, name in enumerate(rows[0]):
        cells = [row[j] for row in rows[1:]]
        try:
            columns[name] = np.array([float(cell) if cell else np.nan for cell in cells])
        except ValueError:
            columns[name] = np.array(cells)
    return columns


class BaseReduction(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fit, transform, save: everything but the kind of response."""

    _method: ClassVar[str]
    _not_settings: ClassVar[frozenset[str]] = frozenset({"n_components", "random_state", "n_jobs", "verbose"})

    # Set by __init__ of every estimator.
    n_components: int | Literal["auto"]
    random_state: Any
    n_jobs: int | None
    verbose: int

    @classmethod
    def _settings(cls) -> list[str]:
        """The arguments that are settings of the library."""
        return [name for name in cls._get_param_names() if name not in cls._not_settings]

    def _wanted(self) -> dict[str, object]:
        """The settings of the library that this estimator was given."""
        return {"dim": self.n_components, **{name: getattr(self, name) for name in self._settings()}}

    def _seed(self, random_state: Any) -> int:
        """A whole number is the seed itself, as with --seed; anything else as scikit-learn has it."""
        if isinstance(random_state, (int, np.integer)) and random_state >= 0:
            return int(random_state)
        return int(check_random_state(random_state).randint(1, 2**31 - 1))

    def _checked(self, X: ArrayLike, *y: ArrayLike, reset: bool = True, **how: Any) -> Any:
        """X, or X and y, checked: a DataFrame that is not all plain numbers as it is, anything else as an array.

        An Arrow stream can be read once: of a fit its table is given back.
        """
        if is_arrow(X):
            return self._checked_arrow(X, *y, reset=reset, **how)
        frame = as_frame(X)
        model = getattr(self, "model_", None)
        if frame is not None and not reset and getattr(self, "_from_file", False):
            frame = X = self._known_columns(frame)
        if frame is not None and (is_mixed(frame) or (not reset and model is not None and model.is_mixed)):
            check_columns(self, frame, reset)
            if len(frame) < how.get("ensure_min_samples", 1):
                raise ValueError(f"Found array with {len(frame)} sample(s) while a minimum of 2 is required.")
            if len(y) == 0:
                return frame
            response = self._checked_y(y[0], **how)
            check_consistent_length(frame, response)
            return frame, response
        y = tuple(response_array(part) if hasattr(part, "isna") else complete(part, "y") for part in y)
        return validated(
            self, filled(X), *y, finite="allow-nan", dtype=_FLOATS, order="C", accept_sparse="csr", reset=reset, **how
        )

    def _checked_y(self, y: ArrayLike, multi_output: bool = False, y_numeric: bool = False, **how: Any) -> Any:
        return _check_y(response_array(y), multi_output=multi_output, y_numeric=y_numeric, estimator=self)

    def _checked_arrow(self, X: Any, *y: ArrayLike, reset: bool, **how: Any) -> Any:
        """Columns of new rows are found by their names, in the library."""
        if reset:
            X = ArrowTable(X)
            self.feature_names_in_ = np.array(X.names(), dtype=object)
            self.n_features_in_ = len(self.feature_names_in_)
            if X.rows < how.get("ensure_min_samples", 1):
                raise ValueError(f"Found array with {X.rows} sample(s) while a minimum of 2 is required.")
        return (X, self._checked_y(y[0], **how)) if len(y) > 0 else X

    def _known_columns(self, frame: Any) -> Any:
        """Of a table for a model from a file, the columns that it was fitted on; the others may be anything."""
        names = list(getattr(self, "feature_names_in_", ()))
        there = [str(name) for name in frame.columns]
        if not names or not set(names) <= set(there):
            return frame
        again = next((name for name in names if there.count(name) > 1), None)
        if again is not None and len(there) != len(names):
            raise ValueError(f"X has two columns {again!r}, and the model was fitted on one: rename or remove one")
        return frame.iloc[:, [there.index(name) for name in names]].set_axis(names, axis=1)

    def _training_table(self, X: Any) -> Table:
        names = getattr(self, "feature_names_in_", None)
        if isinstance(X, Table):
            return X
        if is_arrow(X):
            return ArrowTable(X)
        if issparse(X):
            return SparseTable(X, names)
        return Table(X, names) if isinstance(X, np.ndarray) else MixedTable(X)

    def _fit_table(
        self, table: Table, checkpoint: str | os.PathLike[str] | None = None, every: float = 60.0
    ) -> Self:
        interrupted = None
        model = None
        try:
            with self._run() as run:
                settings = self._closed(table, run)
                with kept_in(checkpoint, every, run):
                    model = Model.fit(self._method, settings, table, run)
                if model.diverged:
                    run.warn_as = ConvergenceWarning
        except KeyboardInterrupt as stop:
            interrupted = stop
        if model is not None:
            self._keep(model)
            self._remember(table)
        if interrupted is not None:
            raise interrupted
        return self

    def _run(self) -> RunContext:
        """For a fit: also tells the callback, where there is one."""
        callback: Callback | None = getattr(self, "callback", None)
        return RunContext(self._seed(self.random_state), self.n_jobs, self.verbose, callback)

    def _closed(self, table: Table, run: RunContext) -> dict[str, object]:
        """The settings with a dimension: that of the rule that suits the method, where it is left to the data."""
        wanted = self._wanted()
        if self.n_components != "auto":
            return wanted
        open_ = {name: value for name, value in wanted.items() if name not in ("dim", "learner")}
        found = choose_order(self._method, open_, table, run)
        if found.n_components == 0:
            warn(
                f"{found.rule} says that X tells nothing about y ({found.reason}); one component is fitted all the same",
                StonetWarning,
            )
        self.order_ = found
        return {**wanted, "dim": max(1, found.n_components)}

    def _remember(self, table: Table) -> None:
        """What is kept of the training rows: nothing."""

    def _keep(self, model: Model) -> None:
        self.model_ = model
        history = model.history()
        self.history_ = _history_columns(history) if history else None

    @property
    def _n_features_out(self) -> int:
        return self.model_.dim

    def _new_table(self, X: ArrayLike) -> tuple[Table, int]:
        check_is_fitted(self, "model_")
        rows = self._checked(X, reset=False)
        if issparse(rows):
            return SparseTable(rows), rows.shape[0]
        if isinstance(rows, np.ndarray):
            return Table(rows), len(rows)
        table = ArrowTable(rows, self.model_) if is_arrow(rows) else MixedTable(rows, self.model_)
        with RunContext() as run:
            self.model_.check_rows(table, run)
        return table, table.rows

    def _same_table(self, X: ArrayLike) -> Table:
        """Rows for refits: with the names of the columns, which the refits must know too."""
        check_is_fitted(self, "model_")
        return self._training_table(self._checked(X, reset=False))

    def transform(self, X: ArrayLike) -> Float32Matrix:
        """Reduce X to Z, the columns that keep what X says about the response.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components), float32
        """
        table, rows = self._new_table(X)
        return self.model_.transform(table, rows, threads=threads_of(self.n_jobs))

    def info(self) -> dict[str, Any]:
        """All that ``stonet info --json`` says of the fitted model: settings, estimates on held-out rows, columns."""
        check_is_fitted(self, "model_")
        return self.model_.describe()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, which ``stonet.load`` and the command line read."""
        check_is_fitted(self, "model_")
        self.model_.save(path)

    def export(self, path: str | os.PathLike[str], format: str | None = None, *, name: str = "model") -> None:
        """Write the model for programs that do not have stonet, as 'stonet export' does.

        ``format`` is "onnx", "onnx-matrix", "c" or "json" (None: the ending of the path). ``name`` begins the names of a C file.
        A model of an array has one ONNX input, "x"; one of a DataFrame an input for each column, by its name.
        """
        check_is_fitted(self, "model_")
        wanted = format if format is not None else os.path.splitext(os.fspath(path))[1].lstrip(".")
        self.model_.export(path, wanted, name)

    def sufficiency_test(
        self, X: ArrayLike, y: ArrayLike, *, random_state: Any = 1
    ) -> SufficiencyTestResult:
        """Test whether the response is independent of X given Z; small p-values say that Z has lost something.

        The rows should not be those that the model was fitted on.
        """
        table, rows = self._new_table(X)
        self._set_response(table, y)
        with RunContext(self._seed(random_state), self.n_jobs) as run:
            return sufficiency_result(self.model_, table, run, rows)

    def importance(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        kind: str = "permutation",
        repeats: int = 0,
        train: tuple[ArrayLike, ArrayLike] | None = None,
        groups: ArrayLike | None = None,
        random_state: Any = 1,
    ) -> ImportanceResult:
        """Say which variables the model uses.

        The rows should not be those that the model was fitted on. Loss is the log loss, or the squared error over
        the training variance of y. Only for estimators that predict: the others leave that to the next step of a
        pipeline (``stonet importance`` on the command line puts a learner on their Z).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        kind : {"permutation", "gradient", "shapley", "refit", "stability", "conditional", "vip"}
            Growth of the loss when the variable comes from another row; mean derivative of the prediction, for one
            deviation of it; what it takes off the loss, over random orders of the variables; growth of the loss when
            the model is fitted without it; share of the halves of these rows in which a group lasso keeps it longest
            (stability selection: 0.75 and more are selected); growth of the loss when the variable is drawn given the
            others, with a p-value of y being independent of it given them; its part in the components of
            PartialLeastSquares, 1 on average ("vip", for the training rows).
        repeats : int
            Permutations (10), pairs of orders (until they settle), pairs of halves (50), or draws (1,000); 0: those.
        train : (X, y)
            The rows that the model was fitted on. "refit" needs them. With them the standard errors of "permutation",
            "gradient" and "shapley" include the fit, by 20 fits on halves of these rows.
        groups : array-like
            Of the rows of train, or of X ("stability"); rows with the same value are never parted.
        random_state : int, RandomState or None
        """
        table, _ = self._new_table(X)
        self._set_response(table, y)
        fitted_on = None
        if train is not None:
            fitted_on, _ = self._new_table(train[0])
            self._set_response(fitted_on, train[1])
        (table if fitted_on is None else fitted_on).set_groups(groups)
        with RunContext(self._seed(random_state), self.n_jobs) as run:
            return ask_importance(self.model_, table, kind, repeats, fitted_on, run)

    @property
    def components_(self) -> Float64Matrix:
        """Of linear methods: the directions in units of X, n_components x n_features, Z = constant + X components_'."""
        if not hasattr(self, "model_"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet, and has no components_")
        try:
            return self.model_.directions().T
        except StonetUnsupportedError as error:
            raise AttributeError(f"{type(self).__name__} has no components_: {error}") from None

    @property
    def support_(self) -> npt.NDArray[np.bool_]:
        """Which columns of X the model looks at: all, but for those that ``select="group"`` left out."""
        if not hasattr(self, "model_"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet, and has no support_")
        return self.model_.support()

    def coef_table(
        self, X: ArrayLike = None, y: ArrayLike = None, *, pairs: int = 0, groups: ArrayLike | None = None,
        random_state: Any = 1,
    ) -> CoefTable:
        """What the columns of Z are made of, in units of X.

        Linear methods: their directions, and with ``pairs`` > 0 standard errors by fits on so many pairs of
        complementary halves of X and y, the rows they were fitted on; ``groups`` are never parted. The others: the mean derivatives of Z over the
        rows of X, and the leading directions of all derivatives together.
        """
        check_is_fitted(self, "model_")
        table = None if X is None else self._new_table(X)[0]
        if table is not None and y is not None:
            self._set_response(table, y)
        if table is not None:
            table.set_groups(groups)
        with RunContext(self._seed(random_state), self.n_jobs) as run:
            return ask_coef(self.model_, table, pairs, run)

    @overload
    def report(
        self, X: ArrayLike, y: ArrayLike = None, path: None = None, *, importance: str = ..., points: int = ...,
        random_state: Any = ...,
    ) -> str: ...

    @overload
    def report(
        self, X: ArrayLike, y: ArrayLike, path: str | os.PathLike[str], *, importance: str = ..., points: int = ...,
        random_state: Any = ...,
    ) -> Path: ...

    def report(
        self,
        X: ArrayLike,
        y: ArrayLike = None,
        path: str | os.PathLike[str] | None = None,
        *,
        importance: str = "permutation",
        points: int = 20000,
        random_state: Any = 1,
    ) -> str | Path:
        """One self-contained HTML page: Z by response, predictions, scores, importance, coefficients, settings.

        The rows should not be those that the model was fitted on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
            For a supervised model.
        path : path-like, optional
            Where to write the page.
        importance : {"permutation", "gradient", "shapley", "none"}
        points : int
            Rows that are shown one by one, at the most; scores and tables are of all.
        random_state : int, RandomState or None

        Returns
        -------
        page : str, or Path
            The page itself; with a path, where it was written.
        """
        table, _ = self._new_table(X)
        if y is not None:
            self._set_response(table, y)
        with RunContext(self._seed(random_state), self.n_jobs) as run:
            html = ask_report(self.model_, table, type(self).__name__, importance, points, run)
        if path is None:
            return html
        written = Path(path)
        written.write_text(html, encoding="utf-8")
        return written

    def standard_errors(
        self, X: ArrayLike, X_train: ArrayLike, y_train: ArrayLike = None, *, refits: int = 50,
        groups: ArrayLike | None = None,
    ) -> tuple[Float64Matrix, float]:
        """Standard errors of the Z of X, by fits on halves of the training rows turned onto the Z of this one.

        ``groups`` are of the training rows: rows with the same value are never parted.

        Returns
        -------
        se : ndarray of shape (n_samples, n_components)
        stability : float
            Mean canonical correlation of the refits' Z with the model's: far below 1, another Z is found each time.
        """
        table, rows = self._new_table(X)
        train = self._same_table(X_train)
        if y_train is not None:
            self._set_response(train, y_train)
        train.set_groups(groups)
        with RunContext(self._seed(self.random_state), self.n_jobs, self.verbose) as run:
            return _sure.standard_errors(self.model_, train, table, rows, refits, run)

    def _set_response(self, table: Table, y: npt.NDArray[Any]) -> None:
        set_response(table, y)

    @staticmethod
    def _set_weights(table: Table, sample_weight: ArrayLike | None) -> None:
        if sample_weight is not None:
            weights = complete(sample_weight, "sample_weight")
            rows = np.empty((table.rows, 0))
            table.set_weights(_check_sample_weight(weights, rows, dtype=np.float64))

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"preserves_dtype": [np.float32], "allow_nan": True}  # the library gives Z in single precision

    def __sklearn_tags__(self) -> Any:  # and since
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class SupervisedReduction(BaseReduction):
    """A reduction that needs the response."""

    def fit(self, X: ArrayLike, y: ArrayLike, *, groups: ArrayLike | None = None) -> Self:
        """Find the reduction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Shared with the library without a copy when it is float32 or float64 and C-contiguous. SciPy's sparse
            matrices, and DataFrames with text, categories, flags and dates, are taken too.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers or class labels.
        groups : array-like of shape (n_samples,), default=None
            Rows with the same value, such as those of one patient, stay together when rows are held out.
        """
        X, y = self._checked(X, y, multi_output=True, ensure_min_samples=2)
        table = self._training_table(X)
        self._set_response(table, y)
        table.set_groups(groups)
        return self._fit_table(table)

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class UnsupervisedReduction(BaseReduction):
    """A reduction that does not look at the response."""

    def _wanted(self) -> dict[str, object]:
        return {**super()._wanted(), "learner": "none"}

    def fit(self, X: ArrayLike, y: ArrayLike = None) -> Self:
        """Find the reduction; y is not used.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Shared with the library without a copy when it is float32 or float64 and C-contiguous. SciPy's sparse
            matrices, and DataFrames with text, categories, flags and dates, are taken too.
        """
        X = self._checked(X, ensure_min_samples=2)
        return self._fit_table(self._training_table(X))

    def inverse_transform(self, Z: ArrayLike) -> Float64Matrix:
        """The rows of X that these Z stand for: what the components, or the decoder, give back.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)

        Returns
        -------
        X : ndarray of shape (n_samples, n_features), float64
        """
        check_is_fitted(self, "model_")
        rows = np.asarray(Z, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.model_.dim:
            raise ValueError(f"Z has {self.model_.dim} columns here, and this has the shape {rows.shape}")
        return inverse(self._method, self.model_, rows)


class TransformerReduction(SupervisedReduction):
    """A supervised reduction that leaves the prediction to the next step of a pipeline."""

    def _wanted(self) -> dict[str, object]:
        return {**super()._wanted(), "learner": "none"}


class WeightedReduction(TransformerReduction):
    """One whose rows may count differently."""

    def _more_tags(self) -> dict[str, Any]:
        if self._method != "phd":
            return {}
        # the response of that check has no second order trend at all: any direction is as good
        return {"_xfail_checks": {"check_sample_weights_invariance": "the directions of its data are of rounding"}}

    def __sklearn_tags__(self) -> Any:  # a class with the tags of before has those of today beside them
        return super().__sklearn_tags__()

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Find the reduction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Shared with the library without a copy when it is float32 or float64 and C-contiguous. DataFrames with
            text, categories, flags and dates are taken too, and SciPy's sparse matrices (without weights).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers or class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts; a whole number is a row that comes so many times.
        groups : array-like of shape (n_samples,), default=None
            Rows with the same value, such as those of one patient, stay together when rows are held out.
        """
        X, y = self._checked(X, y, multi_output=True, ensure_min_samples=2)
        table = self._training_table(X)
        self._set_response(table, y)
        self._set_weights(table, sample_weight)
        table.set_groups(groups)
        return self._fit_table(table)


class WeightedUnsupervisedReduction(UnsupervisedReduction):
    """One that does not look at the response, and whose rows may count differently."""

    def fit(self, X: ArrayLike, y: ArrayLike = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the reduction; y is not used.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Shared with the library without a copy when it is float32 or float64 and C-contiguous. DataFrames with
            text, categories, flags and dates are taken too, and SciPy's sparse matrices (without weights).
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts; a whole number is a row that comes so many times.
        """
        X = self._checked(X, ensure_min_samples=2)
        table = self._training_table(X)
        self._set_weights(table, sample_weight)
        return self._fit_table(table)
