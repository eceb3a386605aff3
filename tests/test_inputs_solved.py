"""Problem files that break tools of this kind, solved and rendered: figures, warnings, tokens, columns."""

from __future__ import annotations

import html
import json
import re
from itertools import pairwise
from typing import NamedTuple

import pytest

from attncalc import formats
from attncalc.cli import main
from attncalc.digits import shown
from attncalc.errors import ProblemError
from attncalc.layout import lay_out
from attncalc.marking import mark_answers
from attncalc.marking.answers import read_answers
from attncalc.mechanisms import solve
from attncalc.problem import parse

I2, I4 = "[[1, 0], [0, 1]]", "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]"
W1, W2, W4 = (f"W_Q: {of}\nW_K: {of}\nW_V: {of}\n" for of in ("[[1]]", I2, I4))
CATS = f"tokens: [I, like, cats]\nH: [[1, 0], [0, 1], [1, 1]]\n{W2}d_k: 2\n"
TEN = "[[-1, 0], [0, 1], [1, 0], [-1, 1], [0, 0], [1, 1], [-1, 0], [0, 1], [1, 0], [-1, 1]]"

CAUSAL_A = "1 0 0 | .3302 .6698 0 | .2483 .2483 .5035"
CONTROL_A = ".4011 .1978 .4011 | .1978 .4011 .4011 | .2483 .2483 .5035"
CROSS = (
    "tokens: [a, b]\nH: [[1, 0], [0, 1]]\n"
    f"memory: {{tokens: [p, q, r, s, t], H: [[1, 0], [0, 1], [1, 1], [2, 0], [0, 2]]}}\n{W2}"
)
HEADS = f"tokens: [a, b, c]\nH: [[1, 0, 2, 0], [0, 1, 0, 2], [1, 1, 0, 0]]\n{W4}"


class Case(NamedTuple):
    text: str
    figures: dict[str, str]  # by step id: rows between bars, to the decimals that are written
    says: tuple[str, ...] = ()  # what stands on the page
    never: tuple[str, ...] = ()  # what does not


CASES = {
    "control": Case(CATS, {"A": CONTROL_A, "O": ".8022 .5989 | .5989 .8022 | .7517 .7517"}),
    "minus infinity in two spellings": Case(
        f"{CATS}mask:\n  - [0, -inf, -inf]\n  - [0, 0, -.inf]\n  - [0, 0, 0]\n", {"A": CAUSAL_A}
    ),
    "left padding under a causal mask": Case(
        f'tokens: ["<pad>", "<pad>", I, am]\nH: [[9, 9], [9, 9], [1, 0], [1, 1]]\n{W2}mask: causal\n'
        "padding: [0, 0, 1, 1]\n",
        {"A": "0 0 0 0 | 0 0 0 0 | 0 0 1 0 | 0 0 .3302 .6698", "O": "0 0 | 0 0 | 1 0 | 1.0000 .6698",
         "exp": "0 0 0 0 | 0 0 0 0 | 0 0 2.0281 0 | 0 0 2.0281 4.1133"},
        ("<pad> (1) sees nothing", "<pad> (2) sees nothing"),
        ("I sees nothing", "am sees nothing"),
    ),
    "-1e9 on a whole row": Case(
        f"{CATS}mask: {{add: [[0, 0, 0], [-1e9, -1e9, -1e9], [0, 0, 0]]}}\n",
        {"A": ".4011 .1978 .4011 | 0 0 0 | .2483 .2483 .5035"},
        ("-1e9 in the mask is read as -∞", "like sees nothing"),
    ),
    "a padded key": Case(
        f'tokens: [I, like, "<pad>"]\nH: [[1, 0], [0, 1], [1, 1]]\n{W2}padding: [1, 1, 0]\n',
        {"A": ".6698 .3302 0 | .3302 .6698 0 | .5 .5 0"},
        ("padding is hidden from every query",),
        ("sees nothing",),
    ),
    "causal over a memory, from its start": Case(
        f"{CROSS}mask: {{causal: yes, align: start}}\n", {"A": "1 0 0 0 0 | .3302 .6698 0 0 0"}
    ),
    "causal over a memory, to its end": Case(
        f"{CROSS}mask: {{causal: yes, align: end}}\n",
        {"A": ".2212 .1091 .2212 .4486 0 | .0983 .1994 .1994 .0983 .4045"},
    ),
    "two heads": Case(
        f"{HEADS}heads: 2\n",
        {"head1.Q": "1 0 | 0 1 | 1 1", "head2.Q": "2 0 | 0 2 | 0 0", "head1.A": CONTROL_A},
    ),
    "heads in quotes": Case(f'{HEADS}heads: "2"\n', {"head1.V": "1 0 | 0 1 | 1 1"}),
    "four heads on two": Case(
        f"tokens: [a, b]\nH: [[1, 2, 3, 4], [4, 3, 2, 1]]\nW_Q: {I4}\nW_K: [[1, 0], [0, 1], [0, 0], [0, 0]]\n"
        "W_V: [[1, 0], [0, 0], [0, 1], [0, 0]]\nheads: 4\nkv_heads: 2\nd_k: 1\n",
        {"head1.K": "1 | 4", "head2.K": "1 | 4", "head3.K": "2 | 3", "head4.K": "2 | 3", "head2.V": "1 | 4",
         "head3.V": "3 | 2"},
        ("query heads 1 and 2 use key/value head 1; query heads 3 and 4 use key/value head 2",),
    ),
    "scores too large for e^x": Case(
        f"tokens: [a, b]\nH: [[100, 0], [0, 100]]\n{W2}", {"A": "1.0 0.0 | 0.0 1.0", "row_max": "7071.068 | 7071.068"}
    ),
    "nothing but zeros": Case(
        "tokens: [a, b, c]\nH: [[0, 0], [0, 0], [0, 0]]\nW_Q: [[-1, 0], [0, -1]]\n"
        f"W_K: {I2}\nW_V: [[-1, 0], [0, -1]]\n",
        {"A": ".3333 .3333 .3333 | .3333 .3333 .3333 | .3333 .3333 .3333", "O": "0 0 | 0 0 | 0 0"},
    ),
    "a tie, half up": Case(
        "tokens: [a]\nH: [[0.5]]\nW_Q: [[1]]\nW_K: [[1]]\nW_V: [[0.25]]\nshow: {decimals: 2}\n",
        {"O": "0.13"}, ("rounded (half up, to 2 decimals)",),
    ),
    "a tie, half even": Case(
        "tokens: [a]\nH: [[0.5]]\nW_Q: [[1]]\nW_K: [[1]]\nW_V: [[0.25]]\nshow: {decimals: 2, ties: half-even}\n",
        {"O": "0.125"}, ("half to even",),
    ),
    "ties that float64 does not hold": Case(
        "tokens: [a]\nH: [[1]]\nW_Q: [[1]]\nW_K: [[1]]\nW_V: [[0.425, 2.675]]\nshow: {decimals: 2}\n",
        {"O": "0.43 2.68"},
    ),
    "a row that prints as 0.99": Case(
        f"tokens: [a, b, c]\nH: [[1, 0], [1, 0], [1, 0]]\n{W2}show: {{decimals: 2}}\n",
        {"A": ".33 .33 .33 | .33 .33 .33 | .33 .33 .33"},
        ("the printed weights add up to 0.99, the unrounded ones to 1",),
    ),
    "a row that prints as 1.01": Case(
        "tokens: [a, b, c]\nH: [[1, -0.5], [1, 0.7], [1, 0.8]]\nW_Q: [[1], [0]]\nW_K: [[0], [1]]\nW_V: [[1], [0]]\n"
        "show: {decimals: 2}\n",
        {"S": "-0.5 0.7 0.8 | -0.5 0.7 0.8 | -0.5 0.7 0.8", "A": ".13 .42 .46 | .13 .42 .46 | .13 .42 .46"},
        ("the printed weights add up to 1.01, the unrounded ones to 1",),
    ),
    "weights too small to print": Case(
        f"tokens: [a, b]\nH: [[4, 0], [0, 4]]\n{W2}", {"A": "1.0000 .0000122 | .0000122 1.0000"},
        ("⎡ 1.000  0.000 ⎤",),
    ),
    "hidden weights": Case(
        f"tokens: [a, b]\nH: [[4, 0], [0, 4]]\n{W2}mask: causal\n", {"A": "1 0 | .0000122 1.0000"},
        ("⎡ 1.000  0     ⎤", "⎣ 0.000  1.000 ⎦"),
    ),
}  # fmt: skip

# Labels of the rows that have lost their meaning elsewhere, and how each is written in text and Markdown.
TOKENS = {
    "punctuation": ["*", "@", "%", "#", ":", "[CLS]", "<s>", "|", "$", "_"],
    "more punctuation": ["&", "{}", "\\", "~", "^", '"', "'", "`", "<!-- -->", "--"],
    "words of markup": ["[bold]", "[/]", "[/INST]", "[sep]", "[CLS]", "[red]x", "[#x]", "\\[", "[link=x]y[/]", "{}"],
    "names of emoji": [":smile:", ":x:", ":-)", "(c)", "\\n", "%s", "%", "{0}", "$x$", "__b__"],
    "tags": ["<s>", "</s>", "<pad>", "<unk>", "<script>alert(1)</script>", "&lt;", "<b", "x>", "<br>", "&amp;"],
    "underscores": ["a_1", "b_2", "_x_", "__", "a__b", "x^2", "\\alpha", "a\\_b", "_", "W_Q"],
    "words of YAML": ["null", "~", "None", "none", "no", "off", "007", "1_000", "2024-01-01", "1.50"],
    "line ends": ["a\nb", "c\td", " e ", "\r", "\u2028", "\x7f", "f\x0bg", "\u202eh", "\u200b", "i"],
    "a long one": ["x" * 300, "b", "c", "d", "e", "f", "g", "h", "i", "j"],
}
ESCAPED = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\u2028": r"\u2028", "\x7f": r"\x7f", "\x0b": r"\x0b",
           "\u202e": r"\u202e", "\u200b": r"\u200b"}  # fmt: skip
# How many columns a terminal gives each.
WIDTHS = {"我": 2, "猫猫": 4, "Ａ": 2, "🙂": 2, "👩‍💻": 2, "e\u0301": 1, "①": 1, "〃": 2, "ｶﾅ": 2, "é": 1}


def rendered(text):
    """(the solution, the rule, the page by format)."""
    problem = parse(text.encode())
    solution = solve(problem)
    document = lay_out(solution, problem.show, "en", title=problem.title, kind=problem.kind)
    pages = {name: formats.render(name, document, math="github") for name in ("text", "markdown")}
    pages["json"] = formats.render("json", solution, problem.show.rule)
    return solution, problem.show.rule, pages


def labelled(tokens, *, escapes=True):
    return f"tokens: {json.dumps(tokens, ensure_ascii=escapes)}\nH: {TEN}\n{W2}"


def check_clean(pages):
    """No figure that is none, no minus zero, no control character but the end of a line."""
    for name, page in pages.items():
        plain = re.sub(r'"(?:[^"\\]|\\.)*"', lambda found: found[0] if is_figure(found[0][1:-1]) else '""', page)
        page = plain if name == "json" else page
        assert not re.search(r"(?<![\w.])[-−]?nan(?!\w)", page, re.IGNORECASE), name
        assert not re.search(r"(?<![\w.])[-−]?inf(?:inity)?(?![\w}])", page.replace('"-inf"', ""), re.IGNORECASE), name
        assert not re.search(r"[-−]0(?:\.0*)?(?![.\d])", re.sub(r"\d-0\d", "", page)), name
        assert all(char.isprintable() or char == "\n" for char in page.replace("\u200d", "")), name


def is_figure(text):
    return bool(re.fullmatch(r"[-−]?[\d.]+|[-−]?(nan|inf)", text, re.IGNORECASE))


def check_lined_up(page, widths):
    """Each bracket of a matrix stands under the one above it, by the columns that a terminal gives. Returns how many
    there are."""
    lines = []
    for line in page.splitlines():
        for label, width in widths.items():
            line = line.replace(label, "~" * width)
        lines.append(line)
    matrices = 0
    for above, line in pairwise(lines):
        for first, middle, last in ("⎡⎢⎣", "⎤⎥⎦"):
            ends = {found.start() for found in re.finditer(f"[{middle}{last}]", line)}
            assert ends == {found.start() for found in re.finditer(f"[{first}{middle}]", above)}, (above, line)
            matrices += line.count(last)
    return matrices


@pytest.mark.parametrize("name", CASES)
def test_solved_as_it_should_be(name):
    case = CASES[name]
    solution, rule, pages = rendered(case.text)
    for id, figures in case.figures.items():
        expected = [row.split() for row in figures.split("|")]
        step = solution.steps[id]
        assert step.shape == (len(expected), len(expected[0]))
        for i, row in enumerate(expected):
            for j, text in enumerate(row):
                half = 0.5000001 * 10.0 ** -len(text.partition(".")[2])
                exact = "." not in text  # a bare figure is one that is hidden, or that is exact
                assert abs(step.values[i, j] - float(text)) <= (1e-12 if exact else half), (id, i, j)
    for words in case.says:
        assert words in pages["text"]
    for words in case.never:
        assert words not in pages["text"]
    check_clean(pages)
    assert check_lined_up(pages["text"], {}) or "⎡" not in pages["text"]
    steps = {step["id"]: step["shown"] for step in json.loads(pages["json"])["steps"]}
    assert steps == {id: shown(step, rule).tolist() for id, step in solution.steps.items()}


PRINTED = {
    "a tie, half up": ("O", [["0.13"]]),
    "a tie, half even": ("O", [["0.12"]]),
    "ties that float64 does not hold": ("O", [["0.43", "2.68"]]),
    "a row that prints as 0.99": ("A", [["0.33"] * 3] * 3),
    "a row that prints as 1.01": ("A", [["0.13", "0.42", "0.46"]] * 3),
    "weights too small to print": ("A", [["1.000", "0.000"], ["0.000", "1.000"]]),
    "hidden weights": ("A", [["1.000", "0"], ["0.000", "1.000"]]),
    "nothing but zeros": ("O", [["0", "0"]] * 3),
    "-1e9 on a whole row": ("A", [["0.401", "0.198", "0.401"], ["0", "0", "0"], ["0.248", "0.248", "0.503"]]),
}


@pytest.mark.parametrize("name", PRINTED)
def test_the_digits_that_are_printed(name):
    id, figures = PRINTED[name]
    _, _, pages = rendered(CASES[name].text)
    assert {step["id"]: step["shown"] for step in json.loads(pages["json"])["steps"]}[id] == figures
    drawn = [row.split() for row in re.findall(r"[⎡⎢⎣\[] ( *\S.*?) [⎤⎥⎦\]]", pages["text"])]
    assert all(row in drawn for row in figures)


def other_pages(text, columns=400):
    """The pages that `rendered` leaves out, without their markup, by format."""
    problem = parse(text.encode())
    document = lay_out(solve(problem), problem.show, "en", title=problem.title, kind=problem.kind)
    pages = {name: formats.render(name, document) for name in ("markdown", "latex", "html")}
    coloured = formats.render("terminal", document, columns=columns, terminal=True)
    return {
        "terminal": re.sub(r"\x1b\[[\d;]*m", "", coloured),
        "markdown": pages["markdown"],
        "latex": re.sub(r"\\attnshade\{\d+\}", "", pages["latex"]),
        "html": html.unescape(re.sub(r"<[^>]*>", " ", pages["html"].partition("<body")[2])),
    }


@pytest.mark.parametrize("name", PRINTED)
def test_every_format_prints_the_same_digits(name):
    _, figures = PRINTED[name]
    for format, page in other_pages(CASES[name].text).items():
        words = " ".join(re.sub(r"[&⎡⎢⎣⎤⎥⎦]", " ", page).split())
        assert all(" ".join(row) in words for row in figures), format


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        (f"{CATS}mask:\n  - [true, false, false]\n  - [true, true, false]\n  - [true, true, true]\n", "mask",
         ("keep", "hide", "add")),
        (f"{CATS}mask: [[1, 0, 0], [1, 1, 0], [1, 1, 1]]\n", "mask", ("keep", "hide", "add")),
        (f"{CROSS}mask: causal\n", "mask", ("align: start", "align: end", "past")),
        (f"{HEADS}heads: 0\n", "heads", ("0 is not a whole number",)),
        (f"{HEADS}heads: 2.0\n", "heads", ("2.0 is not written in digits alone", "write 2")),
        (f"{HEADS}heads: 3\n", "heads", ("3 does not divide",)),
        (f"{HEADS}heads: 8\n", "heads", ("8 does not divide",)),
        (f"{CATS}mask: {{add: [[-inf, 0, 0], [-1e9, -inf, -1e9], [0, 0, 0]]}}\nmasked_row: error\n", "mask[2]",
         ("sees nothing",)),
    ],
)  # fmt: skip
def test_refused_with_a_way_out(text, path, words):
    with pytest.raises(ProblemError) as caught:
        rendered(text)
    assert caught.value.path == path and caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words)


def test_the_two_readings_of_a_mask_of_true_and_false():
    rows = "[[true, false, false], [true, true, false], [true, true, true]]"
    for key, weights in {"keep": CAUSAL_A, "hide": "0 .3302 .6698 | 0 0 1 | 0 0 0"}.items():
        solution, _, _ = rendered(f"{CATS}mask: {{{key}: {rows}}}\n")
        expected = [[float(text) for text in row.split()] for row in weights.split("|")]
        assert abs(solution.steps["A"].values - expected).max() < 0.00005


def escaped(token):
    """As it is seen: a sign that would move the cursor or not be seen as an escape, and a blank token in quotes."""
    text = "".join(ESCAPED.get(char, char) for char in token)
    return text if token.strip() else f'"{text}"'


def unescaped_markdown(text):
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


@pytest.mark.parametrize("name", TOKENS)
def test_tokens_are_seen_as_they_were_written(name):
    tokens = TOKENS[name]
    _, _, pages = rendered(labelled(tokens))
    check_clean(pages)
    assert check_lined_up(pages["text"], {}) > 20
    seen = list(map(escaped, tokens))
    in_text = re.findall(r"^    query \d+ \((.*)\) +\[-?\d, -?\d\]·W_Q", pages["text"], re.MULTILINE)
    assert in_text == seen
    beside_rows = re.findall(r"[⎤⎥⎦] (.*)$", pages["text"], re.MULTILINE)
    assert {text.strip() for text in seen} <= {text.strip() for text in beside_rows}
    in_markdown = re.findall(r"^- query \d+ \((.*)\): ", pages["markdown"], re.MULTILINE)
    assert list(map(unescaped_markdown, in_markdown)) == seen
    steps = {step["id"]: step for step in json.loads(pages["json"])["steps"]}
    assert steps["A"]["rows"] == steps["A"]["columns"] == tokens
    assert all(len(step["shown"]) == len(step["values"]) for step in steps.values())
    assert not re.search(r"(?<!\\)<[a-z/!]", re.sub(r"\$`.*?`\$|```.*?```", "", pages["markdown"], flags=re.DOTALL))


@pytest.mark.parametrize("name", TOKENS)
def test_no_token_is_taken_for_markup_on_a_terminal_or_in_a_browser(name):
    pages = other_pages(labelled(TOKENS[name]))
    seen = list(map(escaped, TOKENS[name]))
    on_terminal = re.findall(r"^    query \d+ \((.*)\)  +\[-?\d, -?\d\]·W_Q", pages["terminal"], re.MULTILINE)
    assert on_terminal == seen
    in_browser = re.findall(r"query \d+ \( (.*?) \)  +\[", pages["html"])
    assert in_browser == seen


@pytest.mark.parametrize("name", ["text", "terminal"])
def test_a_long_token_stays_whole_and_pushes_no_figures_of_other_rows_off(name):
    long, row = "x" * 300, "    query 2 (b)  [0, 1]·W_Q = [0, 1]"

    def page(token):
        problem = parse(f"tokens: [{token}, b]\nH: {I2}\n{W2}".encode())
        return formats.render(name, lay_out(solve(problem), problem.show, "en", kind=problem.kind), columns=80)

    lines, short = page(long).splitlines(), page("abc").splitlines()
    assert {len(x) for line in lines for x in re.findall("xx+", line)} == {300}
    assert all(len(line) <= 100 for line in lines if long not in line)
    assert row in lines and row.replace("(b)  ", "(b)    ") in short
    tops, short_tops = ({found for line in each for found in re.findall(r"⎡ [^⎡]* ⎤", line)} for each in (lines, short))
    assert tops == short_tops  # no matrix is split into columns


@pytest.mark.parametrize("columns", [40, 80])
def test_no_joined_letter_is_split_where_a_terminal_folds(columns):
    page = other_pages(labelled(list(WIDTHS), escapes=False), columns)["terminal"]
    assert check_lined_up(page, WIDTHS) > 20
    assert page.count("👩") == page.count("💻") == page.count("👩‍💻") > 10
    assert page.count("\u0301") == page.count("e\u0301") > 10


@pytest.mark.parametrize("name", TOKENS)
def test_markup_in_math_is_closed(name):
    """Within formulas no tag, and as many brackets open as close."""
    _, _, pages = rendered(labelled(TOKENS[name]))
    for formula in re.findall(r"```math\n(.*?)```", pages["markdown"], re.DOTALL):
        assert not re.search(r"<[a-z/!]", formula, re.IGNORECASE)
        bare = re.sub(r"\\[{}\\]", "", formula)
        assert bare.count("{") == bare.count("}")
        assert not re.search(r"(?<!\\)[#%$]", re.sub(r"\\\\", "", formula))


@pytest.mark.parametrize("name", [*TOKENS, *CASES])
def test_all_maths_of_github_stands_where_markdown_is_not_read(name):
    """In a fenced block or in $`..`$, where no _ of W_Q is emphasis and no \\\\ an escape."""
    _, _, pages = rendered(labelled(TOKENS[name]) if name in TOKENS else CASES[name].text)
    prose = re.sub(r"^ *```math\n.*?^ *```$|\$`.*?`\$", "", pages["markdown"], flags=re.DOTALL | re.MULTILINE)
    assert "```math\n" in pages["markdown"] and not re.search(r"(?<!\\)(?:\\\\)*[_$`]", prose)


@pytest.mark.parametrize("name", CASES)
def test_each_makes_a_sheet_and_its_key(name, tmp_path, capfd):
    file = tmp_path / "p.yaml"
    file.write_text(CASES[name].text, encoding="utf-8")
    for more in ([], ["--key"]):
        assert main(["exercise", str(file), *more]) == 0
        out, err = capfd.readouterr()
        assert out.startswith("# ") and not err
        check_clean({"markdown": out})


def test_wide_and_joined_letters_line_up():
    _, _, pages = rendered(labelled(list(WIDTHS), escapes=False))
    assert check_lined_up(pages["text"], WIDTHS) > 20
    assert all(pages["text"].count(token) > 10 for token in WIDTHS)
    # Figures begin in one column after labels of different widths.
    lines = re.findall(r"^    query \d+ \(.*\) +\[.*$", pages["text"], re.MULTILINE)
    starts = set()
    for line in lines:
        for label, width in WIDTHS.items():
            line = line.replace(label, "~" * width)
        starts.add(line.index("["))
    assert len(lines) == 10 and len(starts) == 1


def test_columns_of_labels_stand_over_their_figures():
    _, _, pages = rendered(f'tokens: [我, 猫猫, "Ａ"]\nH: [[1, 0], [0, 1], [1, 1]]\n{W2}')
    lines = pages["text"].splitlines()
    first = next(k for k, line in enumerate(lines) if line.endswith("⎡ 0.401  0.198  0.401 ⎤ 我"))
    labels, row = lines[first - 1], lines[first]
    for label, width in {"我": 2, "猫猫": 4, "Ａ": 2}.items():
        labels = labels.replace(label, "~" * width)
    spans = [found.span() for found in re.finditer("~+", labels)]
    cells = [found.span() for found in re.finditer(r"0\.\d+", row)]
    assert len(spans) == len(cells) == 3
    for (start, end), (left, right) in zip(spans, cells, strict=True):
        assert left <= start and end <= right
    assert lines[first + 1].endswith("⎥ 猫猫") and lines[first + 2].endswith("⎦ Ａ")


def test_the_checks_can_fail():
    for page in ("x = -0.000", "[0.5, -0]", "NaN", "a\tb", "-inf"):
        with pytest.raises(AssertionError):
            check_clean({"text": page})
    check_clean({"text": "-0.052 + (-0.5) and -∞ of Nancy"})
    good = "\n".join(["⎡ 我 ⎤", "⎢ 1  ⎥", "⎣ 2  ⎦", ""] * 12)
    assert check_lined_up(good, {"我": 2}) == 24
    with pytest.raises(AssertionError):
        check_lined_up(good, {"我": 1})


# What else files of this kind ask for: keys that YAML takes for true and false, variants of a law by name, answers


def test_words_that_yaml_takes_for_false_are_keys_of_their_own():
    text = f"input: [no, off, I]\nembedding:\n  no: [1, 0]\n  off: [0, 1]\n  I: [1, 1]\n{W2}"
    solution, _, pages = rendered(text)
    assert solution.steps["H"].values.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert json.loads(pages["json"])["steps"][0]["rows"] == ["no", "off", "I"]


@pytest.mark.parametrize(
    ("text", "id", "figures", "says"),
    [
        ("kind: layer-norm\nx: [[1, 0, 0, 0], [2, 2, 2, 2]]\neps: 1e-5\n", "normalised",
         [[1.732, -0.5773, -0.5773, -0.5773], [0] * 4], "mean of the squared deviations"),
        ("kind: layer-norm\nx: [[1, 0, 0, 0], [2, 2, 2, 2]]\nvariance: unbiased\neps_in: outside\n", "normalised",
         [[1.5, -0.5, -0.5, -0.5], [0] * 4], "by d - 1"),
        ("kind: feed-forward\nx: [[2.0, -2.3]]\nW_1: identity\nW_2: identity\nactivation: gelu\n", "output",
         [[1.954500, -0.024665]], "erf"),
        ("kind: feed-forward\nx: [[2.0, -2.3]]\nW_1: identity\nW_2: identity\nactivation: gelu-tanh\n", "output",
         [[1.954598, -0.024327]], "tanh"),
        ("kind: rotary\nx: [[1, 2, 3, 4], [1, 2, 3, 4]]\npairs: adjacent\n", "rotated",
         [[1, 2, 3, 4], [-1.1426, 1.9221, 2.9599, 4.0298]], "adjacent pairs"),
        ("kind: positions\nlength: 2\nwidth: 4\n", "positions", [[0, 1, 0, 1], [0.8415, 0.5403, 0.01, 1.0]], "sine"),
    ],
    ids=["biased", "unbiased", "gelu", "gelu-tanh", "adjacent", "interleaved"],
)  # fmt: skip
def test_the_variant_of_a_law_is_worked_and_named(text, id, figures, says):
    solution, _, pages = rendered(text)
    assert abs(solution.steps[id].values - figures).max() < 6e-5
    assert says in pages["text"]


def test_answers_with_full_width_digits_and_figures_that_are_none():
    solution, *_ = rendered(CATS)
    data = 'O: [["0.8022", "０.5989"], ["0,5989", " 0.8022 "], ["nan", "0.7_517"]]\n'.encode()
    figures = read_answers(data, "answers.yaml", solution).figures["O"]
    whys = [[figure.why for figure in row] for row in figures]
    assert whys == [["", ""], ["decimal_comma", ""], ["not_finite", "underscore"]]
    assert [(figure.line, figure.column) for figure in figures[1]] == [(1, 28), (1, 38)]
    marking = mark_answers(parse(CATS.encode()), solution, read_answers(data, "answers.yaml", solution))
    assert marking.counts["correct"] == 3 and marking.counts["invalid"] == 3 and not marking.is_right
