"""Runs exported ONNX models against what the library answered: python3 onnx_run.py FOLDER [--table].

FOLDER is made by export_samples.py: NAME.onnx and NAME.json, with inputs and wanted outputs. Needs NumPy and onnx,
nothing of stonet, so that it can run where onnxruntime is. What it runs the models in: onnxruntime and the reference
evaluator of onnx (1.13 and later) where they are installed, and a plain reading of the operators in NumPy below. With
--table the largest difference of every method and kind of table is printed as well, in Markdown.
"""
from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Callable

import numpy as np
import onnx
from onnx import numpy_helper

Values = dict[str, Any]
TOLERANCE = 1e-5


def attributes(node: Any) -> dict[str, Any]:
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def softmax(v: Any, axis: int) -> Any:
    e = np.exp(v - v.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def encode_labels(v: Any, a: dict[str, Any]) -> Any:
    codes = dict(zip((key.decode() for key in a["keys_strings"]), a["values_int64s"]))
    return np.array([[codes.get(str(cell), a["default_int64"]) for cell in row] for row in v], dtype=np.int64)


CASTS = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.DOUBLE: np.float64}
OPERATORS: dict[str, Callable[..., Any]] = {
    "Add": lambda a, x, y: x + y,
    "Sub": lambda a, x, y: x - y,
    "Mul": lambda a, x, y: x * y,
    "Div": lambda a, x, y: x / y,
    "Pow": lambda a, x, y: x**y,
    "Floor": lambda a, x: np.floor(x),
    "Sin": lambda a, x: np.sin(x),
    "Abs": lambda a, x: np.abs(x),
    "Sqrt": lambda a, x: np.sqrt(x),
    "LessOrEqual": lambda a, x, y: x <= y,
    "Reshape": lambda a, x, s: x.reshape(s),
    "Exp": lambda a, x: np.exp(x),
    "Tanh": lambda a, x: np.tanh(x),
    "Relu": lambda a, x: np.fmax(x, 0),
    "Sigmoid": lambda a, x: 1 / (1 + np.exp(-x)),
    "Softmax": lambda a, x: softmax(x, a["axis"]),
    "IsNaN": lambda a, x: np.isnan(x),
    "Where": lambda a, c, x, y: np.where(c, x, y),
    "Equal": lambda a, x, y: x == y,
    "Cast": lambda a, x: x.astype(CASTS[a["to"]]),
    "Concat": lambda a, *x: np.concatenate(x, axis=a["axis"]),
    "Gather": lambda a, x, i: np.take(x, i, axis=a.get("axis", 0)),
    "MatMul": lambda a, x, y: x @ y,
    "Gemm": lambda a, x, y, b: x @ (y.T if a.get("transB", 0) else y) + b,
    "ReduceSum": lambda a, x, axes: x.sum(axis=tuple(axes), keepdims=True),
    "ReduceMax": lambda a, x: x.max(axis=tuple(a["axes"]), keepdims=True),
    "ArgMax": lambda a, x: x.argmax(axis=a["axis"]),
    "LabelEncoder": lambda a, x: encode_labels(x, a),
}


def run_plainly(path: Path, inputs: Values) -> Values:
    model = onnx.load(str(path))
    values = dict(inputs)
    for constant in model.graph.initializer:
        values[constant.name] = numpy_helper.to_array(constant)
        if constant.data_type == onnx.TensorProto.STRING:
            values[constant.name] = np.array([text.decode() for text in constant.string_data])
    with np.errstate(all="ignore"):
        for node in model.graph.node:
            values[node.output[0]] = OPERATORS[node.op_type](attributes(node), *(values[name] for name in node.input))
    return {output.name: values[output.name] for output in model.graph.output}


def evaluators() -> dict[str, Callable[[Path, Values], Values]]:
    found: dict[str, Callable[[Path, Values], Values]] = {"plain": run_plainly}
    try:
        from onnx.reference import ReferenceEvaluator

        def run_reference(path: Path, inputs: Values) -> Values:
            evaluator = ReferenceEvaluator(str(path))
            return dict(zip(evaluator.output_names, evaluator.run(None, inputs)))

        found["reference"] = run_reference
    except ImportError:
        pass
    try:
        import onnxruntime

        def run_onnxruntime(path: Path, inputs: Values) -> Values:
            session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
            return dict(zip((output.name for output in session.get_outputs()), session.run(None, inputs)))

        found["onnxruntime"] = run_onnxruntime
    except ImportError:
        pass
    return found


def difference(wanted: list[Any], got: Any) -> float:
    """The largest one, of numbers relative to 1 + |wanted|; NaN wants NaN."""
    if wanted and isinstance(wanted[0], str):
        return 0.0 if [str(text) for text in got] == wanted else float("inf")
    numbers = np.array(wanted, dtype=float)
    if numbers.shape != got.shape or got.dtype != np.float64 or (np.isnan(numbers) != np.isnan(got)).any():
        return float("inf")
    return float(np.nanmax(np.abs(got - numbers) / (1 + np.abs(numbers)), initial=0.0))


def check(path: Path, run: Callable[[Path, Values], Values]) -> float:
    """The largest difference of a sample, and inf where an output is missing."""
    sample = json.loads(path.with_suffix(".json").read_text())
    onnx.checker.check_model(onnx.load(str(path)), full_check=True)
    inputs = {
        name: np.array(column, dtype=object if isinstance(column[0][0], str) else np.float64)
        for name, column in sample["inputs"].items()
    }
    got = run(path, inputs)
    if set(got) != set(sample["wanted"]):
        return float("inf")
    return max(difference(wanted, got[name]) for name, wanted in sample["wanted"].items())


# columns of the table by the tables of the models
KINDS = {"numbers": "numbers", "bare": "numbers", "classes": "classes", "order": "order", "counts": "times, counts",
         "seen": "times, counts", "bounds": "times, counts", "words": "words",
         "mixed": "words", "rare": "words", "dated": "dates, missing", "wide": "60 columns, 40 rows"}


def print_table(worst: dict[str, dict[str, float]]) -> None:
    """Methods by kinds of tables, which a name has between its dashes: the largest difference in any evaluator."""
    kinds = list(dict.fromkeys(KINDS.values()))
    cells: dict[str, dict[str, float]] = {}
    for stem in next(iter(worst.values())):
        method, table = stem.split("-", 1)[1].rsplit("-", 1)
        row = cells.setdefault(method.replace("+", ", front="), {})
        row[KINDS[table]] = max(row.get(KINDS[table], 0.0), *(apart[stem] for apart in worst.values()))
    print("\n| method | " + " | ".join(kinds) + " |")
    print("|---|" + "---|" * len(kinds))
    for method in sorted(cells):
        print(f"| `{method}` | " + " | ".join(f"{cells[method][kind]:.1e}" if kind in cells[method] else "" for kind in kinds) + " |")


def main() -> int:
    paths = sorted(Path(sys.argv[1]).glob("*.onnx"))
    if not paths:
        print(f"there are no models in {sys.argv[1]}", file=sys.stderr)
        return 1
    failed = 0
    worst = {}
    for name, run in evaluators().items():
        worst[name] = {path.stem: check(path, run) for path in paths}
        wrong = [stem for stem, apart in worst[name].items() if not apart <= TOLERANCE]
        failed += len(wrong)
        print(f"{name}: {len(paths)} models, largest difference {max(worst[name].values()):.1e}, wrong: {wrong or 'none'}")
    if "--table" in sys.argv[2:]:
        print_table(worst)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
