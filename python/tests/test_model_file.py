"""docs/model-file.md is enough: a reader made of it and NumPy predicts what the library predicts."""
from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

TYPES = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "u1"}
PSI = {
    "identity": lambda v: v,
    "tanh": np.tanh,
    "relu": lambda v: np.maximum(v, 0),
    "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
}


def read(path):
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    texts = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        numbers = np.frombuffer(content[start + first : start + last], TYPES[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"])
    assert (texts["format"], texts["format_version"]) == ("stonet", "2")
    return texts, tensors


def features(texts, tensors, X):
    assert all("categories" not in column for column in json.loads(texts["schema.inputs"]))
    return ((X - tensors["schema.centre"]) * tensors["schema.factor"]).astype(np.float32)


def layers(texts, tensors, part, x):
    """mu_1 .. mu_L and a_1 .. a_L of a network."""
    psi = PSI[texts[part + "activation"]]
    linear = {"activated": False, "linear": True}[texts[part + "first_layer"]]
    if {"none": False, "standard": True}[texts[part + "scaling"]]:
        x = (x - tensors[part + "mean"]) * tensors[part + "factor"]
    a, means, activated = PSI[texts[part + "input_activation"]](x), [], []
    widths = tensors[part + "widths"]
    for i in range(1, len(widths)):
        w, b = tensors[f"{part}w{i}"], tensors[f"{part}b{i}"]
        assert w.shape == (widths[i], widths[i - 1])
        mu = b + a @ w.T
        a = mu if i == 1 and linear else psi(mu)
        means.append(mu)
        activated.append(a)
    return means, activated


def answers(tensors, task, output):
    if task == "classification":
        shifted = np.exp(output - output.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)
    return tensors["schema.target_mean"] + tensors["schema.target_sd"] * output


CASES = {
    "stonet": ["--set", "hidden=5", "--set", "activation=sigmoid", "--set", "input_activation=tanh"],
    "nnsdr": ["--set", "hidden=6", "--set", "refine=2"],
    "autoencoder": ["--learner", "mlp", "--set", "learner.hidden=6,4", "--set", "learner.epochs=5"],
}


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("method", CASES)
def test_a_reader_made_of_the_page_predicts_the_same(tmp_path, program, waveform, method, task):
    X, labels, _ = waveform
    y = labels if task == "classification" else X[:, 3] ** 2 + X[:, 5]
    data = np.column_stack([X, y])
    names = ",".join(f"x{j}" for j in range(X.shape[1])) + ",y"
    np.savetxt(tmp_path / "rows.csv", data, delimiter=",", header=names, comments="", fmt="%.9g")

    def run(*words):
        subprocess.run([program, *words], cwd=tmp_path, check=True, capture_output=True)

    run("fit", "rows.csv", "--target", "y", "--dim", "2", "--method", method, "--out", "a.model",
        "--set", f"task={task}", "--set", "epochs=3", *CASES[method])
    run("transform", "a.model", "rows.csv", "--out", "z.npy")
    probabilities = ["--proba"] if task == "classification" else []
    run("predict", "a.model", "rows.csv", "--out", "p.npy", *probabilities)

    texts, tensors = read(tmp_path / "a.model")
    means, activated = layers(texts, tensors, "method.", features(texts, tensors, X))
    z = {"stonet": means[-2], "nnsdr": means[0], "autoencoder": activated[1]}[method]
    if "method.z_map" in tensors:
        z = {"plain": means, "activated": activated}[texts["method.z_units"]][-2]
        z = (z - tensors["method.z_mean"]) @ tensors["method.z_map"].T
    np.testing.assert_allclose(np.load(tmp_path / "z.npy"), z, rtol=1e-4, atol=1e-5)
    output = means[-1]
    if "stonet.learner" in texts:
        assert texts["stonet.learner"] == "mlp"
        output = layers(texts, tensors, "learner.", z)[0][-1]
    expected = answers(tensors, texts["schema.task"], output)
    np.testing.assert_allclose(np.load(tmp_path / "p.npy").reshape(expected.shape), expected, rtol=1e-4, atol=1e-4)
    history = tensors["stonet.history"].tobytes().decode()
    assert history.splitlines()[0] == "stage,epoch,loss,lr"
    assert texts["stonet.outcome"] == "done"
