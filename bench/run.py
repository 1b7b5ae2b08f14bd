#!/usr/bin/python3
"""Measures the cpu engine against the machine and against PyTorch; prints a table, writes JSON and the page
performance.md with its picture.

Every workload is measured in rounds; a round measures the machine's rates, our time on one and on two threads
and both PyTorch versions one after the other, so that ratios compare the same minutes. One-thread times are
processor times, and their ratios medians over the rounds; two-thread times are those of each side's fastest
step, since a neighbour on one of two cores delays whoever waits for both.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import page

try:
    import torch_stonet
except ImportError:
    torch_stonet = None

WORKLOADS = ["waveform-q10", "mnist-q10", "mnist-q98", "mnist-q392", "slices-384-200-12", "deep-256-512-512-64"]
GROWTH = "rows-50-16-2"
MEGA = 1e6


def ask(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def watch(program, *arguments):
    """The same, and the most memory of its own (not of mapped files) that the program was seen with."""
    most = 0
    with subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE, text=True) as process:
        status = Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            lines = status.read_text().splitlines() if status.exists() else []
            most = max([most, *(1024 * int(l.split()[1]) for l in lines if l.startswith("RssAnon:"))])
            time.sleep(0.01)
        printed = process.stdout.read()
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return json.loads(printed) | {"own_bytes": most}


def measure(program, name, rounds, seconds, threads):
    """One workload: rounds of ours and PyTorch's, and the peak memory of a fit."""
    result = None
    for _ in range(rounds):
        one = ask(program, name, "--rounds", 1, "--seconds", seconds, "--threads", threads)
        if result is None:
            result = one
        else:
            result["rounds"] += one["rounds"]
        for kind in ("vector", "plain") if torch_stonet else ():
            clock, _ = torch_stonet.seconds_per_step(kind, one, threads, seconds)
            _, cpu = torch_stonet.seconds_per_step(kind, one, 1, seconds)
            one["rounds"][0] |= {f"torch_{kind}": clock, f"torch_{kind}_one_cpu": cpu}
    memory = ask(program, name, "--memory", "--threads", threads)
    result |= {"data_bytes": memory["data_bytes"], "peak_bytes": memory["peak_bytes"]}
    return summarise(result)


def summarise(result):
    rounds = result["rounds"]
    median = lambda key: statistics.median(r[key] for r in rounds)
    best = lambda key: min(r[key] for r in rounds)
    ratio = lambda a, b: statistics.median(r[a] / r[b] for r in rounds)
    steps = result["epochs"] * (result["n"] / result["batch"])
    summary = {
        "normal_ns": median("normal_ns"),
        "tanh_ns": median("tanh_ns"),
        "floor_s": median("floor") * steps,
        "one_thread_s": median("one_thread") * steps,
        "many_threads_s": best("many_best") * steps,
        "over_floor": ratio("one_thread", "floor"),
        "speed_up": best("one_best") / best("many_best"),
    }
    if torch_stonet:
        for kind in ("plain", "vector"):
            summary[f"torch_{kind}_s"] = best(f"torch_{kind}") * steps
            summary[f"against_{kind}"] = best(f"torch_{kind}") / best("many_best")
            summary[f"against_{kind}_one"] = ratio(f"torch_{kind}_one_cpu", "one_thread")
    return result | {"summary": summary}


def measure_growth(program, sizes, rounds, seconds):
    """Time a row and peak memory of one network as the data grows."""
    times = {n: [] for n in sizes}
    for _ in range(rounds):
        for n in sizes:
            one = ask(program, GROWTH, "--rounds", 1, "--seconds", seconds, "--threads", 1, "--n", n)
            times[n].append(one["rounds"][0]["one_thread"] / one["batch"])
    rows = []
    for n in sizes:
        memory = ask(program, GROWTH, "--memory", "--threads", 1, "--n", n)
        rows.append({"n": n, "row_ns": min(times[n]) * 1e9, "data_bytes": memory["data_bytes"],
                     "peak_bytes": memory["peak_bytes"]})
    return rows


def measure_reading(program, n, rounds, threads):
    """Rates of reading files of n rows, and the peak memory of a fit from a file."""
    with tempfile.TemporaryDirectory() as folder:
        result = ask(program, "reading", "--folder", folder, "--n", n, "--rounds", rounds, "--threads", threads)
        memory = watch(program, "reading", "--folder", folder, "--n", n, "--threads", threads, "--memory")
    for file in result["files"]:
        best = lambda key: min(r[key] for r in file["rounds"])
        file["summary"] = {
            "one_rate": file["bytes"] / statistics.median(r["one_cpu"] for r in file["rounds"]),
            "many_rate": file["bytes"] / best("many"),
            "speed_up": best("one") / best("many"),
            "work": statistics.median(r["many_cpu"] / r["one_cpu"] for r in file["rounds"]),
        }
    return result | {"data_bytes": memory["data_bytes"], "own_bytes": memory["own_bytes"]}


def machine():
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    field = lambda key: next((l.split(":", 1)[1].strip() for l in lines if l.startswith(key)), "unknown")
    flags = field("flags").split()
    isa = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "baseline"
    compiler = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    torch = torch_stonet.torch.__version__ if torch_stonet else None
    commit = subprocess.run(["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True).stdout.strip() or "unknown"
    return {"processor": field("model name"), "family": f"{field('cpu family')}/{field('model')}", "isa": isa,
            "cores": os.cpu_count(), "system": platform.platform(terse=True), "gcc": compiler, "torch": torch,
            "commit": commit, "nice": os.nice(0), "load": os.getloadavg()[0]}


def table(results):
    head = ["workload", "floor s", "ours, 1 thread s", "over floor", "2 threads s", "speed-up", "peak MB"]
    if torch_stonet:
        head += ["torch plain s", "times ours", "torch vector s", "times ours", "1 thread: plain, vector"]
    rows = [head]
    for r in results:
        s = r["summary"]
        row = [r["name"], f"{s['floor_s']:.3g}", f"{s['one_thread_s']:.3g}", page.over_floor(s),
               f"{s['many_threads_s']:.3g}", f"{s['speed_up']:.2f}", f"{r['peak_bytes'] / MEGA:.0f}"]
        if torch_stonet:
            row += [f"{s['torch_plain_s']:.3g}", f"{s['against_plain']:.1f}", f"{s['torch_vector_s']:.3g}",
                    f"{s['against_vector']:.1f}", f"{s['against_plain_one']:.1f}, {s['against_vector_one']:.1f}"]
        rows.append(row)
    return markdown(rows)


def growth_table(growth):
    rows = [["rows", "ns a row", "data MB", "peak MB", "peak - 2 data"]]
    for g in growth:
        rows.append([f"{g['n']:,}", f"{g['row_ns']:.0f}", f"{g['data_bytes'] / MEGA:.1f}", f"{g['peak_bytes'] / MEGA:.1f}",
                     f"{(g['peak_bytes'] - 2 * g['data_bytes']) / MEGA:.1f}"])
    return markdown(rows)


def reading_table(reading):
    threads = reading["threads"]
    rows = [["file", "MB", "MB/s, 1 thread", f"MB/s, {threads} threads", "speed-up", "work of both"]]
    for f in reading["files"]:
        s = f["summary"]
        row = [f"{f['name']}, {reading['n']:,} x {f['columns']}", f"{f['bytes'] / MEGA:.0f}", f"{s['one_rate'] / MEGA:.0f}"]
        shared = [f"{s['many_rate'] / MEGA:.0f}", f"{s['speed_up']:.2f}", f"{s['work']:.2f}"]
        rows.append(row + (shared if f["name"] == "CSV" else ["", "", ""]))  # arrays are read by one thread
    return markdown(rows)


def markdown(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    line = lambda row: "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |"
    return "\n".join([line(rows[0]), "|" + "|".join("-" * (w + 2) for w in widths) + "|", *map(line, rows[1:])])


def svg(growth):
    """Seconds an epoch and peak memory against the number of rows, both axes logarithmic."""
    from math import log10

    left, right, top, bottom, width, height = 70, 44, 46, 52, 640, 400
    lows, highs = (3, -4), (6, 0.5)
    x = lambda n: left + (log10(n) - lows[0]) / (highs[0] - lows[0]) * (width - left - right)
    y = lambda v: height - bottom - (log10(v) - lows[1]) / (highs[1] - lows[1]) * (height - top - bottom)
    seconds = [(g["n"], g["n"] * g["row_ns"] * 1e-9) for g in growth]
    memory = [(g["n"], g["peak_bytes"] / 1e9) for g in growth]
    data = [(g["n"], g["data_bytes"] / 1e9) for g in growth]
    path = lambda points: "M" + " L".join(f"{x(n):.1f} {y(v):.1f}" for n, v in points)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           f'<text x="{left}" y="24" font-size="15">One epoch and peak memory against the number of rows</text>']
    for power in range(lows[1], 1):
        out.append(f'<path d="M{left} {y(10**power):.1f} H{width - right}" stroke="#e3e3e3"/>'
                   f'<text x="{left - 8}" y="{y(10**power) + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for power in range(lows[0], highs[0] + 1):
        out.append(f'<path d="M{x(10**power):.1f} {top} V{height - bottom}" stroke="#e3e3e3"/>'
                   f'<text x="{x(10**power):.1f}" y="{height - bottom + 20}" text-anchor="middle">{10**power:,}</text>')
    series = [(seconds, "#1b6ca8", "seconds an epoch (50-16-2-1, 5 sweeps, one thread)", ""),
              (memory, "#c2571a", "peak memory, GB", ""), (data, "#8a8a8a", "the data alone, GB", "5 4")]
    for i, (points, colour, label, dash) in enumerate(series):
        out.append(f'<path d="{path(points)}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>')
        out += [f'<circle cx="{x(n):.1f}" cy="{y(v):.1f}" r="3.5" fill="{colour}"/>' for n, v in points]
        out.append(f'<path d="M{left + 14} {top + 14 + 20 * i} h24" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
                   f'<text x="{left + 46}" y="{top + 18 + 20 * i}">{label}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 12}" text-anchor="middle">rows</text></svg>')
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bin/stonet-bench")
    parser.add_argument("--out", default="build/bench", help="folder for results.json, and for the page without --docs")
    parser.add_argument("--docs", help="folder of the page (docs)")
    parser.add_argument("--quick", action="store_true", help="one short round of everything")
    parser.add_argument("--only", nargs="*", default=WORKLOADS)
    options = parser.parse_args()
    rounds, seconds = (1, 0.1) if options.quick else (3, 0.4)
    sizes = [10**3, 10**4, 10**5] if options.quick else [10**3, 10**4, 10**5, 10**6]

    here = machine()
    print(f"{here['processor']} ({here['isa']}, {here['cores']} cores), gcc {here['gcc']}, torch {here['torch']}, load {here['load']:.1f}")
    results = []
    for name in options.only:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        results.append(measure(options.program, name, rounds, seconds, 2))
    growth = measure_growth(options.program, sizes, rounds, 0.3)
    reading = measure_reading(options.program, sizes[-1], 1 if options.quick else 5, 2)
    here["load_after"] = os.getloadavg()[0]
    print(table(results), growth_table(growth), reading_table(reading), sep="\n\n")

    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps({"machine": here, "workloads": results, "growth": growth, "reading": reading}, indent=1) + "\n")
    tables = {"table": table(results), "growth": growth_table(growth), "reading": reading_table(reading)}
    page.write(Path(options.docs or out), here, results, growth, reading, tables, svg(growth))


if __name__ == "__main__":
    main()
