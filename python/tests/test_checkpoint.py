"""fit(checkpoint=..): a fit that is interrupted goes on to the same model."""
from __future__ import annotations

import numpy as np
import pytest

from stonet import StoNetRegressor, _run
from stonet.errors import StonetError


def table():
    x = np.random.default_rng(1).normal(size=(300, 4)).astype(np.float32)
    return x, np.sin(x[:, 0]) + 0.1 * x[:, 1]


def estimator(**more):
    return StoNetRegressor(1, epochs=20, weight_decay=0.001, restarts=1, hidden="4", random_state=3, **more)


def test_an_interrupted_fit_goes_on(tmp_path, monkeypatch):
    x, y = table()
    kept = tmp_path / "kept"
    whole = estimator().fit(x, y)
    calls = []

    def stop_after_some(self, user):
        calls.append(1)
        self.interrupted = len(calls) == 25
        return int(self.interrupted)

    with monkeypatch.context() as patched:
        patched.setattr(_run.RunContext, "_should_stop", stop_after_some)
        with pytest.raises(KeyboardInterrupt):
            estimator().fit(x, y, checkpoint=kept)
    assert kept.exists()
    with pytest.raises(StonetError, match="another job"):
        estimator(lr=0.01).fit(x, y, checkpoint=kept)
    resumed = estimator(n_jobs=2).fit(x, y, checkpoint=kept, every=0)
    assert not kept.exists()
    assert np.array_equal(whole.transform(x), resumed.transform(x))
    assert np.array_equal(whole.predict(x), resumed.predict(x))
