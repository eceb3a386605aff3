"""The words of every language: the same keys, the same parts, no key that is missing or never used, and pages that
differ in words alone. Which language a page is in."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reports
import sheets
import yaml
from hypothesis import given
from random_problems import cases

from attncalc import formats, mechanisms, problem, wording
from attncalc.blocks import Beside, Block, Document, Formula, Items, Math, Prose, Section, Table, Token, Work
from attncalc.cli.output import language, pieces, screen
from attncalc.layout import lay_out
from attncalc.marking import template as blanks
from attncalc.problem import Mask, Problem, Show
from attncalc.problem.mask_table import MaskTable
from attncalc.steps import Matrix
from attncalc.wording import Wording

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "attncalc" / "wording").glob("*.yaml"))
LANGUAGES = [path.stem for path in FILES]

# What the shipped problems have no need to say.
BOTH = "{H: [[1]], layers: [{feed_forward: {W_1: identity, W_2: identity}}]}"
SMALL = "kind: decoder\nvocabulary: [a, b]\nembedding: [[1, 0], [0, 1]]\noutput: tied\n"
RARE = {
    "no tokens": "H: [[1, 0], [0.3, 1]]\nW_Q: identity\nW_K: identity\nW_V: [[1, 2], [2, 1]]\nb_K: [1, 0.5]\n",
    "additive": "Q: [[1]]\nK: [[1]]\nscores: additive\n",
    "no V": "Q: [[1, 0.3]]\nK: [[0.2, 1], [1, 1]]\nscale: 1.5\n",
    "long figures": "Q: [[1, 0]]\nK: [[1, 0], [0, 1]]\nV: [[1e13], [-1e13]]\n",
    "V of positions": "S: [[1, 0]]\nV: [[1], [2]]\nscale: {multiply: 0.5}\nshow: {decimals: 1, ties: half-even}\n",
    "past": "Q: [[1], [2]]\nK: [[1], [2], [3]]\nmask: {causal: true, past: 1}\n",
    "kept": "S: [[1, 2], [2, 1]]\nscale: none\nmask: {keep: [[1, 0], [1, 1]]}\nshow: {shift: max}\n",
    "hidden": "S: [[1, 2], [2, 1]]\nscale: none\nmask: {hide: [[0, 1], [0, 0]], add: [[0, -1e9], [0.5, -10000]]}\n",
    "two hidden": "S: [[1, 2], [2, 1]]\nscale: none\nmask: {add: [[0, -1e9], [-1e10, 0]]}\n",
    "an equal share": "tokens: [a, a, b]\nS: [[1, 1, 0], [1, 2, 1], [0, 0, 0]]\nV: [[1], [2], [3]]\nscale: none\n",
    "no vocabulary": "kind: softmax\nx: [[1, 2], [0, 1]]\n",
    "weights that add up to less": "A: [[0.5, 0.3], [0.25, 0.75]]\nV: [[1], [2]]\n",
    "one that gives": "S: [[0, 0, 0.6931]]\nscale: none\nshow: {decimals: 1, weights: sum-to-one}\n",
    "many that give": "kind: softmax\nx: [[0.11, 0.12, 0.13, 0.14, 0.15, 0.16]]\n"
    "show: {decimals: 1, weights: sum-to-one}\n",
    "one that takes": "S: [[0, 0, 0]]\nscale: none\nshow: {decimals: 1, weights: sum-to-one}\n",
    "many that take": "kind: softmax\nx: [[0, 0, 0, 0, 0, 0, 0]]\nshow: {decimals: 2, weights: sum-to-one}\n",
    "carried without loss": "S: [[0, 0]]\nV: [[1], [2]]\nscale: none\nshow: {rounding: carried}\n",
    "unbiased": "kind: layer-norm\nx: [[1, 3]]\nvariance: unbiased\neps_in: outside\n",
    **{f"{activation} with a gate": f"kind: feed-forward\nx: [[1]]\nW_1: [[1]]\nW_gate: [[1]]\nW_2: [[1]]\n"
       f"activation: {activation}\n" for activation in ("swiglu", "geglu")},
    **{activation: f"kind: feed-forward\nx: [[1]]\nW_1: [[1]]\nW_2: [[1]]\nactivation: {activation}\n"
       for activation in ("none", "relu", "gelu", "gelu-tanh", "silu")},
    "sizes of a decoder": "kind: size\nd_model: 4\nheads: 2\nd_ff: 8\nexperts: 2\ntop_k: 1\nvocabulary: 5\n"
    "positions: 3\ntied: no\nbiases: yes\nnorm: rms-norm\nactivation: swiglu\n",
    "windows": "kind: size\nlatent: 4\nlength: 3\nwindow: 2\n",
    "sizes of an encoder": "kind: size\nskeleton: encoder\nd_model: 4\nheads: 2\nnorm: none\n",
    "a gate": "kind: gate\nvalue: [[1]]\ngate: [[1]]\n",
    "a residual": "kind: residual\nx: [[1]]\nf: [[1]]\n",
    "an encoder": "kind: encoder\nH: [[1]]\nlayers: [{feed_forward: {W_1: [[1]], W_2: [[1]]}}]\n",
    "a decoder": "kind: decoder\nH: [[1]]\nmemory: {H: [[1]]}\nlayers:\n"
    "- {cross_attention: {W_Q: [[1]], W_K: [[1]], W_V: [[1]]}}\n",
    "a gain in a layer": "kind: encoder\nH: [[1, 2]]\nlayers:\n- feed_forward: {W_1: [[1], [2]], W_2: [[1, 2]]}\n"
    "  norm: {place: pre, gain: [1, 2]}\n",
    "one sine": "kind: positions\nlength: 1\nwidth: 1\n",
    "given cosines": "kind: rotary\nx: [[1, 0]]\ncos: [0.6]\nsin: [0.8]\n",
    **{f"{unit} of each place": f"kind: rotary\nx: [[1, 0], [1, 0]]\nangles: [[0], [1]]\ndegrees: {said}\n"
       for unit, said in (("radians", "no"), ("degrees", "yes"))},
    "a step in radians": "kind: rotary\nx: [[1, 0]]\nangles: [1]\n",
    "later queries": "Q: [[1, 0]]\nK: [[1, 0], [0, 1]]\nposition: rotary\nmask: {causal: yes, align: end}\n",
    "a row of a table": "H: [[1]]\nW_Q: [[1]]\nW_K: [[1]]\nW_V: [[1]]\nposition: {kind: learned, table: [[1], [2]]}\n",
    "a decoder without a mask": f"kind: encoder-decoder\nencoder: {BOTH}\ndecoder: {{H: [[1]], layers: [{{attention: "
    "{W_Q: identity, W_K: identity, W_V: identity, mask: {causal: false}}}]}\n",
    "both": f"kind: encoder-decoder\nencoder: {BOTH}\ndecoder: {BOTH}\n",
    "one word": f"{SMALL}layers: [{{feed_forward: {{W_1: identity, W_2: identity}}}}]\n"
    "generate: {from: [a], steps: 1}\n",
    "what sees all": f"{SMALL}layers: [{{attention: {{W_Q: identity, W_K: identity, W_V: identity, mask: none}}}}]\n"
    "generate: {from: [a], choose: {sample: [0.99, 0.5]}, cache: no}\n",
    "words that rounding ends": "kind: decoder\nvocabulary: [a, b]\nembedding: [[1, 0], [0, 1]]\n"
    "layers: [{feed_forward: {W_1: identity, W_2: identity}}]\noutput: {W: [[0.1, 0.2], [0.1, 0.2]]}\n"
    "generate: {from: [a], steps: 2, stop: a}\nshow: {rounding: carried, decimals: 0}\n",
    "a norm of squares": "kind: rms-norm\nx: [[1]]\n",
    "equally likely": "kind: output\nlogits: [[1, 1], [2, 1]]\ntop_k: 1\n",
    "two of three": "kind: output\nprobabilities: [[0.4, 0.4, 0.1]]\ntop_k: 2\ntop_p: 0.4\nrenormalise: no\n",
    "a choice that is not seen": "kind: output\nlogits: [[1, 1.001]]\ntop_k: 1\nshow: {decimals: 1}\n",
    "the sum of losses": f"kind: loss\ntokens: {list('abcdefghi')}\nlogits: {[[1, 2]] * 9}\ntargets: {[0] * 9}\n"
    "reduction: sum\n",
    "losses alone": "kind: loss\nprobabilities: [0.5, 0.25]\nreduction: none\n",
    "the routing alone": "kind: experts\nx: [[1], [0.999]]\nrouter: [[1, 1.001, 1.001]]\ntop_k: 2\n"
    "show: {decimals: 1}\n",
    **{f"one expert, {how}": f"kind: experts\ntokens: [a]\nx: [[1]]\nrouter: [[1, 2]]\ntop_k: 1\nnormalise: {how}\n"
       "experts: [{W_1: [[1]], W_2: [[1]]}, {W_1: [[1]], W_2: [[2]]}]\n"
       for how in ("after", "before", "before\nrenormalise: no")},
    "a single token": "kind: experts\nx: [[1]]\nrouter: [[1, 2]]\ntop_k: 2\nexperts: [{W_1: [[1]], W_2: [[1]]}, "
    "{W_1: [[1]], W_2: [[2]]}]\n",
    "huge": "H: {random: integers, from: -1, to: 1, seed: 1, rows: 160, columns: 2}\n"
    "W_Q: identity\nW_K: identity\nW_V: identity\n",
    "experts in a layer": "kind: encoder\nH: [[1]]\nlayers: [{experts: {router: [[1]], top_k: 1, experts: "
    "[{W_1: [[1]], W_2: [[1]]}]}}]\n",
    "weights that are rounded to 0":
        "A: [[4e-13, 1], [0.5, 0.5]]\nV: [[1], [2]]\nmask: causal\nshow: {rounding: carried}\n",
    "big": f"Q: &q {[[k % 3, k % 5] for k in range(40)]}\nK: *q\nV: *q\n",
}


def problems() -> Iterator[Problem]:
    """The shipped problems, the rare ones, and masks by themselves."""
    yield from map(problem.load, sorted((ROOT / "problems").glob("*.yaml")))
    for name, text in RARE.items():
        try:
            yield problem.parse(text.encode())
        except Exception as error:
            raise AssertionError(name) from error
    scores = Matrix(np.array([[1.0, 2.0], [0.5, 1.0]]), np.array([["1", "2"], ["0.5", "1"]], dtype=object))
    causal = Mask(causal=True, window=(1, 1))
    for table in (
        MaskTable(3, causal, None),
        MaskTable(2, causal, ("我", "you")),
        MaskTable(2, causal, ("我", "我"), S=scores),
    ):
        yield Problem("mask", None, None, "mask", Show(), table)


PROBLEMS = list(problems())
each_problem = pytest.mark.parametrize("read", PROBLEMS, ids=lambda read: read.title or read.name)


@cache
def templates(lang: str) -> dict[str, str]:
    found = wording._templates(lang)
    return {key: text for group in found.groups for key, text in found.of_group(group).items()}


@pytest.mark.parametrize("lang", wording.languages())
def test_groups_that_are_read_one_by_one_are_the_file(lang: str) -> None:
    def flat(node: object, path: str = "") -> dict[str, str]:
        if isinstance(node, dict):
            return {key: text for name, part in node.items() for key, text in flat(part, f"{path}.{name}").items()}
        return {path[1:]: str(node)}

    file = Path(wording.__file__).with_name(f"{lang}.yaml")
    assert templates(lang) == flat(yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader))


def document(read: Problem, lang: str) -> Document:
    return lay_out(mechanisms.solve(read), read.show, lang, title=read.title, kind=read.kind)


# The files


def test_there_are_two_languages() -> None:
    assert LANGUAGES == ["en", "zh"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_keys_and_their_parts_are_those_of_english(lang: str) -> None:
    def parts(lang: str) -> dict[str, list[str]]:
        return {key: sorted(re.findall(r"\{(\w*)\}", template)) for key, template in templates(lang).items()}

    assert parts(lang) == parts("en")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_says_nothing_twice_and_nothing_but_text(path: Path) -> None:
    def check(node: Any, at: str) -> None:
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            assert len(keys) == len(set(keys)), at
            for key, value in node.value:
                assert key.tag == "tag:yaml.org,2002:str", f"{at}{key.value}"
                check(value, f"{at}{key.value}.")
        else:
            assert node.tag == "tag:yaml.org,2002:str" and node.value, at

    check(yaml.compose(path.read_text(encoding="utf-8")), "")


def test_chinese_has_the_marks_of_chinese() -> None:
    """Full-width marks; no space beside them, beside a quoted token, or between two Chinese letters."""
    for key, template in templates("zh").items():
        words = re.sub(r"\{\w+\}", "", re.sub(r"\[.*?\]", "", template))
        assert not re.search(r"[,;:?!()\"']", words), key
        assert not re.search(r"[，；：。（）、“”\u4e00-\u9fff] +[，；：。（）、“”\u4e00-\u9fff]", template), key
        assert not re.search(r"[\u4e00-\u9fff][A-Za-z]|[A-Za-z][\u4e00-\u9fff]", words), key


# Their use


def test_every_key_is_used_on_some_page(monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()
    say, joined, text = Wording.__call__, Wording.joined, Wording.text

    def recorded_say(self: Wording, key: str, **parts: Any) -> Prose:
        used.add(key)
        return say(self, key, **parts)

    def recorded_joined(self: Wording, sentences: list[Prose], key: str = "list.comma") -> Prose:
        used.add(key)
        return joined(self, sentences, key)

    def recorded_text(self: Wording, key: str) -> str:
        used.add(key)
        return text(self, key)

    monkeypatch.setattr(Wording, "__call__", recorded_say)
    monkeypatch.setattr(Wording, "joined", recorded_joined)
    monkeypatch.setattr(Wording, "text", recorded_text)
    for read in PROBLEMS:
        document(read, "en")
    dict(reports.documents("en"))
    solution = mechanisms.solve(PROBLEMS[0])
    blanks.template(solution)
    blanks.blanks_of(solution, {solution.result.id: np.ones(solution.result.shape, dtype=bool)}, shapes=True)
    dict(sheets.documents("en"))
    unused = {key for key in set(templates("en")) - used if not key.startswith("methods.")}  # see test_methods.py
    assert unused == set()


# Their pages: none of these finds a key missing


@each_problem
def test_the_languages_print_the_same_figures(read: Problem) -> None:
    check_figures(read)


@given(cases())
def test_the_languages_print_the_same_figures_of_random_problems(case: Any) -> None:
    read = problem.parse(case.text.encode())
    check_figures(read)
    check_words(read)


def check_figures(read: Problem) -> None:
    """Law 4 across languages: a page has the same figures, as often, whatever its language."""
    solution = mechanisms.solve(read)
    for name, form in formats.FORMATS.items():
        pages = ["".join(pieces(read, solution, format=name, lang=lang, math="github")) for lang in LANGUAGES]
        if name == "html":
            pages = [unescape(page) for page in pages]  # an apostrophe is &#x27; there
            # A wide table is cut into blocks, each with its row headers: how wide words are, a language decides.
            pages = [re.sub(r'<th scope="row">\d+</th>', "", page) for page in pages]
        if name == "latex":  # the widest label stands there once more, to be measured: which it is, a language decides
            pages = [re.sub(r"\\attnleft\{.*", "", page) for page in pages]
        if name == "latex":
            pages = [re.sub(r"p\{[\d.]+\\linewidth\}", "", page) for page in pages]  # by the widths of the words
        counted = [Counter(re.findall(r"\d+(?:\.\d+)?%?|∞|infty", page)) for page in pages]
        assert all(counts == counted[0] for counts in counted), (name, read.name)
        assert form.takes == "document" or len(set(pages)) == 1  # json has no language


@each_problem
def test_no_english_is_left_on_a_chinese_page(read: Problem) -> None:
    check_words(read)


# Names, ids of steps, and options of the command line.
KEPT = {
    "softmax", "tanh", "MQA", "GQA", "RMS", "Pre", "Post", "Norm", "GELU", "SwiGLU", "GEGLU", "NTK", "pos", "logit",
    "logits", "top", "ln", "detail", "full", "matrices", "step", "single", "probabilities",
    "cross", "attention", "decimal", "comma", "float", "KV", "KiB", "MiB", "GiB", "KB", "MB", "GB",
}  # fmt: skip
# The words of formulas: functions, and symbols that are words.
SYMBOLS = {
    "max", "min", "rowsum", "QKV", "masked", "capped", "keep", "kept", "given", "memory", "causal", "window", "padding",
    "hide", "add", "before", "concat", "output",
    "LayerNorm", "RMSNorm", "norm", "gain", "ReLU", "GELU", "SiLU", "gate", "gated", "erf",
    "argmax", "last", "next", "start", "all", "passed",
    "ids", "pos", "PE", "sin", "cos", "interleave", "paired", "rot", "turned", "rest", "scaled",
    "colsum", "cumsum", "product", "mean", "sum", "joint", "PPL", "ln", "top", "chosen", "sorted", "cumulative", "load",
    "heads", "kv", "model", "ff", "active", "FW", "Fb", "XW", "Xb",
}  # fmt: skip


def test_no_english_is_left_on_a_chinese_report_or_sheet() -> None:
    titles = {word for read in PROBLEMS for word in words(read.title or "")}
    for name, page in (*reports.documents("zh"), *sheets.documents("zh")):
        said = {word for prose in sentences(page) for word in words(prose_text(prose))}
        assert said <= KEPT | titles | set(words(prose_text(page.title))), (name, said)


def test_a_chinese_report_has_no_space_beside_a_mark() -> None:
    for name, page in reports.documents("zh"):
        for prose in (each for each in sentences(page) if each is not page.title):
            line = "".join("F" if isinstance(part, Math) else str(getattr(part, "text", part)) for part in prose.parts)
            assert not re.search(r"[，；：。、（）“”] (?![✓→≈✗?])| [，；：。、（）“”]", line), (name, line)


def prose_text(prose: Prose) -> str:
    return "".join(part for part in prose.parts if isinstance(part, str))


def check_words(read: Problem) -> None:
    page = document(read, "zh")
    said = {word for prose in sentences(page) for part in prose.parts if isinstance(part, str) for word in words(part)}
    assert said <= KEPT | set(words(read.title or "")), said
    # Neither does a format add any of its own.
    steps = mechanisms.solve(read).steps.values()
    labels = {label for step in steps for axis in (step.rows, step.columns) if axis for label in axis.labels or ()}
    known = KEPT | SYMBOLS | {word for label in (*labels, read.title or "") for word in words(label)}
    printed = formats.render("text", page)
    assert set(words(printed)) <= known, set(words(printed)) - known
    latex = r"```math|\\(?:begin|end)\{\w+\}(?:\{[lr|]*\})?|\\[A-Za-z]+"
    printed = re.sub(latex, " ", formats.render("markdown", page))
    assert set(words(printed)) <= known, set(words(printed)) - known


def words(text: str) -> list[str]:
    """Latin letters, two or more together: one is a symbol."""
    return re.findall(r"[A-Za-z]{2,}", text)


def sentences(page: Document) -> Iterator[Prose]:
    def of(block: Block) -> Iterator[Prose]:
        match block:
            case Prose():
                yield block
            case Items():
                yield from block.sentences
            case Work():
                yield from (label for label, _ in block.lines if label is not None)
            case Table():
                yield from block.head
                for row in block.rows:
                    yield from row
            case Section():
                yield block.title
                for inner in block.blocks:
                    yield from of(inner)
            case Formula() | Beside():
                pass

    yield page.title
    for block in page.blocks:
        yield from of(block)


@each_problem
def test_a_chinese_sentence_has_its_marks_once_and_its_tokens_in_quotes(read: Problem) -> None:
    for prose in sentences(document(read, "zh")):
        line = "".join("F" if isinstance(part, Math) else "◆" if isinstance(part, Token) else part
                       for part in prose.parts)  # fmt: skip
        assert not re.search(r"[，；：。、＞][，；：。、＞]|[（“][，；：。、）”]|  ", line), line
        assert not re.search(r"[，、；：＞]$|[\u4e00-\u9fff]F|F[\u4e00-\u9fff]", line), line
        if re.search(r"[占到给为由大]", line) and prose.parts != (read.title,):
            assert not re.search(r"(?<![“（])◆|◆(?![”）])", line), line


def test_composed_sentences_read_well() -> None:
    text = """
tokens: [我, a, a, b]
S: [[3, 1, 2, 2], [1, 1, 1, 1], [0, 1, 2, 3], [2, 0, 1, 1]]
scale: none
mask: causal
"""
    page = formats.render("text", document(problem.parse(text.encode()), "zh"))
    for line in (
        "“我”给出的分数：自身（3）＞3号“a”和“b”（2）＞2号“a”（1）",
        "2号“a”给出的分数：“我”、自身、3号“a”和“b”（1）",
        "3号“a”能看到“我”、2号“a”和自身",
        "“b”能看到全部位置",
        "“我”的权重全部分给自身",
        "2号“a”的权重分配：“我”占50.0%，自身占50.0%；各份相等",
        "“b”的权重分配：“我”占53.4%，2号“a”占7.2%，3号“a”占19.7%，自身占19.7%；“我”最大",
    ):
        assert f"    {line}\n" in page, line


def test_markdown_of_github_has_spaces_between_formulas_and_chinese() -> None:
    """GitHub takes a `$` right after a letter or mark of Chinese for no formula."""
    for read in PROBLEMS:
        page = "".join(pieces(read, mechanisms.solve(read), format="markdown", lang="zh", math="github"))
        assert not re.search(r"[^\x00-\x7f]\$`|`\$[\u4e00-\u9fff]", page), read.name
    page = "".join(pieces(read, mechanisms.solve(read), format="markdown", lang="zh", math="dollars"))
    assert "（$" in page or "（" not in page


# Which language


@pytest.mark.parametrize(
    ("asked", "said", "on_terminal", "locale", "lang"),
    [
        ("en", "zh", True, {"LANG": "zh_CN.UTF-8"}, "en"),
        ("zh", "en", False, {}, "zh"),
        (None, "zh", False, {"LANG": "en_GB.UTF-8"}, "zh"),
        (None, "en", True, {"LANG": "zh_CN.UTF-8"}, "en"),
        (None, None, True, {"LANG": "zh_CN.UTF-8"}, "zh"),
        (None, None, True, {"LANG": "en_GB.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        (None, None, True, {"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        (None, None, True, {"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
        (None, None, True, {"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "de_DE"}, "en"),
        (None, None, True, {}, "en"),
        (None, None, False, {"LC_ALL": "zh_CN.UTF-8"}, "en"),
    ],
)
def test_the_language_is_the_one_asked_for_or_of_the_file_or_of_a_terminal(
    asked: str | None, said: str | None, on_terminal: bool, locale: dict[str, str], lang: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in locale.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: on_terminal)
    read = problem.parse((f"lang: {said}\n" if said else "").encode() + b"S: [[1]]\nscale: none\n")
    assert language(asked, read, screen(None)) == lang
    if on_terminal and not (asked or said):
        assert language(asked, read, screen(Path("page.txt"))) == "en"  # a file is no terminal


def test_the_command_line_speaks_chinese() -> None:
    def first_line(*arguments: str, terminal: bool = False, **environment: str) -> str:
        command = [sys.executable, "-m", "attncalc", *arguments]
        settings = {**os.environ, "TERM": "dumb", "LC_ALL": "zh_CN.UTF-8", **environment}
        if not terminal:
            run = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, check=True)
            return run.stdout.decode().split("\n")[0]
        ours, theirs = pty.openpty()
        with subprocess.Popen(command, cwd=ROOT, env=settings, stdout=theirs) as process:
            os.close(theirs)
            read = b""
            while True:
                try:
                    piece = os.read(ours, 4096)
                except OSError:  # what Linux says at the end
                    break
                if not piece:
                    break
                read += piece
        os.close(ours)
        assert process.returncode == 0
        return read.decode().split("\r\n")[0]

    english, chinese = "Who may look at whom", "谁能看到谁"
    assert first_line("mask", "--causal") == english
    assert first_line("mask", "--causal", "--lang", "zh", LC_ALL="C") == chinese
    assert first_line("mask", "--causal", terminal=True) == chinese
    assert first_line("mask", "--causal", terminal=True, LC_ALL="C.UTF-8") == english
    assert first_line("mask", "--causal", "--lang", "en", terminal=True) == english
