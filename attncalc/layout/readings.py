"""What a row of figures says, in words: scores ranked, weights shared out. Where weight lies, never why."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import numpy as np

from attncalc import digits
from attncalc.blocks import Prose, figure
from attncalc.layout.page import Page, is_self_attention, nothing_there
from attncalc.steps import Step

EQUAL = 1e-12  # of the largest: figures that differ by less are the same, as far as float64 can tell


def scores(page: Page, step: Step) -> tuple[Prose, ...]:
    """C scores itself (3), then A (2), then B (1)."""
    texts = page.figures(step).texts
    sentences = []
    for i, row in enumerate(digits.decimals(texts)):
        order = sorted(range(len(row)), key=lambda j: (-row[j], j))
        groups = [
            page.say("readings.scored", names=names(page, step, i, columns), figure=figure(texts[i, columns[0]]))
            for columns in (list(group) for _, group in groupby(order, key=lambda j: row[j]))
        ]
        ranking = page.say.joined(groups, "list.then")
        sentences.append(page.say("readings.scores", query=query_name(page, step, i), groups=ranking))
    return tuple(sentences)


def weights(page: Page, step: Step) -> tuple[Prose, ...]:
    """C: weight 28.4% on A, 14.0% on B, 57.6% on itself; the largest on itself. What may not be seen is left out."""
    return tuple(_weights(page, step, i) for i in range(step.shape[0])) + _totals(page, step, "weights")


def likeliest(page: Page, step: Step) -> tuple[Prose, ...]:
    """row 1: 商家 is likeliest, 66.5%; and, of given ones, where they do not add up to 1."""
    return tuple(_likeliest(page, step, i) for i in range(step.shape[0])) + _totals(page, step, "probabilities")


def _likeliest(page: Page, step: Step, i: int) -> Prose:
    largest = largest_of(page, step, i, range(step.shape[1]))
    query, each = query_name(page, step, i), share(page, step, i, largest[0])
    if len(largest) == step.shape[1] > 1:
        return page.say("readings.all_alike", query=query, share=each)
    key = "readings.likeliest" if len(largest) == 1 else "readings.likeliest_of_all"
    return page.say(key, query=query, token=names(page, step, i, largest), share=each)


def left(page: Page, step: Step) -> tuple[Prose, ...]:
    """row 1: what is left is 商家 (73.1%) and 买家 (26.9%)."""
    sentences = []
    for i in range(step.shape[0]):
        columns = np.nonzero(~nothing_there(step, i))[0].tolist()
        shares = [
            page.say("readings.scored", names=key_name(page, step, i, j), figure=share(page, step, i, j))
            for j in columns
        ]
        tokens = page.say.enumeration(shares)
        sentences.append(page.say("readings.left", query=query_name(page, step, i), tokens=tokens))
    return tuple(sentences)


def chosen(page: Page, step: Step) -> tuple[Prose, ...]:
    """A goes to E1 and E3."""
    return tuple(
        page.say("readings.chosen", query=query_name(page, step, i), tokens=names(page, step, i, np.nonzero(row)[0]))
        for i, row in enumerate(step.values)
    )


def load(page: Page, step: Step) -> tuple[Prose, ...]:
    """Tokens by expert: E1 2, E2 1."""
    texts = page.figures(step).texts[0]
    loads = [page.say("readings.load_of", token=page.who(step.columns, j), n=texts[j]) for j in range(step.shape[1])]
    return (page.say("readings.load", loads=page.say.joined(loads)),)


def _totals(page: Page, step: Step, called: str) -> tuple[Prose, ...]:
    """What the rows of given figures add up to, where that is not 1."""
    totals = [_total(page, step, i) for i in range(step.shape[0])] if not step.operands else []
    what = page.say(f"called.{called}")
    return tuple(
        page.say("readings.total", query=query_name(page, step, i), called=what, sum=total)
        for i, total in enumerate(totals)
        if float(total) != 1
    )


def _total(page: Page, step: Step, i: int) -> str:
    return digits.total(page.figures(step).texts[i])


def _weights(page: Page, step: Step, i: int) -> Prose:
    query = query_name(page, step, i)
    seen = np.nonzero(~nothing_there(step, i))[0].tolist()
    if nothing := no_weights(page, step, i):
        return nothing
    if len(seen) == 1:
        return page.say("readings.only", query=query, token=key_name(page, step, i, seen[0]))
    shares = [page.say("readings.share", share=share(page, step, i, j), token=key_name(page, step, i, j)) for j in seen]
    largest = largest_of(page, step, i, seen)
    printed = digits.decimals(page.figures(step).texts[i])
    if len(largest) == len(seen):
        most = page.say("readings.equal" if len({*printed[seen]}) == 1 else "readings.equal_unrounded")
    else:
        most = page.say("readings.most", token=names(page, step, i, largest))
    return page.say("readings.weights", query=query, shares=page.say.joined(shares), most=most)


def no_weights(page: Page, step: Step, i: int) -> Prose | None:
    """Why row i of weights has none, where it has none: all is hidden, or what is left was rounded to 0."""
    if page.figures(step).unrounded[i].any():
        return None
    key = "nothing_left" if nothing_there(step, i).all() else "rounded_away"
    return page.say(f"remarks.{key}", row=query_name(page, step, i))


def largest_of(page: Page, step: Step, i: int, columns: Iterable[int]) -> list[int]:
    """Which of the columns hold the largest figure of row i; several where they are equal as they are used: as they
    are printed, or as float64 has them."""
    columns, figures = list(columns), page.figures(step)
    if figures.are_used:
        printed = digits.decimals(figures.texts[i])
        largest = max((printed[j] for j in columns), default=None)
        return [j for j in columns if printed[j] == largest]
    row = step.values[i]
    most = max(row[j] for j in columns)
    return [j for j in columns if row[j] >= most - EQUAL * abs(most)]


def share(page: Page, step: Step, i: int, j: int) -> str:
    """A weight as a percentage of the same digits: 0.404 is 40.4%."""
    return digits.percent(page.figures(step).texts[i, j])


def largest_other(page: Page, step: Step, i: int) -> Prose:
    """Which other token row i takes the most from."""
    there = ~nothing_there(step, i)
    others = [j for j in range(step.shape[1]) if j != i and there[j]]
    if not others:
        return page.say("readings.no_other")
    largest = largest_of(page, step, i, others)
    token = page.say.enumeration([page.who(step.columns, j) for j in largest])
    key = "readings.largest_other" if len(largest) == 1 else "readings.largest_others"
    return page.say(key, token=token, share=share(page, step, i, largest[0]))


def names(page: Page, step: Step, i: int, columns: Iterable[int]) -> Prose:
    """Columns as row i calls them: A and itself."""
    return page.say.enumeration([key_name(page, step, i, j) for j in columns])


def key_name(page: Page, step: Step, i: int, j: int) -> Prose:
    """Column j as row i calls it: by its token, or "itself"."""
    return page.say("this_row") if i == j and is_self_attention(step) else page.who(step.columns, j)


def query_name(page: Page, step: Step, i: int) -> Prose:
    """Row i as a sentence names it: by its token, or its number."""
    return page.who(step.rows, i)
