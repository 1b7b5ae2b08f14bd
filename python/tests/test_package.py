"""The package itself: import time, generated code, types, interruption, leaks."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cheap import SETTINGS, make

import stonet
from stonet._core import Model
from stonet._names import ESTIMATORS
from stonet._run import RunContext, threads_of

PYTHON_FOLDER = Path(__file__).resolve().parents[1]


def test_import_is_fast():
    """At most 0.3 s of processor time beyond NumPy; the best of three, as caches may be cold."""
    code = "import time, numpy; t = time.process_time(); import stonet; print(time.process_time() - t)"
    spent = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3)]
    assert min(spent) < 0.3


def test_every_name_is_there():
    for name in stonet.__all__:
        assert getattr(stonet, name) is not None
    assert set(stonet.__all__) <= set(dir(stonet))


def test_the_other_tests_are_of_every_estimator():
    assert set(SETTINGS) == set(ESTIMATORS)


def test_one_version():
    """The wheel, the library inside it and the public header tell the same version."""
    assert metadata.version("stonet") == stonet.__version__


def test_estimators_follow_the_tables():
    """tools/generate_estimators.py must be run when the tables of the library change."""
    tool = PYTHON_FOLDER / "tools" / "generate_estimators.py"
    for name in ("_generated.py", "_names.py"):
        text = subprocess.check_output([sys.executable, tool, "--print", name], text=True)
        assert text == (PYTHON_FOLDER / "src" / "stonet" / name).read_text()


@pytest.fixture
def interrupt_at(monkeypatch):
    """interrupt_at(k): Ctrl-C comes while the library asks for the k-th time whether it should stop."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a script

    def arm(k):
        plain = RunContext._should_stop
        asked = 0

        def should_stop(self, user):
            nonlocal asked
            asked += 1
            if asked == k:
                signal.raise_signal(signal.SIGINT)
            return plain(self, user)

        monkeypatch.setattr(RunContext, "_should_stop", should_stop)

    yield arm
    signal.signal(signal.SIGINT, before)


def test_ctrl_c(waveform, interrupt_at):
    """Ctrl-C ends a fit that would take hours, and what was learned so far can be used."""
    estimator = make("StoNetClassifier", epochs=10**6, activation="tanh", random_state=1)
    handler = signal.getsignal(signal.SIGINT)
    interrupt_at(200)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(*waveform[:2])
    assert signal.getsignal(signal.SIGINT) is handler
    assert estimator.score(*waveform[:2]) > 0.7


@pytest.mark.parametrize(
    "name, settings",
    [
        ("LeastSquaresMutualInformation", {"restarts": 10**4}),
        ("KernelDimensionReduction", {"restarts": 10**4}),
        ("NNSDR", {"epochs": 10**7}),
        ("Autoencoder", {"epochs": 10**7}),
    ],
)
def test_ctrl_c_elsewhere(name, settings, waveform, interrupt_at):
    interrupt_at(3)
    with pytest.raises(KeyboardInterrupt):
        make(name, n_components=1, **settings).fit(*waveform[:2])


def test_other_threads_run_meanwhile(waveform, monkeypatch):
    """The library computes without the GIL: this thread runs while another one is inside a fit."""
    computing = False
    enough = False

    def should_stop(self, user):
        nonlocal computing
        computing = not enough
        return enough

    monkeypatch.setattr(RunContext, "_should_stop", should_stop)
    estimator = make("StoNetClassifier", epochs=10**6, random_state=1)
    worker = threading.Thread(target=estimator.fit, args=waveform[:2])
    worker.start()
    ticks = 0
    while worker.is_alive() and not enough:
        ticks += computing
        enough = ticks > 5
    worker.join()
    assert enough


def resident_kilobytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_no_leak(waveform):
    """Memory after 1,000 small fits is what it was after the first hundred."""
    X, y = waveform[0][:50], waveform[1][:50]

    def work(times):
        for _ in range(times):
            estimator = make("StoNetClassifier", epochs=1, random_state=1).fit(X, y)
            estimator.predict(X)
            estimator.model_.to_bytes()
            make("SlicedInverseRegression", n_components=1).fit(X, y).transform(X)

    work(100)
    before = resident_kilobytes()
    work(900)
    assert resident_kilobytes() - before < 2048


def test_independence():
    random = np.random.default_rng(0)
    x, noise = random.normal(size=300), random.normal(size=300)
    assert stonet.independence_test(x, x**2 + 0.1 * noise).p_value < 0.01
    assert stonet.independence_test(x, noise).p_value > 0.01
    assert stonet.independence_test(x, x + noise, z=x).test == "gcm"
    words = np.where(x > 0, "up", "down")
    assert stonet.independence_test(words, x, test="dcor", permutations=200).p_value < 0.05
    same = [stonet.independence_test(x, noise, n_jobs=jobs).p_value for jobs in (1, 2)]
    assert same[0] == same[1]
    for missing in (None, np.nan, pd.NA):
        with pytest.raises(ValueError, match="row 2 of x has no value"):
            stonet.independence_test(np.array(["up", missing] * 150, dtype=object), x)
    with pytest.raises(ValueError, match="one of auto"):
        stonet.independence_test(x, noise, test="magic")
    with pytest.raises(ValueError, match="rows"):
        stonet.independence_test(x, noise[:10])


def test_datasets():
    names = [entry["name"] for entry in stonet.datasets.generators() if entry["truth"] > 0]
    assert "waveform" in names
    for table in ("passengers", "air"):
        with pytest.raises(ValueError, match="stonet generate"):
            stonet.datasets.generate(table, rows=30)
    for name in names:
        X, y, truth = stonet.datasets.generate(name, rows=30)
        assert len(X) == len(y) == len(truth) == 30 and X.dtype == np.float32


def test_plots(waveform, numbers):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y, _ = waveform
    fitted = make("StoNetClassifier", random_state=1).fit(X, y)
    Z = fitted.transform(X)
    assert stonet.plot.reduction(Z, y).get_xlabel() == "Z1"
    assert stonet.plot.reduction(Z[:, :1], y).get_ylabel() == "class"
    assert stonet.plot.reduction(Z[:60], numbers[1]).get_ylabel() == "Z2"
    assert stonet.plot.reduction(Z[:60, :1], numbers[1]).get_ylabel() == "response"
    assert stonet.plot.training_curve(fitted).get_xlabel() == "epoch"
    assert stonet.plot.error_by_dimension([1, 2], [[0.2, 0.3], [0.1, 0.1]]).get_xlabel() == "dimension q"
    with pytest.raises(ValueError, match="no training history"):
        stonet.plot.training_curve(make("PrincipalComponents").fit(X))


def test_little_is_spent_in_python(monkeypatch):
    """On many columns, checking and wrapping in Python take little of a short fit's computing time.

    It is about 1 %; a loop over the cells in Python would take most of it. The limit lies far from both, since
    processor time too depends on what else the machine does.
    """
    random = np.random.default_rng(1)
    X = random.normal(size=(5000, 784)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    inside = []
    plain_fit = Model.fit.__func__

    def timed_fit(cls, *arguments):
        start = time.process_time()
        try:
            return plain_fit(cls, *arguments)
        finally:
            inside.append(time.process_time() - start)

    monkeypatch.setattr(Model, "fit", classmethod(timed_fit))
    shares = []
    for _ in range(3):
        start = time.process_time()
        make("StoNetClassifier", epochs=5, hidden=64, batch=128).fit(X, y)
        total = time.process_time() - start
        shares.append((total - inside[-1]) / total)
    assert min(shares) < 0.25, shares


@pytest.mark.parametrize("said, threads", [("", 0), ("3", 3), ("3,2", 3), ("many", 0)])
def test_threads_that_the_environment_says(said, threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert threads_of(None) == threads and threads_of(1) == 1


def test_a_forked_process_after_threads():
    """GNU's OpenMP waits for ever there for the threads of the parent."""
    code = """
import multiprocessing, warnings, stonet
warnings.simplefilter("ignore")
X, y, _ = stonet.datasets.generate("waveform", rows=1000)
def fit(n_jobs):
    return stonet.StoNetClassifier(hidden=8, epochs=5, random_state=1, n_jobs=n_jobs).fit(X, y).transform(X).tolist()
here = fit(2)
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.apply_async(fit, (2,)).get(timeout=20) == here
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)
