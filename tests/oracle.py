"""Attention in plain loops, to hold the engine against. It shares no code with attncalc and was written without it.

    A = softmax(Q Kᵀ / √d_k + M)        O = A V                                 (Vaswani et al., 2017, equation 1)
    output = [O⁽¹⁾ .. O⁽ʰ⁾] W_O                                                  (section 3.2.2)

`attention` writes that down once, over numbers of one of these kinds:

- `Exact()`: floats, nothing rounded, as a machine computes it;
- `Carried(...)`: fractions, each step rounded before the next one uses it, as with pencil and paper. Sums, products
  and quotients are exact; roots and powers of e are taken to 50 digits before they are rounded.
- `Precise()`: the same, but never rounded: what the figures really are.

A problem is a dict. Its numbers are text, so that all kinds of number read the very figure that was written. Matrices
are lists of rows; biases and the padding are flat lists. What is absent plays no part.

    H, W_Q, W_K, W_V, b_Q, b_K, b_V     the rows that attend, and their projections, those of all heads side by side
    W_QKV, b_QKV                        the three projections side by side (d_k says where to cut, if V is wider)
    memory                              the rows that keys and values come from, if not from H
    Q, K, V or S, V or A, V             a later start
    W_O, b_O                            the projection of what comes out
    orientation                         "out-in": every W is stored transposed
    heads, kv_heads                     how many (1, if absent; as many as heads), or a list of heads, each a dict of
                                        W_Q to b_V; the first of those that share keys and values has W_K and W_V
    split                               "input": each head of the list projects its own columns of H (and memory)
    scale                               "sqrt_d_k" (if absent), "none", ("divide", x) or ("multiply", x)
    softcap                             c: scaled scores s become c tanh(s / c)
    mask                                a dict of causal (True), window ((before, after)), align ("start" or "end") or
                                        past (a number); keep, hide, add: rows, or one list of rows for each head
    padding                             "1" for each key that is a token, "0" for one that is none
    shift                               "needed" (if absent): a row's maximum is taken off where e^x would be too large
                                        or too small to work with; "max": always

With kind "softmax" a problem holds x, and perhaps temperature, mask and padding.

The answer is a dict from a step's id to its rows: what is given as well as what is worked out.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

HIDDEN = -math.inf
HIDES = Fraction("-1e9")  # a figure so low in an additive mask hides as -inf does
MOST_UNITS, FEWEST_UNITS = 10**12, 10  # twelve digits, two digits


class Page:
    """The steps of a calculation by their ids. What is only copied (given, transposed, cut, put side by side) stays as
    it is; what is worked out is rounded as the arithmetic says."""

    def __init__(self, arithmetic):
        self.arithmetic, self.steps = arithmetic, {}

    def copied(self, id, rows):
        self.steps[id] = rows
        return rows

    def worked(self, id, rows):
        return self.copied(id, self.arithmetic.rounded(id, rows))

    def given(self, id, figures):
        """A matrix that is given, or a flat list as a matrix of one row."""
        rows = figures if isinstance(figures[0], list) else [figures]
        return self.copied(id, [[self.arithmetic.number(figure) for figure in row] for row in rows])


def attention(problem, arithmetic):
    """Every step of an attention, by its id."""
    page = Page(arithmetic)
    if problem.get("kind") == "softmax":
        softmax_alone(page, problem)
        return page.steps
    heads = number_of_heads(problem)
    if heads == 1:
        out = one_head(page, problem)
    else:
        outputs = several_heads(page, problem, heads)
        if outputs[0] is None:  # queries and keys without values: the weights are all there is
            return page.steps
        out = page.copied("concat", side_by_side(outputs))
    if "W_O" in problem:
        affine(page, "output", out, in_out(page, problem, "W_O"), bias(page, problem, "b_O"))
    return page.steps


def number_of_heads(problem):
    heads = problem.get("heads", 1)
    return len(heads) if isinstance(heads, list) else heads


def number_of_kv_heads(problem):
    return problem.get("kv_heads", number_of_heads(problem))


def one_head(page, problem):
    """The one head's output, or its weights where there are no values."""
    values = page.given("V", problem["V"]) if "V" in problem else None
    if "A" in problem:
        weights = renormalised(page, problem) if has_mask(problem) else page.given("A", problem["A"])
    else:
        if "S" in problem:
            scores, d_k = page.given("S", problem["S"]), problem.get("d_k")
        else:
            queries, keys, values = queries_keys_values(page, problem)
            scores, d_k = dot_products(page, "", queries, keys), len(keys[0])
        mask = mask_of(page, problem, "", 0, len(scores), len(scores[0])) if has_mask(problem) else None
        weights = weights_of_scores(page, problem, "", scores, d_k, mask)
    return weights if values is None else page.worked("O", product(weights, values))


def several_heads(page, problem, heads):
    """The output of each head; None for each where there are no values."""
    parts = own_inputs(page, problem, heads) if problem.get("split") == "input" else cut(page, problem, heads)
    n, m = len(parts[0][0]), len(parts[0][1])
    shared = None
    if has_mask(problem) and not is_per_head(problem):
        shared = mask_of(page, problem, "", 0, n, m)
    outputs = []
    for h, (queries, keys, values) in enumerate(parts):
        name = f"head{h + 1}."
        scores = dot_products(page, name, queries, keys)
        mask = mask_of(page, problem, name, h, n, m) if is_per_head(problem) else shared
        weights = weights_of_scores(page, problem, name, scores, len(keys[0]), mask)
        outputs.append(None if values is None else page.worked(f"{name}O", product(weights, values)))
    return outputs


def cut(page, problem, heads):
    """(Q, K, V) of each head. Head h, from 0, has the h-th part of the columns of Q; of K and V it has the part of its
    group: of four heads on two, the first two share the first part."""
    kv_heads = number_of_kv_heads(problem)
    whole = queries_keys_values(page, problem)
    parts = []
    for h in range(heads):
        group = h // (heads // kv_heads)
        part = []
        for name, matrix, count, k in zip("QKV", whole, (heads, kv_heads, kv_heads), (h, group, group), strict=True):
            part.append(None if matrix is None else page.copied(f"head{h + 1}.{name}", columns(matrix, count, k)))
        parts.append(part)
    return parts


def own_inputs(page, problem, heads):
    """(Q, K, V) of each head, each projected from its own columns of H: the first d_model / heads, and so on."""
    queries_from = page.given("H", problem["H"])
    keys_from = page.given("memory", problem["memory"]) if "memory" in problem else None
    parts = []
    for h, weights in enumerate(problem["heads"]):
        name = f"head{h + 1}."
        own = page.copied(f"{name}H", columns(queries_from, heads, h))
        others = own if keys_from is None else page.copied(f"{name}memory", columns(keys_from, heads, h))
        part = []
        for letter, rows in zip("QKV", (own, others, others), strict=True):
            W = in_out(page, problem, f"W_{letter}", weights, name)
            part.append(affine(page, name + letter, rows, W, bias(page, weights, f"b_{letter}", name)))
        parts.append(part)
    return parts


def queries_keys_values(page, problem):
    """Q, K and V of all heads, side by side; V is None where there are no values."""
    if "H" not in problem:
        values = page.given("V", problem["V"]) if "V" in problem else None
        return page.given("Q", problem["Q"]), page.given("K", problem["K"]), values
    queries_from = page.given("H", problem["H"])
    keys_from = page.given("memory", problem["memory"]) if "memory" in problem else queries_from
    weights, biases = projections(page, problem)
    return [
        affine(page, letter, rows, weights[letter], biases.get(letter))
        for letter, rows in zip("QKV", (queries_from, keys_from, keys_from), strict=True)
    ]


def projections(page, problem):
    """Two dicts by the letters Q, K and V: the weights of all heads side by side, in × out, and the biases if any."""
    if "W_QKV" in problem:
        return pieces_of_three(page, problem)
    if isinstance(problem.get("heads"), list):
        return joined(page, problem)
    weights = {letter: in_out(page, problem, f"W_{letter}") for letter in "QKV"}
    return weights, {letter: bias(page, problem, f"b_{letter}") for letter in "QKV"}


def pieces_of_three(page, problem):
    """W_QKV holds W_Q, W_K and W_V side by side: as wide as there are heads, but as wide as kv_heads for K and V."""
    heads, kv_heads = number_of_heads(problem), number_of_kv_heads(problem)
    stack = in_out(page, problem, "W_QKV")
    stacked_bias = bias(page, problem, "b_QKV")
    d_k = problem.get("d_k") or len(stack[0]) // (heads + 2 * kv_heads)
    first, second = heads * d_k, (heads + kv_heads) * d_k
    places = {"Q": slice(0, first), "K": slice(first, second), "V": slice(second, None)}
    weights = {key: page.copied(f"W_{key}", [row[place] for row in stack]) for key, place in places.items()}
    if stacked_bias is None:
        return weights, {}
    return weights, {key: page.copied(f"b_{key}", [stacked_bias[0][place]]) for key, place in places.items()}


def joined(page, problem):
    """The weights of a list of heads, put side by side; of a list of one, as they are. A head without a bias has one of
    zeros where others have theirs."""
    each = [(f"head{h + 1}.", head) for h, head in enumerate(problem["heads"])]

    def whole(id, own):
        return own[0] if len(each) == 1 else page.copied(id, side_by_side(own))

    weights, biases = {}, {}
    for letter in "QKV":
        W, b = f"W_{letter}", f"b_{letter}"
        own = [in_out(page, problem, W, head, name) for name, head in each if W in head]
        weights[letter] = whole(W, own)
        if any(b in head for _, head in each):
            own_biases = [bias(page, head, b, name) for name, head in each if W in head]
            biases[letter] = whole(b, [mine or [[0] * len(own[0][0])] for mine in own_biases])
    return weights, biases


def in_out(page, problem, id, owner=None, prefix=""):
    """A matrix of weights as it is multiplied by, in × out. It may stand in a dict (a head) within the problem."""
    weights = page.given(prefix + id, (owner or problem)[id])
    if problem.get("orientation") != "out-in":
        return weights
    return page.copied(f"{prefix}{id}_T", transposed(weights))


def bias(page, owner, id, prefix=""):
    return page.given(prefix + id, owner[id]) if id in owner else None


def affine(page, id, rows, weights, bias):
    """x W, and + b where there is a bias."""
    if bias is None:
        return page.worked(id, product(rows, weights))
    before = page.worked(f"{id}.product", product(rows, weights))
    return page.worked(id, [[x + b for x, b in zip(row, bias[0], strict=True)] for row in before])


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


def columns(a, count, k):
    """The k-th, from 0, of so many equal parts of the columns."""
    width = len(a[0]) // count
    return [row[k * width : (k + 1) * width] for row in a]


def side_by_side(matrices):
    return [[x for matrix in matrices for x in matrix[i]] for i in range(len(matrices[0]))]


def dot_products(page, name, queries, keys):
    return page.worked(f"{name}S", product(queries, page.copied(f"{name}K_T", transposed(keys))))


def weights_of_scores(page, problem, name, scores, d_k, mask):
    """Scaled, capped and masked scores through softmax."""
    scores = scaled(page, problem, name, scores, d_k)
    if "softcap" in problem:
        cap = page.arithmetic.number(problem["softcap"])
        scores = page.worked(f"{name}softcap", [[cap * page.arithmetic.tanh(x / cap) for x in row] for row in scores])
    if mask:
        scores = masked(page, name, scores, mask)
    return softmax(page, name, scores, problem.get("shift"))


def scaled(page, problem, name, scores, d_k):
    """Scores over √d_k, d_k being the length of a key; or scaled as the problem says."""
    scale = problem.get("scale", "sqrt_d_k")
    if scale == "none":
        return scores
    if scale == "sqrt_d_k":
        return page.worked(f"{name}scaled", [[page.arithmetic.over_root(x, d_k) for x in row] for row in scores])
    how, by = scale
    by = page.arithmetic.number(by)
    return page.worked(f"{name}scaled", [[x / by if how == "divide" else x * by for x in row] for row in scores])


def has_mask(problem):
    """Whether anything may be hidden from, or added to, a score."""
    mask = problem.get("mask", {})
    return any(mask.get(part) for part in PARTS) or "padding" in problem


def is_per_head(problem):
    """Whether a mask differs from head to head."""
    return any(len(matrices_of(problem, part)) > 1 for part in MATRICES)


PARTS = ("causal", "window", "keep", "hide", "add")
MATRICES = PARTS[2:]


def matrices_of(problem, part):
    """The matrices that a mask has of one sort: none, one for all heads, or one for each."""
    found = problem.get("mask", {}).get(part)
    if not found:
        return []
    return found if isinstance(found[0][0], list) else [found]


def first_query_at(problem, n, m):
    """The key, from 0, at which the first query stands; below 0 where the first queries stand before all keys."""
    mask = problem.get("mask", {})
    if "past" in mask:
        return mask["past"]
    return m - n if mask.get("align") == "end" else 0


def sort_out(problem, h, n, m, arithmetic):
    """What each part of a mask adds to the scores of head h, by the part's name: 0 where query i may look at key j,
    HIDDEN where it may not; of `add`, the figures that it gives."""
    mask, found = problem.get("mask", {}), {}
    past = first_query_at(problem, n, m)

    def part(name, may_look):
        found[name] = [[0 if may_look(i, j) else HIDDEN for j in range(m)] for i in range(n)]

    def matrix(name):
        several = matrices_of(problem, name)
        return several[h] if len(several) > 1 else several[0]

    if mask.get("causal"):
        part("causal", lambda i, j: j <= past + i)
    if mask.get("window"):
        before, after = mask["window"]
        part("window", lambda i, j: past + i - before <= j <= past + i + after)
    if "padding" in problem:
        part("padding", lambda i, j: problem["padding"][j] == "1")
    if mask.get("keep"):
        part("keep", lambda i, j: matrix("keep")[i][j] == "1")
    if mask.get("hide"):
        part("hide", lambda i, j: matrix("hide")[i][j] == "0")
    if mask.get("add"):
        found["add"] = [[added(text, arithmetic) for text in row] for row in matrix("add")]
    return found


def added(text, arithmetic):
    return HIDDEN if text == "-inf" or Fraction(text) <= HIDES else arithmetic.number(text)


def visible(problem, i, j, n, m, h=0):
    """Whether query i may look at key j, both from 0, in head h."""
    return all(rows[i][j] != HIDDEN for rows in sort_out(problem, h, n, m, Exact()).values())


def mask_of(page, problem, name, h, n, m):
    """M: the sum of the parts of a mask, which are shown first where there are several."""
    parts = sort_out(problem, h, n, m, page.arithmetic)
    if len(parts) == 1:
        return page.copied(f"{name}mask", *parts.values())
    for part, rows in parts.items():
        page.copied(f"{name}mask.{part}", rows)
    total = [[sum(rows[i][j] for rows in parts.values()) for j in range(m)] for i in range(n)]
    return page.worked(f"{name}mask", total)


def masked(page, name, scores, mask):
    return page.worked(
        f"{name}masked",
        [[x if a != HIDDEN and not a else x + a for x, a in zip(*rows, strict=True)]
         for rows in zip(scores, mask, strict=True)],
    )  # fmt: skip


def softmax_alone(page, problem):
    """Rows of figures, over a temperature, masked, then softmax."""
    x = page.given("x", problem["x"])
    if "temperature" in problem:
        temperature = page.arithmetic.number(problem["temperature"])
        x = page.worked("scaled", [[figure / temperature for figure in row] for row in x])
    if has_mask(problem):
        x = masked(page, "", x, mask_of(page, problem, "", 0, len(x), len(x[0])))
    return softmax(page, "", x, problem.get("shift"))


def softmax(page, name, scores, shift):
    """e^x over the row's sum of e^x, over the keys that the query may look at."""
    unit = page.arithmetic.unit(f"{name}exp")
    highest = [max(row) for row in scores]
    shifts = [x != HIDDEN and (too_large_or_small(x, unit) or shift == "max") for x in highest]
    if any(shifts):
        maxima = page.worked(f"{name}row_max", [[x] for x in highest])
        scores = page.worked(
            f"{name}shifted",
            [
                [x - most if off and x != HIDDEN else x for x in row]  # a row that needs no shift stays as it is
                for row, [most], off in zip(scores, maxima, shifts, strict=True)
            ],
        )
    powers = [[page.arithmetic.exp(x) if x != HIDDEN else 0 for x in row] for row in scores]
    return divided_by_sum(page, name, page.worked(f"{name}exp", powers))


def too_large_or_small(highest, unit):
    """Whether the largest e^x of a row, in units of its last decimal, has more than twelve digits or fewer than two."""
    return highest > math.log(MOST_UNITS * unit) or highest < math.log(min(FEWEST_UNITS * unit, 1))


def renormalised(page, problem):
    """A mask put on weights that are there already: hidden ones become 0, the others are divided by what is left."""
    weights = page.given("given_A", problem["A"])
    parts = sort_out(problem, 0, len(weights), len(weights[0]), page.arithmetic)
    ones = {part: [[0 if a == HIDDEN else 1 for a in row] for row in rows] for part, rows in parts.items()}
    if len(ones) > 1:
        for part, rows in ones.items():
            page.copied(f"mask.{part}", rows)
    keep = [[min(cells) for cells in zip(*rows, strict=True)] for rows in zip(*ones.values(), strict=True)]
    page.copied("mask", keep)
    kept = [[x if k else 0 for x, k in zip(*rows, strict=True)] for rows in zip(weights, keep, strict=True)]
    return divided_by_sum(page, "", page.worked("kept", kept))


def divided_by_sum(page, name, rows):
    """Each entry over its row's sum. An entry of 0 is 0, also where the whole row is 0."""
    sums = page.worked(f"{name}row_sum", [[sum(row)] for row in rows])
    return page.worked(
        f"{name}A",
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

    def tanh(self, x):
        return math.tanh(x)

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

    def tanh(self, x):
        with localcontext(prec=80):
            square = (2 * as_decimal(x)).exp()
            return Fraction((square - 1) / (square + 1))

    def rounded(self, name, rows):
        places = decimals_of(name, self.decimals)
        return [
            shared_out(row, places)
            if last_part(name) == "A" and self.weights == "sum-to-one" and sum(row) == 1
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


def last_part(name):
    return name.rpartition(".")[2]


def decimals_of(name, decimals):
    """By the id of the step, else by its last part, else the default: 3."""
    for key in (name, last_part(name), "default"):
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
