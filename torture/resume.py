#!/usr/bin/env python3
"""Kills a fit at random moments, any rank of it under mpirun, and lets it go on from its checkpoint, again and again.

    torture/resume.py build/bin/stonet --kills 200 [--ranks 3]

Whenever the fit comes to its end, the model must have the bytes of one that was left alone, and the checkpoint must be gone; a
session must end as a killed one or a whole one does, and never with a sentence about a damaged file. Every ten kills, and in the end, a
line says how it went.

mpirun itself may wait for ever when a rank is killed while it holds a lock of PMIx (version 4, store "ds21"); without that store
(PMIX_MCA_gds=hash, which is set here) it does not. One that has not ended a minute after the kill counts as wrong, and
is shown where it stands, by gdb.
"""
from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIT = ("fit t.csv --target y --dim 1 --set hidden=4 --set batch=300 --set restarts=2 --set front=none --set "
       "weight_decay=0.01 --quiet")


def processes_of(parent: int) -> list[int]:
    """The ranks that mpirun has started; without it, the program itself."""
    listed = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(pid) for pid in listed] or [parent]


def stacks(parent: int) -> str:
    """Where mpirun and its ranks stand, by gdb if that is there."""
    shown = []
    for pid in dict.fromkeys((parent, *processes_of(parent))):
        try:
            words = ["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt"]
            shown.append(subprocess.run(words, capture_output=True, text=True, timeout=60).stdout)
        except (OSError, subprocess.TimeoutExpired) as failure:
            shown.append(f"process {pid}: {failure}")
    return "\n".join(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--ranks", type=int, default=0, help="0: without mpirun; else a random number up to this, each time")
    parser.add_argument("--every", default="0.02")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    program = str(Path(asked.program).resolve())
    os.environ.update(OMP_WAIT_POLICY="passive", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                      PMIX_MCA_gds="hash")
    draw = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([program, "generate", "waveform", "--rows", "700", "--out", "t.csv"], check=True)
        start = time.monotonic()
        subprocess.run([program, *FIT.split(), "--threads", "2", "--out", "whole.model"], check=True)
        whole = time.monotonic() - start
        kills = finished = wrong = 0
        while kills < asked.kills:
            ranks = draw.randint(2, asked.ranks) if asked.ranks > 1 else 0
            before = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks else []
            command = [*before, program, *FIT.split(), "--threads", str(draw.randint(1, 2)), "--checkpoint", "kept",
                       "--every", asked.every, "--out", "pieces.model"]
            session = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            try:
                session.wait(timeout=draw.uniform(0, 1.0 * whole + 0.3))
            except subprocess.TimeoutExpired:
                try:
                    os.kill(draw.choice(processes_of(session.pid)), signal.SIGKILL)
                except (ProcessLookupError, FileNotFoundError):
                    pass
            try:
                said = session.communicate(timeout=60)[1]
            except subprocess.TimeoutExpired:
                wrong += 1
                left = len(Path(f"/proc/{session.pid}/task/{session.pid}/children").read_text().split())
                print(f"a session did not end after its rank was killed: mpirun, and {left} ranks\n{stacks(session.pid)}",
                      file=sys.stderr)
                session.kill()
                said = session.communicate()[1]
            if session.returncode == 0:
                finished += 1
                same = Path("whole.model").read_bytes() == Path("pieces.model").read_bytes()
                if not same or Path("kept").exists():
                    wrong += 1
                    print("the model differs, or the checkpoint was left", file=sys.stderr)
                Path("pieces.model").unlink()
                continue
            kills += 1
            written = Path("pieces.model")  # killed after that, on the way out
            if "checkpoint" in said or (written.exists() and written.read_bytes() != Path("whole.model").read_bytes()):
                wrong += 1
                print(f"a killed session said: {said}", file=sys.stderr)
            written.unlink(missing_ok=True)
            if kills % 10 == 0:
                print(f"{kills} kills, {finished} fits came to their end, {wrong} things went wrong so far", flush=True)
    print(f"{kills} kills, {finished} fits came to their end, {wrong} things went wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
