"""Displayed formulas as LaTeX: below one another with their first signs aligned, broken where they are long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncalc.blocks import Beside, Formula, Grid, Math
from attncalc.formats.forms import RELATIONS, segments, set_off
from attncalc.formats.latex_math import LATEX
from attncalc.formats.notation import line
from attncalc.formats.text_math import GAP, TEXT
from attncalc.formats.width import display_width

LONG = 100  # columns, as text, of a line that is better broken
MOST_PARTS = 3  # of a chain on one line


def length(math: Math) -> int:
    """How wide the formula is as text: of a matrix, its first row."""
    return display_width(line(math, TEXT, grid=_first_row))


def _first_row(grid: Grid) -> str:
    return f"[{', '.join(grid.cells[0]) if len(grid.cells) else ''}]"


def is_long(math: Math) -> bool:
    """Whether the formula is better broken at its signs."""
    relations = sum(sign in RELATIONS for sign, _ in segments(math.pattern))
    return relations >= MOST_PARTS or length(math) > LONG


def display(maths: Sequence[Math]) -> str:
    """What stands in a displayed formula: the formulas below one another, first signs aligned, long ones broken."""
    lines = [row for math in maths for row in _lines_of(math)]
    if len(lines) == 1:
        return line(maths[0], LATEX).strip()
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
    if math.pattern.op == "spaced":
        first, *rest = (math._replace(pattern=part) for part in math.pattern.args)
        return [r" \qquad ".join([*_broken(first, once=True), *(line(part, LATEX) for part in rest)])]
    return _broken(math, once=not is_long(math))


def _broken(math: Math, once: bool) -> list[str]:
    """The lines of a chain, each with its sign aligned; `once`: all on the line of the first sign."""
    lines, marked, before = [""], False, ""
    for i, (sign, part) in enumerate(segments(math.pattern)):
        relation = sign in RELATIONS
        another = relation and marked and not once and before not in {",", ";"}  # a = b, c = d stays one line
        if another:
            lines.append("")
        mark = relation and (another or not marked)
        marked, before = marked or mark, sign
        lines[-1] += _setting(sign, mark, at_start=i == 0) + (line(math._replace(pattern=part), LATEX) if part else "")
    if not marked:
        lines[0] = "& " + lines[0]
    # In brackets after a line's end LaTeX expects a distance.
    return ["{}" + text if text.startswith("[") else text.strip() for text in lines]


def _setting(sign: str, mark: bool, *, at_start: bool) -> str:
    if not sign:
        return ""
    setting = LATEX.sign(sign)
    return set_off("&" + setting if mark else setting, at_start)
