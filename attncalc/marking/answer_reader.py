"""Reads the figures that somebody wrote for the steps of a solution: rows, parts of a matrix, or a text of rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import yaml
from numpy.typing import NDArray

from attncalc.errors import ProblemError, UsageError
from attncalc.marking import pasted
from attncalc.marking.naming import step_named
from attncalc.marking.written import Written, written
from attncalc.problem.nodes import Entry, ListNode, MapNode, Node, is_empty, scalar_at
from attncalc.problem.numbers import COMMAS_MISSING
from attncalc.problem.readers import anything, not_rows, whole
from attncalc.problem.schema import Key, Reader, Table
from attncalc.problem.slips import commas_missing, cut_in_two, key_hint, row_hint
from attncalc.problem.source import FULL_WIDTH, Source, counted, either, look_alike
from attncalc.solution import Solution
from attncalc.steps import Step

MOST_ASKED = 50_000  # figures of all steps that are marked, or asked for: a page of seconds, and of some megabytes
MARGIN = 50  # figures: what a step takes besides its own
# What to do about another count of figures than a step has.
BLANKS = "write _ for a figure that is left blank"
ROWS = "write every row in [ ]: [[1, 2], [3, 4]]"
DECIMAL_COMMA = "for decimal commas, give --decimal-comma"
# Full-width signs that are read in figures.
READ = frozenset(sign for sign, (name, _) in FULL_WIDTH.items() if name in ("digit", "point", "minus", "plus"))
Figures: TypeAlias = NDArray[Any]  # of dtype object: Written, or None where nothing is said


class _OtherShape(ProblemError):
    """Raised where rows are written that are not those of a step."""


class _Block(NamedTuple):
    """Rows and columns of a step, from 0, that figures are written for; `named` is how a message on them starts."""

    named: str
    rows: Sequence[int]
    columns: Sequence[int]

    @property
    def size(self) -> str:
        return f"{self.named} {len(self.rows)} × {len(self.columns)}"


class AnswerReader(NamedTuple):
    """Reads the figures of steps. `blanks`: whether `_` is a figure that was left blank, rather than one not asked;
    `shapes_asked`: whether another shape is a wrong answer, rather than an error."""

    source: Source
    solution: Solution
    decimal_comma: bool = False
    blanks: bool = True
    shapes_asked: bool = False

    def mapping(self, root: Node | None) -> dict[str, Figures]:
        """The figures of every step that is written."""
        if root is None or (isinstance(root, MapNode) and not root.entries):
            raise self.source.error_at(1, 1, "", "nothing is written here", "write step ids and figures: A: [[1, 0]]")
        if not isinstance(root, MapNode):
            raise of_which_step(self.source, root)
        figures: dict[str, Figures] = {}
        keys: dict[str, str] = {}
        held = 0
        for entry in root.entries.values():
            step = self.solution.steps.get(entry.key.value) or self.step(entry.key)  # a file may hold what is given
            self.refuse_without_room(step, entry.key, held)
            if step.id in figures:
                what = f"{keys[step.id]} and {entry.key.value} are one step"
                raise self.source.error(entry.key, "", what, "keep one of them")
            keys[step.id] = entry.key.value
            figures[step.id] = self.of_step(step, entry)
            held = self.refuse_without_room(step, entry.key, held, figures[step.id])
        return figures

    def refuse_without_room(self, step: Step, at: Node, held: int = 0, figures: Figures | None = None) -> int:
        """What is `held` so far, and a step, of which these figures are written, or none is read yet; an error where
        they are more than can be marked."""
        written = 0 if figures is None else int(np.count_nonzero(figures != np.array(None)))
        room = held + room_of(step, written)
        if room > MOST_ASKED:
            what = f"steps as long as {room} figures in all are more than there is room for"
            hint = f"mark some at a time, as long as {MOST_ASKED}, or give fewer rows or columns"
            raise self.source.error(at, step.id, what, hint)
        return room

    def one_step(self, name: str, root: Node | None) -> dict[str, Figures]:
        """The figures of one step: those that YAML gave, alone or among others; or rows that were pasted."""
        key = scalar_at(name, -1, -1)
        step = self.step(key)
        if isinstance(root, MapNode):
            found = self.mapping(root)
            if step.id not in found:
                raise self.source.error(root, step.id, "nothing is written of this step", "write its rows")
            return {step.id: found[step.id]}
        self.refuse_without_room(step, key)
        figures = self.of_step(step, Entry(key, root)) if isinstance(root, ListNode) else self.of_pasted_rows(step)
        self.refuse_without_room(step, key, figures=figures)
        return {step.id: figures}

    def of_pasted_rows(self, step: Step) -> Figures:
        """The figures of rows that were pasted."""
        rows = pasted.rows(self.source.text, 0, 0, self.decimal_comma)
        if not rows.items:
            raise self.source.error_at(1, 1, step.id, "nothing is written here", "write its rows, one a line")
        figures = np.full(step.shape, None, dtype=object)
        self.fill(figures, rows, step.id, _whole(step), set())
        return figures

    def step(self, key: yaml.ScalarEvent) -> Step:
        """The step of a name."""
        try:
            return step_named(self.solution, key.value)
        except UsageError as error:
            raise self.source.error(key, "", error.what, look_alike(key.value) or error.hint) from None

    def of_step(self, step: Step, entry: Entry) -> Figures:
        """All figures of a step, n × m: its rows, or parts of it."""
        if is_empty(entry.value):
            raise self.source.error(entry.key, step.id, "empty", "write its rows, or leave it out")
        figures = np.full(step.shape, None, dtype=object)
        filled: set[tuple[int, int]] = set()
        for part in _parts(entry.value):
            block, rows = self.part(step, part) if isinstance(part, MapNode) else (_whole(step), part)
            try:
                self.fill(figures, rows, step.id, block, filled)
            except _OtherShape as error:
                if not self.shapes_asked or isinstance(part, MapNode):
                    raise
                for place in np.ndindex(step.shape):
                    figures[place] = Written(self.size(rows), None, None, "other_shape", error.line, error.column)
        return figures

    def part(self, step: Step, node: MapNode) -> tuple[_Block, Node]:
        """Rows or columns of a step, and the figures that are written for them."""
        said = _part_keys(*step.shape).read(self.source, node, step.id)
        for one, many in (("row", "rows"), ("column", "columns")):
            if one in said and many in said:
                raise self.source.error(node, step.id, f"both {one} and {many}", "give one of them")
        rows, columns = said["row"] or said["rows"], said["column"] or said["columns"]
        if "values" not in said:
            raise self.source.error(node, step.id, "no values", "write {row: 2, values: [1, 0]}")
        if not rows and not columns:
            raise self.source.error(node, step.id, "which part is not said", "give row, rows, column or columns")
        n, m = step.shape
        names = [_named(*each) for each in (("row", rows), ("column", columns)) if each[1]]
        named = f"{', '.join(names)} of {step.id} {'are' if len(rows) > 1 or len(columns) > 1 else 'is'}"
        block = _Block(named, rows or range(n), columns or range(m))
        return block, said["values"]

    def fill(self, figures: Figures, node: Node, path: str, block: _Block, filled: set[tuple[int, int]]) -> None:
        """Set the figures of a block from what is written for it."""
        for i, row in zip(block.rows, self.grid(node, path, block), strict=True):
            for j, cell in zip(block.columns, row, strict=True):
                if (i, j) in filled:
                    what = "this figure is written twice"
                    raise self.source.error(cell, self.source.cell(path, i, j), what, "keep one of them")
                filled.add((i, j))
                if not isinstance(cell, yaml.ScalarEvent):
                    found = "a list" if isinstance(cell, ListNode) else "a mapping"
                    what = f"a figure is wanted here, not {found}"
                    raise self.source.error(cell, self.source.cell(path, i, j), what, "check the brackets")
                figure = written(cell.value, self.decimal_comma)
                if self.blanks or not figure.is_blank:
                    mark: Any = cell.start_mark
                    figures[i, j] = figure._replace(line=mark.line + 1, column=mark.column + 1)

    def grid(self, node: Node, path: str, block: _Block) -> Sequence[Sequence[Node]]:
        """The cells of a block, as many as it has."""
        n, m = len(block.rows), len(block.columns)
        if isinstance(node, yaml.ScalarEvent):
            if node.style != "|":
                return self.single(node, path, block)
            start: Any = node.start_mark
            first = start.line + 1 if start.line >= 0 else -1  # its text starts on the next line
            node = pasted.rows(node.value, first, None, self.decimal_comma)
        if isinstance(node, MapNode):
            raise not_rows(self.source, node, path)
        items = self.items(node)
        if not items:
            raise self.source.error(node, path, "no figures", "write rows of figures: [[1, 0], [0, 1]]")
        if not any(isinstance(item, ListNode) for item in items):
            if 1 not in (n, m):
                hint = DECIMAL_COMMA if len(items) == 2 * m else ROWS
                raise self.wrong(node, path, block, "one row is written", items, hint)
            if len(items) != n * m:
                hint = DECIMAL_COMMA if len(items) == 2 * n * m else BLANKS
                raise self.wrong(node, path, block, f"{_figures(items)} written", items, hint)
            return [items] if n == 1 else [[item] for item in items]
        rows = [self.items(item) if isinstance(item, ListNode) else [item] for item in items]
        if len(rows) == m and n == 1 and all(len(row) == 1 for row in rows):
            return [[row[0] for row in rows]]
        if len(rows) == 1 and m == 1 and len(rows[0]) == n:
            return [[cell] for cell in rows[0]]
        if len(rows) != n:
            count = f"{counted(len(rows), 'row')} {'is' if len(rows) == 1 else 'are'} written"
            cells = [cell for row in rows for cell in row]
            hint = DECIMAL_COMMA if len(rows) == 1 and len(cells) == 2 * n * m else BLANKS
            raise self.wrong(node, path, block, count, cells, hint)
        for k, (item, row) in enumerate(zip(items, rows, strict=True)):
            if not isinstance(item, ListNode):
                raise not_rows(self.source, item, path, besides=READ)
            if len(row) != m:
                which = f"{_figures(row)} written" + (f" in row {k + self.source.count_from}" if len(rows) > 1 else "")
                hint = DECIMAL_COMMA if self.has_commas(item, rows, m) else BLANKS
                raise self.wrong(item, path, block, which, row, hint)
        return rows

    def items(self, node: ListNode) -> Sequence[Node]:
        """What stands in a list, where commas may be those of decimals."""
        return (pasted.with_decimal_commas(node, self.source.text) if self.decimal_comma else node).items

    def has_commas(self, node: ListNode, rows: Sequence[Sequence[Node]], m: int) -> bool:
        """Whether a row would hold m figures if its commas between digits were those of decimals: [0,5, 1] holds two.
        """
        read = _texts(self._replace(decimal_comma=True).items(node))
        if len(read) == m and any("," in text for text in read):
            return True
        row, widths = _texts(self.items(node)), {len(each) for each in rows}
        return len(row) == 2 * m or (len(widths) > 1 and cut_in_two(row) == m)

    def size(self, node: Node) -> str:
        """2 × 3, as rows are written; the widest says how many columns."""
        if isinstance(node, yaml.ScalarEvent) and node.style == "|":
            node = pasted.rows(node.value, 0, None, self.decimal_comma)
        rows = self.items(node) if isinstance(node, ListNode) else [node]
        widths = [len(self.items(row)) for row in rows if isinstance(row, ListNode)]
        return f"{len(rows)} × {max(widths)}" if widths else f"1 × {len(rows)}"

    def single(self, node: yaml.ScalarEvent, path: str, block: _Block) -> Sequence[Sequence[Node]]:
        """The cells of a block from one text: its only figure, or `_` for every one."""
        n, m = len(block.rows), len(block.columns)
        if n * m > 1 and not written(node.value).is_blank:
            raise self.wrong(node, path, block, "one figure is written", [node], ROWS if 1 not in (n, m) else BLANKS)
        return [[node] * m] * n

    def wrong(
        self, at: Node, path: str, block: _Block, what: str, cells: Sequence[Node], hint: str
    ) -> ProblemError:
        """The error of a shape that is not the step's: a slip of typing where its cells look like one, else the hint.
        """
        what = f"{block.size}, but {what}"
        in_brackets = isinstance(at, ListNode) and getattr(at.start, "flow_style", True)
        figures = [cell for cell in cells if isinstance(cell, yaml.ScalarEvent) and any(map(str.isdigit, cell.value))]
        for cell in () if in_brackets else figures:
            if row_hint(cell.value, READ):
                return not_rows(self.source, cell, path, besides=READ)
        texts = _texts(figures)  # a comma in a sentence is no slip
        if hint is not DECIMAL_COMMA and any(map(commas_missing, texts)):
            hint = COMMAS_MISSING
        hint = next(filter(None, (look_alike(text, READ) for text in texts)), hint)
        error = self.source.error(at, path, what, hint)
        if hint not in (BLANKS, ROWS):
            return error
        return _OtherShape(error.file, error.line, error.column, error.path, error.what, error.hint)


def room_of(step: Step, asked: int) -> int:
    """How many figures a step is as long as, to mark or to fill in: those that are asked for, the others, which are
    shown as well, a quarter each, and what a step takes besides."""
    return asked + (prod(step.shape) - asked) // 4 + MARGIN


def _whole(step: Step) -> _Block:
    n, m = step.shape
    return _Block(f"{step.id} is", range(n), range(m))


def _parts(node: Node) -> Sequence[Node]:
    """The parts that are written of a step, or all of it at once."""
    if isinstance(node, ListNode) and node.items and all(isinstance(item, MapNode) for item in node.items):
        return node.items
    return [node]


def _part_keys(n: int, m: int) -> Table:
    rows, columns = _indices(n), _indices(m)
    return Table((
        Key("row", rows, (), "the row that is written, from 1"), Key("rows", rows, (), "the rows, from 1"),
        Key("column", columns, (), "the column, from 1"), Key("columns", columns, (), "the columns, from 1"),
        Key("values", anything, None, "their figures"),
    ))  # fmt: skip


def _indices(last: int) -> Reader:
    """Rows or columns that are counted from 1, one or a list of them -> from 0."""
    one = whole(1, last)

    def read(source: Source, node: Node, path: str) -> tuple[int, ...]:
        items = node.items if isinstance(node, ListNode) else [node]
        if not items:
            raise source.error(node, path, "an empty list", "name rows or columns, from 1")
        return tuple(one(source, item, path) - 1 for item in items)

    return read


def _named(noun: str, indices: Sequence[int]) -> str:
    numbers = [str(index + 1) for index in indices]
    return f"{noun} {numbers[0]}" if len(numbers) == 1 else f"{noun}s {either(numbers, 'and')}"


def _texts(cells: Sequence[Node]) -> list[str]:
    return [cell.value for cell in cells if isinstance(cell, yaml.ScalarEvent)]


def _figures(items: Sequence[Node]) -> str:
    return f"{counted(len(items), 'figure')} {'is' if len(items) == 1 else 'are'}"


def of_which_step(source: Source, at: Node | None = None) -> ProblemError:
    what, hint = "expected a mapping of step ids to figures", "say which step the figures are of: --step A"
    hint = key_hint(at.value if isinstance(at, yaml.ScalarEvent) else source.text.partition("\n")[0]) or hint
    return source.error(at, "", what, hint) if at is not None else source.error_at(1, 1, "", what, hint)
