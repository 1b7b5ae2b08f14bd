"""
More columns than rows
======================

Five of 500 columns matter and there are 200 rows. Lasso-SIR gives a sparse direction without inverting a covariance
matrix.
"""
import matplotlib.pyplot as plt
import numpy as np

import stonet

random = np.random.default_rng(6)
X = random.normal(size=(200, 500))
direction = np.zeros(500)
direction[:5] = [1, 1, 1, -1, -1]
y = np.tanh(X @ direction / 2) + 0.1 * random.normal(size=200)
model = stonet.LassoSIR(1).fit(X, y)
found = model.components_.ravel()
print("columns used:", np.flatnonzero(found) + 1)

figure, ax = plt.subplots(figsize=(7, 2.8), constrained_layout=True)
ax.vlines(np.arange(1, 61), 0, found[:60], lw=3)
ax.set(xlabel="column (the first 60 of 500)", ylabel="coefficient")
