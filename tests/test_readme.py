"""What the README says is so: its commands run, its output is what is printed, its tables name what there is.

Its examples run in an empty folder, with the attncalc of this clone or of the environment that ATTNCALC_VENV names.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

VENV = os.environ.get("ATTNCALC_VENV")
ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
Run = Callable[[str], subprocess.CompletedProcess[str]]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


SHELL = [block for block in blocks("sh") if "venv" not in block]
(START,) = (block.splitlines()[0] for block in SHELL if block.startswith("attncalc new --all"))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where `attncalc`, and a `python` that can import it, are commands."""
    if VENV:
        return {"PATH": f"{VENV}/bin:/usr/bin:/bin"}
    command = tmp_path_factory.mktemp("bin") / "attncalc"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m attncalc "$@"\n')
    command.chmod(0o755)
    return {"PATH": f"{command.parent}:{Path(sys.executable).parent}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)}


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]) -> Run:
    """Runs a script in an empty folder, into which the README's own command has put the problems."""

    def run(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip

    started = run(START)
    assert (started.returncode, started.stdout, started.stderr) == (0, "", "")
    return run


@pytest.mark.parametrize("script", SHELL, ids=lambda script: script.splitlines()[0][:40])
def test_each_shell_example_runs(script: str, run: Run) -> None:
    result = run(script.replace("problems/*.yaml", "problems/a*.yaml"))  # all of them take a minute
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert result.stdout or "--output" in script


@pytest.mark.parametrize("session", blocks("console"), ids=lambda session: session.splitlines()[0])
def test_each_printed_output_is_what_is_printed(session: str, run: Run) -> None:
    command, _, output = session.partition("\n")
    result = run(command.removeprefix("$ "))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == output


def test_the_examples_of_problem_files_are_solved(run: Run, tmp_path: Path) -> None:
    for text in blocks("yaml"):
        (tmp_path / "example.yaml").write_text(text, encoding="utf-8")
        assert run("attncalc solve example.yaml").returncode == 0


def test_the_python_example_runs(run: Run, tmp_path: Path) -> None:
    solved, marked = blocks("python")
    (tmp_path / "example.py").write_text(solved, encoding="utf-8")
    result = run("python example.py")
    assert result.returncode == 0, result.stderr
    assert "'row_sum', 'A', 'O']" in result.stdout and result.stdout.endswith("O\n1.401\n")
    (tmp_path / "example.py").write_text(marked, encoding="utf-8")
    result = run("python example.py")
    assert result.returncode == 0, result.stderr
    assert "'correct': 8" in result.stdout and result.stdout.endswith("S 1 2\n")


def test_two_commands_start_from_a_bare_python() -> None:
    commands = [block for block in blocks("sh") if "venv" in block]
    assert len(commands) == 2 and all(block.startswith("python3 -m venv ") for block in commands)
    assert "attncalc solve problems/abc.yaml" in commands[0] and "pytest" in commands[1]


def test_every_option_is_in_the_readme() -> None:
    for command in ("solve", "mask", "size", "new"):
        text = subprocess.run(
            [sys.executable, "-m", "attncalc", command, "--help"], capture_output=True, text=True, check=True
        ).stdout
        for option in set(re.findall(r"--[a-z]+", text)) - {"--help"}:
            assert f"`{option}" in README or f"{option} " in README, option


# Where a step may be: what stands before the last part of its id, as the README's table says.
PLACES = [
    *("encoder", "decoder", "single", "attention", "cross_attention", "feed_forward", "experts", "final_norm"),
    *("output", "loss", "parameters", "cache", "top_k"),
    *(rf"{of}\d+" for of in ("step", "layer", "norm", "head", "token", "expert")),
]


def test_every_id_of_a_step_is_in_the_readme() -> None:
    from attncalc import load, solve

    ids = {f"mask.{part}" for part in ("causal", "window", "padding", "keep", "hide", "add")}
    for problem in map(load, (ROOT / "problems").glob("*.yaml")):
        ids |= {re.sub(rf"^((?!output\.product)({'|'.join(PLACES)})\.)+", "", id) for id in solve(problem).steps}
    assert {"mask", "W_O", "b_QKV", "next", "total", "head1.A"} - ids == {"head1.A"}
    ids = {re.sub(r"^residual\d+", "residual1", id) for id in ids}
    assert {id for id in ids if f"`{id}`" not in README} == set()


def test_every_place_of_a_step_is_in_the_readme() -> None:
    for place in PLACES:
        assert re.search(rf"`{place}\.", README), place


def test_every_key_of_a_problem_is_in_the_readme() -> None:
    from attncalc.problem import HOMES, KEYS, kind_of
    from attncalc.problem.generation import GENERATE, SAMPLE
    from attncalc.problem.layers import FINAL_NORM, LAYER, NORM, PARTS
    from attncalc.problem.output import OUTPUT
    from attncalc.problem.show import KEYS as SHOW_KEYS

    nested = (*PARTS.values(), LAYER, NORM, FINAL_NORM, OUTPUT, GENERATE, SAMPLE, SHOW_KEYS, KEYS)
    for key in {key.name for table in (*nested, *(kind_of(name).keys for name in HOMES)) for key in table.keys}:
        assert re.search(rf"`{key}`|[`{{ ]{key}:|^{key}:", README, re.MULTILINE), key
