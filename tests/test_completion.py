"""Completion in the shell, as each shell asks for it, where there is that shell."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROBLEMS = sorted(path.stem for path in (ROOT / "problems").glob("*.yaml"))
FORMATS = ["html", "json", "latex", "markdown", "terminal", "text"]
CASES = [
    ("", ["check", "exercise", "mask", "new", "size", "solve"]),
    ("s", ["size", "solve"]),
    ("new ", PROBLEMS),
    ("new abc-ca", ["abc-causal"]),
    ("solve abc.yaml --format ", FORMATS),
    ("solve abc.yaml -f m", ["markdown"]),
    ("mask --causal -f l", ["latex"]),
    ("solve --lang ", ["en", "zh"]),
    ("solve --rounding ", ["carried", "exact"]),
    ("solve --detail m", ["matrices"]),
    ("solve --math ", ["dollars", "github"]),
    ("--show-completion ", ["bash", "fish", "zsh"]),
    ("solve --ro", ["--rounding"]),
    ("mask --ke", ["--keep"]),
]
FILES = ["solve ", "solve one", "solve -o ", "mask --keep ", "new --all ", "exercise --output-dir "]

BASH = """\
eval "$(attncalc --show-completion bash)"
[[ $(complete -p attncalc) == 'complete -o default '* ]]  # what is not completed, as a file
COMP_WORDS=(attncalc {words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_attncalc_completion attncalc
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """\
compdef() {{ }}
_arguments() {{ print -r -- "$@"; }}
_files() {{ print -r -- one.yaml; }}
words=(attncalc {words}) CURRENT=$#words
{load}
"""
FISH = 'attncalc --show-completion fish | source; complete -C "attncalc {line}"'


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """attncalc is a command, and home and the folder are ones with a single file."""
    home = tmp_path_factory.mktemp("home")
    (home / "one.yaml").touch()
    command = tmp_path_factory.mktemp("bin") / "attncalc"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m attncalc "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}:{os.environ.get('PATH', '')}"
    return {"PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(home), "TERM": "dumb", "LC_ALL": "C.UTF-8"}


def run(command: list[str], environment: dict[str, str]) -> str:
    folder = environment["HOME"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


def words(line: str) -> str:
    return " ".join(shlex.quote(word) for word in line.split(" "))


def in_shell(shell: str, line: str, environment: dict[str, str]) -> list[str]:
    """What a shell offers for the last word of a line."""
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell}")
    if shell == "bash":
        found = run(["bash", "--norc", "-euc", BASH.format(words=words(line))], environment)
    elif shell == "zsh":
        load = 'eval "$(attncalc --show-completion zsh)"; _attncalc_completion'
        found = offered_by_zsh(run(["zsh", "-fc", ZSH.format(words=words(line), load=load)], environment))
    else:
        found = run(["fish", "--no-config", "-c", FISH.format(line=line)], environment)
    return sorted(offer.partition("\t")[0] for offer in found.splitlines() if offer)


def offered_by_zsh(specification: str) -> str:
    """The words of `*: :(("a":"about a" "b"))`, which _arguments is told."""
    return "\n".join(re.findall(r'(?<=[( ])"([^"]+)"', specification)) or specification


SHELLS = ["bash", "zsh", "fish"]


@pytest.mark.parametrize("line, offered", CASES, ids=[line for line, _ in CASES])
@pytest.mark.parametrize("shell", SHELLS)
def test_what_can_be_said_is_offered(shell: str, line: str, offered: list[str], environment: dict[str, str]) -> None:
    assert in_shell(shell, line, environment) == offered


@pytest.mark.parametrize("line", FILES)
@pytest.mark.parametrize("shell", SHELLS)
def test_files_are_left_to_the_shell(shell: str, line: str, environment: dict[str, str]) -> None:
    assert in_shell(shell, line, environment) == ([] if shell == "bash" else ["one.yaml"])


def test_a_line_that_is_completed_is_not_carried_out(environment: dict[str, str]) -> None:
    for line in ("--version ", "--show-completion bash ", "--install-completion bash ", "solve no-such-file.yaml "):
        assert not {"attncalc", "local"} & set(" ".join(in_shell("bash", line, environment)).split())
    assert not (Path(environment["HOME"]) / ".bash_completions").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_installed_it_is_found_by_a_new_shell(shell: str, environment: dict[str, str], tmp_path: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell}")
    environment = environment | {"HOME": str(tmp_path)}
    said = run(["attncalc", "--install-completion", shell], environment)
    assert said.endswith(f" completes attncalc in every new {shell}\n") and said.count("\n") == 1
    if shell == "bash":
        ask = f"source ~/.bashrc; {BASH.partition(chr(10))[2]}"
        found = run(["bash", "--norc", "-euc", ask.format(words="new abc-ca")], environment)
    elif shell == "zsh":  # found in its fpath, the script answers the first time that it is asked
        load = "fpath=(~/.zfunc $fpath); autoload -Uz _attncalc; _attncalc"
        assert ".zfunc" in (tmp_path / ".zshrc").read_text()
        found = offered_by_zsh(run(["zsh", "-fc", ZSH.format(words="new abc-ca", load=load)], environment))
    else:
        found = run(["fish", "-c", 'complete -C "attncalc new abc-ca"'], environment)
    assert found.split() == ["abc-causal"]


def test_what_cannot_be_installed_is_refused_in_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    for arguments, says in (
        (["--install-completion", "bash"], "--show-completion bash"),
        (["--install-completion", "tcsh"], "'fish'"),
        (["--show-completion"], "--show-completion"),
    ):
        done = subprocess.run(
            ["attncalc", *arguments], env=environment | {"HOME": str(tmp_path / "home")}, capture_output=True, text=True
        )
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and says in done.stderr
