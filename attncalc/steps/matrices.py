"""What steps are made of: the figures that a problem states, and what rows and columns stand for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attncalc.digits import decimals_of
from attncalc.rounding import Flags, Floats, Texts


@dataclass(frozen=True, eq=False)
class Matrix:
    """Figures that were given: `values` (n × m, float64) and, cell by cell, how each was `written`.

    `written` is None where figures come from a binary file: those are printed to the decimals, and inexact. `drawn` is
    the path, with indices from 1, of a matrix that was drawn for it.
    """

    values: Floats
    written: Texts | None
    drawn: str = ""

    @property
    def is_written(self) -> bool:
        return self.written is not None

    def copied(self) -> Floats:
        """The values, for whoever changes them."""
        return self.values.copy()

    @cached_property
    def decimals(self) -> int | None:
        return None if self.written is None else decimals_of(self.written)


@dataclass(frozen=True, eq=False)
class OneOfTwo:
    """A matrix whose figures are one of two, each a value and how it is written, made when they are asked for: a mask
    may have millions."""

    flags: Flags
    yes: tuple[float, str]
    no: tuple[float, str]
    drawn: str = ""

    @property
    def is_written(self) -> bool:
        return True

    def copied(self) -> Floats:
        return self.values

    @property
    def values(self) -> Floats:
        return np.where(self.flags, self.yes[0], self.no[0])

    @property
    def written(self) -> Texts:
        both = np.array([self.no[1], self.yes[1]], dtype=object)  # each text once, however many cells hold it
        return np.asarray(both[self.flags.astype(np.intp)])

    @property
    def decimals(self) -> int:
        return decimals_of(np.array([self.yes[1], self.no[1]], dtype=object))


@dataclass(frozen=True, eq=False)
class Axis:
    """What the rows or columns of matrices stand for: the tokens of one sequence. Known by identity: the queries and
    the keys of self-attention are one axis, those of cross-attention two, whatever their labels."""

    labels: tuple[str, ...] | None = None
    name: str = "position"  # what one of them is called that has no label: position, query, key
