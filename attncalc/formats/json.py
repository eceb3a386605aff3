"""json: the steps themselves, for scripts. The only format that reads steps; its keys are a contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from attncalc.blocks import Math
from attncalc.digits import shown
from attncalc.errors import UsageError
from attncalc.expr import Expr
from attncalc.formats.in_pieces import PORTION, between, whole
from attncalc.formats.json_text import dumped
from attncalc.formats.notation import line
from attncalc.formats.text_math import TEXT
from attncalc.rounding import Rule
from attncalc.solution import Group, Solution
from attncalc.steps import Axis, Step

MOST_FIGURES = 1_400_000  # each is here twice, and none is left out: one matrix of so many takes 190 MB


def pieces(solution: Solution, rule: Rule, *, only: Sequence[Step] = ()) -> Iterator[str]:
    """One object; a line for each step. `only` leaves out the other steps."""
    groups = dict(_groups(solution.root, ""))
    chosen = [step for step in solution.steps.values() if not only or step in only]
    figures = sum(step.values.size for step in chosen)
    if figures > MOST_FIGURES:
        raise UsageError(f"json has room for {MOST_FIGURES} figures, not {figures}", "name steps: --step result")
    head = {"format": "attncalc/1", "conventions": _conventions(solution, rule)}
    yield f'{_dump(head)[:-1]}, "steps": [\n  '
    for k, step in enumerate(chosen):
        yield ",\n  " if k else ""
        yield from _step(step, groups[step.id], rule)
    yield f'\n], "result": {_dump(solution.result.id)}}}\n'


render = whole(pieces)


def _dump(value: Any) -> str:
    return dumped(value, _formula)


def _formula(value: Expr) -> str:
    return line(Math(value), TEXT)


def _groups(group: Group, path: str) -> Iterator[tuple[str, str]]:
    for member in group.members:
        if isinstance(member, Group):
            key = f"{member.key}{member.number or ''}"
            yield from _groups(member, f"{path}.{key}" if path else key)
        elif isinstance(member, Step):
            yield member.id, path


def _conventions(solution: Solution, rule: Rule) -> dict[str, Any]:
    said: dict[str, list[Any]] = {}
    for key, choice, details in solution.conventions:
        said.setdefault(key, []).append({"choice": choice, **details})
    chosen = {key: each[0] if len(each) == 1 else each for key, each in said.items()}  # layers may differ
    decimals = {"default": rule.decimals, **rule.by_step}
    rounding = {"choice": rule.rounding, "decimals": decimals, "ties": rule.ties, "weights": rule.weights}
    return {"vectors": "row", **chosen, "rounding": rounding, "numbers": rule.numbers}


def _step(step: Step, group: str, rule: Rule) -> Iterator[str]:
    """One object on one line, its rows in portions."""
    head = {
        "id": step.id,
        "kind": step.kind,
        "group": group,
        "symbol": _formula(step.symbol),
        "rows": _labels(step.rows),
        "columns": _labels(step.columns),
        "operands": [operand.id for operand in step.operands],
    }
    yield f'{_dump(head)[:-1]}, "values": ['
    yield from between(", ", (_rows([[_value(x) for x in row] for row in each.tolist()]) for each in _cut(step.values)))
    yield '], "shown": ['
    yield from between(", ", (_rows(each.tolist()) for each in _cut(shown(step, rule))))
    yield "]}"


def _cut(matrix: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Its rows, some at a time."""
    rows = max(1, PORTION // matrix.shape[1])
    return (matrix[start : start + rows] for start in range(0, len(matrix), rows))


def _rows(rows: list[list[Any]]) -> str:
    return _dump(rows)[1:-1]


def _labels(axis: Axis | None) -> tuple[str, ...] | None:
    return axis.labels if axis else None


def _value(x: float) -> float | str:
    """12 significant digits: what float64 agrees on from machine to machine."""
    return "-inf" if x == float("-inf") else float(f"{x:.12g}") + 0.0
