#!/usr/bin/env python3
"""The comparison on a GPU, to be run where there is one: PyTorch as one would write it, PyTorch as fast as it gets
there (by hand, and replayed as a CUDA graph), our cuda engine, and the floor from rates measured in the same run.

    make bench GPU=1                              builds what is needed, measures, and prints the table
    bench/gpu.py --programs build-bench/bin [--out FILE.json] [--seconds S] [--quick]

A step is one mini-batch of Algorithm 1. The floor of a step is what its normals, its tanh and its products take at the
rates of this device, products at the best rate PyTorch (cuBLAS, fp32) has for their shapes.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
from torch_stonet import gpu_seconds_per_step

C, R = "classification", "regression"
WORKLOADS = [  # name, p, hidden, task, outputs, batch, sweeps, times PyTorch's graph that is wanted
    ("waveform-q10", 21, [10], C, 2, 64, 25, 10),
    ("mnist-q10", 784, [10], C, 10, 128, 25, 10),
    ("mnist-q98", 784, [98], C, 10, 128, 25, 10),
    ("mnist-q392", 784, [392], C, 10, 128, 25, 10),
    ("slices-384-200-12", 384, [200, 12], R, 1, 128, 25, 10),
    ("deep-256-512-512-64", 256, [512, 512, 64], C, 10, 128, 10, 4),
    ("mnist-q392", 784, [392], C, 10, 4096, 25, 4),
    ("deep-256-512-512-64", 256, [512, 512, 64], C, 10, 4096, 10, 2),
    ("wide-1000-1024-16", 1000, [1024, 16], C, 10, 8192, 5, 1.5),
]


def product_seconds(m, n, k):
    """One product m x k by k x n in fp32, replayed many times as a graph."""
    a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
    out = torch.empty(m, n, device="cuda")
    torch.mm(a, b, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(20):
            torch.mm(a, b, out=out)
    best = float("inf")
    for _ in range(5):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end) / 20e3)
    return best


def floor_seconds(work, rates, arithmetic):
    """Normals and tanh at their rates; products at the device's best rate for large ones, whatever their shape."""
    widths = [work["p"], *work["hidden"], work["outputs"]]
    m, sweeps = work["batch"], work["sweeps"]
    units = sum(work["hidden"])
    flops = 0.0
    for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        times = 2 if i == 0 else 2 * sweeps + 2
        flops += 2.0 * m * inputs * outputs * times
    return m * units * sweeps / rates["normals"] + m * units * (sweeps + 1) / rates["tanhs"] + flops / arithmetic


def run(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return None
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--quick", action="store_true", help="PyTorch's graph and ours alone")
    o = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    rates = run(o.programs / "stonet-gpu-rates")
    n = 8192
    arithmetic = 2.0 * n**3 / product_seconds(n, n, n)
    rows = []
    print("| workload (batch) | plain ms | vector ms | graph ms | **ours ms** | times graph | wanted | floor ms | ours / floor |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, p, hidden, task, outputs, batch, sweeps, asked in WORKLOADS:
        work = {"n": 20000, "p": p, "hidden": hidden, "task": task, "outputs": outputs, "batch": batch, "sweeps": sweeps}
        ours = run(o.programs / "stonet-bench-gpu", name, "--batch", batch, "--seconds", o.seconds)
        row = {"name": name, "batch": batch, "asked": asked, "ours": ours and ours["best_ms"], "median": ours and ours["median_ms"]}
        for kind in ["graph"] if o.quick else ["plain", "vector", "graph"]:
            row[kind] = 1e3 * gpu_seconds_per_step(kind, work, o.seconds)
        row["floor"] = 1e3 * floor_seconds(work, rates, arithmetic)
        rows.append(row)
        shown = lambda key: f"{row[key]:.3g}" if row.get(key) else "-"
        times = f"{row['graph'] / row['ours']:.1f}" if ours else "-"
        over = f"{row['ours'] / row['floor']:.1f}" if ours else "-"
        print(f"| {name} ({batch}) | {shown('plain')} | {shown('vector')} | {shown('graph')} | {shown('ours')} | {times} | "
              f"{asked:g} | {shown('floor')} | {over} |", flush=True)
    print(f"\n{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}: {rates['normals'] / 1e9:.0f} G normals/s, "
          f"{rates['tanhs'] / 1e9:.0f} G tanh/s, fp32 products {arithmetic / 1e12:.0f} TF/s")
    if o.out:
        o.out.write_text(json.dumps({"rates": rates, "arithmetic": arithmetic, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
