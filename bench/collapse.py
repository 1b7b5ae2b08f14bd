#!/usr/bin/env python3
"""Whether fits with a weight decay that is given end at the constant where a linear model is better.

    STONET_DATA=... python3 bench/collapse.py [--program build/bin/stonet] [--seeds 1-100] [--decays 0.03,0.12,0.3,1]
                                              [--sets heart,german] [--jobs 1]

The training rows of split 1 of the six binary sets, the first dimension of table 1, everything but the weight decay left
to the fit. At the constant: the held-out loss is above .99 of that of a constant guess, while the linear model's is
below. Printed are, for each set and decay, how many fits are, how many of these say so by a warning, and the mean
held-out losses of the fits, the constant and the linear model. Needs nothing but the standard library.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

SETS = {"thyroid": (1, "substitute_splits/"), "breast-cancer": (2, ""), "flare-solar": (2, ""), "heart": (3, ""),
        "german": (5, ""), "waveform": (5, "")}
NEXT_TO_NOTHING = 0.99


def fit(job):
    """Held-out losses of the fit, of a constant and of the linear model, and whether the fit warned."""
    program, name, decay, seed = job
    dim, folder = SETS[name]
    stem = os.path.join(os.environ["STONET_DATA"], name, f"{folder}{name}_train_")
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "a.model")
        said = subprocess.run([program, "fit", f"{stem}data_1.asc", "--target-file", f"{stem}labels_1.asc", "--dim", str(dim),
                               "--set", f"weight_decay={decay}", "--seed", str(seed), "--threads", "1", "--out", out],
                              check=True, capture_output=True, text=True).stderr
        about = json.loads(subprocess.run([program, "info", out, "--json"], check=True, capture_output=True, text=True).stdout)
    fitted = about["fitted"]
    losses = [fitted[f"held_out_{what}loss"] for what in ("", "constant_", "linear_")]
    return losses, "warning" in said


def row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def numbers(text):
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--seeds", type=numbers, default=numbers("1-100"))
    parser.add_argument("--decays", type=lambda text: text.split(","), default=["0.03", "0.12", "0.3", "1"])
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS))
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if "STONET_DATA" not in os.environ:
        sys.exit("set STONET_DATA to the folder with the data sets")
    lines = [(name, decay) for name in options.sets for decay in options.decays]
    jobs = [(options.program, name, decay, seed) for name, decay in lines for seed in options.seeds]
    total = all_told = 0
    row(["set", "decay", "at the constant", "of them warned of", "held-out loss", "constant", "linear"])
    row(["---"] * 7)
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        results = pool.map(fit, jobs)
        for name, decay in lines:
            fits = [next(results) for _ in options.seeds]
            low = [warned for (own, constant, linear), warned in fits
                   if own > NEXT_TO_NOTHING * constant and linear < NEXT_TO_NOTHING * constant]
            mean = [sum(losses[k] for losses, _ in fits) / len(fits) for k in range(3)]
            total, all_told = total + len(low), all_told + sum(low)
            row([name, decay, f"{len(low)} of {len(fits)}", str(sum(low))] + [f"{value:.4f}" for value in mean])
    row(["all", "", f"{total} of {len(jobs)}", str(all_told), "", "", ""])


if __name__ == "__main__":
    main()
