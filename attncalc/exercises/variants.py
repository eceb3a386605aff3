"""Variants of a problem: its matrices drawn anew for each id, the same for the same seed, and none of them unfair."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import TypeAlias

import numpy as np

from attncalc import draws
from attncalc.errors import UsageError
from attncalc.exercises import judging
from attncalc.exercises.habits import Many
from attncalc.exercises.judging import Asked, Judge
from attncalc.mechanisms import solve
from attncalc.problem import Problem, Template
from attncalc.problem.forms import KINDS, as_written
from attncalc.rounding import Flags, Floats
from attncalc.solution import Solution
from attncalc.steps import Given

# Why draws are refused that would do by themselves.
REPEATED, OTHER_STEPS = "repeated", "other_steps"
UNFIT = (judging.DEGENERATE, judging.SYMMETRIC)  # whatever is asked: many draws always are
SMALL = 20_000  # draws that there may be at most: all of them are judged, and counted
TRIES = 10_000  # draws for one variant; where none of so many will do, there are too few
WORK = 2**27  # what the draws for one variant may cost: of what is large, fewer are judged
LARGEST = 2**23  # what a draw may
_FIGURES = 2**20  # of all steps of draws that are judged together, about
_FEWEST, _MOST = 256, 8192  # draws that are, unless these have more than so many figures
_EACH = 32  # of them for each variant, where there are many
_PARTS = 2  # so many times as many draws are drawn before those that are left of them are judged further
_EXAMPLES = 3  # that the ways of wrong methods are found in
_PROBE = 512  # draws that tell which wrong methods can be asked about

WHY = {
    **judging.WHY,
    REPEATED: "another has the same",
    OTHER_STEPS: "the solution has other steps than the problem's",
}

Judged: TypeAlias = tuple[str, Mapping[str, Floats]]  # why a draw is refused, or "", and its matrices by path


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
    if len(set(ids)) < len(ids):
        raise UsageError("two variants with one id", "give each an id of its own")
    source = _Source(template, seed, asked, Counter() if refused is None else refused)
    yield from source.enumerated(ids) if source.is_small else source.sampled(ids)


class _Source:
    """Where the draws of one call come from. A draw is the figures of each matrix, by path."""

    def __init__(self, template: Template, seed: str, asked: Asked, refused: Counter[str]) -> None:
        self.template, self.seed, self.refused = template, seed, refused
        self.judge = Judge(template.problem, asked)
        self.forms, self.shapes = template.draws, self.judge.shapes
        for path in self.forms:
            if path not in self.shapes:
                raise UsageError(f"draw.{path}: the solution has no use for it", "leave it out of draw")
        figures = self.judge.figures
        if self.judge.cost(judging.NEAR_TIE) > LARGEST:
            raise UsageError("what is drawn is too large for its draws to be judged", "draw smaller matrices")
        together = min(max(_FIGURES // figures, min(_FEWEST, 4 * _FIGURES // figures), 1), _MOST)
        self.at_once = min(together, WORK // self.judge.cost(judging.HABITS))
        self.count = prod(form.count(*self.shapes[path]) for path, form in self.forms.items())
        probes = self._probes("probe", 2 * self.judge.cost(judging.HABITS))
        self.judge.consider(self.draws(probes), map(template.example, probes[:_EXAMPLES]))

    @property
    def is_small(self) -> bool:
        return self.count <= SMALL and self.count * self.judge.cost(judging.HABITS) <= WORK

    def _probes(self, name: str, cost: int) -> list[str]:
        """Seeds of draws that tell something of all, where it costs so much to look at one."""
        return [f"{name}/{k}" for k in range(min(_PROBE, max(4 * _FIGURES // self.judge.figures, 1), WORK // cost))]

    def draws(self, seeds: Sequence[str]) -> Many:
        """What each seed draws."""
        encoded = draws.encoded(seeds)
        return {path: form.drawn(encoded, path, *self.shapes[path]) for path, form in self.forms.items()}

    def sampled(self, ids: Sequence[str]) -> Iterator[Variant]:
        """For each id the first of its draws that will do and was not taken."""
        taken: set[bytes] = set()
        ahead = _Ahead(self, ids)
        for k, id in enumerate(ids):
            yield self._first(id, ahead.of(k), taken)
            ahead.forget(k)

    def _first(self, id: str, judged: Iterator[Judged], taken: set[bytes]) -> Variant:
        tries = work = 0
        while tries < TRIES and work <= WORK:
            tries += 1
            reason, drawn = next(judged)
            digest = b"" if reason else _digest(drawn)
            reason = REPEATED if digest in taken else reason
            variant = None if reason else self._variant(id, drawn)
            if variant:
                taken.add(digest)
                return variant
            self.refused[reason or OTHER_STEPS] += 1
            work += self.judge.cost(reason)
        found = f"{len(taken)} variants were found, and no other" if taken else "no variant was found"
        raise self._too_few(f"{found} in {tries} draw{'s' if tries > 1 else ''}")

    def enumerated(self, ids: Sequence[str]) -> Iterator[Variant]:
        """Of all draws that there are, those that will do, in an order of the seed's."""
        good = []
        together = min(self.at_once, _FEWEST)
        for start in range(0, self.count, together):
            numbers = range(start, min(start + together, self.count))
            each = [self._numbered(number) for number in numbers]
            drawn = {path: np.stack([one[path] for one in each], axis=-1) for path in self.forms}
            reasons = self.judge.verdicts(drawn)
            good += [number for number, reason in zip(numbers, reasons, strict=True) if not reason]
            self.refused.update(reason for reason in reasons if reason)
        if len(good) < len(ids):
            what = f"{len(ids)} variants, but of the {self.count} draws that there are {len(good)} will do"
            raise self._too_few(what)
        for id in ids:
            yield self._taken(id, good)

    def _taken(self, id: str, good: list[int]) -> Variant:
        """A variant of one of these numbers, which is taken out of them."""
        while good:
            (k,) = draws.integers(f"{self.seed}/{id}", "draw", 0, len(good) - 1, 1)
            good[k], good[-1] = good[-1], good[k]
            variant = self._variant(id, self._numbered(good.pop()))
            if variant:
                return variant
            self.refused[OTHER_STEPS] += 1
        raise self._too_few(f"the draws that will do were used up before {id}")

    def _too_few(self, what: str) -> UsageError:
        """Says why most draws were refused that were fit by themselves, if any were, and what could be asked instead.
        """
        kinds: Counter[str] = Counter()
        for reason, count in self.refused.items():
            kinds[reason.partition(":")[0]] += count
        others = Counter({kind: count for kind, count in kinds.items() if kind not in UNFIT})
        why = "".join(f", mostly because {WHY[kind]}" for kind, _ in (others or kinds).most_common(1))
        probes = self._probes("less", 8 * self.judge.cost(judging.HABITS))
        less = self.judge.less(self.draws(probes)) if probes else []
        as_with = f", as with --blank {','.join(less)}" if 0 < len(less) < len(self.judge.asked) else ""
        return UsageError(what + why, f"draw from more numbers, show fewer decimals, or ask for less{as_with}")

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

    def _variant(self, id: str, drawn: Mapping[str, Floats]) -> Variant | None:
        """The problem of a draw; None where its solution has other steps than were judged."""
        problem, text = self.template.filled({path: as_written(figures) for path, figures in drawn.items()})
        solution = solve(problem)
        if solution.steps.keys() != self.judge.steps.keys():
            return None
        return Variant(id, problem, solution, text, _fingerprint(solution, self.judge.asked))


class _Ahead:
    """The draws for some ids, in their order; those for later ids are judged together with those for the first one."""

    def __init__(self, source: _Source, ids: Sequence[str]) -> None:
        self.source, self.ids = source, ids
        self._judged: dict[str, list[Judged]] = {}
        self._found: set[str] = set()  # ids of which one of the judged will do

    def of(self, k: int) -> Iterator[Judged]:
        """The draws for the id at place k, each with why it is refused."""
        known = self._judged.setdefault(self.ids[k], [])
        seen = 0
        while True:
            yield from known[seen:]
            seen = len(known)
            self._judge_more(k)

    def forget(self, k: int) -> None:
        """The id at place k has its variant."""
        del self._judged[self.ids[k]]
        self._found.discard(self.ids[k])

    def _judge_more(self, k: int) -> None:
        """More draws for the id at place k, and for some after it that none was found for yet."""
        at_once = self.source.at_once
        together = max(_PARTS * at_once // _EACH, 1)
        later = (id for id in self.ids[k + 1 : k + 2 * together] if id not in self._found)
        hungry = [self.ids[k], *islice(later, together - 1)]
        each = min(max(_EACH, _FEWEST // len(hungry)), at_once)
        seeds = []
        for id in hungry:
            start = len(self._judged.setdefault(id, []))
            seeds += [f"{self.source.seed}/{id}/{attempt}" for attempt in range(start, start + each)]
        parts = (self.source.draws(seeds[start : start + at_once]) for start in range(0, len(seeds), at_once))
        reasons, good = self.source.judge.judged(parts)
        refused: dict[str, Judged] = {reason: (reason, {}) for reason in reasons}  # one for the many that wait
        fair = ({path: figures[..., k].copy() for path, figures in good.items()} for k in range(reasons.count("")))
        for at, reason in enumerate(reasons):
            id = hungry[at // each]
            self._judged[id].append(refused[reason] if reason else (reason, next(fair)))
            if not reason:
                self._found.add(id)


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
