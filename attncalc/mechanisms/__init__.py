"""Each mechanism of the Transformer as a short composition of steps, and `solve`, which works a problem."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from attncalc.errors import ProblemError, StepError
from attncalc.problem import Problem
from attncalc.problem.source import MOST_IDS, either, some_of
from attncalc.sheet import MOST_FIGURES, Sheet
from attncalc.show import Show
from attncalc.solution import Solution
from attncalc.steps import Step

# The mechanism of each kind of problem, in the module that is imported for it.
MECHANISMS = {
    "attention": "heads.attention",
    "softmax": "softmax.softmax_alone",
    "mask": "mask_table.mask_table",
    "layer-norm": "norms.norm_of_rows",
    "rms-norm": "norms.norm_of_rows",
    "feed-forward": "feed_forward.feed_forward_of_rows",
    "positions": "positions.positions_alone",
    "rotary": "rotary.rotary_of_rows",
    "gate": "feed_forward.gate_alone",
    "residual": "feed_forward.residual_alone",
    "encoder": "models.model",
    "decoder": "models.model",
    "encoder-decoder": "models.model",
    "experts": "experts.experts_of_rows",
    "output": "output.output_alone",
    "loss": "loss.loss_alone",
    "size": "size.sizes",
}
WITH_A_SIZE = ("size", "encoder", "decoder", "encoder-decoder")  # kinds of which `attncalc size` can say how large
# How many figures may be worked where not all are shown: those of 1,024 positions with a mask; of the result alone,
# where what was read is LARGE, those of 4,096.
MOST_SHOWN_IN_PART, MOST_OF_LARGE = 8_000_000, 200_000_000
LARGE = 1 << 20  # bytes
# What steps may be called: `show.decimals` may name one that a solution has no need of.
NAMES = frozenset({"H", "memory", "W_Q", "W_K", "W_V", "W_QKV", "b_Q", "b_K", "b_V", "b_QKV", "Q", "K", "V", "product",
                   "Q.product", "K.product", "V.product", "output.product", "K_T", "S", "x",
                   "scaled", "softcap", "mask", "masked", "row_max", "shifted", "exp", "row_sum",
                   "given_A", "kept", "A", "O", "concat", "W_O", "b_O", "output", "v_a", "query_mask",
                   "masked_output",
                   "mean", "deviations", "squares", "variance", "mean_square", "root", "normalised", "gained", "biased",
                   "gain", "bias", "W_1", "b_1", "W_2", "b_2", "W_gate", "b_gate", "hidden", "hidden.product", "gate",
                   "gate.product", "activated", "gated", "value", "f",
                   "embedding", "ids", "pos", "even", "angle", "angle_paired", "sin", "cos", "table", "positions", "X",
                   "step", "base", "base_scaled", "angles",
                   *(f"{of}{part}" for of in ("", "Q.", "K.") for part in ("pos", "angles", "cos", "sin", "a", "b",
                     "a_rotated", "b_rotated", "turned", "rest", "rotated")),
                   "W", "b", "tied", "tied_T", "logits", "logits.product", "probabilities", "sorted", "cumulative",
                   "chosen", "targets", "target_probabilities", "log_probabilities", "losses", "sum", "perplexity",
                   "likelihood", "router", "gates", "load", "outputs", "combined",
                   *(f"{kept}.{part}" for kept in ("kept", "gates") for part in ("product", "row_sum"))})  # fmt: skip


def mechanism(kind: str) -> Callable[[Sheet, Any, Show], Step]:
    """What works a problem of this kind."""
    module, _, name = MECHANISMS[kind].partition(".")
    found: Callable[[Sheet, Any, Show], Step] = getattr(import_module(f"{__name__}.{module}"), name)
    return found


def solve(problem: Problem, on_step: Callable[[str], object] | None = None) -> Solution:
    """The worked solution; a carried one can give the exact one beside it. Raises ProblemError where it has none.

    `on_step` is told the id of each step before it is worked.
    """
    solution = _worked(problem, on_step)
    _check_decimals(problem, solution)
    if problem.show.rule.carried:
        solution.in_full_precision = lambda: _worked(problem.with_show(rounding="exact"), on_step)
    return solution


def sized(problem: Problem) -> Problem:
    """The problem of how large the model of a problem is. Raises ProblemError for a kind that has no model, and for a
    model whose size can't be said in numbers of layers that are all alike."""
    if problem.kind not in WITH_A_SIZE:
        what = f"a problem of kind {problem.kind} says nothing of a model's size"
        raise ProblemError(problem.name, 0, 0, "kind", what, f"give one of kind: {either(WITH_A_SIZE)}")
    if problem.kind == "size":
        return problem
    from attncalc.problem.model_size import size_of

    try:
        given = size_of(problem.given)
    except StepError as error:
        raise _in_file(problem, error) from error
    return problem._replace(kind="size", given=given, show=Show())  # its own show is of the steps of the model


def _in_file(problem: Problem, error: StepError) -> ProblemError:
    index = ",".join(str(k + problem.show.count_from) for k in error.index)
    return ProblemError(problem.name, 0, 0, f"{error.step}[{index}]" if index else error.step, error.what, error.hint)


def _worked(problem: Problem, on_step: Callable[[str], object] | None) -> Solution:
    only_result = problem.show.detail == "result"
    most = MOST_SHOWN_IN_PART if only_result or problem.show.detail is None else MOST_FIGURES
    most = MOST_OF_LARGE if only_result and problem.characters >= LARGE else most
    sheet = Sheet(problem.show.rule, on_step, most=most, result=only_result)
    try:
        mechanism(problem.kind)(sheet, problem.given, problem.show)
        if problem.drawn:
            sheet.convention("drawn", "example", matrices=problem.drawn)
    except StepError as error:
        raise _in_file(problem, error) from error
    return sheet.solution()


def _check_decimals(problem: Problem, solution: Solution) -> None:
    """A step that `show.decimals` names must be one that can be."""
    for id in problem.show.rule.by_step:
        if id not in solution.steps and re.sub(r"^((head|token|expert)[1-9]\d*\.|top_k\.)+", "", id) not in NAMES:
            hint = f"the steps here are {some_of(list(solution.steps), MOST_IDS)}"
            raise ProblemError(problem.name, 0, 0, f"show.decimals.{id}", "no step is called so", hint)
