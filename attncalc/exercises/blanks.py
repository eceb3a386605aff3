"""Which figures of a solution are asked for: whole steps, rows or cells of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from attncalc.errors import UsageError
from attncalc.marking.answer_reader import MOST_ASKED, room_of
from attncalc.marking.naming import of_symbol
from attncalc.marking.template import asked_steps, by_choice, is_single, known_axes
from attncalc.problem.source import MOST_IDS, some_of
from attncalc.rounding import Flags
from attncalc.solution import Solution
from attncalc.steps import Step

Asked = dict[str, Flags]  # by step id, n × m: which figures are asked for

# What the size of a model comes to: the figures of it that nothing more is worked from.
_FINAL = frozenset({"total", "active", "bytes"})

_blank = re.compile(r"([A-Za-z][\w.]*)(?:\[(\*|\d+)(?:,(\*|\d+))?\])?").fullmatch


@dataclass(frozen=True)
class Hidden:
    """What a sheet may not show: the figures that are asked for, and those that are worked from them, which would give
    them away."""

    asked: Asked
    rest: Asked

    def is_asked(self, id: str, i: int, j: int) -> bool:
        return id in self.asked and bool(self.asked[id][i, j])

    def hides(self, id: str, i: int, j: int) -> bool:
        return self.is_asked(id, i, j) or bool(self.rest[id][i, j])

    def figures(self, id: str) -> Flags:
        """All of a step that it may not show."""
        return np.asarray(self.rest[id] | self.asked.get(id, False))


def by_level(solution: Solution, level: int) -> Asked:
    """Level 1 asks for the weights and the result, of a size for all that it comes to; 2 for every step that is worked;
    3 for every step but what one row of the result is worked from, which is shown; where that is one row itself, of the
    last step before it that has several, and for nothing where none has."""
    steps = asked_steps(solution)
    if level == 1:
        wanted = {solution.result.id, *(step.id for step in steps if step.rows_sum_to_one or step.role in _FINAL)}
        return {step.id: np.ones(step.shape, dtype=bool) for step in steps if step.id in wanted}
    asked = {step.id: np.ones(step.shape, dtype=bool) for step in steps}
    if level == 3:
        example = _of_several_rows(solution)
        if example is None:
            return {}
        needed = _needed(solution, example, _telling(solution, example))
        asked = {id: flags & ~needed[id] for id, flags in asked.items()}
    return {id: flags for id, flags in asked.items() if flags.any()}


def _of_several_rows(solution: Solution) -> Step | None:
    """The result, where one row of it can be an example of the others; else the last such step that it is worked from,
    as are the losses of which a perplexity comes."""
    way = solution.leading_to([solution.result.id])
    may_be = (step for step in reversed(solution.steps.values()) if step.is_worked or step is solution.result)
    return next((step for step in may_be if step in way and step.shape[0] > 1), None)


def _telling(solution: Solution, example: Step) -> int:
    """The first row of a step that shows how rows are worked: in which each attention of its tokens weighs more than
    one; under a causal mask that of the first token does not."""
    own = [step for step in solution.steps.values() if step.role == "weights" and step.rows is example.rows is not None]
    tells = [all((step.values[i] > 0).sum() > 1 for step in own) for i in range(example.shape[0])]
    return tells.index(True) if any(tells) else 0


def _needed(solution: Solution, step: Step, i: int) -> Asked:
    """All that one row of a step is worked from, itself among it."""
    needed = {id: np.zeros(each.shape, dtype=bool) for id, each in solution.steps.items()}
    waiting = [(step, i, j) for j in range(step.shape[1])]
    while waiting:
        step, i, j = waiting.pop()
        if not needed[step.id][i, j]:
            needed[step.id][i, j] = True
            waiting += step.working(i, j).cells if step.operands else []
    return needed


def names(options: Sequence[str]) -> list[str]:
    """`A,exp[1,*]` as A and exp[1,*]."""
    return [part for option in options for part in re.split(r",(?![^\[]*\])", option)]


def by_names(solution: Solution, blanks: Sequence[str]) -> Asked:
    """`A` is every figure of that step, of each head likewise; `exp[1,*]` is its first row, `exp[2,1]` one figure, from
    1. Raises UsageError for one that matches nothing."""
    asked: Asked = {}
    for blank in blanks:
        match = _blank(blank.strip())
        if match is None:
            raise UsageError(f"--blank {blank.strip()!r} is not like A, exp[1,*] or exp[2,1]", "name a step by its id")
        name, row, column = match.groups()
        for step in _named(solution, name):
            rows, columns = (_index(each, size, blank) for each, size in zip((row, column), step.shape, strict=True))
            flags = asked.setdefault(step.id, np.zeros(step.shape, dtype=bool))
            flags[rows, columns] = True
    return {id: asked[id] for id in solution.steps if id in asked}


def of_several(solutions: Sequence[Solution], blanks: Sequence[str]) -> list[Asked]:
    """The same for several problems: each blank names a step of one of them at least."""
    for blank in blanks:
        if not any(is_here(solution, blank) for solution in solutions):
            by_names(solutions[0], [blank])  # says so
    return [by_names(each, [blank for blank in blanks if is_here(each, blank)]) for each in solutions]


def is_here(solution: Solution, blank: str) -> bool:
    """Whether a blank names a step that is worked here."""
    match = _blank(blank.strip())
    return match is not None and bool(_worked(solution, match[1]))


def refuse_without_room(every: Iterable[tuple[Solution, Asked]]) -> None:
    """Raises UsageError where what is asked for, of all problems of a sheet, is so much that nobody fills it in."""
    figures = sum(
        room_of(solution.steps[id], int(flags.sum())) for solution, asked in every for id, flags in asked.items()
    )
    if figures > MOST_ASKED:
        what = f"steps as long as {figures} figures to fill in are more than there is room for"
        raise UsageError(what, "ask for some of them, --blank A[1,*], or give fewer rows or columns")


def asks_a_matrix(solution: Solution, asked: Asked) -> bool:
    """Whether anything is asked for that has a shape to ask for as well."""
    known = known_axes(solution)
    return not all(is_single(solution.steps[id], known) for id in asked)


def hidden(solution: Solution, asked: Asked) -> Hidden:
    """What the sheet of these blanks may not show beside them: where one weight of a row is asked for, not the others,
    as they add up to 1; where the choice is not shown, nothing that is there because of it."""
    alone = {
        id: (flags.sum(axis=1, keepdims=True) == 1) & ~flags
        for id, flags in asked.items() if solution.steps[id].rows_sum_to_one
    }  # fmt: skip
    rest = solution.reached({id: flags | alone.get(id, False) for id, flags in asked.items()})
    rest = {id: flags | alone.get(id, False) for id, flags in rest.items()}
    if any(rest[id].any() or id in asked for id, step in solution.steps.items() if step.role == "chosen"):
        rest |= {id: np.ones_like(rest[id]) for id in by_choice(solution)}
    return Hidden(asked, rest)


def _named(solution: Solution, name: str) -> list[Step]:
    found = _worked(solution, name)
    if not found:
        known = some_of([step.id for step in asked_steps(solution)], MOST_IDS)
        hint = of_symbol(solution, name) or f"there are {known}"
        raise UsageError(f"--blank {name} names no step that is worked here", hint)
    return found


def _worked(solution: Solution, name: str) -> list[Step]:
    """The steps of this id, or whose ids end with it, that are worked rather than given or copied; or the result."""
    if name in ("result", solution.result.id):
        return [solution.result]
    return [step for step in solution.called(name) if step.is_worked]


def _index(text: str | None, size: int, blank: str) -> slice:
    if text in (None, "*"):
        return slice(None)
    k = int(text or 0)
    if not 1 <= k <= size:
        what = f"--blank {blank.strip()} matches nothing: counted from 1, there are {size}"
        raise UsageError(what, "name one of them")
    return slice(k - 1, k)
