"""Rotary positions: pairs of columns of queries and keys are turned by angles that grow with the place (Su et al. 2021,
RoFormer, section 3.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from attncalc.expr import Expr, equation, function, in_symbols, name, number, power, slot
from attncalc.mechanisms.positions import POS, TWICE_I, angle_law, interleaved, pairs, places
from attncalc.mechanisms.projections import columns, side_by_side
from attncalc.problem.rotary import Rotary, RotaryOfRows
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Axis, Matrix, Numbers, Step


class Stretch(NamedTuple):
    """Consecutive places: `length` of them from `first`, which counts from the rotation's own start."""

    first: int
    length: int
    rows: Axis | None = None


class Turn(NamedTuple):
    """What turns the rows of a stretch: cosines and sines, a row a place, a column a pair."""

    cos: Step
    sin: Step
    rotary: Rotary


def turns(sheet: Sheet, rotary: Rotary, stretches: Mapping[str, Stretch]) -> dict[str, Turn]:
    """The Turn of each stretch, by its name; with several, the ids start with it: Q.angles, K.angles.

    Angles do not rest on what is turned: the heads of an attention share them.
    """
    conventions(sheet, rotary)
    with sheet.group("rotary"):
        if rotary.cos is None and rotary.angles is None:
            law, shared = _of_base(sheet, rotary)
        elif _is_step(rotary):
            assert rotary.angles is not None
            law, shared = slot(0) * slot(1), [sheet.given("step", rotary.angles, symbol=sheet.symbol("ω"))]
        else:
            law, shared = None, []
        return {
            of: _turn(sheet, rotary, stretch, of if len(stretches) > 1 else "", law, shared)
            for of, stretch in stretches.items()
        }


def _is_step(rotary: Rotary) -> bool:
    """Whether angles are one row, for one place further."""
    return rotary.angles is not None and len(rotary.angles.values) == 1


def _of_base(sheet: Sheet, rotary: Rotary) -> tuple[Expr, list[Step]]:
    """θ = pos / base^(2i/d); with NTK-aware scaling the base is first multiplied by factor^(d/(d-2)) (Peng et al. 2023,
    YaRN, section 3.1)."""
    even, d = pairs(sheet, rotary.columns), rotary.columns
    if rotary.ntk is None:
        return angle_law(rotary.base, d), [even]
    value, written = rotary.base
    matrix = Matrix(np.array([[value]]), np.array([[written]], dtype=object))
    base = sheet.given("base", matrix, symbol=sheet.symbol("b"), role="place")
    scaled = sheet.map("base_scaled", slot(0) * _growth(rotary, d), base, symbol=sheet.symbol("b_scaled"))
    return slot(0) / power(slot(2), slot(1) / number(float(d), symbol="d")), [even, scaled]


def _growth(rotary: Rotary, d: int) -> Expr:
    assert rotary.ntk is not None
    width = number(float(d), symbol="d")
    return power(number(*rotary.ntk), width / (width - number(2.0)))


def _turn(sheet: Sheet, rotary: Rotary, stretch: Stretch, of: str, law: Expr | None, shared: list[Step]) -> Turn:
    def id(step: str) -> str:
        return f"{of}.{step}" if of else step

    def symbol(letter: str) -> Expr:
        return sheet.symbol(f"{letter}_{of}" if of else letter)

    first, n, rows = stretch
    if rotary.cos is not None and rotary.sin is not None:
        cut = {wave: _rows(matrix, first, n) for wave, matrix in (("cos", rotary.cos), ("sin", rotary.sin))}
        cos, sin = (
            sheet.given(id(wave), each, symbol=function(wave, symbol("θ")), rows=rows) for wave, each in cut.items()
        )
        return Turn(cos, sin, rotary)
    if law is None:
        assert rotary.angles is not None
        angles = sheet.given(id("angles"), _rows(rotary.angles, first, n), symbol=symbol("θ"), rows=rows)
    else:
        pos = places(sheet, rotary.start + first, n, rows, id("pos"), symbol("pos"))
        angles = sheet.map(id("angles"), law, pos, *shared, symbol=symbol("θ"), role="angle")
    waves = [Expr(f"{wave}_degrees", slot(0)) if rotary.degrees else function(wave, slot(0)) for wave in ("cos", "sin")]
    cos, sin = (
        sheet.map(id(called), wave, angles, symbol=in_symbols(wave, [angles.symbol]))
        for called, wave in zip(("cos", "sin"), waves, strict=True)
    )
    return Turn(cos, sin, rotary)


def _rows(matrix: Matrix, first: int, n: int) -> Matrix:
    cut = slice(first, first + n)
    return Matrix(matrix.values[cut], None if matrix.written is None else matrix.written[cut])


def rotated(sheet: Sheet, x: Step, turn: Turn, letter: str, of: str = "") -> Step:
    """x, n × d, with each pair [a, b] of a row turned to [a cosθ - b sinθ, a sinθ + b cosθ].

    `letter` is that of its symbols, Q_a; `of` starts its ids, Q.rotated. Columns beyond those that turn are copied.
    """
    rotary, d = turn.rotary, turn.rotary.columns

    def id(step: str) -> str:
        return f"{of}.{step}" if of else step

    def about(part: str) -> dict[str, Any]:
        return {"symbol": sheet.symbol(f"{letter}_{part}"), "rows": x.rows}

    ours = _columns(rotary)
    a, b = (sheet.arrange(id(part), ours[part], x, **about(part), role="half") for part in ("a", "b"))
    turned = [
        sheet.map(id("a_rotated"), slot(0) * slot(1) - slot(2) * slot(3), a, turn.cos, b, turn.sin, **about("a_rot")),
        sheet.map(id("b_rotated"), slot(0) * slot(1) + slot(2) * slot(3), a, turn.sin, b, turn.cos, **about("b_rot")),
    ]
    is_part = d < x.shape[1]
    last: dict[str, Any] = {"symbol": sheet.symbol(f"{letter}_r"), "rows": x.rows, "role": x.role}
    together = last if not is_part else about("turned")
    if rotary.pairs == "adjacent":
        law = Expr("call", name("interleave"), *(each.symbol for each in turned))
        y = sheet.arrange(
            id("turned" if is_part else "rotated"), interleaved(d), *turned, law=law, how="interleave", **together
        )
    else:
        y = sheet.arrange(id("turned" if is_part else "rotated"), side_by_side, *turned, **together)
    if not is_part:
        return y
    rest = sheet.arrange(id("rest"), columns(d, x.shape[1]), x, **about("rest"))
    return sheet.arrange(id("rotated"), side_by_side, y, rest, **last)


def _columns(rotary: Rotary) -> dict[str, Callable[[Numbers], Numbers]]:
    """Which columns of x are the first of a pair, and which the second."""
    d = rotary.columns
    if rotary.pairs == "adjacent":
        return {"a": lambda cells: cells[:, 0:d:2], "b": lambda cells: cells[:, 1:d:2]}
    return {"a": columns(0, d // 2), "b": columns(d // 2, d)}


def conventions(sheet: Sheet, rotary: Rotary) -> None:
    """Which columns are pairs and what their angles are, for the head of the page."""
    sheet.convention("rotary", rotary.pairs)
    _conventions_of_angles(sheet, rotary)
    if rotary.cos is None and (rotary.angles is None or _is_step(rotary)):
        if rotary.start:
            sheet.convention("first_position", "at", start=rotary.start)
        else:
            sheet.convention("first_position", "zero")


def _conventions_of_angles(sheet: Sheet, rotary: Rotary) -> None:
    if rotary.cos is not None:
        sheet.convention("angle", "cos_sin")
        return
    if rotary.angles is None:
        base = number(*rotary.base) if rotary.ntk is None else name("b_scaled")
        law = equation(name("θ"), POS / power(base, TWICE_I / name("d")))
        details: dict[str, Any] = {"law": law, "d": rotary.columns}
        if rotary.ntk is not None:
            growth = in_symbols(_growth(rotary, rotary.columns), ())
            details["base"] = equation(base, number(*rotary.base) * growth)
        sheet.convention("angle", "base" if rotary.ntk is None else "ntk", **details)
    else:
        unit = "degrees" if rotary.degrees else "radians"
        sheet.convention("angle", f"{'step' if _is_step(rotary) else 'table'}_{unit}")


def rotary_of_rows(sheet: Sheet, given: RotaryOfRows, show: Show) -> Step:
    """`kind: rotary`: the rows of x, each turned by its position."""
    rows = Axis(given.tokens, "row")
    with sheet.group("given"):
        x = sheet.given("x", given.x, symbol=sheet.symbol("X"), rows=rows, role="input")
    turn = turns(sheet, given.rotary, {"x": Stretch(0, x.shape[0], rows)})["x"]
    with sheet.group("rotated"):
        return rotated(sheet, x, turn, "X")
