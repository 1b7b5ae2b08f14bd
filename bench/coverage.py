#!/usr/bin/env python3
"""Coverage of 90 % intervals where the noise is small and where it is large.

Data sets of 300 rows of five normal columns, y = sin(x1) + x3 / 2 + sd(x) e, 4,000 new rows each. By quarter of the rows by
sd(x); of x2 where it is the same everywhere. Prints a Markdown table with standard errors over the data sets.

    python3 bench/coverage.py --program build/bin/stonet [--first 1] [--sets 20] [--rows 300] [--jobs 1] [OPTION OF FIT ..]
"""
from __future__ import annotations

import argparse
import csv
import subprocess
import tempfile
from math import erf
from pathlib import Path

import numpy as np

import shared

NEW = 4000
DESIGNS = {
    "from .2 to 1 with x2": lambda x: 0.2 + 0.4 * (1 + np.vectorize(erf)(1.5 * x[:, 1] / np.sqrt(2))),
    "from .2 to 1 with abs(x1)": lambda x: 0.2 + 0.8 * np.minimum(np.abs(x[:, 0]) / 2, 1),
    "from .2 to 1 with x2 + x3": lambda x: 0.2 + 0.8 / (1 + np.exp(-x[:, 1] - x[:, 2])),
    ".6 everywhere": lambda x: np.full(len(x), 0.6),
}


def write(path, draw, n, spread):
    x = draw.normal(size=(n, 5))
    sd = spread(x)
    y = np.sin(x[:, 0]) + x[:, 2] / 2 + sd * draw.normal(size=n)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["x1", "x2", "x3", "x4", "x5", "y"])
        table.writerows(np.column_stack([x, y]).tolist())
    return sd if np.ptp(sd) > 0 else x[:, 1], y


def measure(given, name, seed):
    """Coverage of all rows and by quarter, and the mean width, of one data set."""
    draw = np.random.default_rng([seed, list(DESIGNS).index(name)])
    with tempfile.TemporaryDirectory() as folder:
        def run(*arguments):
            call = [given.program, *arguments, "--quiet", "--threads", "1"]
            return subprocess.run(call, check=True, capture_output=True, text=True, cwd=folder).stdout

        write(Path(folder) / "train.csv", draw, given.rows, DESIGNS[name])
        by, y = write(Path(folder) / "test.csv", draw, NEW, DESIGNS[name])
        run("fit", "train.csv", "--target", "y", "--dim", "1", "--calibrate", "--out", "my.model", *given.options)
        head, *rows = csv.reader(run("predict", "my.model", "test.csv", "--interval", "0.9").splitlines())
    values = np.array(rows, dtype=float)
    low, high = (next(values[:, k] for k, column in enumerate(head) if end in column) for end in ("low", "high"))
    inside = (low <= y) & (y <= high)
    quarter = np.argsort(np.argsort(by)) * 4 // NEW
    return [inside.mean(), *(inside[quarter == k].mean() for k in range(4)), (high - low).mean()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    shared.add_data_sets(parser)
    parser.add_argument("--rows", type=int, default=300)
    given, given.options = parser.parse_known_args()
    print("| sd(x) | all rows | first quarter | second | third | last | width |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    shared.print_designs(given, list(DESIGNS), measure, digits=3)


if __name__ == "__main__":
    main()
