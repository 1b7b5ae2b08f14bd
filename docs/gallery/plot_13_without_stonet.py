"""
A model in a file of C
======================

Export a fitted model, compile it with nothing but a C compiler, and compute Z of a grid of points with it.
"""
import ctypes
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import stonet

train = stonet.datasets.generate("ring", rows=400, random_state=1)
X = train.X[:, :2]
model = stonet.StoNetClassifier(1, random_state=1).fit(X, train.y)


class Cell(ctypes.Structure):
    _fields_ = [("number", ctypes.c_double), ("text", ctypes.c_char_p)]


with tempfile.TemporaryDirectory() as folder:
    model.export(Path(folder, "ring.c"), name="ring")
    library = Path(folder, "ring.so")
    subprocess.run(["cc", "-std=c99", "-O2", "-shared", "-fPIC", "-o", library, Path(folder, "ring.c"), "-lm"], check=True)
    exported = ctypes.CDLL(str(library))

axis = np.linspace(-3, 3, 60)
picture, z = np.empty((60, 60)), (ctypes.c_double * 1)()
for i, x2 in enumerate(axis):
    for j, x1 in enumerate(axis):
        assert exported.ring_transform((Cell * 2)(Cell(x1), Cell(x2)), z) == 0
        picture[i, j] = z[0]
grid = np.column_stack([a.ravel() for a in np.meshgrid(axis, axis)])
print(f"largest difference to transform: {np.abs(model.transform(grid)[:, 0] - picture.ravel()).max():.1e}")

figure, ax = plt.subplots(figsize=(4.5, 3.6), constrained_layout=True)
shown = ax.contourf(axis, axis, picture, levels=12, cmap="coolwarm")
ax.scatter(X[:, 0], X[:, 1], s=5, c=np.where(train.y == "inner", "white", "black"))
figure.colorbar(shown, label="Z")
ax.set(xlabel="x1", ylabel="x2", xlim=(-3, 3), ylim=(-3, 3))
