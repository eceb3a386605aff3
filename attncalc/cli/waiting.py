"""What waits beside its place until it is whole, and is gone at the end, however the end comes."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

ENDINGS = ("SIGTERM", "SIGHUP")  # without a handler they end a program where it stands


def hidden(folder: Path) -> Path:
    """A name in a folder for what waits there. It is known before anything has it, so that no signal comes between."""
    return folder / f".attncalc-{os.urandom(8).hex()}"


@contextmanager
def waiting(folder: Path) -> Iterator[Path]:
    """A hidden name in a folder, for what is to be moved from there; what still has it at the end is removed."""
    path = hidden(folder)
    with undone_if_ended(lambda: _remove(path)):
        try:
            yield path
        finally:
            _remove(path)


@contextmanager
def undone_if_ended(undo: Callable[[], object]) -> Iterator[None]:
    """Whoever ends the program by a signal meanwhile has `undo` done first, and what is around this one undone after
    it; the exit code is then the shell's for that signal. A signal that is ignored stays so (nohup).

    The handler does it itself, wherever it finds the program, even in undoing the same: `undo` must bear to be begun
    again.
    """
    before: dict[int, Callable[[int, FrameType | None], object]] = {}

    def end(number: int, frame: FrameType | None) -> None:
        try:
            undo()
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
        for number, now in before.items():
            signal.signal(number, signal.SIG_DFL if now is _exit else now)


def _exit(number: int, _: FrameType | None) -> None:
    os._exit(128 + number)


def _remove(path: Path) -> None:
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
