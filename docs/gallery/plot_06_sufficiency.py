"""
Has Z lost anything?
====================

The response needs two directions. Given one of them, the test says that X still knows more about y than Z does. Given
both, X adds nothing and p is uniform. Directions that are *estimated* from 400 rows are not quite the true directions. The
test, on new rows, often sees this too.
"""
import matplotlib.pyplot as plt

import stonet

p = {"one direction": [], "both": [], "two, estimated": []}
for seed in range(12):
    train = stonet.datasets.generate("ratio", rows=400, random_state=2 * seed)
    X, y, truth = stonet.datasets.generate("ratio", rows=400, random_state=2 * seed + 1)
    model = stonet.DirectionalRegression(2).fit(train.X, train.y)
    p["one direction"].append(stonet.independence_test(X, y, X[:, :1]).p_value)
    p["both"].append(stonet.independence_test(X, y, X[:, :2]).p_value)
    p["two, estimated"].append(model.sufficiency_test(X, y).p_value)
for name, values in p.items():
    print(f"given {name}: p below 0.05 in {sum(value < 0.05 for value in values)} of {len(values)}")

figure, ax = plt.subplots(figsize=(5.5, 3), constrained_layout=True)
for name, values in p.items():
    ax.plot(sorted(values), "o-", label=name)
ax.axhline(0.05, color="0.7", zorder=0)
ax.set(xlabel="data set, sorted", ylabel="p-value")
ax.legend()
