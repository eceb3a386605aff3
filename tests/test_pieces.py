"""Pages in pieces: what a large one takes of memory, that its pieces are the page, and that no part of a page is left
where a later one fails."""

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from attncalc import formats, mechanisms, problem
from attncalc.cli import output
from attncalc.cli.output import pieces, write
from attncalc.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent
MOST = 200_000_000  # bytes of memory, for a file of less than 1 MiB
LARGEST = 50_000_000  # bytes of a page that is made here

# A process's own peak: a child of the tests themselves starts with theirs.
PEAK = """
import os, subprocess, sys
call = subprocess.Popen([sys.executable, "-m", "attncalc", *sys.argv[1:]], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(call.pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""


def rows(values: np.ndarray) -> str:
    return "[" + ",\n ".join(f"[{','.join(f'{x:.1f}' for x in row)}]" for row in values) + "]"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """512 tokens, 0.8 MB; five of its matrices are 512 × 512."""
    drawn = np.random.default_rng(1).normal(size=(3, 512, 120))
    matrices = [f"{name}: {rows(values)}" for name, values in zip("QKV", drawn, strict=True)]
    path = tmp_path_factory.mktemp("large") / "large.yaml"
    path.write_text("\n".join([*matrices, "show: {detail: matrices}", ""]))
    assert 800_000 < path.stat().st_size < 2**20
    return path


def peak(*arguments: object) -> tuple[int, int]:
    """The exit code of a call, and the most memory that it held."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert done.stderr == ""
    code, used = map(int, done.stdout.split())
    return code, used


@pytest.mark.parametrize("name", formats.FORMATS)
def test_a_page_of_512_tokens_takes_less_than_200_mb(name: str, large: Path, tmp_path: Path) -> None:
    for to in ([], ["--output", tmp_path / "page"]):
        code, used = peak("solve", large, "--format", name, *to)
        assert code == 0 and used < MOST
    assert 10_000_000 < (tmp_path / "page").stat().st_size < LARGEST


@pytest.mark.parametrize("asked", [[], ["--step", "O"]], ids=str)
def test_every_working_of_512_tokens_is_refused(asked: list[str], large: Path) -> None:
    """As a page of them would take gigabytes; those of some steps are not."""
    call = [sys.executable, "-m", "attncalc", "solve", str(large), "--detail", "full", *asked]
    refused = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert "is more than there is room for; ask for the matrices, --detail matrices, or" in refused.stderr
    assert peak("solve", large, "--detail", "full", "--step", "Q")[0] == 0


@pytest.mark.parametrize("name", formats.FORMATS)
def test_the_pieces_of_a_page_are_the_page(name: str) -> None:
    for path in (ROOT / "problems" / "abc.yaml", ROOT / "problems" / "four-positions.yaml"):
        read = problem.load(str(path))
        solution = mechanisms.solve(read)
        for lang in ("en", "zh"):
            found = list(pieces(read, solution, format=name, lang=lang))
            assert len(found) > 3 and max(map(len, found)) < 0.7 * sum(map(len, found))
            call = [sys.executable, "-m", "attncalc", "solve", str(path), "--format", name, "--lang", lang]
            printed = subprocess.run(call, cwd=ROOT, capture_output=True, check=True, timeout=60)
            assert printed.stdout.decode() == "".join(found)


@pytest.mark.parametrize("name", ["markdown", "latex", "html", "moodle", "text", "json"])
def test_the_pieces_of_a_sheet_are_the_sheet(name: str) -> None:
    """What is written into a folder is one string."""
    call = [sys.executable, "-m", "attncalc", "exercise", "problems/abc.yaml", "--format", name]
    printed = subprocess.run(call, cwd=ROOT, capture_output=True, check=True, timeout=60)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*call, "--output-dir", folder], cwd=ROOT, check=True, timeout=60)
        (sheet,) = Path(folder).glob("sheet.*")
        assert sheet.read_bytes() == printed.stdout


# Nothing of a page that fails

ERRORS = [UsageError("no", "yes"), RuntimeError("a fault of ours"), KeyboardInterrupt()]


def failing(error: BaseException, pieces: int) -> Iterator[str]:
    for k in range(pieces):
        yield f"{k}" * 100
    raise error


@pytest.mark.parametrize("error", ERRORS, ids=str)
@pytest.mark.parametrize("longest", [10_000_000, 1_000], ids=["in memory", "in a file"])
def test_nothing_is_printed_of_a_page_whose_last_piece_fails(
    error: BaseException, longest: int, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(output, "LONG", longest)
    ready: list[str] = []
    with pytest.raises(type(error)):
        write(failing(error, 100), None, ready=lambda: ready.append("said"))
    assert capfdbinary.readouterr() == (b"", b"") and not ready


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_a_file_is_as_it_was_where_the_last_piece_of_a_page_fails(error: BaseException, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("as it was")
    for file in (old, tmp_path / "new"):
        with pytest.raises(type(error)) as raised:
            write(failing(error, 100), file)
        assert raised.value is error
    assert old.read_text() == "as it was" and [*tmp_path.iterdir()] == [old]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no such devices here")
def test_nothing_goes_into_a_pipe_of_a_page_whose_last_piece_fails() -> None:
    out, into = os.pipe()
    with pytest.raises(UsageError):
        write(failing(ERRORS[0], 100), Path(f"/dev/fd/{into}"))
    write(["all", " of it"], Path(f"/dev/fd/{into}"))
    os.close(into)
    with os.fdopen(out) as pipe:
        assert pipe.read() == "all of it"


def test_a_long_page_waits_in_a_file_and_is_printed_whole(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(output, "LONG", 1_000)
    written = [f"{k} 词 \udcff\n" for k in range(1000)]
    order: list[str] = []
    write((order.append("made") or each for each in written), None, ready=lambda: order.append("ready"))
    assert capfdbinary.readouterr().out == "".join(written).encode("utf-8", "backslashreplace")
    assert order == ["made"] * 1000 + ["ready"]


def test_a_long_page_that_has_no_room_to_wait_is_refused(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(output, "LONG", 1_000)
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(UsageError, match="can't write a temporary file: No space left on device; make room"):
        write(["x" * 2_000], None)
    assert capfdbinary.readouterr() == (b"", b"")


def test_a_reader_that_leaves_a_large_page_is_no_error(large: Path) -> None:
    call = [sys.executable, "-m", "attncalc", "solve", str(large), "--format", "text"]
    with subprocess.Popen(call, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline() == b"Attention, step by step\n"
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait(timeout=60) == 0
