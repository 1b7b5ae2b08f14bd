"""
A reduction that is no direction
================================

y depends on the distance from the centre in (x1, x2). No single direction holds this distance. Linear methods need two
columns of Z, and nonlinear methods (gsir, stonet) a single number.
"""
import matplotlib.pyplot as plt
import numpy as np

import stonet

train = stonet.datasets.generate("radial", rows=600, random_state=1)
test = stonet.datasets.generate("radial", rows=600, random_state=2)
radius = np.hypot(test.X[:, 0], test.X[:, 1])
methods = {"dr": stonet.DirectionalRegression(1), "gsir": stonet.GSIR(1), "stonet": stonet.StoNetRegressor(1, random_state=1)}
figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), constrained_layout=True)
for ax, (name, model) in zip(axes, methods.items()):
    z = model.fit(train.X, train.y).transform(test.X)[:, 0]
    ax.scatter(radius, z, s=5, color="tab:blue")
    ax.set(title=name, xlabel="distance from the centre", ylabel="Z")
