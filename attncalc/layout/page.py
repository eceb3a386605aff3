"""What every part of the layout needs of one solution: its figures as text, its signs, its labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from attncalc import rounding
from attncalc.blocks import Grid, Math, Prose, Token, compose, figure
from attncalc.expr import Expr, name
from attncalc.problem.show import Show
from attncalc.rounding import Flags, Floats, Texts
from attncalc.steps import Cell, Labels, Solution, Step
from attncalc.wording import Wording


class Figures(NamedTuple):
    """A step's figures as they are printed: text, and the same as float64; where `true`, "=" may be written."""

    texts: Texts
    values: Floats
    true: Flags


class Terms(NamedTuple):
    """The products of a sum as text; whether each is true of its factors, and whether they add up to the result."""

    texts: list[str]
    true: bool
    adds_up: bool


def same(a: Any, b: Any) -> Any:
    """Whether figures are the same decimal, but for the noise of float64."""
    with np.errstate(invalid="ignore"):  # -∞ less -∞
        return (a == b) | (np.abs(a - b) <= 1e-12 * np.maximum(1, np.abs(b)))


class Page:
    """One solution as it is to be shown, in one language."""

    def __init__(self, solution: Solution, show: Show, say: Wording) -> None:
        self.solution, self.show, self.say = solution, show, say
        self.rule = show.rule
        self._figures: dict[int, Figures] = {}

    def figures(self, step: Step) -> Figures:
        found = self._figures.get(id(step))
        if found is None:
            values = rounding.printed(step, self.rule)
            found = Figures(rounding.shown(step, self.rule), values, self._true(step, values))
            self._figures[id(step)] = found
        return found

    def _true(self, step: Step, values: Floats) -> Flags:
        """Where the printed operands give the printed figure as it stands, without rounding."""
        if not step.operands:
            return np.ones(step.shape, dtype=bool)
        with np.errstate(all="ignore"):
            given = step.recomputed([self.figures(operand).values for operand in step.operands])
            return np.asarray(same(given, values))

    # Figures as formulas

    def cell(self, step: Step, i: int, j: int) -> Math:
        return figure(self.figures(step).texts[i, j])

    def row(self, step: Step, i: int) -> Math:
        """[a, b, ..], or the bare figure of a matrix of one column."""
        texts = self.figures(step).texts[i]
        return compose("vector", *map(figure, texts)) if len(texts) > 1 else figure(texts[0])

    def working(self, step: Step, i: int, j: int) -> Math:
        """The cell's working, in printed figures."""
        pattern, cells = step.working(i, j)
        return Math(pattern, tuple(self.figures(s).texts[r, c] for s, r, c in cells))

    def row_working(self, step: Step, i: int) -> Math:
        """[working, working, ..] of a row."""
        columns = step.shape[1]
        parts = [self.working(step, i, j) for j in range(columns)]
        return compose("vector", *parts) if columns > 1 else parts[0]

    def terms(self, step: Step, i: int, j: int) -> Terms:
        """The products that add up to cell i, j of a matrix product, each by itself."""
        factors = step.working(i, j).cells
        pairs = list(zip(factors[::2], factors[1::2], strict=True))
        values = [a.value * b.value for a, b in pairs]
        exact = [(a.exact and b.exact) or (a.exact and a.value == 0) or (b.exact and b.value == 0) for a, b in pairs]
        texts = [rounding.term(v, step.places, e, self.rule) for v, e in zip(values, exact, strict=True)]
        true = all(same(self._printed(a) * self._printed(b), float(t)) for (a, b), t in zip(pairs, texts, strict=True))
        adds_up = same(sum(map(float, texts)), self.figures(step).values[i, j])
        return Terms(texts, true, adds_up)

    def _printed(self, cell: Cell) -> float:
        return float(self.figures(cell.step).values[cell.row, cell.column])

    def summed(self, step: Step, i: int, j: int, *, products: bool = False) -> list[Math | str]:
        """The parts of a chain: "=", the working of a cell of a matrix product, its products, the sum.

        Products that are plain from their factors, all of them by 0 or ±1, are left out unless asked for.
        """
        working, result = self.working(step, i, j), self.cell(step, i, j)
        factors = [abs(self._printed(cell)) for cell in step.working(i, j).cells]
        worth = any(a not in (0, 1) and b not in (0, 1) for a, b in zip(factors[::2], factors[1::2], strict=True))
        if len(factors) > 2 and (products or worth):
            terms = self.terms(step, i, j)
            added = compose("plus", *map(figure, terms.texts))
            return ["=", working, "=" if terms.true else "≈", added, "=" if terms.adds_up else "≈", result]
        return ["=", working, self.sign(step, i, j), result]

    def sign(self, step: Step, i: int | slice = slice(None), j: int | slice = slice(None)) -> str:
        """"=" where the printed line is true of the printed figures, else "≈"."""
        return "=" if np.all(self.figures(step).true[i, j]) else "≈"

    def grid(self, step: Step, *, labelled: bool = False) -> Math:
        """The matrix, written out."""
        rows, columns = (step.rows, step.columns) if labelled else (None, None)
        texts, first = self.figures(step).texts, self.show.count_from
        return Math(Expr("grid", Grid(texts, rows, columns, first=first, role=step.role, values=step.values)))

    def sized(self, step: Step) -> Math:
        """H (3×2)."""
        return compose("sized", Math(step.symbol), self.shape(step))

    def shape(self, step: Step) -> Math:
        n, m = step.shape
        return compose("shape", figure(str(n)), figure(str(m)))

    # Counting and naming

    def count(self, k: int) -> str:
        """Row or column k (from 0) as the page counts."""
        return str(k + self.show.count_from)

    def place(self, symbol: Expr, i: int, j: int) -> Math:
        """S[1,2]."""
        return compose("cell", Math(symbol), figure(self.count(i)), figure(self.count(j)))

    def subscripted(self, letter: str, *indices: int) -> Math:
        """q_1, a_12."""
        joint = "," if max(indices) > 8 else ""
        return compose("sub", Math(name(letter)), figure(joint.join(map(self.count, indices))))

    def who(self, labels: Labels, k: int, unlabelled: str = "position") -> Prose:
        """A token as a sentence names it: with its number where another is called the same."""
        if labels is None:
            return self.say(f"{unlabelled}.plain", n=self.count(k))
        token = Prose((Token(labels[k]),))
        return token if labels.count(labels[k]) == 1 else self.say("repeated", token=token, n=self.count(k))

    def row_name(self, key: str, labels: Labels, k: int) -> Prose:
        """"Row 1 (A)", or another name of a row from the wording."""
        if labels is None:
            return self.say(f"{key}.plain", n=self.count(k))
        return self.say(f"{key}.token", n=self.count(k), token=Token(labels[k]))

    # What to show

    @cached_property
    def detail(self) -> str:
        """full, matrices or result; where nothing is said, a big problem is shown as matrices."""
        return self.show.detail or ("matrices" if self.cells > 2000 else "full")

    @cached_property
    def cells(self) -> int:
        return sum(step.values.size for step in self.solution.steps.values() if step.operands)


def sentences(parts: Iterable[Prose | None]) -> tuple[Prose, ...]:
    return tuple(part for part in parts if part is not None)


def is_self_attention(step: Step) -> bool:
    """Whether row i and column i of the scores or weights are the same token."""
    return step.shape[0] == step.shape[1] and step.rows == step.columns


Reading = Callable[[Page, Step], tuple[Prose, ...]]
