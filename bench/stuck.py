#!/usr/bin/env python3
"""Whether default fits get stuck: simulated data, fresh test rows, against the best of five restarts.

    [STONET_DATA=...] python3 bench/stuck.py [--program build/bin/stonet] [--against OTHER/stonet] [--quick] [--threads 1]
                           [--models m1,spirals] [--rows 500,2000] [--dims 1,2] [--seeds 1-6] [--no-restarts]
                           [--jobs 16] [--keep FILE] [--seconds S]

For every model, number of rows, dimension and data set: `stonet fit` with nothing set, and the same with the seeds
2..5. The explained part is 1 - MSE / variance, or 1 - log loss / that of the classes' shares, on 10,000 rows of another
seed. Printed are the worst and the mean explained part of the default fits, the mean of the best of the five seeds, how
many default fits explain less than 90 % of that best, how many are at the constant (explain less than 5 % of it), and the
processor time of a default fit. --against: the same fits by another build. --no-restarts: the default fits alone, each
against the best of its line, over all data sets: with 10,000 rows and more, whose answers do not differ, that asks for more.
--jobs: fits side by side. What is fitted goes to the file --keep as it comes, and is not fitted again; after --seconds no fit
is begun. Models are those of `stonet generate` and the few below, of ten or twelve columns. pumadyn32nm (a table, in the folder STONET_DATA) is drawn from the rows outside its test mask, seed by seed; of its
masks as many are used as there are seeds, and more rows than it has are all of them. Needs nothing but the standard library.
"""
import argparse
import functools
import gzip
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import kept
import shared

GENERATED = ["m1", "friedman", "radial", "ring", "ratio", "waveform"]
TABLE = "pumadyn32nm"
TEST_ROWS, TEST_SEED = 10000, 999


def spirals(draw, x):
    """Two arms, 1.5 turns each, in the first two columns."""
    arm, turn = draw.randrange(2), 3 * math.pi * math.sqrt(draw.random())
    angle = turn + math.pi * arm
    x[0], x[1] = (turn / 3 * f(angle) + draw.gauss(0, 0.1) for f in (math.cos, math.sin))
    return "ab"[arm]


def sine(draw, x):
    """Two periods; x1 is uniform, since sin(6 x) of normal x is found by no fit that we know."""
    x[0] = draw.uniform(-1, 1)
    return math.sin(6 * x[0]) + draw.gauss(0, 0.1)


SIMULATED = {  # columns, and the response of a row of normal ones
    "spirals": (12, spirals),
    "product": (10, lambda draw, x: x[0] * x[1] * x[2] + draw.gauss(0, 0.1)),
    "saddle": (10, lambda draw, x: x[0] * x[0] - x[1] * x[1] + draw.gauss(0, 0.2)),
    "sine": (10, sine),
    "xor": (10, lambda draw, x: "ab"[x[0] * x[1] > 0]),
    "parity": (10, lambda draw, x: "ab"[x[0] * x[1] * x[2] > 0]),
}
CLASSES = {"ring", "waveform", "spirals", "xor", "parity"}


@functools.cache
def entropy(path):
    with open(path) as lines:
        labels = [line.rsplit(",", 1)[1] for line in lines][1:]
    share = [labels.count(label) / len(labels) for label in set(labels)]
    return -sum(p * math.log(p) for p in share)


def write(path, fill):
    """A file that is there is whole: jobs side by side may both want it."""
    if os.path.exists(path):
        return path
    part = f"{path}.{os.getpid()}.csv"
    fill(part)
    os.replace(part, path)
    return path


def generate(program, scratch, model, rows, seed):
    def fill(path):
        if model not in SIMULATED:
            subprocess.run([program, "generate", model, "--rows", str(rows), "--seed", str(seed), "--out", path], check=True)
            return
        columns, response = SIMULATED[model]
        draw = random.Random(f"{model} {seed}")
        with open(path, "w") as out:
            out.write(",".join(f"x{k + 1}" for k in range(columns)) + ",y\n")
            for _ in range(rows):
                x = [draw.gauss(0, 1) for _ in range(columns)]
                y = response(draw, x)
                out.write(",".join(map(repr, x)) + f",{y}\n")
    return write(os.path.join(scratch, f"{model}.{rows}.{seed}.csv"), fill)


@functools.cache
def table():
    """The lines of the table and, for each mask, whether they are test rows."""
    folder = os.path.join(os.environ["STONET_DATA"], f"uci-{TABLE}")
    with gzip.open(os.path.join(folder, "data.csv.gz"), "rt") as lines:
        data = [line.strip() for line in lines]
    with gzip.open(os.path.join(folder, "test_mask.csv.gz"), "rt") as lines:
        return data, [[float(cell) == 1 for cell in line.split(",")] for line in lines]


def cut_table(scratch, rows, seed):
    data, masks = table()
    fold = (seed - 1) % len(masks[0])
    train = [line for line, mask in zip(data, masks) if not mask[fold]]
    test = [line for line, mask in zip(data, masks) if mask[fold]]
    random.Random(seed).shuffle(train)
    head = ",".join([f"x{k + 1}" for k in range(data[0].count(","))] + ["y"])

    def writer(lines):
        def fill(path):
            with open(path, "w") as out:
                out.write("\n".join([head] + lines) + "\n")
        return fill
    return (write(os.path.join(scratch, f"{TABLE}.{rows}.{seed}.csv"), writer(train[:rows])),
            write(os.path.join(scratch, f"{TABLE}.test.{fold}.csv"), writer(test)))


def explained(job, programs, threads, scratch):
    """The explained part on the test rows, and the processor seconds of the fit."""
    name, model, rows, dim, data_seed, seed = job
    program = programs[name]
    if model == TABLE:
        train, test = cut_table(scratch, rows, data_seed)
    else:
        train = generate(program, scratch, model, rows, data_seed)
        test = generate(program, scratch, model, TEST_ROWS, TEST_SEED)
    out = f"{train}.{name}.{dim}.{seed}.model"
    before = shared.children_seconds()
    subprocess.run([program, "fit", train, "--target", "y", "--dim", str(dim), "--threads", str(threads), "--seed",
                    str(seed), "--out", out, "--quiet"], check=True, stderr=subprocess.DEVNULL)
    seconds = shared.children_seconds() - before
    text = subprocess.run([program, "score", out, test, "--target", "y", "--json"], check=True, capture_output=True,
                          text=True).stdout
    os.unlink(out)
    scores = json.loads(text)
    return [1 - scores["log_loss"] / entropy(test) if model in CLASSES else scores["r2"], seconds]


def report(name, lines, options, results):
    total = low = constant = 0
    for model, rows, dim in lines:
        first, best, spent = [], [], []
        for data_seed in options.seeds:
            fits = [results.get((name, model, rows, dim, data_seed, seed)) for seed in options.fit_seeds]
            if None in fits:
                continue
            first.append(fits[0][0])
            spent.append(fits[0][1])
            best.append(max(value for value, _ in fits))
        if not first:
            continue
        if options.no_restarts:
            best = [max(first)] * len(first)
        below = sum(v < 0.9 * b for v, b in zip(first, best))
        at = sum(v < 0.05 * max(b, 0.05) for v, b in zip(first, best))
        total, low, constant = total + len(first), low + below, constant + at
        shared.row([name, model, str(rows), str(dim), str(len(first)), f"{min(first):.3f}", f"{sum(first) / len(first):.3f}",
                    f"{sum(best) / len(best):.3f}", str(below), str(at), f"{sum(spent) / len(spent):.2f}"])
    shared.row([name, "all", "", "", str(total), "", "", "", f"{low} of {total}", f"{constant} of {total}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--against")
    parser.add_argument("--quick", action="store_true", help="m1 and ring, 2,000 rows, q = 2, three data sets, no restarts")
    parser.add_argument("--no-restarts", action="store_true")
    parser.add_argument("--models", type=shared.words, default=GENERATED + list(SIMULATED))
    parser.add_argument("--rows", type=shared.numbers, default=[500, 2000, 10000])
    parser.add_argument("--dims", type=shared.numbers, default=[1, 2, 5])
    parser.add_argument("--seeds", type=shared.numbers, default=shared.numbers("1-10"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    if options.quick:
        options.models, options.rows, options.dims, options.seeds = ["m1", "ring"], [2000], [2], [1, 2, 3]
        options.no_restarts = True
    unknown = set(options.models) - set(GENERATED) - set(SIMULATED) - {TABLE}
    if unknown:
        sys.exit(f"no such model: {', '.join(sorted(unknown))}")
    if TABLE in options.models and "STONET_DATA" not in os.environ:
        sys.exit(f"set STONET_DATA to the folder with {TABLE}, or leave it out")
    options.fit_seeds = [1] if options.no_restarts else [1, 2, 3, 4, 5]
    programs = {"this": options.program}
    if options.against:
        programs["other"] = options.against
    lines = [(model, rows, dim) for model in options.models for rows in options.rows for dim in options.dims]
    # All lines of one data set after the other: a run that is cut has something of each.
    jobs = [(name, *line, data_seed, seed) for data_seed in options.seeds for line in lines for name in programs
            for seed in options.fit_seeds]
    with tempfile.TemporaryDirectory() as scratch:
        work = functools.partial(explained, programs=programs, threads=options.threads, scratch=scratch)
        results = kept.run(work, jobs, options.jobs, options.keep, options.seconds)
    shared.row(["build", "model", "n", "q", "data sets", "worst", "mean", "best", "below 90 %", "at the constant", "cpu seconds"])
    shared.row(["---"] * 11)
    for name in programs:
        report(name, lines, options, results)


if __name__ == "__main__":
    main()
