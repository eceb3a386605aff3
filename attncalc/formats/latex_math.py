"""Formulas as LaTeX that KaTeX, MathJax (GitHub's, with what it forbids) and LaTeX itself accept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from attncalc.blocks import Grid, Math
from attncalc.formats.forms import Form, Notation, infix
from attncalc.formats.notation import line
from attncalc.formats.width import visible

WIDEST_MATRIX = 10  # columns of a bmatrix, where LaTeX's MaxMatrixCols is left as it is

_SIGNS = {
    "≈": r"\approx", "∈": r"\in", "→": r"\to", "≤": r"\le", "≥": r"\ge", "≠": r"\ne",
    "×": r"\times", "·": r"\cdot", "…": r"\dots", "∞": r"\infty", "-∞": r"-\infty", " ": r"\ ",
    **{sign: sign for sign in ("", "=", "<", ">", "+", "-", ",", ";", ":")},
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "η": "eta", "θ": "theta",
    "κ": "kappa", "λ": "lambda", "μ": "mu", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "varphi",
    "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Σ": "Sigma", "Φ": "Phi", "Ω": "Omega",
    "ℓ": "ell",
}  # fmt: skip
# MathJax shows most backslashes of \text{..} as they are and KaTeX takes no "_" in it: what is special stands outside.
# <s> in one piece would be HTML to a Markdown reader that knows no formulas.
_OUTSIDE_TEXT = {
    "\\": r"\backslash", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\hat{\ }", "`": r"\grave{\ }", "~": r"{\sim}", "<": "{<}", ">": "{>}",
}  # fmt: skip
_STRETCH = re.compile(r"([\\{}$&#%_^`~<>])|([^\\{}$&#%_^`~<>]+)")
_LIGATURE = re.compile(r"(?<=[-',])(?=[-',])")  # LaTeX makes a dash of "--", quotes of "''" and ",,"
_NUMERAL = re.compile(r"-?[\d.,]+")
_WITH_EXPONENT = re.compile(r"(-?[\d.]+)e([+-]?\d+)")


@lru_cache(maxsize=4096)
def token(text: str) -> str:
    """A label as it is, in letters of the text."""
    found = [_OUTSIDE_TEXT[special] if special else _text(run) for special, run in _STRETCH.findall(visible(text))]
    return "".join(found) or r"\text{}"


def _text(run: str) -> str:
    cuts = [0, *(match.start() for match in _LIGATURE.finditer(run)), len(run)]
    return "".join(rf"\text{{{run[a:b]}}}" for a, b in pairwise(cuts))


def symbol(text: str, accent: str = "%s") -> str:
    """A name; what follows "_" is its subscript: W_Q, d_{\\text{model}}, W_{Q,1}."""
    base, *below = text.split("_")
    if not base or not all(below):
        return accent % token(text)
    letter = accent % _base(base)
    if not below:
        return letter
    index = ",".join(_base(part) if len(part) == 1 or part.isdigit() else token(part) for part in below)
    return f"{letter}_{index}" if len(index) == 1 else f"{letter}_{{{index}}}"


def _base(text: str) -> str:
    if text in _GREEK:
        return rf"\{_GREEK[text]}"
    if re.fullmatch(r"[A-Za-z]'*|\d+", text, re.ASCII):
        return text
    return rf"\mathrm{{{text}}}" if re.fullmatch(r"[A-Za-z0-9]+", text) else token(text)


def _function(text: str) -> str:
    # \operatorname is what is meant, but GitHub refuses it: "The following macros are not allowed".
    return rf"\mathop{{{_base(text)}}}" if len(text) > 1 else _base(text)


def _sign(text: str) -> str:
    return _SIGNS[text] if text in _SIGNS else token(text)


@lru_cache(maxsize=65536)
def figure(text: str) -> str:
    if _NUMERAL.fullmatch(text):
        return text
    if match := _WITH_EXPONENT.fullmatch(text):
        return rf"{{{match[1]}\mathrm{{e}}{{{match[2]}}}}}"
    return _SIGNS.get(text) or (_base(text) if text in _GREEK else token(text))


def grid(matrix: Grid) -> str:
    """A matrix with its labels: those of columns in a row above it, those of rows beside it."""
    if matrix.columns:
        return _labelled(matrix)
    return _matrix(matrix) + (_label_column(matrix.rows) if matrix.rows else "")


def _rows(lines: Iterable[Sequence[str]]) -> str:
    return r" \\ ".join(" & ".join(cells) for cells in lines)


def _cells(matrix: Grid) -> list[list[str]]:
    return [[figure(str(cell)) for cell in row] for row in matrix.cells]


def _matrix(matrix: Grid) -> str:
    count = matrix.cells.shape[1]
    if count <= WIDEST_MATRIX:
        return rf"\begin{{bmatrix}} {_rows(_cells(matrix))} \end{{bmatrix}}"
    return rf"\left[\begin{{array}}{{{'r' * count}}} {_rows(_cells(matrix))} \end{{array}}\right]"


def _label_column(labels: Sequence[str]) -> str:
    return rf"\begin{{matrix}} {_rows([token(label)] for label in labels)} \end{{matrix}}"


def _labelled(matrix: Grid) -> str:
    assert matrix.columns is not None
    rows = _cells(matrix)
    head = [token(label) for label in matrix.columns]
    layout = "r" * len(head)
    if matrix.rows:
        rows = [[token(label), *row] for label, row in zip(matrix.rows, rows, strict=True)]
        head, layout = ["", *head], "l|" + layout
    return rf"\begin{{array}}{{{layout}}} {_rows([head])} \\ \hline {_rows(rows)} \end{{array}}"


def _braced(before: str, between: str = "}{") -> Form:
    return Form(before=before, between=between, after="}", binds=8)


_CLOSED = frozenset({"over", "exp", "sqrt"})  # they need no brackets here, but do before an index or a power

LATEX = Notation(
    forms={
        "plus": infix(" + ", 1),
        "minus": infix(" - ", 1),
        "times": infix(r" \times ", 2, apart=["hadamard"]),
        "dot": infix(r" \cdot ", 2, apart=["hadamard"]),
        "hadamard": infix(r" \odot ", 2, apart=["times", "dot"]),
        "over": _braced(r"\frac{"),
        "negated": Form(before="-", least=(2, 2), guarded=(True, True)),
        "power": Form(between="^{", after="}", least=(8, 0), guarded=(True, False), apart=_CLOSED, script="^"),
        "exp": _braced("e^{"),
        "sqrt": _braced(r"\sqrt{"),
        "max": Form(before=r"\max(", after=")"),
        "cos_degrees": Form(before=r"\mathop{\mathrm{cos}}(", after=r"^{\circ})"),
        "sin_degrees": Form(before=r"\mathop{\mathrm{sin}}(", after=r"^{\circ})"),
        "call": Form(first="(", after=")", least=(8, 0)),
        "vector": Form(before="[", after="]"),
        "list": Form(),
        "cell": Form(first="_{", between=",", after="}", least=(8, 0), apart=_CLOSED, script="_"),
        "sub": Form(first="_{", between=",", after="}", least=(8, 0), apart=_CLOSED, script="_"),
        "of": Form(between="", least=(8, 0), apart=_CLOSED, script="^"),
        "transpose": Form(after=r"^{\top}", least=(8, 8), guarded=(True, True), apart=_CLOSED, script="^"),
        "shape": Form(before="(", between=r" \times ", after=")", least=(3, 3)),
        "sized": Form(between=r"\ "),
        "spaced": Form(between=r" \qquad "),
    },
    name=symbol,
    accented=lambda text: symbol(text, r"\tilde{%s}"),
    function=_function,
    sign=_sign,
    figure=figure,
    raised=lambda latex: f"^{{({latex})}}",
    grid=grid,
    brackets=(r"\left(", r"\right)"),
)


def inline(math: Math) -> str:
    """Within a sentence, where a matrix has no labels."""
    return line(math, LATEX, grid=_matrix).strip()
