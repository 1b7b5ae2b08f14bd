"""The estimators. Written by tools/generate_estimators.py from the parameter tables of the C library.

The file is kept and not made by a build: the package then runs from a checkout, and editors and type checkers see its
classes, without a library at hand. A test compares it with what the script writes.

The settings are dataclasses that know nothing of scikit-learn: it has no types, and a type checker takes any argument of a
dataclass with a parent that it knows nothing of. A docstring here has the settings that no other estimator shares. What
several share is said once, in SHARED, and put into their docstrings at the end.
"""
from __future__ import annotations

from typing import Any, Literal

from ._base import (
    BaseReduction,
    TransformerReduction,
    UnsupervisedReduction,
    WeightedReduction,
    WeightedUnsupervisedReduction,
)
from ._compat import dataclass
from ._describe import describe
from ._networks import BaseStoNetClassifier, BaseStoNetRegressor


@dataclass(eq=False, repr=False)
class _Dimension:
    n_components: int | Literal["auto"] = 2


@dataclass(kw_only=True, eq=False, repr=False)
class _Settings(_Dimension):
    scale: Literal["auto", "column", "common", "centre", "none"] = "auto"
    levels: int | Literal["default", "auto"] | None = "default"
    missing: Literal["auto", "error", "drop", "mean", "gaussian", "joint"] = "auto"
    missing_indicators: Literal["on", "off"] = "off"
    curves: Literal["auto", "none", "snv", "centre", "derivative1", "derivative2", "detrend", "snv-derivative1", "snv-derivative2"] = "none"
    curves_window: int | Literal["auto"] = "auto"
    curves_columns: str = "all"
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0


@dataclass(kw_only=True, eq=False, repr=False)
class _ForResponse(_Settings):
    task: Literal["auto", "regression", "classification", "survival", "interval", "count", "ordinal"] = "auto"


@dataclass(kw_only=True, eq=False, repr=False)
class _Network(_Settings):
    response: Literal["mean", "ensemble", "location-scale"] = "mean"
    law: Literal["auto", "normal", "logistic", "extreme", "poisson", "negbin"] = "auto"
    hidden: int | tuple[int, ...] | Literal["auto"] | None = "auto"
    activation: Literal["auto", "identity", "tanh", "relu", "sigmoid"] = "auto"
    front: Literal["auto", "none", "kernel", "columns", "components", "conv"] = "auto"
    front_complexity: float | Literal["auto"] = "auto"
    front_linear: float = 0.1
    front_landmarks: int | Literal["auto"] = "auto"
    front_image: int | tuple[int, ...] | Literal["auto"] = "auto"
    front_channels: int | tuple[int, ...] | Literal["auto"] = "auto"
    select: Literal["none", "group"] = "none"
    select_penalty: float | Literal["auto"] = "auto"
    restarts: int = 1
    input_activation: Literal["off", "tanh", "relu", "sigmoid"] = "off"
    epochs: float | Literal["auto"] = "auto"
    batch: int | Literal["auto"] = "auto"
    lr: float | Literal["auto"] = "auto"
    momentum: float = 0.9
    weight_decay: float | Literal["auto"] = "auto"
    l1: float = 0.0
    schedule: Literal["auto", "linear", "constant", "averaged", "power"] = "auto"
    schedule_c: float = 1000.0
    schedule_a: float = 0.6
    sweeps: int | Literal["auto"] = "auto"
    start: Literal["forward", "mode"] = "mode"
    integrator: Literal["symplectic", "euler"] = "symplectic"
    tau: float = 0.1
    alpha: float = 0.1
    rho: float = 0.1
    s_out: float | Literal["auto"] = "auto"
    sigma2: float | tuple[float, ...] | Literal["auto"] = "auto"
    epsilon: float | tuple[float, ...] | Literal["auto"] = "auto"
    eta: float | Literal["auto"] = "auto"
    gamma: float | tuple[float, ...] | Literal["auto"] = "auto"
    layer_step: Literal["common", "residual"] = "common"
    sdr_iterations: int | Literal["auto"] = "auto"
    sdr_c: float = 1000.0
    sdr_a: float = 0.6
    output: Literal["trained", "refit"] = "trained"
    engine: Literal["auto", "cpu", "ref", "cuda"] = "cpu"
    warm_start: bool = False
    callback: Any = None


@dataclass(kw_only=True, eq=False, repr=False)
class _StoNetClassifier(_Network):
    task: Literal["auto", "classification", "ordinal"] = "auto"
    class_weight: Literal["balanced"] | dict[Any, float] | None = None


class StoNetClassifier(_StoNetClassifier, BaseStoNetClassifier):
    """Stochastic neural network (Liang, Sun and Liang 2022), for classes.

    task : {"auto", "classification", "ordinal"}, default="auto"
        what y is: classes, or classes in order, as an ordered pandas Categorical or numbers;
        auto: in order if y is such a Categorical.
    class_weight : dict or "balanced" or None, default=None
        what rows count by their class, beside sample_weight: a dict, or "balanced": all classes
        count the same.
    """

    _method = "stonet"


@dataclass(kw_only=True, eq=False, repr=False)
class _StoNetRegressor(_Network):
    task: Literal["auto", "regression", "survival", "interval", "count"] = "auto"


class StoNetRegressor(_StoNetRegressor, BaseStoNetRegressor):
    """Stochastic neural network (Liang, Sun and Liang 2022), for numbers.

    task : {"auto", "regression", "survival", "interval", "count"}, default="auto"
        what y is: numbers; times that may be censored, with events; bounds of times; counts,
        with exposure; auto: times if y is a structured array of events and times, counts if fit
        is given an exposure, else numbers.
    """

    _method = "stonet"


class PrincipalComponents(_Settings, WeightedUnsupervisedReduction):
    """Principal component analysis."""

    _method = "pca"


class PartialLeastSquares(_ForResponse, WeightedReduction):
    """Partial least squares (SIMPLS, de Jong 1993)."""

    _method = "pls"


@dataclass(kw_only=True, eq=False, repr=False)
class _SlicedInverseRegression(_ForResponse):
    slices: int = 10
    ridge: float = 0.0
    basis: Literal["slices", "poly"] = "slices"
    degree: int = 3


class SlicedInverseRegression(_SlicedInverseRegression, WeightedReduction):
    """Sliced inverse regression (Li 1991).

    basis : {"slices", "poly"}, default="slices"
        functions of a numeric target: indicators of slices, or its powers.
    degree : int, default=3
        highest power (basis=poly). From 1 to 10.
    """

    _method = "sir"


@dataclass(kw_only=True, eq=False, repr=False)
class _SlicedAverageVariance(_ForResponse):
    slices: int = 10
    ridge: float = 0.0


class SlicedAverageVariance(_SlicedAverageVariance, WeightedReduction):
    """Sliced average variance estimation (Cook and Weisberg 1991)."""

    _method = "save"


@dataclass(kw_only=True, eq=False, repr=False)
class _DirectionalRegression(_ForResponse):
    slices: int = 10
    ridge: float = 0.0


class DirectionalRegression(_DirectionalRegression, WeightedReduction):
    """Directional regression (Li and Wang 2007)."""

    _method = "dr"


@dataclass(kw_only=True, eq=False, repr=False)
class _PrincipalHessianDirections(_ForResponse):
    response: Literal["residual", "raw"] = "residual"
    ridge: float = 0.0


class PrincipalHessianDirections(_PrincipalHessianDirections, WeightedReduction):
    """Principal Hessian directions (Li 1992).

    response : {"residual", "raw"}, default="residual"
        take the Hessian of the residuals of a linear fit, or of the response itself.
    """

    _method = "phd"


@dataclass(kw_only=True, eq=False, repr=False)
class _GSIR(_ForResponse):
    complexity: float = 1.0
    bandwidth: float | Literal["auto"] = "auto"
    landmarks: int | None = None
    ex: float | Literal["auto"] = "auto"
    ey: float = 0.1
    atype: Literal["identity", "gyinv"] = "identity"


class GSIR(_GSIR, TransformerReduction):
    """Generalised sliced inverse regression (Lee, Li and Chiaromonte 2013).

    ex : float or "auto", default="auto"
        ridge on the features' Gram matrix, as a share of its largest eigenvalue; auto: by the
        error of rows left out. From 1e-12 to 1000.
    ey : float, default=0.1
        the same for the response (regression with atype=gyinv). From 1e-12 to 1000.
    atype : {"identity", "gyinv"}, default="identity"
        weight of the response: its Gram matrix, or that times its inverse.
    """

    _method = "gsir"


@dataclass(kw_only=True, eq=False, repr=False)
class _KernelSIR(_ForResponse):
    complexity: float = 1.0
    bandwidth: float | Literal["auto"] = "auto"
    landmarks: int | None = None
    slices: int = 10
    ridge: float = 0.0001


class KernelSIR(_KernelSIR, TransformerReduction):
    """Kernel sliced inverse regression (Wu 2008).

    slices : int, default=10
        slices of a numeric response; classes are their own slices. From 2 to 1e+06.
    ridge : float, default=0.0001
        ridge on the covariance of the kernel columns, as a share of its largest eigenvalue.
        From 1e-12 to 1000.
    """

    _method = "ksir"


@dataclass(kw_only=True, eq=False, repr=False)
class _GSAVE(_ForResponse):
    complexity: float = 1.0
    bandwidth: float | Literal["auto"] = "auto"
    landmarks: int | None = None
    ex: float = 0.1
    ey: float = 0.1


class GSAVE(_GSAVE, TransformerReduction):
    """Generalised sliced average variance estimation (Lee, Li and Chiaromonte 2013).

    ex : float, default=0.1
        ridge on the features' squared Gram matrix, as a share of its largest eigenvalue. From
        1e-12 to 1000.
    ey : float, default=0.1
        the same for a numeric response; classes need none. From 1e-12 to 1000.
    """

    _method = "gsave"


@dataclass(kw_only=True, eq=False, repr=False)
class _KernelPLS(_ForResponse):
    complexity: float = 1.0
    bandwidth: float | Literal["auto"] = "auto"
    landmarks: int | None = None


class KernelPLS(_KernelPLS, TransformerReduction):
    """Kernel partial least squares (Rosipal and Trejo 2001)."""

    _method = "kpls"


@dataclass(kw_only=True, eq=False, repr=False)
class _NNSDR(_ForResponse):
    hidden: int = 512
    dropout: float = 0.4
    epochs: int = 200
    refine: int = 400
    batch: int = 32
    rate: float = 0.001


class NNSDR(_NNSDR, TransformerReduction):
    """Neural-network sufficient dimension reduction (Kapla, Fertl, Bura 2022).

    hidden : int, default=512
        units of the hidden layer. From 1 to 100000.
    dropout : float, default=0.4
        share of the hidden units left out of each training row. From 0 to 0.95.
    epochs : int, default=200
        passes over the training rows in the first step. From 1 to 1e+07.
    refine : int, default=400
        passes over the training rows in the refinement. From 0 to 1e+07.
    batch : int, default=32
        rows of a mini-batch. From 1 to 1e+07.
    rate : float, default=0.001
        learning rate (RMSProp). From 1e-12 to 1000.
    """

    _method = "nnsdr"


@dataclass(kw_only=True, eq=False, repr=False)
class _Autoencoder(_Settings):
    hidden: int | Literal["auto"] = "auto"
    epochs: int = 100
    batch: int = 128
    rate: float = 0.001
    momentum: float = 0.9
    decay: float = 0.0


class Autoencoder(_Autoencoder, UnsupervisedReduction):
    """Autoencoder with one hidden layer on each side of the bottleneck.

    hidden : int or "auto", default="auto"
        units between input and bottleneck (auto: (p + q) / 2, at most 200 but no fewer than q).
        From 1 to 1e+06.
    epochs : int, default=100
        passes over the training rows. From 1 to 1e+07.
    batch : int, default=128
        rows of a mini-batch. From 1 to 1e+07.
    momentum : float, default=0.9
        momentum of the gradient (Adam's first moment). From 0 to 0.9999.
    """

    _method = "autoencoder"


@dataclass(kw_only=True, eq=False, repr=False)
class _MAVE(_ForResponse):
    anchors: int | Literal["auto"] = "auto"
    subspace: Literal["mean", "central"] = "mean"
    bandwidth: float = 1.2
    ridge: float = 0.0


class MAVE(_MAVE, TransformerReduction):
    """Minimum average variance estimation (Xia, Tong, Li and Zhu 2002).

    bandwidth : float, default=1.2
        factor of the bandwidth n^(-1/(dim+4)). From 0.001 to 1000.
    ridge : float, default=0.0
        added to the diagonal of the correlation matrix of x. From 0 to 1e+06.
    """

    _method = "mave"


@dataclass(kw_only=True, eq=False, repr=False)
class _OuterProductOfGradients(_ForResponse):
    anchors: int | Literal["auto"] = "auto"
    subspace: Literal["mean", "central"] = "mean"
    bandwidth: float = 1.2
    ridge: float = 0.0


class OuterProductOfGradients(_OuterProductOfGradients, TransformerReduction):
    """Outer product of gradients (Xia, Tong, Li and Zhu 2002).

    bandwidth : float, default=1.2
        factor of the bandwidth n^(-1/(dim+4)). From 0.001 to 1000.
    ridge : float, default=0.0
        added to the diagonal of the correlation matrix of x. From 0 to 1e+06.
    """

    _method = "opg"


@dataclass(kw_only=True, eq=False, repr=False)
class _LassoSIR(_ForResponse):
    slices: int = 10
    penalty: float | Literal["auto"] = "auto"
    folds: int = 10


class LassoSIR(_LassoSIR, TransformerReduction):
    """Lasso-SIR: sparse sliced inverse regression (Lin, Zhao and Liu 2019).

    penalty : float or "auto", default="auto"
        lasso penalty as a share of the least one that removes every column; auto: by cross-
        validation. From 0 to 1.
    folds : int, default=10
        folds of the cross-validation of the penalty. From 2 to 1000.
    """

    _method = "lasso-sir"


@dataclass(kw_only=True, eq=False, repr=False)
class _GradientKDR(_ForResponse):
    complexity: float = 1.0
    bandwidth: float | Literal["auto"] = "auto"
    landmarks: int | None = None
    epsilon: float = 1e-05
    steps: int = 1


class GradientKDR(_GradientKDR, TransformerReduction):
    """Gradient-based kernel dimension reduction (Fukumizu and Leng 2014).

    bandwidth : float or "auto", default="auto"
        s, a distance between rows of scaled x; auto: the median over pairs (of 2000 rows at
        most). From 1e-12 to 1e+12.
    epsilon : float, default=1e-05
        ridge of the kernel regression, per row. From 1e-14 to 1000.
    steps : int, default=1
        steps in which the dimension shrinks; more than 1 is gKDR-i. From 1 to 1000.
    """

    _method = "gkdr"


@dataclass(kw_only=True, eq=False, repr=False)
class _KernelDimensionReduction(_ForResponse):
    complexity: float = 1.0
    bandwidth: float | Literal["auto"] = "auto"
    landmarks: int | None = None
    rows: int | Literal["auto"] = "auto"
    epsilon: float = 0.0001
    anneal: float = 4.0
    iterations: int = 50
    restarts: int = 1


class KernelDimensionReduction(_KernelDimensionReduction, TransformerReduction):
    """Kernel dimension reduction (Fukumizu, Bach and Jordan 2009).

    complexity : float, default=1.0
        c in the kernel exp(-c |z - z'|^2 / (2 s^2)) with s the bandwidth. From 1e-06 to 1e+06.
    bandwidth : float or "auto", default="auto"
        s, a distance between rows of Z; auto: half the median distance of x times sqrt(dim /
        p). From 1e-12 to 1e+12.
    rows : int or "auto", default="auto"
        rows the criterion is summed over, chosen by the seed; auto: all, with landmarks at most
        1.5 times as many. From 2 to 1e+09.
    epsilon : float, default=0.0001
        ridge of the conditional covariance, per row. From 1e-14 to 1000.
    anneal : float, default=4.0
        square of the first bandwidth over that of the last. From 1 to 1000.
    iterations : int, default=50
        gradient steps in all. From 1 to 1e+06.
    restarts : int, default=1
        starts: gKDR, then random directions. From 1 to 10000.
    """

    _method = "kdr"


@dataclass(kw_only=True, eq=False, repr=False)
class _LeastSquaresMutualInformation(_ForResponse):
    landmarks: int = 200
    bandwidths: float | tuple[float, ...] = (0.1, 0.178, 0.316, 0.562, 1.0, 1.78, 3.16, 5.62, 10.0)
    lambdas: float | tuple[float, ...] = (0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0, 3.16, 10.0)
    iterations: int = 100
    tune_every: int = 5
    restarts: int = 5


class LeastSquaresMutualInformation(_LeastSquaresMutualInformation, TransformerReduction):
    """Least-squares mutual information estimation (Suzuki and Sugiyama 2013).

    landmarks : int, default=200
        basis functions, at rows chosen by the seed. From 2 to 1e+06.
    bandwidths : float or tuple of float, default=(0.1, 0.178, 0.316, 0.562, 1.0, 1.78, 3.16, 5.62, 10.0)
        bandwidths to choose from, in median distances of z and y; one: no choice. From 1e-06 to
        1e+06.
    lambdas : float or tuple of float, default=(0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0, 3.16, 10.0)
        ridges to choose from. From 1e-12 to 1e+06.
    iterations : int, default=100
        gradient steps a start. From 1 to 1e+06.
    tune_every : int, default=5
        steps between two choices of bandwidth and ridge. From 1 to 1e+06.
    restarts : int, default=5
        starts: gKDR, then random directions. From 1 to 10000.
    """

    _method = "lsmie"


@dataclass(kw_only=True, eq=False, repr=False)
class _ContourRegression(_ForResponse):
    share: float = 0.1
    distance: Literal["values", "ranks"] = "values"
    ridge: float = 0.0


class ContourRegression(_ContourRegression, TransformerReduction):
    """Simple contour regression (Li, Zha and Chiaromonte 2005).

    share : float, default=0.1
        share of all pairs of rows, those with the closest targets. From 1e-06 to 1.
    distance : {"values", "ranks"}, default="values"
        how far targets are apart; ranks for long-tailed ones, though they are blind to
        symmetric links.
    """

    _method = "scr"


@dataclass(kw_only=True, eq=False, repr=False)
class _ConditionalVarianceEstimation(_ForResponse):
    restarts: int = 5
    iterations: int = 50
    bandwidth: float = 1.2
    subspace: Literal["mean", "central"] = "mean"
    rows: int = 1000
    ridge: float = 0.0


class ConditionalVarianceEstimation(_ConditionalVarianceEstimation, TransformerReduction):
    """Conditional variance estimation (Fertl and Bura 2021).

    restarts : int, default=5
        random starts; the best end is kept. From 1 to 10000.
    iterations : int, default=50
        steps a start, at the most. From 1 to 1e+06.
    bandwidth : float, default=1.2
        factor of the bandwidth n^(-1/(dim+4)). From 0.001 to 1000.
    rows : int, default=1000
        rows looked at; more are drawn from by the seed. From 10 to 1e+06.
    ridge : float, default=0.0
        added to the diagonal of the correlation matrix of x. From 0 to 1e+06.
    """

    _method = "cve"


@dataclass(kw_only=True, eq=False, repr=False)
class _BENN(_ForResponse):
    hidden: int | tuple[int, ...] | None = (50, 50)
    units: int = 2000
    ensemble: Literal["gaussian", "powers"] = "gaussian"
    transforms: int = 1000
    epochs: int = 150
    batch: int | Literal["auto"] = "auto"
    rate: float = 0.001
    decay: float = 0.0


class BENN(_BENN, TransformerReduction):
    """Belted and ensembled neural network (Tang and Li 2025).

    hidden : int or tuple of int or None, default=(50, 50)
        units of the encoder's hidden layers (none: Z is a linear function of x). From 1 to
        100000.
    units : int, default=2000
        hidden units between Z and the functions of the response. From 1 to 1e+06.
    ensemble : {"gaussian", "powers"}, default="gaussian"
        functions of a numeric response: Gaussians at random places, or y, y^2, ...
    transforms : int, default=1000
        how many of them (powers: at most 10). From 1 to 100000.
    epochs : int, default=150
        passes over the training rows. From 1 to 1e+07.
    batch : int or "auto", default="auto"
        rows of a mini-batch (auto: all, at most 10,000). From 1 to 1e+07.
    """

    _method = "benn"


@dataclass(kw_only=True, eq=False, repr=False)
class _GMDDNet(_ForResponse):
    hidden: int | tuple[int, ...] | Literal["auto"] | None = "auto"
    distance: Literal["absolute", "log", "cauchy", "gaussian", "power"] = "absolute"
    penalty: float = 1e-06
    epochs: int = 100
    batch: int = 100
    rate: float = 0.001
    decay: float = 0.0


class GMDDNet(_GMDDNet, TransformerReduction):
    """Deep reduction by the generalised martingale difference divergence (Chen, Jiao, Qiu, Yu 2024).

    hidden : int or tuple of int or "auto" or None, default="auto"
        units of the hidden layers (auto: a power of two above p, twice it, and down to 16;
        none: linear). From 1 to 100000.
    distance : {"absolute", "log", "cauchy", "gaussian", "power"}, default="absolute"
        of two numeric responses d apart: d, log(1+d^2/2), d^2/(1+d^2), 1-exp(-d^2/2), d^1.5.
    penalty : float, default=1e-06
        lambda: what a variance of Z other than 1 costs in training. From 0 to 1e+06.
    epochs : int, default=100
        passes over the training rows, each direction. From 1 to 1e+07.
    batch : int, default=100
        rows of a mini-batch. From 4 to 100000.
    """

    _method = "gmddnet"


SHARED = """
n_components : int or "auto", default=2
    number of reduced variables, the columns of Z; "auto": as stonet.order chooses it.
response : {"mean", "ensemble", "location-scale"}, default="mean"
    what Z is to explain of a numeric response: its mean, its whole law by an ensemble of
    functions of it, or its mean and its spread.
law : {"auto", "normal", "logistic", "extreme", "poisson", "negbin"}, default="auto"
    errors of log times and of the scores behind ordered classes, or the law of counts;
    auto: normal for times, logistic for ordered classes, Poisson for counts.
hidden : int or tuple of int or "auto" or None, default="auto"
    widths of the hidden layers before the last one, which then has dim units; none: one
    hidden layer; auto: one layer, its width by the rows, before one of max(dim, 10) units.
    From 1 to 100000.
activation : {"auto", "identity", "tanh", "relu", "sigmoid"}, default="auto"
    activation of the hidden layers; auto: chosen by cross-validation.
front : {"auto", "none", "kernel", "columns", "components", "conv"}, default="auto"
    what layer 1 sees: x (none); kernel features of x, and x; a few columns; principal
    components; of images, a convolutional network that learns with this one; auto: chosen
    by cross-validation.
front_complexity : float or "auto", default="auto"
    front=kernel: c in the kernel exp(-c |x - x'|^2 / (2 s^2)), s the mean distance; auto:
    chosen by cross-validation. From 1e-06 to 1e+06.
front_linear : float, default=0.1
    front=kernel: share of x itself beside the kernel. From 0 to 0.99.
front_landmarks : int or "auto", default="auto"
    front=kernel: rows, drawn by the seed, that span the kernel; auto: a tenth of the rows,
    from 200 to 1000. From 2 to 100000.
front_image : int or tuple of int or "auto", default="auto"
    front=conv: the image that the columns are, height,width or with channels before or
    after them; auto: as the file says. From 1 to 1e+07.
front_channels : int or tuple of int or "auto", default="auto"
    front=conv: filters of each stage of convolution and pooling; auto: 16, 32, 64, 64, ..
    as long as sides are long. From 1 to 4096.
select : {"none", "group"}, default="none"
    group: the network is given the columns alone that a group lasso on layer 1 leaves; by
    held-out rows.
select_penalty : float or "auto", default="auto"
    select=group: the penalty at which columns are taken; auto: by held-out rows. From 1e-09
    to 1e+06.
restarts : int, default=1
    starts that are trained briefly; the one that fits the training rows best goes on. From
    1 to 1000.
input_activation : {"off", "tanh", "relu", "sigmoid"}, default="off"
    activation applied to the inputs too.
epochs : float or "auto", default="auto"
    passes over the training rows; auto: chosen by cross-validation. From 0.01 to 1e+07.
batch : int or "auto", default="auto"
    rows of a mini-batch; auto: 64, above 5000 rows 128, and more in trainings of given
    epochs with more than 5000 updates, by the noise of the gradient. From 1 to 1e+09.
lr : float or "auto", default="auto"
    parameter step on the mean loss (gamma n / s_out). From 0 to 1e+06.
momentum : float, default=0.9
    momentum of the parameter step. From 0 to 0.9999.
weight_decay : float or "auto", default="auto"
    pull of the weights towards 0; auto: chosen by cross-validation. From 0 to 1e+06.
l1 : float, default=0.0
    lasso penalty on the weights. From 0 to 1e+06.
schedule : {"auto", "linear", "constant", "averaged", "power"}, default="auto"
    how the parameter step falls: linearly to a tenth, not at all, as C/(c + k^a), or slowly
    with the iterates of the last half averaged; auto: averaged where epochs are chosen,
    else linear.
schedule_c : float, default=1000.0
    c of the power schedule. From 0 to 1e+12.
schedule_a : float, default=0.6
    a of the power schedule. From 0 to 2.
sweeps : int or "auto", default="auto"
    SGHMC sweeps an iteration; auto: 5 from the mode, 25 from forward. From 1 to 65535.
start : {"forward", "mode"}, default="mode"
    where imputation starts: back-propagated mode or forward pass.
integrator : {"symplectic", "euler"}, default="symplectic"
    SGHMC update; euler is the form printed in the paper.
tau : float, default=0.1
    latent step in units of the layer's own noise, eps_i / sigma_i. From 1e-09 to 10.
alpha : float, default=0.1
    friction a sweep, eps_i eta. From 0 to 1.
rho : float, default=0.1
    noise ratio of neighbouring layers, s_i / s_{i+1}. From 1e-09 to 1e+09.
s_out : float or "auto", default="auto"
    output variance (regression) or temperature (classification). From 1e-30 to 1e+09.
sigma2 : float or tuple of float or "auto", default="auto"
    absolute form: variances s_1,..,s_{h+1}. From 1e-30 to 1e+09.
epsilon : float or tuple of float or "auto", default="auto"
    absolute form: latent steps eps_1,..,eps_h. From 1e-30 to 1e+09.
eta : float or "auto", default="auto"
    absolute form: friction, alpha_i = eps_i eta. From 0 to 1e+12.
gamma : float or tuple of float or "auto", default="auto"
    absolute form: parameter steps gamma_1,..,gamma_{h+1}. From 0 to 1e+12.
layer_step : {"common", "residual"}, default="common"
    common: one gamma, gradients divided by s_i; residual: hidden layers step by their plain
    residual.
sdr_iterations : int or "auto", default="auto"
    full-data iterations of the final stage. From 0 to 1e+06.
sdr_c : float, default=1000.0
    c of the final stage's steps C/(c + k^a). From 0 to 1e+12.
sdr_a : float, default=0.6
    a of the final stage's steps C/(c + k^a). From 0 to 2.
output : {"trained", "refit"}, default="trained"
    the output layer: as training leaves it, or refitted on psi(Z) at the end.
engine : {"auto", "cpu", "ref", "cuda"}, default="cpu"
    cpu: float, fast; ref: double, plain loops; cuda: float, on a GPU (make gpu); auto: cuda
    where that can be used, else cpu.
scale : {"auto", "column", "common", "centre", "none"}, default="auto"
    how features are scaled: each column, all by one common factor, only centred, or not at
    all; auto: a factor for each column or curve, or a common one for pixels.
levels : int or "default" or "auto" or None, default="default"
    numbers that look like codes also as categories: columns of 3 up to so many distinct
    values; auto: up to 8, in tables of fewer than 64 columns; default: auto for stonet,
    else none. From 3 to 100.
missing : {"auto", "error", "drop", "mean", "gaussian", "joint"}, default="auto"
    what becomes of missing cells; error: they are refused; drop: their rows are left out of
    the fit; mean: that of the column; gaussian: drawn or expected given the other cells,
    for StoNets given the response too; joint: StoNets draw them by the network; auto: joint
    for StoNets of numbers, else gaussian.
missing_indicators : {"on", "off"}, default="off"
    on: features that say which cells are missing, for columns that lack more than 5.
curves : {"auto", "none", "snv", "centre", "derivative1", "derivative2", "detrend", "snv-derivative1", "snv-derivative2"}, default="none"
    what is done to each row of a spectrum or another curve before all else: standard normal
    variate, centring, Savitzky-Golay derivatives, detrending; auto: what is best on held-
    out rows, if the columns are smooth along their order.
curves_window : int or "auto", default="auto"
    channels in the window of a derivative of curves, an odd number; auto: a fifteenth of
    the curve. From 5 to 8192.
curves_columns : str or "all", default="all"
    the first and the last column of each curve, by name or by number from 1 without the
    target: 850-1048 or nir1-nir100,uv1-uv60; all: all columns of numbers are one curve.
task : {"auto", "regression", "classification", "survival", "interval", "count", "ordinal"}, default="auto"
    what the target is; auto: text and few whole numbers are classes; survival: a time and,
    in a second column, 1 where it was seen and 0 where it is censored; interval: bounds of
    a time; count: a count and, in a second column, its exposure; ordinal: ordered classes.
random_state : int, RandomState or None, default=None
    seed of all randomness; the same number gives what the command line gives with --seed.
n_jobs : int or None, default=None
    threads; None and -1 are all cores (None heeds OMP_NUM_THREADS); results do not depend
    on it.
verbose : int, default=0
    1 shows a progress bar and the library's notes on stderr.
warm_start : bool, default=False
    fit goes on from where the network stands, as partial_fit does, if there is one: epochs
    passes over the rows it is given.
callback : callable or None, default=None
    called with a dict (stage, done, total, loss, validation_loss, seconds) after every
    epoch and step of the other stages; what it returns stops the fit where that is true,
    and the model so far is kept.
slices : int, default=10
    slices of a numeric target (a class target has one slice a class). From 2 to 10000.
ridge : float, default=0.0
    added to the diagonal of the correlation matrix of x; needed when p > n. From 0 to
    1e+06.
complexity : float, default=1.0
    c in the kernel exp(-c |x - x'|^2 / (2 s^2)) with s the bandwidth. From 1e-06 to 1e+06.
bandwidth : float or "auto", default="auto"
    s, a distance between rows of scaled x; auto: the mean over pairs (of 2000 rows at
    most). From 1e-12 to 1e+12.
landmarks : int or None, default=None
    rows, chosen by the seed, that span the kernel functions; none: all rows, n x n memory.
    From 2 to 1e+06.
rate : float, default=0.001
    learning rate (Adam). From 1e-12 to 1000.
decay : float, default=0.0
    weight decay: each step also takes rate x decay off the weights. From 0 to 1000.
anchors : int or "auto", default="auto"
    rows at which the regression is linearised; auto: the larger of 100 and sqrt(n). From 1
    to 1e+06.
subspace : {"mean", "central"}, default="mean"
    for numeric targets: look at their mean, or at their whole distribution given x.
"""


ESTIMATORS: tuple[type[BaseReduction], ...] = (
    StoNetClassifier,
    StoNetRegressor,
    PrincipalComponents,
    PartialLeastSquares,
    SlicedInverseRegression,
    SlicedAverageVariance,
    DirectionalRegression,
    PrincipalHessianDirections,
    GSIR,
    KernelSIR,
    GSAVE,
    KernelPLS,
    NNSDR,
    Autoencoder,
    MAVE,
    OuterProductOfGradients,
    LassoSIR,
    GradientKDR,
    KernelDimensionReduction,
    LeastSquaresMutualInformation,
    ContourRegression,
    ConditionalVarianceEstimation,
    BENN,
    GMDDNet,
)
describe(ESTIMATORS, SHARED)
