"""Puts the numbers of one run into docs/performance.md, between its lines <!-- bench: NAME --> and <!-- end -->.

All other text stands in the page alone."""

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


def busy(machine):
    """Whether others used the machine: then a two-threaded run measures them."""
    return machine["load"] > 0.5 * machine["cores"] or machine["load_after"] > 1.5 * machine["cores"]


def over_floor(summary):
    """Nothing is much faster than the floor: what seems so has a floor measured with slow products."""
    fault = " (fault of the floor)" if summary["over_floor"] < 0.8 else ""
    return f"{summary['over_floor']:.2f}{fault}"


def targets(machine, results, growth, reading):
    numbers = lambda values: "not measurable: busy machine" if busy(machine) else ", ".join(values)
    by = {r["name"]: r["summary"] for r in results}
    rows = ["| what | wanted | measured |", "| --- | --- | --- |"]
    add = lambda wanted, got, text: rows.append(f"| {text} | {wanted} | {got} |")
    over = lambda names: ", ".join(over_floor(by[n]) for n in names if n in by)
    big = [n for n in by if n != "waveform-q10"]
    add("<= 1.5", over(["mnist-q98", "mnist-q392", "slices-384-200-12"]),
        "time over floor, one thread: MNIST q = 98, 392, the 384-200-12 regression")
    add("<= 2.5", over(["waveform-q10"]), "time over floor, one thread: waveform q = 10")
    add(">= 1.8", ("at least " if busy(machine) else "") + ", ".join(f"{by[n]['speed_up']:.2f}" for n in big),
        "two threads against one: " + ", ".join(big))
    if "against_plain" in next(iter(by.values())):
        add(">= 25", numbers(f"{s['against_plain']:.0f}" for s in by.values()),
            "against PyTorch with autograd, both on two threads, in the order of the table")
        add(">= 5", numbers(f"{s['against_vector']:.1f}" for s in by.values()),
            "against PyTorch written by hand, both on two threads, in the order of the table")
        for kind in ("plain", "vector"):
            at_floor = lambda s: 2 * s[f"torch_{kind}_s"] / s["floor_s"]
            add("", numbers(f"{at_floor(s):.1f}" for s in by.values()),
                f"against PyTorch *{kind}*, for a program at the floor and twice as fast on two threads")
            add("", ", ".join(f"{s[f'against_{kind}_one']:.1f}" for s in by.values()),
                f"against PyTorch *{kind}*, both on one thread, processor time")
    for r in results:
        if r["name"].startswith("deep"):
            first = r["rounds"][0]
            add("", f"{100 * first['floor_gemm'] / first['floor']:.0f} %", f"part of products in the floor of {r['name']}")
    if "waveform-q10" in by:
        add("< 10 s", f"{100 * by['waveform-q10']['one_thread_s']:.2g} s",
            "a hundred waveform fits of 30 epochs on one thread")
    at = {g["n"]: g for g in growth}
    if 10**6 in at:
        change = at[10**6]["row_ns"] / at[10**4]["row_ns"] - 1
        spare = (at[10**6]["peak_bytes"] - 2 * at[10**6]["data_bytes"]) / 1e6
        add("<= 15 %", f"{100 * change:.0f} %", "time a row, from 10,000 to 1,000,000 rows of 50 columns")
        add("<= 200 MB", f"{spare:.0f} MB", "peak memory beyond twice the data at 1,000,000 rows")
    add("< 100 MB", f"{reading['own_bytes'] / 1e6:.0f} MB",
        f"peak memory beside the mapped file, default fit of a .npy of {reading['n']:,} x 50 ({reading['data_bytes'] / 1e6:.0f} MB)")
    add(">= 1.7", numbers([f"{reading['files'][0]['summary']['speed_up']:.2f}"]), "reading CSV: two threads against one")
    return "\n".join(rows)


MACHINE = """Measured at commit {commit} on: {processor} (family/model {family}), {cores} cores,
{isa}, {blas}, gcc {gcc}, {system};
PyTorch {torch}; load average {load:.1f} before and {load_after:.1f} after the run, niceness {nice}."""

RATES = """- normals by Philox4x32-10 and Box-Muller with SLEEF: {normal_ns:.2f} ns each,
- tanh by SLEEF: {tanh_ns:.2f} ns each,
- each product at the time its very shape takes by OpenBLAS, the best of the eight ways to call it, or by the engine's
  own tiles if these are faster."""

BUSY = """

**The machine was busy during this run** (load {load:.1f} to {load_after:.1f} on {cores} cores): no step of a two-threaded run may have been left
alone, so our two-thread times are upper bounds (the speed-ups lower ones), and PyTorch's are not comparable at all.
The one-thread columns are processor times and hold."""


def write(folder, machine, results, growth, reading, tables, picture):
    """The page with these numbers, in this folder."""
    warning = BUSY.format(**machine) if busy(machine) else ""
    parts = {"machine": MACHINE.format(**machine, blas=results[0]["blas"]),
             "rates": RATES.format(**results[0]["summary"]),
             "results": tables["table"] + warning,
             "targets": targets(machine, results, growth, reading),
             "growth": tables["growth"],
             "reading": tables["reading"]}
    page = PAGE.read_text()
    for name, text in parts.items():
        page, found = re.subn(f"(<!-- bench: {name} -->\n).*?\n(<!-- end -->)", lambda m: f"{m[1]}\n{text}\n\n{m[2]}", page, flags=re.S)
        if found != 1:
            raise SystemExit(f"docs/performance.md has {found} places for '{name}'; it needs one: <!-- bench: {name} --> .. <!-- end -->")
    (folder / "performance.md").write_text(page)
    (folder / "performance.svg").write_text(picture)
