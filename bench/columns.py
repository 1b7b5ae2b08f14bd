#!/usr/bin/env python3
"""How often select=group finds the columns that matter, and no other, in Liang's simulations.

Each data set is drawn by `stonet generate`, fitted with select=group and judged on fresh rows; prints a line for each and
a Markdown table at the end.

    python3 bench/columns.py --program build/bin/stonet [--sets 10] [--columns 200] [--rows 2000] [--jobs 1]

With 200 columns and 2000 rows by default; the published size is `--columns 2000 --rows 11000`.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TRUE = {"select-regression": 5, "select-classes": 4}
TEST_ROWS = 1000


def call(program: str, *arguments: object) -> str:
    given = [str(a) for a in (program, *arguments)]
    return subprocess.run(given, check=True, capture_output=True, text=True).stdout


def one(given: argparse.Namespace, name: str, seed: int) -> dict:
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        train, test, model = (Path(folder) / n for n in ("train.npy", "test.npy", "fit.model"))
        generator = f"{name}:{given.columns}"
        call(given.program, "generate", generator, "--rows", given.rows, "--seed", seed, "--out", train)
        call(given.program, "generate", generator, "--rows", TEST_ROWS, "--seed", 1000 + seed, "--out", test)
        began = time.monotonic()
        call(given.program, "fit", train, "--target", given.columns + 1, "--dim", given.dim, "--seed", seed, "--set",
             "select=group",
             "--out", model, "--quiet", "--threads", given.threads)
        seconds = time.monotonic() - began
        support = json.loads(call(given.program, "info", model, "--json"))["support"]
        scores = json.loads(call(given.program, "score", model, test, "--target", given.columns + 1, "--json"))
    truth = [f"x{j + 1}" for j in range(TRUE[name])]
    return {"seed": seed, "missed": len(set(truth) - set(support)), "false": len(set(support) - set(truth)),
            "loss": scores.get("mse", scores.get("error_rate")), "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--first", type=int, default=1, help="the seed of the first data set")
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--dim", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="data sets side by side")
    parser.add_argument("--threads", type=int, default=1, help="of each fit")
    parser.add_argument("--models", default=",".join(TRUE))
    parser.add_argument("--folder", help="where the data sets of the moment lie")
    given = parser.parse_args()
    table = ["| model | p | n | right | columns missed, false | mean test MSE or error | seconds a fit |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for name in given.models.split(","):
        with ThreadPoolExecutor(given.jobs) as pool:
            found = []
            for row in pool.map(lambda seed: one(given, name, seed), range(given.first, given.first + given.sets)):
                print(name, row, flush=True)
                found.append(row)
        right = sum(row["missed"] == row["false"] == 0 for row in found)
        mean = {key: sum(row[key] for row in found) / len(found) for key in ("loss", "seconds")}
        table.append(f"| {name} | {given.columns} | {given.rows} | {right} of {len(found)} | "
                     f"{sum(r['missed'] for r in found)}, {sum(r['false'] for r in found)} | {mean['loss']:.3f} | "
                     f"{mean['seconds']:.0f} |")
    print("\n".join(table))


if __name__ == "__main__":
    main()
