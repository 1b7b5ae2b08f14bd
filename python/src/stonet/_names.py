"""The names of the estimators. Written by tools/generate_estimators.py; loads nothing."""
from __future__ import annotations

ESTIMATORS: tuple[str, ...] = (
    "StoNetClassifier",
    "StoNetRegressor",
    "PrincipalComponents",
    "PartialLeastSquares",
    "SlicedInverseRegression",
    "SlicedAverageVariance",
    "DirectionalRegression",
    "PrincipalHessianDirections",
    "GSIR",
    "KernelSIR",
    "GSAVE",
    "KernelPLS",
    "NNSDR",
    "Autoencoder",
    "MAVE",
    "OuterProductOfGradients",
    "LassoSIR",
    "GradientKDR",
    "KernelDimensionReduction",
    "LeastSquaresMutualInformation",
    "ContourRegression",
    "ConditionalVarianceEstimation",
    "BENN",
    "GMDDNet",
)
