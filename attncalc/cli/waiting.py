"""What waits beside its place until it is whole, and is gone at the end, however the end comes."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")  # the last two end a program where it stands, without a handler


def hidden(folder: Path) -> Path:
    """A name in a folder for what waits there. It is known before anything has it, so that no signal comes between."""
    return folder / f".attncalc-{os.urandom(8).hex()}"


@contextmanager
def waiting(folder: Path) -> Iterator[Path]:
    """A hidden name in a folder, for what is to be moved from there; what still has it at the end is removed."""
    path = hidden(folder)
    with undone_at_the_end(lambda: _remove(path)):
        yield path


@contextmanager
def undone_at_the_end(undo: Callable[[], object]) -> Iterator[None]:
    """Has `undo` done at the end, once. Whoever ends the program by a signal has it done first, and what is around this
    one undone after it; then Ctrl-C is raised, and another signal ends the program with the shell's code for it. A
    signal that is ignored stays so (nohup).

    The handler does it itself, wherever it finds the program, even in undoing the same: `undo` must bear to be begun
    again, and a second Ctrl-C finds nothing half undone.
    """
    before: dict[int, Callable[[int, FrameType | None], object]] = {}
    is_undone = False

    def undo_once() -> None:
        nonlocal is_undone
        if not is_undone:
            undo()
            is_undone = True

    def end(number: int, frame: FrameType | None) -> None:
        try:
            undo_once()
        finally:
            before[number](number, frame)

    with suppress(ValueError):  # no signal reaches a thread that is not the main one
        for number in (getattr(signal, name) for name in ENDINGS if hasattr(signal, name)):
            now = signal.getsignal(number)
            if callable(now) or now is signal.SIG_DFL:
                before[number] = now if callable(now) else _exit
                signal.signal(number, end)
    try:
        yield
    finally:
        try:
            undo_once()
        finally:
            for number, now in before.items():
                signal.signal(number, signal.SIG_DFL if now is _exit else now)


def _exit(number: int, _: FrameType | None) -> None:
    os._exit(128 + number)


def _remove(path: Path) -> None:
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
