#!/usr/bin/env python3
"""What larger batches do to the error: the mean square on fresh rows by batch, of fits that are alike but for it.

    bench/batch.py --program build/bin/stonet [--rows 200000] [--seeds 3] [--jobs 2]
    bench/batch.py --program build/bin/stonet --auto --data waveform --epochs 60

Three ways to go on from a batch of 128 at the usual step: the same passes over the rows (so fewer updates); the same passes with a
step that grows as the root of the batch (Krizhevsky 2014), up to --most times; the same number of updates (so more passes). The
last is what ranks make cheap: an update of 64 times the rows on 64 ranks takes as long as one on one.

With --auto: batch=auto, which measures the gradient noise scale, beside batch=128 and the same passes.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--data", default="ratio", help="a generator")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--batches", default="128,512,2048,8192")
    parser.add_argument("--most", type=float, default=4.0, help="the largest factor of the step")
    parser.add_argument("--auto", action="store_true", help="batch=auto beside batch=128")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    how = parser.parse_args()
    program = os.path.abspath(how.program)
    batches = [int(batch) for batch in how.batches.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        def call(*words):
            done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(words)}: {done.stderr}")
            return done.stdout

        call("generate", how.data, "--rows", str(how.rows), "--seed", "1", "--out", "train.csv")
        call("generate", how.data, "--rows", "50000", "--seed", "2", "--out", "test.csv")

        def fit(out, seed, *more):
            settings = ("weight_decay=0.001", "hidden=16", "restarts=1", "activation=tanh", "levels=none", *more)
            call("fit", "train.csv", "--target", "y", "--dim", "2", "--seed", str(seed), "--threads", "1", "--quiet", "--out", out,
                 *(word for setting in settings for word in ("--set", setting)))
            return json.loads(call("score", out, "test.csv", "--target", "y", "--json", "--threads", "1"))

        def mse(batch, factor, epochs, seed):
            return fit(f"{batch}-{factor:.3g}-{epochs:.3g}-{seed}.model", seed, "task=regression", f"batch={batch}",
                       f"lr={0.05 * factor}", f"epochs={epochs}")["mse"]

        if how.auto:
            print("| seed | batch=128 | batch=auto | rows of a batch | lr |\n| --- | --- | --- | --- | --- |")
            for seed in range(1, how.seeds + 1):
                found = [fit(f"{batch}.model", seed, f"batch={batch}", f"epochs={how.epochs}") for batch in (128, "auto")]
                chosen = json.loads(call("info", "auto.model", "--json"))["fitted"]
                errors = " | ".join(f"{score['mse' if 'mse' in score else 'log_loss']:.4g}" for score in found)
                print(f"| {seed} | {errors} | {chosen['batch']} | {chosen['lr']:.3g} |", flush=True)
            return

        def ways(batch):
            times = batch / batches[0]
            return ((1.0, how.epochs), (min(math.sqrt(times), how.most), how.epochs), (1.0, how.epochs * times))

        with ThreadPoolExecutor(how.jobs) as pool:
            found = {(batch, k, seed): pool.submit(mse, batch, *way, seed) for batch in batches
                     for k, way in enumerate(ways(batch)) for seed in range(1, how.seeds + 1)}
            print(f"| batch | same passes | same passes, step x root (at most {how.most:g}) | same updates |")
            print("| --- | --- | --- | --- |")
            for batch in batches:
                means = [sum(found[batch, k, seed].result() for seed in range(1, how.seeds + 1)) / how.seeds for k in range(3)]
                print(f"| {batch} | " + " | ".join(f"{value:.4g}" for value in means) + " |", flush=True)


if __name__ == "__main__":
    main()
