"""What a class handed in: the marking of each paper, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from attncalc.marking.marks import Score
from attncalc.marking.verdicts import Marking
from attncalc.show import Show


class Paper(NamedTuple):
    """What one student handed in to one problem; without a marking where `error` says why it can't be read. `number`
    is that of the problem, from 1, among several that each student has."""

    name: str
    marking: Marking | None
    show: Show = Show()
    scores: Sequence[Score] = ()
    error: str = ""
    number: int = 1

    @property
    def is_right(self) -> bool:
        return self.marking is not None and self.marking.is_right


def by_student(papers: Iterable[Paper]) -> list[list[Paper]]:
    """Student by student: one paper, or one for each of several problems."""
    found: dict[str, list[Paper]] = {}
    for paper in papers:
        found.setdefault(paper.name, []).append(paper)
    return list(found.values())
