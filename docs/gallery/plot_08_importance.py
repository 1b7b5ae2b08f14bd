"""
Which variables?
================

Friedman's function uses the first five of ten columns. Importance by permutation, on rows the model has not seen, with
standard errors.
"""
import matplotlib.pyplot as plt

import stonet

train = stonet.datasets.generate("friedman", rows=500, random_state=1)
test = stonet.datasets.generate("friedman", rows=1000, random_state=2)
model = stonet.StoNetRegressor(1, random_state=1).fit(train.X, train.y)
print(f"R2 on new rows: {model.score(test.X, test.y):.2f}")
found = model.importance(test.X, test.y)

figure, ax = plt.subplots(figsize=(6, 3), constrained_layout=True)
ax.bar(found.variables, found.importance, yerr=found.se, color="tab:blue")
ax.set_ylabel("growth of the loss")
