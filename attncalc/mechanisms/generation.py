"""Words one after the other: each is chosen from the probabilities that the words so far give (Vaswani et al. 2017,
section 3), with or without a cache of keys and values."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from attncalc.errors import StepError
from attncalc.expr import function, name, slot
from attncalc.mechanisms.cache import Cache
from attncalc.mechanisms.embedding import counted
from attncalc.mechanisms.projections import below
from attncalc.problem.generation import Generation
from attncalc.problem.models import Stack
from attncalc.sheet import Sheet
from attncalc.steps import Axis, Matrix, Step


class Decoder(Protocol):
    """What generation needs of a stack."""

    given: Stack

    def passed(self, ids: Step, rows: Axis, past: int, caches: list[list[Cache]] | None) -> Step:
        """Ids through the whole stack, n × d."""

    def predicted(self, x: Step) -> Step:
        """The probabilities of the next word, n × V."""


def generated(sheet: Sheet, given: Generation, decoder: Decoder, P: Step | None) -> Step:
    """The ids that are generated, k × 1. The last rows of one masked pass over the same words are the same: it is that
    over the input, with the probabilities P, where that starts with these words; else one of its own."""
    words = decoder.given.words
    assert words
    ids, vocabulary = list(given.start), words.vocabulary
    caches = [[Cache() for _ in layer.parts] for layer in decoder.given.layers] if given.cache else None
    sheet.convention("generation", "cache" if given.cache else "anew")
    if given.draws is None:
        sheet.convention("choice", "greedy")
    else:
        sheet.convention("choice", "draws", step=function("step", name("x")), x=name("x"))
    chosen: list[Step] = []
    read: list[Step] = []
    rows_of_steps: list[Step] = []
    for k in range(given.steps):
        tokens = Axis(tuple(vocabulary[id] for id in ids))
        with sheet.group("step", k + 1, prefix=f"step{k + 1}", axis=tokens) as step:
            fresh = 1 if caches and k else len(ids)
            rows = Axis(tokens.labels[-fresh:]) if tokens.labels and fresh < len(ids) else tokens
            for cache in (cache for of_layer in caches or [] for cache in of_layer):
                cache.rows, cache.past = tokens, len(ids) - fresh
            read.append(_ids(sheet, given, read, chosen, rows, fresh))
            x = decoder.passed(read[-1], rows, len(ids) - fresh, caches)
            if x.shape[0] > 1:
                x = _last(sheet, x, rows)
            one = decoder.predicted(x)
            rows_of_steps.append(one)
            with sheet.group("next"):
                chosen.append(_next(sheet, one, given.draws, k))
        ids.append(int(chosen[-1].values[0, 0]))
        if ids[-1] == given.stop:
            break
        if k and given.stop is None:  # the first may have a step that the others have not
            sheet.leave_room(step, given.steps - k - 1)
    n, seen = len(given.start), tuple(ids[:-1])
    if P is None or words.ids[: len(seen)] != seen:
        with sheet.group("single_pass", prefix="single"):
            axis = Axis(tuple(vocabulary[id] for id in seen))
            whole = sheet.given("ids", counted(seen), symbol=sheet.symbol("ids"), rows=axis, role="ids", places=0)
            P = decoder.predicted(decoder.passed(whole, axis, 0, None))
    with sheet.group("generated"):
        rows = Axis(tuple(vocabulary[id] for id in ids[n:]))
        out = sheet.arrange("generated", below, *chosen, symbol=sheet.symbol("ids"), rows=rows, role="ids",
                            how="in turn" if len(chosen) > 1 else "")  # fmt: skip
        sheet.remark("generation", out, *read)
        sheet.remark("same_as_pass", P, *rows_of_steps)
    return out


def _ids(sheet: Sheet, given: Generation, read: list[Step], chosen: list[Step], rows: Axis, fresh: int) -> Step:
    """The ids of the rows of a step: those that it starts from, then those that were chosen; or the last one alone."""
    about: dict[str, Any] = {"symbol": sheet.symbol("ids"), "rows": rows, "role": "ids"}
    with sheet.group("words"):
        if not chosen:
            about["symbol"] = sheet.symbol("ids" if given.cache else "ids_start")
            return sheet.given("ids", counted(given.start), places=0, **about)
        if fresh == 1 and len(given.start) + len(chosen) > 1:
            return sheet.arrange("ids", lambda cells: cells, chosen[-1], **about)
        return sheet.arrange("ids", below, read[0], *chosen, how="in turn", **about)


def _last(sheet: Sheet, x: Step, rows: Axis) -> Step:
    """The last row of x, 1 × d: the one that the next word is predicted from."""
    with sheet.group("last_row"):
        symbol, last = sheet.symbol("x_last"), Axis(rows.labels and rows.labels[-1:])
        return sheet.arrange("last", lambda cells: cells[-1:], x, symbol=symbol, rows=last, role="input")


def _next(sheet: Sheet, P: Step, draws: Matrix | None, k: int) -> Step:
    """The id of the likeliest word (of equal ones the first), 1 × 1; or the number of words whose probabilities up to
    them add up to no more than the draw, which is the id of the next."""
    symbol_of_next = sheet.symbol(f"next_{k + 1}")
    if draws is None:
        next = sheet.reduce("next", "argmax", P, symbol=symbol_of_next, places=0, role="next")
        sheet.remark("next_word", next, P)
        return next
    text = None if draws.written is None else np.array([[draws.written[0, k]]], dtype=object)
    draw = sheet.given("draw", Matrix(draws.values[:, k : k + 1], text), symbol=sheet.symbol("u"), role="draw")
    symbol = sheet.symbol("P_cumulative")
    sums = sheet.reduce("sums", "sum", P, over="start", symbol=symbol, columns=P.columns, role="cumulative")
    law = function("step", slot(0) - slot(1))
    passed = sheet.map("passed", law, draw, sums, places=0, symbol=sheet.symbol("passed"), role="passed")
    next = sheet.reduce("next", "sum", passed, symbol=symbol_of_next, places=0, role="next")
    if next.values[0, 0] >= P.shape[1]:
        is_kept = P.role == "left"
        hint = "draw less, or divide what is kept by its sum" if is_kept else "show more decimals, or draw less"
        what = f"the draw {draw.values[0, 0]:g} is above what all words add up to"
        raise StepError(next.id, (0,), what, hint)
    sheet.remark("next_word", next, sums, draw)
    return next
