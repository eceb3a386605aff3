"""Tokens and titles of every hostile kind through solve, check and exercise: each format holds for what reads it."""

from __future__ import annotations

import json
import shutil
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fuzz
import pytest
from test_html import CHROMIUM, OPTIONS, needs_chromium, said
from test_inputs_solved import TEN, TOKENS, W2
from test_latex import LABELS, compiled, needs_xelatex
from test_markdown_read import as_read, columns, columns_written, formulas, nodes, read_by_pandoc

from attncalc.cli import main
from attncalc.formats.json_text import dumped

HOSTILE = json.loads((Path(__file__).parent / "hostile.json").read_text(encoding="utf-8"))["tokens"]
ALL = list(dict.fromkeys([*LABELS, *HOSTILE, *(token for group in TOKENS.values() for token in group)]))
GROUPS = [[*ALL, *ALL][at : at + 10] for at in range(0, len(ALL), 10)]
TITLE = r"<script>alert(1)</script> $x$ \input{x} | `a` ![i](http://a.b/c) <img src=http://a.b/c onerror=x> \end{x}"
# Where a page of each command has labels; every figure that is marked is wrong.
CALLS = {
    "solve": "solve p.yaml", "check": "check p.yaml a.yaml --marks S=2,O=3", "class": "check .",
    "sheet": "exercise p.yaml --level 1 --course", "key": "exercise p.yaml --level 3 --key --ask shapes --course",
}  # fmt: skip
FORMATS = {"solve": fuzz.PAGES, "check": fuzz.REPORTS, "class": fuzz.REPORTS, "sheet": fuzz.SHEETS,
           "key": tuple(each for each in fuzz.SHEETS if each != "moodle")}  # fmt: skip


def page(call: str, format: str, tokens: list[str], folder: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """What a command prints of a problem with these tokens, where `TITLE` stands wherever a title can."""
    problem = f"title: {json.dumps(TITLE)}\ntokens: {json.dumps(tokens)}\nH: {TEN}\n{W2}"
    answers = f"S: {{row: 1, values: {[7] * 10}}}\nO: {[[8, '_']] * 9 + [['x', '<b>']]}\n"
    for name, text in {"p.yaml": problem, "a.yaml": answers, "problem-a [b](c)<d>.yaml": problem,
                       "answers-a [b](c)<d>.yaml": answers}.items():  # fmt: skip
        (folder / name).write_text(text, encoding="utf-8")
    arguments = [str(folder / word) if word in ("p.yaml", "a.yaml", ".") else word for word in CALLS[call].split()]
    arguments += [TITLE] if arguments[-1] == "--course" else []
    if call == "class":
        for name in ("p.yaml", "a.yaml"):
            (folder / name).unlink()
    code = main([*arguments, "--format", format])
    out, err = capfd.readouterr()
    assert (code, err) == (1 if arguments[0] == "check" else 0, "")
    return out


@pytest.mark.parametrize("call", CALLS)
def test_every_page_is_whole(call: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for k, format in enumerate(FORMATS[call]):
        for tokens in GROUPS[k % 3 :: 3]:
            fuzz.whole(page(call, format, tokens, tmp_path, capfd), format)


@pytest.mark.parametrize("call", CALLS)
def test_markdown_keeps_its_formulas_and_columns_and_has_no_html(
    call: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = "\n\n".join(page(call, "markdown", tokens, tmp_path, capfd) for tokens in GROUPS)
    read = read_by_pandoc(source, "github")
    found = [(as_read(latex.strip()), kind["t"] == "DisplayMath") for kind, latex in nodes(read, "Math")]
    assert found == [(as_read(latex), display) for latex, display in formulas(source, "github")]
    assert [columns(table) for table in nodes(read, "Table")] == columns_written(source)
    assert not any([*nodes(read, kind)] for kind in ("RawInline", "RawBlock", "Image"))


def test_json_escapes_what_is_not_seen_and_keeps_letters() -> None:
    text = "我é😀\x85\u202e\u2028\ud800\U000e0041"
    assert dumped([text]) == r'["我é😀\u0085\u202e\u2028\ud800\udb40\udc41"]' and json.loads(dumped(text)) == text


@pytest.mark.skipif(shutil.which("jq") is None, reason="there is no jq")
@pytest.mark.parametrize("call", CALLS)
def test_jq_reads_the_json(call: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pages = [page(call, "json", tokens, tmp_path, capfd) for tokens in GROUPS]
    run = subprocess.run(["jq", "-c", "."], input="".join(pages).encode(), capture_output=True, check=True)
    assert list(map(json.loads, run.stdout.splitlines())) == list(map(json.loads, pages))
    if call == "solve":
        labels = [next(step for step in json.loads(each)["steps"] if step["id"] == "A")["rows"] for each in pages]
        assert labels == GROUPS


@needs_xelatex
@pytest.mark.parametrize("call", ["solve", "sheet", "key"])
def test_latex_compiles(call: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Ten columns to write in leave no room for long labels: they are broken where they must, and make a head tall."""
    short = [token for token in ALL if len(token) < 12]
    groups = GROUPS if call != "sheet" else [short[at : at + 10] for at in range(0, len(short) - 9, 10)]
    for tokens in groups[:: 7 if call == "solve" else 2]:
        compiled(page(call, "latex", tokens, tmp_path, capfd), tmp_path)


@contextmanager
def counting() -> Iterator[tuple[int, list[bytes]]]:
    """The port of a proxy that answers nothing, and the first line of each request that it got."""
    asked: list[bytes] = []

    class Asked(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked.append(self.rfile.readline())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Asked) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], asked
        server.shutdown()


def opened(source: str, folder: Path) -> tuple[str, list[bytes]]:
    """A page as Chromium has read it, and what it asked for."""
    (folder / "page.html").write_text(source, encoding="utf-8", newline="\n")
    assert CHROMIUM
    with counting() as (port, asked):
        through = [f"--proxy-server=127.0.0.1:{port}", "--proxy-bypass-list=<-loopback>"]
        run = subprocess.run(
            [CHROMIUM, *OPTIONS, *through, f"--user-data-dir={folder / 'profile'}", (folder / "page.html").as_uri()],
            capture_output=True, timeout=120, check=True,
        )  # fmt: skip
    return run.stdout.decode(), [line for line in asked if b"a.b" in line or b"page" in line]


@needs_chromium
def test_chromium_runs_nothing_and_asks_for_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran, asked = opened("<p>x<img src=http://a.b/c><script>document.body.append('r' + 'an')</script>", tmp_path)
    assert "ran" in ran and asked
    for call in CALLS:
        for tokens in GROUPS[:: 6 if call in ("solve", "key") else 9]:
            source = page(call, "html", tokens, tmp_path, capfd)
            read, asked = opened(source, tmp_path)
            assert said(read) == said(source) and not asked
