"""What a student fills in: every step that is computed, with `_` for each of its figures, and nothing of the answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from attncalc.marking.naming import plain_symbol, step_named
from attncalc.problem.source import short
from attncalc.rounding import Flags
from attncalc.solution import Group, Solution
from attncalc.steps import Arrange, Axis, Given, Reduce, Step
from attncalc.wording import Wording

MOST_LABELS = 20  # of a matrix
_CHOSEN_GROUPS = frozenset({"expert"})  # groups that stand for what was chosen, where a choice comes before them


def template(
    solution: Solution, *, only: Collection[Step | str] = (), given: bool = False, lang: str = "en"
) -> str:
    """A YAML text of blanks: those of the steps that are computed, of the given ones too (`given`), or of `only` some.

    Steps that merely copy figures are left out, but for the result; so are those that are there only because of what
    was chosen. The comments are in the language `lang`.
    """
    ids = {(step_named(solution, each) if isinstance(each, str) else each).id for each in only}
    blanks = []
    for step, depends, known in _in_order(solution.root):
        by_default = step is solution.result or (_is_asked(step, given) and not depends)
        if step.id in ids or (by_default and not ids):
            blanks.append(_blank(step, known, lang))
    return "\n".join(blanks)


def blanks_of(solution: Solution, asked: Mapping[str, Flags], lang: str = "en", *, shapes: bool = False) -> str:
    """The same of the figures alone that these flags mark: whole steps, or parts of them. `shapes`: what is asked for
    of matrices is the shape as well, and one blank stands for the whole."""
    known = known_axes(solution)
    blanks = []
    for id, flags in asked.items():
        step = solution.steps[id]
        unshaped = shapes and not is_single(step, known)
        blank = _unshaped(step, lang) if unshaped else _blank(step, known, lang)
        if not unshaped and not flags.all():
            parts = [_part(i, np.flatnonzero(row) + 1, len(row)) for i, row in enumerate(flags) if row.any()]
            blank = f"{blank.splitlines(keepends=True)[0]}{id}:\n{''.join(parts)}"
        blanks.append(blank)
    return "\n".join(blanks)


_ROW = r"\[_(, _)*\]"
_untouched = re.compile(
    rf"(#.*|variant: .*|\S+:( _| {_ROW})?|  - ({_ROW}|\{{row: \d+, (columns: \[[\d, ]+\], )?values: {_ROW}\}}))?"
).fullmatch


def is_untouched(text: str) -> bool:
    """Whether a text is blanks alone, as they were made here."""
    return all(map(_untouched, text.splitlines()))


def _unshaped(step: Step, lang: str) -> str:
    say = Wording(lang)
    how = "".join(map(str, say("answers.by_rows", example="[[1, 2], [3, 4]]").parts))
    return f"# {_named(step, say)}{how}\n{step.id}: _\n"


def _part(i: int, columns: NDArray[np.int64], m: int) -> str:
    """A row of blanks, or those of some columns."""
    of = "" if len(columns) == m else f"columns: [{', '.join(map(str, columns))}], "
    return f"  - {{row: {i + 1}, {of}values: [{', '.join('_' * len(columns))}]}}\n"


def asked_steps(solution: Solution) -> list[Step]:
    """The steps that a template asks for where nothing else is said."""
    return [
        step for step, depends, _ in _in_order(solution.root)
        if step is solution.result or (_is_asked(step, given=False) and not depends)
    ]  # fmt: skip


def by_choice(solution: Solution) -> set[str]:
    """The ids of the steps that are there only because of what was chosen: they would tell it."""
    return {step.id for step, depends, _ in _in_order(solution.root) if depends}


def known_axes(solution: Solution) -> set[Axis]:
    """The axes whose labels no choice decided: those of generated words would tell what was generated."""
    return next((set(known) for *_, known in list(_in_order(solution.root))[-1:]), set())


def is_single(step: Step, known: Collection[Axis | None]) -> bool:
    """Whether a step is one number that no label says more of; only labels of `known` axes may be seen."""
    labels = [axis.labels for axis in (step.rows, step.columns) if axis is not None and axis in known]
    return step.shape == (1, 1) and not any(labels)


def _is_asked(step: Step, given: bool) -> bool:
    return step.is_worked or (given and isinstance(step, Given))


def _in_order(root: Group) -> Iterator[tuple[Step, bool, set[Axis]]]:
    """Every step; whether it is there because of a choice; and the axes whose labels no choice decided."""
    known: set[Axis] = set()
    chosen = False
    within = [(iter(root.members), False)]  # the groups that are open, each with whether it is there because of one
    while within:
        members, depends = within[-1]
        member = next(members, None)
        if member is None:
            within.pop()
        elif isinstance(member, Group):
            within.append((iter(member.members), depends or (chosen and member.key in _CHOSEN_GROUPS)))
        elif isinstance(member, Step):
            if not chosen:
                known.update(axis for axis in (member.rows, member.columns) if axis is not None)
            chosen = chosen or _chooses(member)
            yield member, depends, known


def _chooses(step: Step) -> bool:
    """Whether a step picks by figures that are computed: what comes after it may tell what it picked."""
    if isinstance(step, Arrange):
        return any(not isinstance(chooser, Given) for chooser in step.operands[len(step.copied) :])
    return step.role == "next" or (isinstance(step, Reduce) and step.fold == "argmax")


def _blank(step: Step, known: set[Axis], lang: str) -> str:
    n, m = step.shape
    comment = f"# {_about(step, known, Wording(lang))}\n"
    row = f"[{', '.join('_' * m)}]"
    if n * m == 1:
        return f"{comment}{step.id}: _\n"
    if n == 1:
        return f"{comment}{step.id}: {row}\n"
    return f"{comment}{step.id}:\n" + f"  - {row}\n" * n


def _about(step: Step, known: set[Axis], say: Wording) -> str:
    """S̃: 3 × 3; rows A, B, C; columns A, B, C"""
    n, m = step.shape
    about = [f"{n} × {m}"]
    for noun, axis in (("rows", step.rows), ("columns", step.columns)):
        if axis is not None and axis.labels and axis in known:
            shown = [short(label) for label in axis.labels[:MOST_LABELS]]
            labels = say.text("list.names").join([*shown, "…"] if len(axis.labels) > MOST_LABELS else shown)
            about.append("".join(map(str, say(f"answers.{noun}", labels=labels).parts)))
    return _named(step, say) + say.text("list.semicolon").join(about)


def _named(step: Step, say: Wording) -> str:
    """What the page calls the step, before what else is said of it."""
    symbol = plain_symbol(step.symbol)
    return f"{symbol}{say.text('answers.colon')}" if symbol and symbol != step.id else ""
