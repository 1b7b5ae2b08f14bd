"""How fast a fitted model answers in C, Python, onnxruntime and from the command line, beside a scikit-learn MLP of its size.

    PYTHONPATH=python/src STONET_LIBRARY=build/lib/libstonet.so python3 bench/serving_python.py build/bin [ROWS]

One row at a time, the median and the 99th percentile of many calls, and ROWS rows (1000000) at once, the fastest of three
passes, on one thread. Processor time, which hardly depends on what else the machine does. The network has 20 columns, 50 tanh
units, 2 and an output, the MLP the same layers. C is bench/serving.c, where it is built: a network of default width, and one
row by the clock. onnxruntime runs the exported network, where it is installed.
"""
from __future__ import annotations

import os
import re
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


def line(name: str, one: list[float], rows: int, many: float) -> None:
    late = sorted(one)[len(one) * 99 // 100]
    print(f"| {name} | {1e6 * statistics.median(one):.0f} | {1e6 * late:.0f} | {rows / many / 1e6:.2f} |", flush=True)


def in_c(program: Path, rows: int) -> None:
    """The line of bench/serving.c for a network."""
    call = [str(program), str(rows), str(COLUMNS), "200", "1"]
    said = subprocess.run(call, check=True, capture_output=True, text=True).stdout.splitlines()[0]
    median, late, rate = re.findall(r"median ([\d.]+) us, 99th percentile ([\d.]+) us.* ([\d.]+) million a second of proc", said)[0]
    print(f"| C: `stonet_predict` | {median} | {late} | {rate} |", flush=True)


def in_onnxruntime(fitted: Any, folder: str, X: Any) -> None:
    try:
        import onnxruntime
    except ImportError:
        print("onnxruntime is not installed", file=sys.stderr)
        return
    fitted.export(f"{folder}/m.onnx", "onnx-matrix")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(f"{folder}/m.onnx", options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    one, many = (lambda: session.run(None, {name: X[:1]})), (lambda: session.run(None, {name: X}))
    line(f"onnxruntime {onnxruntime.__version__}: the exported network", spent(one, 1000), len(X), min(spent(many, 3)))


def main() -> None:
    programs, rows = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    random = np.random.default_rng(1)
    train = random.normal(size=(TRAINING, COLUMNS)).astype(np.float32)
    y = np.tanh(train[:, 0] + train[:, 1]) + 0.1 * random.normal(size=TRAINING)
    X = random.normal(size=(rows, COLUMNS)).astype(np.float32)
    fitted = stonet.StoNetRegressor(2, hidden=50, activation="tanh", front="none", epochs=5, weight_decay=0.01, random_state=1)
    fitted.fit(train, y)
    mlp = MLPRegressor(hidden_layer_sizes=(50, 2), activation="tanh", max_iter=5).fit(train, y)
    print("| | one row, median us | 99th percentile us | million rows a second |\n|---|---|---|---|")
    if (programs / "stonet-bench-serving").exists():
        in_c(programs / "stonet-bench-serving", rows)
    for name, model in (("Python: `StoNetRegressor.predict`", fitted), ("scikit-learn: `MLPRegressor.predict`", mlp)):
        line(name, spent(lambda: model.predict(X[:1]), 1000), rows, min(spent(lambda: model.predict(X), 3)))
    with tempfile.TemporaryDirectory() as folder:
        in_onnxruntime(fitted, folder, X)
        names = {part: f"{folder}/{part}.npy" for part in ("one", "many", "out")}
        np.save(names["one"], X[:1])
        np.save(names["many"], X)
        fitted.save(f"{folder}/m.model")
        call = [str(programs / "stonet"), "predict", f"{folder}/m.model", "--quiet", "--threads", "1", "--out", names["out"]]
        one = [children([*call, names["one"]]) for _ in range(100)]
        line("command: `stonet predict` of .npy files", one, rows, min(children([*call, names["many"]]) for _ in range(3)))


if __name__ == "__main__":
    main()
