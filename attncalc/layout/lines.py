"""Single figures, a line each: what it is, its formula, the formula in figures, the figure."""

from __future__ import annotations

from collections.abc import Sequence

from attncalc.blocks import Math, Prose, Work, compose
from attncalc.layout.page import Page
from attncalc.steps import Map, Step


def lay_lines(page: Page, steps: Sequence[Step]) -> Work:
    """The figures of steps that have one each, 1 × 1; the role of each names its line."""
    lines: list[tuple[Prose | None, Math]] = [(page.say(f"figures.{step.role}"), _line(page, step)) for step in steps]
    return Work(tuple(lines))


def _line(page: Page, step: Step) -> Math:
    """C_1 = 2 × L × kv_heads × d_k × b = 2×32×8×128×2 = 131072."""
    parts = [Math(step.symbol)]
    if isinstance(step, Map) and page.detail == "full":
        if step.formula != step.symbol:
            parts.append(Math(step.formula))
        if step.law.op != "slot":  # a sum of one is the figure itself
            parts.append(page.workings(step, 0)[0])
    given = [sign for part in parts[1:] for sign in ("=", part)]
    return compose("chain", parts[0], *given, page.sign(step), page.cell(step, 0, 0))
