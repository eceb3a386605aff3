"""The limits of the loader from both sides, and places and wording that are easily off by one."""

from __future__ import annotations

import codecs
import json
import os
import tracemalloc
from collections import Counter
from functools import partial
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from attncalc import parse, problem, solve
from attncalc.cli import main
from attncalc.cli.output import pieces
from attncalc.errors import ProblemError, UsageError
from attncalc.layout import lay_out, page
from attncalc.problem import files, fitting
from attncalc.problem.decoding import decode
from attncalc.problem.nodes import compose
from attncalc.problem.room import MOST, Room
from attncalc.problem.source import Source
from attncalc.show import Show
from attncalc.steps import Arrange

SOFTMAX = "kind: softmax\nx: "


def error_of(text: str) -> str:
    with pytest.raises(ProblemError) as caught:
        parse(text.encode(), "f.yaml")
    return str(caught.value)


def empty_file(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size)  # takes no room
    return path


@pytest.mark.parametrize(("ending", "most"), [
    (".npz", 200_000_000), (".npy", 200_000_000), (".csv", 20_000_000), (".txt", 20_000_000),
])  # fmt: skip
def test_how_large_a_file_of_figures_may_be(ending: str, most: int, tmp_path: Path) -> None:
    path = empty_file(tmp_path / f"W{ending}", most)
    assert len(files._read(path, ending, Room()).data) == most
    empty_file(path, most + 1)
    with pytest.raises(files.NotUsable, match=f"larger than {most} bytes"):
        files._read(path, ending, Room())


def test_how_large_a_problem_file_may_be(tmp_path: Path) -> None:
    assert len(problem.read(str(empty_file(tmp_path / "a.yaml", 50_000_000)))) == 50_000_000
    with pytest.raises(ProblemError, match="larger than 50000000 bytes"):
        problem.read(str(empty_file(tmp_path / "b.yaml", 50_000_001)))


@pytest.mark.parametrize("deep", range(1, 70))
def test_how_deep_lists_may_be(deep: int) -> None:
    """Written out, and where an alias stands for some of them."""
    inner = deep // 2
    texts = ["[" * deep + "]" * deep]
    if inner:
        texts.append(f"[&a {'[' * inner}{']' * inner}, {'[' * (deep - 1 - inner)}*a{']' * (deep - 1 - inner)}]")
    for text in texts:
        if deep <= 64:
            assert compose(Source("f", text)) is not None
        else:
            with pytest.raises(ProblemError, match="nesting too deep; at most 64 lists"):
                compose(Source("f", text))


@pytest.mark.parametrize(("rows", "columns"), [(1000, 1000), (1, 1_000_000)])
def test_how_many_figures_are_drawn_of_one_matrix(rows: int, columns: int) -> None:
    form = "{{random: integers, from: 0, to: 1, rows: {}, columns: {}, seed: 1}}"
    assert parse(f"{SOFTMAX}{form.format(rows, columns)}\n".encode()).given.x.values.shape == (rows, columns)
    said = error_of(f"{SOFTMAX}{form.format(rows + 1, columns)}\n")
    assert f"{rows + 1} × {columns} is too large; at most 1000000 entries" in said


DRAWN = "{random: integers, from: 0, to: 1, seed: 1, columns: 500}"


def layers_of(form: str, count: int) -> str:
    """A model whose every layer has four matrices of 500 × 500 of this form: 1,000,000 entries."""
    layer = f"{{W_Q: {form}, W_K: {form}, W_V: {form}, W_O: {form}}}"
    x = ", ".join(["1"] * 500)
    return f"kind: encoder\nH: [[{x}]]\nlayers:\n" + f"  - {{attention: {layer}}}\n" * count


@pytest.mark.parametrize("form", ["identity", DRAWN])
def test_how_many_entries_a_file_has_that_are_not_written_out(form: str) -> None:
    """Those of all its layers together."""
    assert MOST == 3_000_000
    parse(layers_of(form, 3).encode())
    said = error_of(layers_of(form, 4))
    assert "layers[4].attention.W_Q: 500 × 500 is too large; at most 0 entries more" in said


@pytest.mark.parametrize("compressed", [True, False])
def test_an_array_that_is_larger_than_its_file_has_no_more_room(
    compressed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (np.savez_compressed if compressed else np.savez)("a.npz", a=np.zeros((1800, 1800)), b=np.zeros((1500, 1500)))
    Path("f.yaml").write_text(f"{SOFTMAX}{{file: a.npz, name: a}}\n")
    if compressed:
        with pytest.raises(ProblemError, match=r"a.npz: 3240000 entries, but there is room for \d+; save it without"):
            problem.load("f.yaml")
    else:
        assert problem.load("f.yaml").given.x.values.size == 1800**2
    Path("f.yaml").write_text(f"{SOFTMAX}{{file: a.npz, name: b}}\n")
    assert problem.load("f.yaml").given.x.values.size == 1500**2


SPELLINGS = [[name] for name in ("w.csv", "w.npz", "w.npy")] + [["w.csv", "./w.csv", ".//w.csv", "v.csv"]]


@pytest.mark.parametrize("names", SPELLINGS)
def test_a_file_is_read_once_however_often_it_is_named(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whatever name; and each time its entries take room again."""
    monkeypatch.chdir(tmp_path)
    figures = np.ones((100, 100))
    np.savetxt("w.csv", figures, delimiter=",", fmt="%d"), np.savez("w.npz", figures), np.save("w.npy", figures)
    Path("v.csv").symlink_to("w.csv")
    opened: Counter[str] = Counter()
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *rest: opened.update([Path(path).name]) or real(path, *rest))
    x = ", ".join(["1"] * 100)

    def heads(count: int) -> str:
        uses = (f"{{file: {name}}}" for name in cycle(names))
        head = [f"- {{W_Q: {next(uses)}, W_K: {next(uses)}, W_V: {next(uses)}}}" for _ in range(count)]
        return f"H: [[{x}]]\nheads:\n" + "\n".join(head)

    Path("f.yaml").write_text(heads(50))
    assert problem.load("f.yaml").given.heads == 50
    assert opened == {Path(names[0]).name: 1}
    Path("f.yaml").write_text(heads(150))
    with pytest.raises(ProblemError, match=r": used again, but there is room for \d+ entries more; use it less often"):
        problem.load("f.yaml")


def test_a_file_of_many_rows_takes_the_room_of_its_figures(tmp_path: Path) -> None:
    """And not that of a node, with its place, for each: those took 800 bytes a row."""
    rows = 20_000
    (tmp_path / "w.csv").write_text("1\n" * rows)
    read = partial(parse, f"{SOFTMAX}{{file: w.csv}}\n".encode(), "f.yaml", tmp_path)
    read()  # imports, which are none of it
    tracemalloc.start()
    try:
        values = read().given.x.values
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert values.tolist() == [[1.0]] * rows
    assert most < 200 * rows


def test_how_many_matrices_are_drawn() -> None:
    """Those that `draw` names, and, where it names none, those that are written out."""
    named = "H: [[1, 2]]\ndraw: {{{}}}\n"
    with pytest.raises(ProblemError, match=r"f.yaml:2:1: draw: 1001 matrices are too many; at most 1000 of them$"):
        parse(named.format(", ".join(f"W_{k}: integers" for k in range(1001))).encode(), "f.yaml")
    written = "H: [[1]]\nheads:\n" + "- {W_Q: [[1]], W_K: [[1]], W_V: [[1]]}\n" * 333
    assert len(problem.template(written.encode()).draws) == 1000
    with pytest.raises(ProblemError, match=": more than 1000 matrices would be drawn; name in draw: at most 1000"):
        problem.template((written + "- {W_Q: [[1]], W_K: [[1]], W_V: [[1]]}\n").encode())


HUGE = "x" * 100_000
TOO_LONG = {  # texts of a file that a message repeats, or holds another against
    "a vocabulary": f"kind: output\nx: [[1]]\nW: [[1, 1]]\nvocabulary: [a, '{HUGE}']\nshow: {{top: 1}}\ntargets: [b]\n",
    "input": f"kind: decoder\nvocabulary: [a, {HUGE}]\nembedding: [[1], [1]]\ninput: [b]\n",
    "a near word": f"kind: decoder\nvocabulary: [a, {HUGE}A]\nembedding: [[1], [1]]\ninput: [{HUGE}a]\n",
    "a key": f"H: [[1]]\n{HUGE}: 1\n",
    "a kind": f"kind: {HUGE}\n",
    "a choice": f"H: [[1]]\nshow: {{rounding: {HUGE}}}\n",
    "an array": f"H: {{file: w.npz, name: {HUGE}}}\n",
    "a path": f"H: [[1]]\ndraw: {{{HUGE}: integers}}\n",
}


@pytest.mark.parametrize("name", TOO_LONG)
def test_messages_do_not_grow_with_the_texts_that_they_name(name: str) -> None:
    assert len(error_of(TOO_LONG[name])) < 700


def test_messages_do_not_grow_with_the_number_of_steps() -> None:
    heads = "".join("  - {W_Q: [[1]], W_K: [[1]], W_V: [[1]]}\n" for _ in range(100))
    text = f"H: [[1]]\nheads:\n{heads}show: {{decimals: {{none: 2}}}}\n"
    with pytest.raises(ProblemError, match=r"no step is called so; the steps here are H, .* and \d+ more$") as caught:
        solve(parse(text.encode()))
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(("more", "room"), [(0, 8_000_000), (1 << 20, 200_000_000)])
def test_only_what_is_large_itself_has_room_for_the_result_of_very_many_figures(more: int, room: int) -> None:
    text = f"Q: &x [{', '.join(['[1]'] * 1_500)}]\nK: *x\nV: *x\nshow: {{detail: result}}\n#" + "x" * more
    if room > 10 * 1500**2:
        assert solve(parse(text.encode())).result.shape == (1500, 1)
    else:
        with pytest.raises(ProblemError, match=r": 1500 × 1500 figures .* there is room for; give fewer$"):
            solve(parse(text.encode()))


def test_a_slip_well_above_an_error_is_not_blamed_for_it() -> None:
    """The colon that is wrong is on line 9; that without a space, a text on two lines, stands far above it."""
    lines = ["title: a", "kind: softmax", "tokens: [a]", "vocabulary:", "  - a:b", "  - c", "x:", "  - [1, 2]"]
    said = error_of("\n".join([*lines, "temperature: 2: 3", ""]))
    assert said.startswith("f.yaml:9:15: a colon can't stand here"), said


@pytest.mark.parametrize(("text", "said"), [
    ("H: [[1, 2]]\nW_Q: [[1], [2]]\nW_K: [[1, 2], [3, 4]]\nW_V: identity\n", "2 columns (2 × 2), but W_Q has 1 column"),
    ("H: [[1, 2]]\nW_QKV: [[1, 2, 3], [4, 5, 6]]\nW_O: [[1], [2]]\n", "2 rows (2 × 1), but 1 is needed: "),
    ("H: [[1, 2]]\nW_QKV: [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]]\nW_O: [[1]]\n", "1 row (1 × 1), but 2 are needed: "),
])  # fmt: skip
def test_one_is_needed_and_two_are(text: str, said: str) -> None:
    assert said in error_of(text)


@pytest.mark.parametrize("above", range(4))
@pytest.mark.parametrize("column", range(1, 5))
def test_a_bracket_that_is_not_closed_is_told_at_its_own_place(above: int, column: int) -> None:
    text = "# a\n" * above + "title: a\n" + f"x:{' ' * column}[[1, 2],\n\n" + "temperature: 2\n"
    assert error_of(text).startswith(f"f.yaml:{above + 2}:{column + 3}: this [ is not closed")


@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8], ids=["", "BOM"])
@pytest.mark.parametrize("length", range(12))
@pytest.mark.parametrize("above", ["", "a\n", "没有\n\n"])
def test_a_byte_that_is_no_utf_8_is_told_at_its_own_place(bom: bytes, length: int, above: str) -> None:
    with pytest.raises(ProblemError) as caught:
        decode(bom + above.encode() + b"x" * length + b"\xff\n", "f")
    assert (caught.value.line, caught.value.column) == (above.count("\n") + 1, length + 1)


LAST = {  # of a kind of figures: what may stand there at most and at least, and what may not
    "probabilities": ("kind: loss\nprobabilities: {}\ntargets: [0]\n", ["[[0, 1]]", "[[1, 0]]", "[[0.5, 0.5]]"],
                      ["[[-0.5, 1.5]]", "[[1.5, -0.5]]", "[[-0.001, 1]]", "[[1.001, 0]]"]),
    "weights": ("A: {}\nV: [[1], [2]]\n", ["[[0, 1]]", "[[0, 7]]"], ["[[-0.001, 1]]", "[[-1, 2]]"]),
}  # fmt: skip


@pytest.mark.parametrize("name", LAST)
def test_figures_that_are_bounded(name: str, tmp_path: Path) -> None:
    """Written out, and of a file."""
    text, may, may_not = LAST[name]
    for each in (*may, *may_not):
        np.save(tmp_path / "M.npy", json.loads(each))
        for said in (each, "{file: M.npy}"):
            if each in may:
                parse(text.format(said).encode(), "f", tmp_path)
            else:
                with pytest.raises(ProblemError):
                    parse(text.format(said).encode(), "f", tmp_path)


def test_weights_are_not_drawn_below_0() -> None:
    text = "A: {{random: integers, from: {}, to: 2, rows: 1, columns: 2, seed: 1}}\nV: [[1], [2]]\n"
    assert parse(text.format(0).encode())
    with pytest.raises(ProblemError):
        parse(text.format(-1).encode())


@pytest.mark.parametrize("start", [b"\x00", b"\x92NUMPY", b"\x93NUMPX", b"\x93NUMPZ", b"\x94NUMPY", b"\xff" * 6])
def test_what_does_not_start_as_an_array_is_none(start: bytes, tmp_path: Path) -> None:
    np.save(tmp_path / "M.npy", [[1.0]])
    data = (tmp_path / "M.npy").read_bytes()
    (tmp_path / "M.npy").write_bytes(start + data[len(start) :])
    with pytest.raises(ProblemError, match="not an array of NumPy"):
        parse(b"kind: softmax\nx: {file: M.npy}\n", "f", tmp_path)


@pytest.mark.parametrize(("text", "said"), [
    ("", "f.yaml:1:1: expected a mapping at top level; the file is empty"),
    ("\n", "f.yaml:1:1: expected a mapping at top level; the file is empty"),
    ("# nothing\n", "f.yaml:1:1: expected a mapping at top level; the file is empty"),
    ("---\n", "f.yaml:2:1: expected a mapping at top level; write lines like "),
    ("--- # nothing\n...\n", "f.yaml:2:1: expected a mapping at top level; write lines like "),
])  # fmt: skip
def test_an_empty_file_is_told(text: str, said: str) -> None:
    assert error_of(text).startswith(said)


def test_a_document_may_be_marked_as_such() -> None:
    assert solve(parse(f"---\n{SOFTMAX}[[1, 2]]\n...\n".encode())).result.values.shape == (1, 2)
    assert "found a second document at line 4" in error_of(f"---\n{SOFTMAX}[[1, 2]]\n---\nx: 1\n")


LAYERS = """kind: decoder
vocabulary: [a, b]
embedding: [[1, 2], [2, 1]]
layers:
  - {attention: {heads: 2, W_Q: identity, W_K: identity, W_V: identity}, norm: {place: pre}, repeat: 200}
output: tied
generate: {from: [a], steps: 100}
"""
EXPERT = "{W_1: identity, W_2: identity}"
EXPERTS = f"""kind: experts
x: {[[1, 2]] * 300}
router: {[list(range(100))] * 2}
experts: [{", ".join([EXPERT] * 100)}]
top_k: 100
"""


@pytest.mark.parametrize("detail", ["full", "result"])
@pytest.mark.parametrize("text", [LAYERS, EXPERTS], ids=["layers", "experts"])
def test_many_small_steps_of_a_small_file_are_refused(text: str, detail: str) -> None:
    """Each is of few figures; all of them took a gigabyte."""
    with pytest.raises(ProblemError, match=r": more than 10000 steps are more than there is room for; give fewer"):
        solve(parse(text.encode()).with_show(detail=detail))


def test_generation_that_has_no_room_is_refused_when_one_step_of_it_is_known() -> None:
    """Where nothing may stop it before all its steps are taken."""
    text = LAYERS.replace("repeat: 200", "repeat: 2").replace("steps: 100", "steps: 1000")
    for stop, most in ((False, 200), (True, 10_001)):
        said: list[str] = []
        problem = parse((text.replace("steps: 1000", "steps: 1000, stop: b") if stop else text).encode())
        with pytest.raises(ProblemError, match=": more than 10000 steps are more than there is room for"):
            solve(problem, said.append)
        assert len(said) <= most


def test_labels_that_would_fill_books_are_refused(tmp_path: Path) -> None:
    """However few figures they stand beside."""
    labels, rows = [f"{k}{'x' * 20_000}" for k in range(40)], [[k] for k in range(40)]
    file = tmp_path / "p.yaml"
    file.write_text(f"tokens: {labels}\nQ: &x {rows}\nK: *x\nV: *x\n")
    solution = solve(problem.load(str(file)))
    with pytest.raises(UsageError, match=r"labels of \d+ letters, .* are more than there is room for; give shorter"):
        lay_out(solution, Show(), "en", kind="attention")
    assert lay_out(solution, Show(), "en", kind="attention", only=[solution.steps["O"]])


def test_what_many_heads_say_of_sizes_is_learnt_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As nothing new follows from the second head, or from what is fitted to the first."""
    told: list[str] = []
    followed = fitting.cut_in_three
    monkeypatch.setattr(fitting, "cut_in_three", lambda sizes, **rest: told.append("") or followed(sizes, **rest))
    heads = ", ".join(["{W_Q: identity, W_K: identity, W_V: [[1], [2]]}"] * 500)
    assert parse(f"H: [[1, 2]]\nheads: [{heads}]\n".encode())
    assert len(told) < 50


HEADS = ", ".join(["{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}"] * 700)
UNREAD = {
    "tall": f"{SOFTMAX}{[[1]] * 50_000}\n",
    "wide": f"{SOFTMAX}{[[1] * 50_000]}\n",
    "many": f"H: [[1]]\nheads: [{HEADS}]\n",
}


@pytest.mark.parametrize("name", UNREAD)
@pytest.mark.parametrize("format", ["html", "terminal", "json"])
def test_a_page_that_nobody_reads_is_refused_by_its_sizes(name: str, format: str) -> None:
    """Of matrices with many rows or columns, of many that are small; not its result alone."""
    read = parse(UNREAD[name].encode()).with_show(detail="matrices")
    solution = solve(read)
    shown = partial(pieces, read, solution, format=format, lang="en")
    if format == "json":
        assert next(shown())
    else:
        with pytest.raises(UsageError, match=r"a page as long as one of \d+ figures is more than there is room for"):
            next(shown())
    assert next(shown(only=[solution.result]))


def test_names_of_many_columns_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    monkeypatch.setattr(page, "Counter", lambda labels: counted.append(len(labels)) or Counter(labels))
    words = [f"w{k}" for k in range(500)]
    read = parse(f"{SOFTMAX}{[[k % 5 for k in range(500)]]}\nvocabulary: {words}\nshow: {{detail: full}}\n".encode())
    assert lay_out(solve(read), read.show, "en", kind="softmax") and counted == [501]


def test_heads_hold_no_cells_of_others() -> None:
    """As those of each would be all of a wide matrix."""
    rows = [list(range(64))] * 4
    solution = solve(parse(f"Q: {rows}\nK: {rows}\nV: {rows}\nheads: 64\n".encode()))
    for step in solution.steps.values():
        if isinstance(step, Arrange):
            assert step.numbers.base is None and step.numbers.size == step.values.size


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_sheet_that_nobody_fills_in_is_refused(level: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(f"Q: &x {[[k] for k in range(320)]}\nK: *x\nV: *x\n")
    assert main(["exercise", str(file), "--level", str(level)]) == 2
    assert "figures to fill in are more than there is room for; ask for some of them, --blank" in capfd.readouterr().err
    assert main(["exercise", str(file), "--blank", "A[1,*]"]) == 0


def test_the_figures_of_all_problems_of_a_sheet_count(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "p.yaml")
    Path(file).write_text(f"Q: &x {[[k] for k in range(220)]}\nK: *x\nV: *x\n")
    assert main(["exercise", file, file, "--level", "1"]) == 2
    assert "97440 figures to fill in are more than there is room for" in capfd.readouterr().err
    assert main(["exercise", file, "--level", "1"]) == 0


def test_sums_that_are_not_written_out_take_no_room() -> None:
    """Of the probabilities so far, where there are many words: 520 × 520 figures, were each written."""
    words = [[k % 7 for k in range(520)]]
    read = parse(f"kind: output\nx: [[1]]\nW: {words}\ntop_p: 0.9\nshow: {{detail: full}}\n".encode())
    solution = solve(read)
    assert any(step.role == "cumulative" for step in solution.steps.values())
    assert lay_out(solution, read.show, "en", kind=read.kind)
