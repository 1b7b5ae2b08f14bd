from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import stonet


@pytest.fixture(scope="session")
def waveform():
    return stonet.datasets.generate("waveform", rows=200)


@pytest.fixture(scope="session")
def numbers():
    """60 rows, 4 columns, a response that is a curve of one direction."""
    random = np.random.default_rng(5)
    X = random.normal(size=(60, 4)).astype(np.float32)
    return X, np.tanh(X[:, 0] + X[:, 1]) + 0.1 * random.normal(size=60)


@pytest.fixture(scope="session")
def program():
    """The command line, for tests that both give the same."""
    path = os.environ.get("STONET_PROGRAM") or str(Path(__file__).resolve().parents[2] / "build" / "bin" / "stonet")
    if not os.access(path, os.X_OK):
        pytest.skip("the command line is not built: set STONET_PROGRAM")
    return path
