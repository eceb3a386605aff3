"""A model in boxes from bottom to top, the encoder beside the decoder, as a table whose lowest row comes first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from attncalc.blocks import Block, Items, Math, Prose, Table, compose
from attncalc.layout.page import Page
from attncalc.solution import Box, Stack
from attncalc.steps import Step

Column = list[Box | None]  # of one stack, from bottom to top; None: nothing stands beside the other's box


def chart(page: Page, *, stacks: Sequence[Stack]) -> list[Block]:
    """The table, with its rows numbered from the bottom, and which of them are a layer."""
    say = page.say
    columns = [[*stack.below, *stack.layer, *stack.above] for stack in stacks]
    placed = _side_by_side(columns)
    rows = [[_cell(page, box) for box in row] for row in zip_longest(*placed)]
    if len(placed) == 2:
        top = len(columns[0]) - 1
        rows[top][0] = say("chart.enters", box=rows[top][0])
    head = (Prose(("↑",)), *(say(f"chart.{stack.key}") for stack in stacks))
    numbered = [(Prose((page.count(i),)), *row) for i, row in enumerate(rows)]
    layers = tuple(_layer(page, stack, column) for stack, column in zip(stacks, placed, strict=True))
    return [Table(head, tuple(reversed(numbered))), Items(layers)]


def _side_by_side(columns: list[list[Box]]) -> list[Column]:
    """The columns, with room left in one so that the top of the encoder stands beside the box that it enters."""
    placed: list[Column] = [list(column) for column in columns]
    if len(placed) == 2:
        encoder, decoder = placed
        top, enters = len(encoder) - 1, next(i for i, box in enumerate(columns[1]) if box.takes_memory)
        decoder[enters:enters] = [None] * (top - enters)
        encoder[:0] = [None] * (enters - top)
    return placed


def _cell(page: Page, box: Box | None) -> Prose:
    if box is None:
        return Prose(())
    return page.say("chart.box", name=page.say(f"boxes.{box.key}"), shape=_shape(page, box))


def _shape(page: Page, box: Box) -> Math:
    """[B, heads, N, d_k] = [1, 8, 10, 64]; the letters alone where one of them has no figure."""
    letters = compose("vector", *(Math(side.symbol if isinstance(side, Step) else side) for side in box.sides))
    figures = [page.cell(side, 0, 0) for side in box.sides if isinstance(side, Step)]
    return compose("chain", letters, "=", compose("vector", *figures)) if len(figures) == len(box.sides) else letters


def _layer(page: Page, stack: Stack, column: Column) -> Prose:
    first, last = column.index(stack.layer[0]), column.index(stack.layer[-1])
    return page.say(
        "chart.layer",
        stack=page.say(f"chart.{stack.key}"),
        first=page.count(first),
        last=page.count(last),
        layers=page.cell(stack.layers, 0, 0),
    )
