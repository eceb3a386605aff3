"""The man pages are what the declarations say, and every key and option has its line."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MAN = Path(__file__).resolve().parent.parent / "man"
SPEC = importlib.util.spec_from_file_location("make_man", MAN / "make.py")
assert SPEC and SPEC.loader
make_man = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_man)
PAGES = make_man.pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_not_stale(name: str) -> None:
    assert (MAN / name).read_text(encoding="utf-8") == PAGES[name], "run python man/make.py"


def test_there_is_no_other_page() -> None:
    assert {path.name for path in MAN.glob("*.[0-9]")} == set(PAGES)


def test_every_key_of_the_schema_is_in_the_page_of_the_problem_file() -> None:
    from attncalc.problem import KINDS

    for kind in KINDS.values():
        for key in kind.keys.keys:
            assert f"\\fB{make_man._text(key.name)}\\fR" in PAGES["attncalc-problem.5"]


def test_every_command_has_a_page() -> None:
    for command in re.findall(r"fBattncalc..(\w+).fR\(1\)", PAGES["attncalc.1"]):
        assert f"attncalc-{command}.1" in PAGES


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
@pytest.mark.parametrize("name", PAGES)
def test_groff_takes_a_page_without_a_word(name: str) -> None:
    command = ["groff", "-man", "-ww", "-Tutf8", "-K", "utf8", "-z", str(MAN / name)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
