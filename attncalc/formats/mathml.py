"""Formulas as MathML Core: the table of the notation, and formulas in as many `<math>` as a line may be broken into.

A browser breaks no line within a `<math>`. A long formula is therefore several of them: cut before its relations, then
before plus signs, then after commas, never within brackets or a fraction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache, partial
from html import escape
from itertools import chain

from attncalc.blocks import Grid, Math
from attncalc.formats.forms import Form, Notation, infix
from attncalc.formats.notation import grids_of, line
from attncalc.formats.parts import Part, Stretch, parts, shade, stretches
from attncalc.formats.width import visible

ROOM = 70  # the columns of text, as plain text, of a block of a matrix: what goes on paper
LEAD = 15  # letters that may stand before a matrix with labels, on its line
NARROW = 34  # letters that fit side by side on a telephone
LONG = 2_000  # letters of markup, of which more than these are seen

MINUS = "\u2212"  # a hyphen stays one in MathML

# Where a formula may be cut, and in which order: comments, taken out again.
CUTS = RELATION, PLUS, MATRIX, COMMA = "<!--=-->", "<!--+-->", "<!--[-->", "<!--,-->"
_COMMENT = re.compile("<!--.-->")
_MARKUP = re.compile(r"<[^<>]*>|&[a-z]+;|\u2061")
_BLOCK = re.compile("\1([0-9]+)\1\2*")
_NUMERAL = re.compile(r"-?[\d.,]+(?:e[+-]?\d+)?")
_SIGNS = frozenset("=≈∈≠<>≤≥→+-×·,;:")


def _text(text: str) -> str:
    return escape(visible(text))


def _operator(sign: str) -> str:
    return f'<mo form="infix">{escape(sign.replace("-", MINUS))}</mo>'


def token(text: str) -> str:
    """A label as it is."""
    return f"<mtext>{_text(text)}</mtext>"


def symbol(text: str, accent: str = "%s") -> str:
    """A name; what follows "_" is its subscript."""
    base, *below = text.split("_")
    if not base or not all(below):
        return accent % token(text)
    letter = accent % _identifier(base)
    if not below:
        return letter
    index = "<mo>,</mo>".join(map(_identifier, below))
    return f"<msub>{letter}<mrow>{index}</mrow></msub>"


def _identifier(text: str) -> str:
    if text.isdigit():
        return f"<mn>{text}</mn>"
    return f"<mi>{_text(text)}</mi>" if text.isalpha() and len(text) == 1 else token(text)


def _function(text: str) -> str:
    return f"<mi>{_text(text)}</mi><mo>\u2061</mo>"


def _sign(text: str) -> str:
    return _operator(text) if text in _SIGNS else token(text)


def figure(text: str) -> str:
    """A figure; a minus is an operator, so that it is as wide as one."""
    sign = f"<mo>{MINUS}</mo>" if text.startswith("-") else ""
    size = text.removeprefix("-")
    if size == "∞":
        written = "<mi>∞</mi>"
    elif _NUMERAL.fullmatch(size):
        written = f"<mn>{size}</mn>"
    else:
        return token(text)
    return f"<mrow>{sign}{written}</mrow>" if sign else written


_figure_again = lru_cache(maxsize=4096)(figure)  # for workings, where the same ones come again and again


def matrix(grid: Grid, write: Callable[[Part], str] | None = None) -> str:
    """A matrix in blocks of columns, in brackets, each under its numbers; with labels, if it has any. `write`: how a
    block of several is written, where not as it is."""
    blocks = parts(grid, ROOM)
    return "".join(MATRIX + (write if write and len(blocks) > 1 else _bracketed)(part) for part in blocks)


def _bracketed(part: Part) -> str:
    grid, place = part
    rows = []
    written = cache(partial(_cell, grid.role))  # of a block, as few figures come again in all of a large matrix
    for i, (row, pads) in enumerate(zip(grid.cells.tolist(), padding(grid), strict=True)):
        cells = map(written, row, pads)
        rows.append(f"<mtr>{''.join(cells)}{_label(grid.rows[i]) if grid.rows else ''}</mtr>")
    if grid.columns:
        rows.insert(0, f"<mtr>{''.join(map(_label, grid.columns))}{'<mtd></mtd>' if grid.rows else ''}</mtr>")
    table = f"<mrow><mo>[</mo><mtable>{''.join(rows)}</mtable><mo>]</mo></mrow>"
    return f"<mover>{table}<mtext>{place}</mtext></mover>" if place else table


def _label(text: str) -> str:
    return f"<mtd>{token(text)}</mtd>"


def _cell(role: str, cell: str, pad: str) -> str:
    dark = shade(role, cell)
    kind = f' class="w{dark}"' if dark else ""
    return f"<mtd{kind}>{figure(cell)}{pad}</mtd>"


def padding(grid: Grid) -> list[list[str]]:
    """What goes after each figure, so that decimal points stand below one another in columns set to the right."""
    rows = grid.cells.tolist()
    decimals = {cell: len(cell.partition(".")[2]) for cell in set(chain.from_iterable(rows))}
    if len(set(decimals.values())) == 1:
        return [[""] * len(row) for row in rows]
    tails = [[decimals[cell] for cell in row] for row in rows]
    most = [max(column) for column in zip(*tails, strict=True)]
    return [list(map(_space, most, row)) for row in tails]


@lru_cache
def _space(most: int, own: int) -> str:
    if own == most:
        return ""
    return f'<mspace width="{most - own + (0 if own else 0.5):g}ch"/>'


def _braced(tag: str, least: tuple[int, int] = (0, 0)) -> Form:
    return Form(f"<{tag}><mrow>", "</mrow><mrow>", f"</mrow></{tag}>", least=least, binds=8)


_CLOSED = frozenset({"over", "exp", "sqrt"})  # they need no brackets here, but do before an index or a power
SPACE = '<mspace width="2em"/>'
_COMMA = '<mo separator="true">,</mo>'
_LEFT, _RIGHT = '<mo stretchy="false">(</mo>', '<mo stretchy="false">)</mo>'
_OPEN, _CLOSE = '<mo stretchy="false">[</mo>', '<mo stretchy="false">]</mo>'

MATHML = Notation(
    forms={
        "plus": infix(PLUS + _operator("+"), 1),
        "minus": infix(PLUS + _operator("-"), 1),
        "times": infix(_operator("×"), 2, apart=["hadamard"]),
        "dot": infix(_operator("·"), 2, apart=["hadamard"]),
        "hadamard": infix(_operator("⊙"), 2, apart=["times", "dot"]),
        "over": _braced("mfrac"),
        "negated": Form(before=_operator("-"), least=(2, 2), guarded=(True, True)),
        "power": Form(
            "<msup><mrow>", "</mrow><mrow>", "</mrow></msup>", least=(8, 0), guarded=(True, False), apart=_CLOSED
        ),
        "exp": Form("<msup><mi>e</mi><mrow>", after="</mrow></msup>", binds=8),
        "sqrt": Form("<msqrt>", after="</msqrt>", binds=8),
        "max": Form(_function("max") + _LEFT, _COMMA + COMMA, _RIGHT),
        "cos_degrees": Form(_function("cos") + _LEFT, after="<mo>°</mo>" + _RIGHT),
        "sin_degrees": Form(_function("sin") + _LEFT, after="<mo>°</mo>" + _RIGHT),
        "call": Form(first=_LEFT, between=_COMMA + COMMA, after=_RIGHT, least=(8, 0)),
        "vector": Form(_OPEN, _COMMA + COMMA, _CLOSE),
        "list": Form(between=_COMMA + RELATION),
        "cell": Form("<msub><mrow>", _COMMA, "</mrow></msub>", "</mrow><mrow>", least=(8, 0), apart=_CLOSED),
        "sub": Form("<msub><mrow>", _COMMA, "</mrow></msub>", "</mrow><mrow>", least=(8, 0), apart=_CLOSED),
        "of": Form("<msup><mrow>", "</mrow>", "</msup>", least=(8, 0), apart=_CLOSED),
        "transpose": Form(
            "<msup><mrow>", after='</mrow><mi mathvariant="normal">T</mi></msup>',
            least=(8, 8), guarded=(True, True), apart=_CLOSED,
        ),
        "shape": Form(_LEFT, _operator("×"), _RIGHT, least=(3, 3)),
        "sized": Form(between='<mspace width="0.3em"/>'),
        "spaced": Form(between=SPACE),
    },
    name=symbol,
    accented=lambda text: symbol(text, '<mover accent="true">%s<mo stretchy="false">~</mo></mover>'),
    function=_function,
    sign=_sign,
    figure=_figure_again,
    raised=lambda written: f"<mrow>{_LEFT}{written}{_RIGHT}</mrow>",
    grid=matrix,
    brackets=("<mrow><mo>(</mo>", "<mo>)</mo></mrow>"),
    minus=f"<mrow><mo>{MINUS}</mo>",
    guard=f"<mrow>{_LEFT}%s{_RIGHT}</mrow>",
)  # fmt: skip


def whole(markup: str) -> str:
    """One `<math>`."""
    return f"<math>{_COMMENT.sub('', markup) if '<!--' in markup else markup}</math>"


def width(markup: str) -> int:
    """About how many letters stand side by side."""
    return len(_MARKUP.sub("", markup))


def formula(math: Math) -> Iterator[tuple[str, Grid | None]]:
    """The formula in pieces between which a line may end; a piece may end with a matrix that has labels."""
    before, (first, *others) = stretches(math)
    yield from _pieces([*before, *first])
    for found in others:
        yield from _pieces(found, SPACE)


def _pieces(found: list[Stretch], markup: str = "") -> Iterator[tuple[str, Grid | None]]:
    blocks = _Blocks()
    for stretch in found:
        markup += RELATION * stretch.breakable + (_sign(stretch.sign) if stretch.sign else "")
        if (grid := labelled(stretch.math)) is not None:
            *pieces, last = cut(markup)
            if width(last) > LEAD and RELATION in last:
                before, _, last = last.rpartition(RELATION)
                pieces.append(before)
            yield from ((blocks.written(piece), None) for piece in pieces)
            yield blocks.written(last), grid
            markup = ""
        elif stretch.math:
            markup += line(stretch.math, MATHML, grid=blocks.matrix).removeprefix(MATRIX)
    yield from ((blocks.written(piece), None) for piece in cut(markup) if piece)


class _Blocks:
    """The blocks of matrices that have several: signs, wider than what is narrow, stand for them while a formula is
    cut, since all their markup at once is too much."""

    def __init__(self) -> None:
        self._parts: list[Part] = []

    def matrix(self, grid: Grid) -> str:
        return matrix(grid, self._put_by)

    def _put_by(self, part: Part) -> str:
        self._parts.append(part)
        return f"\1{len(self._parts) - 1}\1" + "\2" * NARROW

    def written(self, markup: str) -> str:
        if not self._parts:  # nearly always
            return markup
        return _BLOCK.sub(lambda found: _bracketed(self._parts[int(found[1])]), markup)


def has_table(math: Math) -> bool:
    """Whether one of the pieces of the formula ends with a matrix that has labels."""
    if not grids_of(math):
        return False
    before, rest = stretches(math)
    return any(labelled(stretch.math) is not None for found in (before, *rest) for stretch in found)


def labelled(math: Math | None) -> Grid | None:
    """The matrix with labels that the formula is, if it is one."""
    if math is None or math.pattern.op != "slot":
        return None
    grid = math.figures[math.pattern.args[0]]
    return grid if isinstance(grid, Grid) and (grid.rows or grid.columns) else None


def cut(markup: str, levels: Sequence[str] = CUTS) -> list[str]:
    """The markup in pieces that are narrow, as far as it can be cut."""
    levels = [mark for mark in levels if mark in markup]
    if not levels or _is_narrow(markup):
        return [markup]
    return [piece for part in _at_top(markup, levels[0]) for piece in cut(part, levels[1:])]


def _is_narrow(markup: str) -> bool:
    """Whether it is as narrow as can be; of a long one, its start nearly always says that it is not."""
    start = markup[: markup.find(">", LONG) + 1] or markup
    return width(start) <= NARROW and (start is markup or width(markup) <= NARROW)


def _at_top(markup: str, mark: str) -> list[str]:
    """Cut at the marks that stand within no element."""
    found, depth = [""], 0
    for chunk in markup.split(mark):
        if found[-1] and depth == 0:
            found.append("")
        found[-1] += chunk
        tags, closing, empty, comments = map(chunk.count, ("<", "</", "/>", "<!"))
        depth += tags - 2 * closing - empty - comments
    return found
