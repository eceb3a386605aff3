"""Figures at the ends of float64 and everywhere between: every problem is worked or refused on one line, in every
format, without a warning; and what a page prints is right when it is handed in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import yaml
from fuzz import REPORTS, SHEETS, whole

from attncalc import digits, mark, mechanisms, problem
from attncalc.cli import main
from attncalc.expr import number, power, rational
from attncalc.formats import FORMATS
from attncalc.marking.template import asked_steps
from attncalc.rounding import Bounds
from attncalc.steps import copied

PROBLEMS = sorted((Path(__file__).resolve().parent.parent / "problems").glob("*.yaml"))
FIGURES = {
    "mixed": ["1e308", "-1e308", "1e-308", "5e-324", "0", "-0.0", "1e16", "1e-16", "123456789.123456789", "0.1",
              "1e154", "-1e154", "710", "-745", "-1e9", "0.30000000000000004", "1", "-1", "0.5"],
    "large": ["1e16", "-1e16", "1e154", "123456789.123456789", "1", "0.7"],
    "small": ["1e-16", "-1e-16", "1e-308", "5e-324", "0.0005", "0", "-0.0"],
}  # fmt: skip
PAGES = [each for each in FORMATS if each != "json"]  # which says -∞ as -inf
_is_figure = re.compile(r"-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?").fullmatch
_NO_FIGURES = {"show", "published", "draw", "vocabulary", "tokens", "input", "targets", "window", "padding", "keep",
               "hide", "query_mask", "generate"}  # fmt: skip
_is_none = re.compile(r"(?<![\w<])(nan|inf|NaN|Infinity)(?!\w)").search


def with_figures(node: Any, figures: list[str], random: Random) -> Any:
    """The same with other figures in every list of figures."""
    if isinstance(node, dict):
        return {key: node[key] if key in _NO_FIGURES else with_figures(node[key], figures, random) for key in node}
    if not isinstance(node, list):
        return node
    return [random.choice(figures) if isinstance(each, str) and _is_figure(each)
            else with_figures(each, figures, random) for each in node]  # fmt: skip


def called(*arguments: str, capfdbinary: pytest.CaptureFixture[bytes]) -> str | None:
    """What a call prints; None where it is refused, on one line."""
    code = main(list(arguments))
    out, err = (stream.decode() for stream in capfdbinary.readouterr())
    if code == 2:
        assert not out and err.endswith("\n") and err[:-1].isprintable(), err
        return None
    assert (code, err) == (0, ""), (out, err)
    return out


@pytest.mark.parametrize("sort", FIGURES)
@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_a_problem_of_any_figures_is_worked_or_refused(
    path: Path, sort: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    random = Random(f"{path.stem} {sort}")
    tree = with_figures(yaml.load(path.read_text("utf-8"), yaml.BaseLoader), FIGURES[sort], random)
    for key in ("published", "draw"):
        tree.pop(key, None)
    tree["show"] = {"rounding": random.choice(["exact", "carried"]), "decimals": str(random.randint(0, 12))}
    file, answers = tmp_path / "p.yaml", tmp_path / "a.yaml"
    file.write_text(json.dumps(tree), encoding="utf-8")
    (tmp_path / "small-decoder.npz").write_bytes((path.parent / "small-decoder.npz").read_bytes())
    made = called("solve", str(file), "-f", "json", capfdbinary=capfdbinary)
    if made is None:
        return
    shown = {step["id"]: step["shown"] for step in json.loads(made)["steps"]}
    for format in random.sample(PAGES, 2):
        page = called("solve", str(file), "-f", format, capfdbinary=capfdbinary)
        assert page is not None and not _is_none(re.sub(r"(?s)<style>.*?</style>", "", page))
        whole(page, format)
    asked = asked_steps(mechanisms.solve(problem.load(file)))
    answers.write_text("".join(f"{step.id}: {json.dumps(shown[step.id])}\n" for step in asked), encoding="utf-8")
    assert called("check", str(file), str(answers), capfdbinary=capfdbinary) is not None
    format = random.choice(SHEETS)
    more = [] if format == "moodle" else ["--key"]
    sheet = called("exercise", str(file), "-f", format, *more, capfdbinary=capfdbinary)
    assert sheet is not None or not any(step.operands for step in asked)


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_an_answer_may_be_any_figure(
    path: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Its step follows from it or does not, and what is said of the figures after it is whole in every format."""
    random = Random(f"an answer {path.stem}")
    asked, solution = problem.load(path), mechanisms.solve(problem.load(path))
    shown = {step.id: digits.shown(step, asked.show.rule).tolist() for step in asked_steps(solution)}
    for k in range(4):
        papers = {id: [list(row) for row in rows] for id, rows in shown.items()}
        for id in random.sample(sorted(papers), min(k + 1, len(papers))):
            row = random.choice(papers[id])
            row[random.randrange(len(row))] = random.choice(["1e308", "-1e308", "1e155", "5e-324", "-0"])
        answers = tmp_path / "a.yaml"
        answers.write_text("".join(f"{id}: {json.dumps(rows)}\n" for id, rows in papers.items()), encoding="utf-8")
        format = random.choice(list(REPORTS))
        code = main(["check", str(path), str(answers), "-f", format])
        out, err = (stream.decode() for stream in capfdbinary.readouterr())
        assert code in (0, 1) and not err, err
        whole(out, format)


# What once was no page.
ONCE_BROKEN = {
    "a base of which float64 has no root": "kind: positions\nlength: 3\nwidth: 4\nbase: 5e-324\n",
    "a sum that overflows on the way":
        "Q: [[1, 0], [0, 1e308]]\nK: [[1e308, 1], [1e308, 1e308]]\nscores: additive\nv_a: [1, 1e308]\n"
        "show: {rounding: carried}\n",
    "weights beyond any shade": "A: [[1e308, 1e308], [0.5, 0.5]]\nmask: causal\n",
    "the largest of long scores, of which some are hidden":
        "S: [[1234567890123456, 1], [1, 2]]\nscale: none\nmask: causal\n",
    "a choice that rounding turns":
        "kind: experts\nx: [[1, 0.1]]\nrouter: [[1e-308, 1e-16, 0.9, 0.9], [1e-308, 1e-16, 1e-308, 1e-16]]\n"
        "top_k: 2\nshow: {rounding: carried}\n",
}  # fmt: skip


@pytest.mark.parametrize("text", ONCE_BROKEN.values(), ids=ONCE_BROKEN)
def test_what_was_once_no_page(text: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(text, encoding="utf-8")
    for format in FORMATS:
        assert called("solve", str(file), "-f", format, capfdbinary=capfdbinary)
    for format in SHEETS:
        assert called("exercise", str(file), "-f", format, capfdbinary=capfdbinary)


@pytest.mark.parametrize("rounding", ["exact", "carried"])
@pytest.mark.parametrize(
    "text",
    [
        "kind: softmax\nx: [[1e9, 1]]\ntemperature: 5e-324\n",
        "kind: residual\nx: [[1e308]]\nf: [[1e308]]\n",
        "kind: rms-norm\nx: [[1e308, 1]]\n",
        "Q: [[1e308, 1e308]]\nK: [[1, 1], [1e308, -1e308]]\n",
    ],
)
def test_what_leaves_float64_is_refused_with_its_step(
    text: str, rounding: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
    assert main(["solve", str(tmp_path / "p.yaml"), "--rounding", rounding]) == 2
    assert re.search(rb"p\.yaml: \w+\[1,1\]: the figure is too large for float64", capfdbinary.readouterr().err)


@pytest.mark.parametrize("decimals", [0, 1, 2])
@pytest.mark.parametrize("path", [path for path in PROBLEMS if "generation" in path.stem], ids=lambda path: path.stem)
def test_where_rounding_changes_what_is_generated_the_page_says_so(
    path: Path, decimals: int, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    solution = mechanisms.solve(problem.load(path).with_show(rounding="carried", decimals=decimals))
    assert solution.exact is not None
    twins = [(step, solution.exact.steps.get(id, step)) for id, step in solution.steps.items()]
    others = [step for step, exact in twins if exact.shape != step.shape]
    page = called("solve", str(path), "--rounding", "carried", "--decimals", str(decimals), "-f", "text",
                  capfdbinary=capfdbinary)  # fmt: skip
    assert page and ("rounding changed what was chosen" in page) == (solution.result in others)


def test_a_root_is_a_fraction_where_it_is_one_however_long() -> None:
    for root in (7, 10**25 + 1, 3**200):
        for n in (2, 3, 7):
            found = rational(power(number(1.0, str(root**n)), number(1.0) / number(float(n))), ())
            assert found == root
            assert rational(power(number(1.0, str(root**n + 1)), number(1.0) / number(float(n))), ()) is None


def test_of_what_is_hidden_another_figure_may_be_right() -> None:
    assert digits.as_right(0.1234, 2, "-∞") == ("0.12",)
    assert digits.as_right(-np.inf, 2, "0.12") == ()


def test_a_slip_in_long_figures_that_were_looked_up_is_marked(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file, answers = tmp_path / "p.yaml", tmp_path / "a.yaml"
    file.write_text(
        "vocabulary: [a, b]\nembedding: [[123456789012345.678, 0.5], [1, 1]]\ninput: [a, b]\n"
        "W_Q: identity\nW_K: identity\nW_V: identity\n"
    )
    answers.write_text("H: [[123456789012345.678, 0.5], [1, 2]]\n")
    assert main(["check", str(file), str(answers), "-f", "text"]) == 1
    assert "✗ slip, 1" in capfdbinary.readouterr().out.decode()


# A problem, the step that is written, its figures, and those one unit of a digit that float64 holds off.
LONG = {
    "a sum of products": ("Q: [[123456789012345, 0.678]]\nK: [[1, 1], [2, 0.5]]\nscale: none\n", "S",
                          ["123456789012345.678", "246913578024690.339"],
                          ["123456789012344.678", "246913578024691.339"]),
    "fifteen digits": ("kind: residual\nx: [[123456789012.675, 1]]\nf: [[0.003, 1]]\n", "result",
                       ["123456789012.678", "2"], ["123456789012.679", "2.001"]),
    "squares": ("kind: rms-norm\nx: [[5664.55, 1.5]]\n", "squares", ["32087126.7025", "2.25"],
                ["32087126.7035", "2.251"]),
}  # fmt: skip


@pytest.mark.parametrize("case", LONG.values(), ids=LONG)
def test_a_slip_in_long_figures_is_marked(case: tuple[str, str, list[str], list[str]]) -> None:
    text, id, right, wrong = case
    read = problem.parse(text.encode())
    assert {each.verdict for each in mark(read, {id: [right]}).figures} == {"correct"}
    assert {each.verdict for each in mark(read, {id: [wrong]}).figures} == {"slip"}


def test_what_is_chosen_by_figures_that_may_be_anything_is_what_was_chosen() -> None:
    ids = Bounds(np.array([[-np.inf]]), np.array([[1.0]]), np.array([[np.inf]]))
    assert {float(chosen[0, 0]) for (chosen,) in copied._choices([ids])} == {1.0}
