"""Questions in words with their keys: what a calculation does and why, with the names and sizes of its own problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attncalc import digits
from attncalc.blocks import Math, Prose, Question, Space, compose, figure
from attncalc.exercises.concepts import chosen
from attncalc.expr import Expr, exp, function, name, negated, number, product_of_slots, slot, sqrt, sum_of_products
from attncalc.layout.exercise import Exercise
from attncalc.layout.facts import Facts
from attncalc.steps import Step
from attncalc.wording import Part, Wording

LINES = 5  # of room to write


# What sentences take from a solution: each group of parts for the concepts that need it.

Parts = dict[str, Part | int]


def _projections(facts: Facts) -> Parts:
    assert facts.own
    symbols = {part: Math(each.made.symbol) for part, each in zip("QKV", facts.own, strict=True)}
    weights = {f"W_{part}": Math(each.weights[0].symbol) for part, each in zip("QKV", facts.own, strict=True)}
    return {**symbols, **weights, "H": Math(facts.own[0].source.symbol)}


def _cross(facts: Facts) -> Parts:
    assert facts.cross
    query, key, value = facts.cross
    symbols = {"Q": query.made, "K": key.made, "V": value.made, "H": query.source, "memory": key.source}
    return {**{part: Math(step.symbol) for part, step in symbols.items()}, "n": query.made.shape[0],
            "m": key.made.shape[0]}  # fmt: skip


def _scale(facts: Facts) -> Parts:
    return {"root": Math(sqrt(name("d_k"))), "d_k": Math(name("d_k")), "width": str(facts.details["scale"]["d_k"])}


def _weights(facts: Facts) -> Parts:
    A = facts.weights
    assert A
    i = A.shape[0] - 1
    cell = facts.page.place(A.symbol, i, 0)
    query, key = facts.page.row_name("row.query", A.rows, i), facts.page.row_name("row.key", A.columns, 0)
    return {"A": Math(A.symbol), "cell": cell, "query": query, "value": key}


def _shape(facts: Facts) -> Parts:
    S = facts.scores
    assert S
    n, m = S.shape
    sized = {part: _sized(step) for part, step in zip(("Q", "K_T"), S.operands, strict=True)}
    return {"S": Math(S.symbol), "shaped": _sized(S), "more": _shaped(n + 1, m + 1), "d_k": Math(name("d_k")), **sized}


def _attention(facts: Facts) -> Parts:
    """The matrices of an attention, and how many figures S has, and would have of twice as many tokens."""
    S, O = facts.scores, facts.weighted_sum  # noqa: E741
    assert S and O
    n = S.shape[0]
    symbols = {"Q": S.operands[0], "S": S, "A": O.operands[0], "O": O}
    counts: Parts = {"before": _equation(product_of_slots(2), n, n),
                     "after": _equation(product_of_slots(2), 2 * n, 2 * n)}  # fmt: skip
    return {**{part: Math(step.symbol) for part, step in symbols.items()}, **counts}


def _parameters(facts: Facts) -> Parts:
    weights = facts.projections
    names = facts.say.enumeration([Prose((Math(step.symbol),)) for step in weights])
    sides = [side for step in weights for side in step.shape]
    return {"names": names, "sum": _equation(sum_of_products(len(weights)), *sides)}


def _heads(facts: Facts) -> Parts:
    details = facts.details["heads"]
    heads, d_k = details["heads"], details["d_k"]
    return {"heads": heads, "d_k": d_k, "width": heads * d_k}


def _kv_heads(facts: Facts) -> Parts:
    assert facts.own
    heads, kv_heads = (facts.details["heads"][key] for key in ("heads", "kv_heads"))
    width = sum(each.made.shape[1] for each in facts.own[1:]) // kv_heads
    counts: Parts = {"kept": _equation(product_of_slots(2), kv_heads, width),
                     "all": _equation(product_of_slots(2), heads, width)}  # fmt: skip
    return {"heads": heads, "kv_heads": kv_heads, **counts}


def _residual(facts: Facts) -> Parts:
    step = facts.of("residual")[0]
    assert step.formula
    x, f = (Math(operand.symbol) for operand in step.operands)
    return {"sum": compose("chain", Math(step.symbol), "=", Math(step.formula)), "x": x, "f": f}


def _rms_norm(facts: Facts) -> Parts:
    d = facts.of("normalised")[0].shape[1]
    return {"d": d, "length": Math(sqrt(number(d)))}


def _feed_forward(facts: Facts) -> Parts:
    assert facts.hidden
    d, d_ff = facts.hidden.operands[1].shape
    return {"d": d, "d_ff": d_ff}


def _activation(facts: Facts) -> Parts:
    first, second = facts.hidden, facts.second
    assert first and second
    W_1, W_2 = first.operands[1], second.operands[1]
    joint = compose("sized", compose("dot", Math(W_1.symbol), Math(W_2.symbol)), _shaped(W_1.shape[0], W_2.shape[1]))
    return {"W_1": Math(W_1.symbol), "W_2": Math(W_2.symbol), "joint": joint}


def _cache(facts: Facts) -> Parts:
    assert facts.cached
    return {"n": facts.cached.shape[0]}


def _forcing(facts: Facts) -> Parts:
    return {"n": facts.predicted}


def _experts(facts: Facts) -> Parts:
    experts = facts.of("chosen")[0].shape[1]
    return {"k": int(facts.details["experts"].get("k", 1)), "experts": experts, "twice": 2 * experts}


def _loss(facts: Facts) -> Parts:
    words, rule = facts.vocabulary, facts.page.rule
    assert words
    logarithm = Math(function("ln", number(words)))
    value = figure(digits.one(math.log(words), rule.decimals, rule))
    certain = compose("chain", Math(negated(function("ln", number(1)))), "=", figure("0"))
    loss = compose("chain", logarithm, "≈", value)
    return {"certain": certain, "words": words, "each": Math(number(1) / number(words)), "loss": loss}


def _infinity(facts: Facts) -> Parts:
    return {"hidden": _power(digits.MINUS_INFINITY, "0"), "seen": _power("0", "1")}


def _softmax(facts: Facts) -> Parts:
    """The weights or probabilities that the first softmax gives."""
    step = _weighed(facts)
    assert step
    return {"weights": Math(step.symbol), "m": step.shape[1], "each": Math(number(1) / number(step.shape[1]))}


def _none(facts: Facts) -> Parts:
    return {}


@dataclass(frozen=True)
class Concept:
    """A question in words: `concepts.KEY` in the wording. It is asked where it `applies`, with the `parts` that its
    sentences take from the problem."""

    key: str
    applies: Callable[[Facts], object]
    parts: Callable[[Facts], Parts] = _none


CONCEPTS = (
    Concept("sources", lambda facts: facts.own, _projections),
    Concept("parameters", lambda facts: facts.own, _parameters),
    Concept("shape", lambda facts: facts.scores and facts.is_unseen(facts.scores), _shape),
    Concept("scale", lambda facts: facts.notes("scale", "sqrt_d_k"), _scale),
    Concept("weights", lambda facts: facts.weights, _weights),
    Concept("constant", lambda facts: _weighed(facts) and not facts.of("shifted"), _softmax),
    Concept("temperature", lambda facts: facts.notes("temperature") and _weighed(facts) and not facts.hides, _softmax),
    Concept("masked", lambda facts: facts.scores),
    Concept("infinity", lambda facts: facts.hides, _infinity),
    Concept("before", lambda facts: facts.hides),
    Concept("cross", lambda facts: facts.cross, _cross),
    Concept("heads", lambda facts: facts.notes("heads") and facts.details["heads"]["heads"] > 1, _heads),
    Concept("groups", lambda facts: facts.shares and facts.own, _kv_heads),
    Concept("growth", lambda facts: facts.weighted_sum and facts.weighted_sum.shape[0] > 1, _attention),
    Concept(
        "order",
        lambda facts: facts.weighted_sum and facts.notes("mask", "none") and not facts.has_positions,
        _attention,
    ),
    Concept("positions", lambda facts: facts.scores and facts.has_positions),
    Concept("frequencies", lambda facts: facts.notes("sinusoidal", "interleaved", "concatenated")),
    Concept("rotary", lambda facts: facts.notes("angle", "base", "ntk", "step_radians", "step_degrees")),
    Concept("residual", lambda facts: facts.of("residual"), _residual),
    Concept("layer-norm", lambda facts: facts.notes("layer_norm")),
    Concept("rms-norm", lambda facts: facts.notes("rms_norm"), _rms_norm),
    Concept("feed-forward", lambda facts: facts.hidden, _feed_forward),
    Concept(
        "activation",
        lambda facts: facts.hidden and facts.notes("activation", "relu", "gelu", "gelu-tanh", "silu"),
        _activation,
    ),
    Concept("experts", lambda facts: facts.notes("experts") and facts.of("chosen"), _experts),
    Concept("kept", lambda facts: facts.notes("top_k") or facts.notes("top_p")),
    Concept("loss", lambda facts: (facts.vocabulary or 0) > 1, _loss),
    Concept("forcing", lambda facts: facts.predicted > 1, _forcing),
    Concept("cache", lambda facts: facts.cached, _cache),
)


def in_words(exercises: Sequence[Exercise], lang: str, which: str, seed: str = "") -> tuple[Question, ...]:
    """The questions in words on some problems: `which` is all, how many, or names with commas between them.

    Each is about the first problem that it applies to. They stand in the order of the table, or as the seed draws them.
    """
    say = Wording(lang)
    found: dict[str, Question] = {}
    facts = [Facts(exercise, say) for exercise in exercises]
    for concept in CONCEPTS:
        k = next((k for k, each in enumerate(facts) if concept.applies(each)), None)
        if k is not None:
            found[concept.key] = _question(concept, facts[k], k + 1 if len(facts) > 1 else 0)
    known = [concept.key for concept in CONCEPTS]
    return tuple(found[key] for key in chosen(which, known, list(found), seed))


def _question(concept: Concept, facts: Facts, n: int) -> Question:
    """A concept as a question of the sheet, about problem `n` where there are several."""
    say, at, parts = facts.say, f"concepts.{concept.key}", concept.parts(facts)
    title = say(f"{at}.title")
    title = say("concepts.of", title=title, n=n) if n else title
    return Question(title, (say(f"{at}.question", **parts), Space(LINES)), (say(f"{at}.answer", **parts),))


def _weighed(facts: Facts) -> Step | None:
    """What the first softmax gives, of more than one column."""
    exponentials = facts.of("exp")
    found = (step for step in facts.steps.values() if exponentials and step.operands[:1] == (exponentials[0],))
    return next((step for step in found if step.rows_sum_to_one and step.shape[1] > 1), None)


def _power(exponent: str, result: str) -> Math:
    """e^0 = 1."""
    return compose("chain", Math(exp(slot(0)), (exponent,)), "=", figure(result))


def _equation(pattern: Expr, *figures: int) -> Math:
    """2·2 + 2·2 = 8."""
    texts = tuple(map(str, figures))
    sides = list(zip(figures[::2], figures[1::2], strict=True))
    return compose("chain", Math(pattern, texts), "=", figure(str(sum(a * b for a, b in sides))))


def _shaped(n: int, m: int) -> Math:
    return compose("shape", figure(str(n)), figure(str(m)))


def _sized(step: Step) -> Math:
    return compose("sized", Math(step.symbol), _shaped(*step.shape))
