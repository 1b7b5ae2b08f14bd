"""
One direction and a curve
=========================

The response is a curve of one linear combination of the columns. Sliced inverse regression finds the combination, in
milliseconds, and the picture of y against Z shows the curve.
"""
import matplotlib.pyplot as plt
import numpy as np

import stonet

random = np.random.default_rng(1)
X = random.normal(size=(400, 8))
direction = np.array([2, -1, 0, 0, 0, 0, 0, 0]) / np.sqrt(5)
y = np.exp(0.7 * X @ direction) + 0.15 * random.normal(size=400)

model = stonet.SlicedInverseRegression(1).fit(X, y)
found = model.components_.ravel() / np.linalg.norm(model.components_)
print("found:", found.round(2))
print(f"cosine with the truth: {abs(found @ direction):.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), constrained_layout=True)
left.scatter(X[:, 2], y, s=6, color="0.5")
left.set(xlabel="x3, a column that says nothing", ylabel="y")
right.scatter(model.transform(X)[:, 0], y, s=6, color="tab:blue")
right.set(xlabel="Z", ylabel="y")
