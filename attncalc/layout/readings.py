"""What a row of figures says, in words: scores ranked, weights shared out. Where weight lies, never why."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from attncalc import rounding
from attncalc.blocks import Prose, figure
from attncalc.layout.page import Page, is_self_attention
from attncalc.steps import Step


def scores(page: Page, step: Step) -> tuple[Prose, ...]:
    """C scores itself 3, then A 2, then B 1."""
    texts, values, _ = page.figures(step)
    sentences = []
    for i, row in enumerate(values):
        order = sorted(range(len(row)), key=lambda j: (-row[j], j))
        groups = [
            page.say(
                "readings.scored",
                names=page.say.enumeration([key_name(page, step, i, j) for j in columns]),
                figure=figure(texts[i, columns[0]]),
            )
            for columns in (list(group) for _, group in groupby(order, key=lambda j: row[j]))
        ]
        ranking = page.say.joined(groups, "list.then")
        sentences.append(page.say("readings.scores", query=query_name(page, step, i), groups=ranking))
    return tuple(sentences)


def weights(page: Page, step: Step) -> tuple[Prose, ...]:
    """C: weight 28.4% on A, 14.0% on B, 57.6% on itself; the largest on itself."""
    return tuple(_weights(page, step, i) for i in range(step.shape[0]))


def _weights(page: Page, step: Step, i: int) -> Prose:
    row = page.figures(step).values[i]
    query = query_name(page, step, i)
    seen = [j for j in range(len(row)) if not (step.values[i, j] == 0 and step.exact[i, j])]
    if not seen:
        return page.say("remarks.nothing_visible", row=query)
    if len(seen) == 1:
        return page.say("readings.only", query=query, token=key_name(page, step, i, seen[0]))
    shares = [page.say("readings.share", share=share(page, step, i, j), token=key_name(page, step, i, j)) for j in seen]
    largest = [j for j in seen if row[j] == row.max()]
    if len(largest) == len(seen):
        most = page.say("readings.most_of_all")
    else:
        most = page.say("readings.most", token=page.say.enumeration([key_name(page, step, i, j) for j in largest]))
    return page.say("readings.weights", query=query, shares=page.say.joined(shares), most=most)


def share(page: Page, step: Step, i: int, j: int) -> Prose:
    """A weight as a percentage of the same digits: 0.404 is 40.4%."""
    return percent(page, float(page.figures(step).values[i, j]), step)


def percent(page: Page, value: float, step: Step) -> Prose:
    return Prose((rounding.percent(value, step.places),))


def largest_other(page: Page, step: Step, i: int) -> Prose:
    """Which other token row i takes the most from."""
    j = int(np.where(np.arange(step.shape[1]) == i, -1.0, page.figures(step).values[i]).argmax())
    if j == i or (step.values[i, j] == 0 and step.exact[i, j]):
        return page.say("readings.no_other")
    return page.say("readings.largest_other", token=page.who(step.columns, j), share=share(page, step, i, j))


def key_name(page: Page, step: Step, i: int, j: int) -> Prose:
    """Column j as row i calls it: by its token, or "itself"."""
    if is_self_attention(step):
        return page.say("this_row") if i == j else page.who(step.columns, j)
    return page.who(step.columns, j, "row.key")


def query_name(page: Page, step: Step, i: int) -> Prose:
    """Row i as a sentence names it: by its token, or its number."""
    return page.who(step.rows, i, "position" if is_self_attention(step) else "row.query")
