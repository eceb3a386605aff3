"""Layer normalisation and root-mean-square normalisation, row by row."""

from __future__ import annotations

from math import ceil, log10

from attncalc.errors import StepError
from attncalc.expr import Expr, equation, evaluate, name, number, slot, sqrt, square
from attncalc.mechanisms.projections import Parts
from attncalc.problem.norms import Norm, NormOfRows
from attncalc.sheet import Sheet
from attncalc.show import Show
from attncalc.steps import Axis, Step

_MOST_DECIMALS = 12
FUNCTIONS = {"layer-norm": "LayerNorm", "rms-norm": "RMSNorm"}


def stated(sheet: Sheet, given: Norm) -> Parts:
    """The gain and the bias, where the problem has them, as steps."""
    parts = {}
    if given.gain:
        parts["gain"] = sheet.given("gain", given.gain, symbol=sheet.symbol("γ"), role="gain")
    if given.bias:
        parts["bias"] = sheet.given("bias", given.bias, symbol=sheet.symbol("β"), role="bias")
    return parts


def norm(
    sheet: Sheet, x: Step, given: Norm, parts: Parts, letter: str, prefix: str = "", heading: str = ""
) -> Step:  # fmt: skip
    """Each row of x normalised, n × d, and then times the gain and plus the bias where there are any; under the heading
    of its kind, or another."""
    gain, bias = parts.get("gain"), parts.get("bias")
    normalise = layer_norm if given.kind == "layer-norm" else rms_norm
    with sheet.group(heading or given.kind, order="by row", function=FUNCTIONS[given.kind], prefix=prefix):
        y = normalise(sheet, x, given, letter if not (gain or bias) else f"{letter}_norm")
        if gain:
            law, symbol = slot(0) * slot(1), sheet.symbol(letter if not bias else f"{letter}_gain")
            y = sheet.map("gained", law, y, gain, symbol=symbol, role="gained")
        if bias:
            y = sheet.map("biased", slot(0) + slot(1), y, bias, symbol=sheet.symbol(letter), role="biased")
    return y


def layer_norm(sheet: Sheet, x: Step, given: Norm, letter: str) -> Step:
    """(x - μ) / √(σ² + ε), n × d, with μ and σ² the mean and the variance of the row (Ba et al. 2016, section 3)."""
    mean = sheet.reduce("mean", "mean", x, symbol=sheet.symbol("μ"), role="mean")
    deviations = sheet.map("deviations", slot(0) - slot(1), x, mean, symbol=sheet.symbol("D"), role="deviations")
    squares = _squares(sheet, deviations)
    fold = "mean" if given.variance == "biased" else "unbiased mean"
    variance = sheet.reduce("variance", fold, squares, symbol=square(sheet.symbol("σ")), role="variance")
    return _quotient(sheet, deviations, _root(sheet, variance, given, "σ_ε"), letter)


def rms_norm(sheet: Sheet, x: Step, given: Norm, letter: str) -> Step:
    """x / √(mean of x² + ε), n × d (Zhang and Sennrich 2019, section 4)."""
    squares = _squares(sheet, x)
    mean_square = sheet.reduce("mean_square", "mean", squares, symbol=square(sheet.symbol("RMS")), role="mean_square")
    return _quotient(sheet, x, _root(sheet, mean_square, given, "RMS_ε"), letter)


def _squares(sheet: Sheet, x: Step) -> Step:
    return sheet.map("squares", square(slot(0)), x, symbol=square(x.symbol), role="squares")


def _root(sheet: Sheet, of: Step, given: Norm, letter: str) -> Step:
    value, written = given.eps
    law: Expr = sqrt(slot(0))
    if value:
        eps = number(value, written, "ε")
        law = sqrt(slot(0) + eps) if given.eps_in == "root" else law + eps
    places = sheet.places("root")
    smallest = evaluate(law, [of.values]).min()
    if smallest > 0:  # two digits at least: no row is divided by 0.00
        places = max(places, min(2 - ceil(log10(smallest)), _MOST_DECIMALS))
    return sheet.map("root", law, of, symbol=sheet.symbol(letter), role="root", places=places)


def _quotient(sheet: Sheet, x: Step, root: Step, letter: str) -> Step:
    for i, value in enumerate(root.values[:, 0]):
        if value == 0:
            raise StepError(root.id, (i, 0), "is 0, and nothing can be divided by it", "give a larger eps")
    return sheet.map("normalised", slot(0) / slot(1), x, root, symbol=sheet.symbol(letter), role="normalised")


def conventions(sheet: Sheet, given: Norm) -> None:
    """What a norm divides by, for the head of the page."""
    value, written = given.eps
    where = given.eps_in if value else "none"
    if given.kind == "layer-norm":
        sheet.convention("layer_norm", given.variance)
    else:
        sheet.convention("rms_norm", "plain")
    sheet.convention("eps", where, eps=equation(name("ε"), number(value, written)))


def norm_of_rows(sheet: Sheet, given: NormOfRows, show: Show) -> Step:
    """`kind: layer-norm` and `kind: rms-norm`: the rows of x, normalised."""
    conventions(sheet, given.norm)
    with sheet.group("given"):
        x = sheet.given("x", given.x, symbol=sheet.symbol("X"), rows=Axis(given.tokens, "row"), role="input")
        parts = stated(sheet, given.norm)
    return norm(sheet, x, given.norm, parts, "Y")
