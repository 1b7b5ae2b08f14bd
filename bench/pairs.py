#!/usr/bin/env python3
"""Whole fits by two built programs, old and new, one after the other in pairs: is the new one slower anywhere?

    python3 bench/pairs.py OLD/bin/stonet NEW/bin/stonet [--pairs 11] [--threads 1,2] [--only deep] [--out FILE]

Builds nothing and needs nothing but the standard library. Data of the shapes of bench/workload.c are drawn once; both
programs fit them with the same settings given, so that both train the same network on the same batches. What counts is the
clock. The order within a pair changes from pair to pair; printed are the medians of both and of the ratios of the pairs,
which do not suffer from what the machine does in the meantime, and the quartiles of those.
"""
import argparse
import array
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GIVEN = ["activation=tanh", "weight_decay=0.0001", "sdr_iterations=10", "schedule=linear", "momentum=0.9"]
NEWER = ["front=none", "levels=none", "restarts=1"]  # for the programs that have them

# name, rows, columns, classes (0: numbers), outputs, dim, other settings
WORKLOADS = [
    ("narrow-21-2", 400, 21, 2, 1, 2, "hidden=none epochs=6000 batch=50"),
    ("waveform-q10", 400, 21, 2, 1, 10, "hidden=none epochs=5000 batch=50"),
    ("waveform-16-2", 400, 21, 2, 1, 2, "hidden=16 epochs=3000 batch=50"),
    ("rows-50-16-2", 100000, 50, 0, 1, 2, "hidden=16 epochs=10 batch=128"),
    ("mnist-q10", 2000, 784, 10, 1, 10, "hidden=none epochs=60 batch=128"),
    ("mnist-q98", 2000, 784, 10, 1, 98, "hidden=none epochs=12 batch=128"),
    ("mnist-q392", 1000, 784, 10, 1, 392, "hidden=none epochs=15 batch=128"),
    ("slices-384-200-12", 2000, 384, 0, 1, 12, "hidden=200 epochs=15 batch=128"),
    ("deep-256-512-512-64", 500, 256, 0, 1, 64, "hidden=512,512 epochs=6 batch=128"),
    ("default", 300, 10, 2, 1, 2, None),  # nothing given: the searches differ, told for information
]


def write_npy(path, values, rows, columns, code):
    kind = {"f": "<f4", "d": "<f8"}[code]
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        array.array(code, values).tofile(file)


def draw(folder, name, rows, columns, classes, outputs):
    """Features of sums of uniforms, and a response of the first four of them: the time does not depend on it."""
    source = random.Random(name)
    pool = [source.gauss(0.0, 1.0) for _ in range(65537)]  # drawn from again: large tables at the speed of a slice
    x = array.array("f")
    y = []
    for _ in range(rows):
        start = source.randrange(len(pool) - columns)
        row = pool[start : start + columns]
        signal = row[0] - row[1] + row[2] * row[3] + source.gauss(0.0, 0.3)
        y.append(float(min(classes - 1, max(0, int(signal + classes / 2)))) if classes else signal)
        x.extend(row)
    write_npy(folder / f"{name}.npy", x, rows, columns, "f")
    write_npy(folder / f"{name}-y.npy", y, rows, outputs, "d")


def command(program, folder, workload, threads):
    name, _, _, classes, _, dim, settings = workload
    asked = ["--set", f"task={'classification' if classes else 'regression'}"]
    if settings is not None:
        known = subprocess.run([program, "methods", "stonet"], capture_output=True, text=True, check=True).stdout
        known = {line.split()[0] for line in known.splitlines() if line.startswith("  ")}
        for setting in GIVEN + settings.split() + [s for s in NEWER if s.split("=")[0] in known]:
            asked += ["--set", setting]
    return [program, "fit", str(folder / f"{name}.npy"), "--target-file", str(folder / f"{name}-y.npy"), "--dim", str(dim),
            *asked, "--threads", str(threads), "--out", str(folder / "pairs.model")]  # fmt: skip


def seconds(arguments):
    began = time.perf_counter()
    done = subprocess.run(arguments, capture_output=True, text=True)
    took = time.perf_counter() - began
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}\n{done.stderr}")
    return took


def measure(old, new, folder, workload, threads, pairs):
    both = [command(program, folder, workload, threads) for program in (old, new)]
    for arguments in both:
        seconds(arguments)
    times = ([], [])
    for pair in range(pairs):
        for which in (0, 1) if pair % 2 == 0 else (1, 0):
            times[which].append(seconds(both[which]))
    ratios = [b / a for a, b in zip(*times)]
    quartiles = statistics.quantiles(ratios, n=4) if pairs > 1 else ratios * 3
    return statistics.median(times[0]), statistics.median(times[1]), statistics.median(ratios), quartiles


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--out", help="the table goes here as well")
    options = parser.parse_args()
    lines = [f"{'workload':<22}{'threads':>8}{'old s':>9}{'new s':>9}{'new/old':>9}   quartiles"]
    print(lines[0], flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for workload in WORKLOADS:
            if options.only not in workload[0]:
                continue
            draw(folder, *workload[:5])
            for threads in map(int, options.threads.split(",")):
                old, new, ratio, quartiles = measure(
                    options.old, options.new, folder, workload, threads, options.pairs
                )
                lines.append(
                    f"{workload[0]:<22}{threads:>8}{old:>9.3f}{new:>9.3f}{ratio:>9.3f}"
                    f"   {quartiles[0]:.3f} .. {quartiles[2]:.3f}"
                )
                print(lines[-1], flush=True)
    if options.out:
        Path(options.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
