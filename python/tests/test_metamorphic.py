"""What must not matter to a default fit, by way of Python; cli/test_metamorphic.c has the whole family."""

import numpy as np

import stonet


def _table():
    random = np.random.RandomState(38)
    x = random.normal(size=(140, 3))
    return x, x[:, 0] + np.sin(2 * x[:, 1]) + 0.2 * random.normal(size=140)


def test_powers_of_two_and_single_rows():
    x, y = _table()
    usual = stonet.StoNetRegressor(n_components=1, random_state=1).fit(x[:40], y[:40])
    other = stonet.StoNetRegressor(n_components=1, random_state=1).fit(x[:40] * [0.25, 8, 1024], y[:40])
    expected = usual.predict(x[40:])
    np.testing.assert_array_equal(other.predict(x[40:] * [0.25, 8, 1024]), expected)
    np.testing.assert_array_equal([usual.predict(row[None])[0] for row in x[40:]], expected)
