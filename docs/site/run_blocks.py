"""Runs the code blocks of Markdown pages: run_blocks.py PAGE..

Blocks of ``sh`` and ``python`` run in the order of the page, in one scratch folder and one interpreter; what a page takes as
given stands before them in a comment, <!-- run: PYTHON --> or <!-- run: sh .. -->. ``c`` blocks are parts of examples/, which are compiled elsewhere;
``console`` is for people and ``text`` for listings, and neither is run.
"""
from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

BLOCK = re.compile(
    r"^<!-- run:(?: (?P<given_kind>sh))?\n(?P<given>.*?)^-->$|^```(?P<kind>sh|python)\n(?P<code>.*?)^```$", re.M | re.S
)


def run_page(page: Path) -> bool:
    names: dict[str, Any] = {"__name__": str(page)}
    text = page.read_text()
    blocks = list(BLOCK.finditer(text))
    with tempfile.TemporaryDirectory() as folder:
        home = os.getcwd()
        os.chdir(folder)
        try:
            for block in blocks:
                line = text.count("\n", 0, block.start()) + 1
                code = block["given"] or block["code"]
                if "sh" in (block["kind"], block["given_kind"]):
                    done = subprocess.run(["bash", "-euo", "pipefail", "-c", code], capture_output=True, text=True)
                    if done.returncode != 0:
                        print(f"{page}:{line}: {done.stderr[-2000:]}", file=sys.stderr)
                        return False
                else:
                    exec(compile("\n" * line + code, str(page), "exec"), names)
        except Exception:
            traceback.print_exc()
            return False
        finally:
            os.chdir(home)
    print(f"{page}: {sum(block['code'] is not None for block in blocks)} blocks run")
    return True


if __name__ == "__main__":
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    sys.exit(0 if all([run_page(page) for page in pages]) else 1)
