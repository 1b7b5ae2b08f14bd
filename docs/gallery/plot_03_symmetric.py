"""
When the mean does not move
===========================

y is large on both sides of 0, so the mean of X is the same for every y. Sliced inverse regression cannot see this
dependence. Methods that look at spreads (save, dr) or curvature (phd) can.
"""
import matplotlib.pyplot as plt
import numpy as np

import stonet

random = np.random.default_rng(2)
X = random.normal(size=(500, 6))
y = X[:, 0] ** 2 + 0.2 * random.normal(size=500)
methods = {
    "sir": stonet.SlicedInverseRegression(1),
    "save": stonet.SlicedAverageVariance(1),
    "dr": stonet.DirectionalRegression(1),
    "phd": stonet.PrincipalHessianDirections(1),
}
figure, axes = plt.subplots(1, 4, figsize=(10, 2.6), constrained_layout=True, sharey=True)
for ax, (name, model) in zip(axes, methods.items()):
    z = model.fit(X, y).transform(X)[:, 0]
    ax.scatter(z, y, s=4, color="tab:blue")
    ax.set_title(f"{name}: |correlation with x1| {abs(np.corrcoef(z, X[:, 0])[0, 1]):.2f}", fontsize=9)
    ax.set_xlabel("Z")
axes[0].set_ylabel("y")
