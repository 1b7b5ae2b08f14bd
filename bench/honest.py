#!/usr/bin/env python3
"""Whether the held-out error that `stonet fit` prints is that of fresh rows: printed less fresh, over many data sets.

    [STONET_DATA=...] python3 bench/honest.py [--program build/bin/stonet] [--sets heart,ring:300] [--repeats 40] [--jobs 2] [--first 0]
                      [--noise] [--cells 50x20,50x300] [--kinds mse,error]

Real sets: the rows of both files of partition 1 are shuffled and cut anew, as many for training as before; the others are
fresh. ring:300 and so on: 300 rows of a model of `stonet generate`, with 10,000 fresh rows, whose error is that of the fit to
two digits. --noise: responses that depend on nothing, in cells of n rows and p columns, with 1,000 fresh rows; numbers of variance
1 (mse in their own units: those of the training rows would make all fresh errors large where these vary little) and two
classes (error rate). Printed for each line: the mean printed and fresh
error, their difference with its standard error, the difference less that of the constant guess (training rows that vary little by
chance make both small; what is left is the fit's), the fresh error over that of the constant guess (the mean or the more
frequent class of the training rows), the part of fits that claim to be better than this guess, and the part of fits whose
printed 95 % interval holds the fresh error. Needs NumPy.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import tempfile

import numpy as np

SETS = {"heart": 170, "breast-cancer": 200, "german": 700, "waveform": 400}  # training rows
CELLS = [(n, p) for n in (20, 50, 100, 200) for p in (20, 300, 1000)]


def real(name, seed):
    stem = os.path.join(os.environ["STONET_DATA"], name, name)
    x = np.vstack([np.loadtxt(f"{stem}_{part}_data_1.asc") for part in ("train", "test")])
    y = np.concatenate([np.loadtxt(f"{stem}_{part}_labels_1.asc") for part in ("train", "test")])
    order = np.random.RandomState(seed).permutation(len(y))
    return x[order], np.where(y[order] > 0, "a", "b"), SETS[name]


def drawn(program, name, seed):
    model, n = name.split(":")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        subprocess.run([program, "generate", model, "--rows", str(int(n) + 10000), "--seed", str(seed), "--out", path], check=True,
                       capture_output=True)
        table = np.loadtxt(path, str, delimiter=",", skiprows=1)
    y = table[:, -1]
    return table[:, :-1].astype(float), y if len(set(y)) == 2 else y.astype(float), int(n)


def noise(kind, n, p, seed):
    random = np.random.RandomState(seed)
    x = random.normal(size=(n + 1000, p))
    return x, random.normal(size=n + 1000) if kind == "mse" else np.where(random.uniform(size=n + 1000) < 0.5, "a", "b"), n


def write(path, x, y):
    with open(path, "w", encoding="ascii") as file:
        file.write(",".join(f"x{j}" for j in range(x.shape[1])) + ",y\n")
        for row, target in zip(x, y):
            file.write(",".join(map(repr, row.tolist())) + f",{target}\n")


def measure(job):
    """Printed error, fresh error, the same of a constant guess, whether the fit claims to be better, and the printed interval."""
    program, line, seed = job
    if not isinstance(line, str):
        x, y, n = noise(*line, seed)
    else:
        x, y, n = drawn(program, line, seed) if ":" in line else real(line, seed)
    with tempfile.TemporaryDirectory() as folder:
        train, test, model = (os.path.join(folder, name) for name in ("train.csv", "test.csv", "model"))
        write(train, x[:n], y[:n])
        write(test, x[n:], y[n:])
        fit = subprocess.run([program, "fit", train, "--target", "y", "--dim", "1", "--threads", "1", "--out", model], check=True,
                             capture_output=True, text=True)
        facts = json.loads(subprocess.run([program, "info", model, "--json"], check=True, capture_output=True).stdout)["fitted"]
        fresh = json.loads(subprocess.run([program, "score", model, test, "--target", "y", "--json"], check=True,
                                          capture_output=True).stdout)
    claims = "not clearly better than a constant" not in fit.stderr
    if "held_out_error" in facts:
        guess = max(sorted(set(y[:n])), key=list(y[:n]).count)
        return (facts["held_out_error"], fresh["error_rate"], facts["held_out_constant_error"], np.mean(y[n:] != guess), claims,
                facts["held_out_low"], facts["held_out_high"])
    unit = np.var(y[:n])
    printed, constant, low, high = (2 * unit * facts[f"held_out_{name}"] for name in ("loss", "constant_loss", "low", "high"))
    return printed, unit * fresh["mse_scaled"], constant, np.mean((y[n:] - y[:n].mean()) ** 2), claims, low, high


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--sets", type=lambda text: text.split(",") if text else [], default=list(SETS))
    parser.add_argument("--noise", action="store_true", help="cells of noise instead of the sets")
    parser.add_argument("--cells", type=lambda text: [tuple(map(int, cell.split("x"))) for cell in text.split(",")], default=CELLS)
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=["mse", "error"])
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    lines = [(kind, n, p) for kind in options.kinds for n, p in options.cells] if options.noise else options.sets
    jobs = [(options.program, line, options.first + k) for line in lines for k in range(options.repeats)]
    print("| data | printed | fresh | difference (standard error) | less the constant's | fresh / constant | claims | covered |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- |")
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        results = pool.map(measure, jobs)
        for line in lines:
            found = np.array([next(results) for _ in range(options.repeats)], float)
            printed, fresh, held_constant, constant, claims, low, high = found.T
            off = printed - fresh
            both = [off, off - (held_constant - constant)]
            name = line if isinstance(line, str) else f"noise, {line[0]}, n = {line[1]}, p = {line[2]}"
            means = " | ".join(f"{d.mean():.4f} ({d.std(ddof=1) / len(d) ** 0.5:.4f})" for d in both)
            print(f"| {name} | {printed.mean():.4f} | {fresh.mean():.4f} | {means} | {fresh.mean() / constant.mean():.3f} "
                  f"| {claims.mean():.2f} | {np.mean((low <= fresh) & (fresh <= high)):.2f} |", flush=True)


if __name__ == "__main__":
    main()
