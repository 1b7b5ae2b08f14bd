#!/usr/bin/env python3
"""Coverage and width of the intervals and sets of calibrated models.

`simulated`: the share of 2000 new rows that is covered, mean over the data sets of 300 rows, with its standard error.
`real`: coverage and width on the partitions of the sets in --data, mean over them. Both print a Markdown table.

    python3 bench/intervals.py simulated --program build/bin/stonet [--sets 200] [--level 0.9]
    python3 bench/intervals.py real --program build/bin/stonet --data FOLDER [--names heart,german]
                             [--partitions 5] [--method stonet] [--options "--dim 2"]
"""
from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Callable

import numpy as np

Rows = tuple[np.ndarray, np.ndarray]


def linear(x: np.ndarray, e: np.ndarray) -> np.ndarray:
    return x[:, 0] + 0.5 * x[:, 1] + e


def fan(x: np.ndarray, e: np.ndarray) -> np.ndarray:
    return x[:, 0] + (0.1 + np.abs(x[:, 0])) * e


def ties(x: np.ndarray, e: np.ndarray) -> np.ndarray:
    return np.round(linear(x, e))


def classes(x: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Three classes that overlap, the last one about 8 % of the rows."""
    return np.digitize(x[:, 0] + 0.8 * e, [-0.2, 1.8]).astype(float)


MODELS: dict[str, tuple[Callable[[np.ndarray, np.ndarray], np.ndarray], str]] = {
    "linear": (linear, "regression"),
    "noise grows with abs(x1)": (fan, "regression"),
    "y in whole numbers": (ties, "regression"),
    "three classes": (classes, "classification"),
}
# what is printed; the options of calibrate after the data; of score; whether half the rows are kept for --fresh
WAYS = {
    "regression": [("cv+", [], [], False), ("fresh", ["--fresh"], [], True)],
    "classification": [
        ("cv+ aps", [], [], False),
        ("cv+ lac", ["--score", "lac"], [], False),
        ("cv+ lac by class", ["--score", "lac"], ["--by-class"], False),
        ("fresh aps", ["--fresh"], [], True),
        ("fresh lac", ["--score", "lac", "--fresh"], [], True),
    ],
}


class Lab:
    def __init__(self, program: str, folder: Path, level: float) -> None:
        self.program, self.folder, self.level = program, folder, level

    def run(self, *arguments: object) -> str:
        call = [self.program, *map(str, arguments), "--threads", "1"]
        return subprocess.run(call, check=True, capture_output=True, text=True).stdout

    def write(self, name: str, rows: Rows) -> Path:
        path = self.folder / name
        np.save(path, np.column_stack(rows).astype(np.float64))
        return path

    def score(self, fit: list[str], train: Rows, fresh: Rows | None, test: Rows, calibrate: list[str],
              score: list[str]) -> dict[str, float]:
        """Fits on train, calibrates on fresh (None: on train) and scores test."""
        target = ["--target", str(train[0].shape[1] + 1)]
        train_file, test_file = self.write("train.npy", train), self.write("test.npy", test)
        rows_file = train_file if fresh is None else self.write("fresh.npy", fresh)
        plain, made = self.folder / "plain.model", self.folder / "made.model"
        self.run("fit", train_file, *target, *fit, "--out", plain, "--quiet")
        self.run("calibrate", plain, rows_file, *target, *calibrate, "--out", made, "--quiet")
        before = json.loads(self.run("score", plain, test_file, *target, "--json"))
        after = json.loads(self.run("score", made, test_file, *target, *score, "--level", self.level, "--json"))
        return {**after, "log_loss_before": before.get("log_loss", np.nan)}


def draw(model: Callable[[np.ndarray, np.ndarray], np.ndarray], n: int, random: np.random.Generator) -> Rows:
    x = random.standard_normal((n, 5))
    return x, model(x, random.standard_normal(n))


def simulated(lab: Lab, sets: int) -> None:
    print("| model | way | coverage | se | least of the sets | width or set size |\n| --- | --- | --- | --- | --- | --- |")
    for name, (model, task) in MODELS.items():
        for way, calibrate, score, half in WAYS[task]:
            found = []
            for seed in range(sets):
                random = np.random.default_rng(seed)
                x, y = draw(model, 300, random)
                cut = 150 if half else 300
                fresh = (x[cut:], y[cut:]) if half else None
                fit = ["--dim", "5", "--method", "none", "--set", f"task={task}"]
                found.append(lab.score(fit, (x[:cut], y[:cut]), fresh, draw(model, 2000, random), calibrate, score))
            covered = np.array([one["coverage"] for one in found])
            width = np.mean([one["interval_width" if task == "regression" else "set_size"] for one in found])
            error = covered.std(ddof=1) / np.sqrt(sets)
            print(f"| {name} | {way} | {covered.mean():.4f} | {error:.4f} | {covered.min():.3f} | {width:.3g} |",
                  flush=True)


def partitions(folder: Path, count: int) -> list[tuple[Rows, Rows]]:
    """The first partitions of a set: training rows, test rows."""
    if (folder / "data.csv.gz").exists():
        table, mask = (np.loadtxt(folder / name, delimiter=",") for name in ("data.csv.gz", "test_mask.csv.gz"))
        parts = [(table[mask[:, k] == 0], table[mask[:, k] == 1]) for k in range(count)]
        return [((train[:, :-1], train[:, -1]), (test[:, :-1], test[:, -1])) for train, test in parts]
    found = []
    for k in range(1, count + 1):
        here = folder if (folder / f"{folder.name}_train_data_{k}.asc").exists() else folder / "substitute_splits"
        x, y, x_test, y_test = (np.loadtxt(here / f"{folder.name}_{part}_{k}.asc")
                                for part in ("train_data", "train_labels", "test_data", "test_labels"))
        found.append(((x, y), (x_test, y_test)))
    return found


def real(lab: Lab, data: Path, names: list[str], count: int, method: str, more: list[str]) -> None:
    print(f"| data | rows | error rate, or R2 | log loss before, after | coverage at {lab.level} | set size, or width / sd |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in names:
        found = []
        for train, test in partitions(data / name, count):
            task = "classification" if len(np.unique(train[1])) == 2 else "regression"
            fit = ["--method", method, "--set", f"task={task}", *more]
            found.append({**lab.score(fit, train, None, test, [], []), "sd": train[1].std()})
        mean = {key: np.mean([one[key] for one in found]) for key in found[0] if np.isscalar(found[0][key])}
        if task == "classification":
            cells = [f"{mean['error_rate']:.3f}", f"{mean['log_loss_before']:.3f}, {mean['log_loss']:.3f}",
                     f"{mean['coverage']:.3f}", f"{mean['set_size']:.2f}"]
        else:
            cells = [f"{mean['r2']:.3f}", "", f"{mean['coverage']:.3f}", f"{mean['interval_width'] / mean['sd']:.3g}"]
        print("| " + " | ".join([name, str(len(train[1])), *cells]) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["simulated", "real"])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--level", type=float, default=0.9)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--partitions", type=int, default=5)
    parser.add_argument("--names", default="thyroid,breast-cancer,flare-solar,heart,german,waveform,uci-pumadyn32nm")
    parser.add_argument("--method", default="stonet")
    parser.add_argument("--options", default="--dim 2", help="more options of fit")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(str(Path(given.program).resolve()), Path(folder), given.level)
        if given.what == "simulated":
            simulated(lab, given.sets)
        else:
            real(lab, given.data, given.names.split(","), given.partitions, given.method, given.options.split())


if __name__ == "__main__":
    main()
