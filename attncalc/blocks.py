"""What a page shows, in no format: a Document of sections whose blocks are sentences, formulas, tables and workings.

Mathematics is a `Math`: an `Expr` whose slots are filled with the texts of figures, or with matrices of them. They are
text from here on; a format sets them and never rounds. Beyond what `expr` computes, a pattern may hold

    dot(a, b)                        a·b, a product of matrices or of vectors
    hadamard(A, B)                   A ⊙ B, a product of matrices cell by cell
    vector(a, b, ..)                 [a, b, ..]
    list(a, b, ..)                   a, b, ..
    cell(S, i, j), sub(q, i)         S[i,j], q_i
    of(Q, 2)                         Q⁽²⁾, that of the second head
    call(f, x)                       softmax(x); of `expr` too, where f has a value
    transpose(K), tilde(S)           Kᵀ, S̃
    shape(n, d), sized(H, shape)     (n×d), H (n×d)
    chain(a, "=", b, "≈", c)         a = b ≈ c; one that starts with a sign goes on from the line above it
    spaced(a, b)                     a and b on one line, with wide space between them
    text("≈")                        a sign as it is
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from numpy.typing import NDArray

from attncalc import expr
from attncalc.expr import Expr, shifted, slot

Labels = tuple[str, ...] | None

# How tightly the operations above bind that `expr` knows nothing of; leaves and closed forms bind tightest.
_PRECEDENCE = {"chain": 0, "spaced": 0, "list": 0, "dot": 2, "hadamard": 2}


def precedence(pattern: Expr) -> int:
    """How tightly the operation of a pattern binds: a sum 1, a product 2, a power 3; names and figures most."""
    return _PRECEDENCE.get(pattern.op, expr.precedence(pattern))


@dataclass(frozen=True, eq=False)
class Grid:
    """A matrix of figures as text, n × m, with the labels of its rows and columns or None.

    `role` (query, weights ...) is for formats that colour or shade.
    """

    cells: NDArray[Any]  # of str
    rows: Labels = None
    columns: Labels = None
    first: int = 1  # the number of the first column, where a wide matrix is shown in blocks of columns
    role: str = ""


class Math(NamedTuple):
    """A formula: `pattern` with `figures[k]`, a text or a matrix, in the place of slot k."""

    pattern: Expr
    figures: tuple[str | Grid, ...] = ()


def figure(text: str | Grid) -> Math:
    """One figure, or one matrix written out."""
    return Math(slot(0), (text,))


def of_figures(op: str, texts: Sequence[str]) -> Math:
    """`op` of figures alone: a + b + ..."""
    return Math(_of_slots(op, len(texts)), tuple(texts))


@lru_cache(maxsize=512)
def _of_slots(op: str, count: int) -> Expr:
    return Expr(op, *map(slot, range(count)))


def compose(op: str, *parts: Math | str) -> Math:
    """`op` of the parts, with all their figures; a str is a sign."""
    patterns, figures = zip(*[_sign(part) if isinstance(part, str) else part for part in parts], strict=True)
    return Math(_composed(op, patterns, tuple(map(len, figures))), tuple(chain.from_iterable(figures)))


@lru_cache(maxsize=64)
def _sign(text: str) -> Math:
    return Math(Expr("text", text))


@lru_cache(maxsize=4096)
def _composed(op: str, patterns: tuple[Expr, ...], counts: tuple[int, ...]) -> Expr:
    # Workings repeat a few patterns over and over: a pattern made once is also set once by each format.
    parts, used = [], 0
    for pattern, count in zip(patterns, counts, strict=True):
        parts.append(shifted(pattern, used))
        used += count
    return Expr(op, *parts)


class Token(NamedTuple):
    """A label of the problem's own, in a sentence: shown as it is, in every language."""

    text: str


class Expected(NamedTuple):
    """What belongs in a blank: a figure as text, how far off it may be, and figures that known wrong methods give.

    `also` are figures that are just as right: those of a tie, or of weights whose last digit was not set. It is for
    formats that mark what is filled in; no other shows it.
    """

    figure: str
    tolerance: str
    wrong: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


class Blank(NamedTuple):
    """A place to write something, about as wide as so many letters."""

    width: int = 6
    expected: Expected | None = None


Inline = str | Math | Token | Blank


class Prose(NamedTuple):
    """A sentence, in the parts that a format sets differently: words, formulas, tokens, blanks."""

    parts: tuple[Inline, ...]


class Items(NamedTuple):
    """Sentences that stand one below the other."""

    sentences: tuple[Prose, ...]


class Formula(NamedTuple):
    """A displayed formula in one or more lines; those after the first start with a sign, below the first sign of it."""

    lines: tuple[Math, ...]


class Beside(NamedTuple):
    """Formulas side by side, where there is room."""

    formulas: tuple[Formula, ...]


class Work(NamedTuple):
    """Lines of working below one another: what each gives, in words (or nothing), and its formula."""

    lines: tuple[tuple[Prose | None, Math], ...]


class Table(NamedTuple):
    """A table of sentences with a header for each column and, in the first column, for each row."""

    head: tuple[Prose, ...]
    rows: tuple[tuple[Prose, ...], ...]


class Section(NamedTuple):
    """A part of the page under its heading, and perhaps a number (2, 2.1). Sections nest.

    `anchor` is stable ASCII for links; a `minor` section (one row of many) has a lesser heading, whatever its depth.
    """

    title: Prose
    anchor: str
    blocks: tuple[Block, ...]
    number: str = ""
    minor: bool = False


class Document(NamedTuple):
    """A page; `colon` is what its language puts between the label of a line of working and its formula."""

    title: Prose
    lang: str
    blocks: tuple[Block, ...]
    colon: str = ":"


class Space(NamedTuple):
    """Room to write, so many lines of it."""

    lines: int = 4


Block = Prose | Items | Formula | Beside | Work | Table | Section | Space


class Asked(NamedTuple):
    """A step of which figures are asked for: the place of each, from 0, and what belongs there as it is shown.

    `shape` is n × m; where that is asked for as well (`shape_asked`), a sheet tells neither it nor any place.
    """

    step: str
    shape: tuple[int, int]
    rows: Labels
    columns: Labels
    places: tuple[tuple[int, int], ...]
    figures: tuple[str, ...]
    shape_asked: bool = False


class Question(NamedTuple):
    """A question of an exercise sheet, and its answer; `marks` as text, "" where nothing is said.

    `asked` tells scripts what the blocks tell people.
    """

    title: Prose
    blocks: tuple[Block, ...]
    answer: tuple[Block, ...]
    marks: str = ""
    asked: tuple[Asked, ...] = ()


class SheetWords(NamedTuple):
    """What formats that know more of a sheet than its blocks say of it, in its language."""

    question: str  # at the head of a table of marks, as the next three
    worth: str
    score: str
    total: str
    mark: str  # after their number where it is 1, with the space between them
    marks: str  # after any other
    brackets: str  # around that, the opening and the closing one
    solution: str
    with_key: str  # how a key is printed, in a comment
    by_itself: str  # that each figure is marked by itself

    def marked(self, marks: str) -> str:
        """1 mark, 2 marks."""
        return f"{marks}{self.mark if marks == '1' else self.marks}"


class Sheet(NamedTuple):
    """An exercise sheet with its key: `head` are the lines above the questions of both (course, date), `name` is where
    whoever fills in the sheet writes theirs, `foot` says which sheet it is."""

    title: Prose
    lang: str
    head: tuple[Prose, ...]
    name: Prose
    questions: tuple[Question, ...]
    foot: Prose
    key_title: Prose
    words: SheetWords
    colon: str = ":"
