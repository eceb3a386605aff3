"""The sheet that a mechanism works on: it names each step, rounds it if asked to, and records it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc import expr
from attncalc.errors import AttncalcError
from attncalc.expr import Expr
from attncalc.rounding import Floats, Rule, apportioned, rounded
from attncalc.steps import (
    FOLDS,
    Arrange,
    Contract,
    Convention,
    Given,
    Group,
    Map,
    Matrix,
    Reduce,
    Solution,
    Step,
)


class FigureError(AttncalcError):
    """Raised when a step's figures leave the range of float64; names the step and the cell."""


class Sheet:
    """Takes the steps of one calculation in order, and gives each back as the operand of the next.

    With a carried rule each step's result is rounded here, and nowhere else, before it is used.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.root = Group("")
        self._open = [self.root]
        self._prefix = ""
        self._conventions: list[Convention] = []

    def convention(self, key: str, choice: str, **details: Any) -> None:
        """Notes a choice that the figures rest on, for the head of the page."""
        self._conventions.append(Convention(key, choice, details))

    @contextmanager
    def group(self, key: str, order: str = "by step", function: str = "", prefix: str = "") -> Iterator[Group]:
        """Steps recorded inside belong together; their ids start with `prefix`, as in head2.A."""
        group = Group(key, order, function)
        outer = self._prefix
        self._open[-1].members.append(group)
        self._open.append(group)
        self._prefix = f"{outer}{prefix}." if prefix else outer
        try:
            yield group
        finally:
            self._open.pop()
            self._prefix = outer

    def given(self, id: str, matrix: Matrix, *, symbol: Expr | None = None, **about: Any) -> Step:
        """A matrix that the problem states; never rounded. `places` in `about` overrides its decimals."""
        return self._record(Given(matrix=matrix, values=matrix.values, **{**self._named(id, symbol), **about}))

    def arrange(
        self, id: str, arrangement: Callable[..., NDArray[Any]], *operands: Step, formula: Expr | None = None,
        symbol: Expr | None = None, **about: Any,
    ) -> Step:  # fmt: skip
        """Cells copied from those of `operands`, as `arrangement` moves them."""
        values = arrangement(*(operand.values for operand in operands))
        return self._record(
            Arrange(
                arrangement=arrangement, formula_=formula, values=values, operands=operands,
                # A copy is printed to the decimals of what it copies: other digits would be another figure.
                **{**self._named(id, symbol), "places": max(operand.places for operand in operands)}, **about,
            )
        )  # fmt: skip

    def map(self, id: str, law: Expr, *operands: Step, symbol: Expr | None = None, **about: Any) -> Step:
        """`law`, an expression of slots, of the operands' cells at the same place."""
        shape = np.broadcast_shapes(*(operand.shape for operand in operands))
        labels = {
            "rows": next((o.rows for o in operands if o.rows and o.shape[0] == shape[0]), None),
            "columns": next((o.columns for o in operands if o.columns and o.shape[1] == shape[1]), None),
        }
        step = Map(
            law=law, values=np.empty(shape), operands=operands, **self._named(id, symbol), **{**labels, **about}
        )
        return self._computed(step)

    def reduce(self, id: str, fold: str, operand: Step, *, symbol: Expr | None = None, **about: Any) -> Step:
        """The fold (sum, max) of each row of `operand`, n × 1."""
        assert fold in FOLDS
        step = Reduce(
            fold=fold, values=np.empty((operand.shape[0], 1)), operands=(operand,),
            **self._named(id, symbol), **{"rows": operand.rows, **about},
        )  # fmt: skip
        return self._computed(step)

    def contract(self, id: str, a: Step, b: Step, *, symbol: Expr | None = None, **about: Any) -> Step:
        """The matrix product a·b, n × k by k × m."""
        step = Contract(
            values=np.empty((a.shape[0], b.shape[1])), operands=(a, b),
            **self._named(id, symbol), **{"rows": a.rows, "columns": b.columns, **about},
        )  # fmt: skip
        return self._computed(step)

    def unit(self, id: str) -> float:
        """One unit of the last decimal that a step of this id is shown to."""
        return 10.0 ** -self.rule.places(self._prefix + id)

    def solution(self) -> Solution:
        return Solution(self.root, tuple(self._conventions))

    def _named(self, id: str, symbol: Expr | None) -> dict[str, Any]:
        full = self._prefix + id
        return {"id": full, "symbol": symbol or expr.name(id), "places": self.rule.places(full)}

    def _computed(self, step: Step) -> Step:
        with np.errstate(all="ignore"):
            values = step.recomputed([operand.values for operand in step.operands])
        self._refuse_overflow(step, values)
        step.values = self._as_carried(step, values) + 0.0  # + 0.0: never -0.0
        return self._record(step)

    def _as_carried(self, step: Step, values: Floats) -> Floats:
        if not self.rule.carried:
            return values
        if step.rows_sum_to_one and self.rule.weights == "sum-to-one":
            return apportioned(values, step.places, self.rule.ties)
        return rounded(values, step.places, self.rule.ties)

    def _refuse_overflow(self, step: Step, values: Floats) -> None:
        hidden = any(np.isneginf(operand.values).any() for operand in step.operands)
        bad = ~np.isfinite(values) & ~(np.isneginf(values) & hidden)
        if bad.any():
            i, j = (int(k) + 1 for k in np.argwhere(bad)[0])
            raise FigureError(f"attncalc: {step.id}, row {i}, column {j}, is too large a figure; use smaller inputs")

    def _record(self, step: Step) -> Step:
        self._open[-1].members.append(step)
        return step
