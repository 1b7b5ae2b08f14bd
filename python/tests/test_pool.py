"""Rubin's rules, against the numbers of R's mice 3.15 (pool.scalar)."""
import numpy as np
import pytest

import stonet

Q, U = [2.1, 2.4, 1.9, 2.6], [0.10, 0.12, 0.09, 0.11]


def test_numbers_are_those_of_mice() -> None:
    found = stonet.pool_estimates(Q, U, df=28)  # n = 30, k = 2
    assert np.allclose([found.estimate, found.variance, found.df, found.fmi],
                       [2.25, 0.2258333, 5.6325444, 0.6427744], rtol=1e-6)
    assert np.isclose(stonet.pool_estimates(Q, U).df, 10.4790963)


def test_columns_are_pooled_each_for_itself() -> None:
    found = stonet.pool_estimates([[1, 1], [1, 3]], [[1, 0], [1, 0]])
    assert found.df.tolist() == [np.inf, 1]
    assert found.fmi.tolist() == [0, 1]
    assert found.variance.tolist() == [1, 3]


@pytest.mark.parametrize(("estimate", "variance", "df", "words"), [
    ([1], [1], 9, "two tables"),
    ([1, 2], [1, 2, 3], 9, "same shape"),
    ([1, 2], [1, -1], 9, "not below 0"),
    ([1, np.nan], [1, 1], 9, "finite"),
    ([1, 2], [1, 1], 0, "above 0"),
])
def test_refusals(estimate: list[float], variance: list[float], df: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        stonet.pool_estimates(estimate, variance, df)
