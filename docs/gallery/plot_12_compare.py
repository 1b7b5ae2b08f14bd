"""
Methods side by side
====================

Reductions are scikit-learn transformers. Put a learner behind each of them in a pipeline, and cross-validate.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import stonet

X, y, truth = stonet.datasets.generate("waveform", rows=400, random_state=1)
reductions = {
    "pca": stonet.PrincipalComponents(2),
    "sir": stonet.SlicedInverseRegression(1),
    "dr": stonet.DirectionalRegression(2),
    "ksir": stonet.KernelSIR(1),
    "gsir": stonet.GSIR(1),
    "gsave": stonet.GSAVE(2),
}
errors = {
    name: 1 - cross_val_score(make_pipeline(reduction, LogisticRegression()), X, y, cv=5)
    for name, reduction in reductions.items()
}
figure, ax = plt.subplots(figsize=(6, 3), constrained_layout=True)
ax.errorbar(list(errors), [np.mean(e) for e in errors.values()],
            yerr=[np.std(e) / np.sqrt(len(e)) for e in errors.values()], fmt="o", capsize=4)
ax.set_ylabel("error rate, 5 folds")
