"""Writes docs/performance.md from the numbers of one run."""


def verdict(wanted, got, text):
    return f"| {text} | {wanted} | {got} |"


def busy(machine):
    """Whether others used the machine: then a two-threaded run measures them."""
    return machine["load"] > 0.5 * machine["cores"] or machine["load_after"] > 1.5 * machine["cores"]


def targets(machine, results, growth, reading):
    numbers = lambda values: "not measurable: busy machine" if busy(machine) else ", ".join(values)
    by = {r["name"]: r["summary"] for r in results}
    rows = ["| what | wanted | measured |", "| --- | --- | --- |"]
    over = lambda names: ", ".join(f"{by[n]['over_floor']:.2f}" for n in names if n in by)
    big = [n for n in by if n != "waveform-q10"]
    rows.append(verdict("<= 1.5", over(["mnist-q98", "mnist-q392", "slices-384-200-12"]),
                        "time over floor, one thread: MNIST q = 98, 392, the 384-200-12 regression"))
    rows.append(verdict("<= 2.5", over(["waveform-q10"]), "time over floor, one thread: waveform q = 10"))
    rows.append(verdict(">= 1.8", ("at least " if busy(machine) else "") + ", ".join(f"{by[n]['speed_up']:.2f}" for n in big),
                        "two threads against one: " + ", ".join(big)))
    if "against_plain" in next(iter(by.values())):
        rows.append(verdict(">= 25", numbers(f"{s['against_plain']:.0f}" for s in by.values()),
                            "against PyTorch with autograd, both on two threads, in the order of the table"))
        rows.append(verdict(">= 5", numbers(f"{s['against_vector']:.1f}" for s in by.values()),
                            "against PyTorch written by hand, both on two threads, in the order of the table"))
        for kind in ("plain", "vector"):
            at_floor = lambda s: 2 * s[f"torch_{kind}_s"] / s["floor_s"]
            rows.append(verdict("", numbers(f"{at_floor(s):.1f}" for s in by.values()),
                                f"against PyTorch *{kind}*, for a program at the floor and twice as fast on two threads"))
            rows.append(verdict("", ", ".join(f"{s[f'against_{kind}_one']:.1f}" for s in by.values()),
                                f"against PyTorch *{kind}*, both on one thread, processor time"))
    if "waveform-q10" in by:
        rows.append(verdict("< 10 s", f"{100 * by['waveform-q10']['one_thread_s']:.2g} s",
                            "a hundred waveform fits of 30 epochs on one thread"))
    at = {g["n"]: g for g in growth}
    if 10**6 in at:
        change = at[10**6]["row_ns"] / at[10**4]["row_ns"] - 1
        spare = (at[10**6]["peak_bytes"] - 2 * at[10**6]["data_bytes"]) / 1e6
        rows.append(verdict("<= 15 %", f"{100 * change:.0f} %", "time a row, from 10,000 to 1,000,000 rows of 50 columns"))
        rows.append(verdict("<= 200 MB", f"{spare:.0f} MB", "peak memory beyond twice the data at 1,000,000 rows"))
    rows.append(verdict("< 100 MB", f"{reading['own_bytes'] / 1e6:.0f} MB",
                        f"peak memory beside the mapped file, default fit of a .npy of {reading['n']:,} x 50"))
    rows.append(verdict(">= 1.7", numbers([f"{reading['files'][0]['summary']['speed_up']:.2f}"]),
                        "reading CSV: two threads against one"))
    return "\n".join(rows)


READING = """## Reading

Files that the system has in its cache, read into a table; a MB is 10^6 bytes of the file. One thread by processor
time, several by the clock; the last column is the processor time of all threads over that of one.

{reading}

- CSV: numbers with the shortest digits of single precision. On one thread about 60 % of the time goes into turning
  digits into numbers and 10 % into copying from the system's cache, so it pays to share it out. Threads take parts of
  256 kB, each into a buffer of its own. Packed text is read by one thread.
- `.npy` of float32 in row order is mapped: the time is that of looking whether all numbers are finite. Other types are
  converted through a small buffer.
- A default fit of a `.npy` of {n:,} x 50 and the reduction of the same rows took {own:.0f} MB at the peak beside the mapped
  file, for {data:.0f} MB of data. Rows are scaled where a batch is fetched, and no copy of them is made. (A scaled copy of at most
  64 MB is kept, since it saves time.)
"""


def reading_section(reading, table, machine):
    if busy(machine):
        table += "\n\nThe machine was busy: the clock times say little, the processor times hold."
    return READING.format(reading=table, n=reading["n"], own=reading["own_bytes"] / 1e6, data=reading["data_bytes"] / 1e6)


TEXT = """# How fast it is

`make bench` measures all of this and writes this page. Measured at commit {commit} on: {processor} (family/model {family}), {cores} cores,
{isa}, gcc {gcc}, {system}; PyTorch {torch}; load average {load:.1f} before and {load_after:.1f} after the run, niceness {nice}.

`python3 bench/pairs.py OLD/bin/stonet NEW/bin/stonet` compares whole fits by two built programs, run in turn.

## The floor

One mini-batch of Algorithm 1 needs a known number of normals, tanhs and multiply-adds. The floor of a run is
what they cost at the best rates libraries reach on this machine, measured in the same run on one core:

- normals by Philox4x32-10 and Box-Muller with SLEEF: {normal:.2f} ns each,
- tanh by SLEEF: {tanh:.2f} ns each,
- each product at the time its very shape takes by {blas}, the best of the eight ways to call it, or by the engine's
  own tiles if these are faster.

Nothing else is counted: not memory traffic, not the residuals, the softmax, the momentum or the update. The engine
can come out below 1 for two reasons. Its normals share the rounds of Philox that rows and sweeps have in common, and it
never writes normals or gradients to memory. A result below 0.8 is marked as a fault of the floor.

## Results

Seconds of a whole fit (epochs as in `bench/workload.c`), scaled from the steps measured. One-thread times are
processor times; two-thread times are clock times of the fastest step, on both sides.

{table}
{warning}
*plain*: PyTorch with autograd on the log density, as one would first write it. *vector*: gradients by hand, no
autograd, buffers reused, noise drawn in one call a layer (`bench/torch_stonet.py`). The last column compares
processor times with both sides on one thread: that one is free of what neighbours do to two-threaded runs.

## What was aimed at

{targets}

Where the wanted ratios to PyTorch are missed, a program at the floor would miss them too. On networks of several wide
layers nearly all of the time is the products themselves, which PyTorch hands to the same BLAS. There no program can be
five times faster on the same cores. What remains is the cost of autograd, the noise and the element-wise passes. {deep_share:.0f} % of the floor of the deep network is products.

## Growth

The network 50-16-2-1 with batches of 128 random rows and 5 sweeps, one thread: cost is linear in the rows, and
memory is the data and a fixed amount.

{growth}

![time and memory against rows](performance.svg)

{reading}
## Why it is fast

- Rows lie in the vector lanes, so a layer of 10 units fills them as well as one of 400.
- All sweeps of a block of rows run in the first two caches; noise, momentum, position and activation are one pass.
- The parameters are stored in the one form all products read, and the update writes it: nothing is packed.
- The gradient of a tile of parameters is summed over the batch in registers and applied at once.
- Own small-matrix tiles instead of a BLAS: on these shapes a BLAS packs both operands anew for every product.
- AVX-512, AVX2 or portable code, chosen when the engine is made.
- A step is one parallel region with one barrier inside. When threads turn out slower than one (a busy machine)
  the engine stays on one for a while; results do not depend on it.

## Serving

`stonet-bench-serving` (built by `-DSTONET_BENCH=ON`) fits a network and one with `front=kernel` to 20 columns, 200 landmarks,
and asks for predictions through `stonet.h`, wrapping of the rows included. `LD_LIBRARY_PATH` chooses the release. Processor
time of one thread, AMD EPYC (25/17), OpenBLAS 0.3.21 with kernels for Cooperlake, three
runs of each in turn on a busy machine:

    for lib in OLD/lib build/lib; do LD_LIBRARY_PATH=$lib build/bin/stonet-bench-serving 50000 20 200 1; done

| front | release | one row, median us | 99th percentile us | million rows a second of processor time |
|---|---|---|---|---|
| none | 4c42cea | 10.6 to 11.7 | 27 to 44 | 5.1 to 6.0 |
| none | c6013aa | 10.6 to 10.7 | 26 to 43 | 4.9 to 6.1 |
| kernel | 4c42cea | 17.5 to 18.6 | 38 to 53 | 0.35 to 0.37 |
| kernel | c6013aa | 11.9 to 12.6 | 28 to 30 | 1.21 to 1.24 |

The same from Python, the command line and onnxruntime, with 20 columns and 50 tanh units, beside scikit-learn's MLP of the same
layers. Processor time of one thread (one row in C: the clock), one million rows, scikit-learn 1.9, the same processor under load:

    PYTHONPATH=python/src STONET_LIBRARY=build/lib/libstonet.so python3 bench/serving_python.py build/bin

| | one row, median us | 99th percentile us | million rows a second |
|---|---|---|---|
| C: `stonet_predict` | 8.4 | 25.1 | 8.62 |
| Python: `StoNetRegressor.predict` | 100 | 732 | 10.59 |
| scikit-learn: `MLPRegressor.predict` | 53 | 507 | 9.08 |
| onnxruntime 1.23: the exported network | 10 | 74 | 1.84 |
| command: `stonet predict` of .npy files | 6737 | 9345 | 9.04 |

A call of the command starts and ends a process, which is most of the time for one row.

- A kernel front is folded into layer 1 when the model is ready: a row needs its kernels and one product with ten columns.
- One row starts no threads, also with `n_jobs=4` (the test `model_use_threads`), and has the same bits as among others.
- `stonet importance` of 20,000 waveform rows by a model with `front=kernel` takes 1.5 s of processor time in place of 4.9
  (`--kind gradient`) and 3.9 in place of 13.0 (permutation), one thread; it prints the same numbers.
- Idle threads of OpenMP spin after a large call and disturb other processes. A server with more than one thread should be
  started with `OMP_WAIT_POLICY=passive`: GNU's OpenMP reads it when the process starts, so the library cannot set it.

## On a GPU

`engine=cuda` against PyTorch on the same device, and against our CPU engine: [gpu.md](gpu.md).
"""


BUSY = """
**The machine was busy during this run** (load {load:.1f} to {load_after:.1f} on {cores} cores): no step of a two-threaded run may have been left
alone, so our two-thread times are upper bounds (the speed-ups lower ones), and PyTorch's are not comparable at all.
The one-thread columns are processor times and hold.
"""


def write(folder, machine, results, growth, reading, tables, picture):
    first = results[0]["summary"]
    deep = next((r for r in results if r["name"].startswith("deep")), results[-1])["rounds"][0]
    warning = BUSY.format(**machine) if busy(machine) else ""
    page = TEXT.format(**machine, warning=warning, normal=first["normal_ns"], tanh=first["tanh_ns"], table=tables["table"],
                       targets=targets(machine, results, growth, reading), growth=tables["growth"],
                       reading=reading_section(reading, tables["reading"], machine),
                       blas=results[0]["blas"], deep_share=100 * deep["floor_gemm"] / deep["floor"])
    folder.mkdir(exist_ok=True)
    (folder / "performance.md").write_text(page)
    (folder / "performance.svg").write_text(picture)
