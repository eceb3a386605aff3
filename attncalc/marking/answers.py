"""Answers: the figures that somebody wrote for the steps of a solution, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from attncalc.errors import UsageError
from attncalc.marking.answer_reader import AnswerReader, Figures, of_which_step
from attncalc.marking.students import YAML, student_of
from attncalc.problem import Problem
from attncalc.problem.decoding import decode
from attncalc.problem.nodes import DEEPEST, Entry, ListNode, MapNode, Node, compose, scalar_at
from attncalc.problem.readers import text
from attncalc.problem.source import Source, short
from attncalc.solution import Solution


class Answers(NamedTuple):
    """What one person wrote: by step id, n × m figures; None where nothing is said of a figure. `file` is its name."""

    name: str
    figures: Mapping[str, Figures]
    file: str = ""


def read_answers(
    data: bytes,
    name: str,
    solution: Solution,
    *,
    step: str | None = None,
    decimal_comma: bool = False,
    count_from: int = 1,
    variant: str | None = None,
) -> Answers:
    """The answers in some bytes: a YAML mapping from step ids to figures; or, of one `step`, rows that were pasted.

    Raises ProblemError for all that can't be used, with its place; and for answers that say that they are of another
    `variant` than the problem is. A figure that is none is no error: it is Written as invalid; and so is, in answers to
    a variant, whose sheet may ask for the shapes, each figure of a step for which another matrix is written.
    """
    source = replace(decode(data, name), count_from=count_from)
    reader = AnswerReader(source, solution, decimal_comma, shapes_asked=variant is not None)
    suffix = PurePath(name).suffix.lower()
    if step is not None:
        figures = reader.one_step(step, _figures_of(source, variant) if suffix in YAML else None)
    elif suffix == ".csv":
        raise of_which_step(source)
    else:
        figures = reader.mapping(_figures_of(source, variant))
    return Answers(student_of(name), figures, name)


def _figures_of(source: Source, variant: str | None) -> Node | None:
    """What is written, without the variant that it is of, which must be the problem's where both say one."""
    root = compose(source)
    said = root.entries.pop("variant", None) if isinstance(root, MapNode) else None
    if said and variant is not None:
        found = text(source, said.value, "variant")
        if found != variant:
            what = f"these answers are of {short(found)}, and the problem is {short(variant)}"
            raise source.error(said.value, "variant", what, "mark them by their own problem")
    return root


def answers_of(mapping: Mapping[str, Any], solution: Solution, name: str = "answers") -> Answers:
    """Answers from Python: by step id, numbers, texts, NumPy arrays, or lists of these."""
    reader = AnswerReader(Source(f"<{name}>"), solution)
    return Answers(name, reader.mapping(_node_of(mapping)))


def published(problem: Problem, solution: Solution) -> Answers:
    """The figures that a problem says were printed elsewhere; `_` is a figure that was not. Raises UsageError where it
    says none."""
    if problem.published is None:
        raise UsageError(f"{problem.name} has no published: figures", "name a file of answers; --template makes one")
    source = Source(problem.name, count_from=problem.show.count_from, within="published.")
    reader = AnswerReader(source, solution, blanks=False)
    return Answers("published", reader.mapping(problem.published), problem.name)


def _node_of(value: Any, depth: int = 0) -> Node:
    """What is given in Python, as the nodes that YAML would have given, without a place."""
    start = scalar_at("", -1, -1)
    if depth > DEEPEST:
        raise UsageError("answers are nested too deep", "give rows of figures")
    if value is np.ma.masked:
        value = None
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        value = value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
        value = list(value) if value.ndim else value[()]
    if isinstance(value, Mapping):
        mapping = MapNode(start)
        for key, inner in value.items():
            mapping.entries[str(key)] = Entry(scalar_at(str(key), -1, -1), _node_of(inner, depth + 1))
        return mapping
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        items = ListNode(start)
        items.items = [_node_of(inner, depth + 1) for inner in value]
        return items
    try:
        text = "_" if value is None else str(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits in base ten
        text = hex(value)
    return scalar_at(text, -1, -1, style="|" if "\n" in text else None)
