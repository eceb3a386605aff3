"""Every line of working of every page is true: "=" stands where the printed figures give exactly the printed result and
"≈" nowhere else. The text page is read back with fractions, and knows no step."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest
from test_signs import IS_MATRIX, Formula, facts, links, same

PROBLEMS = sorted((Path(__file__).resolve().parent.parent / "problems").glob("*.yaml"))
HEADING = re.compile(r"\s*\d+(?:\.\d+)*\. (.*)")
NO_WORKING = ("The whole in formulas", "Against full precision")
NOT_READ = re.compile(r"[a-z]\S*_\d|\(\d+×\d+\)")  # o_1, which is no step; (3×2)


def working_lines(page):
    """The lines that hold a sign and no matrix, without their labels; those that go on are joined."""
    found, section = [], "Conventions"
    for raw in page.split("\n\n", 1)[1].splitlines():
        heading = HEADING.fullmatch(raw)
        if heading:
            section = heading[1]
        line = raw.strip()
        if heading or section in NO_WORKING or section == "Conventions" or IS_MATRIX.search(line):
            continue
        chain = line.rpartition("  ")[2]
        if re.search(r"(?:^|\s)[=≈] ", chain) and not re.search(r"[.;:]$| is ", chain):
            found.append(chain)
    return found


def values(part, named):
    """What a part may be worth: symbols stand for any matrix that is called so."""
    words = Formula(part, {}).words
    if not any(word.lstrip("-")[:1].isdigit() for word in words):
        return []  # a law in symbols
    used = sorted({word for word in words if word in named})
    found = []
    for choice in product(*(named[word] for word in used)):
        try:
            value = Formula(part, dict(zip(used, choice, strict=True))).value()
        except (TypeError, AttributeError, ValueError):
            if not used:
                raise
            continue  # a law of whole matrices that is none of products
        if value is not None:
            found.append(value)
    return found


def check(text, **changes):
    page = facts(text, **changes)
    named = defaultdict(list)
    for step in page.steps.values():
        named[step["symbol"]].append(page.matrix(step))
    checked = 0
    for chain in working_lines(page.text):
        for each in re.split(r", (?=(?:e\^|Φ\())", chain) if chain.startswith("e^") else [chain]:
            parts, signs = links(each)
            try:
                worth = [[] if not part or NOT_READ.match(part) else values(part, named) for part in parts]
            except (AssertionError, IndexError):
                continue  # a sentence with a sign in it
            for a, sign, b in zip(worth, signs, worth[1:], strict=False):
                if a and b and len(a) * len(b) < 100:
                    checked += 1
                    assert any(sign == ("=" if same(x, y) else "≈") for x in a for y in b), (each, page.text)
    return checked


@pytest.mark.parametrize("rounding", ["exact", "carried"])
@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_every_line_of_shipped_problems_is_true(path, rounding):
    assert check(path.read_bytes(), rounding=rounding, detail="full") or "identity" in path.read_text("utf-8")
