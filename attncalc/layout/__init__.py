"""From the steps of a solution to the blocks of a page: every matrix and every line of working, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attncalc.blocks import Block, Document, Formula, Math, Prose, Section, compose
from attncalc.layout.conventions import conventions
from attncalc.layout.kinds import given, lay_step
from attncalc.layout.outcome import closing
from attncalc.layout.page import Page
from attncalc.layout.rows import lay_rows
from attncalc.problem.show import Show
from attncalc.steps import Given, Group, Solution, Step
from attncalc.wording import Wording

__all__ = ["lay_out"]


def lay_out(
    solution: Solution, show: Show, lang: str = "en", *, title: str | None = None, kind: str = "attention",
    only: Sequence[Step] = (),
) -> Document:  # fmt: skip
    """The page of a solution; of `only` some of its steps, if any are named."""
    say = Wording(lang)
    page = Page(solution, show, say)
    heading = Prose((title,)) if title else say(f"title.{kind}")
    blocks: list[Block] = []
    if page.detail == "result" and not only:
        blocks = list(lay_step(page, solution.result))
    else:
        wanted = {id(step) for step in only or solution.steps.values()}
        sections = [
            section
            for group in solution.root.members
            if isinstance(group, Group) and (section := _section(page, group, wanted))
        ]
        if not only:
            blocks.append(conventions(page))
            if page.detail == "matrices" and show.detail is None:
                blocks.append(say("remarks.big"))
        blocks += sections
        if not only and page.detail == "full":
            blocks += closing(page)
    return Document(heading, lang, tuple(_numbered(say, blocks)))


def _section(page: Page, group: Group, wanted: set[int]) -> Section | None:
    """A group under its heading; None where none of its steps is wanted."""
    steps = [step for step in group.steps() if id(step) in wanted]
    if not steps:
        return None
    blocks = list(lay_rows(page, group, steps) if group.order == "by row" else _by_step(page, steps))
    closer = _CLOSERS.get(group.key)
    if closer and page.detail == "full" and len(steps) == len(list(group.steps())):
        blocks += closer(page, steps)
    return Section(page.say(f"sections.{group.key}"), group.key, tuple(blocks))


def _by_step(page: Page, steps: Sequence[Step]) -> Iterable[Block]:
    """Given matrices without labels stand side by side, a row of them at a time; each other step by itself."""
    beside: list[Step] = []
    for step in steps:
        if isinstance(step, Given) and step.rows is None and step.role == "weight":
            beside.append(step)
            continue
        if beside:
            yield given(page, *beside)
            beside = []
        yield from lay_step(page, step)
    if beside:
        yield given(page, *beside)


def _side_by_side(page: Page, steps: Sequence[Step]) -> list[Block]:
    """Q = [..]    K = [..]    V = [..]."""
    named = [step for step in steps if step.role]
    equations = [compose("chain", Math(step.symbol), page.sign(step), page.grid(step)) for step in named]
    return [Formula(compose("beside", *equations))]


_CLOSERS: dict[str, Callable[[Page, Sequence[Step]], list[Block]]] = {"projections": _side_by_side}


def _numbered(say: Wording, blocks: Iterable[Block]) -> Iterable[Block]:
    """The sections of the page numbered from 1, but for the conventions at its head."""
    n = 0
    for block in blocks:
        if isinstance(block, Section) and block.anchor != "conventions":
            n += 1
            block = Section(say("numbered", n=n, title=block.title), block.anchor, block.blocks)
        yield block


