"""Marks however small are shown, and add up as they are shown."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from attncalc.cli import main
from attncalc.marking.marks import about, as_text

ABC = str(Path(__file__).resolve().parent.parent / "problems" / "abc.yaml")


@pytest.mark.parametrize(("marks", "text"), [
    ("0", "0"), ("2", "2"), ("3/2", "1.5"), ("1/1000", "0.001"), ("1001/1000", "1.001"), ("1/8", "0.125"),
    ("1/10000000000000000000000", "0.0000000000000000000001"), ("1/3", "0.33"), ("5/3", "1.67"), ("100/3", "33.33"),
    ("1/30", "0.033"), ("1/600", "0.0017"), ("2/3000000", "0.00000067"),
])  # fmt: skip
def test_no_marks_but_none_are_0(marks: str, text: str) -> None:
    assert as_text(Fraction(marks)) == text


@pytest.mark.parametrize("worth", ["0.001", "0.05", "0.125", "1", "2.5", "7"])
def test_marks_that_are_given_are_never_more_than_all_and_never_shown_as_none(worth: str) -> None:
    every = [about(Fraction(worth) * k / 9, Fraction(worth)) for k in range(10)]
    assert every == sorted(set(every)) and every[0] == 0 and every[-1] == Fraction(worth)
    assert len(set(map(as_text, every))) == 10


def test_small_marks_on_every_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = tmp_path / "mei.yaml"
    answers.write_text("A: [[.401, .198, .401], [.248, .248, .504], [.284, .140, .677]]\n", encoding="utf-8")
    marks = ("--marks", "A=0.001,O=1")
    main(["check", ABC, str(answers), *marks, "-f", "text"])
    page = capsys.readouterr().out
    assert "0.00089" in page and "1.001" in page
    main(["check", ABC, str(tmp_path), *marks, "-f", "csv"])
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert (row["marks.A"], row["marks"], row["out_of"]) == ("0.00089", "0.00089", "1.001")
    main(["check", ABC, str(tmp_path), *marks, "-f", "text"])
    assert "mean 0.00089, highest 0.00089, out of 1.001" in capsys.readouterr().out
    for form in ("markdown", "latex", "html", "text"):
        main(["exercise", ABC, "--marks", "0.001", "-f", form])
        assert "0.001" in capsys.readouterr().out
