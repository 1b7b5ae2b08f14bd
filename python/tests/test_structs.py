"""The ctypes structures against the C header: the same size, and every member at the same place."""
from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from stonet import _library

INCLUDE = Path(__file__).resolve().parents[2] / "include"

STRUCTS = {
    "stonet_progress": _library.Progress,
    "stonet_run": _library.Run,
    "stonet_use_options": _library.UseOptions,
    "stonet_calibrate_options": _library.CalibrateOptions,
    "stonet_scores": _library.Scores,
    "stonet_sides": _library.Sides,
    "stonet_independence_options": _library.IndependenceOptions,
    "stonet_independence_result": _library.IndependenceResult,
    "stonet_order_options": _library.OrderOptions,
    "stonet_importance_options": _library.ImportanceOptions,
    "stonet_coef_options": _library.CoefOptions,
    "stonet_report_options": _library.ReportOptions,
    "stonet_prediction_gain": _library.PredictionGain,
    "stonet_sufficiency_result": _library.SufficiencyResult,
}


def layout_in_c(folder: Path) -> dict[str, int]:
    """size and offsets as the compiler has them: "stonet_run" and "stonet_run.seed" -> bytes."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler to ask")
    lines = []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for member, *_ in struct._fields_:
            lines.append(f'printf("{name}.{member} %zu\\n", offsetof({name}, {member}));')
    source = folder / "layout.c"
    body = "\n    ".join(lines)
    source.write_text(f"#include <stdio.h>\n#include <stonet/stonet.h>\nint main(void)\n{{\n    {body}\n}}\n")
    subprocess.run([compiler, f"-I{INCLUDE}", source, "-o", folder / "layout"], check=True)
    printed = subprocess.check_output([folder / "layout"], text=True)
    return {name: int(size) for name, size in (line.split() for line in printed.splitlines())}


def test_structs_are_as_in_c(tmp_path):
    expected = layout_in_c(tmp_path)
    found = {}
    for name, struct in STRUCTS.items():
        found[name] = ctypes.sizeof(struct)
        for member, *_ in struct._fields_:
            found[f"{name}.{member}"] = getattr(struct, member).offset
    assert found == expected


def test_every_struct_is_checked():
    """A structure that is added to _library.py and not to the table above would go unseen."""
    ours = {
        value
        for value in vars(_library).values()
        if isinstance(value, type) and issubclass(value, ctypes.Structure) and hasattr(value, "_fields_")
    }
    assert ours - {_library.Options, ctypes.Structure} == set(STRUCTS.values())


def test_options_say_their_size():
    for struct in (_library.Run, _library.UseOptions, _library.IndependenceOptions):
        assert struct().size == ctypes.sizeof(struct)
