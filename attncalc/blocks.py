"""What a page shows, in no format: a Document of sections whose blocks are sentences, formulas, tables and workings.

Mathematics is a `Math`: an `Expr` whose slots are filled with the texts of figures. The figures are text from here on;
a format sets them and never rounds. Beyond what `expr` computes, a pattern may hold

    grid(Grid)                       a matrix, written out
    dot(a, b)                        a·b, a product of matrices or of vectors
    vector(a, b, ..)                 [a, b, ..]
    list(a, b, ..)                   a, b, ..
    cell(S, i, j), sub(q, i)         S[i,j], q_i
    call(f, x)                       softmax(x)
    transpose(K), tilde(S)           Kᵀ, S̃
    shape(n, d), sized(H, shape)     (n×d), H (n×d)
    chain(a, "=", b, "≈", c)         a = b ≈ c; the signs are text("="); where it is displayed and there is no room
                                     for it, it is broken at its signs. One that starts with text("") goes on from
                                     the formula above it
    derivation(a, "=", b, "≈", c)    the same, each sign on a line of its own
    beside(a, b)                     a and b side by side, where there is room
    text("≈")                        a sign as it is
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from attncalc.expr import Expr, shifted, slot
from attncalc.rounding import Floats, Texts
from attncalc.steps import Labels


@dataclass(frozen=True)
class Math:
    """A formula: `pattern` with `figures[k]`, a text, in the place of slot k."""

    pattern: Expr
    figures: tuple[str, ...] = ()


def figure(text: str) -> Math:
    """One figure."""
    return Math(slot(0), (text,))


def compose(op: str, *parts: Math | str) -> Math:
    """`op` of the parts, with all their figures; a str is a sign."""
    maths = [Math(Expr("text", part)) if isinstance(part, str) else part for part in parts]
    pattern = _composed(op, tuple(math.pattern for math in maths), tuple(len(math.figures) for math in maths))
    return Math(pattern, tuple(text for math in maths for text in math.figures))


@lru_cache(maxsize=4096)
def _composed(op: str, patterns: tuple[Expr, ...], counts: tuple[int, ...]) -> Expr:
    # Workings repeat a few patterns over and over: a pattern made once is also set once by each format.
    parts, used = [], 0
    for pattern, count in zip(patterns, counts, strict=True):
        parts.append(shifted(pattern, used))
        used += count
    return Expr(op, *parts)


@dataclass(frozen=True, eq=False)
class Grid:
    """A matrix of figures as text, n × m, with the labels of its rows and columns or None.

    `role` (query, weights ...) and `values` are for formats that colour or shade.
    """

    cells: Texts
    rows: Labels = None
    columns: Labels = None
    first: int = 1  # the number of the first column, where a wide matrix is shown in blocks of columns
    role: str = ""
    values: Floats | None = None


@dataclass(frozen=True)
class Token:
    """A label of the problem's own, in a sentence: shown as it is, in every language."""

    text: str


@dataclass(frozen=True)
class Prose:
    """A sentence, in the parts that a format sets differently: words, formulas, tokens."""

    parts: tuple[str | Math | Token, ...]


@dataclass(frozen=True)
class Items:
    """Sentences that stand one below the other."""

    sentences: tuple[Prose, ...]


@dataclass(frozen=True)
class Formula:
    """A displayed formula."""

    math: Math


@dataclass(frozen=True)
class Work:
    """Lines of working below one another: what each gives, in words or as a symbol (or nothing), and its formula."""

    lines: tuple[tuple[Prose | None, Math], ...]


@dataclass(frozen=True)
class Table:
    """A table of sentences with a header for each column and, in the first column, for each row."""

    head: tuple[Prose, ...]
    rows: tuple[tuple[Prose, ...], ...]


@dataclass(frozen=True)
class Section:
    """A part of the page under its heading; `anchor` is stable ASCII for links. Sections nest."""

    title: Prose
    anchor: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    title: Prose
    lang: str
    blocks: tuple[Block, ...]


Block = Prose | Items | Formula | Work | Table | Section
