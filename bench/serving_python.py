"""How fast a fitted model answers in Python and from the command line, and a scikit-learn MLP of the same size beside it.

    PYTHONPATH=python/src STONET_LIBRARY=build/lib/libstonet.so python3 bench/serving_python.py build/bin [ROWS]

One row at a time, the median of many calls, and ROWS rows (1000000) at once, the fastest of three passes, on one thread.
Processor time, which does not depend on what else the machine does. The network has 20 columns, 50 tanh units, 2 and an
output, the MLP the same layers. C alone is measured by bench/serving.c.
"""
from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np
from sklearn.neural_network import MLPRegressor

import stonet

COLUMNS, TRAINING = 20, 2000


def spent(call: Callable[[], Any], times: int) -> list[float]:
    out = []
    for _ in range(times):
        start = time.process_time()
        call()
        out.append(time.process_time() - start)
    return out


def children(call: list[str]) -> float:
    """Processor seconds of a program, its start and end with it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def line(name: str, one: float, rows: int, many: float) -> None:
    print(f"| {name} | {1e6 * one:.0f} | {rows / many / 1e6:.2f} |", flush=True)


def main() -> None:
    programs, rows = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    random = np.random.default_rng(1)
    train = random.normal(size=(TRAINING, COLUMNS)).astype(np.float32)
    y = np.tanh(train[:, 0] + train[:, 1]) + 0.1 * random.normal(size=TRAINING)
    X = random.normal(size=(rows, COLUMNS)).astype(np.float32)
    fitted = stonet.StoNetRegressor(2, hidden=50, activation="tanh", front="none", epochs=5, weight_decay=0.01, random_state=1)
    fitted.fit(train, y)
    mlp = MLPRegressor((50, 2), activation="tanh", max_iter=5).fit(train, y)
    print("| | one row, us | million rows a second |\n|---|---|---|")
    for name, model in (("Python: `StoNetRegressor.predict`", fitted), ("scikit-learn: `MLPRegressor.predict`", mlp)):
        line(name, statistics.median(spent(lambda: model.predict(X[:1]), 300)), rows, min(spent(lambda: model.predict(X), 3)))
    with tempfile.TemporaryDirectory() as folder:
        names = {part: f"{folder}/{part}.npy" for part in ("one", "many", "out")}
        np.save(names["one"], X[:1])
        np.save(names["many"], X)
        fitted.save(f"{folder}/m.model")
        call = [str(programs / "stonet"), "predict", f"{folder}/m.model", "--quiet", "--threads", "1", "--out", names["out"]]
        one = statistics.median(children([*call, names["one"]]) for _ in range(20))
        line("command: `stonet predict` of .npy files", one, rows, min(children([*call, names["many"]]) for _ in range(3)))


if __name__ == "__main__":
    main()
