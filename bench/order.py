#!/usr/bin/env python3
"""How often the rules of `stonet order` find the known dimension.

Ten normal columns, eight slices, models of dimension 2, 1, 2 and 0 (the third is symmetric: sir is blind to it);
prints the share of right answers over the data sets as a Markdown table.

    python3 bench/order.py --program build/bin/stonet [--sets 40] [--rows 200,500]
"""
from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
from pathlib import Path

MODELS = [
    ("x1/(.5+(x2+1.5)^2) + .2e, 2", 2, lambda x, e: x[0] / (0.5 + (x[1] + 1.5) ** 2) + 0.2 * e),
    ("x1 + x2 + .5e, 1", 1, lambda x, e: x[0] + x[1] + 0.5 * e),
    ("x1^2 + x2 + .2e, 2", 2, lambda x, e: x[0] ** 2 + x[1] + 0.2 * e),
    ("y independent of x, 0", 0, lambda x, e: e),
]
RULES = [("sir", "ladle"), ("sir", "augmentation"), ("sir", "bic"), ("sir", "tests"),
         ("dr", "ladle"), ("dr", "augmentation"), ("dr", "bic")]


def write(path: Path, model, rows: int, seed: int) -> None:
    numbers = random.Random(seed)
    with path.open("w") as file:
        file.write(",".join(f"x{j}" for j in range(10)) + ",y\n")
        for _ in range(rows):
            x = [numbers.gauss(0, 1) for _ in range(10)]
            file.write(",".join(f"{v:.6f}" for v in [*x, model(x, numbers.gauss(0, 1))]) + "\n")


def chosen(program: str, path: Path, method: str, rule: str) -> int:
    call = [program, "order", path, "--target", "y", "--method", method, "--rule", rule, "--set", "slices=8",
            "--set", "task=regression", "--json", "--quiet"]
    return json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)["chosen"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--rows", default="200,500")
    given = parser.parse_args()
    print("| model, dimension | n | " + " | ".join(f"{m} {r}" for m, r in RULES) + " |")
    print("| --- | --- |" + " --- |" * len(RULES))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.csv"
        for name, dimension, model in MODELS:
            for rows in map(int, given.rows.split(",")):
                right = dict.fromkeys(RULES, 0)
                for seed in range(given.sets):
                    write(path, model, rows, 1000 * rows + seed)
                    for method, rule in RULES:
                        right[method, rule] += chosen(given.program, path, method, rule) == dimension
                cells = [f"{100 * right[key] / given.sets:.0f}" for key in RULES]
                print(f"| {name} | {rows} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
