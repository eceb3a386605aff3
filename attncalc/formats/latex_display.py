"""Displayed formulas as LaTeX: below one another with their first signs aligned, broken where they are long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from attncalc.blocks import Beside, Formula, Grid, Math
from attncalc.expr import Expr
from attncalc.formats.forms import RELATIONS, segments
from attncalc.formats.latex_math import LATEX
from attncalc.formats.notation import line
from attncalc.formats.text_math import GAP, TEXT
from attncalc.formats.width import display_width

LONG = 100  # columns, as text, of a line that is better broken
MOST_PARTS = 3  # of a chain on one line

MARK = "&"  # before the sign that is aligned with those of other rows
ALIGNED = replace(LATEX, sign=lambda sign: MARK + LATEX.sign(sign[1:]) if sign.startswith(MARK) else LATEX.sign(sign))


def length(math: Math) -> int:
    """How wide the formula is as text: of a matrix, its first row."""
    return display_width(line(math, TEXT, grid=_first_row))


def _first_row(grid: Grid) -> str:
    return f"[{', '.join(grid.cells[0]) if len(grid.cells) else ''}]"


def is_long(math: Math) -> bool:
    """Whether the formula is better broken at its signs."""
    return _relations(math.pattern) >= MOST_PARTS or length(math) > LONG


@lru_cache(maxsize=4096)
def _relations(pattern: Expr) -> int:
    return sum(sign in RELATIONS for sign, _ in segments(pattern))


def display(maths: Sequence[Math]) -> str:
    """What stands in a displayed formula: the formulas below one another, first signs aligned, long ones broken."""
    rows = [(math, _rows_of(math)) for math in maths]
    if len(rows) == len(rows[0][1]) == 1:
        return line(maths[0], LATEX).strip()
    lines = [_aligned(Math(row, math.figures)) for math, own in rows for row in own]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def displays(beside: Beside) -> Iterator[str]:
    """Displayed formulas, of as many formulas side by side as there is room for."""
    row: list[Formula] = []
    width = 0
    for formula in beside.formulas:
        own = max(map(length, formula.lines))
        if row and width + GAP + own > LONG:
            yield _side_by_side(row)
            row, width = [], 0
        width += own + (GAP if row else 0)
        row.append(formula)
    if row:
        yield _side_by_side(row)


def _side_by_side(formulas: Sequence[Formula]) -> str:
    if len(formulas) == 1:
        return display(formulas[0].lines)
    return r" \qquad ".join(
        display(formula.lines) if len(formula.lines) > 1 else line(formula.lines[0], LATEX).strip()
        for formula in formulas
    )


def _aligned(row: Math) -> str:
    text = line(row, ALIGNED)
    return "{}" + text if text.startswith("[") else text.strip()  # after a line's end LaTeX takes [..] for a distance


def _rows_of(math: Math) -> tuple[Expr, ...]:
    rows = _rows(math.pattern, once=math.pattern.op == "spaced")
    return rows if len(rows) == 1 or is_long(math) else _rows(math.pattern, once=True)


@lru_cache(maxsize=4096)
def _rows(pattern: Expr, once: bool) -> tuple[Expr, ...]:
    """A chain in rows that are chains, of which the signs to be aligned are marked; `once`: all in one."""
    if pattern.op == "spaced":
        first, *rest = pattern.args
        (row,) = _rows(first, once)
        return (Expr("spaced", row, *rest),)
    rows: list[list[Expr]] = [[]]
    marked, before = False, ""
    for sign, part in segments(pattern):
        relation = sign in RELATIONS
        another = relation and marked and not once and before not in {",", ";"}  # a = b, c = d stays one line
        if another:
            rows.append([])
        mark = relation and (another or not marked)
        marked, before = marked or mark, sign
        rows[-1] += [*([Expr("text", MARK + sign if mark else sign)] if sign else []), *([part] if part else [])]
    if not marked:
        rows[0].insert(0, Expr("text", MARK))
    return tuple(Expr("chain", *row) for row in rows)
