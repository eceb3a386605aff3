"""Files that are no files, have no end, lead elsewhere or ask for too much; and what a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attncalc import load, mechanisms
from attncalc.cli import main
from attncalc.errors import ProblemError
from attncalc.formats.spreadsheet import to_csv
from attncalc.marking.template import template
from attncalc.problem import parse

ROOT = Path(__file__).resolve().parent.parent
ABC = str(ROOT / "problems" / "abc.yaml")


def refusal(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line that a call is refused with."""
    assert main([str(each) for each in arguments]) == 2
    out, err = capfd.readouterr()
    assert not out and err.endswith("\n") and err[:-1].isprintable()
    return err[:-1]


# What is named is no file, or none that ends

CALLS = {
    "solve": ["solve", "{}"], "size": ["size", "{}"], "exercise": ["exercise", "{}"], "check": ["check", "{}"],
    "answers": ["check", ABC, "{}"], "students": ["exercise", ABC, "--students", "{}", "--output-dir", "never-made"],
    "scores": ["mask", "--causal", "--scores", "{}"], "keep": ["mask", "--keep", "{}"],
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "empty"), ("/dev/zero", "larger than"), ("/dev/null", "/dev/null"), ("x" * 5000, "name too long"),
        ("no-such\x00file", "null byte"), ("no\nsuch", "no\\nsuch"), ("{}/inside", "Not a directory"),
    ],
    ids=["empty", "endless", "nothing", "long", "nul", "newline", "in a file"],
)  # fmt: skip
def test_what_is_no_file_is_refused_by_name(
    call: list[str], name: str, says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capfd, *(each.replace("{}", name.replace("{}", ABC)) for each in call))
    assert says in said and "standard output" not in said


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no file descriptors by name here")
def test_a_pipe_is_read_as_a_file_is() -> None:
    command = f"{sys.executable} -m attncalc solve <(cat {ABC}) | diff - <({sys.executable} -m attncalc solve {ABC})"
    subprocess.run(["bash", "-c", command], check=True, cwd=ROOT, timeout=60)


@pytest.mark.parametrize("kind", ["pipe", "folder", "link out", "link to a device", "link to itself"])
@pytest.mark.parametrize("name", ["answers-x.yaml", "problem-x.yaml"])
def test_a_class_has_its_files_in_its_folder(
    name: str, kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder, key = tmp_path / "class", tmp_path / "key.yaml"
    folder.mkdir()
    texts = {"answers-x.yaml": template(mechanisms.solve(load(ABC))), "problem-x.yaml": Path(ABC).read_text()}
    for each, text in texts.items():
        (folder / each).write_text(text, encoding="utf-8")
    assert main(["check", str(folder), "-o", str(tmp_path / "report")]) == 1
    key.write_text(texts[name], encoding="utf-8")
    (folder / name).unlink()
    match kind:
        case "pipe":
            os.mkfifo(folder / name)
        case "folder":
            (folder / name).mkdir()
            for each in "ab":
                (folder / name / f"{each}.yaml").write_text(texts[name], encoding="utf-8")
        case _:
            targets = {"link out": key, "link to a device": "/dev/zero", "link to itself": folder / name}
            (folder / name).symlink_to(targets[kind])
    said = refusal(capfd, "check", folder)
    assert name in said and ("out of its folder" if kind == "link out" else "") in said
    if name == "answers-x.yaml" and kind != "folder":
        (folder / "problem-x.yaml").unlink()
        assert name in refusal(capfd, "check", ABC, folder)
        (folder / name).unlink()
        (folder / name).symlink_to(folder / "mei.yaml")  # a link within the folder may stay
        (folder / "mei.yaml").write_text(texts[name], encoding="utf-8")
        assert main(["check", ABC, str(folder / name), "-o", str(tmp_path / "report")]) == 1


# What asks for too much


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"Q: &x [{', '.join(['[1]'] * 40_000)}]\nK: *x\n", "S: 40000 × 40000"),
        (f"Q: &x [{', '.join(['[1]'] * 2_000)}]\nK: *x\n", "scaled: 2000 × 2000"),
        (f"show: {{detail: full}}\nQ: &x [{', '.join(['[1]'] * 1_200)}]\nK: *x\n", "scaled: 1200 × 1200"),
        (f"show: {{detail: full}}\nH: [[{', '.join(['1'] * 900)}]]\nW_Q: identity\nW_K: identity\nW_V: identity\n",
         "W_K: 900 × 900"),
    ],
    ids=["one step", "steps together", "all to be shown", "what is given"],
)  # fmt: skip
def test_more_figures_than_there_is_room_for_are_not_worked(text: str, place: str) -> None:
    with pytest.raises(ProblemError, match=f"{place} figures are more than there is room for; .*--detail result"):
        mechanisms.solve(parse(text.encode()))


@pytest.mark.parametrize("detail", [None, "result"])
def test_there_is_more_room_where_only_the_result_is_shown(
    detail: str | None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, asked = tmp_path / "p.yaml", ["--detail", detail] if detail else []
    file.write_text(f"Q: &x [{', '.join(['[1]'] * 1_024)}]\nK: *x\nmask: causal\nV: *x\n")
    assert main(["solve", str(file), *asked]) == 0
    page = capfd.readouterr().out
    assert page.count("\n") < 2000 and "1024×1" in page
    assert main(["solve", str(file), "-f", "json", "--step", "result", *asked]) == 0
    assert json.loads(capfd.readouterr().out)["steps"][0]["values"] == [[1.0]] * 1_024
    assert "json has room for 1400000 figures, not" in refusal(capfd, "solve", file, "-f", "json", *asked)


@pytest.mark.parametrize("figure", ["1" * 5000, "0." + "1" * 5000, "1e" + "1" * 5000, "0" * 5000, "1." + "0" * 10**6])
def test_a_figure_without_end_is_refused_and_not_repeated(figure: str) -> None:
    with pytest.raises(ProblemError, match=r"H\[1,1\]: .*… (has \d+ characters; write at most 1100)") as caught:
        parse(f"H: [[{figure}]]\nW_Q: [[1]]\nW_K: [[1]]\nW_V: [[1]]\n".encode())
    assert len(str(caught.value)) < 200


def test_every_figure_of_float64_can_be_written_out() -> None:
    for text in ("5e-324", "1.7976931348623157e308", "2.2250738585072011e-308"):
        exactly = f"{float(text):.1074f}".rstrip("0")
        values = parse(f"kind: softmax\nx: [[{exactly}]]\n".encode()).given.x.values
        assert values.tolist() == [[float(text)]]


# What a spreadsheet would run

HARMLESS = ["", "mei", "王", "-1", "+.5", "-1/3", "-√2", "-1e-3", "-inf", "1=1", "a@b", "0.5", "-(1+2)^2", "'=1", "-"]
RUN = ["=1", "=cmd|' /C calc'!A0", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+cmd|' /C calc'!A0", "＝1", " =1", "-A1"]


def test_no_cell_is_run_by_a_spreadsheet() -> None:
    (harmless, run) = csv.reader(io.StringIO(to_csv([HARMLESS, RUN])))
    assert harmless == HARMLESS
    assert run == [f"'{text}" for text in RUN]


def test_cells_have_no_signs_that_are_not_seen() -> None:
    assert to_csv([["a\rb", "c\x00", "\t=1", 1.5, -2]]) == r"a\rb,c\x00,\t=1,1.5,-2" + "\n"


def test_names_and_figures_reach_no_spreadsheet_as_formulas(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    students, ids = tmp_path / "class", tmp_path / "ids.txt"
    students.mkdir()
    (students / "=cmd.yaml").write_text('A: [["=1+1", "@x", "-1+A1"], _, _]\n'.replace("_", "[_, _, _]"))
    ids.write_text("=cmd|x\n")
    main(["check", ABC, str(students / "=cmd.yaml"), "-f", "csv"])
    rows = list(csv.reader(io.StringIO(capfd.readouterr().out)))
    assert [row[3] for row in rows[1:4]] == ["'=1+1", "'@x", "'-1+A1"]
    main(["check", ABC, str(students), "-f", "csv"])
    assert "\n'=cmd," in capfd.readouterr().out
    problem = str(ROOT / "problems" / "draw-scale.yaml")
    call = ["exercise", problem, "--students", str(ids), "--output-dir", str(tmp_path / "sheets")]
    assert main([*call, "--level", "1"]) == 0
    assert (tmp_path / "sheets" / "index.csv").read_text().splitlines()[1].startswith("'=cmd|x,")
