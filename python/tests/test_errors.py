"""Failures are exceptions with the library's sentence."""
from __future__ import annotations

import numpy as np
import pytest
from cheap import make
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import stonet
from stonet import errors
from stonet._core import Model


def test_setting_out_of_range(waveform):
    with pytest.raises(errors.StonetArgumentError, match="momentum") as caught:
        make("StoNetClassifier", momentum=2.0).fit(*waveform[:2])
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, stonet.StonetError)


@pytest.mark.parametrize("value", [{}, object()])
def test_setting_of_a_strange_kind(value, waveform):
    with pytest.raises(TypeError, match="a setting is"):
        make("StoNetClassifier", lr=value).fit(*waveform[:2])


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_that_the_library_has_not(seed, waveform, tmp_path):
    """They would be others there."""
    X, y, _ = waveform
    for call in (
        lambda: make("SlicedInverseRegression", random_state=seed).fit(X, y),
        lambda: stonet.order(X, y, method="sir", random_state=seed),
        lambda: stonet.independence_test(X, y, random_state=seed),
        lambda: stonet.datasets.generate("waveform", random_state=seed),
    ):
        with pytest.raises(ValueError, match="[sS]eed"):
            call()
    largest = make("StoNetClassifier", random_state=2**64 - 1).fit(X, y)
    assert largest.draw(X, random_state=2**64 - 1).shape == (1, 200, 2)
    largest.save(tmp_path / "m.model")
    assert stonet.load(tmp_path / "m.model").random_state == 2**64 - 1


def test_data_that_says_nothing():
    with pytest.raises(errors.StonetDataError, match="every column is constant"):
        make("SlicedInverseRegression").fit(np.ones((20, 3)), np.arange(20.0))
    with pytest.raises(errors.StonetDataError, match="the same in all 20 rows"):
        make("StoNetRegressor").fit(np.eye(20), np.ones(20))


def test_files(tmp_path, waveform):
    with pytest.raises(errors.StonetIOError) as caught:
        stonet.load(tmp_path / "nothing.model")
    assert isinstance(caught.value, OSError)
    (tmp_path / "bad.model").write_bytes(b"no model at all" * 10)
    with pytest.raises(errors.StonetFormatError):
        stonet.load(tmp_path / "bad.model")
    with pytest.raises(OSError):
        make("PrincipalComponents").fit(waveform.X).save(tmp_path / "no folder" / "m")
    with pytest.raises(NotFittedError):
        make("PrincipalComponents").save(tmp_path / "m")


def test_damaged_bytes(waveform):
    content = make("PrincipalComponents").fit(waveform.X).model_.to_bytes()
    with pytest.raises(errors.StonetFormatError):
        Model.from_bytes(content[: len(content) // 2])


def test_changed_numbers(waveform, tmp_path):
    content = make("PrincipalComponents").fit(waveform.X).model_.to_bytes()
    (tmp_path / "changed.model").write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    with pytest.raises(errors.StonetFormatError, match="damaged"):
        stonet.load(tmp_path / "changed.model")
    (tmp_path / "old.model").write_bytes(content.replace(b"stonet.hash", b"stonet.hush"))
    with pytest.warns(stonet.StonetWarning, match="no hash"):
        stonet.load(tmp_path / "old.model")


def test_null_character_in_a_file_name(waveform, tmp_path):
    model = make("PrincipalComponents").fit(waveform.X)
    with pytest.raises(ValueError, match="null character"):
        model.save(str(tmp_path / "cut") + "\0.model")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="null character"):
        stonet.load(str(tmp_path / "cut") + "\0.model")


def test_divergence_is_a_warning(waveform):
    with pytest.warns(ConvergenceWarning, match="diverged") as said:
        make("StoNetClassifier", lr=1e6, schedule="constant").fit(*waveform[:2])
    assert said[0].filename == __file__


def test_warning_of_the_library(waveform):
    with pytest.warns(stonet.StonetWarning, match="direction") as said:
        make("SlicedInverseRegression", n_components=2).fit(*waveform[:2])
    assert [one.filename for one in said] == [__file__]  # the line of the caller


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute"):
        stonet.NothingOfTheKind
    with pytest.raises(ValueError, match="no generator"):
        stonet.datasets.generate("nothing")
