#!/usr/bin/env python3
"""How fits on several processes scale: a table of seconds by number of ranks.

    bench/scale.py --program build/bin/stonet [--rows 4000000] [--ranks 1,2,4,8,16]
    bench/scale.py --program build/bin/stonet --compare german.csv --target y
    bench/scale.py --program build/bin/stonet --copies 1,8,16

The first fits a generated regression, --rows x --columns float32 from a mapped .npy; the second runs `compare --methods all`; the
third runs so many fits of 160,000 rows at once, each for itself on a core of its own: what the machine has to give.
Needs mpirun (Open MPI), the program with libstonet-mpi.so beside it or in ../lib, and nothing of Python's but Python. One thread a
rank, one core a thread. Model files are compared: they must be the same for every number of ranks.

Below the table stand the seconds of each phase of rank 0, from what it tells of its progress (STONET_PROGRESS=0): "before" is the start
of the processes, reading, scaling and whatever comes before the first stage, "after" what follows the last. What does not shrink with the
ranks is what keeps the whole from doing so.
"""
from __future__ import annotations

import argparse
import array
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BLOCK = 10_000  # rows written at a time


def npy_header(shape: str, kind: str) -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def uniform_block(rows: int, columns: int) -> array.array:
    """float32 between 1 and 2: random fractions under one exponent, by whole-number arithmetic on the bytes."""
    count = rows * columns
    bits = int.from_bytes(os.urandom(4 * count), "little")
    bits &= int.from_bytes(b"\xff\xff\x7f\x00" * count, "little")
    bits |= int.from_bytes(b"\x00\x00\x80\x3f" * count, "little")
    block = array.array("f")
    block.frombytes(bits.to_bytes(4 * count, "little"))
    return block


def generate(folder: Path, rows: int, columns: int) -> tuple[Path, Path]:
    """y = (2 u1 - 3)(2 u2 - 3) + u3, of u between 1 and 2."""
    x_path, y_path = folder / "x.npy", folder / "y.npy"
    with open(x_path, "wb") as x, open(y_path, "wb") as y:
        x.write(npy_header(f"({rows}, {columns})", "<f4"))
        y.write(npy_header(f"({rows},)", "<f8"))
        for first in range(0, rows, BLOCK):
            block = uniform_block(min(BLOCK, rows - first), columns)
            block.tofile(x)
            one, two, three = block[0::columns], block[1::columns], block[2::columns]
            answers = array.array("d", ((2 * a - 3) * (2 * b - 3) + c for a, b, c in zip(one, two, three)))
            answers.tofile(y)
    return x_path, y_path


def run(program: str, ranks: int, arguments: list[str], mpirun: list[str]) -> tuple[float, dict[str, float]]:
    """Seconds of all of it, and of each phase."""
    command = ["mpirun", *mpirun, "-n", str(ranks), program, *arguments, "--threads", "1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "STONET_PROGRESS": "0"}
    phases: dict[str, float] = {}
    said: list[str] = []
    phase, start = "before", time.monotonic()
    last = start
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as child:
        for line in child.stdout:
            said.append(line)
            stage = re.match(r"([^:]*?) \d+(/\d+)?  ", line)
            if stage is None:
                continue
            now = time.monotonic()
            # What a line tells of has just been done, unless it is the first of its stage.
            phases[phase] = phases.get(phase, 0.0) + now - last
            phase, last = stage[1], now
    seconds = time.monotonic() - start
    phases["after"] = time.monotonic() - last
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{''.join(said[-20:])}")
    return seconds, phases


def print_phases(found: dict[int, dict[str, float]]) -> None:
    names = list(dict.fromkeys(name for phases in found.values() for name in phases))
    print("\n| phase, seconds |" + "".join(f" {ranks} |" for ranks in found))
    print("| --- |" + " --- |" * len(found))
    for name in names:
        print(f"| {name} |" + "".join(f" {phases.get(name, 0.0):.2f} |" for phases in found.values()), flush=True)


def run_copies(program: str, counts: list[int], arguments: list[str]) -> None:
    print("| copies | seconds of the slowest | mean seconds of processor | times one |\n| --- | --- | --- | --- |", flush=True)
    first = None
    for count in counts:
        before, start = os.times(), time.monotonic()
        children = [subprocess.Popen(["taskset", "-c", str(k), program, *arguments, str(k), "--threads", "1", "--quiet"],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for k in range(count)]
        if any(child.wait() != 0 for child in children):
            sys.exit("a copy failed")
        seconds, after = time.monotonic() - start, os.times()
        first = first or seconds / count
        mean = (after.children_user - before.children_user + after.children_system - before.children_system) / count
        print(f"| {count} | {seconds:.2f} | {mean:.2f} | {first * count / seconds:.1f} |", flush=True)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--ranks", default="1,2,4,8,16")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--epochs", type=float, default=5)
    parser.add_argument("--compare", help="a table to run `compare --methods all` on instead of the fit")
    parser.add_argument("--copies", help="fits at once instead, without mpirun")
    parser.add_argument("--target", default="y")
    parser.add_argument("--target-file")
    parser.add_argument("--folder", help="for the generated data; it stays there (default: a temporary one)")
    parser.add_argument("--mpirun", default="", help="further options of mpirun, e.g. '--oversubscribe'")
    asked = parser.parse_args()
    program = str(Path(asked.program).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(asked.folder or temporary)
        folder.mkdir(exist_ok=True)
        out = folder / "scale.out"
        if asked.copies:
            x, y = generate(folder, 160_000, asked.columns)
            arguments = ["fit", str(x), "--target-file", str(y), "--dim", "2", "--seed", "1"]
            for setting in ("task=regression", "batch=8192", "epochs=20", "weight_decay=0.001", "restarts=1", "hidden=16"):
                arguments += ["--set", setting]
            os.chdir(folder)
            run_copies(program, [int(count) for count in asked.copies.split(",")], [*arguments, "--out"])
            return
        if asked.compare:
            target = ["--target-file", asked.target_file] if asked.target_file else ["--target", asked.target]
            arguments = ["compare", asked.compare, *target, "--methods", "all", "--dim", "2", "--out", str(out)]
        else:
            x, y = folder / "x.npy", folder / "y.npy"
            if not (x.exists() and y.exists()):
                x, y = generate(folder, asked.rows, asked.columns)
            settings = ["task=regression", f"batch={asked.batch}", f"epochs={asked.epochs}", "weight_decay=0.001",
                        "restarts=1", "hidden=16"]
            arguments = ["fit", str(x), "--target-file", str(y), "--dim", "2", "--out", str(out)]
            arguments += [part for setting in settings for part in ("--set", setting)]
        print(f"stonet {' '.join(arguments)}", flush=True)
        print("| ranks | seconds | times faster |" + ("" if asked.compare else " model |"), flush=True)
        print("| --- | --- | --- |" + ("" if asked.compare else " --- |"), flush=True)
        first, found = None, {}
        for ranks in map(int, asked.ranks.split(",")):
            seconds, found[ranks] = run(program, ranks, arguments, asked.mpirun.split())
            first = first or seconds
            model = "" if asked.compare else f" {digest(out)} |"
            print(f"| {ranks} | {seconds:.1f} | {first / seconds:.1f} |{model}", flush=True)
        print_phases(found)


if __name__ == "__main__":
    main()
