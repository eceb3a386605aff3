"""Markdown as readers take it: every formula goes through KaTeX, every page through pandoc, where there are these."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sheets
from test_goldens import IN_EVERY_FORMAT
from test_latex import PROBLEMS, hostile

from attncalc import mechanisms, problem
from attncalc.blocks import Document
from attncalc.formats import markdown
from attncalc.layout import lay_out

HOSTILE = "hostile labels"
PAGES = [(path, lang) for path in PROBLEMS for lang in ("en", "zh") if lang == "en" or path.stem in IN_EVERY_FORMAT]
READERS = {"github": "gfm+tex_math_gfm", "dollars": "markdown"}  # the source as pandoc is to take it
FORMULAS = {
    "github": re.compile(r"^ *```math\n(?P<display>.*?)\n *```$|\$`(?P<inline>.*?)`\$", re.MULTILINE | re.DOTALL),
    "dollars": re.compile(
        r"^ *\$\$\n(?P<display>.*?)\n *\$\$$|(?<![\\$])\$(?P<inline>[^$\n]+?(?<!\\))\$(?!\$)", re.MULTILINE | re.DOTALL
    ),
}
# KaTeX has no measures of emoji and some writing, such as Hebrew: it says so, and leaves them to the reader's fonts.
KATEX = """
const katex = require("katex");
console.warn = () => {};
const unmeasured = ["unknownSymbol", "symbolNotInFont"];  // as 0.16 and as 0.19 call it
const refused = [];
for (const [place, latex, displayMode] of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
    const strict = (code) => place === "hostile labels" && unmeasured.includes(code) ? "ignore" : "error";
    try {
        katex.renderToString(latex, {displayMode, throwOnError: true, strict});
    } catch (error) {
        refused.push([place, latex, error.message]);
    }
}
console.log(JSON.stringify(refused));
"""


def has_katex() -> bool:
    """Whether node finds KaTeX, in a folder that NODE_PATH names."""
    node = shutil.which("node")
    return bool(node) and subprocess.run([node, "-e", "require('katex')"], capture_output=True).returncode == 0


def laid(path: Path, lang: str) -> Document:
    read = problem.load(path)
    return lay_out(mechanisms.solve(read), read.show, lang, title=read.title, kind=read.kind)


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    """Every page that is looked at, by name."""
    exercises = {f"sheet {name}.{lang}": each for lang in ("en", "zh") for name, each in sheets.documents(lang)}
    return {f"{path.stem}.{lang}": laid(path, lang) for path, lang in PAGES} | exercises | {HOSTILE: hostile()}


def formulas(source: str, math: str) -> Iterator[tuple[str, bool]]:
    """The formulas of a page in order; whether each is displayed."""
    for found in FORMULAS[math].finditer(source):
        yield found["display"] or found["inline"], found["display"] is not None


@pytest.mark.skipif(not has_katex(), reason="there is no node, or no katex in NODE_PATH")
def test_katex_takes_every_formula(documents: dict[str, Document]) -> None:
    said = [
        (name, *formula) for name, document in documents.items()
        for formula in formulas(markdown.render(document), "github")
    ]  # fmt: skip
    assert len(said) > 1000
    run = subprocess.run(["node", "-e", KATEX], input=json.dumps(said), capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == []


def read_by_pandoc(source: str, math: str) -> list[Any]:
    pypandoc = pytest.importorskip("pypandoc", reason="there is no pandoc")
    blocks: list[Any] = json.loads(pypandoc.convert_text(source, "json", format=READERS[math]))["blocks"]
    return blocks


def nodes(tree: Any, kind: str) -> Iterator[Any]:
    """What pandoc has read as a Math, a Table, .. anywhere below."""
    if isinstance(tree, dict):
        if tree.get("t") == kind:
            yield tree["c"]
        tree = list(tree.values())
    if isinstance(tree, list):
        for branch in tree:
            yield from nodes(branch, kind)


@pytest.mark.parametrize("math", READERS)
def test_pandoc_reads_each_formula_as_one_and_each_table_whole(math: str, documents: dict[str, Document]) -> None:
    for name, document in documents.items():
        source = markdown.render(document, math=math)
        read = read_by_pandoc(source, math)
        found = [(as_read(latex.strip()), kind["t"] == "DisplayMath") for kind, latex in nodes(read, "Math")]
        assert found == [(as_read(latex), display) for latex, display in formulas(source, math)], name
        assert [columns(table) for table in nodes(read, "Table")] == columns_written(source), name


def as_read(latex: str) -> str:
    """Without the indentation of a list, and with letters composed, as pandoc does."""
    return unicodedata.normalize("NFC", re.sub("^  ", "", latex, flags=re.MULTILINE))


def columns(table: Any) -> list[int]:
    """How many columns each row of a table has, and that no row has another number of cells."""
    _, _, specs, (_, head), bodies, _ = table
    rows = [*head, *(row for body in bodies for row in body[3])]
    return [len(specs), *(len(cells) for _, cells in rows)]


def columns_written(source: str) -> list[list[int]]:
    """The same, of the lines of the source that start with a bar."""
    tables = re.findall(r"(?:^\|.*\n)+", source, re.MULTILINE)
    counts = [[len(re.findall(r"(?<!\\)\|", row)) - 1 for row in table.splitlines()] for table in tables]
    return [[head, head, *rows] for head, _rule, *rows in counts]
