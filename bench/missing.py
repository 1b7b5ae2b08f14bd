#!/usr/bin/env python3
"""What missing cells cost, and what each way of meeting them makes of it.

order    x ~ N(0, AR(.7)), 10 columns, y = tanh(x1 + x2) + x3^2 + .3 e, n rows, 20 % of the cells removed (mcar),
         or x1 by logit P = -1.4 + x2 (mar): test MSE on complete and on incomplete rows, mean and standard error
indicators   the same rows, x1 missing because of itself (mnar, logit P = -1.4 + 2 x1) or at random (mcar): test MSE on
         incomplete rows by the setting missing_indicators, and how often auto takes them
study    x ~ N(0, AR(.5)), 6 columns, y = 2 tanh(x1) + x2 + x3^2 / 2 + e / 2, 400 rows, a fifth of x1, x2 and x3 removed (mcar), or
         more of them the larger y is (given_y): test MSE on complete rows by the setting missing= and missing_indicators=,
         and by the mean prediction of fits to three tables that R's mice completed with y beside x
noise    the same rows with a y that is noise, half of the cells removed: R2 of new rows, which must not exceed 0
binary   the binary sets of a folder, NAME/NAME_{train,test}_{data,labels}_K.asc, as they are and with 10 % of the
         cells removed from both parts, by the settings missing= of --ways: test errors over the partitions K = 1 .. sets
large    1,000,000 x 50 (--rows): seconds and peak memory of a fit, complete and with 5 % of the cells removed

    python3 bench/missing.py order|indicators|study|noise|binary|large [--program build/bin/stonet] [--sets 20] [--first 0] [--rows N]
                             [--data DIR] [--kinds mcar,mar] [--threads 2]
"""
from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WAYS = ["joint", "gaussian", "mean", "drop"]


def autoregressive(numbers: random.Random, columns: int = 10) -> list[float]:
    x = [numbers.gauss(0, 1)]
    while len(x) < columns:
        x.append(0.7 * x[-1] + math.sqrt(0.51) * numbers.gauss(0, 1))
    return x


def write(path: Path, rows: list[list[float]], holes: list[list[bool]] | None, response: list[float]) -> None:
    with path.open("w") as file:
        file.write(",".join(f"x{j + 1}" for j in range(len(rows[0]))) + ",y\n")
        for i, row in enumerate(rows):
            cells = ["" if holes and holes[i][j] else f"{v:.6g}" for j, v in enumerate(row)]
            file.write(",".join([*cells, f"{response[i]:.6g}"]) + "\n")


def simulate(seed: int, n: int, kind: str, noise: bool):
    numbers = random.Random(seed)
    rows = [autoregressive(numbers) for _ in range(n)]
    response = [numbers.gauss(0, 1) if noise else
                math.tanh(x[0] + x[1]) + x[2] ** 2 + 0.3 * numbers.gauss(0, 1) for x in rows]
    rate = 0.5 if noise else 0.2
    holes = [[numbers.random() < rate for _ in x] for x in rows]
    if kind == "mar":
        holes = [[j == 0 and numbers.random() < 1 / (1 + math.exp(1.4 - x[1])) for j in range(10)] for x in rows]
    if kind == "mnar":
        holes = [[j == 0 and numbers.random() < 1 / (1 + math.exp(1.4 - 2 * x[0])) for j in range(10)] for x in rows]
    return rows, holes, response


def run(given: argparse.Namespace, *call: object) -> str:
    done = subprocess.run([given.program, *map(str, call)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, call))}\n{done.stderr}")
    return done.stdout


def scores(given: argparse.Namespace, model: Path, path: Path) -> dict:
    return json.loads(run(given, "score", model, path, "--target", "y", "--json", "--threads", given.threads))


def fit(given: argparse.Namespace, path: Path, way: str, model: Path, *more: str) -> None:
    run(given, "fit", path, "--target", "y", "--dim", 2, "--set", f"missing={way}", "--out", model, "--quiet",
        "--threads", given.threads, *more)


def tell(name: str, values: list[float]) -> str:
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{name} {statistics.mean(values):.4f} ({error:.4f})"


def tell_pairs(found: dict[tuple[str, str], list[float]], part: str) -> str:
    """Each way and the next, on the same sets: mean difference, its standard error."""
    ways = list(dict.fromkeys(way for way, _ in found))
    pairs = []
    for before, after in zip(ways, ways[1:]):
        apart = [b - a for a, b in zip(found[before, part], found[after, part])]
        pairs.append(tell(f"{after} - {before}", apart))
    return f"  {part}: " + ", ".join(pairs)


def order(given: argparse.Namespace, folder: Path, noise: bool) -> None:
    score = "r2" if noise else "mse"
    for kind in ["mcar"] if noise else (given.kinds or "mcar,mar").split(","):
        found: dict[tuple[str, str], list[float]] = {}
        for seed in range(given.sets):
            train, test = simulate(1000 + seed, given.rows or 1000, kind, noise), simulate(5000 + seed, 4000, kind, noise)
            parts = {"whole": folder / "whole.csv", "holes": folder / "holes.csv"}
            write(parts["whole"], test[0], None, test[2])
            write(parts["holes"], test[0], test[1], test[2])
            write(folder / "complete.csv", train[0], None, train[2])
            write(folder / "train.csv", *train)
            for way in ["complete", *(["joint", "gaussian"] if noise else WAYS)]:
                source = folder / ("complete.csv" if way == "complete" else "train.csv")
                fit(given, source, "gaussian" if way == "complete" else way, folder / "model")
                for part, path in parts.items():
                    found.setdefault((way, part), []).append(scores(given, folder / "model", path)[score])
            print(f"{kind} {seed}: " + ", ".join(f"{w} {p} {v[-1]:.4f}" for (w, p), v in found.items()), flush=True)
        print(f"{kind}, {given.sets} sets, test {score} (standard error); complete rows | rows with gaps")
        for way in dict.fromkeys(way for way, _ in found):
            print(f"  {way:9} " + " | ".join(tell(part, found[way, part]) for part in parts))
        for part in parts:
            print(tell_pairs(found, part), flush=True)


def indicators(given: argparse.Namespace, folder: Path) -> None:
    for kind in (given.kinds or "mcar,mnar").split(","):
        found: dict[tuple[str, str], list[float]] = {}
        taken = 0
        for seed in range(given.sets):
            for name, rows, first in (("train", given.rows or 1000, 1000), ("test", 4000, 5000)):
                write(folder / f"{name}.csv", *simulate(first + seed, rows, kind, False))
            for wish in ("off", "on", "auto"):
                fit(given, folder / "train.csv", "gaussian", folder / "model", "--set", f"missing_indicators={wish}")
                found.setdefault((wish, "holes"), []).append(scores(given, folder / "model", folder / "test.csv")["mse"])
            about = json.loads(run(given, "info", folder / "model", "--json"))
            taken += len(about["missing"]["indicators"]) > 0
            print(f"{kind} {seed}: " + ", ".join(f"{w} {v[-1]:.4f}" for (w, _), v in found.items()), flush=True)
        print(f"{kind}, {given.sets} sets: " + ", ".join(tell(w, v) for (w, _), v in found.items())
              + f"; auto took them {taken} times")
        print(tell_pairs(found, "holes"), flush=True)


STUDY_WAYS = {"gaussian": ["missing=gaussian"], "joint": ["missing=joint"], "indicators": ["missing_indicators=on"]}
MICE = """library(mice); a <- commandArgs(TRUE); d <- read.csv(a[1])
m <- mice(d, m = 3, seed = as.integer(a[3]), printFlag = FALSE)
for (k in 1:3) write.csv(complete(m, k), paste0(a[2], k, ".csv"), row.names = FALSE)"""


def study_rows(seed: int, n: int, kind: str):
    numbers = random.Random(seed)
    rows = []
    for _ in range(n):
        x = [numbers.gauss(0, 1)]
        while len(x) < 6:
            x.append(0.5 * x[-1] + math.sqrt(0.75) * numbers.gauss(0, 1))
        rows.append(x)
    y = [2 * math.tanh(x[0]) + x[1] + x[2] ** 2 / 2 + numbers.gauss(0, 1) / 2 for x in rows]
    mean, sd = statistics.mean(y), statistics.stdev(y)
    slope, level = (0, 1.386) if kind == "mcar" else (1.5, 1.75)  # both lose a fifth of the cells
    holes = [[j < 3 and numbers.random() < 1 / (1 + math.exp(level - slope * (v - mean) / sd)) for j in range(6)] for v in y]
    return rows, holes, y


def predictions(given: argparse.Namespace, train: Path, test: Path, model: Path, settings: list[str]) -> list[float]:
    more = [word for setting in settings for word in ("--set", setting)]
    run(given, "fit", train, "--target", "y", "--dim", 2, "--out", model, "--quiet", "--threads", given.threads, *more)
    out = run(given, "predict", model, test, "--threads", given.threads).split("\n")[1:]
    return [float(line.split(",")[-1]) for line in out if line]


def study(given: argparse.Namespace, folder: Path) -> None:
    for kind in (given.kinds or "mcar,given_y").split(","):
        found: dict[tuple[str, str], list[float]] = {}
        for seed in range(given.first, given.first + given.sets):
            train, test = study_rows(71000 + seed, given.rows or 400, kind), study_rows(75000 + seed, 4000, kind)
            write(folder / "train.csv", *train)
            write(folder / "complete.csv", train[0], None, train[2])
            write(folder / "test.csv", test[0], None, test[2])
            ways = {"complete": [("complete", [])], **{way: [("train", words)] for way, words in STUDY_WAYS.items()},
                    "mice": [(f"mice{k}", []) for k in (1, 2, 3)]}
            if given.ways:
                ways = {way: fits for way, fits in ways.items() if way in given.ways.split(",")}
            if "mice" in ways:
                subprocess.run(["Rscript", "-e", MICE, str(folder / "train.csv"), str(folder / "mice"), str(seed)],
                               check=True, capture_output=True)
            for way, fits in ways.items():
                each = [predictions(given, folder / f"{name}.csv", folder / "test.csv", folder / "model", words)
                        for name, words in fits]
                mean = [sum(column) / len(column) for column in zip(*each)]
                found.setdefault((way, "whole"), []).append(statistics.mean((a - b) ** 2 for a, b in zip(mean, test[2])))
            print(f"{kind} {seed}: " + ", ".join(f"{w} {v[-1]:.4f}" for (w, _), v in found.items()), flush=True)
        print(f"{kind}, {given.sets} sets: " + ", ".join(tell(w, v) for (w, _), v in found.items()))
        print(tell_pairs(found, "whole"), flush=True)


def write_part(path: Path, source: Path, labels: Path, holes: random.Random | None) -> None:
    """A part of a binary set; with holes, a tenth of its cells is empty."""
    rows = [line.split() for line in source.read_text().split("\n") if line.strip()]
    with path.open("w") as out:
        out.write(",".join(f"x{j + 1}" for j in range(len(rows[0]))) + ",y\n")
        for cells, label in zip(rows, labels.read_text().split()):
            if holes:
                cells = ["" if holes.random() < 0.1 else cell for cell in cells]
            out.write(",".join([*cells, str(int(float(label)))]) + "\n")


def binary(given: argparse.Namespace, folder: Path) -> None:
    ways = (given.ways or "gaussian").split(",")
    for first in sorted(Path(given.data).glob("*/*_train_data_1.asc")):
        name = first.parent.name
        errors: dict[tuple[str, str], list[float]] = {}
        for k in range(1, given.sets + 1):
            if not first.with_name(f"{name}_train_data_{k}.asc").exists():
                break
            for way in ["complete", *ways]:
                holes = None if way == "complete" else random.Random(k)
                for part in ("train", "test"):
                    write_part(folder / f"{part}.csv", first.with_name(f"{name}_{part}_data_{k}.asc"),
                               first.with_name(f"{name}_{part}_labels_{k}.asc"), holes)
                fit(given, folder / "train.csv", "gaussian" if way == "complete" else way, folder / "model")
                error = scores(given, folder / "model", folder / "test.csv")["error_rate"]
                errors.setdefault((way, "error"), []).append(error)
        print(f"{name:16} " + " | ".join(tell(way, values) for (way, _), values in errors.items()))
        print(tell_pairs(errors, "error"), flush=True)


def make_large(folder: Path, rows: int, columns: int) -> None:
    import numpy as np

    numbers = np.random.default_rng(1)
    x = numbers.normal(size=(rows, columns)).astype(np.float32)
    for j in range(1, columns):
        x[:, j] = 0.7 * x[:, j - 1] + math.sqrt(0.51) * x[:, j]
    np.save(folder / "y.npy", np.tanh(x[:, 0] + x[:, 1]) + x[:, 2] ** 2 + 0.3 * numbers.normal(size=rows))
    np.save(folder / "complete.npy", x)
    x[numbers.random(x.shape) < 0.05] = np.nan
    np.save(folder / "holes.npy", x)


def large(given: argparse.Namespace, folder: Path) -> None:
    # In a process of its own: a child begins with the memory of its parent, and that would be its peak.
    maker = os.fork()
    if maker == 0:
        make_large(folder, given.rows or 1_000_000, 50)
        os._exit(0)
    os.waitpid(maker, 0)
    for kind in ("complete", "holes"):
        call = [given.program, "fit", folder / f"{kind}.npy", "--target-file", folder / "y.npy", "--dim", "2", "--out",
                folder / "model", "--threads", str(given.threads), "--quiet"]
        before = os.times()
        child = subprocess.Popen(list(map(str, call)))
        _, status, used = os.wait4(child.pid, 0)
        print(f"{kind:9} {os.times().elapsed - before.elapsed:.1f} s, processor {used.ru_utime + used.ru_stime:.1f} s, "
              f"peak {used.ru_maxrss / 1024:.0f} MB" + ("" if status == 0 else ", FAILED"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["order", "indicators", "study", "noise", "binary", "large"])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first set of study")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--kinds", help="of gaps: mcar, mar, mnar; for order and indicators")
    parser.add_argument("--ways", help="of study (all) and binary (gaussian), with commas")
    parser.add_argument("--data", help="the folder of the binary sets")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.what == "binary":
            binary(given, Path(folder))
        elif given.what == "indicators":
            indicators(given, Path(folder))
        elif given.what == "study":
            study(given, Path(folder))
        elif given.what == "large":
            large(given, Path(folder))
        else:
            order(given, Path(folder), given.what == "noise")


if __name__ == "__main__":
    main()
