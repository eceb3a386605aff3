"""Damaged files through every command: `python tests/fuzz.py --files 100000`.

Each file must give an answer, or one line on standard error and exit code 2, within a time and a memory; what is
printed must be whole. The same seed gives the same files: `--only 4711` does one again and shows it.
"""

from __future__ import annotations

import argparse
import csv
import faulthandler
import io
import json
import multiprocessing
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import unicodedata
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from html.parser import HTMLParser
from itertools import repeat
from pathlib import Path
from random import Random
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from mutations import damaged, mutated  # noqa: E402

from attncalc import load, mechanisms  # noqa: E402
from attncalc.cli import main  # noqa: E402
from attncalc.digits import shown  # noqa: E402

SECONDS = 5
MEMORY = 200 << 20  # bytes beyond what Python has at the start
CHUNK = 50
PAGES = ("text", "markdown", "latex", "html", "json", "terminal")
REPORTS = ("text", "markdown", "html", "json", "csv", "terminal")
SHEETS = ("text", "markdown", "latex", "html", "json", "moodle")
CSV = "H,1,2\nA,1,0\nB,0,1\n"


class Call(NamedTuple):
    """A call, and the files that it is made with, by name."""

    arguments: list[str]
    files: dict[str, bytes]
    format: str = "text"


class TooLong(BaseException):
    """Raised by the clock."""


@cache
def problems() -> dict[str, str]:
    """Problems to start from, by name: those shipped, and those that break tools like this one."""
    from test_inputs_solved import CASES, TOKENS, labelled
    from test_problem_inputs import REFUSED

    shipped = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "problems").glob("*.yaml"))}
    solved = {f"solved {name}": case.text for name, case in CASES.items()}
    named = {f"tokens {name}": labelled(tokens) for name, tokens in TOKENS.items()}
    refused = {f"refused {name}": text for name, (text, *_) in REFUSED.items() if isinstance(text, str)}
    return shipped | solved | named | refused


@cache
def answers(name: str) -> dict[str, list[list[str]]]:
    """The right figures of a shipped problem, as they are printed."""
    problem = load(ROOT / "problems" / f"{name}.yaml")
    return {id: shown(step, problem.show.rule).tolist() for id, step in mechanisms.solve(problem).steps.items()}


def _problem(random: Random) -> bytes:
    texts = list(problems().values())
    return mutated(random, random.choice(texts), texts)


def _solve(random: Random) -> Call:
    format = random.choice(PAGES)
    more = random.choice(["", "", "--detail full", "--rounding carried", "--decimals 0", "--lang zh"]).split()
    return Call(["solve", "p.yaml", "--format", format, *more], {"p.yaml": _problem(random)}, format)


def _size(random: Random) -> Call:
    format = random.choice(PAGES)
    texts = [text for name, text in problems().items() if "size" in name or "coder" in name]
    data = mutated(random, random.choice(texts), texts)
    return Call(["size", "p.yaml", "--format", format], {"p.yaml": data}, format)


def _check(random: Random) -> Call:
    name = random.choice(["abc", "abc-causal", "two-heads", "layer-norm", "softcap", "top-p", "experts", "generation"])
    figures = answers(name)
    format = random.choice(REPORTS)
    more = random.choice(["", "", "--decimal-comma", "--lang zh"]).split()
    id = random.choice(list(figures))
    match random.randrange(4):
        case 0:
            file, text = "a.csv", "\n".join(",".join(row) for row in figures[id])
            more += ["--step", id]
        case 1:
            file, text = "a.txt", "\n".join("[" + "  ".join(row) + "]" for row in figures[id])
            more += ["--step", id]
        case _:
            file = "a.yaml"
            text = "\n".join(f"{id}: {json.dumps(rows)}" for id, rows in figures.items()).replace('"', "")
    others = ["\n".join(problems().values()), "A: {row: 1, values: [_, _]}\nO: |\n  1 2\n  3 4\n", text]
    data = {file: mutated(random, text, others)}
    return Call(["check", str(ROOT / "problems" / f"{name}.yaml"), file, "-f", format, *more], data, format)


def _published(random: Random) -> Call:
    format = random.choice(REPORTS)
    texts = [text for text in problems().values() if "\npublished:" in text]
    return Call(["check", "p.yaml", "-f", format], {"p.yaml": mutated(random, random.choice(texts), texts)}, format)


def _exercise(random: Random) -> Call:
    format = random.choice(SHEETS)
    more = random.choice(["", "--level 1", "--level 3", "--blank A"]).split()
    more += random.choice(["", "--ask shapes"]).split()
    more += random.choice(["", "--key", "--concepts all"]).split() if format != "moodle" else []
    data = _problem(random)
    if not {"--level", "--blank"} & {*more} and len(data) < 500 and random.random() < 0.2:  # draws of models take long
        more += ["--variants", "1", "--seed", "s", "--level", "1"]
    return Call(["exercise", "p.yaml", "--format", format, *more], {"p.yaml": data}, format)


def _students(random: Random) -> Call:
    text = random.choice(["mei\nbo\n", "name,id\nMei,1\nBo,2\n", '"a, b";c\n=cmd,x\n'])
    more = ["--column", "id"] if "id" in text and random.random() < 0.8 else []
    files = {"s.csv": mutated(random, text, list(problems().values()))}
    problem = str(ROOT / "problems" / "draw-scale.yaml")
    return Call(["exercise", problem, "--students", "s.csv", *more, "--level", "1", "--output-dir", "made"], files)


def _arrays(random: Random) -> Call:
    made = io.BytesIO()
    figures = np.array(random.choice([[[1, 0], [0.5, 1]], [[1, 2], [3, 4]], [[1e300, 0], [0, -1]]]))
    with np.errstate(all="ignore"):
        figures = figures.astype(random.choice(["<f8", ">f8", "<f4", "<i8", "u1", "?", "<f2", "<c16", "S3", "U2"]))
    name = random.choice(["w.npy", "w.npz", "w.csv"])
    if name == "w.npy":
        np.save(made, figures)
    elif name == "w.npz":
        random.choice([np.savez, np.savez_compressed])(made, W=figures)
    data = damaged(random, made.getvalue()) if name != "w.csv" else mutated(random, "1, 0\n0.5, 1\n", [CSV])
    problem = f"H: [[1, 0], [0, 1]]\nW_Q: {{file: {name}}}\nW_K: [[1, 0], [0, 1]]\nW_V: identity\n"
    return Call(["solve", "p.yaml", "-f", "json"], {"p.yaml": problem.encode(), name: data}, "json")


def _mask(random: Random) -> Call:
    option = random.choice(["--scores", "--weights", "--keep", "--hide", "--add"])
    text = random.choice(["[[1, 0], [0, 1]]", "0.5 0.5\n1 0\n", "1,0\n0,1\n"])
    format = random.choice(PAGES)
    return Call(["mask", option, "m.txt", "-f", format], {"m.txt": mutated(random, text, [CSV])}, format)


KINDS = {_solve: 40, _check: 22, _exercise: 16, _published: 6, _arrays: 6, _mask: 5, _size: 4, _students: 1}


def call(seed: str, number: int) -> Call:
    random = Random(f"{seed}/{number}")
    return random.choices(list(KINDS), list(KINDS.values()))[0](random)


# What must hold of what is printed


class _Tags(HTMLParser):
    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "iframe", "object", "embed", "img", "link", "base", "form"), f"<{tag}>"
        for name, value in attributes:
            assert not name.startswith("on"), f"<{tag} {name}>"
            assert name not in ("href", "src", "action") or (value or "").startswith("#"), f"<{tag} {name}={value}>"


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} in JSON")


def whole(page: str, format: str) -> None:
    """Raises where a page is not what its format says."""
    if format == "json":
        json.loads(page, parse_constant=_no_constant)
    elif format == "html":
        _Tags().feed(page)
    elif format == "moodle":
        ElementTree.fromstring(page)
    elif format == "csv":
        assert len({len(row) for row in csv.reader(io.StringIO(page, newline=""), strict=True)}) == 1, "ragged CSV"
    elif format == "latex":
        bare = re.sub(r"\\[{}\\]|(?<!\\)%.*", "", page)
        assert bare.count("{") == bare.count("}"), "braces of LaTeX"
    joined = "\n\u200d\u2060\u2061"  # the last two hold MathML together
    odd = [c for c in set(page) if not c.isprintable() and c not in joined and not (c in "\r\t" and format == "csv")
           and unicodedata.category(c) != "Zs"]  # a space is shown as written, whatever its width
    assert not odd, f"{odd} is printed"


def judged(one: Call, folder: Path) -> str:
    """What is wrong with the outcome of a call; nothing where all is as it should be."""
    for name, data in one.files.items():
        (folder / name).write_bytes(data)
    arguments = [str(folder / each) if each in one.files or each == "made" else each for each in one.arguments]
    if "made" in one.arguments:
        arguments[-1] += str(len(list(folder.iterdir())))
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    before, started = (sys.stdout, sys.stderr), time.process_time()
    sys.stdout, sys.stderr = out, err
    signal.setitimer(signal.ITIMER_PROF, 4 * SECONDS)  # of its own time: other programs may slow it down
    try:
        code = main(arguments)
    except TooLong:
        return f"more than {4 * SECONDS} s at {_place()}"
    except BaseException as error:
        return f"{type(error).__name__} at {_place()}: {str(error)[:80]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout, sys.stderr = before
    if time.process_time() - started > SECONDS:
        return f"more than {SECONDS} s"
    out.seek(0), err.seek(0)
    try:
        page, said = out.buffer.read().decode(), err.buffer.read().decode()
        if code == 2:
            assert not page, "something is printed by a call that is refused"
            assert said.endswith("\n") and said[:-1].isprintable() and len(said) > 20, f"{said!r} is not one line"
            assert len(said) < 2000, f"a line of {len(said)} characters: {said[:50]}"
        else:
            assert code in ((0, 1) if arguments[0] == "check" else (0,)), f"exit code {code}"
            assert not said, f"{said!r} beside a page"
            if "made" not in one.arguments:
                whole(page, one.format)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:120]}"
    return ""


def _place() -> str:
    """The last line of attncalc's that was run."""
    frames = [frame for frame in traceback.extract_tb(sys.exc_info()[2]) if "/attncalc/" in frame.filename]
    return f"{Path(frames[-1].filename).relative_to(ROOT)}:{frames[-1].lineno}" if frames else "?"


def _ring(*_: object) -> None:
    raise TooLong


def run(seed: str, numbers: range) -> tuple[list[tuple[int, str]], float]:
    """What was found, by number, and the longest that one file took."""
    before = signal.signal(signal.SIGPROF, _ring)
    found, longest = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            made, started = call(seed, number), time.process_time()
            wrong = judged(made, Path(folder))
            longest = max(longest, time.process_time() - started)
            if wrong:
                found.append((number, wrong))
    signal.signal(signal.SIGPROF, before)
    return found, longest


def _bounded(seed: str, numbers: range) -> tuple[list[tuple[int, str]], float, int]:
    """The same, where more memory is not to be had, and a hang shows where it is; and the most memory that was used."""
    judged(Call(["solve", str(ROOT / "problems" / "abc.yaml")], {}), Path()), problems()
    if resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY:
        held = int(re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())[1]) << 10  # type: ignore[index]
        resource.setrlimit(resource.RLIMIT_DATA, (held + MEMORY, resource.RLIM_INFINITY))
    faulthandler.dump_traceback_later(30 * SECONDS, exit=True)
    found, longest = run(seed, numbers)
    faulthandler.cancel_dump_traceback_later()
    return found, longest, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _in_processes(seed: str, chunks: list[range], workers: int) -> Iterator[tuple[list[tuple[int, str]], float, int]]:
    """What each chunk gave. A process is over after 20 of them; the pool's own `max_tasks_per_child` hangs with one."""
    context, many = multiprocessing.get_context("spawn"), 20 * workers
    for at in range(0, len(chunks), many):
        with ProcessPoolExecutor(workers, context) as pool:
            yield from pool.map(_bounded, repeat(seed), chunks[at : at + many])


def _command_line() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", type=int)
    said = parser.parse_args()
    if said.only is not None:
        one = call(said.seed, said.only)
        print(*one.arguments)
        for name, data in one.files.items():
            print(f"== {name}\n{data.decode('utf-8', 'backslashreplace')}")
        print("==", run(said.seed, range(said.only, said.only + 1)))
        return
    end = said.start + said.files
    kinds: Counter[str] = Counter()
    longest, memory = 0.0, 0
    chunks = [range(at, min(at + CHUNK, end)) for at in range(said.start, end, CHUNK)]
    for k, (found, seconds, most) in enumerate(_in_processes(said.seed, chunks, said.workers), 1):
        if k * CHUNK % 1000 == 0:
            print(f"{min(k * CHUNK, said.files)} files", file=sys.stderr, flush=True)
        longest, memory = max(longest, seconds), max(memory, most)
        for number, wrong in found:
            kinds[re.sub(r"[\d.]+", "N", wrong)[:60]] += 1
            if kinds[re.sub(r"[\d.]+", "N", wrong)[:60]] <= 5:
                print(f"{number}: {wrong}", flush=True)
    found_in_all, most_used = sum(kinds.values()), memory >> 20
    print(f"{said.files} files: {found_in_all} found; the slowest took {longest:.1f} s, at most {most_used} MB")
    sys.exit(1 if kinds else 0)


if __name__ == "__main__":
    _command_line()
