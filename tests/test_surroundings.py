"""Where attncalc is called: locales, encodings, terminals, streams closed or full, Ctrl-C, two calls at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from test_terminal import on_a_terminal

from attncalc import load, mechanisms
from attncalc.cli import folder as folders
from attncalc.cli import main
from attncalc.marking.template import template

ROOT = Path(__file__).resolve().parent.parent
ABC, SIZE, LOVE, SCALE = (
    str(ROOT / "problems" / f"{name}.yaml") for name in ("abc", "size-gqa", "i-love-you", "draw-scale")
)
ATTNCALC = [sys.executable, "-m", "attncalc"]

# Every command, and what it exits with.
CALLS = {
    "solve": (["solve", LOVE], 0),
    "solve in colour": (["solve", ABC, "--format", "terminal"], 0),
    "check": (["check", LOVE, "answers.yaml"], 1),
    "check --template": (["check", LOVE, "--template", "--lang", "zh"], 0),
    "exercise": (["exercise", LOVE, "--lang", "zh"], 0),
    "mask": (["mask", "--causal", "--tokens", "<s>,a_1"], 0),
    "size": (["size", SIZE], 0),
    "new": (["new"], 0),
    "help": (["exercise", "--help"], 0),
    "completion": (["--show-completion", "bash"], 0),
    "version": (["--version"], 0),
}

# Each is far from the others, and from where tests run; None: not set.
WORLDS: dict[str, dict[str, str | None]] = {
    "C": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii",
          "TERM": "dumb", "COLUMNS": "0", "HOME": None, "PATH": None, "PYTHONHASHSEED": "1", "NO_COLOR": "1"},
    "code page": {"LC_ALL": "xx_YY", "PYTHONIOENCODING": "cp1252", "COLUMNS": "20", "LINES": "-1", "TERM": "",
                  "HOME": "/no/such/home", "FORCE_COLOR": "0", "PYTHONHASHSEED": "2", "TMPDIR": "/no/such/folder"},
    "strict": {"PYTHONWARNINGS": "error", "PYTHONOPTIMIZE": "1", "PYTHONUTF8": "1", "COLUMNS": "no number",
               "PAGER": "no-such-pager", "TZ": "nonsense", "PYTHONDONTWRITEBYTECODE": "1", "CLICOLOR": "0"},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of answers."""
    made = tmp_path_factory.mktemp("here")
    (made / "answers.yaml").write_text(template(mechanisms.solve(load(LOVE))), encoding="utf-8")
    return made


def run(call: str, folder: Path, **world: str | None) -> tuple[int, bytes, bytes]:
    here = {**os.environ, "PYTHONPATH": str(ROOT), **world}
    environment = {name: value for name, value in here.items() if value is not None}
    done = subprocess.run(
        [*ATTNCALC, *CALLS[call][0]], cwd=folder, env=environment, capture_output=True, check=False, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@cache
def plain(call: str, folder: Path) -> tuple[int, bytes, bytes]:
    return run(call, folder)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("call", [call for call in CALLS if call not in ("help", "solve in colour")])
def test_the_same_bytes_everywhere(call: str, world: str, folder: Path) -> None:
    code, out, err = plain(call, folder)  # of a pipe: help, and pages for a terminal, are folded to COLUMNS
    assert (code, err) == (CALLS[call][1], b"") and out
    assert run(call, folder, **WORLDS[world]) == (code, out, err)


# Words of a call and names of files that are no ASCII, and refusals that repeat them.
FAR = """
"$@" mask --causal --tokens 喜,b
"$@" exercise "$ABC" --level 1 --sheet-title 试卷 --course é --date 日 -f html
"$@" exercise "$DRAWN" --level 1 --students 学生.csv --column 名 --seed 种子 --output-dir 班 && cat 班/*
"$@" check 班; "$@" solve 题.yaml -o 页.txt && cat 页.txt
"$@" solve "$ABC" --step 喜; "$@" solve 没有.yaml; "$@" exercise "$ABC" --blank 喜; "$@" exercise "$ABC" -o 页/
"""


@pytest.fixture(scope="module")
def latin_1(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The locale of Latin-1, which few machines have by now."""
    places = tmp_path_factory.mktemp("locales")
    made = places / "de_DE.ISO-8859-1"
    if shutil.which("localedef"):
        call = ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(made)]
        subprocess.run(call, capture_output=True, check=False, timeout=60)
    if not made.exists():
        pytest.skip("no Latin-1 can be made here")
    return {"LOCPATH": str(places), "LC_ALL": made.name}


@pytest.mark.parametrize("name", ["C", "latin_1"])
def test_words_of_a_call_are_the_same_in_every_locale(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    said = []
    for world in ({"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C"} if name == "C" else request.getfixturevalue(name)):
        here = tmp_path / world["LC_ALL"]
        here.mkdir()
        (here / "学生.csv").write_text("名,b\n梅,1\n", encoding="utf-8")
        (here / "数.csv").write_text("1,0\n0,1\n", encoding="utf-8")
        (here / "题.yaml").write_text("Q: {file: 数.csv}\nK: [[1, 0], [2, 1]]\n", encoding="utf-8")
        problems = {"ABC": str(ROOT / "problems" / "abc.yaml"), "DRAWN": str(ROOT / "problems" / "draw-scale.yaml")}
        settings = {**world, "PYTHONUTF8": "0", "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["bash", "-c", FAR, "-", *ATTNCALC], cwd=here, env={**os.environ, **problems, **settings},
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        said.append((done.returncode, done.stdout, done.stderr))
    assert said[0] == said[1]
    assert "喜".encode() in said[0][1] and "没有.yaml".encode() in said[0][2] and b"Traceback" not in said[0][2]


def test_words_in_the_encoding_of_the_locale_are_read_as_such(latin_1: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [*ATTNCALC, "exercise", ABC, "--sheet-title", b"\xdcbung"], cwd=tmp_path, capture_output=True, check=False,
        env={**os.environ, **latin_1, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "0"}, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"") and "Übung" in done.stdout.decode()


def test_a_refusal_is_one_line_in_every_encoding(tmp_path: Path) -> None:
    call = [*ATTNCALC, "solve", "没有\udcff\x1b.yaml", "--format", "html"]
    for encoding in ("ascii", "cp1252", "utf-8", "utf-16"):
        world = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
        done = subprocess.run(call, cwd=tmp_path, env=world, capture_output=True, check=False, timeout=60)
        said = done.stderr.decode(encoding)
        assert (done.returncode, done.stdout) == (2, b"") and said.endswith("\n") and said[:-1].isprintable()
        assert ("没有" if encoding.startswith("utf") else r"\u6ca1\u6709") in said and r"\udcff\x1b" in said


@pytest.mark.parametrize("world", [{"COLUMNS": "0"}, {"TERM": "dumb"}, {"FORCE_COLOR": "1"}], ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_on_a_narrow_terminal(call: str, world: dict[str, str], folder: Path) -> None:
    arguments, expected = CALLS[call]
    arguments = [str(folder / each) if each == "answers.yaml" else each for each in arguments]
    code, page = on_a_terminal(*arguments, columns=20, **world)
    assert code == expected and page and "Traceback" not in page
    assert "\x1b" not in page or world != {"TERM": "dumb"}


# Streams. Each line of a script says a redirection, and what there is to be said of it.

STREAMS = """
"$@" >/dev/full 2>err; echo "full $? $(wc -l <err) $(grep -c "can't write to standard output: No space" err)"
"$@" >&- 2>err;        echo "closed $? $(wc -l <err) $(grep -c "can't write to standard output: Bad file" err)"
"$@" >out 2>&-;        echo "no stderr $? $(cksum <out)"
"$@" >out 2>err <&-;   echo "no stdin $? $(cksum <out)"
"$@" 2>err | head -n 1 >out; echo "reader that leaves ${PIPESTATUS[0]} $(wc -l <err)"
"$@" 2>err | true;     echo "no reader ${PIPESTATUS[0]} $(wc -l <err)"
"$@" >out 2>/dev/full; echo "full stderr $? $(cksum <out)"
"$@" >out;             echo "as it is $? $(cksum <out)"
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("call", CALLS)
def test_streams_that_are_full_or_closed(call: str, folder: Path, tmp_path: Path) -> None:
    arguments, code = CALLS[call]
    (tmp_path / "answers.yaml").write_bytes((folder / "answers.yaml").read_bytes())
    done = subprocess.run(
        ["bash", "-c", STREAMS, "bash", *ATTNCALC, *arguments], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    *lines, whole = done.stdout.splitlines()
    sums = whole.removeprefix("as it is ")
    assert sums.startswith(f"{code} ") and done.stderr == ""
    readers = [line for line in lines if "reader" in line]
    for reader, said in zip(readers, ("reader that leaves", "no reader"), strict=True):
        assert reader in (f"{said} {code} 0", f"{said} 0 0")
    assert [line for line in lines if line not in readers] == [
        "full 2 1 1", "closed 2 1 1", f"no stderr {sums}", f"no stdin {sums}", f"full stderr {sums}",
    ]  # fmt: skip


NOWHERE = """
"$@" >whole 2>err;      echo "$? $(($(wc -l <err) > 0))"
"$@" >out 2>/dev/full;  echo "$? $(cmp out whole)"
"$@" >out 2>&-;         echo "$? $(cmp out whole)"
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    ("call", "code"),
    [
        (["new", "small-decoder"], 0), (["exercise", SCALE, "--variants", "1", "--level", "1", "--explain"], 0),
        (["solve", "no-such-file"], 2), (["check", ABC, "no-such-file"], 2), (["--no-such-option"], 2),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_said_beside_a_page_may_go_nowhere(call: list[str], code: int, tmp_path: Path) -> None:
    """It changes neither the exit code nor what is on standard output."""
    done = subprocess.run(
        ["bash", "-c", NOWHERE, "bash", *ATTNCALC, *call], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (f"{code} 1\n{code} \n{code} \n", "")


FILES = {
    "solve": ["solve", ABC, "-o"], "check": ["check", ABC, "--template", "-o"], "exercise": ["exercise", ABC, "-o"],
    "mask": ["mask", "--causal", "-o"], "size": ["size", SIZE, "-o"], "new": ["new", "abc", "-o"],
    "sheets": ["exercise", ABC, "--output-dir"], "all": ["new", "--all"],
}  # fmt: skip


@pytest.mark.parametrize("place", ["/dev/full", "/proc/nothing", "{file}/in"])
@pytest.mark.parametrize("call", FILES)
def test_what_can_not_be_written_is_one_line(call: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    named = place.replace("{file}", str(tmp_path / "file"))
    done = subprocess.run(
        [*ATTNCALC, *FILES[call], named], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("attncalc: ")
    assert named.removesuffix("/in") in done.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["precious"]


def test_no_umask_keeps_a_call_out_of_the_folder_that_it_fills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits is written by its owner, who need not be root; a folder that is made may be closed to them."""
    modes = []

    def move(into: Path, beside: Path, *rest: Sequence[str]) -> None:
        modes.append(beside.stat().st_mode & 0o777)
        moved(into, beside, *rest)

    moved = folders._move
    monkeypatch.setattr(folders, "_move", move)
    there = tmp_path / "there"
    there.mkdir()
    before = os.umask(0o777)
    try:
        assert main(["new", "--all", str(there)]) == 0
        code = main(["new", "--all", str(tmp_path / "a" / "b")])
    finally:
        os.umask(before)
    assert modes == [0o700, 0o700] and code == (0 if os.getuid() == 0 else 2)
    assert len(list(there.iterdir())) > 50 and not list(tmp_path.rglob(".*"))
    assert code == 0 or [each.name for each in tmp_path.iterdir()] == ["there"]


# Each line says what --output names, and what becomes of it.
PLACES = """
(echo before; "$@" /dev/stdout; echo after) >mixed;     echo "stdout $(sed -n '1p;$p' mixed | xargs) $(wc -l <mixed)"
(echo before; "$@" /dev/stderr; echo after) >mixed 2>&1; echo "stderr $(sed -n '1p;$p' mixed | xargs) $(wc -l <mixed)"
"$@" /dev/stdout >>mixed; "$@" mixed >>mixed;           echo "appended $(head -n 1 mixed) $(wc -l <mixed)"
"$@" /dev/stdout 2>err | head -n 1 >out;                echo "reader that leaves ${PIPESTATUS[0]} $(wc -l <err)"
mkfifo pipe; head -n 1 pipe >out & "$@" pipe 2>err;     echo "reader of a named pipe $? $(wc -l <err)"
ln -s named link; "$@" link;                            echo "link $? $(wc -l <named) $(readlink link)"
"$@" whole;                                             echo "file $(wc -l <whole)"
"""


@pytest.mark.skipif(not Path("/dev/stdout").exists() or not hasattr(os, "mkfifo"), reason="no such names here")
@pytest.mark.parametrize("call", [call for call in FILES if call not in ("sheets", "all")])
def test_what_a_path_stands_for_is_written_into(call: str, tmp_path: Path) -> None:
    """Standard output by its name keeps what it holds; a pipe may be left."""
    done = subprocess.run(
        ["bash", "-c", PLACES, "bash", *ATTNCALC, *FILES[call]], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    *found, whole = done.stdout.splitlines()
    lines = int(whole.removeprefix("file "))
    assert lines > 3 and done.stderr == "" and found == [
        f"stdout before after {lines + 2}", f"stderr before after {lines + 2}", f"appended before {3 * lines + 2}",
        "reader that leaves 0 0", "reader of a named pipe 0 0", f"link 0 {lines} named",
    ]  # fmt: skip


# Ctrl-C, and two at once


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize(
    "call",
    [
        ["solve", "pipe", "-o", "page"], ["check", "pipe", "-o", "page"], ["check", ABC, "pipe", "-o", "page"],
        ["solve", "pipe"], ["check", "pipe"], ["size", "pipe"],
        ["exercise", "pipe", "--output-dir", "page"], ["size", "pipe", "-o", "page"],
        ["mask", "--scores", "pipe", "--causal", "-o", "page"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_ctrl_c_is_130_and_nothing_is_half_written(call: list[str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    process = subprocess.Popen(
        [*ATTNCALC, *call], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which tests in the background ignore
    )  # fmt: skip
    writer = os.open(tmp_path / "pipe", os.O_WRONLY)  # waits until attncalc reads
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    os.close(writer)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_several_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    page = tmp_path / "page"
    calls = [[*ATTNCALC, "solve", problem, "-o", str(page)] for problem in (ABC, LOVE, ABC, LOVE)]
    whole = [subprocess.run(call[:-2], capture_output=True, check=True, cwd=ROOT).stdout for call in calls[:2]]
    for process in [subprocess.Popen(call, cwd=ROOT) for call in calls]:
        assert process.wait(timeout=60) == 0
    assert page.read_bytes() in whole and list(tmp_path.iterdir()) == [page]


@pytest.mark.parametrize(
    "call",
    [
        ["check"], ["exercise"], ["size"], ["new", "a", "b"], ["mask", "--size"], ["-x"], ["--lang"],
        ["check", ABC, "--marks", "A"], ["exercise", ABC, "--level", "9"], ["exercise", ABC, "--marks", "x"],
        ["exercise", ABC, "--variants", "3"],
        ["exercise", ABC, "--concepts", "\n"], ["mask", "--causal", "--size", "-1"], ["mask", "--padding", ""],
        ["size", ABC], ["check", ABC, "--follow-through", "x"], ["solve", ABC, "--lang", ""], ["solve", ABC, "--step"],
        ["check", ABC, ABC, "--step", "\x00"], ["new", "\x1b"], ["exercise", ABC, "--column", "x"],
        ["--show-completion", "csh"], ["solve", ABC, "-o", "no-such-folder/"], ["new", "abc", "-o", "no-such-folder/."],
    ],
    ids=repr,
)  # fmt: skip
def test_a_call_that_says_what_can_not_be_is_one_line(call: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(call) == 2
    out, err = capfd.readouterr()
    assert not out and err.startswith("attncalc: " if ABC not in err else ("attncalc: ", ABC))
    assert err.endswith("\n") and err[:-1].isprintable()
