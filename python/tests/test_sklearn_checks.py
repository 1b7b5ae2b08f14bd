"""scikit-learn's own checks, one test a check and estimator."""
from __future__ import annotations

import pytest
from cheap import SETTINGS, make
from sklearn.utils.estimator_checks import parametrize_with_checks


@parametrize_with_checks([make(name) for name in SETTINGS])
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(estimator, check):
    check(estimator)
