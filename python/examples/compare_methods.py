"""Comparing methods on the same folds: each reduces to one column, and logistic regression predicts from it.

    python compare_methods.py
"""
import time
import warnings

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import stonet

X, y, _ = stonet.datasets.generate("waveform", rows=300, random_state=1)
methods = [
    stonet.PrincipalComponents(1),
    stonet.SlicedInverseRegression(1),
    stonet.SlicedAverageVariance(1),
    stonet.LassoSIR(1, random_state=1),
    stonet.KernelSIR(1),
    stonet.GSIR(1),
    stonet.GradientKDR(1),
    stonet.MAVE(1, random_state=1),
    stonet.StoNetClassifier(1, epochs=60, weight_decay=0.01, random_state=1),
]
folds = StratifiedKFold(5, shuffle=True, random_state=1)
warnings.simplefilter("ignore", stonet.StonetWarning)

print(f"{'method':<28}{'error':>8}{'seconds':>9}")
for method in methods:
    start = time.perf_counter()
    scores = cross_val_score(make_pipeline(method, LogisticRegression()), X, y, cv=folds)
    print(f"{type(method).__name__:<28}{1 - scores.mean():>8.3f}{time.perf_counter() - start:>9.2f}")
