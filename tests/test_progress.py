"""The line that says what is going on: on a terminal alone, after a second, and wiped; seen through one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals")

ROOT = Path(__file__).resolve().parent.parent
LONG = """\
heads: 4
Q: {random: integers, from: -2, to: 2, seed: 1, rows: 30, columns: 48}
K: {random: integers, from: -2, to: 2, seed: 2, rows: 30, columns: 48}
V: {random: integers, from: -2, to: 2, seed: 3, rows: 30, columns: 48}
show: {detail: full, rounding: carried}
"""
WORK = """\
import time
from attncalc.cli.progress import Progress
with Progress(after=0.1) as tell:
    tell("working head1.S")
    time.sleep(0.3)
    tell("writing")
    time.sleep(0.3)
    END
"""


def on_terminal(*command: str, stdin: str = "", **environment: str) -> tuple[int, str, bytes]:
    """The exit code, what came on a terminal that is standard error, and standard output, which is none."""
    ours, theirs = pty.openpty()
    seen: list[bytes] = []

    def read() -> None:
        while True:
            try:
                data = os.read(ours, 4096)
            except OSError:  # the other end is closed
                return
            if not data:
                return
            seen.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    done = subprocess.run(
        [sys.executable, *command], input=stdin.encode(), stdout=subprocess.PIPE, stderr=theirs, timeout=120,
        cwd=ROOT, env={**os.environ, **environment}, check=False,
    )  # fmt: skip
    os.close(theirs)
    reader.join()
    os.close(ours)
    return done.returncode, b"".join(seen).decode(), done.stdout


def screen(written: str) -> list[str]:
    """The lines of a terminal after it."""
    lines = []
    for part in written.replace("\r\n", "\n").split("\n"):
        line = ""
        for piece in part.split("\r"):
            line = piece + line[len(piece) :]
        lines.append(line.rstrip())
    return lines


SOON = """\
import sys
from attncalc.cli import main
from attncalc.cli.progress import Progress
Progress.__init__.__defaults__ = (0.02,)  # so that a quick machine is at work still
sys.exit(main(sys.argv[1:]))
"""


def test_long_work_says_what_it_is_at_and_leaves_nothing() -> None:
    code, said, page = on_terminal("-c", SOON, "solve", "-", stdin=LONG)
    assert code == 0 and page.startswith(b"Attention")
    assert re.search(r"attncalc: (working|laying out) head[1-4]|attncalc: writing text \.\.", said)
    assert screen(said) == [""] and "\x1b" not in said


DRAWN = "problems/draw-scale.yaml"
CALLS = {
    "mask": (("mask", "--causal", "--size", "300"), r"working |laying out |writing text"),
    "check": (("check", "-"), r"working|marking published"),
    "exercise": (("exercise", DRAWN, "--level", "1", "--variants", "40", "--output-dir", "{folder}"),
                 r"working|writing "),
    "size": (("size", "problems/small-decoder.yaml"), r"working|laying out |writing text"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_every_command_that_may_take_long_says_so(name: str, tmp_path: Path) -> None:
    arguments, says = CALLS[name]
    places = [each.replace("{folder}", str(tmp_path / "sheets")) for each in arguments]
    soon = SOON.replace("0.02", "0.0005")
    _, said, _ = on_terminal("-c", soon, *places, stdin=f"{LONG}published: {{result: _}}\n")
    assert re.search(rf"attncalc: ({says})", said) and screen(said) == [""], said


def test_short_work_says_nothing() -> None:
    assert on_terminal("-c", WORK.replace("after=0.1", "after=60").replace("END", "pass"))[:2] == (0, "")


def test_a_line_takes_the_place_of_the_one_before() -> None:
    code, said, _ = on_terminal("-c", WORK.replace("END", "pass"))
    assert code == 0 and "attncalc: working head1.S .." in said and "attncalc: writing .." in said
    assert screen(said) == [""]


def test_it_is_wiped_before_an_error_is_said() -> None:
    _, said, _ = on_terminal("-c", WORK.replace("END", "raise SystemExit('no more')"))
    assert "writing .." in said and screen(said) == ["no more", ""]


def test_without_a_terminal_there_is_none() -> None:
    run = subprocess.run([sys.executable, "-c", WORK.replace("END", "pass")], cwd=ROOT, capture_output=True, check=True)
    assert run.stderr == b""


def test_in_another_thread_there_is_none() -> None:
    work = "\n    ".join(WORK.replace("END", "pass").splitlines())
    script = f"import threading\ndef work():\n    {work}\nt = threading.Thread(target=work); t.start(); t.join()"
    assert on_terminal("-c", script)[:2] == (0, "")
