"""Displayed formulas as LaTeX: below one another with their first signs aligned, broken where they are long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from attncalc.blocks import Beside, Formula, Grid, Math
from attncalc.expr import Expr
from attncalc.formats.forms import RELATIONS, segments, set_off
from attncalc.formats.latex_math import LATEX
from attncalc.formats.notation import line
from attncalc.formats.text_math import GAP, TEXT
from attncalc.formats.width import display_width

LONG = 100  # columns, as text, of a line that is better broken
MOST_PARTS = 3  # of a chain on one line

Row: TypeAlias = tuple[tuple[str, Expr | None], ...]  # the parts of a line, each after what is set before it


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
    if len(maths) == 1 and len(_rows_of(maths[0])) == 1:
        return line(maths[0], LATEX).strip()
    lines = [row for math in maths for row in _lines_of(math)]
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


def _lines_of(math: Math) -> list[str]:
    """The formula in lines with one "&" each, for the place that is aligned."""
    lines = ["".join([before + _part(math, part) for before, part in row]) for row in _rows_of(math)]
    # In brackets after a line's end LaTeX expects a distance.
    return ["{}" + text if text.startswith("[") else text.strip() for text in lines]


def _part(math: Math, part: Expr | None) -> str:
    return line(Math(part, math.figures), LATEX) if part else ""


def _rows_of(math: Math) -> tuple[Row, ...]:
    return _rows(math.pattern, once=math.pattern.op == "spaced" or not is_long(math))


@lru_cache(maxsize=4096)
def _rows(pattern: Expr, once: bool) -> tuple[Row, ...]:
    """A chain in lines of its parts, its signs aligned; `once`: all on the line of the first sign."""
    if pattern.op == "spaced":
        first, *rest = pattern.args
        (row,) = _rows(first, once)
        return ((*row, *((r" \qquad ", part) for part in rest)),)
    rows: list[list[tuple[str, Expr | None]]] = [[]]
    marked, before = False, ""
    for i, (sign, part) in enumerate(segments(pattern)):
        relation = sign in RELATIONS
        another = relation and marked and not once and before not in {",", ";"}  # a = b, c = d stays one line
        if another:
            rows.append([])
        mark = relation and (another or not marked)
        marked, before = marked or mark, sign
        rows[-1].append((_setting(sign, mark, at_start=i == 0), part))
    if not marked:
        rows[0].insert(0, ("& ", None))
    return tuple(map(tuple, rows))


def _setting(sign: str, mark: bool, *, at_start: bool) -> str:
    if not sign:
        return ""
    setting = LATEX.sign(sign)
    return set_off("&" + setting if mark else setting, at_start)
