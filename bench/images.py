#!/usr/bin/env python3
"""Default fits of noisy images beside MLPs of scikit-learn: classes that overlap, as those of MNIST itself do not.

    STONET_DATA=... OMP_NUM_THREADS=1 python3 bench/images.py [--program build/bin/stonet] [--noise 110] [--rows 8000]

20,000 of the training images of MNIST, drawn at random, get noise N(0, NOISE^2) in every pixel and are cut to 0 .. 255. The first
ROWS train, the others test; q = 10. Printed are the test errors and the processor seconds of the fits: the default, the default's
network of relu units at several weight decays, and MLPs. Needs NumPy and scikit-learn.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.neural_network import MLPClassifier
import shared

IMAGES, SEED, DIM = 20000, 3, 10
DECAYS = (0.001, 0.003, 0.01, 0.03)
MLPS = ({}, {"early_stopping": True}, {"hidden_layer_sizes": (128, DIM)}, {"alpha": 1.0})


def noisy_images(folder, noise):
    x = shared.read_idx(os.path.join(folder, "train-images-idx3-ubyte.gz"))
    y = shared.read_idx(os.path.join(folder, "train-labels-idx1-ubyte.gz")).astype(np.int32)
    draw = np.random.default_rng(SEED)
    some = draw.permutation(len(x))[:IMAGES]
    x = x[some].reshape(IMAGES, -1).astype(np.float32)
    return np.clip(x + draw.normal(0, noise, x.shape), 0, 255).astype(np.uint8), y[some]


def fit_and_score(program, scratch, settings):
    """The test error, and the processor seconds of the fit."""
    tables = {part: [os.path.join(scratch, f"x{part}.npy"), "--target-file", os.path.join(scratch, f"y{part}.npy")]
              for part in ("train", "test")}
    model = os.path.join(scratch, "model")
    words = [word for setting in settings for word in ("--set", setting)]
    before = shared.children_seconds()
    subprocess.run([program, "fit", *tables["train"], "--dim", str(DIM), "--threads", "1", "--quiet", "--out", model, *words],
                   check=True)
    seconds = shared.children_seconds() - before
    scored = subprocess.run([program, "score", model, *tables["test"], "--json"], check=True, capture_output=True, text=True)
    return json.loads(scored.stdout)["error_rate"], seconds


def row(name, error, seconds):
    print(f"| {name} | {error:.4f} | {seconds:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--noise", type=float, default=110)
    parser.add_argument("--rows", type=int, default=8000)
    options = parser.parse_args()
    if "STONET_DATA" not in os.environ:
        sys.exit("set STONET_DATA to the folder with the data sets")
    x, y = noisy_images(os.path.join(os.environ["STONET_DATA"], "mnist"), options.noise)
    parts = {"train": slice(0, options.rows), "test": slice(options.rows, IMAGES)}
    print("| fit | test error | cpu seconds |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        for part, rows in parts.items():
            np.save(os.path.join(scratch, f"x{part}.npy"), x[rows])
            np.save(os.path.join(scratch, f"y{part}.npy"), y[rows])
        row("default", *fit_and_score(options.program, scratch, []))
        for decay in DECAYS:
            settings = ["activation=relu", f"weight_decay={decay}"]
            row(" ".join(settings), *fit_and_score(options.program, scratch, settings))
    for settings in MLPS:
        before = time.process_time()
        mlp = MLPClassifier(random_state=1, **settings).fit(x[parts["train"]] / 255.0, y[parts["train"]])
        row(f"MLP {settings}", 1 - mlp.score(x[parts["test"]] / 255.0, y[parts["test"]]), time.process_time() - before)


if __name__ == "__main__":
    main()
