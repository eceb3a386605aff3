"""Whoever ends a call by a signal finds all as it was, or all that was asked for, and nothing hidden beside it."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from test_class_folder import held, put

from attncalc.cli import folder, new, output, waiting
from attncalc.cli.output import save

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no signals of POSIX here")

ROOT = Path(__file__).resolve().parent.parent
OURS = {module.__file__ for module in (folder, new, output, waiting)}
SHIPPED = [ROOT / "problems" / name for name in ("abc.yaml", "two-heads.yaml")]
LINE = 77  # what a child exits with that came to its end before that line


def ended_at(line: int, number: int, work: Callable[[], object]) -> int:
    """How a child ends that gets a signal when it comes to the so many-th line of what writes, as a shell says it."""
    child = os.fork()
    if not child:
        signal.signal(number, signal.SIG_DFL)
        left = iter(range(line, -1, -1))

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            if frame.f_code.co_filename not in OURS:
                return None
            if event == "line" and next(left, None) == 0:
                os.kill(os.getpid(), number)
            return trace

        try:
            sys.settrace(trace)
            work()
        finally:
            os._exit(LINE if next(left, None) is not None else 0)
    status = os.waitpid(child, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def old(place: Path) -> None:
    (place / "page").write_text("old", encoding="utf-8")
    put(place / "class", "mei", "bo")


WORK: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "a new file": (lambda place: None, lambda place: save([b"a", b"b"], place / "page")),
    "a file": (old, lambda place: save([b"a", b"b"], place / "page")),
    "a new class": (lambda place: None, lambda place: put(place / "a" / "class", "mei", "bo")),
    "problems": (old, lambda place: new._copy(SHIPPED, place / "class")),
    "a class": (old, lambda place: put(place / "class", "bo", "lin", seed="x", force=True)),
}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("name", WORK)
def test_wherever_a_signal_finds_it_nothing_is_half_written(name: str, number: int, tmp_path: Path) -> None:
    start, work = WORK[name]
    codes = set()
    for line in range(2000):
        place = tmp_path / str(line)
        place.mkdir()
        start(place)
        before = held(place)
        codes.add(ended_at(line, number, lambda place=place: work(place)))
        if LINE in codes:
            break
    whole = held(place)
    assert line > 20 and whole != before and codes == {128 + number, LINE}
    for each in tmp_path.iterdir():
        assert held(each) in (before, whole), each.name


def interrupted_at(places: set[int], work: Callable[[], object]) -> int:
    """How a child ends that gets Ctrl-C before these of the things that it asks of the system, undoing among them."""
    child = os.fork()
    if not child:
        left = itertools.count()

        def hook(event: str, _: Any) -> None:
            if event.startswith(("os.", "open", "shutil.")) and event != "os.kill" and next(left) in places:
                os.kill(os.getpid(), signal.SIGINT)

        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.addaudithook(hook)
        try:
            work()
        except KeyboardInterrupt:
            os._exit(130)
        finally:
            os._exit(LINE if next(left) <= min(places) else 0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("again", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("name", WORK)
def test_a_second_ctrl_c_finds_nothing_half_undone(name: str, again: int, tmp_path: Path) -> None:
    start, work = WORK[name]
    codes = []
    for at in range(200):
        place = tmp_path / str(at)
        place.mkdir()
        start(place)
        before = held(place)
        codes.append(interrupted_at({at, at + again}, lambda place=place: work(place)))
        if codes[-1] == LINE:
            break
    whole = held(place)
    assert 3 < at < 199 and whole != before and set(codes) == {130, LINE}
    for each in tmp_path.iterdir():
        assert held(each) in (before, whole), each.name


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("ignored", [False, True], ids=["heard", "ignored"])
def test_a_class_that_is_being_drawn(number: int, ignored: bool, tmp_path: Path) -> None:
    call = [sys.executable, "-m", "attncalc", "exercise", str(ROOT / "problems" / "draw-scale.yaml"), "--level", "1",
            "--variants", "20" if ignored else "100000", "--output-dir", "class"]  # fmt: skip
    process = subprocess.Popen(
        call, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL) and None,
    )  # fmt: skip
    while not list(tmp_path.glob(".attncalc-*/sheet-*")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0 if ignored else 128 + number, b"", b"")
    assert [path.name for path in tmp_path.iterdir()] == (["class"] if ignored else [])
