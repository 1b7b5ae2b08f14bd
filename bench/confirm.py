#!/usr/bin/env python3
"""The default fit against the best of the other methods on new partitions of the six binary sets.

    STONET_DATA=... python3 bench/confirm.py [--program build/bin/stonet] [--library build/lib/libstonet.so]
        [--partitions 301-340] [--jobs 16] [--sets heart,german] [--arms stonet,gsir] [--out FILE]

A partition is a random cut of all rows of split 1 into parts of its sizes, the same as trial K of `stonet-paper table1`.
Every arm is fitted on the training part and scored on the other, for both dimensions of table 1:

    stonet               the default fit, nothing set
    stonet -levels       levels=none
    stonet -front        front=none
    stonet -both         both
    stonet select        select=group
    gsir, gsave, sir     tuned over the grids of table 1 by five-fold cross-validation, logistic regression on Z
    logistic             logistic regression on x itself, its penalty tuned
    .. +levels           the same with levels=auto

Printed are the mean errors, their standard errors, the paired t-test of the default fit against the best of the other
methods in each line (two-sided), and the mean of the lines. Needs nothing but the standard library. What is fitted is kept
in the folder --keep, if given, and is not fitted again.
"""
import argparse
import concurrent.futures
import ctypes
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import shared

SETS = {"thyroid": (1, 2), "breast-cancer": (2, 4), "flare-solar": (2, 4), "heart": (3, 6), "german": (5, 10),
        "waveform": (5, 10)}
KERNEL = ["complexity=0.1,0.3,1,3", "ex=1e-3,1e-2,1e-1"]
# name: method, settings, grid, whether it depends on the dimension
ARMS = {
    "stonet": ("stonet", [], [], True),
    "stonet -levels": ("stonet", ["levels=none"], [], True),
    "stonet -front": ("stonet", ["front=none"], [], True),
    "stonet -both": ("stonet", ["levels=none", "front=none"], [], True),
    "stonet select": ("stonet", ["select=group"], [], True),
    "gsir": ("gsir", [], KERNEL, False),
    "gsave": ("gsave", [], KERNEL, True),
    "sir": ("sir", [], ["ridge=0,0.01,0.1,1"], False),
    "logistic": ("none", ["learner=logistic"], ["learner.l2=0.1,1,3,10,30,100"], False),
    "gsir +levels": ("gsir", ["levels=auto"], KERNEL, False),
    "gsave +levels": ("gsave", ["levels=auto"], KERNEL, True),
    "sir +levels": ("sir", ["levels=auto"], ["ridge=0,0.01,0.1,1"], False),
    "logistic +levels": ("none", ["levels=auto", "learner=logistic"], ["learner.l2=0.1,1,3,10,30,100"], False),
}
OWN = [arm for arm in ARMS if arm.startswith("stonet")]


class Partitions:
    """Rows of a set, cut anew: the permutation is the library's own, so that they are those of stonet-paper."""

    def __init__(self, data, library, scratch):
        self.data, self.scratch = data, scratch
        self.library = ctypes.CDLL(library)
        self.library.stonet_permutation.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int64,
                                                    ctypes.POINTER(ctypes.c_int64)]

    def lines(self, name, part, what):
        for folder in ("", "substitute_splits"):
            path = os.path.join(self.data, name, folder, f"{name}_{part}_{what}_1.asc")
            if os.path.exists(path):
                with open(path) as text:
                    return [line for line in text.read().split("\n") if line.strip()]
        sys.exit(f"the data folder has no split 1 of {name}")

    def cut(self, name, number):
        """Paths: training features and labels, test features and labels."""
        paths = [os.path.join(self.scratch, f"{name}.{number}.{part}.{what}") for part in ("train", "test")
                 for what in ("x", "y")]
        x = self.lines(name, "train", "data"), self.lines(name, "test", "data")
        y = self.lines(name, "train", "labels"), self.lines(name, "test", "labels")
        rows, n_train = len(x[0]) + len(x[1]), len(x[0])
        order = (ctypes.c_int64 * rows)()
        if self.library.stonet_permutation(1, (3 << 32) | number, rows, order) != 0:
            sys.exit("no permutation")
        x, y = x[0] + x[1], y[0] + y[1]
        for path, lines, take in zip(paths, (x, y, x, y), (order[:n_train],) * 2 + (order[n_train:],) * 2):
            with open(path, "w") as out:
                out.write("\n".join(lines[row] for row in take) + "\n")
        return paths


class Fits:
    def __init__(self, program, scratch, keep):
        self.program, self.scratch, self.keep = program, scratch, keep

    def call(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr}")
        return done.stdout

    def error_of(self, job):
        """The test error of one arm on one partition: (job, error, processor seconds of the fit)."""
        name, number, arm, dim, paths = job
        kept = self.keep and os.path.join(self.keep, f"{name}.{number}.{arm.replace(' ', '_')}.{dim}.json")
        if kept and os.path.exists(kept):
            with open(kept) as text:
                return (job, *json.load(text))
        method, settings, grid, _ = ARMS[arm]
        stem = os.path.join(self.scratch, hashlib.sha1(repr(job).encode()).hexdigest())
        common = ["--target-file", paths[1], "--threads", "1", "--quiet"]
        for setting in settings:
            common += ["--set", setting]
        before = time.thread_time(), shared.children_seconds()
        if grid:
            self.call("tune", paths[0], *common, "--method", method, "--dim", str(dim), "--best", stem + ".json",
                      *[word for entry in grid for word in ("--grid", entry)])
            common += ["--config", stem + ".json"]
        else:
            common += ["--method", method, "--dim", str(dim)]
        self.call("fit", paths[0], *common, "--out", stem)
        seconds = shared.children_seconds() - before[1]
        error = json.loads(self.call("score", stem, paths[2], "--target-file", paths[3], "--json"))["error_rate"]
        os.unlink(stem)
        if kept:
            with open(kept, "w") as out:
                json.dump([error, seconds], out)
        return job, error, seconds


def mean(values):
    return sum(values) / len(values)


def standard_error(values):
    if len(values) < 2:
        return math.nan
    middle = mean(values)
    return math.sqrt(sum((v - middle) ** 2 for v in values) / (len(values) - 1) / len(values))


def two_sided(t, freedom):
    """P(|T| > |t|) of Student's t, by the incomplete beta function as a continued fraction."""
    if not math.isfinite(t):
        return 0.0
    x, a, b = freedom / (freedom + t * t), freedom / 2, 0.5
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta(1 - x, b, a)
    return beta(x, a, b)


def beta(x, a, b):
    front = math.exp(a * math.log(x) + b * math.log(1 - x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    f = d
    for m in range(1, 200):
        step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / (1 + step * d), 1 + step / c
        f *= d * c
        step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / (1 + step * d), 1 + step / c
        f *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return front * f


def paired(a, b):
    """Mean difference, and the p-value that it is 0."""
    differences = [x - y for x, y in zip(a, b)]
    error = standard_error(differences)
    middle = mean(differences)
    if error == 0:
        return middle, 1.0 if middle == 0 else 0.0
    return middle, two_sided(middle / error, len(differences) - 1)


def report(errors, seconds, sets, arms, say):
    """errors[set, dim, arm]: a list over the partitions."""
    say("| set | q | " + " | ".join(arms) + " |")
    say("| --- " * (len(arms) + 2) + "|")
    lines = [(name, dim) for name in sets for dim in SETS[name]]
    for name, dim in lines:
        cells = [f"{mean(errors[name, dim, arm]):.4f} ({standard_error(errors[name, dim, arm]):.4f})" for arm in arms]
        say(f"| {name} | {dim} | " + " | ".join(cells) + " |")
    means = {arm: mean([mean(errors[name, dim, arm]) for name, dim in lines]) for arm in arms}
    say(f"| mean of the {len(lines)} | | " + " | ".join(f"{means[arm]:.4f}" for arm in arms) + " |")
    say("| cpu seconds, sum | | " + " | ".join(f"{seconds[arm]:.0f}" for arm in arms) + " |")
    for own in [arm for arm in arms if arm in OWN]:
        others = [arm for arm in arms if arm not in OWN and "+levels" not in arm]
        if not others:
            continue
        say("")
        say(f"'{own}' against the best of {', '.join(others)}:")
        say("| set | q | best | its error | ours | difference | p, two-sided | verdict |")
        say("| --- " * 8 + "|")
        kept = 0
        for name, dim in lines:
            best = min(others, key=lambda arm: mean(errors[name, dim, arm]))
            difference, p = paired(errors[name, dim, own], errors[name, dim, best])
            worse = difference > 0 and p < 0.05
            kept += not worse
            verdict = "worse" if worse else "better" if difference < 0 and p < 0.05 else "level"
            say(f"| {name} | {dim} | {best} | {mean(errors[name, dim, best]):.4f} | {mean(errors[name, dim, own]):.4f} | "
                f"{difference:+.4f} | {p:.3f} | {verdict} |")
        say(f"not worse in {kept} of {len(lines)} lines; mean {means[own]:.4f}")
    say("")
    say("paired differences, mean over the lines' partitions (p):")
    for one, other in [("stonet", "stonet -levels"), ("stonet", "stonet -front"), ("stonet", "stonet -both"),
                       ("gsir +levels", "gsir"), ("sir +levels", "sir"), ("logistic +levels", "logistic"),
                       ("gsave +levels", "gsave"), ("stonet", "gsir"), ("stonet", "gsir +levels")]:
        if one not in arms or other not in arms:
            continue
        parts = []
        for name in sets:
            difference, p = paired(errors[name, SETS[name][0], one], errors[name, SETS[name][0], other])
            parts.append(f"{name} {difference:+.4f} ({p:.3f})")
        say(f"- {one} less {other}: " + ", ".join(parts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--library", default="build/lib/libstonet.so")
    parser.add_argument("--partitions", type=shared.numbers, default=shared.numbers("301-340"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sets", type=shared.words, default=list(SETS))
    parser.add_argument("--arms", type=shared.words, default=list(ARMS))
    parser.add_argument("--keep")
    parser.add_argument("--out")
    options = parser.parse_args()
    data = os.environ.get("STONET_DATA")
    if not data:
        sys.exit("STONET_DATA is not set: skipped")
    os.environ.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive")
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        partitions, fits = Partitions(data, options.library, scratch), Fits(options.program, scratch, options.keep)
        jobs = []
        for number in options.partitions:
            for name in options.sets:
                paths = partitions.cut(name, number)
                for arm in options.arms:
                    dims = SETS[name] if ARMS[arm][3] else SETS[name][:1]
                    jobs += [(name, number, arm, dim, paths) for dim in dims]
        errors, seconds = {}, dict.fromkeys(options.arms, 0.0)
        with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
            for job, error, took in pool.map(fits.error_of, jobs):
                name, _, arm, dim, _ = job
                seconds[arm] += took
                for q in [dim] if ARMS[arm][3] else SETS[name]:
                    errors.setdefault((name, q, arm), []).append(error)
    out = open(options.out, "w") if options.out else None

    def say(line):
        print(line, flush=True)
        if out:
            print(line, file=out, flush=True)

    say(f"partitions {options.partitions[0]} to {options.partitions[-1]}, {len(jobs)} fits, "
        f"{time.monotonic() - began:.0f} s on {options.jobs} processes")
    report(errors, seconds, options.sets, options.arms, say)


if __name__ == "__main__":
    main()
