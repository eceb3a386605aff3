"""A short run of the fuzzer, the same each time, and what longer ones look for: `python tests/fuzz.py`."""

from __future__ import annotations

from pathlib import Path
from random import Random

import fuzz
import mutations
import pytest


def test_damaged_files_give_an_answer_or_one_line() -> None:
    found, longest = fuzz.run("suite", range(250))
    assert found == [] and longest < fuzz.SECONDS


def test_the_same_seed_damages_the_same_files() -> None:
    assert [fuzz.call("a", k) for k in range(50)] == [fuzz.call("a", k) for k in range(50)]
    assert fuzz.call("a", 1) != fuzz.call("b", 1)


def test_every_command_is_called_and_every_way_of_damage_changes_something() -> None:
    commands = {fuzz.call("a", k).arguments[0] for k in range(300)}
    assert commands == {"solve", "check", "exercise", "mask", "size"}
    text = 'tokens: [a, "b"]\nH: [[1, 0.5], [0, 1]]\nW_Q: [[1, 0], [0, 1]]\n'
    for way in mutations.OF_TEXT:
        assert any(way(Random(k), text, [text]) != text for k in range(20)), way


@pytest.mark.parametrize(
    ("page", "format"),
    [
        ("a\x1b[0m", "text"), ("a\u202eb", "markdown"), ("<script>x</script>", "html"), ('<p onclick="x">', "html"),
        ('<a href="http://x">', "html"), ('{"a": NaN}', "json"), ("{", "json"), ("a,b\nc\n", "csv"),
        ("a\x00,b\n", "csv"), ("\\frac{1}{", "latex"), ("<quiz>", "moodle"),
    ],
)  # fmt: skip
def test_the_fuzzer_sees_what_is_not_whole(page: str, format: str) -> None:
    with pytest.raises(Exception):  # noqa: B017  what each parser raises is its own
        fuzz.whole(page, format)
    fuzz.whole({"json": "{}", "moodle": "<quiz/>"}.get(format, "a\n"), format)


def test_the_fuzzer_sees_a_traceback_and_what_takes_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    one = fuzz.Call(["solve", "p.yaml"], {"p.yaml": b"H: [[1]]\nW_Q: [[1]]\nW_K: [[1]]\nW_V: [[1]]\n"})
    assert fuzz.judged(one, tmp_path) == ""
    monkeypatch.setattr(fuzz, "main", lambda _: 1 / 0)
    assert fuzz.judged(one, tmp_path).startswith("ZeroDivisionError")
    monkeypatch.setattr(fuzz, "main", lambda _: 1)
    assert "exit code 1" in fuzz.judged(one, tmp_path)
    monkeypatch.setattr(fuzz, "main", lambda _: 2)
    assert "is not one line" in fuzz.judged(one, tmp_path)
    monkeypatch.setattr(fuzz.time, "process_time", iter((0.0, 1.1 * fuzz.SECONDS)).__next__)
    assert "more than" in fuzz.judged(one, tmp_path)
