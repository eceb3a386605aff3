"""Who may look at whom: masks, as matrices of what is added to the scores or of what is kept of the weights."""

from __future__ import annotations

import numpy as np

from attncalc.rounding import MINUS_INFINITY, Flags
from attncalc.steps import Matrix


def causal(n: int) -> Flags:
    """Query i sees the keys up to i, itself among them, n × n (Vaswani et al. 2017, section 3.2.3)."""
    return np.tril(np.ones((n, n), dtype=bool))


def additive(visible: Flags) -> Matrix:
    """0 where a key is visible, -∞ where it is not; e^-∞ is 0."""
    return Matrix(np.where(visible, 0.0, -np.inf), np.where(visible, "0", MINUS_INFINITY).astype(object))


def kept(visible: Flags) -> Matrix:
    """1 where a key is visible, 0 where it is not."""
    return Matrix(visible.astype(float), np.where(visible, "1", "0").astype(object))
