"""Predictions as a table: what each position is to predict, how likely it thought that, and the loss."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.blocks import Block, Prose, Table
from attncalc.layout.page import Page
from attncalc.steps import Arrange, Step

Column = Callable[[int], Prose]
MOST_SEEN = 8  # tokens that a cell lists


def table(page: Page, p: Step, losses: Step, *, sees: bool = False) -> list[Block]:
    """A row for each position; with what it sees, where it predicts from what stands there and before."""
    columns: dict[str, Column] = {"position": lambda i: Prose((page.count(i),))}
    if sees:
        columns["sees"] = lambda i: _seen(page, p, i)
    if isinstance(p, Arrange) or page.labels(p.rows):
        columns["predicts"] = lambda i: _predicted(page, p, i)
    columns["probability"] = lambda i: Prose((page.cell(p, i, 0),))
    columns["loss"] = lambda i: Prose((page.cell(losses, i, 0),))
    rows = tuple(tuple(cell(i) for cell in columns.values()) for i in range(p.shape[0]))
    return [Table(tuple(page.say(f"predictions.{name}") for name in columns), rows)]


def _seen(page: Page, p: Step, i: int) -> Prose:
    """The tokens up to position i."""
    return listed(page, [page.who(p.rows, k, "header") for k in range(i + 1)])


def listed(page: Page, tokens: list[Prose]) -> Prose:
    """Tokens in order; of many, the first and the last."""
    if len(tokens) <= MOST_SEEN:
        return page.say.joined(tokens, "list.names")
    return page.say("predictions.from_to", first=tokens[0], last=tokens[-1])


def _predicted(page: Page, p: Step, i: int) -> Prose:
    """The word whose probability was picked; or the label of the row, where only that is known."""
    if not isinstance(p, Arrange):
        return page.who(p.rows, i, "header")
    (cell,) = p.working(i, 0).cells
    return page.who(cell.step.columns, cell.column, "header")
