#!/usr/bin/env python3
"""Whether fits with a weight decay that is given end at the constant where a linear model is better.

    STONET_DATA=... python3 bench/collapse.py [--program build/bin/stonet] [--seeds 1-100] [--decays 0.03,0.12,0.3,1]
                                              [--sets heart,german] [--epochs 20] [--set hidden=20 ..] [--jobs 1] [--keep FILE]
                                              [--seconds S]

The training rows of split 1 of the six binary sets, the first dimension of table 1, everything but the weight decay (and
--epochs, if given: then nothing is left to be chosen on held-out rows; and what --set says) left to the fit. At the constant: the log loss on the
test rows of the split is above .99 of that of the classes' shares among the training rows, while that of logistic regression
(learner=logistic on the columns, l2=3) is below. Printed are, for each set and decay, how many fits are, how many of these say so by a
warning, how many fits gave the linear model in place of a network, or inside it, and the mean log losses of the fits, the constant and
logistic regression. What is fitted goes to the file --keep as it comes, and is not fitted again; after --seconds no fit is begun.
Needs nothing but the standard library.
"""
import argparse
import functools
import json
import math
import os
import subprocess
import sys
import tempfile

import kept
import shared

SETS = {"thyroid": (1, "substitute_splits/"), "breast-cancer": (2, ""), "flare-solar": (2, ""), "heart": (3, ""),
        "german": (5, ""), "waveform": (5, "")}
NEXT_TO_NOTHING = 0.99


def path(name, part, what):
    return os.path.join(os.environ["STONET_DATA"], name, f"{SETS[name][1]}{name}_{part}_{what}_1.asc")


def fit_and_score(program, name, words):
    """Log loss on the test rows, what the fit said, and what is known of the model."""
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "a.model")
        said = subprocess.run([program, "fit", path(name, "train", "data"), "--target-file", path(name, "train", "labels"),
                               "--threads", "1", "--out", out, *words], check=True, capture_output=True, text=True).stderr
        scores = subprocess.run([program, "score", out, path(name, "test", "data"), "--target-file",
                                 path(name, "test", "labels"), "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(scores)["log_loss"], said


def constant_loss(name):
    """Log loss on the test rows of the classes' shares among the training rows."""
    labels = []
    for part in ("train", "test"):
        with open(path(name, part, "labels")) as lines:
            labels.append([float(line) for line in lines if line.strip()])
    train, test = labels
    return -sum(math.log(train.count(label) / len(train)) for label in test) / len(test)


def linear_loss(program, name):
    return fit_and_score(program, name, ["--method", "none", "--dim", "1", "--set", "learner=logistic", "--set",
                                         "learner.l2=3"])[0]


def fit(job, program, epochs, settings):
    """Log loss on the test rows, whether the fit warned, and whether it took the linear model."""
    name, decay, seed = job[:3]
    words = ["--dim", str(SETS[name][0]), "--set", f"weight_decay={decay}", "--seed", str(seed)]
    if epochs:
        words += ["--set", f"epochs={epochs}"]
    for setting in settings:
        words += ["--set", setting]
    loss, said = fit_and_score(program, name, words)
    return [loss, "warning" in said, "taken in its place" in said or "put into its layers" in said]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--seeds", type=shared.numbers, default=shared.numbers("1-100"))
    parser.add_argument("--decays", type=shared.words, default=["0.03", "0.12", "0.3", "1"])
    parser.add_argument("--sets", type=shared.words, default=list(SETS))
    parser.add_argument("--epochs", help="given too, with the weight decay")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    if "STONET_DATA" not in os.environ:
        sys.exit("set STONET_DATA to the folder with the data sets")
    # All sets and decays of one seed after the other: a run that is cut has something of each.
    jobs = [(name, decay, seed, " ".join([options.epochs or "chosen", *options.settings])) for seed in options.seeds for name in options.sets
            for decay in options.decays]
    work = functools.partial(fit, program=options.program, epochs=options.epochs, settings=options.settings)
    results = kept.run(work, jobs, options.jobs, options.keep, options.seconds)
    total = all_told = 0
    shared.row(["set", "decay", "at the constant", "of them warned of", "linear model taken", "log loss", "constant", "logistic"])
    shared.row(["---"] * 8)
    for name in options.sets:
        constant, linear = constant_loss(name), linear_loss(options.program, name)
        for decay in options.decays:
            fits = [results[job] for job in jobs if job[:2] == (name, decay) and job in results]
            if not fits:
                continue
            low = [warned for loss, warned, _ in fits
                   if loss > NEXT_TO_NOTHING * constant and linear < NEXT_TO_NOTHING * constant]
            total, all_told = total + len(low), all_told + sum(low)
            shared.row([name, decay, f"{len(low)} of {len(fits)}", str(sum(low)), str(sum(taken for _, _, taken in fits)),
                        f"{sum(loss for loss, _, _ in fits) / len(fits):.4f}", f"{constant:.4f}", f"{linear:.4f}"])
    shared.row(["all", "", f"{total} of {len(results)}", str(all_told), "", "", "", ""])


if __name__ == "__main__":
    main()
