"""What the questions in words ask about one solution: its parts by what they are, wherever they stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from attncalc.layout.exercise import Exercise
from attncalc.layout.page import Page, is_self_attention
from attncalc.solution import Group
from attncalc.steps import Arrange, Step
from attncalc.wording import Wording


class Projection(NamedTuple):
    """Q = H·W_Q + b_Q: what is made, of which rows, with which weights."""

    made: Step
    source: Step
    weights: tuple[Step, ...]


class Facts:
    """What the concepts ask about one solution, and take from it; None is what it does not have."""

    def __init__(self, exercise: Exercise, say: Wording) -> None:
        solution = exercise.solution
        self.page, self.say, self.exercise = Page(solution, exercise.show, say), say, exercise
        self.steps = solution.steps
        self.noted = {(convention.key, convention.choice) for convention in solution.conventions}
        self.details = {convention.key: convention.details for convention in solution.conventions}
        self.passes = _passes(solution.root)

    def notes(self, key: str, *choices: str) -> bool:
        """Whether the solution rests on a choice of this kind, one of these where some are named."""
        return any(key == noted and (choice in choices or not choices) for noted, choice in self.noted)

    def of(self, role: str) -> list[Step]:
        return [step for step in self.steps.values() if step.role == role]

    # The attention that is asked about

    @cached_property
    def scores(self) -> Step | None:
        """S = Q·Kᵀ of self-attention, the largest of them."""
        found = [step for step in self.of("scores") if is_self_attention(step) and _is_product(step)]
        return max(found, key=lambda step: step.values.size, default=None)

    @cached_property
    def weighted_sum(self) -> Step | None:
        """O = A·V with those scores."""
        return self.beside(self.scores, "O") if self.scores else None

    @cached_property
    def weights(self) -> Step | None:
        """The largest weights that softmax gives, where no query is left with nothing to see, or with no output."""
        found = [step for step in self.of("weights") if step.operands and step.rows_sum_to_one]
        largest = max(found, key=lambda step: step.values.size, default=None)
        if largest is None or largest.shape[1] < 2 or self.notes("mask", "on_weights") or self.notes("query_mask"):
            return None
        return largest if (largest.values > 0).any(axis=1).all() else None

    @cached_property
    def projected(self) -> list[tuple[Projection, ...]]:
        """Queries, keys and values that are made, head by head where each head makes its own."""
        found = []
        for query in self.of("query"):
            made = [self.beside(query, each) for each in "QKV"]
            if all(step and step.formula is not None for step in made):
                found.append(tuple(_projection(step) for step in made if step))
        return found

    @cached_property
    def own(self) -> tuple[Projection, ...] | None:
        """The projections of the first self-attention."""
        return next((each for each in self.projected if each[0].source is each[1].source), None)

    @cached_property
    def cross(self) -> tuple[Projection, ...] | None:
        """The projections of the first cross-attention."""
        return next((each for each in self.projected if each[0].source is not each[1].source), None)

    @cached_property
    def projections(self) -> list[Step]:
        """All weights and biases of the queries, keys and values of one self-attention, those of each head."""
        scope = _scope(self.own[0].made) if self.own else ""
        heads = [each for each in self.projected if _scope(each[0].made) == scope]
        return list(dict.fromkeys(weight for each in heads for part in each for weight in part.weights))

    def is_unseen(self, step: Step) -> bool:
        """Whether the sheet neither asks for a step nor shows it, which would tell its shape."""
        return not (self.exercise.shapes or self.exercise.asks(step) or self.exercise.shows(step))

    def beside(self, step: Step, other: str) -> Step | None:
        """K beside Q, O beside S: the step of another name in the same attention and head."""
        return self.steps.get(re.sub(r"[^.]+$", other, step.id))

    # The rest of a model

    @property
    def has_positions(self) -> bool:
        return any(self.notes(key) for key in ("sinusoidal", "learned", "rotary"))

    @property
    def hides(self) -> bool:
        return any(np.isneginf(step.values).any() for step in self.of("masked"))

    @cached_property
    def shares(self) -> bool:
        return self.notes("heads", "one", "groups")

    @cached_property
    def cached(self) -> Step | None:
        """The keys of the last step of a generation, those from the cache and the new one."""
        keys = [step for step in self.of("key") if isinstance(step, Arrange) and step.how == "cache"]
        return keys[-1] if keys else None

    @cached_property
    def hidden(self) -> Step | None:
        found = self.of("hidden")
        return _product(found[0]) if found and not self.notes("experts") else None

    @cached_property
    def second(self) -> Step | None:
        """The product that takes the activated hidden layer."""
        activated = self.of("activated")
        return next((step for step in self.steps.values() if activated and activated[0] in step.operands), None)

    @cached_property
    def vocabulary(self) -> int | None:
        """How many words a prediction whose loss is taken chooses from."""
        sources = [step.operands[0] for step in self.of("target_probabilities") if step.operands]
        return sources[0].shape[1] if sources else None

    @cached_property
    def predicted(self) -> int:
        """How many words are generated, or have a loss."""
        losses = self.of("target_probabilities")
        return self.passes or (losses[0].shape[0] if losses else 0)


def _passes(group: Group) -> int:
    """How many steps a generation has."""
    inner = [member for member in group.members if isinstance(member, Group)]
    return sum(1 if member.key == "step" else _passes(member) for member in inner)


def _is_product(step: Step) -> bool:
    return step.formula is not None and step.formula.op == "dot"


def _product(step: Step) -> Step:
    """H·W_Q in H·W_Q + b_Q."""
    return step if _is_product(step) else _product(step.operands[0])


def _projection(step: Step) -> Projection:
    product = _product(step)
    source, weight = product.operands
    return Projection(step, source, (weight, *_biases(step)))


def _biases(step: Step) -> Iterator[Step]:
    yield from () if _is_product(step) else (*_biases(step.operands[0]), *step.operands[1:])


def _scope(step: Step) -> str:
    """The attention that a step belongs to, whichever its head."""
    return re.sub(r"(head\d+\.)?[^.]+$", "", step.id)
