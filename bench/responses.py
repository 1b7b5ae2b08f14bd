#!/usr/bin/env python3
"""Censored times: what censoring costs a default StoNet, what is lost by leaving it out, and folds of real tables.

    python3 bench/responses.py simulated [--program build/bin/stonet] [--rows 500,2000] [--repeats 20] [--first 0] [--jobs 2]
    python3 bench/responses.py spread [the same]
    python3 bench/responses.py folds FOLDER [--program ..] [--jobs 2]

simulated: log T = Z1 + e / 2 with Z1 = sin(2 x1) + .7 (x2^2 - 1), ten columns; a normal log time ends the observation of
30 % and 60 % of the rows. Printed is the distance correlation of Z with Z1 on the rows of the fit, over data sets: fitted to the whole
times, to the censored times with their events, to the seen rows alone (dropped), to the censored times as if they were
seen (ignored); and that of the linear predictor of Cox's model, by Newton's steps.

spread: log T = sin(2 x1) + exp(x2) e / 2, with the same censoring: Z of two columns beside (sin(2 x1), x2), each column scaled to
variance 1. Fitted by response=ensemble and response=mean to the censored times, by response=ensemble to the whole and to the seen.

folds: the tables NAME.csv in FOLDER, which bench/responses.R writes, have the columns time, status and half1, half2, ..; each
half is predicted from the other, and the scores go to NAME-1-1.scores, NAME-1-2.scores (fitted on half 1, on half 2) and so on,
which bench/responses.R reads: so the fits can be made where there is no R.
Every fit has one thread. Needs NumPy.
"""
import argparse
import concurrent.futures
import csv
import glob
import os
import subprocess
import tempfile

import numpy as np


def stonet(options, *words):
    return subprocess.run([options.program, *words], check=True, capture_output=True, text=True).stdout


def fit(options, table, model, *words):
    stonet(options, "fit", table, "--threads", "1", "--quiet", "--out", model, *words)


def write(path, names, columns):
    np.savetxt(path, np.column_stack(columns), "%.17g", ",", header=",".join(names), comments="")


def distance_correlation(a, b):
    """Of two variables, or of two tables whose columns are scaled first."""
    def centred(v):
        v = v.reshape(len(v), -1)
        v = v / v.std(0)
        d = np.sqrt(((v[:, None] - v[None, :]) ** 2).sum(2))
        return d - d.mean(0)[None, :] - d.mean(1)[:, None] + d.mean()

    a, b = centred(a), centred(b)
    return np.sqrt((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def cox(x, time, event):
    """The linear predictor of the largest partial likelihood; no two times are the same."""
    order = np.argsort(-time)
    x, event, beta = x[order], event[order], np.zeros(x.shape[1])
    for _ in range(30):
        w = np.exp(x @ beta)
        risk = np.cumsum(w)
        mean = np.cumsum(w[:, None] * x, 0) / risk[:, None]
        square = np.cumsum(w[:, None, None] * x[:, :, None] * x[:, None, :], 0) / risk[:, None, None]
        slope = ((x - mean) * event[:, None]).sum(0)
        curve = ((square - mean[:, :, None] * mean[:, None, :]) * event[:, None, None]).sum(0)
        step = np.linalg.solve(curve, slope)
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    eta = np.empty(len(time))
    eta[order] = x @ beta
    return eta


def simulate(what, n, seed):
    """Rows, what Z should be, the log time, and noise for its censoring."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 10))
    if what == "spread":
        truth = np.column_stack([np.sin(2 * x[:, 0]), x[:, 1]])
        return x, truth, truth[:, 0] + 0.5 * np.exp(truth[:, 1]) * random.normal(size=n), random.normal(size=n)
    truth = np.sin(2 * x[:, 0]) + 0.7 * (x[:, 1] ** 2 - 1)
    return x, truth, truth + 0.5 * random.normal(size=n), random.normal(size=n)


def censor(log_time, noise, part):
    """The log times of the ends: noise moved by the number that leaves this part of the rows censored."""
    end = noise + np.quantile(log_time - noise, 1 - part / 100)
    return np.minimum(log_time, end), (log_time <= end).astype(float)


def one_fit(options, n, seed, way, part):
    """The distance correlation with the truth of one way to fit."""
    x, truth, log_time, noise = simulate(options.what, n, seed)
    seen, event = censor(log_time, noise, part)
    if way == "cox":
        return distance_correlation(cox(x, seen, event), truth)
    rows = event > 0 if way == "dropped" else np.full(n, True)
    settings = ["--dim", "1"] if options.what == "simulated" else ["--dim", "2"]
    if options.what == "spread" and way != "mean":
        settings += ["--set", "response=ensemble"]
    names = [f"x{j + 1}" for j in range(10)]
    with tempfile.TemporaryDirectory() as folder:
        at = [os.path.join(folder, name) for name in ("all.csv", "train.csv", "model", "z.csv")]
        write(at[0], names, [x])
        if way in ("event", "mean"):
            write(at[1], names + ["time", "event"], [x, np.exp(seen), event])
            fit(options, at[1], at[2], "--target", "time", "--event", "event", *settings)
        else:
            write(at[1], names + ["time"], [x[rows], (log_time if way == "whole" else seen)[rows]])
            fit(options, at[1], at[2], "--target", "time", *settings)
        stonet(options, "transform", at[2], at[0], "--quiet", "--out", at[3])
        return distance_correlation(np.loadtxt(at[3], delimiter=",", skiprows=1, ndmin=2), truth)


def mean_of(values):
    return f"{np.mean(values):.4f} ({np.std(values, ddof=1) / np.sqrt(len(values)):.4f})"


def simulated(options, pool):
    others = ("dropped", "ignored", "cox") if options.what == "simulated" else ("mean", "dropped")
    ways = [("whole", 0)] + [(way, part) for part in (30, 60) for way in ("event", *others)]
    for n in map(int, options.rows.split(",")):
        seeds = [3400 + n * 1000 + options.first + k for k in range(options.repeats)]
        jobs = {(way, part, seed): pool.submit(one_fit, options, n, seed, way, part) for seed in seeds for way, part in ways}
        found = {key: np.array([jobs[(*key, seed)].result() for seed in seeds]) for key in ways}
        print(f"{n} rows, {len(seeds)} data sets")
        for (way, part), values in found.items():
            less = "" if way in ("whole", "event") else f"  event less {way}: {mean_of(found['event', part] - values)}"
            if way == "event":
                less = f"  whole less event: {mean_of(found['whole', 0] - values)}"
            print(f"{way:8} {part:3} % censored: {mean_of(values)}{less}", flush=True)


def one_fold(options, table, repeat, half):
    with open(table, encoding="ascii") as file:
        rows = list(csv.reader(file))
    keep = [j for j, name in enumerate(rows[0]) if not name.startswith("half")]
    at = rows[0].index(f"half{repeat}")
    stem = f"{table[:-4]}-{repeat}-{half}"
    with tempfile.TemporaryDirectory() as folder:
        model, train, test = (os.path.join(folder, name) for name in ("model", "train.csv", "test.csv"))
        for path, wanted in ((train, True), (test, False)):
            with open(path, "w", encoding="ascii", newline="") as file:
                some = rows[:1] + [row for row in rows[1:] if (row[at] == str(half)) == wanted]
                csv.writer(file).writerows([[row[j] for j in keep] for row in some])
        fit(options, train, model, "--target", "time", "--event", "status", "--dim", "1")
        scores = stonet(options, "score", model, test, "--quiet")
    with open(stem + ".scores", "w", encoding="ascii") as file:
        file.write(scores)
    wanted = [line.split() for line in scores.splitlines() if line.split()[0] in ("concordance", "integrated_brier")]
    return os.path.basename(stem) + "".join(f" {name} {value}" for name, value, *_ in wanted)


def folds(options, pool):
    jobs = []
    for table in sorted(glob.glob(os.path.join(options.folder, "*.csv")), key=os.path.getsize, reverse=True):
        with open(table, encoding="ascii") as file:
            repeats = next(csv.reader(file))[-1].replace("half", "")
        jobs += [(table, repeat, half) for repeat in range(1, int(repeats) + 1) for half in (1, 2)]
    for done in [pool.submit(one_fold, options, *job) for job in jobs]:
        print(done.result(), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["simulated", "spread", "folds"])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--rows", default="500,2000")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        (folds if options.what == "folds" else simulated)(options, pool)


if __name__ == "__main__":
    main()
