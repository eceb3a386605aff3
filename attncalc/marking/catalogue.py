"""The catalogue of known wrong methods: each a wrong way through the same problem; and of detours, which end right.

Most are other versions of some steps, each a short composition on a sheet from the operands of the right one; the rest
are the same problem with a key changed. What has no place in a problem, or changes nothing there, makes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from attncalc.errors import ProblemError, StepError
from attncalc.expr import Expr, exp, function, number, slot, sqrt
from attncalc.mechanisms import solve
from attncalc.problem import Attention, Problem, Scale
from attncalc.problem.experts import Experts
from attncalc.problem.layers import Part
from attncalc.problem.norms import Norm
from attncalc.problem.output import Choice
from attncalc.problem.positions import Sinusoidal
from attncalc.problem.rotary import Rotary
from attncalc.rounding import Flags
from attncalc.sheet import Sheet
from attncalc.solution import Solution
from attncalc.steps import Arrange, Contract, Given, Map, Matrix, Numbers, Reduce, Step

Way: TypeAlias = Mapping[str, Step]  # the steps of a wrong way by id, each after its operands
Method: TypeAlias = Callable[[Problem, Solution], Way]
Composition: TypeAlias = Callable[[Sheet, Step], object]  # what is made of one step, if anything
Change: TypeAlias = Callable[[Any], Mapping[str, Any]]  # the fields of a part of a problem that are to be others


# Two kinds of entry


def other_steps(*compositions: Composition) -> Method:
    """Other versions of single steps: of each step the first composition that makes one, with its id, on a sheet. What
    it makes on the way has an id that starts with that of the step."""

    def way(problem: Problem, solution: Solution) -> Way:
        found: dict[str, Step] = {}
        for id, step in solution.steps.items():
            versions = (_made(composition, step, problem) for composition in compositions)
            found |= next(filter(None, versions), {id: step})
        return found

    return way


def _made(composition: Composition, step: Step, problem: Problem) -> dict[str, Step]:
    sheet = Sheet(problem.show.rule)
    try:
        composition(sheet, step)
    except StepError:  # it has no figures: something is divided by 0
        return {}
    return sheet.solution().steps


def other_keys(change: Change) -> Method:
    """The same problem with other keys."""

    def way(problem: Problem, solution: Solution) -> Way:
        changed = _changed(problem.given, change)
        if changed is problem.given:
            return {}
        try:
            return solve(problem._replace(given=changed)).steps
        except ProblemError:
            return {}

    return way


def to(kind: Any, **values: Any) -> Change:
    """These values in each part of this kind."""
    return lambda part: values if isinstance(part, kind) else {}


def _changed(node: Any, change: Change) -> Any:
    """A part of a problem with its parts, and theirs, changed; itself where nothing is."""
    if not isinstance(node, tuple):
        return node
    parts = tuple(_changed(part, change) for part in node)
    if hasattr(node, "_make"):
        parts = node._make(parts)._replace(**change(node))
    return parts if parts != node else node


def law(ends: str, of: Callable[[Map], Expr | None]) -> Composition:
    """Another law for each expression whose id ends so; None: not for this one."""

    def composition(sheet: Sheet, step: Step) -> object:
        other = of(step) if isinstance(step, Map) and _is(step, ends) else None
        return other and sheet.map(step.id, other, *step.operands, **_about(step))

    return composition


# What entries ask of steps


def _is(step: Step, *ends: str) -> bool:
    """Whether the last part of a step's id is one of these: layer1.attention.scaled is `scaled`."""
    return step.id.rpartition(".")[2] in ends


def _about(step: Step) -> dict[str, Any]:
    return {"symbol": step.symbol, "places": step.places, "role": step.role}


def _is_square(step: Step) -> bool:
    return step.shape[0] == step.shape[1]


def _skipped(step: Map) -> Expr | None:
    """The law of a step that was left out."""
    return slot(0)


def _transpose(sheet: Sheet, step: Step, of: Step) -> Step:
    return sheet.arrange(f"{step.id}.transposed", np.transpose, of, role=of.role)


def _root_of_d_k(step: Map) -> Expr | None:
    """√d_k, where that is what a step divides by."""
    divisor = step.law.args[1] if step.law.op == "over" else step.law
    return divisor if divisor.op == "sqrt" else None


def _temperature(step: Map) -> Expr | None:
    """T, where that is what a step divides by."""
    divisor = step.law.args[1] if step.law.op == "over" else step.law
    return divisor if divisor.op == "number" and divisor.args[2] == "T" else None


def _is_softmax(step: Step) -> bool:
    return isinstance(step, Map) and step.rows_sum_to_one and _is(step.operands[0], "exp")


def _scores(weights: Step) -> Step:
    """What a softmax is of, before it is shifted."""
    x = weights.operands[0].operands[0]
    return x.operands[0] if _is(x, "shifted") else x


def _seen(mask: Step) -> Flags | None:
    """Where a mask lets look, where it only hides."""
    seen = np.isfinite(mask.values)
    return seen if (mask.values[seen] == 0).all() else None


def _as_given(sheet: Sheet, id: str, figures: Any) -> Step:
    """Whole numbers as a step."""
    values = np.asarray(figures, dtype=np.float64)
    return sheet.given(id, Matrix(values, np.char.mod("%d", values).astype(object)))


# Scores and softmax


def _by_d_k(step: Map) -> Expr | None:
    root = _root_of_d_k(step)
    return root and slot(0) / root.args[0]


def _times_root(step: Map) -> Expr | None:
    root = _root_of_d_k(step)
    return root and slot(0) * root


def _by_root_of_d_model(step: Map) -> Expr | None:
    width = _width_before(step)
    return slot(0) / sqrt(number(float(width))) if _root_of_d_k(step) and width else None


def _width_before(step: Step) -> int | None:
    """The width of the rows that the last product with weights before a step is of."""
    while step.operands:
        if isinstance(step, Contract) and step.operands[1].role == "weight":
            return step.operands[0].shape[1]
        step = step.operands[0]
    return None


def _not_scaled(step: Map) -> Expr | None:
    return None if _root_of_d_k(step) or _temperature(step) else slot(0)


def _scaled_unasked(part: Any) -> Mapping[str, Any]:
    if isinstance(part, Attention) and part.scale.kind == "none" and part.d_k:
        return {"scale": Scale("sqrt_d_k")}
    return {}


def _times_temperature(step: Map) -> Expr | None:
    T = _temperature(step)
    return T and slot(0) * T


def _softmax_of_columns(sheet: Sheet, step: Step) -> None:
    if _is_softmax(step):
        powers = sheet.map(f"{step.id}.powers", exp(slot(0)), _scores(step))
        total = sheet.reduce(f"{step.id}.total", "sum", powers, over="column")
        sheet.map(step.id, slot(0) / slot(1), powers, total, **_about(step))


def _shares_of_scores(sheet: Sheet, step: Step) -> None:
    if _is_softmax(step):
        total = sheet.reduce(f"{step.id}.total", "sum", _scores(step))
        sheet.map(step.id, slot(0) / slot(1), _scores(step), total, **_about(step))


def _undivided(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Map) and len(step.operands) == 2 and _is(step.operands[1], "row_sum"):
        sheet.map(step.id, slot(0), step.operands[0], **_about(step))


def _max_subtracted(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Map) and _is(step, "exp") and not _is(step.operands[0], "shifted"):
        (x,) = step.operands
        largest = sheet.reduce(f"{step.id}.max", "max", x)
        sheet.map(step.id, exp(slot(0) - slot(1)), x, largest, **_about(step))


def _max_not_subtracted(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Map) and _is(step, "exp") and _is(step.operands[0], "shifted"):
        sheet.map(step.id, exp(slot(0)), step.operands[0].operands[0], **_about(step))


# Masks


def _not_masked(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Map) and _is(step, "masked", "kept") and step.operands[1].role in ("mask", "keep"):
        sheet.map(step.id, slot(0), step.operands[0], **_about(step))


def _hidden_are_0(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Map) and _is(step, "masked"):
        x, mask = step.operands
        seen = _seen(mask)
        if seen is not None:
            keep = _as_given(sheet, f"{step.id}.keep", seen)
            sheet.map(step.id, slot(0) * slot(1), x, keep, **_about(step))


def _mask_transposed(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Map) and _is(step, "masked") and _is_square(step):
        x, mask = step.operands
        sheet.map(step.id, slot(0) + slot(1), x, _transpose(sheet, step, mask), **_about(step))


def _masked_after_softmax(sheet: Sheet, step: Step) -> None:
    if _is_softmax(step) and isinstance(_scores(step), Map) and _is(_scores(step), "masked"):
        x, mask = _scores(step).operands
        seen = _seen(mask)
        if seen is not None:
            powers = sheet.map(f"{step.id}.powers", exp(slot(0)), x)
            total = sheet.reduce(f"{step.id}.total", "sum", powers)
            weights = sheet.map(f"{step.id}.before", slot(0) / slot(1), powers, total, rows_sum_to_one=True)
            keep = _as_given(sheet, f"{step.id}.keep", seen)
            sheet.map(step.id, slot(0) * slot(1), weights, keep, **_about(step))


# Products of matrices


def _keys_not_transposed(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Contract) and _is(step, "S"):
        Q, K = step.operands[0], step.operands[1].operands[0]
        if _is_square(K):
            sheet.contract(step.id, Q, K, **_about(step))


def _queries_by_keys(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Contract) and _is(step, "S") and _is_square(step):
        Q, K = step.operands[0], step.operands[1].operands[0]
        sheet.contract(step.id, K, _transpose(sheet, step, Q), **_about(step))


def _sum_down_the_columns(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Contract) and _is(step, "O") and _is_square(step.operands[0]):
        A, V = step.operands
        sheet.contract(step.id, _transpose(sheet, step, A), V, **_about(step))


def _weights_transposed(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Contract) and step.operands[1].role == "weight" and _is_square(step.operands[1]):
        x, W = step.operands
        sheet.contract(step.id, x, _transpose(sheet, step, W), **_about(step))


def _bias_left_out(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Map) and len(step.operands) == 2 and step.operands[1].role in ("weight", "bias"):
        sheet.map(step.id, slot(0), step.operands[0], **_about(step))


# Heads


def _other_columns(columns: Callable[[Numbers, int, int], Numbers | None]) -> Composition:
    """Other figures for Q, K and V of a head: `columns` gives the cells of the whole, of so many heads, that head h
    (from 0) gets."""

    def composition(sheet: Sheet, step: Step) -> None:
        own = f".{step.id}".rpartition(".head")[2]
        number, _, letter = own.partition(".")
        if isinstance(step, Arrange) and letter in ("Q", "K", "V") and step.operands[0].role == step.role:
            (whole,) = step.operands
            heads = whole.shape[1] // step.shape[1]
            cells = columns(np.arange(whole.values.size).reshape(whole.shape), heads, int(number) - 1)
            if cells is not None:
                sheet.arrange(step.id, lambda _: cells, whole, **_about(step))

    return composition


def _reshaped(cells: Numbers, heads: int, h: int) -> Numbers | None:
    n, width = cells.shape
    return cells.reshape(heads, n, width // heads)[h] if h < heads else None


def _dealt_out(cells: Numbers, heads: int, h: int) -> Numbers | None:
    return cells[:, h::heads] if h < heads else None


def _shared_in_turn(cells: Numbers, heads: int, h: int) -> Numbers:
    """Keys and values: head h works with the (h mod heads)th."""
    return np.split(cells, heads, axis=1)[h % heads]


# Norms, residuals and feed-forward


def _other_variance(fold: str) -> Composition:
    def composition(sheet: Sheet, step: Step) -> None:
        if isinstance(step, Reduce) and _is(step, "variance") and step.fold != fold:
            sheet.reduce(step.id, fold, step.operands[0], **_about(step))

    return composition


def _without_root(step: Map) -> Expr | None:
    root, eps = (step.law, None) if step.law.op == "sqrt" else step.law.args
    inner: Expr = root.args[0]
    return inner + eps if eps else inner


def _mean_not_subtracted(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Map) and _is(step, "normalised") and _is(step.operands[0], "deviations"):
        deviations, root = step.operands
        sheet.map(step.id, slot(0) / slot(1), deviations.operands[0], root, **_about(step))


def _residual_left_out(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Map) and step.role == "residual":
        sheet.map(step.id, slot(0), step.operands[1], **_about(step))


# Positions


def _positions_left_out(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Map) and _is(step, "X") and _is(step.operands[1], "positions"):
        sheet.map(step.id, slot(0), step.operands[0], **_about(step))


def _turned_backwards(sheet: Sheet, step: Step) -> None:
    for part, other in (("a_rotated", slot(0) * slot(1) + slot(2) * slot(3)),
                        ("b_rotated", slot(2) * slot(3) - slot(0) * slot(1))):  # fmt: skip
        if isinstance(step, Map) and _is(step, part):
            sheet.map(step.id, other, *step.operands, **_about(step))


def _counted_from_1(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Given) and _is(step, "pos"):
        values = step.values + 1
        sheet.given(step.id, Matrix(values, np.char.mod("%d", values).astype(object)), **_about(step))


def _as_degrees(wave: str) -> Composition:
    radians, degrees = function(wave, slot(0)), Expr(f"{wave}_degrees", slot(0))
    return law(wave, lambda step: degrees if step.law == radians else None)


def _as_radians(wave: str) -> Composition:
    radians = function(wave, slot(0))
    return law(wave, lambda step: radians if step.law != radians else None)


def _waves_swapped(sheet: Sheet, step: Step) -> None:
    if isinstance(step, Arrange) and _is(step, "positions") and len(step.operands) == 2:
        sin, cos = step.operands
        if sin.shape == cos.shape:
            sheet.arrange(step.id, step.sources, cos, sin, **_about(step))


# Entries


def _softmax_before_choice(part: Any) -> Mapping[str, Any]:
    is_after = isinstance(part, Experts) and part.normalise == "after"
    return {"normalise": "before", "renormalise": False} if is_after else {}


_LN_10 = number(float(np.log(10)), repr(float(np.log(10))))

# The commonest of what is much alike comes first.
WRONG: Mapping[str, Method] = {
    "no_scale": other_steps(law("scaled", lambda step: _root_of_d_k(step) and slot(0))),
    "by_d_k": other_steps(law("scaled", _by_d_k)),
    "by_sqrt_d_model": other_steps(law("scaled", _by_root_of_d_model)),
    "times_sqrt_d_k": other_steps(law("scaled", _times_root)),
    "scale_unasked": other_keys(_scaled_unasked),
    "no_factor": other_steps(law("scaled", _not_scaled)),
    "no_temperature": other_steps(law("scaled", lambda step: _temperature(step) and slot(0))),
    "times_temperature": other_steps(law("scaled", _times_temperature)),
    "no_mask": other_steps(_not_masked),
    "hidden_are_0": other_steps(_hidden_are_0),
    "mask_transposed": other_steps(_mask_transposed),
    "mask_after_softmax": other_steps(_masked_after_softmax),
    "softmax_of_columns": other_steps(_softmax_of_columns),
    "no_exp": other_steps(_shares_of_scores),
    "no_sum": other_steps(_undivided),
    "K_not_transposed": other_steps(_keys_not_transposed),
    "K_by_Q": other_steps(_queries_by_keys),
    "A_transposed": other_steps(_sum_down_the_columns),
    "W_transposed": other_steps(_weights_transposed),
    "no_bias": other_steps(_bias_left_out),
    "heads_reshaped": other_steps(_other_columns(_reshaped)),
    "heads_dealt_out": other_steps(_other_columns(_dealt_out)),
    "heads_in_turn": other_steps(_other_columns(_shared_in_turn)),
    "by_d_minus_1": other_steps(_other_variance("unbiased mean")),
    "by_d": other_steps(_other_variance("mean")),
    "no_root": other_steps(law("root", _without_root)),
    "no_mean": other_steps(_mean_not_subtracted),
    "eps_outside": other_keys(to(Norm, eps_in="outside")),
    "eps_in_root": other_keys(to(Norm, eps_in="root")),
    "no_gain": other_steps(law("gained", _skipped)),
    "no_residual": other_steps(_residual_left_out),
    "norm_before": other_keys(to(Part, place="pre")),
    "norm_after": other_keys(to(Part, place="post")),
    "no_activation": other_steps(law("activated", _skipped)),
    "no_positions": other_steps(_positions_left_out),
    "pairs_of_neighbours": other_keys(to(Rotary, pairs="adjacent")),
    "pairs_of_halves": other_keys(to(Rotary, pairs="halves")),
    "turned_backwards": other_steps(_turned_backwards),
    "from_1": other_steps(_counted_from_1),
    "in_degrees": other_steps(_as_degrees("sin"), _as_degrees("cos")),
    "in_radians": other_steps(_as_radians("sin"), _as_radians("cos")),
    "sin_cos_swapped": other_steps(_waves_swapped),
    "waves_in_turn": other_keys(to(Sinusoidal, columns="interleaved")),
    "waves_side_by_side": other_keys(to(Sinusoidal, columns="concatenated")),
    "renormalised": other_keys(to(Choice | Experts, renormalise=True)),
    "softmax_first": other_keys(_softmax_before_choice),
    "log_10": other_steps(law("log_probabilities", lambda step: function("ln", slot(0)) / _LN_10)),
    "no_minus": other_steps(law("losses", _skipped)),
}

# Other figures on the way than those asked for, and the right result: what is written so follows.
DETOURS: Mapping[str, Method] = {
    "max_subtracted": other_steps(_max_subtracted),
    "max_not_subtracted": other_steps(_max_not_subtracted),
}
