#!/usr/bin/env python3
"""Default settings on the real data sets: fits and scores every split with the command line, prints a Markdown table.

    STONET_DATA=... python3 bench/defaults.py --program build/bin/stonet [--only binary|mnist|regression] [--threads 2]

Needs NumPy. Every fit is `stonet fit TRAIN --target-file LABELS --dim Q --threads T`, nothing else set, except the
rows marked hidden=none.
"""
import argparse
import gzip
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

BINARY = [  # name, folder of the splits, splits, dimensions, limit
    ("waveform", "waveform", 10, (5, 10), 0.104),
    ("german", "german", 10, (5, 10), 0.240),
    ("flare-solar", "flare-solar", 5, (2, 4), 0.330),
    ("heart", "heart", 10, (3, 6), 0.198),
    ("breast-cancer", "breast-cancer", 10, (2, 4), 0.298),
    ("thyroid", "thyroid/substitute_splits", 10, (1, 2), 0.055),
]


class Runner:
    def __init__(self, program, threads):
        self.program, self.threads = program, str(threads)
        self.scratch = tempfile.mkdtemp()

    def fit_and_score(self, train, test, dim, target, settings=()):
        """target: (option, value for train, value for test). Returns the scores and the seconds of the fit."""
        model = os.path.join(self.scratch, "model")
        option, for_train, for_test = target
        command = [self.program, "fit", train, option, for_train, "--dim", str(dim), "--threads", self.threads,
                   "--out", model, "--quiet"]
        for setting in settings:
            command += ["--set", setting]
        start = time.monotonic()
        subprocess.run(command, check=True)
        seconds = time.monotonic() - start
        scored = subprocess.run([self.program, "score", model, test, option, for_test, "--json"], check=True,
                                capture_output=True, text=True)
        return json.loads(scored.stdout), seconds


def row(name, dim, values, seconds, limit):
    mean = statistics.mean(values)
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    verdict = "yes" if mean <= limit else "no"
    print(f"| {name} | {dim} | {mean:.4f} | {error:.4f} | {limit:.4f} | {verdict} | {statistics.mean(seconds):.1f} |",
          flush=True)
    return mean


def binary(runner, data):
    means = []
    for name, folder, splits, dims, limit in BINARY:
        for dim in dims:
            values, seconds = [], []
            for k in range(1, splits + 1):
                stem = os.path.join(data, folder, name)
                target = ("--target-file", f"{stem}_train_labels_{k}.asc", f"{stem}_test_labels_{k}.asc")
                scores, took = runner.fit_and_score(f"{stem}_train_data_{k}.asc", f"{stem}_test_data_{k}.asc", dim, target)
                values.append(scores["error_rate"])
                seconds.append(took)
            means.append(row(name, dim, values, seconds, limit))
    row("mean of the twelve", "", [statistics.mean(means)], [0.0], 0.198)


def read_idx(path):
    raw = gzip.open(path).read()
    rank = raw[3]
    shape = struct.unpack(">" + "I" * rank, raw[4 : 4 + 4 * rank])
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(shape)


def mnist(runner, data):
    folder = os.path.join(data, "mnist")
    x, y = read_idx(f"{folder}/train-images-idx3-ubyte.gz"), read_idx(f"{folder}/train-labels-idx1-ubyte.gz")
    first = np.sort(np.concatenate([np.flatnonzero(y == digit)[:2000] for digit in range(10)]))
    train, labels = os.path.join(runner.scratch, "x.npy"), os.path.join(runner.scratch, "y.npy")
    np.save(train, x[first].reshape(len(first), -1).astype(np.float32))
    np.save(labels, y[first].astype(np.int32))
    target = ("--target-file", labels, f"{folder}/t10k-labels-idx1-ubyte.gz")
    for dim, settings, limit in [(10, (), 0.040), (49, (), 0.040), (10, ("hidden=none",), 0.075),
                                 (49, ("hidden=none",), 0.040)]:
        scores, took = runner.fit_and_score(train, f"{folder}/t10k-images-idx3-ubyte.gz", dim, target, settings)
        row(" ".join(("mnist, 20,000 images",) + settings), dim, [scores["error_rate"]], [took], limit)


def regression(runner, data):
    for name, folds, limit in [("pumadyn32nm", 3, 0.15), ("keggundirected", 1, None)]:
        table = np.loadtxt(gzip.open(f"{data}/uci-{name}/data.csv.gz"), delimiter=",")
        mask = np.loadtxt(gzip.open(f"{data}/uci-{name}/test_mask.csv.gz"), delimiter=",")
        values, seconds = [], []
        for k in range(folds):
            held = mask[:, k] == 1
            files = [os.path.join(runner.scratch, part + ".npy") for part in ("train", "test")]
            np.save(files[0], table[~held])
            np.save(files[1], table[held])
            column = str(table.shape[1])
            scores, took = runner.fit_and_score(files[0], files[1], 2, ("--target", column, column))
            values.append(scores["mse_scaled"])
            seconds.append(took)
            if limit is None:
                limit = 0.6 * linear_mse(table[~held], table[held])
        row(f"{name}, mse_scaled", 2, values, seconds, limit)


def linear_mse(train, test):
    """Least squares with intercept: test MSE over the training variance of y."""
    centre = train[:, :-1].mean(0)
    design = [np.c_[np.ones(len(part)), part[:, :-1] - centre] for part in (train, test)]
    beta = np.linalg.lstsq(design[0], train[:, -1], rcond=None)[0]
    return float(np.mean((design[1] @ beta - test[:, -1]) ** 2) / train[:, -1].var())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--only", choices=["binary", "mnist", "regression"])
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    data = os.environ.get("STONET_DATA")
    if not data:
        sys.exit("STONET_DATA is not set: skipped")
    runner = Runner(options.program, options.threads)
    print("| data | q | test error or MSE | standard error | at most | reached | seconds a fit |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, part in [("binary", binary), ("mnist", mnist), ("regression", regression)]:
        if options.only in (None, name):
            part(runner, data)


if __name__ == "__main__":
    main()
