"""Classification with pictures: reduce 21 columns to 2, look at them, and predict.

    python classification.py [picture.png]
"""
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot

import stonet

train = stonet.datasets.generate("waveform", rows=400, random_state=1)
test = stonet.datasets.generate("waveform", rows=2000, random_state=2)

# One layer, so that two classes spread over both columns.
# How long to train and how strongly to hold the weights back is chosen on held-out rows unless you say it.
model = stonet.StoNetClassifier(n_components=2, hidden=None, random_state=1).fit(train.X, train.y)
print(f"error rate on {len(test.y)} new rows: {1 - model.score(test.X, test.y):.3f}")

# Has Z lost anything that X says about y? Asked of rows that the model has not seen.
p_value = model.sufficiency_test(test.X, test.y).p_value
print(f"sufficiency: p = {p_value:.3f} (a small one says that Z has lost something)")

figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
stonet.plot.reduction(model.transform(test.X), test.y, ax=left)
stonet.plot.training_curve(model, ax=right)
picture = sys.argv[1] if len(sys.argv) > 1 else "classification.png"
figure.savefig(picture)
print(f"Z and the training curve are in {picture}")
