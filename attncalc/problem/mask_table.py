"""What `attncalc mask` is asked about: a mask by itself, and perhaps figures to put it on."""

from __future__ import annotations

from typing import NamedTuple

from attncalc.problem.masks import Mask
from attncalc.steps import Matrix


class MaskTable(NamedTuple):
    """A mask over `size` positions; S, scores that are ready for softmax, or A, weights, are size × size."""

    size: int
    mask: Mask
    tokens: tuple[str, ...] | None = None
    S: Matrix | None = None
    A: Matrix | None = None
