"""Words to vectors: each id takes its row of the embedding (Vaswani et al. 2017, section 3.4)."""

from __future__ import annotations

import numpy as np

from attncalc.expr import Expr
from attncalc.problem.embedding import Words
from attncalc.problem.forms import as_written
from attncalc.rounding import Floats
from attncalc.sheet import Sheet
from attncalc.steps import Axis, Matrix, Numbers, Step


def table(sheet: Sheet, words: Words) -> Step:
    """E, the vectors of a vocabulary, V × d_model."""
    rows = Axis(words.vocabulary if words.tokens else None, "row")
    return sheet.given("embedding", words.embedding, symbol=sheet.symbol("E"), rows=rows, role="embedding")


def stated_ids(sheet: Sheet, words: Words, rows: Axis | None) -> Step:
    """The ids of words, n × 1."""
    ids = counted(words.ids)
    return sheet.given("ids", ids, symbol=sheet.symbol("ids"), rows=rows, role="ids", places=0)


def looked_up(sheet: Sheet, E: Step, ids: Step, rows: Axis | None) -> Step:
    """H, n × d_model: row i is the row of E (V × d_model) that the id of word i names, from 0."""
    sheet.convention("ids", "from_0")
    law = Expr("cell", E.symbol, ids.symbol)
    with sheet.group("embedding"):
        return sheet.arrange("H", _rows_of, E, ids, choosers=1, law=law, how="lookup", rows=rows, role="input")


def counted(figures: tuple[int, ...] | range) -> Matrix:
    """Whole numbers as a column, n × 1."""
    return as_written(np.array(figures, dtype=np.float64)[:, None])


def _rows_of(cells: Numbers, ids: Floats) -> Numbers:
    chosen: Numbers = np.clip(np.rint(ids[:, 0]), 0, len(cells) - 1).astype(np.int64)
    return cells[chosen]
