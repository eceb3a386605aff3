"""Makes the man pages from the commands' own declarations and the problem file's schema: python man/make.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from typer.main import get_command  # noqa: E402

import attncalc  # noqa: E402
from attncalc import problem  # noqa: E402
from attncalc.cli.app import app  # noqa: E402
from attncalc.problem import (  # noqa: E402
    attention,
    drawing,
    generation,
    heads,
    layers,
    masks,
    output,
    positions,
)
from attncalc.problem.files import KEYS as FILE  # noqa: E402
from attncalc.problem.forms import KEYS as DRAWN  # noqa: E402
from attncalc.problem.schema import Key, Table  # noqa: E402
from attncalc.problem.show import KEYS as SHOW  # noqa: E402

EXIT = {
    "0": "done",
    "1": "attncalc check found something that is not right, or a paper of a class that can't be used",
    "2": "the call or a file can't be used; one line on standard error says where, what is wrong and what to do",
    "130, 143, 129": "interrupted, terminated, hung up: nothing is left half-written",
}


class Section(NamedTuple):
    """The keys of one mapping, under a heading that says where it stands; or those that it adds to others."""

    title: str
    table: Table
    besides: str = ""  # the keys that it has too, which stand elsewhere


THROUGH = "those of kind: feed-forward, but for x and tokens"
OF_LAYER = ", ".join(attention.FROM_THE_LAYER)
SECTIONS = [
    Section("Every file", problem.KEYS),
    *(Section(f"kind: {name}", problem.kind_of(name).keys) for name in problem.HOMES),
    Section("heads, each of a list", heads.EACH),
    Section("memory", attention.MEMORY_KEYS),
    Section("scale, as a mapping", attention.SCALE_KEYS),
    Section("mask, as a mapping", masks.KEYS),
    Section("window of a mask, as a mapping", masks.WINDOW),
    Section("position, as a mapping", positions.MAPPING),
    Section("experts, each of the list", Table(()), THROUGH),
    Section("layers of a model, each of the list", layers.LAYER),
    Section(
        "attention or cross_attention of a layer", layers.RESIDUAL, f"those of kind: attention, but for {OF_LAYER}"
    ),
    Section("feed_forward of a layer", layers.RESIDUAL, THROUGH),
    Section("experts of a layer", layers.RESIDUAL, "those of kind: experts, but for x and tokens"),
    Section("norm of a layer, or each of norms", layers.NORM),
    Section("final_norm of a model", layers.FINAL_NORM),
    Section("output of a model, as a mapping", output.OUTPUT),
    Section("generate", generation.GENERATE),
    Section("choose, as a mapping", generation.SAMPLE),
    Section("show", SHOW),
    Section("a matrix from a file", FILE),
    Section("a drawn matrix", DRAWN),
    Section("draw, each of its matrices, as a mapping", drawing.KEYS),
]
READING = """\
A problem file is YAML in UTF-8. A matrix is a list of rows, or the word identity, or a mapping as below; vectors are
rows: Q = H W_Q. Labels and keys are taken as written. Numbers may be written 1e-3, .5 or with a true minus sign.
Switches take true, false, yes or no. An unknown key, or one that stands twice, is an error with its line and column."""


def pages() -> dict[str, str]:
    """Every man page, by file name."""
    group: Any = get_command(app())
    commands: dict[str, Any] = group.commands
    found = {"attncalc.1": _page("attncalc", 1, "worked solutions of Transformer calculations", _main(group, commands))}
    for name, command in commands.items():
        about = command.help.splitlines()[0].rstrip(".")
        about = about[:1].lower() + about[1:]
        found[f"attncalc-{name}.1"] = _page(f"attncalc-{name}", 1, about, _command(name, command))
    found["attncalc-problem.5"] = _page("attncalc-problem", 5, "the problem file of attncalc", _schema())
    return found


def _page(name: str, section: int, about: str, body: Iterator[str]) -> str:
    head = f'.TH "{name.upper()}" "{section}" "" "attncalc {attncalc.__version__}"'
    lines = [head, ".SH NAME", f"{_text(name)} \\- {_text(about)}", *body]
    return "\n".join(lines) + "\n"


def _main(group: Any, commands: dict[str, Any]) -> Iterator[str]:
    yield from (".SH SYNOPSIS", ".B attncalc", r"\fICOMMAND\fR [\fIOPTIONS\fR]", ".SH DESCRIPTION", _text(group.help))
    yield ".SH COMMANDS"
    for name, command in commands.items():
        yield from (".TP", rf"\fBattncalc\-{name}\fR(1)", _text(command.help.splitlines()[0]))
    yield ".SH OPTIONS"
    yield from _options(group)
    yield from _exit()
    yield from (".SH SEE ALSO", *(rf"\fBattncalc\-{name}\fR(1)," for name in commands), r"\fBattncalc\-problem\fR(5)")


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    called = " ".join(rf"\fI{_text(argument.metavar)}\fR" for argument in arguments)
    yield from (".SH SYNOPSIS", rf"\fBattncalc {name}\fR [\fIOPTIONS\fR] {called}".rstrip(), ".SH DESCRIPTION")
    for paragraph in command.help.split("\n\n"):
        yield from (".PP", _text(" ".join(paragraph.split())))
    if arguments:
        yield ".SH ARGUMENTS"
        for argument in arguments:
            yield from (".TP", rf"\fI{_text(argument.metavar)}\fR", _text(argument.help))
    yield ".SH OPTIONS"
    yield from _options(command)
    yield from _exit()
    yield from (".SH SEE ALSO", r"\fBattncalc\fR(1), \fBattncalc\-problem\fR(5)")


def _options(command: Any) -> Iterator[str]:
    for option in (p for p in command.params if p.param_type_name == "option"):
        names = ", ".join(rf"\fB{_text(each)}\fR" for each in option.opts)
        value = rf" \fI{_text(option.metavar)}\fR" if option.metavar else ""
        yield from (".TP", names + value, _text(option.help))
    yield from (".TP", r"\fB\-\-help\fR", "Show help and exit.")


def _exit() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT.items():
        yield from (".TP", rf"\fB{code}\fR", _text(meaning))


def _schema() -> Iterator[str]:
    yield from (".SH DESCRIPTION", _text(" ".join(READING.split())), ".SH KEYS")
    for title, table, besides in SECTIONS:
        yield f'.SS "{_text(title)}"'
        if besides:
            yield _text(f"The keys here are {besides}{'; and' if table.keys else '.'}")
        for key in table.keys:
            yield from entry(key)
    yield from (".SH SEE ALSO", r"\fBattncalc\fR(1), \fBattncalc\-solve\fR(1)")


def entry(key: Key) -> Iterator[str]:
    """The lines of one key."""
    yield from (".TP", rf"\fB{_text(key.name)}\fR", _text(f"{key.doc}."))


def _text(text: str) -> str:
    """Words as roff takes them: hyphens that can be searched for and copied, no line that starts a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


if __name__ == "__main__":
    for name, page in pages().items():
        (FOLDER / name).write_text(page, encoding="utf-8", newline="\n")
