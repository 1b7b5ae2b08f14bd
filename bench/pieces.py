"""partial_fit over ten pieces of 5,000 rows against one fit of all of them: errors on 20,000 fresh rows.

    PYTHONPATH=python/src STONET_LIBRARY=build/lib/libstonet.so python3 bench/pieces.py waveform|friedman|mnist FIRST LAST [ROWS]

mnist: 5,000 training images drawn at random, the 10,000 test images; the files are in $STONET_DATA/mnist.
FIRST to LAST are seeds. ROWS: those of the first piece, 500 by default; all others have 500. Prints the error of the first
piece, of training further alone (a fit, and then partial_fit), of partial_fit from the first piece on, and of one fit: the
error rate, or the mean square over the variance of y.
"""
from __future__ import annotations

import gzip
import os
import sys
import warnings

import numpy as np

import stonet

warnings.simplefilter("ignore")
ROWS, PIECE, FRESH = 5000, 500, 20000
name, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
start = int(sys.argv[4]) if len(sys.argv) > 4 else PIECE
found = []


def images(part: str) -> tuple[np.ndarray, np.ndarray]:
    stem = os.path.join(os.environ["STONET_DATA"], "mnist", part)
    with gzip.open(stem + "-images-idx3-ubyte.gz") as x, gzip.open(stem + "-labels-idx1-ubyte.gz") as y:
        labels = np.frombuffer(y.read()[8:], np.uint8)
        return np.frombuffer(x.read()[16:], np.uint8).reshape(len(labels), -1).astype(np.float32), labels


def rows_of(count: int, seed: int, fresh: bool) -> tuple[np.ndarray, np.ndarray]:
    if name != "mnist":
        return stonet.datasets.generate(name, rows=count, random_state=seed)[:2]
    X, y = images("t10k" if fresh else "train")
    drawn = np.random.RandomState(seed).permutation(len(y))[:count]
    return X[drawn], y[drawn]


for seed in range(first, last + 1):
    X, y = rows_of(ROWS, seed, False)
    X_new, y_new = rows_of(FRESH, seed + 100000, True)
    classes = name != "friedman"
    kind, dim = (stonet.StoNetClassifier, 10 if name == "mnist" else 2) if classes else (stonet.StoNetRegressor, 1)

    def error(model: stonet.StoNetClassifier | stonet.StoNetRegressor) -> float:
        guess = model.predict(X_new)
        return float(np.mean(guess != y_new) if classes else np.mean((guess - y_new) ** 2) / np.var(y_new))

    further, pieces, whole = (kind(dim, random_state=seed, n_jobs=1) for _ in range(3))
    before = error(further.fit(X[:start], y[:start]))
    pieces.partial_fit(X[:start], y[:start])
    for at in range(start, ROWS, PIECE):
        for model in (further, pieces):
            model.partial_fit(X[at:at + PIECE], y[at:at + PIECE])
    found.append([before, error(further), error(pieces), error(whole.fit(X, y))])
    print(seed, *(f"{value:.5f}" for value in found[-1]), flush=True)
table = np.array(found)
more = table[:, 2] - table[:, 3]
spread = more.std(ddof=1) / np.sqrt(len(more)) if len(more) > 1 else np.nan
print("mean", *(f"{value:.5f}" for value in table.mean(axis=0)), f"partial_fit less one fit {more.mean():.5f} (s.e. {spread:.5f})")
