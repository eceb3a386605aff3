"""The page of every shipped problem, word for word. A golden is read by a person before it is committed."""

from __future__ import annotations

from pathlib import Path

import pytest
import reports

from attncalc import formats, mechanisms, problem
from attncalc.cli.output import pieces

ROOT = Path(__file__).resolve().parent.parent
GOLDENS = ROOT / "tests" / "goldens"
PROBLEMS = sorted((ROOT / "problems").glob("*.yaml"))
IN_EVERY_FORMAT = {"abc", "i-love-you", "mask-before-after"}
SUFFIX = {"text": "txt", "markdown": "md", "json": "json", "terminal": "terminal", "latex": "tex", "html": "html"}
REPORT = Path("report-of-abc")
CASES = [
    (path, name, lang)
    for path in PROBLEMS
    for name in formats.FORMATS
    for lang in ("en", "zh")
    if (name, lang) == ("text", "en") or (path.stem in IN_EVERY_FORMAT and (name, lang) != ("json", "zh"))
]


def golden_of(path: Path, name: str, lang: str) -> str:
    return f"{path.stem}{'' if lang == 'en' else f'.{lang}'}.{SUFFIX[name]}"


@pytest.mark.parametrize(("path", "name", "lang"), CASES, ids=lambda value: getattr(value, "stem", value))
def test_the_page_is_the_golden(
    path: Path, name: str, lang: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wish in ("FORCE_COLOR", "TTY_COMPATIBLE"):  # a terminal's page is kept without colour, 80 columns wide
        monkeypatch.delenv(wish, raising=False)
    read = problem.load(path)
    page = "".join(pieces(read, mechanisms.solve(read), format=name, lang=lang))
    golden = GOLDENS / golden_of(path, name, lang)
    if request.config.getoption("--update-goldens"):
        golden.write_text(page, encoding="utf-8", newline="\n")
    assert page == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["text", "markdown"])
def test_the_report_is_the_golden(name: str, lang: str, request: pytest.FixtureRequest) -> None:
    """What `attncalc check` says of answers that are wrong in every way."""
    page = formats.render(name, dict(reports.documents(lang))["all at once"])
    golden = GOLDENS / golden_of(REPORT, name, lang)
    if request.config.getoption("--update-goldens"):
        golden.write_text(page, encoding="utf-8", newline="\n")
    assert page == golden.read_text(encoding="utf-8")


def test_no_golden_is_left_over() -> None:
    of_report = {golden_of(REPORT, name, lang) for name in ("text", "markdown") for lang in ("en", "zh")}
    expected = {golden_of(*case) for case in CASES} | of_report
    assert {golden.name for golden in GOLDENS.iterdir()} == expected


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_a_problem_starts_with_a_line_that_says_what_it_shows(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ") and first.endswith(".") and 20 < len(first) <= 120
