"""The sheet that a mechanism works on: it names each step, rounds it if asked to, and records it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from attncalc import expr
from attncalc.errors import StepError
from attncalc.expr import Expr
from attncalc.rounding import Floats, Rule, apportioned, rounded
from attncalc.solution import Convention, Group, Remark, Solution
from attncalc.steps import Arrange, Axis, Contract, Given, Map, Matrix, Numbers, OneOfTwo, Pair, Reduce, Step

MOST_FIGURES = 1_500_000  # of all steps: more are on no page that anyone follows, and take more than 200 MB
MOST_STEPS = 10_000  # however small each is, these take seconds
MOST_IN_DIGITS = 2**17  # figures in workings of all steps that are worked as fractions: these take a second


class Sheet:
    """Takes the steps of one calculation in order, and gives each back as the operand of the next.

    With a carried rule each step's result is rounded here, and nowhere else, before it is used. Every method that makes
    a step takes, beyond what is named: `symbol`, `rows` and `columns` (an Axis), `role`, `places`, `rows_sum_to_one`.
    `on_step` is told the id of each before it is worked. There is room for `most` figures. Where only the `result` is
    asked for, the figures that a step was worked from go once a step is worked from it; who asks for them later waits
    until they are worked again.
    """

    def __init__(
        self, rule: Rule, on_step: Callable[[str], object] | None = None, *, most: int = MOST_FIGURES,
        result: bool = False,
    ) -> None:  # fmt: skip
        self.rule = rule
        self._only_result = result
        self._on_step = on_step
        self._room = most
        self._in_digits = MOST_IN_DIGITS
        self._root = Group("")
        self._open = [self._root]
        self._prefix = ""
        self._marks: tuple[str, ...] = ()
        self._below = ""
        self._ids: set[str] = set()
        self._conventions: list[Convention] = []

    # What the page says of the whole

    def convention(self, key: str, choice: str, **details: Any) -> None:
        """Notes a choice that the figures rest on, once, for the head of the page."""
        noted = Convention(key, choice, details)
        if noted not in self._conventions:
            self._conventions.append(noted)

    def remark(self, key: str, *steps: Step, first: bool = False, **details: Any) -> None:
        """Notes that something is to be pointed out of these steps, here on the page, or first in its section."""
        members = self._open[-1].members
        members.insert(0 if first else len(members), Remark(key, steps, details))

    @contextmanager
    def group(
        self, key: str, number: int | None = None, *, order: str = "by step", function: str = "", prefix: str = "",
        mark: str = "", below: str = "", axis: Axis | None = None,
    ) -> Iterator[Group]:  # fmt: skip
        """Steps recorded inside belong together; their ids start with `prefix`, as in head2.A, and `mark` is put on
        their symbols, as in Q⁽²⁾; those of inner groups follow it, as in the second head of the first layer. `below` is
        put below them, as in y_2, and `axis`: the group is about row `number` of it."""
        group = Group(key, number, order, function, axis)
        outer = self._prefix, self._marks, self._below
        self._open[-1].members.append(group)
        self._open.append(group)
        self._prefix = f"{self._prefix}{prefix}." if prefix else self._prefix
        self._marks = (*self._marks, mark) if mark else self._marks
        self._below = below or self._below
        try:
            yield group
        finally:
            self._open.pop()
            self._prefix, self._marks, self._below = outer

    def symbol(self, letter: str) -> Expr:
        """A symbol as it is marked here: Q, or Q⁽²⁾ within the second head."""
        symbol = expr.name(letter)
        return self.marked(Expr("sub", symbol, expr.number(0.0, self._below)) if self._below else symbol)

    def marked(self, symbol: Expr, *marks: str) -> Expr:
        """A symbol with the marks of this place, and perhaps more, instead of its own."""
        bare = symbol.args[0] if symbol.op == "of" else symbol
        all_marks = ",".join((*self._marks, *marks))
        return Expr("of", bare, expr.number(0.0, all_marks)) if all_marks else bare

    def unit(self, id: str) -> float:
        """One unit of the last decimal that a step of this id is shown to."""
        return 10.0 ** -self.places(id)

    def places(self, id: str) -> int:
        """How many decimals a step of this id is shown to, unless it needs others."""
        return self.rule.places(self._prefix + id)

    def solution(self) -> Solution:
        return Solution(self._root, tuple(self._conventions))

    def leave_room(self, group: Group, times: int) -> None:
        """Refuses at once what takes the steps of a group so many times again, and has no room for them."""
        if len(self._ids) + times * sum(1 for _ in group.steps()) > MOST_STEPS:
            raise _too_many(f"{self._prefix}{group.key}{group.number or ''}")

    # The six kinds of step

    def given(self, id: str, matrix: Matrix | OneOfTwo, **about: Any) -> Step:
        """A matrix that the problem states, n × m. As written it is never rounded; of a binary file it is rounded first
        where figures are carried."""
        step = Given(matrix=matrix, **self._named(id, about))
        if not matrix.is_written and self.rule.carried:
            step.decimals = step.places
            return self._record(step, lambda: rounded(matrix.values, step.places, self.rule.ties))
        return self._record(step, matrix.copied)

    def arrange(
        self, id: str, sources: Callable[..., Numbers], *operands: Step, choosers: int = 0, fill: float = 0.0,
        **about: Any,
    ) -> Step:  # fmt: skip
        """Cells copied from those of `operands`: see steps.Arrange."""
        # A copy is printed to the decimals of what it copies: other digits would be another figure.
        places = max((operand.places for operand in operands[: len(operands) - choosers]), default=0)
        about = {**about, "places": places}
        step = Arrange(sources=sources, choosers=choosers, fill=fill, operands=operands, **self._named(id, about))
        return self._record(step, lambda: step.recomputed([operand.values for operand in operands]))

    def map(self, id: str, law: Expr, *operands: Step, where: Any = None, **about: Any) -> Step:
        """`law`, an expression of slots, of the operands' cells at the same place; n × m."""
        n, m = np.broadcast_shapes(*(operand.shape for operand in operands))
        rows = next((operand.rows for operand in operands if operand.rows and operand.shape[0] == n), None)
        columns = next((operand.columns for operand in operands if operand.columns and operand.shape[1] == m), None)
        about = {"rows": rows, "columns": columns, **about}
        return self._computed(Map(law=law, where=where, operands=operands, **self._named(id, about)))

    def reduce(self, id: str, fold: str, operand: Step, *, over: str = "row", **about: Any) -> Step:
        """The fold (sum, product, max, mean) of each row of `operand`, n × 1; `over` column of each column, 1 × m; over
        start of each row up to each of its cells, n × m."""
        rows = None if over == "column" else operand.rows
        columns = None if over == "row" else operand.columns
        about = {"rows": rows, "columns": columns, **about}
        return self._computed(Reduce(fold=fold, over=over, operands=(operand,), **self._named(id, about)))

    def contract(self, id: str, a: Step, b: Step, **about: Any) -> Step:
        """The matrix product a·b, n × k by k × m."""
        assert a.shape[1] == b.shape[0], f"{a.id} and {b.id} do not fit"
        self._refuse_without_room(id, a.shape[0], b.shape[1])
        about = {"rows": a.rows, "columns": b.columns, **about}
        return self._computed(Contract(operands=(a, b), **self._named(id, about)))

    def pair(self, id: str, term: Expr, a: Step, b: Step, *rows: Step, **about: Any) -> Step:
        """The sum over k of `term`, an expression of a[i,k], b[j,k] and, of another row, c[k]; n × d with m × d gives
        n × m."""
        self._refuse_without_room(id, a.shape[0], b.shape[0])
        about = {"rows": a.rows, "columns": b.rows, **about}
        return self._computed(Pair(term=term, operands=(a, b, *rows), **self._named(id, about)))

    def _named(self, id: str, about: dict[str, Any]) -> dict[str, Any]:
        full = self._prefix + id
        if self._on_step:
            self._on_step(full)
        return {"id": full, "symbol": self.symbol(id), "places": self.rule.places(full), **about}

    def _computed(self, step: Step) -> Step:
        step.is_rounded = self.rule.carried
        step.most_in_digits = min(step.most_in_digits, self._in_digits)
        self._record(step, lambda: self._as_carried(step))
        self._in_digits -= step.in_digits
        return step

    def _as_carried(self, step: Step) -> Floats:
        values = step.worked()
        self._refuse_overflow(step, values)
        if not self.rule.carried:
            return values
        step.unrounded = values
        if step.rows_sum_to_one and self.rule.weights == "sum-to-one":
            return apportioned(values, step.places, self.rule.ties)
        return step.rounded(values, self.rule.ties, range(len(values)))

    def _refuse_overflow(self, step: Step, values: Floats) -> None:
        bad = ~np.isfinite(values)
        if bad.any() and any((operand.values == -np.inf).any() for operand in step.operands):
            bad &= values != -np.inf
        if bad.any():
            i, j = (int(k) for k in np.argwhere(bad)[0])
            what = "the figure is too large for float64, or is divided by 0"
            raise StepError(step.id, (i, j), what, "change the figures")

    def _refuse_without_room(self, id: str, n: int, m: int) -> None:
        if n * m > self._room:
            what = f"{n} × {m} figures are more than there is room for"
            hint = "" if self._only_result else ", or ask for the result alone: --detail result"
            raise StepError(self._prefix + id, (), what, f"give fewer{hint}")

    def _record(self, step: Step, work: Callable[[], Floats]) -> Step:
        if self._only_result:
            for used in {used for operand in step.operands for used in operand.operands}.difference(step.operands):
                used.let_go()
        values = step.values = _without_negative_zeros(work())
        if self._only_result:  # else a step would hold itself, and stay until Python looks for such circles
            step.again = lambda: _without_negative_zeros(work())
        if len(self._ids) == MOST_STEPS:
            raise _too_many(step.id)
        assert step.id not in self._ids, f"two steps are called {step.id}"
        self._refuse_without_room(step.id.removeprefix(self._prefix), *values.shape)
        self._room -= values.size
        self._ids.add(step.id)
        step.decimals = step.own_decimals if step.decimals is None else step.decimals
        if self.rule.carried and not isinstance(step, Given | Arrange):
            step.decimals = step.places if step.decimals is None else min(step.decimals, step.places)
        self._open[-1].members.append(step)
        return step


def _too_many(id: str) -> StepError:
    what = f"more than {MOST_STEPS} steps are more than there is room for"
    return StepError(id, (), what, "give fewer layers, heads, experts, rows or steps of generation")


def _without_negative_zeros(values: Floats) -> Floats:
    return np.add(values, 0.0, out=values if values.flags.owndata and values.flags.writeable else None)
