"""Which matrices make no exercise, whatever else is drawn: flat ones, and those that hide that they were transposed."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from attncalc.rounding import Flags, Floats

FEW = 8  # rows or columns; the minors of more are many


def is_weight(path: str) -> bool:
    """Whether the matrix of a path is one of weights, and no input."""
    return path.rpartition(".")[2].startswith("W")


def unfit(path: str, figures: Floats) -> Flags:
    """Which matrices, n × m × .., are not fit to be drawn."""
    return is_flat(path, figures) | is_its_transpose(figures)


def is_flat(path: str, figures: Floats) -> Flags:
    """A row or a column of zeros, a rank that is not full, or an input with two equal rows."""
    n, m = figures.shape[:2]
    flat = (figures == 0).all(axis=0).any(axis=0) | (figures == 0).all(axis=1).any(axis=0)
    if min(n, m) > 1:
        flat |= _is_dependent(figures)
    if not is_weight(path):
        flat |= has_equal_rows(figures)
    return np.asarray(flat)


def has_equal_rows(figures: Floats) -> Flags:
    """Whether two rows are equal: sorted, they are neighbours."""
    order = np.lexsort(figures.swapaxes(0, 1)[::-1], axis=0)
    rows = np.take_along_axis(figures, order[:, np.newaxis], axis=0)
    return np.asarray((rows[1:] == rows[:-1]).all(axis=1).any(axis=0))


def _is_dependent(figures: Floats) -> Flags:
    """Whether the rank is not full; where it could be 2, by the few minors, which is a hundred times faster."""
    n, m = figures.shape[:2]
    if min(n, m) > 2 or max(n, m) > FEW:
        return np.asarray(np.linalg.matrix_rank(np.moveaxis(figures, (0, 1), (-2, -1))) < min(n, m))
    a, b = figures.swapaxes(0, 1) if m == 2 else figures
    return np.asarray(np.all([a[i] * b[j] == a[j] * b[i] for i, j in combinations(range(max(n, m)), 2)], axis=0))


def is_its_transpose(figures: Floats) -> Flags:
    if not figures.shape[0] == figures.shape[1] > 1:
        return np.zeros(figures.shape[2:], dtype=bool)
    return np.asarray((figures == figures.swapaxes(0, 1)).all(axis=(0, 1)))
