"""
Intervals that keep their promise
=================================

A calibrated model gives intervals that hold the response in nine of ten new rows, whatever the law of the response is. The
method is conformal prediction with ten refits.
"""
import matplotlib.pyplot as plt
import numpy as np

import stonet

random = np.random.default_rng(3)


def draw(n):
    X = random.normal(size=(n, 4))
    return X, np.sin(X[:, 0] + X[:, 1]) + 0.2 * random.standard_t(3, size=n)


X, y = draw(300)
X_new, y_new = draw(1000)
model = stonet.StoNetRegressor(1, front="kernel", front_complexity=1, front_linear=0, front_landmarks=60, random_state=1).fit(X, y).calibrate(X, y)
low, high = model.predict_interval(X_new, 0.9).T
inside = (y_new >= low) & (y_new <= high)
print(f"inside: {inside.mean():.3f} of 1000 new rows; wanted: 0.9")

order = np.argsort(model.predict(X_new))[::5]
figure, ax = plt.subplots(figsize=(7, 3), constrained_layout=True)
at = np.arange(len(order))
ax.vlines(at, low[order], high[order], color="0.8")
ax.scatter(at, y_new[order], s=6, c=np.where(inside[order], "tab:blue", "tab:red"))
ax.set(xlabel="new rows by their prediction", ylabel="y and its interval")
