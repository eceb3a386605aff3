"""What a process costs, and how many times another's: whole processes that alternate A B A B, and their medians."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent


class Cost(NamedTuple):
    """Seconds from start to end, seconds of processor, the most memory held at once; seconds that it says it worked."""

    time: float
    processor: float
    memory: float
    work: float


@dataclass(frozen=True)
class Call:
    """A process to measure; several at once; on a terminal, or with its output into a pipe."""

    arguments: tuple[str, ...]
    at_once: int = 1
    terminal: bool = False

    def cost(self) -> Cost:
        start = time.perf_counter()
        running = [self._start() for _ in range(self.at_once)]
        printed = [_all_of(out) for _, out in running]
        usages = [os.wait4(process.pid, 0)[2] for process, _ in running]
        seconds = time.perf_counter() - start
        processor = sum(usage.ru_utime + usage.ru_stime for usage in usages)
        work = seconds
        if self.arguments[1:2] == (WORKS,):  # which ends with the seconds that its work took
            if not printed[0]:
                raise RuntimeError(f"{' '.join(self.arguments)} failed")
            work = float(printed[0].split()[-1])
        return Cost(seconds, processor, max(usage.ru_maxrss for usage in usages), work)

    def _start(self) -> tuple[subprocess.Popen[bytes], int]:
        read, write = pty.openpty() if self.terminal else os.pipe()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "120"}
        for name in ("NO_COLOR", "PYTHONDONTWRITEBYTECODE"):  # of a clone, as of a wheel, the code is compiled once
            environment.pop(name, None)
        error = write if self.terminal else subprocess.DEVNULL
        process = subprocess.Popen(self.arguments, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=write, stderr=error)  # fmt: skip
        os.close(write)
        return process, read


WORKS = str(FOLDER / "works.py")


def _all_of(out: int) -> bytes:
    found = []
    try:
        while part := os.read(out, 1 << 20):
            found.append(part)
    except OSError:
        pass  # how the end of a terminal reads
    os.close(out)
    return b"".join(found)


def python(code: str, *, arguments: tuple[str, ...] = (), **of_call: int) -> Call:
    return Call((sys.executable, "-c", code, *arguments), **of_call)  # type: ignore[arg-type]


def attncalc(*arguments: str, **of_call: int) -> Call:
    """The installed command, or where it isn't, what it runs."""
    command = Path(sys.executable).with_name("attncalc")
    start = (str(command),) if command.exists() else (sys.executable, "-m", "attncalc")
    return Call((*start, *arguments), **of_call)  # type: ignore[arg-type]


def work(name: str, *sizes: int | str) -> Call:
    """A process that imports what it needs, does something of works.py and says how long that took."""
    return Call((sys.executable, WORKS, name, *map(str, sizes)))


def medians(calls: Sequence[Call], of: str, rounds: int) -> list[float]:
    """What each of the calls costs, run in turn so many times; the first of several rounds is to warm up."""
    rows = [[getattr(call.cost(), of) for call in calls] for _ in range(rounds)]
    return [median(costs) for costs in zip(*(rows[1:] or rows), strict=True)]
