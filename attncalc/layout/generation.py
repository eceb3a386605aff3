"""Words that were generated: what each step saw and computed, and the one masked pass that gives the same rows."""

from __future__ import annotations

import numpy as np

from attncalc.blocks import Block, Items, Math, Prose, Table, Token
from attncalc.layout.page import Page
from attncalc.layout.predictions import listed
from attncalc.solution import Group
from attncalc.steps import Step

COLUMNS = ("step", "sees", "anew", "kept", "next")


def title(page: Page, group: Group) -> Prose:
    """Step 2: after <s>, I."""
    words = [page.say("header.plain", token=Token(label)) for label in page.labels(group.axis) or ()]
    return page.say("sections.step", n=group.number or "", seen=listed(page, words))


def next_word(page: Page, next: Step, P_or_sums: Step, draw: Step | None = None) -> list[Block]:
    """The likeliest word is love (id 4), 0.950; or the first sum above the draw is that of love (id 4), 0.950."""
    id = int(next.values[0, 0])
    word, figure = page.who(P_or_sums.columns, id), page.figures(P_or_sums).texts[0, id]
    if draw is None:
        return [page.say("generation.likeliest", token=word, id=id, figure=figure)]
    return [page.say("generation.drawn", token=word, id=id, figure=figure, draw=page.figures(draw).texts[0, 0])]


def table(page: Page, generated: Step, *ids: Step) -> list[Block]:
    """A row for each step: the words that it saw, how many of them it computed anew, what it chose."""
    say = page.say
    first, *_ = ids
    start, chosen = (
        [say("header.plain", token=Token(label)) for label in page.labels(step.rows) or ()]
        for step in (first, generated)
    )
    rows = []
    for k, own in enumerate(ids):
        seen = [*start, *chosen[:k]]
        anew = own.shape[0]
        cells = (Prose((str(k + 1),)), listed(page, seen), Prose((str(anew),)),
                 Prose((str(len(seen) - anew),)), chosen[k])  # fmt: skip
        rows.append(cells)
    head = tuple(say(f"generation.{column}") for column in COLUMNS)
    passes = say("generation.one_pass" if len(ids) == 1 else "generation.passes", n=len(ids))
    return [Table(head, tuple(rows)), passes]


def same(page: Page, whole: Step, *rows: Step) -> list[Block]:
    """Step 2 gives row 2 of the pass over all words: [0.1, 0.9]."""
    say, first = page.say, whole.shape[0] - len(rows)
    equal, sentences = True, []
    for k, row in enumerate(rows):
        i = first + k
        as_printed = page.figures(row).texts[0].tolist() == page.figures(whole).texts[i].tolist()
        equal &= as_printed and bool(np.allclose(row.values[0], whole.values[i], rtol=0, atol=1e-9))
        symbols = {"row": page.row(row, 0), "symbol": Math(whole.symbol)}
        sentences.append(say("generation.row", k=k + 1, n=page.count(i), **symbols))
    outcome = say("generation.same" if equal else "generation.not_same")
    return [*([Items(tuple(sentences))] if equal else []), outcome]
