#!/usr/bin/env python3
"""Time, peak memory and test error of the methods on 20,000 MNIST images: the table in docs/methods.md.

    STONET_DATA=... python3 bench/methods.py --program build/bin/stonet [--only gsir,kdr] [--threads 2]

Two thousand images of each digit, reduced to ten variables; the error is that of a logistic regression on them, on
the 10,000 test images. Clock time, processor time and memory are those of `stonet fit`, reading the file included.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy as np

import shared

ROWS = [
    ("pca", ()),
    ("sir", ()),
    ("save", ()),
    ("dr", ()),
    ("lasso-sir", ()),
    ("autoencoder", ()),
    ("ksir", ("landmarks=2000",)),
    ("gsir", ("landmarks=2000",)),
    ("gsave", ("landmarks=2000",)),
    ("gkdr", ("landmarks=2000",)),
    ("kdr", ("landmarks=2000",)),
    ("lsmie", ()),
    ("lsmie", ("landmarks=2000",)),
    ("gsir", ()),
    ("gsave", ()),
]


def write_training(data, folder):
    x = shared.read_idx(f"{data}/mnist/train-images-idx3-ubyte.gz")
    y = shared.read_idx(f"{data}/mnist/train-labels-idx1-ubyte.gz")
    first = np.sort(np.concatenate([np.flatnonzero(y == digit)[:2000] for digit in range(10)]))
    np.save(f"{folder}/x.npy", x[first].reshape(len(first), -1).astype(np.float32))
    np.save(f"{folder}/y.npy", y[first].astype(np.int32))


def run(command):
    """Seconds by the clock and of the processor, and the peak memory in MB, of one command."""
    start = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--only", help="methods, separated by commas")
    parsed = parser.parse_args()
    data = os.environ["STONET_DATA"]
    wanted = parsed.only.split(",") if parsed.only else None
    print("| method | settings | clock s | processor s | peak MB | test error |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        write_training(data, folder)
        model = f"{folder}/model"
        for method, settings in ROWS:
            if wanted is not None and method not in wanted:
                continue
            command = [parsed.program, "fit", f"{folder}/x.npy", "--target-file", f"{folder}/y.npy", "--dim", "10",
                       "--method", method, "--threads", parsed.threads, "--quiet", "--out", model]
            for setting in settings:
                command += ["--set", setting]
            clock, processor, memory = run(command)
            scored = subprocess.run([parsed.program, "score", model, f"{data}/mnist/t10k-images-idx3-ubyte.gz",
                                     "--target-file", f"{data}/mnist/t10k-labels-idx1-ubyte.gz", "--json"], check=True,
                                    capture_output=True, text=True)
            error = json.loads(scored.stdout)["error_rate"]
            print(f"| {method} | {' '.join(settings) or 'default'} | {clock:.1f} | {processor:.1f} | {memory:.0f} "
                  f"| {error:.4f} |", flush=True)


if __name__ == "__main__":
    main()
