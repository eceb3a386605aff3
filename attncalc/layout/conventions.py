"""The head of a page: what its figures rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attncalc.blocks import Items, Math, Prose, Section, compose, figure
from attncalc.expr import Expr, name, number, sqrt
from attncalc.layout.looks import look
from attncalc.layout.page import HUGE, Page
from attncalc.solution import Convention, Group
from attncalc.steps import Arrange, Given, Step


def conventions(page: Page) -> Section:
    """What was noted, in the order of the wording: from the words to the loss; then how figures are rounded."""
    say = page.say
    noted = sorted(page.solution.conventions, key=lambda c: say.place(f"conventions.{c.key}"))
    sentences = [_OWN.get(c.key, _plain)(page, c) for c in noted]
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
        key = "conventions.sum_to_one.carried" if rule.carried else "conventions.sum_to_one.exact"
        rounded = say.joined([rounded, say(key)], "list.semicolon")
    return [rounded, say("conventions.signs"), *_noise(page)]


def _noise(page: Page) -> list[Prose]:
    """Which figures are shown with more digits than float64 holds; those that a huge result is worked from are not
    looked at again."""
    own = [step for step in page.solution.steps.values() if not isinstance(step, Arrange)]  # and no copies
    steps = [step for step in own if step.may_be_off] if page.cells <= HUGE else []
    in_lines = set(_in_lines(page.solution.root)) if page.detail == "full" else set()
    called = [page.say(look(step).line) if step in in_lines else Prose((Math(step.symbol),)) for step in steps]
    return [page.say("conventions.noise", steps=page.say.enumeration(list(dict.fromkeys(called))))] if steps else []


def _in_lines(group: Group) -> Iterator[Step]:
    """The steps that a page in full shows as lines of each row, under names of their own."""
    for member in group.members:
        if isinstance(member, Group):
            yield from _in_lines(member)
        elif isinstance(member, Step) and group.order == "by row":
            yield member


def _plain(page: Page, convention: Convention) -> Prose:
    """A sentence with the details as they are."""
    details = {key: Math(value) if isinstance(value, Expr) else str(value) for key, value in convention.details.items()}
    return page.say(f"conventions.{convention.key}.{convention.choice}", **details)


def _start(page: Page, convention: Convention) -> Prose:
    """Row vectors, and by which formulas Q, K and V come from H."""
    if convention.choice not in ("H", "memory"):
        return _plain(page, convention)
    made = [step for step in page.solution.steps.values() if step.role in ("query", "key", "value") and step.formula]
    formulas = [
        Prose((compose("chain", Math(step.symbol), "=", Math(step.formula)),)) for step in made[:3] if step.formula
    ]
    key = "conventions.start.each" if len(made) > 3 else "conventions.start.H"
    return page.say(key, formulas=page.say.joined(formulas))


def _scale(page: Page, convention: Convention) -> Prose:
    """Scaled by √d_k = √2."""
    if convention.choice != "sqrt_d_k":
        return _plain(page, convention)
    d_k = number(float(convention.details["d_k"]))
    root = compose("chain", Math(sqrt(name("d_k"))), "=", Math(sqrt(d_k)))
    return page.say("conventions.scale.sqrt_d_k", root=root)


def _heads(page: Page, convention: Convention) -> Prose:
    """2 heads; or 4 heads on 2 key/value heads: heads 1 and 2 on the first, heads 3 and 4 on the second."""
    say, details = page.say, convention.details
    heads, kv_heads = details["heads"], details["kv_heads"]
    group = heads // kv_heads
    served = [
        say(
            "conventions.heads.served",
            heads=say.enumeration([Prose((str(h + 1),)) for h in range(k * group, (k + 1) * group)]),
            kv=k + 1,
        )
        for k in range(kv_heads)
    ]
    joined = say.joined(served, "list.semicolon")
    parts = {"heads": heads, "kv_heads": kv_heads, "d_k": details["d_k"], "served": joined}
    return say(f"conventions.heads.{convention.choice}", **parts)


def _drawn(page: Page, convention: Convention) -> Prose:
    given = [step for step in page.solution.steps.values() if isinstance(step, Given)]
    symbols = dict.fromkeys(step.symbol for step in given if step.matrix.drawn in convention.details["matrices"])
    matrices = page.say.joined([Prose((Math(symbol),)) for symbol in symbols])
    return page.say("conventions.drawn.example", matrices=matrices)


def _figures(page: Page, convention: Convention) -> Prose:
    figures = [Prose((figure(text),)) for text in convention.details["figures"]]
    return page.say("conventions.read_as_hidden.figures", figures=page.say.enumeration(figures))


def _placed(page: Page, convention: Convention) -> Prose:
    return page.say("conventions.placed.first", n=page.count(convention.details["past"]))


_OWN: dict[str, Callable[[Page, Convention], Prose]] = {
    "start": _start,
    "scale": _scale,
    "heads": _heads,
    "placed": _placed,
    "drawn": _drawn,
    "read_as_hidden": _figures,
}


def _decimals(page: Page) -> Prose:
    """3 decimals; or 2 decimals (A: 3, O: 3)."""
    say, rule = page.say, page.rule
    decimals = say(f"conventions.decimals.{'one' if rule.decimals == 1 else 'many'}", n=rule.decimals)
    others = [s for s in page.solution.steps.values() if s.operands and s.places != rule.decimals and s.places]
    if not others:
        return decimals
    each = dict.fromkeys((step.symbol, step.places) for step in others)
    steps = [say("conventions.decimals.step", symbol=Math(symbol), n=places) for symbol, places in each]
    return say("conventions.decimals.by_step", decimals=decimals, steps=say.joined(steps))
