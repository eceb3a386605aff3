"""The man pages are what the declarations say, and every key and option has its line."""

from __future__ import annotations

import importlib.util
import pkgutil
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import attncalc.problem
from attncalc.problem.schema import Table

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


def tables() -> Iterator[tuple[str, Table]]:
    """Every table of keys, wherever it is: a key that no heading has can't be read by anyone."""
    for module in pkgutil.iter_modules(attncalc.problem.__path__, "attncalc.problem."):
        for name, value in vars(importlib.import_module(module.name)).items():
            of_names = value if isinstance(value, dict) else {name: value}
            yield from ((f"{module.name}.{name}", each) for each in of_names.values() if isinstance(each, Table))


@pytest.mark.parametrize(("name", "table"), [
    *tables(), *((f"kind: {name}", attncalc.problem.kind_of(name).keys) for name in attncalc.problem.HOMES),
])  # fmt: skip
def test_every_key_is_in_the_page_of_the_problem_file(name: str, table: Table) -> None:
    for key in table.keys:
        assert "\n".join(make_man.entry(key)) in PAGES["attncalc-problem.5"], (name, key.name)


def test_every_command_has_a_page() -> None:
    for command in re.findall(r"fBattncalc..(\w+).fR\(1\)", PAGES["attncalc.1"]):
        assert f"attncalc-{command}.1" in PAGES


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
@pytest.mark.parametrize("name", PAGES)
def test_groff_takes_a_page_without_a_word(name: str) -> None:
    command = ["groff", "-man", "-ww", "-Tutf8", "-K", "utf8", "-z", str(MAN / name)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
