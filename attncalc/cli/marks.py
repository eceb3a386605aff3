"""What --marks says: the marks of steps, and of which of several problems they are."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from attncalc.errors import UsageError
from attncalc.marking.marks import read_marks
from attncalc.marking.naming import step_named
from attncalc.solution import Solution


class Worth(NamedTuple):
    """The marks of a step, as --marks says them; `number`: of which problem it is, where it says so."""

    number: int | None
    step: str
    marks: Fraction


def worth_of(marks: str | None, problems: int) -> list[Worth]:
    """A=2,O=3, or 1: A=2,2: O=3 where there are several problems."""
    found = []
    for part in marks.split(",") if marks is not None else ():
        name, sign, text = part.partition("=")
        given = read_marks(text)
        if not sign or given is None:
            raise UsageError(f"--marks {part.strip()!r} is not like A=2", "write a step and its marks: A=2,O=3")
        number, colon, step = name.replace("：", ":").rpartition(":")
        if colon and number.strip() not in map(str, range(1, problems + 1)):
            hint = f"number it from 1 to {problems}" if problems > 1 else f"write {step.strip()}={text}"
            raise UsageError(f"--marks {part.strip()!r} names a problem that is not there", hint)
        found.append(Worth(int(number) if colon else None, step.strip(), given))
    return found


def by_id(worth: Sequence[Worth], solution: Solution, number: int, *, several: bool) -> dict[str, Fraction]:
    """The marks of one problem's steps, by their ids."""
    found: dict[str, Fraction] = {}
    for each in worth:
        if each.number not in (None, number):
            continue
        try:
            id = step_named(solution, each.step).id
        except UsageError as error:
            if several and each.number is None:
                what = f"--marks, in problem {number}: {error.what}"
                raise UsageError(what, f"say which problem it is of, as in 1: {each.step}=2") from None
            raise UsageError(f"--marks: {error.what}", error.hint) from None
        if id in found:
            raise UsageError(f"--marks names {id} twice", "keep one of them")
        found[id] = each.marks
    return found
