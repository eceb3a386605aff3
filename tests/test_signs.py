"""What a page says is true of the figures that it prints.

The text page is read back, line by line, with fractions and nothing of attncalc's: "=" stands where the printed figures
give exactly the printed result and "≈" nowhere else, a carried figure is its working rounded, the sentences agree with
the figures, and text, Markdown and JSON hold the same ones.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product
from math import inf, isqrt
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import SCALES, TOKENS, decimals, figures, flow, matrices

from attncalc import formats, mechanisms, problem
from attncalc.layout import lay_out

PROBLEMS = [path for path in sorted((Path(__file__).resolve().parent.parent / "problems").glob("*.yaml"))
            if "kind:" not in (text := path.read_text("utf-8")) or "kind: softmax" in text]  # fmt: skip
CHOICES = {
    "rounding": ["exact", "carried"],
    "ties": ["half-up", "half-even"],
    "weights": ["plain", "sum-to-one"],
    "numbers": ["trimmed", "fixed"],
    "count_from": [1, 0],
    "detail": ["full", "full", "full", "matrices"],
    "weighted_sum": ["components", "vectors"],
    "exponentials": ["list", "equations"],
    "shift": ["needed", "max"],
}
SHOWS = [dict(zip(CHOICES, values, strict=True)) for values in product(*CHOICES.values())]
LARGEST = 12  # decimals that a product is written out to


# A figure is a Fraction, a Decimal where there is no fraction (√2, e^1), or -inf; a row is a list of them.


def decimal(x):
    return x if isinstance(x, Decimal) else Decimal(x.numerator) / Decimal(x.denominator)


def both(a, b, of):
    """An operation on two figures: of fractions where it can be."""
    return of(a, b) if isinstance(a, Fraction) and isinstance(b, Fraction) else of(decimal(a), decimal(b))


def plus(a, b):
    if isinstance(a, list) or isinstance(b, list):
        return [plus(x, y) for x, y in zip(a, b, strict=True)]
    return -inf if -inf in (a, b) else both(a, b, lambda x, y: x + y)


def minus(a, b):
    return -inf if a == -inf else both(a, b, lambda x, y: x - y)


def times(a, b):
    if isinstance(a, list) and isinstance(b, list):
        if not isinstance(a[0], list):
            return times([a], b)[0]
        return [[dot(row, column) for column in zip(*b, strict=True)] for row in a]
    if isinstance(b, list):
        return times(a, b[0]) if isinstance(b[0], list) and len(b) == 1 else [times(a, x) for x in b]
    if a == 0 or b == 0:
        return Fraction(0)
    return both(a, b, lambda x, y: x * y)


def dot(a, b):
    total = Fraction(0)
    for x, y in zip(a, b, strict=True):
        total = plus(total, times(x, y))
    return total


def over(a, b):
    return Fraction(0) if a == 0 and b != 0 else both(a, b, lambda x, y: x / y)


def e_to(x):
    return Fraction(0) if x == -inf else Fraction(1) if x == 0 else decimal(x).exp()


def root(x):
    if isinstance(x, Decimal):
        return x.sqrt()
    found = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    return found if found * found == x else decimal(x).sqrt()


def tanh(x):
    if x == 0:
        return Fraction(0)
    e = (2 * decimal(x)).exp()
    return (e - 1) / (e + 1)


PI = Decimal("3.14159265358979323846264338327950288419716939937510")


def sin(x):
    return Fraction(0) if x == 0 else of_series(decimal(x) % (2 * PI), 1)


def cos(x):
    return Fraction(1) if x == 0 else of_series(decimal(x) % (2 * PI), 0)


def of_series(x, first):
    """x - x³/3! + .., or 1 - x²/2! + ..; enough of it for figures of a page."""
    with localcontext(prec=60):
        term = x if first else Decimal(1)
        total, k = term, first
        while abs(term) > Decimal("1e-45"):
            term *= -x * x / ((k + 1) * (k + 2))
            total, k = total + term, k + 2
    return total


def of_degrees(wave, x):
    """cos and sin of degrees: fractions at multiples of 30° and 90° where they are some, else by radians."""
    angle = (x + (90 if wave == "cos" else 0)) % 360
    known = {0: 0, 30: Fraction(1, 2), 90: 1, 150: Fraction(1, 2), 180: 0, 210: Fraction(-1, 2), 270: -1,
             330: Fraction(-1, 2)}  # fmt: skip
    return Fraction(known[angle]) if angle in known else sin(decimal(angle) * PI / 180)


def ln(x):
    return Fraction(0) if x == 1 else decimal(x).ln()


def normal(x):
    """The normal distribution function, by the series of Φ(x) - 1/2."""
    if x == 0:
        return Fraction(1, 2)
    with localcontext(prec=120):
        x = decimal(x)
        term = total = x
        for k in range(1, 400):
            term *= -x * x / (2 * k)
            total += term / (2 * k + 1)
        return Decimal("0.5") + total / (2 * PI).sqrt()


def power(x, n):
    if isinstance(x, Fraction) and isinstance(n, Fraction):
        if n.denominator == 1:
            return x**n.numerator
        found = Fraction(round(float(x) ** (1 / n.denominator)))
        if found**n.denominator == x:
            return found**n.numerator
    return decimal(x) ** decimal(n)


def same(a, b):
    """Whether the figures are literally equal; what is no fraction is equal to nothing printed."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, list) or isinstance(b, list):
        (one,), other = (a, b) if isinstance(a, list) else (b, a)
        return same(one, other)
    return not isinstance(a, Decimal) and not isinstance(b, Decimal) and a == b


def rounded(x, places, ties):
    if isinstance(x, list):
        return [rounded(each, places, ties) for each in x]
    if x == -inf:
        return x
    x = Fraction(x)
    units, rest = divmod(abs(x) * 10**places, 1)
    tie = abs(rest - Fraction(1, 2)) <= Fraction(1, 10**9)
    up = units % 2 if tie and ties == "half-even" else tie or rest > Fraction(1, 2)
    return Fraction(units + up, 10**places) * (1 if x >= 0 else -1)


def apportioned(row, places):
    """A row of weights that adds up to 1, by largest remainder."""
    units = [divmod(Fraction(x) * 10**places, 1) for x in row]
    left = [round(rest, 9) for _, rest in units]
    missing = 10**places - sum(whole for whole, _ in units)
    order = sorted(range(len(row)), key=lambda j: (-left[j], j))
    return [Fraction(units[j][0] + (j in order[:missing]), 10**places) for j in range(len(row))]


# Reading of formulas


FUNCTIONS = {"max": lambda *row: max(row), "tanh": tanh, "sin": sin, "cos": cos, "ln": ln, "Φ": normal}
CALLS = "|".join(FUNCTIONS)
WORDS = re.compile(
    rf"\s*(-∞|-?\d+(?:\.\d+)?(?:e-?\d+)?|e\^|\^|√|(?:{CALLS})\(|[\[\](),;⟦⟧×/·°+-]|[^\W\d][^\s·×/+(,;\])⟧^]*)"
)


class Formula:
    """One expression of a page; `names` gives the matrices that it may name. None where it has no value."""

    def __init__(self, text, names):
        self.words, self.names = WORDS.findall(text), names
        assert "".join(self.words) == re.sub(r"\s", "", text), (text, self.words)

    def value(self):
        try:
            return self.sum()
        except LookupError:
            return None

    def next(self, *words):
        if self.words and self.words[0] in words:
            return self.words.pop(0)
        return None

    def sum(self):
        found = self.term()
        while word := self.next("+", "-"):
            found = (plus if word == "+" else minus)(found, self.term())
        return found

    def term(self):
        found = self.raised()
        while word := self.next("×", "·", "/"):
            found = (over if word == "/" else times)(found, self.raised())
        return found

    def raised(self):
        found = self.factor()
        return power(found, self.factor()) if self.next("^") else found

    def listed(self, end):
        items = [self.sum()]
        while self.next(","):
            items.append(self.sum())
        return items if self.next(end) else self.fail(end)

    def fail(self, what):
        raise AssertionError(f"{what} before {self.words}")

    def factor(self):
        word = self.words.pop(0)
        if word == "(":
            return self.listed(")")[0]
        if word == "[":
            return self.listed("]")
        if word == "⟦":
            rows = [[self.sum()]]
            while mark := self.next(",", ";"):
                if mark == ";":
                    rows.append([])
                rows[-1].append(self.sum())
            return rows if self.next("⟧") else self.fail("⟧")
        if word in ("cos(", "sin(") and self.words[1:2] == ["°"]:
            angle, *self.words = self.words
            self.words = self.words[2:]
            return of_degrees(word[:-1], Fraction(angle))
        if word[:-1] in FUNCTIONS:
            return FUNCTIONS[word[:-1]](*self.listed(")"))
        if word == "e^":
            return e_to(self.factor())
        if word == "√":
            return root(self.factor())
        if word == "-∞":
            return -inf
        if word == "-":
            return times(Fraction(-1), self.factor())
        if word == "π":
            return PI
        if word[0] in "-0123456789":
            return Fraction(word)
        return self.names[word]


def links(text):
    """A chain a = b ≈ c as its parts and the signs between them."""
    pieces = re.split(r"(?:^|(?<= ))([=≈]) ", text)
    return [piece.strip() for piece in pieces[::2]], pieces[1::2]


def listed_chains(text):
    """e^1 ≈ 2.718, e^0 = 1: several chains on a line."""
    return re.split(r", (?=e\^)", text) if text.startswith("e^") else [text]


@dataclass
class Facts:
    """One problem as it is shown: its pages, and what JSON says of its steps."""

    text: str
    markdown: str
    steps: dict
    show: object
    names: dict = field(default_factory=dict)
    signs: dict = field(default_factory=dict)  # by step, of its lines of working

    def __post_init__(self):
        self.names = {step["symbol"]: self.matrix(step) for step in self.steps.values()}

    def matrix(self, step):
        return [[-inf if text == "-∞" else Fraction(text) for text in row] for row in step["shown"]]

    def places(self, id):
        by_step = self.show.rule.by_step
        places = by_step.get(id, by_step.get(id.rpartition(".")[2], self.show.rule.decimals))
        if "given_A" in self.steps and id in ("kept", "row_sum"):  # these keep the decimals of given weights
            given = [text for row in self.steps["given_A"]["shown"] for text in row]
            places = max(places, min(12, max(-Decimal(text).as_tuple().exponent for text in given)))
        return places

    def row(self, id, i):
        return [Fraction(text) for text in self.steps[id]["shown"][i]]


def facts(text, **changes):
    """The pages of a problem; so wide that no matrix is broken into blocks of columns."""
    read = problem.parse(text, "<test>", PROBLEMS[0].parent)
    read = read.with_show(**changes)
    solution = mechanisms.solve(read)
    document = lay_out(solution, read.show, "en", kind=read.kind)
    pages = [formats.render(name, document, width=10**6, math="github") for name in ("text", "markdown")]
    steps = json.loads(formats.render("json", solution, read.show.rule))["steps"]
    return Facts(*pages, {step["id"]: step for step in steps}, read.show)


# Lines of working


IS_MATRIX = re.compile(r"[⎡⎢⎣⎤⎥⎦]|\[ +[-\d]")
HEADING = re.compile(r"(\d+(?:\.\d+)*)\. (.*)")
LINES = {"exponentials": "exp", "row sum": "row_sum", "weights": "A", "largest": "row_max", "shifted": "shifted",
         "kept": "kept"}  # fmt: skip
ROWS = {"query": "Q", "key": "K", "value": "V"}
SECTIONS = {"Query mask": "masked_output", "Scaling": "scaled", "Temperature": "scaled", "Soft cap": "softcap"}


@dataclass
class Line:
    """A line of working: its label ("" where there is none), its chain, the step and the row that it is of."""

    label: str
    chain: str
    id: str | None = None
    row: int = 0
    column: int | None = None


def lines_of(page, first, ids):
    """Every line of working of a text page, with its step."""
    found, section, head, row = [], "", "", 0
    for raw in page.split("\n\n", 1)[1].splitlines():
        line = raw.strip()
        if heading := HEADING.fullmatch(line):
            section = heading[2]
            if "." not in heading[1]:
                head = ""
            if one := re.fullmatch(r"Head (\d+)", section):
                head = f"head{one[1]}."
        elif one := re.match(r"Row (\d+)\b", line):
            row = int(one[1]) - first
        elif not IS_MATRIX.search(line) and raw.startswith("  ") and section not in ("", "The whole in formulas"):
            if re.match(r"[=≈] ", line):
                found[-1].chain += f" {line}"
                continue
            for chain in line.split("    ") if re.match(r"\S+ = ", line) else [line]:
                if one := line_of(chain, section, head, row, first, ids, found):
                    found.append(one)
    return found


def line_of(line, section, head, row, first, ids, found):
    label, gap, chain = line.partition("  ")
    chain = chain.strip()
    if (gap and label in LINES) or label in ("scores", "mask"):
        id = head + LINES[label] if label in LINES else None
        if (
            label == "weights"
            and section.startswith("What the mask leaves")
            and not (found and found[-1].label == "row sum")
        ):
            id = "given_A"
        return Line(label, chain, id, row)
    if gap and (named := re.match(r"component (\d+)$", label)):
        return Line(label, chain, f"{head}O", row, int(named[1]) - first)
    if gap and (named := re.match(r"(row|query|key|value) (\d+)(?: \(.*\))?$", label)):
        at = int(named[2]) - first
        if named[1] != "row":
            return Line(label, chain, head + ROWS[named[1]], at)
        if section in SECTIONS:
            return Line(label, chain, head + SECTIONS[section], at)
        if section == "Output projection":
            return Line(
                label, chain, "output" if "output.product" not in ids or "·" not in chain else "output.product", at
            )
        letter = re.search(r"·W_([QKV])", chain)[1]
        return Line(label, chain, f"{head}{letter}.product", at)
    if re.search(r"^S\S*\[\d+,\d+\] = ", line):
        i, j = (int(k) - first for k in re.match(r"\S+\[(\d+),(\d+)\]", line).groups())
        return Line("", line.partition(" = ")[2], f"{head}S", i, j)
    if re.match(r"o\S*_\d+ [=≈] ", line) or (re.match(r"√\S+ = ", line)):
        return Line("", line, f"{head}O" if line[0] == "o" else f"{head}scaled", row)
    return None


def check_line(page, line):
    rule = page.show.rule
    for at, chain in enumerate(listed_chains(line.chain)):
        parts, signs = links(chain)
        values = [
            Formula(part, page.names).value() if part and not re.match(r"[oav]\S*_\d|√d_k", part) else None
            for part in parts
        ]
        if parts[0].startswith("o") and len(parts) == 2:
            values[0] = page.row(line.id, line.row)  # o_1 by its printed figures
        for a, sign, b in zip(values, signs, values[1:], strict=False):
            if a is not None and b is not None:
                assert sign == ("=" if same(a, b) else "≈"), (line, "sign", page.text)
        known = [value for value in values if value is not None]
        if (
            line.id
            and "√" not in parts[0][:1]
            and line.id in page.steps
            and not (parts[0].startswith("o") and "·" in parts[-1])
        ):
            shown = page.steps[line.id]["shown"][line.row]
            if chain.startswith("e^"):
                shown = shown[at : at + 1]
            elif line.column is not None:
                shown = shown[line.column : line.column + 1]
            written = f"[{', '.join(shown)}]" if len(shown) > 1 else shown[0]
            assert parts[-1] == written, (line, "JSON has", written, page.text)
        if len(known) < 2 or (parts[0].startswith("o") and len(parts) == 2):
            continue
        page.signs.setdefault((line.id, line.row), set()).add(
            signs[-1] if line.column is None else "=" if same(known[0], known[-1]) else "≈"
        )
        if rule.carried:
            check_carried(page, line, known)


def check_carried(page, line, known):
    rule, places = page.show.rule, page.places(line.id)
    *before, result = known
    for one in before[1:]:
        assert same(before[0], one) or not all(fits(x, LARGEST) for x in flat(before[0])), (
            line,
            "a product is rounded",
        )
    if line.label == "weights" and rule.weights == "sum-to-one":
        (shares, row) = (x if isinstance(x, list) else [x] for x in (before[0], result))
        if abs(sum(map(Fraction, shares)) - 1) * 10**places < Fraction(1, 2):
            assert row == apportioned(shares, places), (line, "apportioned", page.text)
            return
    alone = rounded(before[0], places, rule.ties)
    assert same(alone, result), (line, f"rounded to {places}: {alone}", page.text)


def flat(x):
    return [y for each in x for y in flat(each)] if isinstance(x, list) else [x]


def fits(x, places):
    return isinstance(x, Fraction) and (x * 10**places).denominator == 1


# Sentences


def plain(x):
    """A fraction as the decimal that it is."""
    with localcontext(prec=60):
        return f"{(Decimal(x.numerator) / Decimal(x.denominator)).normalize():f}"


def number(text):
    return Fraction(text)


def percentage(text):
    """100 × a figure, with its digits: 0.404 is 40.4."""
    return f"{Decimal(text).scaleb(2):f}"


class Names:
    """What rows and columns are called in sentences."""

    def __init__(self, page, step, axes):
        first = page.show.count_from
        self.rows = self.of(step["rows"], axes[0], len(step["shown"]), first)
        self.columns = self.of(step["columns"], axes[1], len(step["shown"][0]), first)
        self.own = axes[0] == axes[1]

    @staticmethod
    def of(labels, axis, count, first):
        if labels is None:
            return [f"{axis} {k + first}" for k in range(count)]
        labels = [label if label.strip() else f'"{label}"' for label in labels]
        repeated = Counter(labels)
        return [label if repeated[label] == 1 else f"{label} ({k + first})" for k, label in enumerate(labels)]

    def column(self, i, j):
        return "itself" if self.own and i == j else self.columns[j]

    def listed(self, i, columns):
        *most, last = [self.column(i, j) for j in columns]
        return f"{', '.join(most)} and {last}" if most else last


def check_sentences(page, axes):
    stripped = [line.strip() for line in page.text.splitlines()]
    nothing = "nothing is left to attend to, so its weights are set to 0"
    given_first = [id for id in page.steps if id in ("A", "given_A") and not page.steps[id]["operands"]]
    for id, step in page.steps.items():
        last = id.rpartition(".")[2]
        if last not in ("A", "given_A", "S", "x", "mask"):
            continue
        names = Names(page, step, axes)
        for i, texts in enumerate(step["shown"]):
            query = names.rows[i]
            if last in ("S", "x"):
                values = [number(text) for text in texts]
                ranked = sorted(set(values), reverse=True)
                groups = [[j for j, x in enumerate(values) if x == most] for most in ranked]
                sentence = ", then ".join(f"{names.listed(i, group)} ({texts[group[0]]})" for group in groups)
                assert f"{query} scores {sentence}" in stripped, (sentence, page.text)
            elif last == "mask":
                seen = [j for j, x in enumerate(texts) if x != ("0" if "keep" in step["symbol"] else "-∞")]
                what = "all" if len(seen) == len(texts) else names.listed(i, seen) if seen else "nothing"
                assert f"{query} sees {what}" in stripped, (query, what, page.text)
            else:
                check_weights(page, id, i, names, stripped, nothing)
    if given_first:
        return
    empty = sum(line.endswith(nothing) for line in stripped)
    blank = [
        (id, i)
        for id, s in page.steps.items()
        if id.endswith("row_sum")
        for i, (x,) in enumerate(s["shown"])
        if number(x) == 0
    ]
    assert bool(empty) == bool(blank), page.text


def check_weights(page, id, i, names, stripped, nothing):
    texts = page.steps[id]["shown"][i]
    values = [number(text) for text in texts]
    query = names.rows[i]
    starts = [f"{query}: {rest}" for rest in ("weight ", "all its weight on ", nothing)]
    found = [line for line in stripped if line.startswith(tuple(starts))]
    assert found, (query, page.text)
    sentences = []
    for columns in (list(c) for n in range(len(texts) + 1) for c in combinations(range(len(texts)), n)):
        if any(values[j] for j in range(len(texts)) if j not in columns):
            continue  # what has a weight is named
        if not columns:
            sentences.append(f"{query}: {nothing}")
        elif len(columns) == 1:
            sentences.append(f"{query}: all its weight on {names.column(i, columns[0])}")
        else:
            shares = ", ".join(f"{percentage(texts[j])}% on {names.column(i, j)}" for j in columns)
            start = f"{query}: weight {shares}; "
            most = [j for j in columns if values[j] == max(values)]
            if len(most) == len(columns) or page.show.rule.weights == "sum-to-one":
                same_texts = len({texts[j] for j in columns}) == 1
                sentences.append(start + ("the same on each" if same_texts else "the same on each before rounding"))
            if page.show.rule.weights == "sum-to-one":  # one that took a unit may seem larger than its equals
                unit = Fraction(1, 10 ** page.places(id))
                most = [j for j in columns if max(values) - values[j] <= unit]
            sentences += [
                f"{start}the largest on {names.listed(i, some)}"
                for n in range(1, len(most) + 1)
                for some in combinations(most, n)
            ]
    assert set(sentences) & set(found), (sentences, found)


def check_remarks(page, lines, axes):
    """What stands below a row of weights: what they add up to, and who took the unit that was missing."""
    rule = page.show.rule
    remarks = [
        line.strip()
        for line in page.text.splitlines()
        if re.match(r"\s*(the (printed|rounded) weights add|rounded one by one they add up)", line)
    ]
    if page.show.detail == "matrices":
        return
    expected = []
    for line in lines:
        if line.label != "weights" or "/" not in line.chain:
            continue
        step = page.steps[line.id]
        parts, _ = links(line.chain)
        with localcontext(prec=60):
            shares = Formula(parts[0], page.names).value()
        shares = shares if isinstance(shares, list) else [shares]
        row = page.row(line.id, line.row)
        total = sum(row)
        unit = Fraction(1, 10 ** page.places(line.id))
        if total != 1:
            expected.append(("sum", total))
            continue
        if rule.weights != "sum-to-one":
            continue
        if not rule.carried:
            if rule.weights == "sum-to-one":
                expected.append(("perhaps", total))
            continue
        alone = rounded(shares, page.places(line.id), rule.ties)
        changed = [(j, x - y) for j, (x, y) in enumerate(zip(row, alone, strict=True)) if x != y]
        if changed:
            names = Names(page, step, axes)
            expected.append(("apportioned", sum(alone), [(names.columns[j], by) for j, by in changed]))
        assert all(abs(by) == unit for _, by in changed), line
    said = []
    for remark in remarks:
        if found := re.match(r"the (?:printed|rounded) weights add up to ([\d.]+)", remark):
            said.append(("sum", number(found[1])))
        else:
            total, rest = re.fullmatch(
                r"rounded one by one they add up to ([\d.]+); by largest remainder (.*)", remark
            ).groups()
            one = re.fullmatch(r"(.*) (takes the missing|gives up the surplus) ([\d.]+)", rest)
            changes = (
                [(one[1], number(one[3]) * (1 if one[2].startswith("takes") else -1))]
                if one
                else [(name, number(by)) for name, by in re.findall(r"(.*?) gets ([+-][\d.]+)(?:, |$)", rest)]
            )
            assert number(total) + sum(by for _, by in changes) == 1, remark
            said.append(("apportioned", number(total), changes))
    if any(kind == "perhaps" for kind, *_ in expected):  # in full precision the page has no figure to tell it from
        expected = [each for each in expected if each[0] == "sum"]
        said = [each for each in said if each[0] == "sum"]
    assert said == expected, (said, expected, page.text)


def check_before_and_after(page, axes):
    """What a mask does to given weights, a sentence a row; and a row is empty only where no given weight is left."""
    if "given_A" not in page.steps:
        return
    given, after = page.steps["given_A"], page.steps["A"]
    names = Names(page, given, axes)
    section = page.text.partition("Weights before and after the mask\n")[2].split("\n\n")[0]
    for i, kept in enumerate(page.steps["mask"]["shown"]):
        seen = [x for x, keep in zip(given["shown"][i], kept, strict=True) if keep == "1"]
        left = sum(map(number, seen), Fraction(0))
        of_row = [
            line.strip() for line in section.splitlines() if re.match(rf"\s*{re.escape(names.rows[i])}(:| sees)", line)
        ]
        assert len(of_row) == 1 or len(set(names.rows)) < len(names.rows), (of_row, page.text)
        assert any("nothing is left to attend to" in line for line in of_row) == (left == 0), (of_row, page.text)
        for line in of_row:
            if share := re.search(r": its weight there adds up to ([\d.]+) and", line):
                assert number(share[1]) == left, (line, page.text)
            elif "nothing changes" in line:
                assert (
                    list(map(number, given["shown"][i])) == list(map(number, after["shown"][i]))
                    or page.show.rule.rounding == "exact"
                ), line


def check_outcome(page, axes):
    if "What came out" not in page.text:
        return
    after = next(step for id, step in reversed(page.steps.items()) if id in ("masked_output", "output", "concat", "O"))
    section = page.text.partition("What came out\n")[2].split("\n\n")[0]
    became = re.findall(r"(\S+) became (\[.*?\]|[-\d.]+)", section)
    if "H" in page.steps:
        rows = [f"[{', '.join(row)}]" if len(row) > 1 else row[0] for row in after["shown"]]
        assert [row for _, row in re.findall(r"(\[[^]]*\]|[-\d.]+) became (\[[^]]*\]|[-\d.]+)", section)] == rows, (
            became
        )
    if "A" in page.steps:
        weights = page.steps["A"]
        names = Names(page, weights, axes)
        for i, line in enumerate(section.splitlines()):
            if share := re.search(r"largest shares? from (?:another|others): (.*), ([\d.]+)%(?: each)?$", line):
                others = [x for j, x in enumerate(weights["shown"][i]) if j != i]
                most = max(others, key=number)
                near = Fraction(1, 10 ** page.places("A")) if page.show.rule.weights == "sum-to-one" else 0
                assert number(share[2]) >= 100 * (number(most) - near), line
                assert any(share[1].startswith(names.columns[j]) for j in range(len(names.columns)) if j != i), line


# Markdown


def braces(text, start):
    """Where the brace that opens at `start` is closed."""
    depth = 0
    for k in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[k], 0)
        if not depth:
            return k
    raise AssertionError(text)


def from_latex(text):
    """A formula of Markdown as the text page would write it, and a matrix as ⟦1, 2; 3, 4⟧."""
    text = re.sub(r"\{(-?\d+(?:\.\d+)?)\\mathrm\{e\}\{(-?\d+)\}\}", r"\1e\2", text)  # 1e-20
    text = re.sub(r"\\begin\{matrix\}.*?\\end\{matrix\}", "", text)
    text = re.sub(
        r"\\left\[\\begin\{array\}\{r+\}(.*?)\\end\{array\}\\right\]", r"\\begin{bmatrix}\1\\end{bmatrix}", text
    )
    text = re.sub(r"\\begin\{array\}\{([lr|]*)\}(.*?)\\end\{array\}", labelled, text)
    text = re.sub(
        r"\\begin\{bmatrix\}(.*?)\\end\{bmatrix\}",
        lambda m: f"⟦{m[1].replace('&', ',').replace(chr(92) * 2, ';')}⟧",
        text,
    )
    for latex, sign in ((r"\mathop{\mathrm{tanh}}", "tanh"), (r"\max", "max"), (r"\times", "×"), (r"\cdot", "·"),
                        (r"\approx", "≈"), (r"-\infty", "-∞"), (r"\left", ""), (r"\right", ""), ("&", "")):  # fmt: skip
        text = text.replace(latex, sign)
    for start, form in ((r"\frac", "({})/"), (r"\sqrt", "√({})"), ("e^", "e^({})")):
        while f"{start}{{" in text:
            k = text.index(f"{start}{{")
            opened = k + len(start)
            end = braces(text, opened)
            rest = text[end + 1 :]
            inside = form.format(text[opened + 1 : end])
            if start == r"\frac":
                end = braces(rest, 0)
                rest = f"({rest[1:end]}){rest[end + 1 :]}"
            text = text[:k] + inside + rest
    return text.replace("^(", "^(")


def labelled(found):
    rows = found[2].split(r"\\")[1:]
    rows = [row.replace(r"\hline", "") for row in rows]
    if "|" in found[1]:
        rows = [row.partition("&")[2] for row in rows]
    return r"\begin{bmatrix}" + r"\\".join(rows) + r"\end{bmatrix}"


def maths_of(markdown):
    """The formulas of a page: a list of those of each display, and those within lines."""
    for body in re.findall(r"```math\n(.*?)\n *```", markdown, re.DOTALL):
        body = body.replace(r"\begin{aligned}", "").replace(r"\end{aligned}", "")
        yield [line.strip().removesuffix(r"\\").strip() for line in body.strip().splitlines()]
    for body in re.findall(r"^- .*?: \$`(.*?)`\$$", markdown, re.MULTILINE):
        yield [body]


SYMBOL = re.compile(r"(?:\\q?quad )?(\S+(?: \S+)?) *([=≈]) (⟦[^⟧]*⟧)(?= |$)")


def check_markdown(page):
    """Products of matrices, and matrices that stand alone, by the signs of their cells."""
    shown = Counter(tuple(row) for step in page.steps.values() for row in step["shown"])
    drawn: Counter[tuple[str, ...]] = Counter()
    for display in maths_of(page.markdown):
        for latex in display:
            text = from_latex(latex)
            for rows in re.findall(r"⟦(.*?)⟧", text):
                drawn.update(tuple(cell.strip() for cell in row.split(",")) for row in rows.split(";"))
            if "⟦" not in text:
                continue
            chain = text.strip()
            if re.match(r"[=≈]", chain) and "·" in chain:
                parts, signs = links(chain)
                values = [Formula(part, {}).value() for part in parts if part]
                for a, sign, b in zip(values, signs[1:], values[1:], strict=False):
                    assert sign == ("=" if same(a, b) else "≈"), (latex, page.text)
    assert set(drawn) <= set(shown), (set(drawn) - set(shown), page.markdown)
    if page.show.detail != "matrices":
        return
    missing = {row for id, s in page.steps.items() for row in map(tuple, s["shown"])} - set(drawn)
    assert not missing, (missing, page.markdown)


def signature(text):
    """The figures and signs of a line, in order, but for the numbers of heads."""
    text = re.sub(r"⁽.*?⁾|\^\{\(\d+\)\}", "", text)
    return tuple(re.findall(r"-∞|\d+(?:\.\d+)?|[=≈%]", text))


# The label of a line of working, which a long one has on a line of its own in Markdown.
LABEL = re.compile(r"^- [^$]*: (?=\$)|^(?:row|query|key|value|component) \d+(?: \(.*?\))?  +")


def check_formats(page):
    """The same lines of working and the same sentences in text and in Markdown."""

    def counted(lines, is_matrix):
        joined = []
        for line in lines:
            line = re.sub(LABEL, "", line.strip().removesuffix("\\\\").strip())
            if is_matrix(line):
                continue
            if joined and re.match(r"&? ?[=≈] (?!where)", line):  # it goes on from the line above
                joined[-1] += f" {line}"
            else:
                joined.append(line)
        found = Counter(signature(line) for line in joined if re.search(r"[=≈%]|scores .*\(", line))
        return Counter({one: count for one, count in found.items() if set(one) - {"=", "≈"}})

    markdown = page.markdown.replace(r"\approx", "≈").replace(r"-\infty", "-∞")
    left = counted(page.text.splitlines(), IS_MATRIX.search)
    right = counted(markdown.splitlines(), lambda line: r"\begin{" in line and "aligned" not in line)
    assert left == right, (left - right, right - left)


def check_matrices(page):
    """A = [..] or A ≈ [..], by the signs of its rows."""
    by_id = {}
    for (id, _), signs in page.signs.items():
        by_id.setdefault(id, set()).update(signs)
    symbols = {step["symbol"]: id for id, step in page.steps.items()}
    for line in page.text.splitlines():
        for symbol, sign in re.findall(r"(?:^|\s)([^\s·]+) ([=≈]) [⎡⎢⎣\[]", line):
            id = symbols.get(symbol)
            if id is None or "Against" in line:
                continue
            step = page.steps[id]
            if step["kind"] in ("given", "arrange"):
                expected = "="
            elif step["kind"] == "contract":
                a, b = (page.matrix(page.steps[operand]) for operand in step["operands"])
                expected = "=" if same(times(a, b), page.matrix(step)) else "≈"
            elif id in by_id:
                expected = "≈" if "≈" in by_id[id] else "="
            else:
                continue
            assert sign == expected, (line, page.text)


def check(text, axes, **changes):
    examine(facts(text, **changes), axes)


def examine(page, axes):
    with localcontext(prec=60):
        lines = lines_of(page.text, page.show.count_from, page.steps)
        for line in lines:
            check_line(page, line)
        check_matrices(page)
        check_markdown(page)
        check_formats(page)
        if page.show.detail != "matrices":
            check_sentences(page, axes)
            check_remarks(page, lines, axes)
            check_outcome(page, axes)
            check_before_and_after(page, axes)


# Problems


@st.composite
def problems(draw):
    """A problem file of any sort, and what its queries and keys are called where they have no labels."""
    if draw(st.integers(0, 5)) == 0:
        return softmax_alone(draw)
    heads = draw(st.sampled_from([1, 1, 2, 3, 4]))
    kv_heads = draw(st.sampled_from([k for k in range(1, heads + 1) if heads % k == 0]))
    n, m, d_k, d_v = (draw(st.integers(1, 4 if heads == 1 else 3)) for _ in range(4))
    start = draw(st.sampled_from("HQ" if heads > 1 else "HHQSA"))
    lines, memory = {}, False

    def some(rows, columns, low=-2, high=2):
        tiny = st.sampled_from(["0", "1", "1e-3", "1e-20"])  # with an exponent
        return draw(matrices(rows, columns, draw(figures(low, high) | st.just(tiny))))

    own = True
    if start == "H":
        memory = draw(st.booleans())
        m = m if memory else n
        own = not memory
        split = draw(st.sampled_from(["number", "list", "input"])) if heads > 1 else "number"
        d_model = draw(st.integers(1, 3)) * (heads if split == "input" else 1)
        lines["H"] = flow(some(n, d_model))
        each = d_model // heads if split == "input" else d_model
        width = {"W_Q": d_k, "W_K": d_k, "W_V": d_v}
        if split == "number":
            d_v = d_v if heads == 1 else d_k
            for name, count in {"W_Q": heads, "W_K": kv_heads, "W_V": kv_heads}.items():
                columns = (d_v if name == "W_V" else d_k) * count
                lines[name] = flow(some(d_model, columns))
                if draw(st.booleans()):
                    lines[f"b_{name[-1]}"] = flow(some(1, columns)[0])
        else:
            group = heads // (kv_heads if split == "list" else heads)
            kv_heads = kv_heads if split == "list" else heads
            listed = []
            for h in range(heads):
                own_keys = ["W_Q"] if h % group else list(width)
                listed.append("{" + ", ".join(f"{k}: {flow(some(each, width[k]))}" for k in own_keys) + "}")
            lines["heads"] = f"[{', '.join(listed)}]"
            if split == "input":
                lines["split"] = "input"
        if memory:
            lines["memory"] = f"{{H: {flow(some(m, d_model))}}}"
    else:
        m = n if draw(st.booleans()) else m
        own = n == m
        if start == "Q":
            lines["Q"], lines["K"] = flow(some(n, d_k * heads, -3, 3)), flow(some(m, d_k * kv_heads, -3, 3))
        elif start == "S":
            most = draw(st.sampled_from([3, 12, 900]))
            lines["S"] = flow(some(n, m, -most, most))
        else:
            lines["A"] = flow(some(n, m, 0, 1))
        if draw(st.booleans()):
            lines["V"] = flow(some(m, d_v * kv_heads, -3, 3))
    if heads > 1:
        lines.setdefault("heads", str(heads))
        if kv_heads < heads:
            lines["kv_heads"] = str(kv_heads)
    if start != "A":
        by = draw(st.sampled_from(SCALES))
        scale = draw(st.sampled_from(["sqrt_d_k", "none", by, f"{{multiply: {by}}}"]))
        lines |= {} if scale == "sqrt_d_k" else {"scale": scale}
        if start == "S" and scale == "sqrt_d_k":
            lines["d_k"] = str(draw(st.integers(1, 9)))
        if draw(st.integers(0, 3)) == 0:
            lines["softcap"] = draw(st.sampled_from(["2", "0.5", "30"]))
    if ("V" in lines or start == "H") and draw(st.booleans()):
        lines["W_O"] = flow(some(d_v * heads, draw(st.integers(1, 3))))
        if draw(st.booleans()):
            columns = lines["W_O"].split("]")[0].count(",") + 1
            lines["b_O"] = flow(some(1, columns)[0])
    lines |= masks(draw, n, m, heads, on_weights=start == "A")
    if draw(st.booleans()):
        lines["tokens"] = labels(draw, n)
        if not own:  # the keys are labelled too
            start_of = lines.get("memory", "{}").removesuffix("}")
            between = ", " if len(start_of) > 1 else ""
            lines["memory"] = f"{start_of}{between}tokens: {labels(draw, m)}}}"
    axes = ("position", "position") if own else ("query", "key")
    return lines, axes


def softmax_alone(draw):
    n, m = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    lines = {"kind": "softmax", "x": flow(draw(matrices(n, m, draw(figures(-3, 3)))))}
    if draw(st.booleans()):
        lines["temperature"] = draw(st.sampled_from(["2", "0.5", "1.5", "3"]))
    for name, count in {"tokens": n, "vocabulary": m}.items():
        if draw(st.booleans()):
            lines[name] = labels(draw, count)
    lines |= masks(draw, n, m, 1)
    return lines, ("row", "column")


def labels(draw, count):
    return flow([json.dumps(draw(st.sampled_from(TOKENS)), ensure_ascii=False) for _ in range(count)])


def masks(draw, n, m, heads, on_weights=False):
    """`mask` and `padding`, of any parts."""
    parts, said = {}, {}
    bits = lambda: flow(draw(matrices(n, m, st.sampled_from("01"))))  # noqa: E731
    added = ["0", "-inf"] if on_weights else ["0", "-inf", "0.5", "-1", "-1e9"]
    for part in draw(st.lists(st.sampled_from(["causal", "window", "keep", "hide", "add"]), max_size=2, unique=True)):
        if part == "causal":
            parts[part] = "yes"
        elif part == "window":
            parts[part] = draw(st.sampled_from(["1", "2", "{before: 1, after: 0}"]))
        elif part == "add":
            parts[part] = flow(draw(matrices(n, m, st.sampled_from(added))))
        else:
            per_head = heads > 1 and draw(st.booleans())
            parts[part] = f"[{', '.join(bits() for _ in range(heads))}]" if per_head else bits()
    if n != m and {"causal", "window"} & parts.keys():
        parts["align"] = draw(st.sampled_from(["start", "end"]))
    if parts:
        said["mask"] = "{" + ", ".join(f"{key}: {value}" for key, value in parts.items()) + "}"
    if draw(st.integers(0, 3)) == 0:
        said["padding"] = flow(draw(st.lists(st.sampled_from("01"), min_size=m, max_size=m)))
    return said


def shows(text, count):
    """Some of the combinations of `show`, as many as asked for, spread over all of them by the problem's own text."""
    start = crc32(text)
    return [SHOWS[(start + 389 * k) % len(SHOWS)] for k in range(count)]


@settings(max_examples=80, report_multiple_bugs=False)
@given(problems(), decimals())
def test_the_signs_and_sentences_of_random_problems_are_true(drawn, places) -> None:
    lines, axes = drawn
    text = "".join(f"{name}: {value}\n" for name, value in lines.items()).encode()
    by_step = {name: count for name, count in places.items() if name != "default"}
    for show in shows(text, 2):
        check(text, axes, decimals=places["default"], by_step=by_step, **show)


def axes_of(text):
    steps = facts(text).steps
    weights = next(step for id, step in steps.items() if id.rpartition(".")[2] in ("A", "given_A"))
    if "x" in steps:
        return ("row", "column")
    return (
        ("position",) * 2
        if weights["rows"] == weights["columns"] and len(weights["shown"]) == len(weights["shown"][0])
        else ("query", "key")
    )


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_the_signs_and_sentences_of_shipped_problems_are_true(path) -> None:
    text = path.read_bytes()
    axes = axes_of(text)
    check(text, axes)
    for show in shows(text, 6):
        check(text, axes, decimals=3, **show)


# The smallest problems of which a page once said what its figures do not bear out.
ONCE_UNTRUE = {
    "0 over a root is 0": "S: [[0]]\nd_k: 2\n",
    "tanh 0 is 0": "S: [[0]]\nscale: none\nsoftcap: 2\n",
    "an exponent has decimals": "Q: [[1e-20]]\nK: [[1]]\nscale: none\n",
    "an exponent in a sum": "Q: [[1e-20, 3]]\nK: [[1, 1]]\nscale: none\n",
    "an exponent in a row": "S: [[1e-20, 2]]\nscale: none\nshow: {shift: max}\n",
    "a given weight that rounds to 0": "A: [[0.0001, 0.9999], [0.5, 0.5]]\nmask: causal\nshow: {rounding: carried}\n",
    "terms that cancel": "Q: [[816.4, 25.63, 669.1]]\nK: [[22.4, -4.25, -22.9]]\nshow: {rounding: carried}\n",
    "rounded up to a whole": "Q: [[2.999]]\nK: [[1]]\nshow: {rounding: carried, decimals: 2}\n",
    "many decimals": "S: [[2]]\nscale: 3\nshow: {decimals: 12}\n",
    "many digits": "Q: [[1234567.891]]\nK: [[1234567.891]]\nscale: none\n",
    "noise of float64": "Q: [[-2.7, 1]]\nK: [[1, 3]]\nscale: none\nshow: {decimals: 7}\n",
    "several units of a row": "S: [[0, 0, 0, 0]]\nscale: none\nshow: {decimals: 1, weights: sum-to-one}\n",
}  # fmt: skip


@pytest.mark.parametrize("text", ONCE_UNTRUE.values(), ids=ONCE_UNTRUE.keys())
def test_what_was_once_untrue(text) -> None:
    axes = axes_of(text.encode())
    check(text.encode(), axes)


PERTURBED = {
    "a sum": ("0.401 + 0.198 + 0.802 = 1.401", "0.401 + 0.198 + 0.802 = 1.402"),
    "a sign that should be =": ("2.028 + 1 + 2.028 = 5.056", "2.028 + 1 + 2.028 ≈ 5.056"),
    "a sign that should be ≈": ("[e^0.707, e^0, e^0.707] ≈", "[e^0.707, e^0, e^0.707] ="),
    "a carried figure": (
        "[e^0.707, e^0.707, e^1.414] ≈ [2.028, 2.028, 4.112]",
        "[e^0.707, e^0.707, e^1.414] ≈ [2.028, 2.028, 4.113]",
    ),
    "an operand": ("[2.028/8.168, 2.028/8.168", "[2.029/8.168, 2.028/8.168"),
    "a percentage": ("weight 40.1% on itself", "weight 40.2% on itself"),
    "the largest": (
        "28.4% on A, 14.0% on B, 57.6% on itself; the largest on itself",
        "28.4% on A, 14.0% on B, 57.6% on itself; the largest on A",
    ),
    "an order": ("C scores itself (3), then A (2), then B (1)", "C scores itself (3), then B (2), then A (1)"),
    "who took the unit": ("C takes the missing 0.001", "B takes the missing 0.001"),
    "what they add to": ("they add up to 0.999", "they add up to 0.998"),
    "a share": ("largest share from another: A, 28.4%", "largest share from another: A, 14.0%"),
    "the sign of a matrix": ("A ≈ ", "A = "),
    "a row of working": ("[1, 0]·W_K = [1, 1]", "[1, 0]·W_K = [1, 2]"),
    "a vector": ("o_1 = [1.401, 0.599]", "o_1 = [1.401, 0.598]"),
}  # fmt: skip


@pytest.mark.parametrize("change", PERTURBED.values(), ids=PERTURBED.keys())
def test_what_is_not_true_is_caught(change) -> None:
    page = facts((PROBLEMS[0].parent / "abc.yaml").read_bytes())
    true, untrue = change
    if true == "A ≈ ":
        true, untrue = "  A ≈ ⎢", "  A = ⎢"
    assert true in page.text
    page.text = page.text.replace(true, untrue, 1)
    with pytest.raises(AssertionError):
        examine(page, ("position", "position"))
