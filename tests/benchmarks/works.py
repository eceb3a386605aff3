"""What is timed inside a process, once its imports are done: works.py NAME SIZE prints the seconds that it takes, and
works.py NAME SIZE FILE writes its profile there.

Each function makes what it needs, and gives back what is timed.
"""

from __future__ import annotations

import gc
import io
import re
import sys
import time
from collections.abc import Callable
from cProfile import runctx
from statistics import median

import numpy as np
import yaml

from attncalc import formats, mechanisms, problem
from attncalc.cli import GARBAGE
from attncalc.layout import lay_out
from attncalc.rounding import Rule, rounded
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Matrix

Work = Callable[[], object]


def square(n: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n, n))


def matrix_printed(n: int) -> Work:
    values = square(n)

    def work() -> str:
        sheet = Sheet(Rule())
        with sheet.group("given"):
            step = sheet.given("x", Matrix(values, None))
        page = lay_out(sheet.solution(), Show(detail="matrices"), "en", kind="residual", only=[step])
        return formats.render("text", page)

    return work


def matrix_saved(n: int) -> Work:
    values = square(n)
    return lambda: np.savetxt(io.StringIO(), values, fmt="%.3f")


def figures_rounded(n: int) -> Work:
    values = square(n)
    return lambda: rounded(values, 3)


def figures_np_round(n: int) -> Work:
    values = square(n)
    return lambda: np.round(values, 3)


def file_of(figures: int) -> bytes:
    """A problem file with so many numbers: queries, keys and values of ten columns."""
    rows = square(100).ravel()[: figures // 3].round(2)
    return "".join(f"{name}: {rows[: rows.size // 10 * 10].reshape(-1, 10).tolist()}\n" for name in "QKV").encode()


def file_read(figures: int) -> Work:
    data = file_of(figures)
    return lambda: problem.parse(data)


def file_loaded(figures: int) -> Work:
    data = file_of(figures)
    return lambda: yaml.load(data, yaml.CSafeLoader)


def in_full(n: int) -> problem.Problem:
    rows = [[((i * j) % 7) - 2 for j in range(8)] for i in range(n)]
    return problem.parse(str({"Q": rows, "K": rows, "V": rows}).encode()).with_show(detail="full")


def page_in_full(n: int) -> Work:
    read = in_full(n)
    return lambda: formats.render("text", lay_out(mechanisms.solve(read), read.show, "en", kind=read.kind))


def template_in_full(n: int) -> Work:
    figures = [float(each) for each in re.findall(r"\d+(?:\.\d+)?", str(page_in_full(n)()))]
    template = " ".join(["%.3f"] * len(figures))
    return lambda: template % tuple(figures)


def seconds(work: Work) -> float:
    """The median of a few runs, after one to warm up."""
    found = []
    for _ in range(6):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return median(found[1:])


if __name__ == "__main__":
    gc.set_threshold(GARBAGE)  # as in a call
    name, size, *profile = sys.argv[1:]
    asked = globals()[name](int(size))
    if profile:
        asked()  # to warm up
        runctx("asked()", globals(), {}, *profile)
    else:
        print(seconds(asked))
