"""Writes src/stonet/_generated.py and _names.py from the method and parameter tables of the C library.

    python tools/generate_estimators.py                  write the files
    python tools/generate_estimators.py --print [NAME]   only print one, by default _generated.py
"""
from __future__ import annotations

import json
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from stonet._library import lib, take_text

FOLDER = Path(__file__).resolve().parents[1] / "src" / "stonet"
WIDTH = 100

HEAD = '''"""The estimators. Written by tools/generate_estimators.py from the parameter tables of the C library.

The file is kept and not made by a build: the package then runs from a checkout, and editors and type checkers see its
classes, without a library at hand. A test compares it with what the script writes.

The settings are dataclasses that know nothing of scikit-learn: it has no types, and a type checker takes any argument of a
dataclass with a parent that it knows nothing of. A docstring here has the settings that no other estimator shares. What
several share is said once, in SHARED, and put into their docstrings at the end.
"""
from __future__ import annotations

from typing import Any, Literal

from ._base import (
    BaseReduction,
    TransformerReduction,
    UnsupervisedReduction,
    WeightedReduction,
    WeightedUnsupervisedReduction,
)
from ._compat import dataclass
from ._describe import describe
from ._networks import BaseStoNetClassifier, BaseStoNetRegressor
'''

NAMES_HEAD = '''"""The names of the estimators. Written by tools/generate_estimators.py; loads nothing."""
from __future__ import annotations

'''

Setting = dict[str, Any]
Argument = tuple[str, str, object, list[str]]  # of __init__: name, type, default, lines of description
DATACLASS = "@dataclass(kw_only=True, eq=False, repr=False)"


class Kind(NamedTuple):
    """A class of settings that these estimators share."""

    name: str
    parent: str
    estimators: list[str]
    rows: list[Argument]

    def text(self) -> str:
        return "\n".join([DATACLASS, f"class {self.name}({self.parent}):", *fields(self.rows)]) + "\n"


RANDOM_STATE = "seed of all randomness; the same number gives what the command line gives with --seed"
N_JOBS = "threads; None and -1 are all cores (None heeds OMP_NUM_THREADS); results do not depend on it"
WARM_START = (
    "fit goes on from where the network stands, as partial_fit does, if there is one: epochs passes over the rows "
    "it is given"
)
CALLBACK = (
    "called with a dict (stage, done, total, loss, validation_loss, seconds) after every epoch and step of the other "
    "stages; what it returns stops the fit where that is true, and the model so far is kept"
)
CLASS_WEIGHT = (
    'what rows count by their class, beside sample_weight: a dict, or "balanced": all classes count the same'
)
TASKS = {  # what the response can be, and what "auto" makes of it
    "BaseStoNetClassifier": (
        ["auto", "classification", "ordinal"],
        "what y is: classes, or classes in order, as an ordered pandas Categorical or numbers; auto: in order if y is such a "
        "Categorical",
    ),
    "BaseStoNetRegressor": (
        ["auto", "regression", "survival", "interval", "count"],
        "what y is: numbers; times that may be censored, with events; bounds of times; counts, with exposure; auto: times if "
        "y is a structured array of events and times, counts if fit is given an exposure, else numbers",
    ),
}
VERBOSE = "1 shows a progress bar and the library's notes on stderr"


def number(text: str, kind: str) -> int | float:
    return int(text) if kind.startswith("integer") else float(text)


def default_of(setting: Setting) -> object:
    """The default as a Python value; 'none' is None."""
    text, kind = setting["default"], setting["kind"]
    if text == "none" and kind != "choice":
        return None
    if kind in ("choice", "text") or text in (setting["choices"] or []):
        return text
    if kind in ("integers", "reals"):
        return tuple(number(part, kind) for part in text.split(","))
    return number(text, kind)


def literal(words: list[str]) -> str:
    return f"Literal[{', '.join(json.dumps(word) for word in words)}]"


def type_of(setting: Setting) -> str:
    kind, words = setting["kind"], setting["choices"] or []
    plain = {"integer": "int", "real": "float", "choice": literal(words), "text": "str"}
    hint = plain.get(kind) or ("int | tuple[int, ...]" if kind == "integers" else "float | tuple[float, ...]")
    said = [word for word in words if word != "none"]
    if kind not in ("choice", "text") and said:
        hint += " | " + literal(said)
    if kind != "choice" and "none" in words:
        hint += " | None"
    return hint


def described_type(setting: Setting) -> str:
    kind, words = setting["kind"], setting["choices"] or []
    if kind == "choice":
        return "{" + ", ".join(json.dumps(word) for word in words) + "}"
    name = {"integer": "int", "real": "float", "integers": "int or tuple of int", "text": "str"}.get(kind)
    name = name or "float or tuple of float"
    return " or ".join([name] + ["None" if word == "none" else json.dumps(word) for word in words])


def written(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def bounds(setting: Setting) -> str:
    if setting["low"] is None or setting["high"] is None:
        return ""
    return f" From {setting['low']:g} to {setting['high']:g}."


def described(name: str, kind: str, default: object, help_text: str, more: str = "") -> list[str]:
    sentence = help_text + "." + more
    lines = [f"{name} : {kind}, default={written(default)}"]
    return lines + textwrap.wrap(sentence, WIDTH - 8, initial_indent="    ", subsequent_indent="    ")


def parameters(method: dict[str, Any], common: dict[str, Setting], base: str) -> list[Argument]:
    settings = list(method["settings"])
    if base in ("TransformerReduction", "WeightedReduction"):
        settings.append(common["task"])
    encoding = ("scale", "levels", "missing", "missing_indicators", "curves", "curves_window", "curves_columns")
    settings += [common[name] for name in encoding]
    dim = common["dim"]
    value = default_of(dim)
    help_text = dim["help"] + '; "auto": as stonet.order chooses it'
    text = described("n_components", 'int or "auto"', value, help_text)
    rows: list[Argument] = [("n_components", 'int | Literal["auto"]', value, text)]
    for setting in settings:
        value = default_of(setting)
        text = described(setting["name"], described_type(setting), value, setting["help"], bounds(setting))
        rows.append((setting["name"], type_of(setting), value, text))
    if base in TASKS:
        words, help_text = TASKS[base]
        text = described("task", "{" + ", ".join(map(json.dumps, words)) + "}", "auto", help_text)
        rows.append(("task", literal(words), "auto", text))
    if base == "BaseStoNetClassifier":
        kind = 'Literal["balanced"] | dict[Any, float] | None'
        text = described("class_weight", 'dict or "balanced" or None', None, CLASS_WEIGHT)
        rows.append(("class_weight", kind, None, text))
    kind = "int, RandomState or None"
    rows.append(("random_state", "Any", None, described("random_state", kind, None, RANDOM_STATE)))
    rows.append(("n_jobs", "int | None", None, described("n_jobs", "int or None", None, N_JOBS)))
    rows.append(("verbose", "int", 0, described("verbose", "int", 0, VERBOSE)))
    if base.startswith("BaseStoNet"):
        rows.append(("warm_start", "bool", False, described("warm_start", "bool", False, WARM_START)))
        rows.append(("callback", "Any", None, described("callback", "callable or None", None, CALLBACK)))
    return rows


def shared(tables: list[list[Argument]]) -> dict[str, list[str]]:
    """What is said of a setting in the same words by most of the estimators that have it, and by two at least."""
    said: dict[str, Counter[tuple[str, ...]]] = {}
    for rows in tables:
        for name, _, _, text in rows:
            said.setdefault(name, Counter())[tuple(text)] += 1
    most = {name: texts.most_common(1)[0] for name, texts in said.items()}
    return {name: list(text) for name, (text, count) in most.items() if count > 1}


def kinds(tables: dict[str, list[Argument]], bases: dict[str, str]) -> list[Kind]:
    """The classes that hold what all estimators, those for a response, and the networks have in common, most general first."""
    found: list[Kind] = []
    for name, parent, begins in (
        ("_Settings", "_Dimension", ("",)),
        ("_ForResponse", "_Settings", ("TransformerReduction", "WeightedReduction")),
        ("_Network", "_Settings", ("BaseStoNet",)),
    ):
        members = [estimator for estimator in tables if bases[estimator].startswith(begins)]
        known = [row for kind in found if kind.name == parent for row in kind.rows]
        rows = [row for row in tables[members[0]][1:] if row not in known and all(row in tables[other] for other in members)]
        found.append(Kind(name, parent, members, rows))
    return found


def fields(rows: list[Argument]) -> list[str]:
    return [f"    {name}: {kind} = {written(value)}" for name, kind, value, _ in rows]


def class_text(name: str, method: dict[str, Any], base: str, rows: list[Argument], common: dict[str, list[str]]) -> str:
    """rows: of this estimator alone."""
    suffix = {"StoNetClassifier": ", for classes", "StoNetRegressor": ", for numbers"}.get(name, "")
    title = f"{method['title']}{suffix}."
    own = [line for row in rows if row[3] != common.get(row[0]) for line in row[3]]
    doc = [f'    """{title}', "", *(f"    {line}" for line in own), '    """'] if own else [f'    """{title}"""']
    lines = [f"class {name}({base}):", *doc, "", f"    _method = {json.dumps(method['name'])}"]
    return "\n".join(lines) + "\n"


def shared_text(common: dict[str, list[str]]) -> str:
    lines = "\n".join(line for text in common.values() for line in text)
    return f'SHARED = """\n{lines}\n"""\n'


def base_of(name: str, method: dict[str, Any]) -> str:
    """What a class is derived from: one that predicts has its task in its name."""
    if name.endswith("Classifier"):
        return "BaseStoNetClassifier"
    if name.endswith("Regressor"):
        return "BaseStoNetRegressor"
    if method["weighted"]:
        return "WeightedReduction" if method["needs_response"] else "WeightedUnsupervisedReduction"
    return "TransformerReduction" if method["needs_response"] else "UnsupervisedReduction"


def generate() -> dict[str, str]:
    """The files by name."""
    tables = json.loads(take_text(lib.stonet_methods_json()) or "{}")
    common = {setting["name"]: setting for setting in tables["common"]}
    classes = {name: method for method in tables["methods"] for name in method["python"] or []}
    bases = {name: base_of(name, method) for name, method in classes.items()}
    rows = {name: parameters(method, common, bases[name]) for name, method in classes.items()}
    same, shared_by = shared(list(rows.values())), kinds(rows, bases)
    first = next(iter(rows.values()))[:1]
    parts = [HEAD, "\n".join(["@dataclass(eq=False, repr=False)", "class _Dimension:", *fields(first)]) + "\n"]
    parts += [kind.text() for kind in shared_by]
    for name, method in classes.items():
        held = [kind for kind in shared_by if name in kind.estimators]
        own = [row for row in rows[name][1:] if not any(row in kind.rows for kind in held)]
        if own:
            held.append(Kind(f"_{name}", held[-1].name, [name], own))
            parts.append(held[-1].text())
        parts.append(class_text(name, method, f"{held[-1].name}, {bases[name]}", own, same))
    parts.append(shared_text(same))
    listing = "\n".join(f"    {name}," for name in classes)
    quoted = "\n".join(f'    "{name}",' for name in classes)
    parts.append(f"ESTIMATORS: tuple[type[BaseReduction], ...] = (\n{listing}\n)\ndescribe(ESTIMATORS, SHARED)\n")
    return {
        "_generated.py": "\n\n".join(parts),
        "_names.py": NAMES_HEAD + f"ESTIMATORS: tuple[str, ...] = (\n{quoted}\n)\n",
    }


if __name__ == "__main__":
    files = generate()
    if "--print" in sys.argv[1:]:
        sys.stdout.write(files[sys.argv[2] if len(sys.argv) > 2 else "_generated.py"])
    else:
        for file, text in files.items():
            (FOLDER / file).write_text(text)
