"""
What x does to the spread
=========================

Here x moves the spread of the response as well as its mean. With ``response="location-scale"`` the network learns both, and
says how far y is likely to be from each prediction.
"""
import matplotlib.pyplot as plt
import numpy as np

import stonet

random = np.random.default_rng(4)
X = random.uniform(-2, 2, size=(800, 3))
y = X[:, 0] + np.exp(0.6 * X[:, 1] - 1) * random.normal(size=800)
model = stonet.StoNetRegressor(2, response="location-scale", random_state=1).fit(X, y)

grid = np.zeros((50, 3))
grid[:, 1] = np.linspace(-2, 2, 50)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), constrained_layout=True)
left.scatter(X[:, 1], y - X[:, 0], s=4, color="0.6")
left.set(xlabel="x2", ylabel="y less its mean")
right.plot(grid[:, 1], np.exp(0.6 * grid[:, 1] - 1), color="0.6", label="truth")
right.plot(grid[:, 1], model.predict_spread(grid).ravel(), label="predict_spread")
right.set(xlabel="x2", ylabel="standard deviation of y")
right.legend()
