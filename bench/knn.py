#!/usr/bin/env python3
"""Accuracy of nearest neighbours on the Z of stonet and of other reductions: the table of docs/which.md.

    STONET_DATA=... STONET_LIBRARY=build/lib/libstonet.so PYTHONPATH=python/src /usr/bin/python3 bench/knn.py [NAME..]

NAME: german, waveform (partitions 1 to 3 of the benchmark), digits (of scikit-learn, three splits) and mnist (2,000 training
images, one split). Columns of tables are scaled to standard deviation 1 first; pixels are left as they are, since they have one
unit, and PCA would suffer. Z is scaled, and 10 neighbours vote. UMAP and supervised UMAP are used where
umap-learn is installed. Needs NumPy and scikit-learn.
"""
import os
import sys
import time

import numpy as np
import stonet
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
import shared

NEIGHBOURS, PARTITIONS, IMAGES = 10, 3, 2000


def partitions(name):
    """The given partitions of a set of the benchmark: x, new x, y, new y."""
    for k in range(1, PARTITIONS + 1):
        part = {f"{kind}_{what}": np.loadtxt(f"{os.environ['STONET_DATA']}/{name}/{name}_{kind}_{what}_{k}.asc")
                for kind in ("train", "test") for what in ("data", "labels")}
        yield part["train_data"], part["test_data"], part["train_labels"], part["test_labels"]


def digits():
    for k in range(PARTITIONS):
        yield train_test_split(*load_digits(return_X_y=True), test_size=0.4, random_state=k)


def mnist():
    folder = f"{os.environ['STONET_DATA']}/mnist"
    x, y, new_x, new_y = (shared.read_idx(f"{folder}/{kind}-{what}-ubyte.gz") for kind in ("train", "t10k")
                          for what in ("images-idx3", "labels-idx1"))
    flat = lambda images: images.reshape(len(images), -1).astype(float)
    yield flat(x[:IMAGES]), flat(new_x), y[:IMAGES].astype(int), new_y.astype(int)


class PartialLeastSquares:
    """PLS of one indicator a class."""

    def __init__(self, q, scale):
        self.model = PLSRegression(q, scale=scale)

    def fit(self, x, y):
        self.model.fit(x, np.equal.outer(y, np.unique(y)).astype(float))
        return self

    def transform(self, x):
        return self.model.transform(x)


def reductions(q, classes, images):
    """Name and an unfitted reduction to q columns."""
    first = "passthrough" if images else StandardScaler()
    found = {
        "stonet": lambda: stonet.StoNetClassifier(q, random_state=1),
        "PCA": lambda: make_pipeline(first, stonet.PrincipalComponents(q)),
        "PLS": lambda: PartialLeastSquares(q, not images),
        "LDA": lambda: LinearDiscriminantAnalysis(n_components=min(q, classes - 1)),
        "autoencoder": lambda: make_pipeline(first, stonet.Autoencoder(q, random_state=1)),
    }
    try:
        from umap import UMAP
    except ImportError:
        return found
    found["UMAP"] = lambda: make_pipeline(first, UMAP(n_components=q, random_state=1))
    found["supervised UMAP"] = found["UMAP"]
    return found


def accuracy(x, new_x, y, new_y, scale=True):
    voters = make_pipeline(StandardScaler() if scale else "passthrough", KNeighborsClassifier(NEIGHBOURS)).fit(x, y)
    return voters.score(new_x, new_y)


def measure(name, sets, q, images):
    splits = list(sets)
    classes = len(np.unique(splits[0][2]))
    print(f"{name}, all {splits[0][0].shape[1]} columns: {np.mean([accuracy(*split, not images) for split in splits]):.3f}", flush=True)
    for method, new in reductions(q, classes, images).items():
        start, found = time.process_time(), []
        for x, new_x, y, new_y in splits:
            fitted = new().fit(x, None if method == "UMAP" else y)
            found.append(accuracy(fitted.transform(x), fitted.transform(new_x), y, new_y))
        seconds = (time.process_time() - start) / len(splits)
        print(f"{name}, q = {q}, {method}: {np.mean(found):.3f} ({seconds:.1f} s)", flush=True)


def main():
    sources = {"german": lambda: partitions("german"), "waveform": lambda: partitions("waveform"), "digits": digits, "mnist": mnist}
    for name in sys.argv[1:] or sources:
        images = name in ("digits", "mnist")
        for q in (2, 9) if images else (2,):
            measure(name, sources[name](), q, images)


if __name__ == "__main__":
    main()
