"""What is going on, on a terminal, where a page takes its time."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Self


class Progress:
    """A line on standard error, from `after` seconds on, that says what is being done; it is wiped at the end.

    A timer draws it, so that work need only say what it turns to, which costs nothing, and a long step is seen too.
    Where standard error is no terminal nothing is written.
    """

    def __init__(self, after: float = 1.0) -> None:
        self._after = after
        self._doing, self._line = "working", ""
        self._before: object = None

    def __call__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> Self:
        if sys.stderr is not None and sys.stderr.isatty() and hasattr(signal, "setitimer"):
            with suppress(ValueError):  # no signal reaches a thread that is not the main one
                self._before = signal.signal(signal.SIGALRM, self._draw) or signal.SIG_DFL
                signal.setitimer(signal.ITIMER_REAL, self._after, 0.2)
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Wipes the line, for good: what is shown next has the screen to itself."""
        if self._before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)  # type: ignore[arg-type]
            self._write("")
            self._before = None

    def _draw(self, _: int, __: FrameType | None) -> None:
        self._write(f"attncalc: {self._doing} ..")

    def _write(self, line: str) -> None:
        """The line in place of the one before, with nothing that a terminal of any kind does not know."""
        with suppress(OSError):
            line = line[: (os.get_terminal_size(2).columns or 80) - 1]
            if line != self._line:
                os.write(2, f"\r{line:<{len(self._line)}}\r{line}".encode("ascii", "replace"))
            self._line = line
