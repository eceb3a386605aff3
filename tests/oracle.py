"""Attention in plain loops, to hold the engine against. It shares no code with attncalc and was written without it.

    A = softmax(Q Kᵀ / √d_k)        O = A V                                     (Vaswani et al., 2017, equation 1)

`attention` writes that down once, over numbers of one of these kinds:

- `Exact()`: floats, nothing rounded, as a machine computes it;
- `Carried(...)`: fractions, each step rounded before the next one uses it, as with pencil and paper. Sums, products
  and quotients are exact; roots and powers of e are taken to 50 digits before they are rounded.
- `Precise()`: the same, but never rounded: what the figures really are.

A problem is a dict. Its numbers are text, so that both kinds of number read the very figure that was written:

    H, memory, W_Q, W_K, W_V, b_Q, b_K, b_V, or Q, K, V, or S, V, or A, V    lists of rows (biases: lists of numbers)
    scale    "sqrt_d_k" (if absent), "none", ("divide", x) or ("multiply", x)
    mask     "causal" or absent; `first_query_at` says at which key, from 0, the first query stands (0 if absent)
    shift    "needed" (if absent): a row's maximum is taken off where e^x would be too large or too small to work with;
             "max": always

The answer is a dict from a step's id to its rows, in the order in which they were worked out.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

HIDDEN = -math.inf
MOST_UNITS, FEWEST_UNITS = 10**12, 10  # twelve digits, two digits


def attention(problem, arithmetic):
    """Every intermediate of one attention head, by step id."""
    steps = {}

    def given(name):
        return [[arithmetic.number(figure) for figure in row] for row in problem[name]]

    def step(name, rows):
        steps[name] = arithmetic.rounded(name, rows)
        return steps[name]

    def projected(name, rows):
        """H W, and + b where there is a bias."""
        weights = given(f"W_{name}")
        if f"b_{name}" not in problem:
            return step(name, product(rows, weights))
        before = step(f"{name}.product", product(rows, weights))
        bias = [arithmetic.number(figure) for figure in problem[f"b_{name}"]]
        return step(name, [[x + b for x, b in zip(row, bias, strict=True)] for row in before])

    if "A" in problem:
        weights = steps["A"] = given("A")
        if problem.get("mask"):
            del steps["A"]
            steps["given_A"] = weights
            weights = renormalised(problem, weights, step, arithmetic)
    else:
        if "S" in problem:
            scores = steps["S"] = given("S")
        else:
            if "H" in problem:
                queries_from = given("H")
                keys_from = given("memory") if "memory" in problem else queries_from
                queries = projected("Q", queries_from)
                keys = projected("K", keys_from)
                if "W_V" in problem:
                    projected("V", keys_from)
            else:
                queries, keys = given("Q"), given("K")
                steps.update(Q=queries, K=keys)
            steps["K_T"] = transposed(keys)
            scores = step("S", product(queries, steps["K_T"]))
        weights = softmax(problem, scaled(problem, scores, step, arithmetic), step, arithmetic)

    if "V" in problem:
        steps["V"] = given("V")
    if "V" in steps:
        step("O", product(weights, steps["V"]))
    return steps


def product(a, b):
    """Row i of A with column k of B: the sum over j of a_ij b_jk."""
    rows = []
    for i in range(len(a)):
        row = []
        for k in range(len(b[0])):
            total = 0
            for j in range(len(b)):
                total += a[i][j] * b[j][k]
            row.append(total)
        rows.append(row)
    return rows


def transposed(a):
    return [[a[i][j] for i in range(len(a))] for j in range(len(a[0]))]


def visible(problem, i, j):
    """Whether query i may look at key j, both counted from 0: not into the future."""
    return problem.get("mask") != "causal" or j <= i + problem.get("first_query_at", 0)


def scaled(problem, scores, step, arithmetic):
    """Scores over √d_k, d_k being the length of a key; or scaled as the problem says."""
    scale = problem.get("scale", "sqrt_d_k")
    if scale == "none":
        return scores
    if scale == "sqrt_d_k":
        d_k = problem["d_k"] if "d_k" in problem else len((problem.get("W_K") or problem["K"])[0])
        return step("scaled", [[arithmetic.over_root(x, d_k) for x in row] for row in scores])
    how, by = scale
    by = arithmetic.number(by)
    return step("scaled", [[x / by if how == "divide" else x * by for x in row] for row in scores])


def softmax(problem, scores, step, arithmetic):
    """e^x over the row's sum of e^x, over the keys that the query may look at."""
    if problem.get("mask"):
        scores = step(
            "masked",
            [[x if visible(problem, i, j) else HIDDEN for j, x in enumerate(row)] for i, row in enumerate(scores)],
        )

    highest = [max(row) for row in scores]
    shifts = [too_large_or_small(x, arithmetic.unit("exp")) or problem.get("shift") == "max" for x in highest]
    if any(shifts):
        maxima = step("row_max", [[x] for x in highest])
        scores = step(
            "shifted",
            [
                [x - most if shift and x != HIDDEN else x for x in row]  # a row that needs no shift stays as it is
                for row, [most], shift in zip(scores, maxima, shifts, strict=True)
            ],
        )

    powers = step("exp", [[arithmetic.exp(x) if x != HIDDEN else 0 for x in row] for row in scores])
    return divided_by_sum(powers, step, arithmetic)


def too_large_or_small(highest, unit):
    """Whether the largest e^x of a row, in units of its last decimal, has more than twelve digits or fewer than two."""
    return highest != HIDDEN and (highest > math.log(MOST_UNITS * unit) or highest < math.log(FEWEST_UNITS * unit))


def renormalised(problem, weights, step, arithmetic):
    """A mask put on weights that are there already: hidden ones become 0, the others are divided by what is left."""
    kept = step(
        "kept",
        [[x if visible(problem, i, j) else 0 for j, x in enumerate(row)] for i, row in enumerate(weights)],
    )
    return divided_by_sum(kept, step, arithmetic)


def divided_by_sum(rows, step, arithmetic):
    """Each entry over its row's sum. An entry of 0 is 0, also where the whole row is 0."""
    sums = step("row_sum", [[sum(row)] for row in rows])
    return step(
        "A",
        [[x / total if x else x for x in row] for row, [total] in zip(rows, sums, strict=True)],
    )


class Exact:
    """Floats; nothing is rounded. `unit` only decides where a row's maximum is taken off."""

    def __init__(self, decimals=None):
        self.decimals = decimals or {}

    def unit(self, name):
        return 10.0 ** -decimals_of(name, self.decimals)

    def number(self, text):
        return float(text)

    def over_root(self, x, n):
        return x / math.sqrt(n)

    def exp(self, x):
        return math.exp(x)

    def rounded(self, name, rows):
        return rows


class Carried:
    """Fractions; every step is rounded to its decimals, a tie away from zero ("half-up") or to the even neighbour.

    With weights "sum-to-one", a row of A that adds up to 1 is shared out in whole units instead, so that it still does.
    """

    def __init__(self, decimals=None, ties="half-up", weights="plain"):
        self.decimals, self.ties, self.weights = decimals or {}, ties, weights

    def unit(self, name):
        return 10.0 ** -decimals_of(name, self.decimals)

    def number(self, text):
        return Fraction(text)

    def over_root(self, x, n):
        root = math.isqrt(n)
        if root * root == n:
            return x / root
        with localcontext(prec=50):
            return Fraction(as_decimal(x) / Decimal(n).sqrt())

    def exp(self, x):
        with localcontext(prec=50):
            return Fraction(as_decimal(x).exp())

    def rounded(self, name, rows):
        places = decimals_of(name, self.decimals)
        return [
            shared_out(row, places)
            if name == "A" and self.weights == "sum-to-one" and sum(row) == 1
            else [x if x == HIDDEN else rounded(Fraction(x), places, self.ties) for x in row]
            for row in rows
        ]


class Precise(Carried):
    """Fractions that are not rounded at all: the figures themselves, roots and powers of e to 50 digits."""

    def rounded(self, name, rows):
        return rows


def as_decimal(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


def decimals_of(name, decimals):
    """By the id of the step, else by its last part, else the default: 3."""
    for key in (name, name.rpartition(".")[2], "default"):
        if key in decimals:
            return decimals[key]
    return 3


TIE = Fraction(1, 10**9)  # of a unit: what is as near a half as this counts as a half (design.md, section 3)


def rounded(x, places, ties="half-up"):
    """The fraction x to so many places: the nearest, and of two that are equally near the one that `ties` says."""
    units = abs(x) * 10**places
    whole = units.numerator // units.denominator
    over_half = units - whole - Fraction(1, 2)
    if over_half > TIE or (abs(over_half) <= TIE and (ties == "half-up" or whole % 2 == 1)):
        whole += 1
    return Fraction(whole if x >= 0 else -whole, 10**places)


def shared_out(row, places):
    """A row that adds up to 1, in whole units that do too: first each entry's whole units, then one more to each of the
    entries that lost most, of equal ones to the first column. An entry of 0 gets none."""
    quotas = [Fraction(x) * 10**places for x in row]
    units = [quota.numerator // quota.denominator for quota in quotas]
    by_loss = sorted((j for j in range(len(row)) if row[j]), key=lambda j: (units[j] - quotas[j], j))
    for j in by_loss[: 10**places - sum(units)]:
        units[j] += 1
    return [Fraction(count, 10**places) for count in units]


def figure(x, places):
    """A rounded fraction as text, all its places written: Fraction(-1, 2) to 3 places is -0.500."""
    if x == HIDDEN:
        return "-∞"
    units = Fraction(x) * 10**places
    assert units.denominator == 1, f"{x} has more than {places} places"
    digits = str(abs(units.numerator)).rjust(places + 1, "0")
    sign = "-" if units < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
