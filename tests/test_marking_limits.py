"""What is too large to be marked is refused by its sizes, and what is large is not held twice."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from attncalc import mark
from attncalc.cli import main
from attncalc.errors import ProblemError, UsageError
from attncalc.formats import json as json_pages
from attncalc.formats import report as for_scripts
from attncalc.layout import lay_out
from attncalc.layout.kinds import are_written_out
from attncalc.layout.report import Report, lay_out_report
from attncalc.marking import methods
from attncalc.marking.answers import read_answers
from attncalc.marking.papers import Paper
from attncalc.mechanisms import solve
from attncalc.problem import Problem, parse


def attention(n: int) -> Problem:
    return parse(f"Q: &x {[[k % 3] for k in range(n)]}\nK: *x\nV: *x\n".encode())


@pytest.mark.parametrize(
    ("n", "answers"),
    [(225, {"A": "_"}), (160, {"S": "_", "A": "_"}), (450, {"A": [{"row": 1, "values": ["_"] * 450}]})],
)
def test_steps_that_are_too_large_to_be_marked_are_refused(n: int, answers: dict[str, object]) -> None:
    """One, several together, and one of which a row is written: the report shows its other rows as well."""
    with pytest.raises(ProblemError, match=r"steps as long as \d+ figures in all are more than there is room for"):
        mark(attention(n), answers)


@pytest.mark.parametrize("name", ["mei.txt", "mei.yaml"])
def test_pasted_rows_that_are_too_many_to_be_marked_are_refused(name: str) -> None:
    """As they are in a file of several steps, each figure counts that is written."""
    solution = solve(attention(230))
    rows = [[1] * 230] * 230
    text = "\n".join(" ".join(map(str, row)) for row in rows) if name.endswith("txt") else json.dumps(rows)
    with pytest.raises(ProblemError, match=r"A: steps as long as 52950 figures in all are more than there is room for"):
        read_answers(text.encode(), name, solution, step="A")


def test_a_row_of_a_large_step_can_be_marked() -> None:
    marking = mark(attention(320), {"A": [{"row": 1, "values": ["_"] * 320}]})
    assert marking.counts["blank"] == 320


def test_many_small_steps_are_too_many_to_be_marked() -> None:
    heads = 500
    read = parse(f"Q: &x {[[1] * heads]}\nK: *x\nV: *x\nheads: {heads}\n".encode())
    with pytest.raises(UsageError, match=r"a problem of 5004 steps, as long as 1258000 figures, is more"):
        mark(read, {"concat": "_"})


def test_rows_that_are_too_many_are_not_held_against_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """As whether each is written as another should be takes their number squared; a whole step is still explained."""
    read = parse(b"Q: [[1, 2], [0, 1], [2, 1]]\nK: [[1, 0], [1, 1], [2, 1]]\nV: [[1], [2], [3]]\nd_k: 2\n")
    right = solve(read)
    unscaled = {"scaled": right.steps["S"].values}
    held: list[int] = []
    monkeypatch.setattr(methods, "within", lambda *about: held.append(about[0].ndim) or np.ones(about[1].value.shape))
    monkeypatch.setattr(methods, "MOST_COMPARED", 0)
    assert set(mark(read, unscaled).methods.values()) == {"no_scale"} and not held


def test_a_report_of_json_comes_figure_by_figure() -> None:
    read = attention(20)
    marking = mark(read, {"A": "_"})
    pieces = [*for_scripts.to_json([Paper("mei", marking, read.show)], partial(Report, lang="en"), of_class=False)]
    assert len(pieces) > 400 and len(json.loads("".join(pieces))["figures"]) == 400


def test_json_of_a_large_step_comes_in_portions_of_rows() -> None:
    read = parse(f"kind: softmax\nx: {[[k % 3] for k in range(5_000)]}\n".encode())
    pieces = [*json_pages.pieces(solve(read), read.show.rule)]
    assert max(map(len, pieces)) < 20_000 and len(json.loads("".join(pieces))["steps"][0]["values"]) == 5_000


def test_a_report_refuses_labels_that_would_fill_books() -> None:
    labels = [f"{k}{'x' * 20_000}" for k in range(40)]
    read = parse(f"tokens: {labels}\nQ: &x {[[k] for k in range(40)]}\nK: *x\nV: *x\n".encode())
    with pytest.raises(UsageError, match=r"labels of \d+ letters, .* are more than there is room for; give shorter"):
        lay_out_report(mark(read, {"S": "_", "A": "_"}), read.show, "en", title=None, kind="attention")


def test_a_sheet_refuses_what_is_worked_already_where_it_would_fill_books(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """However little is asked for."""
    file = tmp_path / "p.yaml"
    file.write_text(f"Q: &x {[[k % 3] for k in range(620)]}\nK: *x\nV: *x\n")
    assert main(["exercise", str(file), "--blank", "O[1,*]"]) == 2
    said = capfd.readouterr().err
    assert "a page as long as one of 16" in said and "or show none that is worked, --level 1" in said
    labels = [f"{k}{'x' * 20_000}" for k in range(40)]
    file.write_text(f"tokens: {labels}\nQ: &x {[[k] for k in range(40)]}\nK: *x\nV: *x\n")
    assert main(["exercise", str(file)]) == 2
    assert "letters, beside all rows and above all columns, are more than there is room" in capfd.readouterr().err


def test_sums_of_many_words_are_not_written_out_in_generation_either() -> None:
    words = [f"w{k}" for k in range(60)]
    embedding = [[k % 5 - 2, 1] for k in range(60)]
    read = parse(
        f"kind: decoder\nvocabulary: {words}\nembedding: {embedding}\noutput: tied\nshow: {{detail: full}}\n"
        "layers: [{attention: {W_Q: identity, W_K: identity, W_V: identity}}]\n"
        "generate: {from: [w0], choose: {sample: [0.5]}}\n".encode()
    )
    solution = solve(read)
    sums = solution.steps["step1.sums"]
    assert not are_written_out(sums)
    assert len(repr(lay_out(solution, read.show, "en", kind="decoder", only=[sums]))) < 20_000


def test_a_step_that_is_worked_takes_twice_the_room_in_full() -> None:
    """Its matrix, and how it is worked."""
    read = parse(f"kind: softmax\nx: {[[k % 3, 1] for k in range(13_000)]}\n".encode())
    for detail, fits in (("matrices", True), ("full", False)):
        shown = read.with_show(detail=detail)
        if fits:
            assert lay_out(solve(shown), shown.show, "en", kind="softmax")
        else:
            with pytest.raises(UsageError, match="ask for the matrices, --detail matrices, or for some steps"):
                lay_out(solve(shown), shown.show, "en", kind="softmax")


def test_a_mask_of_many_positions_is_no_table(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "--causal", "--tokens", ",".join("A" * 501)]) == 2
    assert "501 positions are too many for a table; give at most 500" in capfd.readouterr().err
