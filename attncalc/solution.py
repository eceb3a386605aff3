"""A solution: the steps of a calculation in groups, what they rest on, and what is to be pointed out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from attncalc.expr import Expr
from attncalc.rounding import Flags
from attncalc.steps import Axis, Given, Step


class Remark(NamedTuple):
    """Something to point out of some steps, once they are worked: what came out beside what went in.

    `details` are what it needs to know beyond them.
    """

    key: str
    steps: tuple[Step, ...]
    details: Mapping[str, Any] = MappingProxyType({})


class Box(NamedTuple):
    """A place of a model where figures stand, and its sides: [B, heads, N, d_k], each a step of one figure, or the
    letter of what is not known."""

    key: str
    sides: tuple[Step | Expr, ...]
    takes_memory: bool = False  # what comes from the encoder enters the decoder here


class Stack(NamedTuple):
    """The boxes of an encoder or a decoder, from bottom to top: what is below its layers, one layer, what is above."""

    key: str
    layers: Step
    below: tuple[Box, ...]
    layer: tuple[Box, ...]
    above: tuple[Box, ...]


@dataclass(eq=False, repr=False)
class Group:
    """Steps that belong together: a softmax, a head, a section of the page. It has no law of its own.

    `number` tells groups of one key apart (head 1, head 2); `order` is by step (each matrix whole, one after the
    other), by row (row 1 through all steps, then row 2) or by line (single figures, a line each); `function` names a
    group that is one function of its input: softmax.
    `axis` is that of the one row that a group is about, the `number`th, where it is about one; of a step of generation,
    the tokens that it sees.
    """

    key: str
    number: int | None = None
    order: str = "by step"
    function: str = ""
    axis: Axis | None = None
    members: list[Step | Group | Remark] = field(default_factory=list)

    def steps(self) -> Iterator[Step]:
        """All steps, of inner groups too, in order."""
        for member in self.members:
            if isinstance(member, Group):
                yield from member.steps()
            elif isinstance(member, Step):
                yield member


class Convention(NamedTuple):
    """A choice that the figures rest on: ("scale", "sqrt_d_k", {"d_k": 2})."""

    key: str
    choice: str
    details: Mapping[str, Any]


@dataclass(eq=False, repr=False)
class Solution:
    """The steps of a calculation, in groups, and the conventions that they rest on.

    `in_full_precision` works the same calculation exactly, where this one was carried with rounded figures.
    """

    root: Group
    conventions: tuple[Convention, ...]
    in_full_precision: Callable[[], Solution] | None = None

    @cached_property
    def steps(self) -> dict[str, Step]:
        return {step.id: step for step in self.root.steps()}

    @property
    def result(self) -> Step:
        return next(reversed(self.steps.values()))

    def called(self, name: str) -> list[Step]:
        """The step of this id, or of `result`; where there is none, those whose ids end with it: A is that of head1.A,
        head2.A. After one that is given, those that are worked: `bytes` of a number, and then cache.bytes."""
        if name == "result":
            return [self.result]
        own = self.steps.get(name)
        if own and not isinstance(own, Given):
            return [own]
        ended = [step for id, step in self.steps.items() if name and id.endswith(f".{name}")]
        return [own, *(step for step in ended if step.is_worked)] if own else ended

    def leading_to(self, ids: Iterable[str]) -> set[Step]:
        """These steps and all that they are worked from, at whatever remove."""
        found: set[Step] = set()
        waiting = [self.steps[id] for id in ids]
        while waiting:
            step = waiting.pop()
            if step not in found:
                found.add(step)
                waiting += step.operands
        return found

    def reached(
        self, marked: Mapping[str, Flags], *, but_by: Mapping[str, Flags] = MappingProxyType({})
    ) -> dict[str, Flags]:
        """Which figures are worked, at whatever remove, from those that are marked: by step id, n × m; what is worked
        from `but_by` some figures alone is not."""
        found: dict[str, Flags] = {}
        through: dict[str, Flags] = {}
        for id, step in self.steps.items():
            found[id] = step.reached([through[operand.id] for operand in step.operands])
            through[id] = found[id] & ~but_by[id] if id in but_by else found[id]
            if id in marked:
                through[id] = through[id] | marked[id]
        return found

    @cached_property
    def exact(self) -> Solution | None:
        """The exact solution beside a carried one; None beside an exact one."""
        return self.in_full_precision and self.in_full_precision()
