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
# The table has ten columns of numbers. Two classes lie inside and outside of a circle in two of the columns. The other eight
# columns say nothing about the class. No single column shows much.
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
# Principal components do not use the response. Here all columns have the same variance, and the classes stay mixed.
# Sliced inverse regression uses the response, but only for *linear* reductions whose mean moves with the class. Both
# classes have the same mean, so this method cannot see the circle. A kernel method, or a network, can find the circle,
# since its :math:`Z` need not be linear in :math:`X`.
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
# These are 1000 rows that no fit has seen. Always look at rows that the model was not fitted on. On its own training rows
# a flexible model looks better than it is.
#
# Reading Z
# ---------
#
# What is the one number that the StoNet found? The response depends on the distance from the centre in (x1, x2). Z follows
# this distance up to a monotone change. The scale of Z has no meaning here; the order of the rows has.
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
# How many numbers are enough? If a method solves an eigenproblem, there are rules that use the eigenvalues. For all
# methods the held-out error gives an answer. Here is a regression whose mean needs two directions, by directional
# regression.
X2, y2, truth2 = stonet.datasets.generate("ratio", rows=600, random_state=1)
order = stonet.order(X2, y2, method="dr", random_state=1)
print(order.n_components, order.reason)

# %%
# A flexible network needs only few numbers. One number can hold the mean of :math:`Y`, however the mean depends on
# :math:`X`. For :math:`C` classes :math:`C - 1` numbers are enough. More numbers only make the fit easier.
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
# The first two methods have lost what :math:`X` says. The network has lost little. With a thousand rows the test still sees
# this loss, since a circle that is learned from 500 rows is not quite the true circle. Read the p-value and ``lost`` together:
#
# * a small p-value with little lost: the reduction is not perfect,
# * a small p-value with much lost: the reduction is of no use,
# * a large p-value: these rows show no loss. This is no proof.
#
# Where to go from here
# ---------------------
#
# * the :doc:`gallery </gallery_made/index>` has an example for most questions,
# * :doc:`/methods` says which method to use when, :doc:`/formulas` what they compute,
# * :doc:`/index` has the same three steps for the command line.
