"""The one step that somebody means by a name: its id, an ending that only its id has, or `result`."""

from __future__ import annotations

from attncalc.errors import UsageError
from attncalc.problem.schema import nearest
from attncalc.problem.source import short, some_of
from attncalc.solution import Solution
from attncalc.steps import Step

MOST_NAMED = 3


def step_named(solution: Solution, name: str) -> Step:
    """The step of this name; of two that is worked, rather than one that is given. Raises UsageError where there is
    none, or more than one."""
    found = solution.called(name)
    if len(found) > 1 and found[0].id == name:
        found = found[1:]
    if len(found) == 1:
        return found[0]
    if found:
        ids = some_of([step.id for step in found], MOST_NAMED)
        raise UsageError(f"{short(name)} is the end of {ids}", "write more of the id")
    what = f"this problem has no step {short(name) or 'without a name'}"
    raise UsageError(what, nearest(name, [*solution.steps, "result"]))
