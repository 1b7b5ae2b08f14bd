"""Models of every method as ONNX and JSON, with rows and the library's answers: export_samples.py PROGRAM FOLDER."""
from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

HURRY = {"epochs": 2, "refine": 2, "iterations": 2, "restarts": 1, "sdr_iterations": 2}
ROWS = 60
# Every method and front on every kind of table: numbers and classes by the tasks of the method, and these.
KINDS = {"words": ["missing=mean"], "dated": ["missing=mean", "missing_indicators=on"], "order": ["task=ordinal"]}
# Responses that the StoNet knows, and the first two these methods besides.
LAWS = {"seen": ["task=survival"], "counts": ["task=count"], "bounds": ["task=interval"]}
OF_LAWS = ("sir", "save", "dr", "ksir", "lasso-sir")
TARGETS = {"bare": ["--target", "5"], "seen": ["--target", "time", "--event", "seen"],
           "bounds": ["--target-low", "low", "--target-high", "high"]}
FRONTS = ("none", "kernel", "columns", "components")
# Besides: every activation and response of the StoNet; learners; a calibrated model; levels; other ways with missing cells.
MORE: list[tuple[str, str, list[str]]] = [
    ("numbers", "stonet", ["front=none", "activation=relu", "hidden=5"]),
    ("classes", "stonet", ["front=none", "activation=sigmoid", "hidden=none"]),
    ("classes", "stonet", ["front=kernel", "front_linear=0.5"]),
    ("numbers", "stonet", ["front=kernel", "response=ensemble"]),
    ("numbers", "stonet", ["front=none", "response=location-scale"]),
    ("order", "stonet", ["front=none", "task=ordinal", "law=extreme"]),
    ("classes", "pca", ["learner=mlp"]),
    ("numbers", "pca", ["learner=mlp"]),
    ("classes", "pca", ["learner=none"]),
    ("mixed", "none", ["levels=6"]),
    ("mixed", "stonet", ["levels=6", "front=none", "missing=mean"]),
    ("mixed", "sir", ["levels=6", "missing=error"]),
    ("mixed", "save", ["levels=6"]),
    ("mixed", "gsir", ["levels=none"]),
    ("bare", "sir", []),
    ("wide", "stonet", ["front=conv", "front_image=6,10", "front_channels=3", "epochs=2"]),
    ("rare", "none", []),
    ("wide", "pls", ["curves=snv-derivative1", "curves_columns=3-30,31-58"]),
    ("wide", "stonet", ["curves=detrend", "front=none", "epochs=2"]),
]


def write(path: Path, names: list[str] | None, rows: list[list[Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        if names:
            writer.writerow(names)
        writer.writerows(rows)


def tables(folder: Path) -> dict[str, Path]:
    random = np.random.default_rng(3)
    x = np.round(3 + 2 * random.normal(size=(ROWS, 4)), 4)
    response = x[:, 0] + 0.1 * random.normal(size=ROWS)
    label = ["red" if v < 2 else "green" if v < 4 else "blue" for v in response]
    wide = np.round(random.normal(size=(40, 60)), 4)
    colour = random.choice(["röd", 'a "b"', "plain"], size=ROWS)
    code = random.integers(0, 4, size=ROWS)
    large = 1e6 + np.round(random.normal(size=ROWS), 3)
    made = response + 3 * (colour == "plain") + code + large - 1e6
    # "z" and "v1" are what a graph calls its own values, too
    write(folder / "numbers.csv", ["a", "z", "v1", "d", "y"], [[*r, v] for r, v in zip(x.tolist(), response)])
    write(folder / "classes.csv", ["a", "label", "v1", "d", "y"], [[*r, v] for r, v in zip(x.tolist(), label)])
    write(folder / "wide.csv", [f"g{j}" for j in range(60)] + ["y"],
          [[*r, "u" if r[0] < 0 else "v"] for r in wide.tolist()])
    write(folder / "mixed.csv", ["number", "colour", "code", "large", "y"],
          [list(row) for row in zip(x[:, 1].tolist(), colour, code.tolist(), large.tolist(), made)])
    (folder / "words.csv").write_bytes((folder / "mixed.csv").read_bytes())
    holes = [-999 if k % 5 == 3 else v for k, v in enumerate(x[:, 1].tolist())]
    days = [f"{2020 + k % 3}-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(ROWS)]
    write(folder / "dated.csv", ["number", "day", "colour", "y"],
          [list(row) for row in zip(holes, days, ["unknown" if k % 4 == 1 else c for k, c in enumerate(colour)], made)])
    # more words than have a feature of their own
    write(folder / "rare.csv", ["number", "town", "y"],
          [[k % 17 / 4, f"t{k % 7}" if k % 2 else f"r{k % 1400}", k % 7 + k % 17 / 8] for k in range(2800)])
    four = [1 + int(max(v, 0)) % 4 for v in response]
    for name in ("counts", "order"):
        write(folder / f"{name}.csv", ["a", "z", "v1", "d", "y"], [[*r, v] for r, v in zip(x.tolist(), four)])
    write(folder / "seen.csv", ["a", "z", "v1", "d", "time", "seen"],
          [[*r, v, int(k % 4 > 0)] for k, (r, v) in enumerate(zip(x.tolist(), four))])
    write(folder / "bounds.csv", ["a", "z", "v1", "d", "low", "high"],
          [[*r, v, "" if k % 4 == 0 else v + 1] for k, (r, v) in enumerate(zip(x.tolist(), four))])
    write(folder / "bare.csv", None, [[*r, v] for r, v in zip(x.tolist(), response)])
    return {path.stem: path for path in folder.glob("*.csv")}


def call(program: str, *words: Any) -> None:
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr}")


def columns(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    if path.stem == "bare":
        return ["x"], [row[:-1] for row in rows]
    targets = 2 if path.stem in ("seen", "bounds") else 1
    return rows[0][:-targets], [row[:-targets] for row in rows[1:]]


def cell(text: str) -> Any:
    if len(text) == 10 and text[4] == text[7] == "-":
        return float((np.datetime64(text) - np.datetime64("1970-01-01")).astype(int))
    try:
        return float(text)
    except ValueError:
        return text


def inputs(path: Path) -> dict[str, Any]:
    """By the name of the column, rows x 1; of a table without names one matrix."""
    names, rows = columns(path)
    if path.stem == "bare":
        return {"x": [[float(text) for text in row] for row in rows]}
    return {name: [[cell(row[j])] for row in rows] for j, name in enumerate(names)}


def read(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def free(name: str, taken: dict[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name


def wanted(program: str, model: Path, table: Path, folder: Path, given: dict[str, Any]) -> dict[str, Any]:
    out = folder / "out.csv"
    answers: dict[str, Any] = {}
    call(program, "transform", model, table, "--out", out)
    answers[free("z", given)] = [[float(v) for v in row] for row in read(out)[1]]
    about = json.loads(subprocess.run([program, "info", model, "--json"], capture_output=True, text=True).stdout)
    if about["learner"] is None and about["method"] not in ("stonet", "nnsdr"):
        return answers
    if about["task"] in ("classification", "ordinal"):
        call(program, "predict", model, table, "--proba", "--out", out)
        answers["probabilities"] = [[float(v) for v in row] for row in read(out)[1]]
        call(program, "predict", model, table, "--out", out)
        answers[free("label", given)] = [row[0] for row in read(out)[1]]
    else:
        call(program, "predict", model, table, "--out", out)
        answers["prediction"] = [[float(v) for v in row] for row in read(out)[1]]
    return answers


def front_of(more: list[str]) -> str:
    """What of the settings belongs to the name of a model."""
    return next(("+" + one.removeprefix("front=") for one in more if one.startswith("front=")), "")


def all_cases(methods: list[dict[str, Any]]) -> list[tuple[str, str, list[str]]]:
    """Table, method and settings of every model."""
    tasks = {"regression": "numbers", "classification": "classes"}
    cases = [(tasks[task], m["name"], []) for m in methods for task in m["tasks"]]
    cases += [(kind, m["name"], more) for m in methods for kind, more in KINDS.items()]
    cases += [(kind, method, LAWS[kind]) for method in OF_LAWS for kind in ("seen", "counts")]
    plain: dict[str, list[str]] = {"numbers": [], "classes": [], "wide": []}
    of_stonet = {**plain, **KINDS, **LAWS}
    cases += [(kind, "stonet", [f"front={front}", *more]) for front in FRONTS for kind, more in of_stonet.items()]
    return cases + MORE


def make(program: str, folder: Path) -> None:
    """NAME.onnx, NAME.json (inputs and wanted outputs) and NAME.export.json for every model."""
    work = folder / "work"
    work.mkdir(parents=True)
    files = tables(work)
    methods = json.loads(subprocess.run([program, "methods", "--json"], capture_output=True, text=True).stdout)["methods"]
    settings = {m["name"]: {s["name"] for s in m["settings"]} for m in methods}
    for k, (table, method, more) in enumerate(all_cases(methods)):
        name = f"{k:03}-{method}{front_of(more)}-{table}"
        model = work / f"{name}.model"
        sets = [f"{key}={value}" for key, value in HURRY.items() if key in settings[method]] + more
        target = TARGETS.get(table, ["--target", "y"])
        reading = ["--season", "day", "--na", "unknown,-999"] if table == "dated" else []
        call(program, "fit", files[table], *target, "--method", method, "--dim", 2, "--out", model, "--quiet",
             *reading, *(word for one in sets for word in ("--set", one)))
        if more == ["learner=mlp"] and table == "classes":
            call(program, "calibrate", model, files[table], *target, "--folds", 3, "--quiet",
                 "--out", model.with_suffix(".calibrated"))
            model = model.with_suffix(".calibrated")
        call(program, "export", model, "--format", "onnx", "--out", folder / f"{name}.onnx")
        call(program, "export", model, "--format", "json", "--out", work / f"{name}.export.json")
        given = inputs(files[table])
        sample = {"inputs": given, "wanted": wanted(program, model, files[table], work, given)}
        (folder / f"{name}.json").write_text(json.dumps(sample))


if __name__ == "__main__":
    make(sys.argv[1], Path(sys.argv[2]))
