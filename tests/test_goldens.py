"""The page of every shipped problem, word for word. A golden is read by a person before it is committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncalc import formats, mechanisms, problem
from attncalc.cli.output import render

ROOT = Path(__file__).resolve().parent.parent
GOLDENS = ROOT / "tests" / "goldens"
PROBLEMS = sorted((ROOT / "problems").glob("*.yaml"))
IN_EVERY_FORMAT = {"abc", "i-love-you", "mask-before-after"}
SUFFIX = {"text": "txt", "markdown": "md", "json": "json", "terminal": "terminal"}
CASES = [
    (path, name)
    for path in PROBLEMS
    for name in formats.FORMATS
    if name == "text" or path.stem in IN_EVERY_FORMAT
]


@pytest.mark.parametrize(("path", "name"), CASES, ids=lambda value: getattr(value, "stem", value))
def test_the_page_is_the_golden(
    path: Path, name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wish in ("FORCE_COLOR", "TTY_COMPATIBLE"):  # a terminal's page is kept without colour, 80 columns wide
        monkeypatch.delenv(wish, raising=False)
    read = problem.load(path)
    page = render(read, mechanisms.solve(read), format=name, lang="en", math="github")
    golden = GOLDENS / f"{path.stem}.{SUFFIX[name]}"
    if request.config.getoption("--update-goldens"):
        golden.write_text(page, encoding="utf-8", newline="\n")
    assert page == golden.read_text(encoding="utf-8")


def test_no_golden_is_left_over() -> None:
    expected = {f"{path.stem}.{SUFFIX[name]}" for path, name in CASES}
    assert {golden.name for golden in GOLDENS.iterdir()} == expected


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_a_problem_starts_with_a_line_that_says_what_it_shows(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ") and first.endswith(".") and 20 < len(first) <= 120
