"""Positions that are added to the rows of H: sinusoidal (Vaswani et al. 2017, section 3.5), or learned (Gehring et al.
2017, section 3.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attncalc.expr import Expr, equation, function, name, number, power, slot
from attncalc.mechanisms.embedding import counted
from attncalc.mechanisms.projections import columns, side_by_side
from attncalc.problem.positions import Learned, Positions, Sinusoidal
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Axis, Matrix, Numbers, Step

POS, TWICE_I = name("pos"), name("2i")


def learned(sheet: Sheet, position: Learned) -> Step:
    """P, a row a position, as wide as H."""
    return sheet.given("table", position.table, symbol=sheet.symbol("E_pos"), role="embedding")


def added(
    sheet: Sheet, H: Step, position: Sinusoidal | Learned, start: int = 0, P: Step | None = None
) -> Step:
    """X = H + PE, n × d; the first row of H stands at position `start`. P are learned positions, start + n of them or
    more."""
    n, d = H.shape
    conventions(sheet, position, d)
    with sheet.group("positions"):
        if isinstance(position, Sinusoidal):
            PE = sinusoidal(sheet, position, n, d, H.rows, start)
        else:
            assert P
            PE = sheet.arrange(
                "positions", lambda cells: cells[start : start + n], P, symbol=sheet.symbol("PE"), rows=H.rows
            )
        return sheet.map("X", slot(0) + slot(1), H, PE, symbol=sheet.symbol("X"), role="input")


def sinusoidal(sheet: Sheet, position: Sinusoidal, n: int, d: int, rows: Axis | None, start: int = 0) -> Step:
    """PE[pos, 2i] = sin(pos / base^(2i/d)), PE[pos, 2i+1] = cos of the same, n × d; or all sines before all cosines.

    There is a sine more than cosines where d is odd.
    """
    pos, even = places(sheet, start, n, rows), pairs(sheet, d)
    angle = sheet.map("angle", angle_law(position.base, d), pos, even, symbol=sheet.symbol("α"), role="angle")
    sin = sheet.map("sin", function("sin", slot(0)), angle, symbol=function("sin", angle.symbol))
    about: dict[str, Any] = {"symbol": sheet.symbol("PE"), "rows": rows}
    if d == 1:
        return sheet.arrange("positions", columns(0, 1), sin, law=sin.symbol, **about)
    if d % 2:
        symbol = sheet.symbol("α_paired")
        angle = sheet.arrange("angle_paired", columns(0, d // 2), angle, symbol=symbol, rows=rows, role="angle")
    cos = sheet.map("cos", function("cos", slot(0)), angle, symbol=function("cos", angle.symbol))
    if position.columns == "concatenated":
        return sheet.arrange("positions", side_by_side, sin, cos, **about)
    law = Expr("call", name("interleave"), sin.symbol, cos.symbol)
    return sheet.arrange("positions", interleaved(d), sin, cos, law=law, how="interleave", **about)


def places(sheet: Sheet, start: int, n: int, rows: Axis | None, id: str = "pos", symbol: Expr = POS) -> Step:
    """The positions start, start + 1, .., n × 1."""
    return sheet.given(id, counted(range(start, start + n)), symbol=symbol, rows=rows, role="place", places=0)


def pairs(sheet: Sheet, d: int) -> Step:
    """2i of each pair of columns, 0, 2, .. below d, as a row."""
    column = counted(range(0, d, 2))
    assert column.written is not None
    row = Matrix(column.values.T, column.written.T)
    return sheet.given("even", row, symbol=TWICE_I, role="place", places=0)


def angle_law(base: tuple[float, str], d: int) -> Expr:
    """pos / base^(2i/d), with pos in slot 0 and 2i in slot 1."""
    return slot(0) / power(number(*base), slot(1) / number(float(d), symbol="d"))


def interleaved(d: int) -> Callable[..., Numbers]:
    """The first column of one matrix, the first of the other, the second of one, .., d in all."""

    def sources(*cells: Numbers) -> Numbers:
        found = np.empty((len(cells[0]), d), dtype=np.int64)
        for k, some in enumerate(cells):
            found[:, k::2] = some
        return found

    return sources


def conventions(sheet: Sheet, position: Sinusoidal | Learned, d: int) -> None:
    """What the figures of positions are, for the head of the page."""
    if isinstance(position, Learned):
        sheet.convention("learned", "table")
    else:
        i = name("i")
        at = (TWICE_I, TWICE_I + number(1.0))
        if position.columns == "concatenated":
            at = (i, number(float((d + 1) // 2)) + i)
        waves = [function(of, _angle_in_symbols(position.base)) for of in ("sin", "cos")]
        sine, cosine = (
            equation(Expr("cell", name("PE"), POS, column), wave) for column, wave in zip(at, waves, strict=True)
        )
        sheet.convention("sinusoidal", position.columns if d > 1 else "one", sine=sine, cosine=cosine)


def _angle_in_symbols(base: tuple[float, str]) -> Expr:
    return POS / power(number(*base), TWICE_I / name("d"))


def positions_alone(sheet: Sheet, given: Positions, show: Show) -> Step:
    """`kind: positions`: sinusoidal positions by themselves, or added to rows x."""
    rows = Axis(given.tokens, "row")
    if given.x is None:
        conventions(sheet, given.position, given.width)
        with sheet.group("positions"):
            return sinusoidal(sheet, given.position, given.length, given.width, rows)
    with sheet.group("given"):
        x = sheet.given("x", given.x, rows=rows, role="input")
    return added(sheet, x, given.position)
