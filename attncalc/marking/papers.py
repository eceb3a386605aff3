"""What a class handed in: the marking of each paper, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from attncalc.marking.marks import Score, total
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


def earned(papers: Sequence[Paper]) -> tuple[Fraction, Fraction] | None:
    """The marks of one student for all problems, and what they are out of; None where a paper can't be read, of which
    nobody knows what it is worth."""
    if any(paper.error for paper in papers):
        return None
    return total(score for paper in papers for score in paper.scores)


def by_student(papers: Iterable[Paper]) -> list[list[Paper]]:
    """Student by student: one paper, or one for each of several problems."""
    found: dict[str, list[Paper]] = {}
    for paper in papers:
        found.setdefault(paper.name, []).append(paper)
    return list(found.values())
