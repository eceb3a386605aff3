"""Variants of a problem: its matrices drawn anew for each id, the same for the same seed, and none of them unfair."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from attncalc import draws
from attncalc.errors import UsageError
from attncalc.exercises.habits import Many
from attncalc.exercises.judging import Asked, Judge
from attncalc.mechanisms import solve
from attncalc.problem import Problem, Template
from attncalc.problem.forms import KINDS, as_written
from attncalc.rounding import Flags, Floats
from attncalc.solution import Solution
from attncalc.steps import Given

REPEATED = "repeated"  # why a draw is refused that is another one's
SMALL = 20_000  # draws that there may be at most: all of them are judged, and counted
TRIES = 20_000  # draws for one variant; where none of so many will do, there are too few
_TOGETHER = 32  # variants that are drawn together
_BATCH = 256  # draws that are judged together
_PROBE = 512  # draws that tell which wrong methods can be asked about


@dataclass(frozen=True)
class Variant:
    """A problem of its own, drawn for one id, and its solution; `text` is a file that says the problem."""

    id: str
    problem: Problem
    solution: Solution
    text: str
    fingerprint: str


def variants(
    template: Template, ids: Sequence[str], seed: str, asked: Asked, refused: Counter[str] | None = None
) -> Iterator[Variant]:
    """A variant for each id, in their order, one at a time; `refused` counts the draws that will not do, by reason.

    Raises UsageError where there are too few: of a small number of draws before the first one, else when it is found.
    """
    refused = Counter() if refused is None else refused
    source = _Source(template, seed, asked)
    drawn = source.enumerated(ids, refused) if source.count <= SMALL else source.sampled(ids, refused)
    for id, matrices in zip(ids, drawn, strict=True):
        yield source.variant(id, matrices)


class _Source:
    """Where the draws of one call come from. A draw is the figures of each matrix, by path."""

    def __init__(self, template: Template, seed: str, asked: Asked) -> None:
        self.template, self.seed = template, seed
        self.judge = Judge(template.problem, asked)
        self.shapes = self.judge.shapes
        for path in template.draws:
            if path not in self.shapes:
                what = f"draw.{path}: the solution has no use for it"
                raise UsageError(what, "leave it out of draw")
        self.forms = {path: replace(form) for path, form in template.draws.items()}
        self.count = prod(form.count(*self.shapes[path]) for path, form in self.forms.items())
        self.judge.consider(_together([self.draw(f"probe/{k}") for k in range(_PROBE)]))

    def draw(self, seed: str) -> dict[str, Floats]:
        return {path: form.values(seed, path, *self.shapes[path]) for path, form in self.forms.items()}

    def sampled(self, ids: Sequence[str], refused: Counter[str]) -> Iterator[Mapping[str, Floats]]:
        """The first draw for each id that will do and was not taken."""
        taken: set[bytes] = set()
        for start in range(0, len(ids), _TOGETHER):
            ahead = _Ahead(self, ids[start : start + _TOGETHER])
            for id in ahead.ids:
                yield self._first(ahead.of(id), taken, refused)

    def _first(
        self, judged: Iterator[tuple[str, dict[str, Floats]]], taken: set[bytes], refused: Counter[str]
    ) -> Mapping[str, Floats]:
        for _, (reason, drawn) in zip(range(TRIES), judged, strict=False):
            digest = _digest(drawn)
            if not reason and digest in taken:
                reason = REPEATED
            if not reason:
                taken.add(digest)
                return drawn
            refused[reason] += 1
        what = f"{len(taken)} variants were found, and no other in {TRIES} draws"
        raise UsageError(what, "draw from more numbers, or ask for fewer figures or decimals")

    def enumerated(self, ids: Sequence[str], refused: Counter[str]) -> Iterator[Mapping[str, Floats]]:
        """Of all draws that there are, those that will do, in an order of the seed's."""
        good = []
        for start in range(0, self.count, _BATCH):
            numbers = range(start, min(start + _BATCH, self.count))
            reasons = self.judge.verdicts(_together([self._numbered(number) for number in numbers]))
            refused.update(reason for reason in reasons if reason)
            good += [number for number, reason in zip(numbers, reasons, strict=True) if not reason]
        if len(good) < len(ids):
            what = f"{len(ids)} variants, but of the {self.count} draws that there are {len(good)} will do"
            raise UsageError(what, "draw from more numbers, or ask for fewer figures or decimals")
        for id in ids:
            (k,) = draws.integers(f"{self.seed}/{id}", "draw", 0, len(good) - 1, 1)
            good[k], good[-1] = good[-1], good[k]
            yield self._numbered(good.pop())

    def _numbered(self, number: int) -> dict[str, Floats]:
        """The draw of a number, its figures being the digits of it."""
        found = {}
        for path, form in self.forms.items():
            rows, columns = self.shapes[path]
            low, high = form.bounds(rows, columns)
            parts = KINDS[form.of]
            figures = np.empty(rows * columns)
            for k in range(figures.size):
                number, digit = divmod(number, (high - low) * parts + 1)
                figures[k] = low + digit / parts
            found[path] = figures.reshape(rows, columns)
        return found

    def variant(self, id: str, drawn: Mapping[str, Floats]) -> Variant:
        text = self.template.text({path: as_written(figures) for path, figures in drawn.items()})
        problem = self.template.parse(text, self.template.problem.name)
        solution = solve(problem)
        return Variant(id, problem, solution, text, _fingerprint(solution, self.judge.asked))


class _Ahead:
    """The draws for some ids, judged together before each is asked for."""

    def __init__(self, source: _Source, ids: Sequence[str]) -> None:
        self.source, self.ids = source, ids
        self._judged: dict[str, list[tuple[str, dict[str, Floats]]]] = {id: [] for id in ids}

    def of(self, id: str) -> Iterator[tuple[str, dict[str, Floats]]]:
        """The draws for an id, each with why it is refused."""
        known = self._judged[id]
        attempt = 0
        while True:
            if attempt == len(known):
                self._judge_more(id)
            yield known[attempt]
            known[attempt] = ("", {})  # is not asked for again
            attempt += 1

    def _judge_more(self, id: str) -> None:
        """More draws for an id, and for all after it that none was found for yet."""
        later = self.ids[self.ids.index(id) + 1 :]
        hungry = [id, *(each for each in later if all(reason for reason, _ in self._judged[each]))]
        each = max(1, _BATCH // len(hungry))
        made = [
            (one, self.source.draw(f"{self.source.seed}/{one}/{len(self._judged[one]) + k}"))
            for one in hungry
            for k in range(each)
        ]
        reasons = self.source.judge.verdicts(_together([drawn for _, drawn in made]))
        for (one, drawn), reason in zip(made, reasons, strict=True):
            self._judged[one].append((reason, drawn))


def _together(drawn: Sequence[Mapping[str, Floats]]) -> Many:
    return {path: np.stack([one[path] for one in drawn], axis=-1) for path in drawn[0]}


def _digest(drawn: Mapping[str, Floats]) -> bytes:
    return hashlib.sha256(b"".join((figures + 0.0).tobytes() for figures in drawn.values())).digest()[:8]


def _fingerprint(solution: Solution, asked: Mapping[str, Flags]) -> str:
    """What a variant is known by: its given figures, and the figures that are asked for."""
    said = hashlib.sha256()
    for id, step in solution.steps.items():
        if isinstance(step, Given):
            figures = step.values.tolist() if step.written is None else step.written.tolist()
            said.update(repr((id, figures)).encode("utf-8", "surrogatepass"))
    for id, flags in asked.items():
        said.update(repr((id, np.argwhere(flags).tolist())).encode("utf-8", "surrogatepass"))
    return said.hexdigest()[:12]
