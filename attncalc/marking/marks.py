"""What written figures are worth: marks for each step, shared out evenly over its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from attncalc import digits
from attncalc.marking.verdicts import CORRECT, FOLLOWS, IMPRECISE, Marking
from attncalc.marking.written import written
from attncalc.rounding import decimals_of

# What a figure that follows from an earlier slip is worth. One that follows from rounded figures is right, and so is
# one that is short of a decimal, though it is named: nobody is marked down for rounding.
FOLLOW_THROUGH = {"full": Fraction(1), "half": Fraction(1, 2), "none": Fraction(0)}


class Score(NamedTuple):
    """The marks of a step: how many of its figures are right (`earned`, as shares of a figure) of `figures`, and the
    marks `given` of `worth`."""

    step: str
    earned: Fraction
    figures: int
    given: Fraction
    worth: Fraction


def read_marks(text: str) -> Fraction | None:
    """A number of marks above 0, as it is typed: 2, 1.5; None for what is none."""
    figure = written(text)
    return Fraction(str(figure.value)) if figure.decimals is not None and (figure.value or 0) > 0 else None


def as_text(marks: Fraction) -> str:
    """Marks as they are shown: a decimal whole, 2, 1.5, 0.001; another to hundredths, or to two digits."""
    own = decimals_of(marks)
    return digits.fraction(marks, _enough(marks) if own is None else own)


def about(marks: Fraction, worth: Fraction) -> Fraction:
    """Marks in hundredths, in those of what is less than a tenth, or with as many decimals as those they are out of."""
    return Fraction(digits.fraction(marks, max(_enough(marks), decimals_of(worth) or 0)))


def _enough(marks: Fraction) -> int:
    """Two decimals, or so many that the first digit that is not 0 has one after it."""
    places = 2
    while 0 < marks * 10**places < 10:
        places += 1
    return places


def scores(marking: Marking, worth: Mapping[str, Fraction], follow_through: str = "full") -> list[Score]:
    """The marks of each step that is worth some; a step that was not written gets none."""
    return [_score(marking, id, marks, FOLLOW_THROUGH[follow_through]) for id, marks in worth.items()]


def _score(marking: Marking, id: str, worth: Fraction, follows: Fraction) -> Score:
    # Marks are given as they are shown, so that those of the steps add up to those of all.
    marked = marking.steps.get(id)
    if marked is None:
        return Score(id, Fraction(0), marking.solution.steps[id].values.size, Fraction(0), worth)
    figures = int(np.count_nonzero(marked.verdicts != ""))
    rest = marked.from_slips
    whole = np.isin(marked.verdicts, [CORRECT, IMPRECISE, FOLLOWS]) & ~rest
    earned = int(np.count_nonzero(whole)) + follows * int(np.count_nonzero(rest))
    return Score(id, earned, figures, about(worth * earned / figures, worth) if figures else Fraction(0), worth)


def total(scores: Iterable[Score]) -> tuple[Fraction, Fraction]:
    """The marks given for all steps, and what they are worth."""
    every = list(scores)
    return sum((score.given for score in every), Fraction(0)), sum((score.worth for score in every), Fraction(0))
