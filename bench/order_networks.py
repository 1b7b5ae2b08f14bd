#!/usr/bin/env python3
"""How often `stonet order` with the StoNet finds a known dimension, by its default rule.

Ten normal columns and a response that needs 0, 1 or 2 numbers of a network: one for any mean, as many as there are
unrelated responses, one fewer than the classes unless these lie on a line; with `hidden=none` Z is linear, and the dimension
is that of the directions; with `response=ensemble`, two for a mean and a spread. The rule is cv, of an ensemble independence.
Prints a line for each data set and, at the end, the share of right and of too large answers as a Markdown table.

    python3 bench/order_networks.py --program build/bin/stonet [--sets 20] [--first 1] [--rows 1000] [--jobs 1]
        [--models 1,2]
"""
from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COLUMNS = 10


def nearest(x: list[float], e: float) -> str:
    """One of three sectors of the plane, turned by some noise."""
    return "abc"[int((math.atan2(x[1], x[0]) + 0.3 * e) % (2 * math.pi) / (2 * math.pi / 3))]


def cut(x: list[float], e: float) -> str:
    """Low, middle or high."""
    value = x[0] + x[1] + 0.4 * e
    return "a" if value < -0.6 else "b" if value < 0.6 else "c"


# name, dimension, settings, responses of (x, two normal numbers)
MODELS = [
    ("y independent of x", 0, [], lambda x, e, f: [e]),
    ("exp((x1 + x2) / 2) + .3e", 1, [], lambda x, e, f: [math.exp((x[0] + x[1]) / 2) + 0.3 * e]),
    ("x1/(.5+(x2+1.5)^2) + .2e, hidden=none", 2, ["hidden=none"],
     lambda x, e, f: [x[0] / (0.5 + (x[1] + 1.5) ** 2) + 0.2 * e]),
    ("two responses, x1 + x2^2 / 2 and x3 - x2, + .3e", 2, [],
     lambda x, e, f: [x[0] + x[1] ** 2 / 2 + 0.3 * e, x[2] - x[1] + 0.3 * f]),
    ("three classes, sectors of (x1, x2)", 2, [], lambda x, e, f: [nearest(x, e)]),
    ("three classes, cuts of x1 + x2", 1, [], lambda x, e, f: [cut(x, e)]),
    ("x1 + exp(x2 / 2) e, response=ensemble", 2, ["response=ensemble"], lambda x, e, f: [x[0] + math.exp(x[1] / 2) * e]),
]


def write(path: Path, respond, rows: int, seed: int) -> int:
    numbers = random.Random(seed)
    with path.open("w") as file:
        for i in range(rows):
            x = [numbers.gauss(0, 1) for _ in range(COLUMNS)]
            y = respond(x, numbers.gauss(0, 1), numbers.gauss(0, 1))
            if i == 0:
                file.write(",".join([f"x{j + 1}" for j in range(COLUMNS)] + [f"y{k + 1}" for k in range(len(y))]) + "\n")
            file.write(",".join([f"{v:.6f}" for v in x] + [v if isinstance(v, str) else f"{v:.6f}" for v in y]) + "\n")
    return len(y)


def chosen(given: argparse.Namespace, model: tuple, seed: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.csv"
        responses = write(path, model[3], given.rows, 7919 * given.rows + seed)
        call = [given.program, "order", path, "--target", ",".join(f"y{k + 1}" for k in range(responses)),
                "--seed", str(seed), "--threads", "1", "--json", "--quiet"]
        for setting in model[2]:
            call += ["--set", setting]
        began = time.monotonic()
        answer = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)["chosen"]
    print(f"{model[0]}; data set {seed}: {answer} ({model[1]} is right), {time.monotonic() - began:.0f} s", flush=True)
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="seed of the first data set")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1, help="data sets side by side, a thread each")
    parser.add_argument("--models", default=",".join(str(k + 1) for k in range(len(MODELS))))
    given = parser.parse_args()
    models = [MODELS[int(k) - 1] for k in given.models.split(",")]
    seeds = range(given.first, given.first + given.sets)
    todo = [(model, seed) for seed in seeds for model in models]  # by seed, so that a run cut short says something of each
    with ThreadPoolExecutor(given.jobs) as pool:
        answers = list(pool.map(lambda job: chosen(given, *job), todo))
    print("| response | dimension | right | too large | too small |\n| --- | --- | --- | --- | --- |")
    for k, model in enumerate(models):
        mine = answers[k :: len(models)]
        share = [sum(test(a, model[1]) for a in mine) / given.sets
                 for test in (int.__eq__, int.__gt__, int.__lt__)]
        print(f"| {model[0]} | {model[1]} | " + " | ".join(f"{100 * s:.0f} %" for s in share) + " |")


if __name__ == "__main__":
    main()
