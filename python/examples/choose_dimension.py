"""Choosing the dimension q by cross-validation, inside a Pipeline.

    python choose_dimension.py [picture.png]
"""
import sys

import matplotlib

matplotlib.use("Agg")
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import stonet

X, y, _ = stonet.datasets.generate("waveform", rows=400, random_state=1)
dimensions = [1, 2, 3, 5]

# The reduction is fitted anew on each training part, so no held-out row has a say in it.
pipeline = make_pipeline(
    stonet.StoNetClassifier(epochs=60, weight_decay=0.01, random_state=1),
    LogisticRegression(),
)
search = GridSearchCV(pipeline, {"stonetclassifier__n_components": dimensions}, cv=5).fit(X, y)

folds = [search.cv_results_[f"split{k}_test_score"] for k in range(5)]
errors = 1 - np.stack(folds, axis=1)
for q, row in zip(dimensions, errors):
    print(f"q = {q}: held-out error {row.mean():.3f} +- {row.std(ddof=1) / np.sqrt(5):.3f}")
print(f"chosen: q = {search.best_params_['stonetclassifier__n_components']}")

picture = sys.argv[1] if len(sys.argv) > 1 else "choose_dimension.png"
stonet.plot.error_by_dimension(dimensions, errors).figure.savefig(picture)
print(f"the curve is in {picture}")
