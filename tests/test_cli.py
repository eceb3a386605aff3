"""The command line as a shell sees it: whole processes, with their streams, files and exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.main import get_command

from attncalc import digits, parse, solve
from attncalc.cli import main
from attncalc.cli.app import COMMANDS, app
from attncalc.layout import lay_out

ROOT = Path(__file__).resolve().parent.parent
ABC = ROOT / "problems" / "abc.yaml"


def attncalc(*arguments: object, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "attncalc", *map(str, arguments)],
        input=stdin, capture_output=True, cwd=ROOT, env={**os.environ, **environment}, check=False, timeout=60,
    )  # fmt: skip


def refused(run: subprocess.CompletedProcess[bytes]) -> str:
    """The one line of a call that can't be carried out."""
    error = run.stderr.decode()
    assert (run.returncode, run.stdout) == (2, b""), run
    assert error.endswith("\n") and error.count("\n") == 1 and "Traceback" not in error
    return error.rstrip("\n")


def test_a_page_goes_to_standard_output_as_utf_8_with_lf_and_no_colour() -> None:
    run = attncalc("solve", ABC, PYTHONIOENCODING="ascii", LC_ALL="C", FORCE_COLOR="1")
    assert (run.returncode, run.stderr) == (0, b"")
    text = run.stdout.decode("utf-8")
    assert text.startswith("One head, three tokens\n======") and text.endswith("\n") and not text.endswith("\n\n")
    assert "\x1b" not in text and "\r" not in text


def test_standard_input_is_read_as_a_file_is() -> None:
    assert attncalc("solve", "-", stdin=ABC.read_bytes()).stdout == attncalc("solve", ABC).stdout


def test_the_default_format_of_a_pipe_is_text() -> None:
    assert attncalc("solve", ABC).stdout == attncalc("solve", ABC, "-f", "text").stdout


def test_output_is_written_to_a_file_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "page.txt"
    run = attncalc("solve", ABC, "-o", page)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    assert page.read_bytes() == attncalc("solve", ABC).stdout
    assert list(tmp_path.iterdir()) == [page]


def test_a_file_keeps_its_permissions_and_a_link_stays_a_link(tmp_path: Path) -> None:
    page, link = tmp_path / "page.txt", tmp_path / "link.txt"
    page.write_text("old")
    page.chmod(0o640)
    link.symlink_to(page)
    assert attncalc("solve", ABC, "-o", link).returncode == 0
    assert link.is_symlink() and page.stat().st_mode & 0o777 == 0o640 and page.read_text().startswith("One head")


def test_output_to_a_device_is_not_replaced_by_a_file() -> None:
    run = attncalc("solve", ABC, "-o", "/dev/stdout")
    assert run.stdout == attncalc("solve", ABC).stdout


@pytest.mark.parametrize(
    "broken",
    [b"H: [[1, 2]", b"H: [[1, 2]]\nd_k: 0\n", b"heads: 2\nH: [[1]]\n", b"\xff\xfeH", b""],
    ids=["syntax", "shapes", "not known yet", "encoding", "empty"],
)
def test_a_file_that_cannot_be_used_leaves_the_output_untouched(broken: bytes, tmp_path: Path) -> None:
    source, page = tmp_path / "broken.yaml", tmp_path / "page.txt"
    source.write_bytes(broken)
    page.write_text("precious")
    line = refused(attncalc("solve", source, "-o", page))
    assert line.startswith(f"{source}:")
    assert page.read_text() == "precious" and len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["solve"], "PROBLEM"),
        (["solve", "no-such-file.yaml"], "no-such-file.yaml"),
        (["solve", ROOT], "directory"),
        (["solve", ABC, "--format", "pdf"], "text, markdown, latex, html, json"),
        (["solve", ABC, "--detail", "some"], "full"),
        (["solve", ABC, "--rounding", "up"], "carried"),
        (["solve", ABC, "--decimals", "13"], "12"),
        (["solve", ABC, "--decimals", "two"], "two"),
        (["solve", ABC, "--step", "Z"], "row_sum"),
        (["solve", ABC, "--step", ""], "row_sum"),
        (["solve", ABC, "--fragment"], "not of text"),
        (["solve", ABC, "--fragment", "-f", "html"], "--format latex"),
        (["solve", ABC, "--math", "github"], "--format markdown"),
        (["solve", ABC, "--math", "dollars", "-f", "json"], "not of json"),
        (["mask", "--causal", "--fragment"], "--format latex"),
        (["mask", "--causal", "--math", "dollars", "-f", "latex"], "--format markdown"),
        (["solve", ABC, "--lang", "eo"], "eo"),
        (["solve", ABC, "--nonsense"], "--nonsense"),
        (["solve", ABC, "-o", "/no/such/folder/page.txt"], "/no/such/folder"),
        (["solve", ABC, "-o", ROOT], "directory"),
        (["solv"], "solv"),
        (["mask"], "--causal"),
        (["mask", "--causal", "--size", "0"], "--size"),
        (["mask", "--causal", "--size", "2", "--tokens", "a,b,c"], "--tokens 3"),
        (["mask", "--causal", "--scores", "no-such-file"], "no-such-file"),
    ],
    ids=lambda value: " ".join(map(str, value)).replace(str(ROOT), "") if isinstance(value, list) else None,
)
def test_a_call_that_cannot_be_carried_out_is_one_line_and_exit_code_2(arguments: list[object], says: str) -> None:
    assert says in refused(attncalc(*arguments))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["exercise", ABC, "--output-dir", ""], "--output-dir is an empty path; name a folder"),
        (["exercise", ABC, "--variants", "2", "--output-dir="], "--output-dir is an empty path; name a folder"),
        (["new", "--all", ""], "--all is an empty path; name a folder"),
        *(([*call, "--output", ""], "--output is an empty path; name a file")
          for call in (["new"], ["new", "abc"], ["solve", ABC], ["exercise", ABC], ["check", ABC], ["size", ABC],
                       ["mask", "--causal"])),
        (["solve", ABC, "-o", ""], "--output is an empty path; name a file"),
        (["check", ""], "the name of a file is empty"),
        (["check", ABC, ""], "the name of a file of answers is empty"),
        (["check", ".", ""], "leave out --template, --step and ANSWERS"),
    ],
    ids=lambda value: " ".join(map(str, value)).replace(str(ROOT), "") if isinstance(value, list) else None,
)  # fmt: skip
def test_a_variable_of_the_shell_that_is_not_set_names_no_place(
    arguments: list[object], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main([str(each) for each in arguments]) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1) and says in err
    assert not list(tmp_path.iterdir())


def test_help_names_every_option_and_exits_with_0() -> None:
    for arguments in ([], ["--help"], ["solve", "--help"], ["mask", "--help"]):
        run = attncalc(*arguments)
        assert (run.returncode, run.stderr) == (0, b""), run
        assert b"Usage: attncalc" in run.stdout


def test_a_closed_pipe_ends_quietly() -> None:
    command = f"{sys.executable} -m attncalc solve {ABC} | head -n 1; echo ${{PIPESTATUS[0]}}"
    run = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=60)
    assert run.stdout.decode().splitlines() == ["One head, three tokens", "0"] and run.stderr == b""


def test_a_step_by_itself() -> None:
    page = attncalc("solve", ABC, "--step", "A", "--step", "result").stdout.decode()
    assert "[2.028/5.056, 1/5.056, 2.028/5.056] ≈ [0.401, 0.198, 0.401]" in page and "o_3 = [1.576, 0.716]" in page
    assert "S[1,1]" not in page and "Given" not in page


def test_the_options_of_a_format_reach_it() -> None:
    assert b"\n$$\n" in attncalc("solve", ABC, "-f", "markdown", "--math", "dollars").stdout
    markdown = attncalc("solve", ABC, "-f", "markdown").stdout
    assert markdown == attncalc("solve", ABC, "-f", "markdown", "--math", "github").stdout
    assert rb"\documentclass" not in attncalc("mask", "--causal", "-f", "latex", "--fragment").stdout
    assert rb"\documentclass" in attncalc("mask", "--causal", "-f", "latex").stdout


@pytest.mark.parametrize(("part", "first", "last"), [
    ("layer3", "layer3.feed_forward.W_1", "layer3.residual1"),
    ("layer2.norm1", "layer2.norm1.mean", "layer2.norm1.normalised"),
    ("attention", "layer1.attention.W_Q", "layer2.attention.O"),
])  # fmt: skip
def test_a_part_is_the_steps_that_stand_in_it(part: str, first: str, last: str) -> None:
    page = json.loads(attncalc("solve", "problems/encoder-stack.yaml", "-f", "json", "--step", part).stdout)
    ids = [step["id"] for step in page["steps"]]
    assert (ids[0], ids[-1]) == (first, last) and all(f".{part}." in f".{id}" for id in ids)
    assert attncalc("solve", "problems/encoder-stack.yaml", "--step", part[:-1]).returncode == 2


def test_a_step_that_only_heads_have_is_shown_of_every_head() -> None:
    def shown(problem: str, *ids: str) -> list[str]:
        asked = [argument for id in ids for argument in ("--step", id)]
        page = json.loads(attncalc("solve", ROOT / "problems" / f"{problem}.yaml", "-f", "json", *asked).stdout)
        return [step["id"] for step in page["steps"]]

    assert shown("two-heads", "A") == ["head1.A", "head2.A"] == shown("two-heads", "head2.A", "A")
    assert shown("two-heads", "head2.A") == ["head2.A"]
    assert shown("gqa", "K") == ["K"]  # there is one of this very name
    assert shown("padding-left", "causal") == ["mask.causal"]
    page = attncalc("solve", ROOT / "problems" / "two-heads.yaml", "--step", "A").stdout.decode()
    assert "A⁽¹⁾" in page and "A⁽²⁾" in page and "O⁽¹⁾" not in page


def test_the_command_line_overrides_the_file() -> None:
    page = attncalc("solve", ABC, "--decimals", "2", "--rounding", "exact").stdout.decode()
    assert "full precision" in page and "2 decimals" in page and "0.71" in page and "0.707" not in page


def test_detail() -> None:
    full = attncalc("solve", ABC).stdout.decode()
    matrices = attncalc("solve", ABC, "--detail", "matrices").stdout.decode()
    result = attncalc("solve", ABC, "--detail", "result").stdout.decode()
    assert "2.028/5.056" in full and "2.028/5.056" not in matrices
    for figure in ("5.056", "8.168", "14.479", "0.707", "4.112"):
        assert figure in matrices
    assert "1.576  0.716" in result and "5.056" not in result
    assert len(full) > len(matrices) > len(result)


def test_no_digits_are_made_of_what_a_large_result_is_worked_from(monkeypatch: pytest.MonkeyPatch) -> None:
    made, shown = [], digits.shown
    monkeypatch.setattr(digits, "shown", lambda step, rule: made.append(step.id) or shown(step, rule))
    rows = np.random.default_rng(1).normal(size=(40, 4)).round(2).tolist()
    read = parse(json.dumps({"Q": rows, "K": rows, "V": rows, "mask": "causal"}).encode()).with_show(detail="result")
    lay_out(solve(read), read.show, "en", kind=read.kind)
    assert {"O"} <= set(made) <= {"O", "V"}


def test_a_big_problem_is_shown_as_matrices_and_says_how_to_see_the_rest() -> None:
    rows = [[(i * j) % 3 for j in range(4)] for i in range(40)]
    text = json.dumps({"Q": rows, "K": rows, "V": rows}).encode()
    page = attncalc("solve", "-", stdin=text).stdout.decode()
    assert "--detail full" in page and "S[1,1]" not in page
    assert "S[1,1]" in attncalc("solve", "-", "--detail", "full", stdin=text).stdout.decode()


def test_json_holds_its_contract() -> None:
    run = attncalc("solve", ROOT / "problems" / "abc-causal.yaml", "--format", "json")
    page = json.loads(run.stdout)
    assert page["format"] == "attncalc/1" and page["result"] == "O"
    steps = {step["id"]: step for step in page["steps"]}
    assert steps["A"]["rows"] == steps["A"]["columns"] == ["A", "B", "C"]
    assert steps["A"]["operands"] == ["exp", "row_sum"] and steps["A"]["group"] == "softmax"
    assert steps["masked"]["values"][0] == [0.707, "-inf", "-inf"]
    assert steps["A"]["shown"] == [["1.000", "0", "0"], ["0.500", "0.500", "0"], ["0.284", "0.140", "0.576"]]
    assert steps["O"]["shown"] == [["1.000", "0"], ["1.000", "0.500"], ["1.576", "0.716"]]
    assert {"id", "kind", "group", "symbol", "rows", "columns", "operands", "values", "shown"} == set(steps["O"])
    assert b"NaN" not in run.stdout and b"Infinity" not in run.stdout and b"-0.0" not in run.stdout


def test_two_runs_print_the_same_bytes() -> None:
    for name in ("text", "markdown", "json"):
        one, two = (attncalc("solve", ABC, "-f", name, PYTHONHASHSEED=seed).stdout for seed in ("1", "2"))
        assert one == two


def test_mask_by_itself_has_four_positions() -> None:
    page = attncalc("mask", "--causal").stdout.decode()
    assert "position 4 sees all" in page and "position 5" not in page and "-∞" in page


@pytest.mark.parametrize(
    ("option", "matrix", "drawn", "says"),
    [
        ("--add", "[[0, -inf, -inf], [0, 0, -.inf], [0, 0, 0]]", ["0 -∞ -∞", "0 0 -∞", "0 0 0"], ""),
        ("--add", "[[0, 0, 0], [-1e9, -1e9, -1e9], [0, 0, 0]]", ["0 0 0", "-∞ -∞ -∞", "0 0 0"],
         "-1e9 in the mask is read as -∞"),
        ("--keep", "[[true, false, no], [yes, true, false], [1, 1, true]]", ["0 -∞ -∞", "0 0 -∞", "0 0 0"], ""),
        ("--hide", "[[true, false, no], [yes, true, false], [1, 1, true]]", ["-∞ 0 0", "-∞ -∞ 0", "-∞ -∞ -∞"],
         "position 3 sees nothing"),
    ],
)  # fmt: skip
def test_mask_reads_a_matrix_as_a_problem_does(option: str, matrix: str, drawn: list[str], says: str) -> None:
    page = attncalc("mask", option, "-", stdin=matrix.encode()).stdout.decode()
    assert [" ".join(row.split()) for row in re.findall("[⎡⎢⎣] (.*) [⎤⎥⎦]", page)] == drawn
    assert says in page and ("is read as" in page) == ("1e9" in matrix)


def test_mask_puts_weights_before_and_after_side_by_side(tmp_path: Path) -> None:
    weights = tmp_path / "weights.txt"
    weights.write_text("0.577 0.232 0.191\n0.368 0.413 0.219\n0.169 0.264 0.567\n")
    page = attncalc("mask", "--causal", "--weights", weights, "--tokens", "<s>,I,love").stdout.decode()
    assert "0.471  0.529  0" in page
    assert "I sees <s> and itself: its weight there adds up to 0.781 and is scaled to 1" in page
    assert "love sees all: nothing changes" in page


def test_mask_of_scores_shows_the_softmax_before_and_after(tmp_path: Path) -> None:
    scores = tmp_path / "scores.yaml"
    scores.write_text("[[0, 0], [0, 0]]")
    page = json.loads(attncalc("mask", "--causal", "--scores", scores, "-f", "json").stdout)
    shown = {step["id"]: step["shown"] for step in page["steps"]}
    assert shown["before.A"] == [["0.5", "0.5"], ["0.5", "0.5"]] and shown["A"] == [["1", "0"], ["0.5", "0.5"]]


def test_new_lists_the_shipped_problems_and_prints_one() -> None:
    listed = attncalc("new").stdout.decode().splitlines()
    assert [line.split()[0] for line in listed] == sorted(path.stem for path in (ROOT / "problems").glob("*.yaml"))
    assert attncalc("new", "abc").stdout == ABC.read_bytes()
    assert "did you mean abc?" in refused(attncalc("new", "abd"))


def test_new_puts_every_problem_into_a_folder_and_overwrites_none(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "problems"
    for _ in range(2):  # what is there already, and the same, is no hindrance
        run = attncalc("new", "--all", folder)
        assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    copied = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert copied == {path.name: path.read_bytes() for path in (ROOT / "problems").iterdir()}
    (folder / "abc.yaml").write_text("# mine")
    (folder / "gqa.yaml").unlink()
    assert "abc.yaml is there already" in refused(attncalc("new", "--all", folder))
    assert (folder / "abc.yaml").read_text() == "# mine" and not (folder / "gqa.yaml").exists()
    assert "--all" in refused(attncalc("new", "--all", folder, "abc"))
    assert "can't be used" in refused(attncalc("new", "--all", folder / "abc.yaml"))


def test_data_that_a_problem_reads_comes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    shipped, mine = tmp_path / "problems", tmp_path / "mine"
    shipped.mkdir()
    mine.mkdir()
    (shipped / "small.yaml").write_text("# Reads data.\nH: {file: small.npz, name: H}\n")
    (shipped / "other.yaml").write_text("# Reads none.\nH: [[1]]\n")
    for name in ("small.npz", "all.npz", "notes.txt"):
        (shipped / name).write_bytes(b"\x00" + name.encode())
    monkeypatch.setattr("attncalc.shipped._HERE", tmp_path)

    def names() -> set[str]:
        return {path.name for path in mine.iterdir()}

    assert main(["new", "other", "-o", str(mine / "a.yaml")]) == 0 and names() == {"a.yaml"}
    assert main(["new", "small", "-o", str(mine / "b.yaml")]) == 0 and names() == {"a.yaml", "b.yaml", "small.npz"}
    assert (mine / "small.npz").read_bytes() == b"\x00small.npz"
    (mine / "small.npz").write_bytes(b"mine")
    capfdbinary.readouterr()
    assert main(["new", "small", "-o", str(mine / "c.yaml")]) == 2 and not (mine / "c.yaml").exists()
    assert b"small.npz is there already" in capfdbinary.readouterr().err
    assert main(["new", "small"]) == 0
    out, err = capfdbinary.readouterr()
    assert out == (shipped / "small.yaml").read_bytes() and err.count(b"\n") == 1 and b"small reads small.npz" in err
    assert main(["new", "--all", str(tmp_path / "all")]) == 0
    assert {path.name for path in (tmp_path / "all").iterdir()} == {"small.yaml", "other.yaml", "small.npz"}


def commands(arguments: list[str] | None) -> dict[str, Any]:
    return get_command(app(arguments)).commands  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("before", [[], ["--"], ["--version"]], ids=" ".join)
def test_a_command_that_is_called_is_made_alone_and_whole(before: list[str], name: str) -> None:
    (alone,) = commands([*before, name, "x"]).items()
    assert alone[0] == name and [each.name for each in alone[1].params] != []
    assert [each.name for each in alone[1].params] == [each.name for each in commands(None)[name].params]


@pytest.mark.parametrize("arguments", [["--help"], ["solv"], ["nosuch", "solve"]], ids=" ".join)
def test_where_none_is_called_all_are_listed_as_they_are(arguments: list[str]) -> None:
    listed, every = commands(arguments), commands(None)
    assert list(listed) == list(every) == list(COMMANDS)
    assert [each.help for each in listed.values()] == [each.help for each in every.values()]


@pytest.mark.parametrize(
    ("call", "not_imported"),
    [
        (["--version"], ["numpy", "yaml", "rich", "typer", "typing", "re"]),
        (["--help"], ["numpy", "yaml", "rich"]),
        (["solve", "--help"], ["numpy", "yaml", "rich"]),
        (["solve", str(ABC)], [
            "rich", "typer", "numpy.random", "numpy.ma", "attncalc.cli.check", "attncalc.problem.models",
            "attncalc.problem.size", "attncalc.mechanisms.models", "attncalc.formats.terminal",
        ]),
    ],
    ids=" ".join,
)
def test_a_call_imports_nothing_that_it_does_not_need(call: list[str], not_imported: list[str]) -> None:
    code = (
        "import sys, os; from attncalc.cli import main; out = os.dup(1); os.dup2(os.open(os.devnull, 1), 1);"
        f"main({call!r}); os.dup2(out, 1); sys.stdout = os.fdopen(1, 'w'); print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(run.stdout.split())
    assert "attncalc.cli" in loaded
    assert not loaded & set(not_imported)
