"""The head of a page: what its figures rest on."""

from __future__ import annotations

from attncalc.blocks import Items, Math, Prose, Section, compose, figure
from attncalc.expr import name, number, sqrt
from attncalc.layout.page import Page
from attncalc.steps import Convention, Map, Step


def conventions(page: Page) -> Section:
    say = page.say
    sentences = [_CONVENTIONS.get(c.key, _plain)(page, c) for c in page.solution.conventions]
    if softmax := _softmax(page):
        sentences.append(softmax)
    if page.cells:
        sentences += _rounding(page)
    if page.show.count_from == 0:
        sentences.append(say("conventions.counting"))
    return Section(say("sections.conventions"), "conventions", (Items(tuple(sentences)),))


def _rounding(page: Page) -> list[Prose]:
    """How figures are rounded, and what = and ≈ mean."""
    say, rule = page.say, page.rule
    ties = say(f"conventions.ties.{rule.ties}")
    rounded = say(f"conventions.rounding.{rule.rounding}", ties=ties, decimals=_decimals(page))
    if rule.weights == "sum-to-one" and any(step.rows_sum_to_one for step in page.solution.steps.values()):
        rounded = say.joined([rounded, say("conventions.sum_to_one")], "list.semicolon")
    return [rounded, say("conventions.signs")]


def _plain(page: Page, convention: Convention) -> Prose:
    return page.say(f"conventions.{convention.key}.{convention.choice}")


def _start(page: Page, convention: Convention) -> Prose:
    """Row vectors, and by which formulas Q, K and V come from H."""
    group = next((g for g in page.solution.root.members if getattr(g, "key", "") == "projections"), None)
    made = [step for step in group.steps() if step.role] if group else []  # type: ignore[union-attr]
    formulas = [
        Prose((compose("chain", Math(step.symbol), "=", Math(step.formula)),)) for step in made if step.formula
    ]
    return page.say(f"conventions.start.{convention.choice}", formulas=page.say.joined(formulas))


def _scale(page: Page, convention: Convention) -> Prose:
    """Scaled by √d_k = √2."""
    details = convention.details
    root: Math | str = ""
    if convention.choice == "sqrt_d_k":
        root = compose("chain", Math(sqrt(name("d_k"))), "=", Math(sqrt(number(float(details["d_k"])))))
    return page.say(f"conventions.scale.{convention.choice}", root=root, value=figure(details["value"]))


_CONVENTIONS = {"start": _start, "scale": _scale}


def _softmax(page: Page) -> Prose | None:
    """Whether rows are shifted by their maximum before e^x, and which."""
    shifted = [step for step in page.solution.steps.values() if isinstance(step, Map) and step.where is not None]
    if not shifted:
        return None
    if page.show.shift == "max":
        return page.say("conventions.softmax.max")
    rows = [page.row_name("row.other", step.rows, int(i)) for step in shifted for i in step.where[:, 0].nonzero()[0]]  # type: ignore[index]
    return page.say("conventions.softmax.shifted", rows=page.say.enumeration(rows))


def _decimals(page: Page) -> Prose:
    """3 decimals; or 2 decimals (A: 3, O: 3)."""
    say, rule = page.say, page.rule
    key = "one" if rule.decimals == 1 else "many"
    decimals = say(f"conventions.decimals.{key}", n=rule.decimals)
    others: list[Step] = [
        s for s in page.solution.steps.values() if s.operands and s.places != rule.decimals
    ]
    if not others:
        return decimals
    steps = [say("conventions.decimals.step", symbol=Math(step.symbol), n=step.places) for step in others]
    return say("conventions.decimals.by_step", decimals=decimals, steps=say.joined(steps))


