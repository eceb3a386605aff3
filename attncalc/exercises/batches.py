"""Draws that are judged together, and what is seen of them without another habit or method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from attncalc.exercises.habits import Many, digits, worked
from attncalc.problem.fitness import has_equal_rows, is_flat, is_its_transpose
from attncalc.rounding import Flags, Floats, rounded
from attncalc.steps import Step


@dataclass(frozen=True, eq=False)
class Batch:
    """Draws that are judged together: the figures of their matrices, those of `steps` in full precision, and what is
    written of these where it is `asked` for."""

    drawn: Many
    steps: tuple[Step, ...]
    asked: Mapping[str, Flags]

    @property
    def size(self) -> int:
        return int(next(iter(self.drawn.values())).shape[-1])

    @cached_property
    def exact(self) -> Many:
        return worked(self.steps, self.drawn)

    @cached_property
    def written(self) -> Many:
        """Only the figures that are asked for: k × b."""
        asked = [step for step in self.steps if step.id in self.asked]
        return {step.id: digits(step, self.exact[step.id][self.asked[step.id]]) for step in asked}

    def only(self, kept: Flags) -> Batch:
        if kept.all():
            return self
        batch = Batch(_only(self.drawn, kept), self.steps, self.asked)
        for known in ("exact", "written"):
            if known in vars(self):
                vars(batch)[known] = _only(vars(self)[known], kept)
        return batch


def _only(figures: Many, kept: Flags) -> Many:
    return {key: each[..., kept] if each.shape[-1] == len(kept) else each for key, each in figures.items()}


def has_flat_matrices(batch: Batch) -> Flags:
    return any_of(batch, (is_flat(path, figures) for path, figures in batch.drawn.items()))


def has_like_matrices(batch: Batch) -> Flags:
    """A matrix that is its own transpose, or the same as another one."""
    matrices = batch.drawn.values()
    alike: dict[tuple[int, ...], list[Floats]] = {}
    for each in matrices:
        alike.setdefault(each.shape, []).append(each.reshape(-1, each.shape[-1]))
    are_same = (has_equal_rows(np.stack(each)) for each in alike.values())
    return any_of(batch, (*map(is_its_transpose, matrices), *are_same))


def any_of(batch: Batch, bad: Iterable[Flags]) -> Flags:
    """Which draws are bad by one of these; those of what rests on no drawn matrix are one for all draws."""
    return reduce(np.logical_or, bad, np.zeros(batch.size, dtype=bool))


def has_like_rows(step: Step, figures: Floats) -> Flags:
    """Of which draws all rows are alike as they are shown."""
    with np.errstate(invalid="ignore"):  # ∞ - ∞
        apart = np.abs(figures - figures[:1]) > 1.5 * 10.0**-step.places
    alike: Flags = np.asarray(~apart.any(axis=(0, 1)))  # others are never rounded to the same
    if alike.any():
        written = digits(step, figures[..., alike])
        alike[alike] = (written == written[:1]).all(axis=(0, 1))
    return alike


def is_plain(weights: Floats, places: int) -> Flags:
    """Rows whose weights, of those that are not hidden, are all alike, or all on one; n × b."""
    seen = weights > 0
    shown = rounded(weights, places)
    most = shown.max(axis=1)
    least = np.where(seen, shown, np.inf).min(axis=1)
    plain: Flags = (seen.sum(axis=1) > 1) & ((most == least) | (most == 1))
    return plain
