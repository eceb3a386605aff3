"""From the steps of a solution to the blocks of a page: every matrix and every line of working, in order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from math import prod

from attncalc.blocks import Block, Document, Prose, Section
from attncalc.errors import UsageError
from attncalc.layout import generation
from attncalc.layout.closing import against_exact, formulas
from attncalc.layout.conventions import conventions
from attncalc.layout.figures import Printed
from attncalc.layout.kinds import are_written_out, given, lay_step
from attncalc.layout.lines import lay_lines
from attncalc.layout.looks import look
from attncalc.layout.page import Page
from attncalc.layout.remarks import REMARKS
from attncalc.layout.rows import lay_rows
from attncalc.show import Show
from attncalc.solution import Group, Remark, Solution
from attncalc.steps import Given, Step
from attncalc.wording import Wording

__all__ = ["lay_out", "section_title"]

MOST_IN_WORKINGS = 200_000  # figures: as HTML, 32 MB, and 3.5 s


def lay_out(
    solution: Solution, show: Show, lang: str, *, title: str | None = None, kind: str, only: Sequence[Step] = (),
    on_section: Callable[[str], object] | None = None, figures: Printed | None = None,
) -> Document:  # fmt: skip
    """The page of a solution of some kind of problem; of `only` some of its steps, if any are named.

    `on_section` is told the anchor of each section before it is laid out. `figures`: see Page.
    """
    say = Wording(lang)
    page = Page(solution, show, say, on_section, figures)
    heading = Prose((title,)) if title else say(f"title.{kind}")
    asked, only = only, only or ([solution.result] if page.detail == "result" else [])
    if only and page.detail == "result":
        page.show = show._replace(detail="matrices")
    blocks: list[Block] = [conventions(page)]
    if page.detail != "full" and show.detail is None and not asked:
        blocks.append(say("remarks.big" if page.detail == "matrices" else "remarks.huge"))
    wanted = set(only or solution.steps.values())
    _refuse_what_fills_books(page, wanted)
    blocks += _sections(page, solution.root, wanted, whole=not only)
    if not only:
        closing = [formulas(page, partial(section_title, page)) if page.detail == "full" else None, against_exact(page)]
        blocks += [section for section in closing if section]
    return Document(heading, lang, tuple(_numbered(blocks)), colon=say.text("colon"))


def _refuse_what_fills_books(page: Page, steps: Collection[Step]) -> None:
    """Raises UsageError where matrices have too many figures, labels too many letters, or the workings of all cells too
    many figures."""
    worked = [step for step in steps if step.operands]
    twice = worked if page.detail == "full" else []  # the matrix, and how it is worked
    less = "give fewer rows or columns, or ask"
    if twice or len(steps) == len(page.solution.steps):
        less = f"ask for {'the matrices, --detail matrices' if twice else 'the result alone, --detail result'}, or"
    page.refuse_many_figures([*steps, *twice], f"{less} for some steps, --step A, or for --format json")
    page.refuse_long_labels(steps, "give shorter tokens, or ask for some steps, --step A")
    held = sum(prod(step.shape) * (step.in_working if are_written_out(step) else 1) for step in worked)
    if page.detail == "full" and held > MOST_IN_WORKINGS:
        what = f"every working, with {held} figures, is more than there is room for"
        raise UsageError(what, "ask for the matrices, --detail matrices, or for some steps, --step A")


def _sections(page: Page, group: Group, wanted: set[Step], whole: bool, anchor: str = "") -> Iterator[Section]:
    """The sections of a group: its groups, and those of its remarks that are sections."""
    for member in group.members:
        if isinstance(member, Group):
            section = _section(page, member, wanted, whole, anchor)
            if section:
                yield section
        elif isinstance(member, Remark) and whole and page.detail == "full" and REMARKS[member.key].is_section:
            blocks = REMARKS[member.key].blocks(page, *member.steps, **member.details)
            if blocks:
                yield Section(page.say(f"sections.{member.key}"), f"{anchor}{member.key}", tuple(blocks))


def _section(page: Page, group: Group, wanted: set[Step], whole: bool, anchor: str) -> Section | None:
    """A group under its heading, with the groups in it; None where none of its steps is wanted."""
    number = group.number or ""
    anchor = f"{anchor}{group.key}{number}"
    if page.on_section:
        page.on_section(anchor)
    own = [member for member in group.members if isinstance(member, Step)]
    blocks: list[Block] = []
    if group.order == "by row":
        chosen = [step for step in own if step in wanted]
        if whole and chosen:
            blocks += [b for member in group.members if isinstance(member, Remark) for b in _remark(page, member)]
        blocks += lay_rows(page, own, chosen) if chosen else []
    elif group.order == "by line":
        blocks += _by_line(page, group, wanted, whole)
    else:
        blocks += _by_step(page, group, wanted, whole)
    blocks += _sections(page, group, wanted, whole, f"{anchor}-")
    return Section(section_title(page, group), anchor, tuple(blocks)) if blocks else None


def section_title(page: Page, group: Group) -> Prose:
    """Head 2; of a group about one row, Token 2 (B); of a step of generation, Step 2: after <s>, I."""
    if group.key == "step":
        return generation.title(page, group)
    if group.axis and group.number:
        return page.row_name(f"sections.{group.key}", group.axis, group.number - 1)
    return page.say(f"sections.{group.key}", n=group.number or "")


def _remark(page: Page, remark: Remark) -> list[Block]:
    """A remark within its section; one that is a section has its turn later."""
    lay = REMARKS[remark.key]
    return [] if lay.is_section else lay.blocks(page, *remark.steps, **remark.details)


def _by_step(page: Page, group: Group, wanted: set[Step], whole: bool) -> Iterator[Block]:
    """Given matrices that go beside one another do, a row of them at a time; each other step by itself."""
    beside: list[Step] = []
    for member in group.members:
        if isinstance(member, Given) and member in wanted and look(member).beside:
            beside.append(member)
            continue
        if beside:
            yield given(page, *beside)
            beside = []
        if isinstance(member, Step) and member in wanted:
            yield from lay_step(page, member)
        elif isinstance(member, Remark) and whole and (page.detail == "full" or REMARKS[member.key].always):
            yield from _remark(page, member)
    if beside:
        yield given(page, *beside)


def _by_line(page: Page, group: Group, wanted: set[Step], whole: bool) -> Iterator[Block]:
    """A line for each step, and then what is to be pointed out of them."""
    chosen = [member for member in group.members if isinstance(member, Step) and member in wanted]
    if chosen:
        yield lay_lines(page, chosen)
    for member in group.members:
        if isinstance(member, Remark) and whole and page.detail == "full":
            yield from _remark(page, member)


def _numbered(blocks: Sequence[Block], above: str = "") -> Iterator[Block]:
    """Sections numbered from 1 on each level, but for the conventions at the head and the rows of a matrix."""
    n = 0
    for block in blocks:
        if isinstance(block, Section) and not block.minor and block.anchor != "conventions":
            n += 1
            number = f"{above}{n}"
            block = block._replace(number=number, blocks=tuple(_numbered(block.blocks, f"{number}.")))
        yield block
