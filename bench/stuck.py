#!/usr/bin/env python3
"""Whether default fits get stuck: simulated data, fresh test rows, against the best of five restarts.

    python3 bench/stuck.py [--program build/bin/stonet] [--against OTHER/stonet] [--quick] [--threads 1]
                           [--models m1,ring] [--rows 500,2000] [--dims 1,2] [--seeds 1-6] [--jobs 16]

For every model, number of rows, dimension and data set: `stonet fit` with nothing set, and the same with the seeds
2..5. The explained part is 1 - MSE / variance, or 1 - log loss / that of the classes' shares, on 10,000 rows of another
seed. Printed are the worst and the mean explained part of the default fits, the mean of the best of the five seeds, how
many default fits explain less than 90 % of that best, how many are at the constant (explain less than 5 % of it), and the
processor time of a default fit. --against: the same fits by another build. --no-restarts: the default fits alone. --jobs:
fits side by side.
Needs nothing but the standard library.
"""
import argparse
import concurrent.futures
import functools
import json
import math
import os
import resource
import subprocess
import sys
import tempfile

MODELS = ["m1", "friedman", "radial", "ring", "ratio", "waveform"]
CLASSES = {"ring", "waveform"}
TEST_ROWS, TEST_SEED = 10000, 999


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@functools.cache
def entropy(path):
    with open(path) as lines:
        labels = [line.rsplit(",", 1)[1] for line in lines][1:]
    share = [labels.count(label) / len(labels) for label in set(labels)]
    return -sum(p * math.log(p) for p in share)


def make_data(program, scratch, model, rows, seed):
    path = os.path.join(scratch, f"{model}.{rows}.{seed}.csv")
    if not os.path.exists(path):
        subprocess.run([program, "generate", model, "--rows", str(rows), "--seed", str(seed), "--out", path], check=True)
    return path


def explained(job):
    """The explained part on the test rows, and the processor seconds of the fit."""
    program, threads, model, train, test, dim, seed = job
    out = f"{train}.{dim}.{seed}.model"
    before = children_seconds()
    subprocess.run([program, "fit", train, "--target", "y", "--dim", str(dim), "--threads", str(threads), "--seed",
                    str(seed), "--out", out, "--quiet"], check=True, stderr=subprocess.DEVNULL)
    seconds = children_seconds() - before
    text = subprocess.run([program, "score", out, test, "--target", "y", "--json"], check=True, capture_output=True,
                          text=True).stdout
    os.unlink(out)
    scores = json.loads(text)
    return 1 - scores["log_loss"] / entropy(test) if model in CLASSES else scores["r2"], seconds


def row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def run(scratch, options, program, name):
    lines = [(model, rows, dim) for model in options.models for rows in options.rows for dim in options.dims]
    fit_seeds = [1] if options.no_restarts else [1, 2, 3, 4, 5]
    jobs = []
    for model, rows, dim in lines:
        test = make_data(program, scratch, model, TEST_ROWS, TEST_SEED)
        for data_seed in options.seeds:
            train = make_data(program, scratch, model, rows, data_seed)
            jobs += [(program, options.threads, model, train, test, dim, seed) for seed in fit_seeds]
    total = low = constant = 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        results = pool.map(explained, jobs)
        for model, rows, dim in lines:
            first, best, spent = [], [], []
            for _ in options.seeds:
                fits = [next(results) for _ in fit_seeds]
                first.append(fits[0][0])
                spent.append(fits[0][1])
                best.append(max(value for value, _ in fits))
            below = sum(v < 0.9 * b for v, b in zip(first, best))
            at = sum(v < 0.05 * max(b, 0.05) for v, b in zip(first, best))
            total, low, constant = total + len(first), low + below, constant + at
            row([name, model, str(rows), str(dim), f"{min(first):.3f}", f"{sum(first) / len(first):.3f}",
                 f"{sum(best) / len(best):.3f}", str(below), str(at), f"{sum(spent) / len(spent):.2f}"])
    row([name, "all", "", "", "", "", "", f"{low} of {total}", f"{constant} of {total}", ""])


def numbers(text):
    values = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        values += range(int(first), int(last or first) + 1)
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--against")
    parser.add_argument("--quick", action="store_true", help="m1 and ring, 2,000 rows, q = 2, three data sets, no restarts")
    parser.add_argument("--no-restarts", action="store_true")
    parser.add_argument("--models", type=lambda text: text.split(","), default=MODELS)
    parser.add_argument("--rows", type=numbers, default=[500, 2000, 10000])
    parser.add_argument("--dims", type=numbers, default=[1, 2, 5])
    parser.add_argument("--seeds", type=numbers, default=numbers("1-10"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.quick:
        options.models, options.rows, options.dims, options.seeds = ["m1", "ring"], [2000], [2], [1, 2, 3]
        options.no_restarts = True
    unknown = set(options.models) - set(MODELS)
    if unknown:
        sys.exit(f"no such model: {', '.join(sorted(unknown))}")
    row(["build", "model", "n", "q", "worst", "mean", "best of five", "below 90 %", "at the constant", "cpu seconds"])
    row(["---"] * 10)
    for name, program in [("this", options.program), ("other", options.against)]:
        if program:
            with tempfile.TemporaryDirectory() as scratch:
                run(scratch, options, program, name)


if __name__ == "__main__":
    main()
