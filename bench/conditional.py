#!/usr/bin/env python3
"""Which columns are said to matter: share of false ones among those named (FDR) and share of the true ones named (power).

Four ways: `importance --kind conditional --fdr 0.1`, permutation (importance above two standard errors), the same with `--train`,
so that the standard errors include the fit, and the columns that Lasso-SIR keeps. 300 rows to fit, 300 to ask, 20 columns.
Prints a Markdown table with standard errors over the data sets.

    python3 bench/conditional.py --program build/bin/stonet [--first 1] [--sets 20] [--jobs 1] [--designs TEXT] [--ways WAY,..]
        [OPTION OF FIT ..]
"""
from __future__ import annotations

import argparse
import csv
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import shared

P, ROWS = 20, 300


def independent(draw, n):
    return draw.normal(size=(n, P))


def chain(draw, n):
    x = draw.normal(size=(n, P))
    for j in range(1, P):
        x[:, j] = 0.7 * x[:, j - 1] + np.sqrt(1 - 0.49) * x[:, j]
    return x


def copies(draw, n):
    """Columns 6 to 9 follow columns 1 to 4 by .95."""
    x = draw.normal(size=(n, P))
    x[:, 5:9] = 0.95 * x[:, :4] + np.sqrt(1 - 0.95**2) * x[:, 5:9]
    return x


def skewed(draw, n):
    return np.exp(chain(draw, n) / 2)


# x, y without its noise, columns that matter (from 0)
DESIGNS = {
    "linear, independent": (independent, lambda x: x[:, :3].sum(axis=1) + x[:, 3:5].sum(axis=1) / 2, range(5)),
    "linear, autoregression .7": (chain, lambda x: x[:, :17:4].sum(axis=1), range(0, 17, 4)),
    "copies at .95": (copies, lambda x: x[:, 0] + x[:, 1] + x[:, 2] ** 2 / 2 + x[:, 3], range(4)),
    "products and squares": (independent, lambda x: x[:, 0] * x[:, 1] + x[:, 2] ** 2 + x[:, 3], range(4)),
    "skewed, autoregression": (skewed, lambda x: 2 * np.log(x[:, 0]) + 2 * np.sin(x[:, 6]) + x[:, 13], (0, 6, 13)),
}


WAYS = ["conditional", "permutation", "permutation --train", "Lasso-SIR"]


def measure(given, name, seed):
    """FDR and power of each way on one data set."""
    make, mean, needed = DESIGNS[name]
    draw = np.random.default_rng([seed, list(DESIGNS).index(name)])
    with tempfile.TemporaryDirectory() as folder:
        def run(*arguments):
            call = [given.program, *arguments, "--quiet", "--threads", "1"]
            return subprocess.run(call, check=True, capture_output=True, text=True, cwd=folder).stdout

        def importance(model, *arguments):
            rows = json.loads(run("importance", model, "test.csv", "--target", "y", "--json", *arguments))
            return {key: np.array([row.get(key) for row in rows], dtype=float) for key in ("importance", "se", "q_value")}

        def named(way):
            if way == "conditional":
                return importance("my.model", "--kind", "conditional")["q_value"] <= 0.1
            if way == "Lasso-SIR":
                run("fit", "train.csv", "--target", "y", "--dim", "2", "--method", "lasso-sir", "--out", "lasso.model")
                return importance("lasso.model", "--kind", "gradient")["importance"] > 1e-9
            found = importance("my.model", *(["--train", "train.csv"] if way.endswith("--train") else []))
            return found["importance"] > 2 * found["se"]

        for part in ("train.csv", "test.csv"):
            x = make(draw, ROWS)
            y = mean(x) + draw.normal(size=ROWS)
            with (Path(folder) / part).open("w", newline="") as file:
                table = csv.writer(file)
                table.writerow([f"x{j + 1}" for j in range(P)] + ["y"])
                table.writerows(np.column_stack([x, y]).tolist())
        run("fit", "train.csv", "--target", "y", "--dim", "1", "--out", "my.model", *given.options)
        truth = np.isin(np.arange(P), list(needed))
        return [share for said in map(named, given.ways)
                for share in ((said & ~truth).sum() / max(1, said.sum()), (said & truth).sum() / truth.sum())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    shared.add_data_sets(parser)
    parser.add_argument("--designs", default="", help="only those whose names have this text")
    parser.add_argument("--ways", default=WAYS, type=shared.words, help="with commas; all")
    given, given.options = parser.parse_known_args()
    print("| design | " + " | ".join(f"{way}: FDR | power" for way in given.ways) + " |")
    print("| --- |" + " --- | --- |" * len(given.ways))
    shared.print_designs(given, [name for name in DESIGNS if given.designs in name], measure, digits=2)


if __name__ == "__main__":
    main()
