"""Every estimator with settings that make a fit take milliseconds, for tests that fit hundreds of times."""
from __future__ import annotations

from typing import Any

import stonet

STONET = {"hidden": 8, "epochs": 40, "weight_decay": 0.01, "sdr_iterations": 2, "batch": 20}
SETTINGS: dict[str, dict[str, Any]] = {
    "StoNetClassifier": STONET,
    "StoNetRegressor": STONET,
    "PrincipalComponents": {},
    "PartialLeastSquares": {},
    "SlicedInverseRegression": {},
    "SlicedAverageVariance": {},
    "DirectionalRegression": {},
    # One check has a response that is exactly linear, which leaves the default no residuals to look at.
    "PrincipalHessianDirections": {"response": "raw"},
    "LassoSIR": {"penalty": 0.1},
    "KernelSIR": {},
    "GSIR": {},
    "GSAVE": {},
    "KernelPLS": {},
    "KernelDimensionReduction": {"iterations": 2},
    "GradientKDR": {},
    "LeastSquaresMutualInformation": {"iterations": 2, "restarts": 1, "bandwidths": 1.0, "lambdas": 0.1},
    "OuterProductOfGradients": {},
    "MAVE": {},
    "ContourRegression": {},
    "ConditionalVarianceEstimation": {"restarts": 1},
    "NNSDR": {"hidden": 8, "epochs": 2, "refine": 2},
    "Autoencoder": {"hidden": 8, "epochs": 2},
    "BENN": {"hidden": 8, "units": 20, "transforms": 10, "epochs": 2},
    "GMDDNet": {"hidden": 8, "epochs": 2},
}


def make(name: str, **more: Any) -> Any:
    return getattr(stonet, name)(**{**SETTINGS[name], "n_jobs": 1, **more})
