#!/usr/bin/env python3
"""Default settings on the real data sets: fits and scores every split with the command line, prints a Markdown table.

    STONET_DATA=... python3 bench/defaults.py [--program build/bin/stonet] [--against OTHER/stonet] [--jobs 1]
                    [--only binary|mnist|regression] [--threads 1] [--keep FILE] [--seconds S]

Every fit is `stonet fit TRAIN --target-file LABELS --dim Q --threads T`, nothing else set, except the rows marked
hidden=none. Printed are the mean test error over the splits, its standard error, and the processor seconds of a fit; with
--against, both of another build, and at the end the sums of the processor seconds over all fits. --jobs: fits side by side,
the longest first. What is fitted goes to the file --keep as it comes, and is not fitted again; after --seconds no fit is
begun. Needs NumPy.
"""
import argparse
import functools
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile

import kept
import numpy as np
import shared

BINARY = [  # name, folder of the splits, splits, dimensions, limit
    ("waveform", "waveform", 10, (5, 10), 0.104),
    ("german", "german", 10, (5, 10), 0.240),
    ("flare-solar", "flare-solar", 5, (2, 4), 0.330),
    ("heart", "heart", 10, (3, 6), 0.198),
    ("breast-cancer", "breast-cancer", 10, (2, 4), 0.298),
    ("thyroid", "thyroid/substitute_splits", 10, (1, 2), 0.055),
]
MNIST = [(10, "", 0.040), (49, "", 0.040), (10, "hidden=none", 0.075), (49, "hidden=none", 0.040)]  # q, set, limit
REGRESSION = [("keggundirected", 1), ("pumadyn32nm", 3)]  # name, folds; q is 2


# ---- the files of a fit: training table, test table, and how the response of each is named -----------------------------


def binary_files(data, name, split):
    folder = next(entry[1] for entry in BINARY if entry[0] == name)
    stem = os.path.join(data, folder, name)
    return [f"{stem}_{part}_data_{split}.asc" for part in ("train", "test")], \
        [["--target-file", f"{stem}_{part}_labels_{split}.asc"] for part in ("train", "test")]


def prepare_mnist(data, scratch):
    """2,000 images of every digit."""
    folder = os.path.join(data, "mnist")
    x, y = shared.read_idx(f"{folder}/train-images-idx3-ubyte.gz"), shared.read_idx(f"{folder}/train-labels-idx1-ubyte.gz")
    first = np.sort(np.concatenate([np.flatnonzero(y == digit)[:2000] for digit in range(10)]))
    np.save(os.path.join(scratch, "x.npy"), x[first].reshape(len(first), -1).astype(np.float32))
    np.save(os.path.join(scratch, "y.npy"), y[first].astype(np.int32))


def mnist_files(data, scratch):
    test = os.path.join(data, "mnist", "t10k-{}-ubyte.gz")
    return [os.path.join(scratch, "x.npy"), test.format("images-idx3")], \
        [["--target-file", os.path.join(scratch, "y.npy")], ["--target-file", test.format("labels-idx1")]]


def prepare_regression(data, scratch, name, folds):
    """Also returns the limit that linear regression sets in the first fold."""
    table = np.loadtxt(gzip.open(f"{data}/uci-{name}/data.csv.gz"), delimiter=",")
    mask = np.loadtxt(gzip.open(f"{data}/uci-{name}/test_mask.csv.gz"), delimiter=",")
    for k in range(folds):
        held = mask[:, k] == 1
        np.save(os.path.join(scratch, f"{name}.{k}.train.npy"), table[~held])
        np.save(os.path.join(scratch, f"{name}.{k}.test.npy"), table[held])
    held = mask[:, 0] == 1
    return table.shape[1], 0.6 * linear_mse(table[~held], table[held])


def linear_mse(train, test):
    """Least squares with intercept: test MSE over the training variance of y."""
    centre = train[:, :-1].mean(0)
    design = [np.c_[np.ones(len(part)), part[:, :-1] - centre] for part in (train, test)]
    beta = np.linalg.lstsq(design[0], train[:, -1], rcond=None)[0]
    return float(np.mean((design[1] @ beta - test[:, -1]) ** 2) / train[:, -1].var())


# ---- fits -----------------------------------------------------------------------------------------------------------


def fit_and_score(job, programs, threads, data, scratch, columns):
    """The test error, and the processor seconds of the fit."""
    build, name, dim, setting, split = job
    measure = "error_rate"
    if name == "mnist":
        tables, targets = mnist_files(data, scratch)
    elif name in columns:
        tables = [os.path.join(scratch, f"{name}.{split}.{part}.npy") for part in ("train", "test")]
        targets, measure = [["--target", str(columns[name])]] * 2, "mse_scaled"
    else:
        tables, targets = binary_files(data, name, split)
    model = os.path.join(scratch, ".".join(map(str, job)) + ".model")
    command = [programs[build], "fit", tables[0], *targets[0], "--dim", str(dim), "--threads", str(threads), "--out", model,
               "--quiet"]
    before = shared.children_seconds()
    subprocess.run(command + (["--set", setting] if setting else []), check=True, stderr=subprocess.DEVNULL)
    seconds = shared.children_seconds() - before
    scored = subprocess.run([programs[build], "score", model, tables[1], *targets[1], "--json"], check=True,
                            capture_output=True, text=True)
    os.unlink(model)
    return [json.loads(scored.stdout)[measure], seconds]


def report(lines, builds, results):
    shared.row(["data", "q", "test error or MSE", "standard error", "at most", "reached", "cpu seconds a fit"] +
               (["the other's error", "its cpu seconds"] if len(builds) > 1 else []))
    shared.row(["---"] * (7 if len(builds) == 1 else 9))
    sums = dict.fromkeys(builds, 0.0)
    for name, dim, setting, splits, limit in lines:
        found = {build: [results.get((build, name, dim, setting, split)) for split in splits] for build in builds}
        if any(None in fits for fits in found.values()):
            continue
        cells = [f"{name} {setting}".strip(), str(dim)]
        for build in builds:
            values, seconds = [fit[0] for fit in found[build]], [fit[1] for fit in found[build]]
            sums[build] += sum(seconds)
            mean = statistics.mean(values)
            if build == builds[0]:
                error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
                cells += [f"{mean:.4f}", f"{error:.4f}", f"{limit:.4f}", "yes" if mean <= limit else "no"]
            else:
                cells.append(f"{mean:.4f}")
            cells.append(f"{statistics.mean(seconds):.1f}")
        shared.row(cells)
    print("\ncpu seconds of all these fits: " + ", ".join(f"{build} {sums[build]:.0f}" for build in builds))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--against")
    parser.add_argument("--only", choices=["binary", "mnist", "regression"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    data = os.environ.get("STONET_DATA")
    if not data:
        sys.exit("STONET_DATA is not set: skipped")
    programs = {"this": options.program}
    if options.against:
        programs["other"] = options.against
    with tempfile.TemporaryDirectory() as scratch:
        lines, columns = [], {}
        if options.only in (None, "mnist"):
            prepare_mnist(data, scratch)
            lines += [("mnist", dim, setting, (1,), limit) for dim, setting, limit in MNIST]
        if options.only in (None, "regression"):
            for name, folds in REGRESSION:
                columns[name], limit = prepare_regression(data, scratch, name, folds)
                lines.append((name, 2, "", range(folds), limit if name == "keggundirected" else 0.15))
        if options.only in (None, "binary"):
            lines += [(name, dim, "", range(1, splits + 1), limit) for name, _, splits, dims, limit in BINARY for dim in dims]
        jobs = [(build, name, dim, setting, split) for name, dim, setting, splits, _ in lines for split in splits
                for build in programs]
        work = functools.partial(fit_and_score, programs=programs, threads=options.threads, data=data, scratch=scratch,
                                 columns=columns)
        results = kept.run(work, jobs, options.jobs, options.keep, options.seconds)
    report(lines, list(programs), results)


if __name__ == "__main__":
    main()
