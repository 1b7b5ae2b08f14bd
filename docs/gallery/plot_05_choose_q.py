"""
How many dimensions?
====================

The ladle looks at the eigenvalues of a candidate matrix and at how much its eigenvectors move when the rows are drawn
anew; the smallest value is the choice.
"""
import matplotlib.pyplot as plt

import stonet

X, y, truth = stonet.datasets.generate("ratio", rows=1000, random_state=1)
order = stonet.order(X, y, method="dr", rule="ladle", random_state=1)
print(order.reason)

figure, ax = plt.subplots(figsize=(5, 3), constrained_layout=True)
ax.plot(order.table["k"], order.table["criterion"], "o-")
ax.axvline(order.n_components, color="0.7", zorder=0)
ax.set(xlabel="k", ylabel="ladle")
