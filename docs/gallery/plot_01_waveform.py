"""
Twenty-one columns in a picture
===============================

Breiman's waves, one class of three against the others. The first column of Z separates the
classes, and the two columns together show the triangle that the three base waves span.
"""
import matplotlib.pyplot as plt

import stonet

train = stonet.datasets.generate("waveform", rows=400, random_state=1)
test = stonet.datasets.generate("waveform", rows=1500, random_state=2)
model = stonet.StoNetClassifier(2, random_state=1).fit(train.X, train.y)
print(f"error rate on {len(test.y)} new rows: {1 - model.score(test.X, test.y):.3f}")
print("share of each column in the effect on the output:", model.explained_share_.round(3))

figure, ax = plt.subplots(figsize=(5, 4), constrained_layout=True)
stonet.plot.reduction(model.transform(test.X), test.y, ax=ax)
