"""What several of the measuring scripts share: how they are called, and how they print.

    parser.add_argument("--seeds", type=shared.numbers)      # 1-3,7
    shared.row(["heart", "0.161"])                           # | heart | 0.161 |
"""
import gzip
import resource
import statistics
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def numbers(text):
    """Of "1-3,7": 1, 2, 3, 7."""
    values = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        values += range(int(first), int(last or first) + 1)
    return values


def words(text):
    return text.split(",")


def row(cells):
    """A line of a Markdown table."""
    print("| " + " | ".join(cells) + " |", flush=True)


def children_seconds():
    """Processor seconds of all programs that were called and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_idx(path):
    """Images or labels as MNIST has them."""
    import numpy as np  # here, since not every script needs it

    raw = gzip.open(path).read()
    rank = raw[3]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(struct.unpack(">" + "I" * rank, raw[4 : 4 + 4 * rank]))


def add_data_sets(parser):
    """Options of a study that draws `--sets` data sets of each design."""
    parser.add_argument("--program", default="build/bin/stonet", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--first", type=int, default=1, help="seed of the first data set")
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="data sets side by side, a thread each")


def print_designs(given, designs, measure, digits):
    """A line a design: the means over its data sets of what measure(given, design, seed) gives, with standard errors."""
    jobs = [(name, seed) for name in designs for seed in range(given.first, given.first + given.sets)]
    with ThreadPoolExecutor(given.jobs) as pool:
        found = list(pool.map(lambda job: measure(given, *job), jobs))
    for k, name in enumerate(designs):
        columns = zip(*found[k * given.sets:(k + 1) * given.sets])
        row([name] + [f"{statistics.fmean(c):.{digits}f} ({statistics.stdev(c) / given.sets**0.5:.{digits}f})" for c in columns])
