"""Rubin's rules for estimates from completed tables."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class PooledEstimates(NamedTuple):
    """Pooled estimates; every field has one number an estimate."""

    estimate: npt.NDArray[np.float64]
    variance: npt.NDArray[np.float64]
    within: npt.NDArray[np.float64]
    between: npt.NDArray[np.float64]
    df: npt.NDArray[np.float64]
    fmi: npt.NDArray[np.float64]


def pool_estimates(estimate: npt.ArrayLike, variance: npt.ArrayLike, df: float = np.inf) -> PooledEstimates:
    """Pool estimates over completed tables, as ``stonet impute`` writes them, by Rubin's rules.

    Parameters
    ----------
    estimate : array-like of shape (n_tables,) or (n_tables, n_estimates)
        The estimates of every table.
    variance : array-like of the same shape
        Their squared standard errors.
    df : float, default=inf
        Degrees of freedom that a complete table would have.

    Returns
    -------
    PooledEstimates
        ``estimate``; ``variance``, which is ``within`` + (1 + 1 / m) ``between``; ``df``, the degrees of freedom of
        Barnard and Rubin (1999); ``fmi``, the share of the information that the missing cells took.
    """
    q, u = np.asarray(estimate, dtype=np.float64), np.asarray(variance, dtype=np.float64)
    if q.shape != u.shape or q.ndim not in (1, 2):
        raise ValueError("estimate and variance must have the same shape: one row a table")
    m = q.shape[0]
    if m < 2:
        raise ValueError("pooling needs the estimates of two tables or more")
    if not (np.isfinite(q).all() and np.isfinite(u).all() and (u >= 0).all()):
        raise ValueError("estimates must be finite numbers, variances not below 0")
    if not df > 0:
        raise ValueError("df must be above 0")
    within, between = np.asarray(u.mean(axis=0)), np.asarray(q.var(axis=0, ddof=1))
    total = within + (1 + 1 / m) * between
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = np.where(total > 0, (1 + 1 / m) * between / total, 0.0)
        old = (m - 1) / lost**2
        observed = (df + 1) / (df + 3) * df * (1 - lost) if np.isfinite(df) else np.full_like(lost, np.inf)
        pooled = 1 / (1 / old + 1 / observed)
        rise = lost / (1 - lost)
        fmi = np.where(np.isfinite(rise), (rise + 2 / (pooled + 3)) / (rise + 1), 1.0)
    return PooledEstimates(np.asarray(q.mean(axis=0)), total, within, between, pooled, np.where(lost > 0, fmi, 0.0))
