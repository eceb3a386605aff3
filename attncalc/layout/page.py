"""What every part of the layout needs of one solution: its figures in formulas, with their signs, and its labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from math import prod

import numpy as np

from attncalc.blocks import Formula, Grid, Math, Prose, Token, compose, figure, of_figures
from attncalc.errors import UsageError
from attncalc.expr import Expr, slot, small
from attncalc.layout.figures import Figures, Printed
from attncalc.rounding import Flags, Texts
from attncalc.show import Show
from attncalc.solution import Solution
from attncalc.steps import Axis, Step
from attncalc.wording import Wording

BIG = 2_000  # figures that are worked out; a solution of more is shown as matrices unless asked for in full
HUGE = 100_000  # and one of more as its result
MOST_ON_PAGE = 1_500_000  # figures: as HTML, 60 MB
MARGIN = 16  # of a matrix: the rows and columns that take as much as its labels, its brackets and what is said of it
MOST_IN_LABELS = 50_000_000  # letters, where each column of a matrix and each row has a block of its own


class Page:
    """One solution as it is to be shown, in one language; `figures` are those of its steps, where another page of it
    shows them as well."""

    def __init__(
        self, solution: Solution, show: Show, say: Wording, on_section: Callable[[str], object] | None = None,
        figures: Printed | None = None,
    ) -> None:  # fmt: skip
        self.solution, self.show, self.say, self.on_section = solution, show, say, on_section
        self.rule = show.rule
        self._figures = Printed(solution, self.rule) if figures is None else figures
        self._labels: dict[Axis, tuple[str, ...]] = {}
        self._letters: dict[Axis | None, int] = {}
        self._names: dict[tuple[Axis | None, int, str], Prose] = {}
        self._repeated: dict[Axis, Counter[str]] = {}

    @cached_property
    def detail(self) -> str:
        """full, matrices or result; where nothing is said, a big problem is shown as matrices, a huge one as result."""
        if self.show.detail:
            return self.show.detail
        return "result" if self.cells > HUGE else "matrices" if self.cells > BIG else "full"

    @cached_property
    def cells(self) -> int:
        """How many figures are worked out."""
        return sum(prod(step.shape) for step in self.solution.steps.values() if step.operands)

    # Figures as formulas

    def figures(self, step: Step) -> Figures:
        return self._figures[step]

    def cell(self, step: Step, i: int, j: int) -> Math:
        return figure(self.figures(step).texts[i, j])

    def row(self, step: Step, i: int) -> Math:
        """[a, b, ..], or the bare figure of a matrix of one column."""
        return vector(self.figures(step).texts[i if step.shape[0] > 1 else 0].tolist())

    def workings(self, step: Step, i: int) -> list[Math]:
        """The working of each cell of a row, in printed figures."""
        texts = self.used(step)
        return [Math(pattern, tuple(figures)) for pattern, figures in step.workings(i, texts.__getitem__)]

    def used(self, step: Step) -> Texts:
        """The figures of which its workings are written, as text: those of its operands."""
        return self.figures(step).used

    def row_working(self, step: Step, i: int) -> Math:
        """[working, working, ..] of a row."""
        parts = self.workings(step, i)
        return compose("vector", *parts) if len(parts) > 1 else parts[0]

    def sums(self, step: Step, i: int, *, products: bool) -> Iterator[list[Math | str]]:
        """The parts of a chain for each cell of a row of a matrix product: "=", its working, its products if wanted,
        the sum."""
        results = map(figure, self.figures(step).texts[i].tolist())
        workings = self.workings(step, i)
        if not products or step.operands[0].shape[1] == 1:
            for j, (working, result) in enumerate(zip(workings, results, strict=True)):
                yield ["=", working, self.sign(step, i, j), result]
            return
        terms, exactly, truly = (each[i].tolist() for each in self.figures(step).terms)
        for working, added, first, second, result in zip(workings, terms, exactly, truly, results, strict=True):
            yield ["=", working, sign(first), of_figures("plus", added), sign(second), result]

    def has_real_products(self, step: Step) -> bool:
        """Whether one of the products of a matrix product is worth writing down: not by 0 or ±1."""
        a, b = (~np.isin(np.abs(self.figures(operand).values), (0, 1)) for operand in step.operands)
        return bool((a.any(axis=0) & b.any(axis=1)).any())

    def sign(self, step: Step, i: int | None = None, j: int | None = None) -> str:
        """"=" where the printed line is true of the printed figures, else "≈": of cell i, j, row i or the matrix."""
        return sign(self.figures(step).hold(i, j))

    def grid(self, step: Step, *, labelled: bool = False) -> Math:
        """The matrix, written out."""
        rows, columns = (self.labels(step.rows), self.labels(step.columns)) if labelled else (None, None)
        return figure(Grid(self.figures(step).texts, rows, columns, first=self.show.count_from, role=step.role))

    def matrix(self, step: Step, *, labelled: bool = True) -> Formula:
        """A = [..], with the tokens beside its rows and above its columns."""
        return Formula((compose("chain", Math(step.symbol), self.sign(step), self.grid(step, labelled=labelled)),))

    def shape(self, step: Step) -> Math:
        n, m = step.shape
        return compose("shape", figure(str(n)), figure(str(m)))

    # Counting and naming

    def count(self, k: int) -> str:
        """Row or column k (from 0) as the page counts."""
        return str(k + self.show.count_from)

    def place(self, symbol: Expr, i: int, j: int) -> Math:
        """S[1,2]."""
        return Math(_cell_of(symbol), (self.count(i), self.count(j)))

    def figure_of(self, step: Step, i: int, j: int) -> Math:
        """S[1,2]; a step that is one figure by its symbol alone."""
        return self.place(step.symbol, i, j) if step.values.size > 1 else Math(step.symbol)

    def subscripted(self, symbol: Expr, *indices: int) -> Math:
        """q_1, a_12: a row or a cell of Q, of A, by the small letter."""
        joint = "," if max(indices) > 8 else ""
        return compose("sub", Math(small(symbol)), figure(joint.join(map(self.count, indices))))

    def called(self, step: Step) -> Prose:
        """S; with its id, where it is not called so: Q⁽²⁾ (head2.Q)."""
        symbol = step.symbol
        if symbol.op == "name" and symbol.args[0] == step.id:
            return Prose((Math(symbol),))
        return self.say("report.symbol", symbol=Math(symbol), id=Token(step.id))

    def labels(self, axis: Axis | None) -> tuple[str, ...] | None:
        """The labels of an axis as they are shown; what is blank is put in quotes."""
        if axis is None or axis.labels is None:
            return None
        found = self._labels.get(axis)
        if found is None:
            found = self._labels[axis] = tuple(label if label.strip() else f'"{label}"' for label in axis.labels)
        return found

    def letters(self, axis: Axis | None) -> int:
        """How many letters the labels of an axis have."""
        if axis not in self._letters:
            self._letters[axis] = sum(map(len, self.labels(axis) or ()))
        return self._letters[axis]

    def refuse_many_figures(self, steps: Iterable[Step], hint: str) -> None:
        """Raises UsageError where matrices, each as often as it is here, have too many figures for a page."""
        figures = sum(prod(side + MARGIN for side in step.shape) for step in steps)
        if figures > MOST_ON_PAGE:
            raise UsageError(f"a page as long as one of {figures} figures is more than there is room for", hint)

    def refuse_long_labels(self, steps: Iterable[Step], hint: str) -> None:
        """Raises UsageError where the labels of matrices or tables have too many letters for a page."""
        sides = ((step.shape, self.letters(step.rows), self.letters(step.columns)) for step in steps)
        letters = sum(m * of_rows + n * of_columns for (n, m), of_rows, of_columns in sides)
        if letters > MOST_IN_LABELS:
            where = "beside all rows and above all columns"
            raise UsageError(f"labels of {letters} letters, {where}, are more than there is room for", hint)

    def who(self, axis: Axis | None, k: int, key: str = "token") -> Prose:
        """A token as a sentence (or the `header` of a table) names it: with its number where another is called the
        same."""
        known = self._names.get((axis, k, key))
        if known is None:
            known = self._names[axis, k, key] = self._who(axis, k, key)
        return known

    def _who(self, axis: Axis | None, k: int, key: str) -> Prose:
        labels = self.labels(axis)
        if labels is None or axis is None:
            return self.say(f"row.{axis.name if axis else 'row'}.plain", n=self.count(k))
        # A token that is called "itself" is told from the word by its number.
        if axis not in self._repeated:
            self._repeated[axis] = Counter([*labels, self.say.text("this_row")])
        if self._repeated[axis][labels[k]] == 1:
            return self.say(f"{key}.plain", token=Token(labels[k]))
        return self.say(f"{key}.repeated", token=Token(labels[k]), n=self.count(k))

    def row_name(self, key: str, axis: Axis | None, k: int) -> Prose:
        """"Row 1 (A)", or another name of a row from the wording."""
        labels = self.labels(axis)
        if labels is None:
            return self.say(f"{key}.plain", n=self.count(k))
        return self.say(f"{key}.token", n=self.count(k), token=Token(labels[k]))


@lru_cache(maxsize=64)
def _cell_of(symbol: Expr) -> Expr:
    return Expr("cell", symbol, slot(0), slot(1))


def sign(is_true: bool) -> str:
    """Between two sides of a line."""
    return "=" if is_true else "≈"


def vector(texts: Sequence[str]) -> Math:
    """[a, b, ..]; a bare figure where there is one."""
    return of_figures("vector", texts) if len(texts) > 1 else figure(texts[0])


def worked(working: Math, sign: str, result: Math) -> list[Math | str]:
    """A working, its sign and its figure; the figure alone where that is all the working there is: a sum of one."""
    return [result] if working == result else [working, sign, result]


def is_self_attention(step: Step) -> bool:
    """Whether row i and column i of the scores or weights are the same token."""
    return step.rows is not None and step.rows is step.columns


def nothing_there(step: Step, i: int) -> Flags:
    """Which figures of row i are an exact 0: of weights, what may not be seen."""
    return np.asarray((step.values[i] == 0) & step.exact[i])
