#!/usr/bin/env python3
"""Branch coverage of src/ by the tests that were run in a build with --coverage.

    torture/coverage.py BUILD [--lines FILE] [--json OUT]

Prints the branches taken of each room and of the files with most that are not, and the total. Branches of lines that only hand on a
failed allocation or a status of a call below (SN_TRY and its like) are counted with the others. --lines lists the lines of one file
with branches that were never taken. Fails below 90 of 100.
"""
import argparse
import collections
import concurrent.futures
import gzip
import json
import os
import subprocess
import sys
import tempfile

GOAL = 0.90


def notes_of(build):
    for folder, _, names in os.walk(build):
        for name in names:
            if name.endswith(".gcno") and "/src/" in os.path.join(folder, name) and "test_" not in name:
                yield os.path.join(folder, name)


def join(before, taken):
    """The branches of one line in two forms of it: a branch is taken where either takes it. Forms that a constant has left fewer
    branches in give way to those that have them all."""
    if len(before) == len(taken):
        return [a or b for a, b in zip(before, taken)]
    return max(before, taken, key=len)


def read(notes):
    """{file: {line: [taken or not, ..]}} of one object."""
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["gcov", "--branch-probabilities", "--json-format", os.path.abspath(notes)], cwd=work, check=True,
                       capture_output=True)
        found = {}
        for name in os.listdir(work):
            for file in json.load(gzip.open(os.path.join(work, name)))["files"]:
                lines = found.setdefault(file["file"], {})
                for line in file["lines"]: # one of a file that is included twice stands here twice
                    taken = [b["count"] > 0 for b in line["branches"]]
                    if taken:
                        lines[line["line_number"]] = join(lines.get(line["line_number"], []), taken)
        return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--lines")
    parser.add_argument("--json")
    options = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    merged = collections.defaultdict(dict)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(read, sorted(notes_of(options.build))):
            for file, lines in found.items():
                path = os.path.relpath(os.path.join(root, file), root)
                if not path.startswith("src/"):
                    continue
                for line, taken in lines.items():
                    merged[path][line] = join(merged[path].get(line, []), taken)
    if options.json:
        json.dump({f: {n: [sum(t), len(t)] for n, t in lines.items() if not all(t)} for f, lines in merged.items()},
                  open(options.json, "w"))
    if options.lines:
        text = open(os.path.join(root, options.lines)).read().split("\n")
        for line, taken in sorted(merged[options.lines].items()):
            if not all(taken):
                print("%5d %d/%d %s" % (line, sum(taken), len(taken), text[line - 1].strip()))
        return 0
    sums = {f: (sum(sum(t) for t in lines.values()), sum(len(t) for t in lines.values())) for f, lines in merged.items()}
    rooms = collections.Counter(), collections.Counter()
    for file, (taken, all_of_them) in sums.items():
        room = file.split("/")[1]
        rooms[0][room] += taken
        rooms[1][room] += all_of_them
    for file, (taken, all_of_them) in sorted(sums.items(), key=lambda item: item[1][0] - item[1][1])[:25]:
        print("%-36s %5d of %5d branches, %d not taken" % (file, taken, all_of_them, all_of_them - taken))
    for room in sorted(rooms[1]):
        print("%-10s %6d of %6d branches, %.1f %%" % (room, rooms[0][room], rooms[1][room], 100 * rooms[0][room] / rooms[1][room]))
    taken, all_of_them = sum(rooms[0].values()), sum(rooms[1].values())
    print("src %d of %d branches, %.2f %%" % (taken, all_of_them, 100 * taken / all_of_them))
    return 0 if taken >= GOAL * all_of_them else 1


if __name__ == "__main__":
    sys.exit(main())
