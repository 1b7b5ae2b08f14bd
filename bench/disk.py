#!/usr/bin/env python3
"""A fit from disk beside the same fit from memory: rows a second, memory, and whether the models are the same.

    bench/disk.py --program build/bin/stonet --rows 2e7 --folder /var/tmp/disk

Makes a table of --rows x --columns float32 numbers and a response, cuts it into shards (stonet shard), and
trains a StoNet on the shards, which are mapped, and, with --memory, on the same numbers as a float64 .npy,
which is read into memory as a whole. With --array the table is a float32 .npy and the response a float64 one, mapped too. The rate of an epoch is that of the processor time (user and system)
that two more epochs add (--epochs), so that a busy machine does not matter; the seconds that passed
are told too. Resident memory is the most at any moment as Linux counts it (VmHWM: mapped pages of the files
too); the parts are the largest of samples of RssAnon and RssFile.
--default leaves all settings but the epochs to be chosen.
"""
import argparse
import os
import re
import subprocess
import time

import numpy as np

STEP = 200_000


def make(path, rows, columns, dtype):
    """The same numbers in either type: they are drawn as float32."""
    draw = np.random.default_rng(1)
    table = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(rows, columns + 1))
    for first in range(0, rows, STEP):
        last = min(rows, first + STEP)
        x = draw.standard_normal((last - first, columns), dtype=np.float32)
        noise = draw.standard_normal(last - first, dtype=np.float32)
        table[first:last, :columns] = x
        table[first:last, columns] = np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + np.float32(0.1) * noise
    table.flush()


def make_arrays(rows, columns):
    """x.npy and y.npy, of uniform numbers, which are quick to draw."""
    draw = np.random.default_rng(1)
    with open("x.npy", "wb") as x_file, open("y.npy", "wb") as y_file:
        for file, kind, shape in ((x_file, "<f4", (rows, columns)), (y_file, "<f8", (rows,))):
            np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
        for first in range(0, rows, STEP):
            count = min(rows - first, STEP)
            x = np.float32(3.4) * (draw.random((count, columns), dtype=np.float32) - np.float32(0.5))
            noise = draw.random(count, dtype=np.float32) - np.float32(0.5)
            x.tofile(x_file)
            (np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + np.float32(0.3) * noise).astype("<f8").tofile(y_file)


def run(command):
    """Seconds that passed, processor seconds, and the most megabytes resident: anonymous, of files, in all."""
    begin = time.monotonic()
    child = subprocess.Popen(command)
    most = [0, 0, 0]
    while True:
        with open(f"/proc/{child.pid}/status", encoding="ascii") as status:
            found = dict(re.findall(r"(RssAnon|RssFile|VmHWM):\s+(\d+)", status.read()))
        if found:
            most = [max(a, int(found[b])) for a, b in zip(most, ("RssAnon", "RssFile", "VmHWM"))]
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        if pid != 0:
            break
        time.sleep(0.02)
    if status != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.monotonic() - begin, used.ru_utime + used.ru_stime, [k // 1024 for k in most]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--rows", type=float, default=2e7)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--epochs", type=float, nargs=2, default=(1, 3), help="of the two fits that are compared")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--array", action="store_true", help="from .npy files, without shards")
    parser.add_argument("--default", action="store_true", help="leave the settings to be chosen")
    parser.add_argument("--memory", action="store_true", help="fit from memory too, and compare the models")
    how = parser.parse_args()
    rows, program = int(how.rows), os.path.abspath(how.program)
    os.makedirs(how.folder, exist_ok=True)
    os.chdir(how.folder)
    target = ["--target-file", "y.npy"] if how.array else ["--target", str(how.columns + 1)]
    fit = [*target, "--dim", "2", "--threads", str(how.threads), "--quiet"]
    settings = ("hidden=16", f"batch={how.batch}", "lr=0.01", "weight_decay=0.0001", "restarts=1",
                "sdr_iterations=0", "front=none", "levels=none", "activation=tanh")
    for setting in () if how.default else settings:
        fit += ["--set", setting]
    if how.array and not os.path.exists("x.npy"):
        make_arrays(rows, how.columns)
    if not how.array and not os.path.exists("table.shards"):
        make("table.npy", rows, how.columns, "<f4")
        seconds, used, most = run([program, "shard", "table.npy", "--target", str(how.columns + 1), "--out",
                                   "table.shards", "--quiet"])
        os.remove("table.npy")
        print(f"shard: {seconds:.1f} s, {used:.1f} s of processor, {most[2]} MB resident", flush=True)
    tables = {"disk": "x.npy" if how.array else "table.shards"}
    if how.memory and not how.array:
        make("table8.npy", rows, how.columns, "<f8")
        tables["memory"] = "table8.npy"
    for name, table in tables.items():
        short, long = (run([program, "fit", table, *fit, "--set", f"epochs={epochs}", "--out", f"{name}.model"])
                       for epochs in how.epochs)
        more = how.epochs[1] - how.epochs[0]
        epoch = (long[1] - short[1]) / more
        print(f"{name}: an epoch takes {epoch:.2f} s of processor ({rows / epoch:.3g} rows/s), "
              f"{(long[0] - short[0]) / more:.1f} s passed; all of it {long[1]:.1f} s; resident: {long[2][0]} MB anonymous, "
              f"{long[2][1]} MB of files, {long[2][2]} MB in all", flush=True)
    if "memory" in tables:
        same = open("disk.model", "rb").read() == open("memory.model", "rb").read()
        print("the models are the same" if same else "the models DIFFER")
        os.remove("table8.npy")


if __name__ == "__main__":
    main()
