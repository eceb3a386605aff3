"""What a mechanism asks to be pointed out, by key: within the section where it is asked for, or as a section."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from attncalc.blocks import Beside, Block, Items, Math, Prose, Work, compose
from attncalc.layout import charts, generation, masks, predictions, units
from attncalc.layout.page import Page, is_self_attention
from attncalc.layout.readings import largest_other
from attncalc.layout.repeated import repeated
from attncalc.steps import Map, Step


class Lay(NamedTuple):
    """How a remark is laid out, from the steps that it is about; whether it is a section of its own, and whether it is
    shown where only matrices are."""

    blocks: Callable[..., list[Block]]
    is_section: bool = False
    always: bool = False


def side_by_side(page: Page, *steps: Step) -> list[Block]:
    """Q = [..]    K = [..]    V = [..]."""
    return [Beside(tuple(page.matrix(step, labelled=False) for step in steps))]


def outcome(page: Page, after: Step, *steps: Step) -> list[Block]:
    """A: [1, 0] became [1.401, 0.599]; largest share from another: C, 40.1%."""
    by_role = {step.role: step for step in steps}
    before, weights = by_role.get("input"), by_role.get("weights")
    say, sentences = page.say, []
    for i in range(after.shape[0]):
        parts: list[Prose] = []
        if before is not None:
            parts.append(say("readings.became", before=page.row(before, i), after=page.row(after, i)))
        if weights is not None and is_self_attention(weights):
            parts.append(largest_other(page, weights, i))
        if parts:
            joined = say.joined(parts, "list.semicolon")
            sentences.append(say("readings.outcome", token=page.who(after.rows, i), parts=joined))
    sentences += repeated(page, after, weights)
    return [Items(tuple(sentences))] if sentences else []


def shifted(page: Page, scores: Step, moved: Step) -> list[Block]:
    """Which rows are shifted by their largest score before e^x."""
    assert isinstance(moved, Map) and moved.where is not None
    rows = [page.row_name("row.other", moved.rows, i) for i in range(moved.shape[0]) if not moved.copies(i)]
    return [page.say("remarks.shifted", rows=page.say.enumeration(rows))]


def split(page: Page, whole: Step, *heads: Step) -> list[Block]:
    """[n, d] to [heads, n, d_k]."""
    (n, d), (_, d_k) = whole.shape, heads[0].shape
    return [page.say("remarks.split", n=n, d=d, heads=len(heads), d_k=d_k, symbol=Math(whole.symbol))]


def merged(page: Page, *heads: Step) -> list[Block]:
    """[heads, n, d_v] back to [n, heads·d_v]."""
    n, d_v = heads[0].shape
    return [page.say("remarks.merged", n=n, heads=len(heads), d_v=d_v, d=len(heads) * d_v)]


def one_matrix(page: Page, *weights: Step) -> list[Block]:
    """Without an activation between them, two matrices are one."""
    first, second = weights
    return [page.say("remarks.one_matrix", first=Math(first.symbol), second=Math(second.symbol))]


def relative(page: Page, scores: Step) -> list[Block]:
    """S[1,2] = S[2,3] ≈ 0.540: the scores of one query and one key, by how far apart they stand."""
    values = page.figures(scores).values
    n, m = scores.shape
    lines: list[tuple[Prose | None, Math]] = []
    for distance in range(1 - n, m):
        cells = [(i, i + distance) for i in range(n) if 0 <= i + distance < m]
        groups = [[cell for cell in cells if values[cell] == x] for x in dict.fromkeys(values[cell] for cell in cells)]
        chains = [_equal_cells(page, scores, group) for group in groups]
        label = page.say("remarks.distance", distance=distance)
        lines.append((label, compose("list", *chains) if len(chains) > 1 else chains[0]))
    return [page.say("remarks.relative"), Work(tuple(lines))]


def _equal_cells(page: Page, step: Step, cells: list[tuple[int, int]]) -> Math:
    parts: list[Math | str] = []
    for i, j in cells:
        parts += [page.place(step.symbol, i, j), "="]
    last = next((cell for cell in cells if not step.exact[cell]), cells[0])
    return compose("chain", *parts[:-1], "=" if step.exact[last] else "≈", page.cell(step, *last))


REMARKS = {
    "next_word": Lay(generation.next_word, always=True),
    "generation": Lay(generation.table, always=True),
    "same_as_pass": Lay(generation.same, always=True),
    "relative": Lay(relative),
    "chart": Lay(charts.chart, is_section=True),
    "kv_share": Lay(units.kv_share),
    "latent_share": Lay(units.latent_share),
    "bytes": Lay(units.of_bytes),
    "one_matrix": Lay(one_matrix),
    "side_by_side": Lay(side_by_side),
    "shifted": Lay(shifted),
    "split": Lay(split),
    "merged": Lay(merged),
    "who": Lay(masks.table),
    "before_and_after": Lay(masks.before_and_after, is_section=True),
    "predictions": Lay(predictions.table, always=True),
    "teacher_forcing": Lay(partial(predictions.table, sees=True), always=True),
    "outcome": Lay(outcome, is_section=True),
}
