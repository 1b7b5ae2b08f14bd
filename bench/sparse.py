#!/usr/bin/env python3
"""Sparse text: 20,000 rows, 50,000 columns, 0.2 % of the numbers not 0, reduced to five.

    bench/sparse.py --program build/bin/stonet

Draws documents of five topics (words by Zipf's law, each topic with words of its own), writes them in the svmlight
format, fits `--dim 5`, and prints time, processor time and the most memory of the fit, and the error on fresh rows.
"""
import argparse
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np


def write(path, rows, columns, words, seed):
    random = np.random.default_rng(seed)
    topics = 5
    own = [np.random.default_rng(100 + t).choice(columns // 10, 100, replace=False) for t in range(topics)]
    law = np.cumsum(1.0 / (np.arange(columns) + 10.0))
    law /= law[-1]
    cells = 0
    with open(path, "w", encoding="ascii") as file:
        for _ in range(rows):
            topic = random.integers(topics)
            drawn = np.searchsorted(law, random.random(words))
            drawn = np.unique(np.concatenate([drawn, random.choice(own[topic], 12)]))
            drawn = drawn[drawn < columns]
            cells += len(drawn)
            weight = 0.5 + random.random(len(drawn))
            file.write(f"{topic} " + " ".join(f"{w + 1}:{x:.3f}" for w, x in zip(drawn, weight)) + "\n")
    return cells / (rows * columns)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--columns", type=int, default=50000)
    parser.add_argument("--words", type=int, default=105, help="drawn for a row, some of them twice")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        train, test, model = (Path(folder) / name for name in ("train.txt", "test.txt", "model"))
        share = write(train, options.rows, options.columns, options.words, 1)
        write(test, 2000, options.columns, options.words, 2)
        begin = time.monotonic()
        arguments = ["fit", train, "--target", "y", "--dim", "5", "--threads", str(options.threads), "--out", model]
        fitted = subprocess.run([options.program, *arguments], capture_output=True, text=True, check=True)
        seconds = time.monotonic() - begin
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(fitted.stderr, end="")
        print(f"{options.rows} x {options.columns}, {100 * share:.2f} % not 0: {seconds:.1f} s, processor "
              f"{used.ru_utime + used.ru_stime:.1f} s, memory {used.ru_maxrss / 1024:.0f} MiB")
        scores = subprocess.run([options.program, "score", model, test], capture_output=True, text=True, check=True)
        print("\n".join(scores.stdout.splitlines()[:2]))


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    main()
