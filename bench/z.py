#!/usr/bin/env python3
"""What Z of a default fit is worth, and whether it comes back: tables for docs/defaults.md.

    STONET_DATA=... python3 bench/z.py [--program build/bin/stonet] [--splits 5]

Classes: the accuracy of four learners on Z of fresh rows, q = 1, 2, 5 from one training (`stonet fit --dim 1,2,5`).
Numbers and classes: the canonical correlations of Z (q = 1, fresh rows) between two seeds, and between two halves of the
rows. Needs NumPy and scikit-learn.
"""
import argparse
import os
import subprocess
import tempfile

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import stuck

LEARNERS = {"kNN": KNeighborsClassifier(15), "QDA": QuadraticDiscriminantAnalysis(), "logistic": LogisticRegression(max_iter=1000),
            "SVM": SVC()}
DIMS, ROWS = (1, 2, 5), 2000


def real(name, split):
    stem = os.path.join(os.environ["STONET_DATA"], name, name)
    return [(np.loadtxt(f"{stem}_{part}_data_{split}.asc"), np.loadtxt(f"{stem}_{part}_labels_{split}.asc"))
            for part in ("train", "test")]


def table(path):
    rows = np.loadtxt(path, delimiter=",", skiprows=1, dtype=str)
    y = rows[:, -1]
    return rows[:, :-1].astype(float), y.astype(float) if y[0][-1].isdigit() else y


def write(folder, name, x, y):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join(f"x{k}" for k in range(x.shape[1])) + ",y\n")
        out.writelines(",".join(map(repr, row.tolist())) + f",{target}\n" for row, target in zip(x, y))
    return path


def reduce(program, folder, train, fresh, dims, seed=1):
    """Z of fresh rows, or of several tables, for each dimension."""
    model = os.path.join(folder, "m-{dim}")
    subprocess.run([program, "fit", train, "--target", "y", "--dim", ",".join(map(str, dims)), "--seed", str(seed), "--quiet",
                    "--out", model], check=True, stderr=subprocess.DEVNULL)
    z = os.path.join(folder, "z.npy")
    found = {}
    for dim in dims:
        for at in fresh:
            subprocess.run([program, "transform", model.format(dim=dim), at, "--out", z], check=True, stderr=subprocess.DEVNULL)
            found[dim, at] = np.load(z)
    return found


def accuracies(program, folder, splits, name):
    right = {(dim, learner): [] for dim in DIMS for learner in LEARNERS}
    for split in range(1, splits + 1):
        if name in stuck.SIMULATED:
            parts = [table(stuck.generate(program, folder, name, rows, seed)) for rows, seed in ((ROWS, split), (5000, 1000 + split))]
        else:
            parts = real(name, split)
        paths = [write(folder, f"{part}.csv", x, [f"c{label}" for label in y]) for part, (x, y) in zip("ab", parts)]
        z = reduce(program, folder, paths[0], paths, DIMS)
        for dim, learner in right:
            model = LEARNERS[learner].fit(z[dim, paths[0]], parts[0][1])
            right[dim, learner].append(model.score(z[dim, paths[1]], parts[1][1]))
    for learner in LEARNERS:
        print(f"| {name} | {learner} | " + " | ".join(f"{np.mean(right[dim, learner]):.3f}" for dim in DIMS) + " |", flush=True)


def alike(program, folder, name):
    fresh = write(folder, "fresh.csv", *table(stuck.generate(program, folder, name, 5000, 999)))
    x, y = table(stuck.generate(program, folder, name, ROWS, 1))
    half = np.random.RandomState(1).permutation(ROWS)
    whole = write(folder, "whole.csv", x, y)
    parts = [write(folder, f"half{k}.csv", x[half[k::2]], y[half[k::2]]) for k in (0, 1)]
    z = [reduce(program, folder, whole, [fresh], (1,), seed)[1, fresh][:, 0] for seed in (1, 2)]
    h = [reduce(program, folder, part, [fresh], (1,))[1, fresh][:, 0] for part in parts]
    print(f"| {name} | {abs(np.corrcoef(z)[0, 1]):.3f} | {abs(np.corrcoef(h)[0, 1]):.3f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print("| data | learner | q = 1 | q = 2 | q = 5 |\n| --- | --- | --- | --- | --- |")
        for name in ("german", "waveform", "heart", "spirals"):
            accuracies(options.program, folder, options.splits, name)
        print("\n| data, 2,000 rows | two seeds | two halves |\n| --- | --- | --- |")
        for name in ("m1", "friedman", "waveform"):
            alike(options.program, folder, name)


if __name__ == "__main__":
    main()
