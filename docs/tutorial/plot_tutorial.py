"""
What sufficient dimension reduction is, by pictures
===================================================

You have many variables :math:`X` and a response :math:`Y`. Sufficient dimension reduction looks for a few numbers
:math:`Z = R(X)` that keep all that :math:`X` says about :math:`Y`. Once :math:`Z` is known, :math:`X` has nothing to add:

.. math:: Y \\perp X \\mid Z.

A table of ten columns becomes a picture of one or two. If :math:`Z` is sufficient, the picture shows all that the table says
about the response. No fit is perfect, so the last part tests how much is lost.
"""

# %%
# A table with something hidden in it
# -----------------------------------
#
# Ten columns of numbers. Two classes lie inside and outside of a circle in two of the columns; the other eight say nothing.
# Looked at column by column, none shows much.
import matplotlib.pyplot as plt
import numpy as np

import stonet

X, y, truth = stonet.datasets.generate("ring", rows=500, random_state=1)
new = stonet.datasets.generate("ring", rows=1000, random_state=2)
figure, axes = plt.subplots(1, 4, figsize=(9, 2.2), constrained_layout=True, sharey=True)
for j, ax in enumerate(axes):
    for label in np.unique(y):
        ax.hist(X[y == label, j], bins=25, alpha=0.5)
    ax.set_xlabel(f"x{j + 1}")

# %%
# Directions of large variance are not directions that matter
# -----------------------------------------------------------
#
# Principal components do not look at the response. Here all columns have the same variance, and the classes stay mixed.
# Sliced inverse regression does look at it, but only for *linear* reductions whose mean moves with the class: both
# classes have the same mean, so it finds nothing either. A kernel method, or a network, can find the circle: its
# :math:`Z` need not be linear in :math:`X`.
fits = {
    "principal components": stonet.PrincipalComponents(1),
    "sliced inverse regression": stonet.SlicedInverseRegression(1),
    "StoNet": stonet.StoNetClassifier(1, random_state=1),
}
figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), constrained_layout=True)
for ax, (name, model) in zip(axes, fits.items()):
    z = model.fit(X, y).transform(new.X)[:, 0]
    for label in np.unique(y):
        ax.hist(z[new.y == label], bins=40, alpha=0.5, label=label)
    ax.set_title(name)
    ax.set_xlabel("Z")
axes[0].legend()

# %%
# These are 1000 rows that no fit has seen. Always look at rows that the model was not fitted on: on its own rows a
# flexible model can show whatever one hopes for.
#
# Reading Z
# ---------
#
# What is the one number that the StoNet found? The response depends on the distance from the centre in (x1, x2), and so
# does Z, up to a monotone change: the scale of Z is its own, its order is what counts.
network = fits["StoNet"]
radius = np.hypot(new.X[:, 0], new.X[:, 1])
figure, ax = plt.subplots(figsize=(4.5, 3), constrained_layout=True)
ax.scatter(radius, network.transform(new.X)[:, 0], s=6, c=np.where(new.y == "inner", "tab:blue", "tab:orange"))
ax.set_xlabel("distance from the centre in (x1, x2)")
ax.set_ylabel("Z")

# %%
# Which columns does it use? The importance of a column is how much worse the prediction gets when its cells are exchanged
# between rows.
found = network.importance(new.X, new.y)
figure, ax = plt.subplots(figsize=(5.5, 2.6), constrained_layout=True)
ax.bar(found.variables, found.importance, yerr=found.se, color="0.6")
ax.set_ylabel("importance")

# %%
# Choosing q
# ----------
#
# How many numbers are enough? For methods that are eigenproblems, rules read it off the eigenvalues; for all methods
# held-out error does. Here is a regression whose mean needs two directions, by directional regression.
X2, y2, truth2 = stonet.datasets.generate("ratio", rows=600, random_state=1)
order = stonet.order(X2, y2, method="dr", random_state=1)
print(order.n_components, order.reason)

# %%
# A flexible network needs fewer than one would think: one number can hold the mean of :math:`Y`, whatever it depends
# on, and for :math:`C` classes :math:`C - 1` numbers are enough. More only make it easier to fit.
#
# Sufficient, or only predictive?
# -------------------------------
#
# A reduction that predicts well can still have lost something, such as the spread of the response. The test of sufficiency
# uses rows that the model has not seen. It tests whether :math:`Y` still depends on :math:`X` once :math:`Z` is known. A small
# p-value says that something is left. ``lost`` says how much more a prediction from :math:`X` and :math:`Z` together explains
# than one from :math:`Z` alone.
for name, model in fits.items():
    test = model.sufficiency_test(new.X, new.y)
    print(f"{name:26} p = {test.p_value:.3f}   lost: {test.lost:.2f}")

# %%
# The first two have lost what :math:`X` says. The network has lost little. With a thousand rows the test still sees it, as it
# should: a circle that is learned from 500 rows is not quite the true one. Read the two together. A small p-value with little
# lost says that the reduction is not perfect; with much lost, that it is of no use. A large p-value is no proof: it says that
# these rows show nothing left over.
#
# Where to go from here
# ---------------------
#
# * the :doc:`gallery </gallery_made/index>` has an example for most questions,
# * :doc:`/methods` says which method to use when, :doc:`/formulas` what they compute,
# * :doc:`/index` has the same three steps for the command line.
