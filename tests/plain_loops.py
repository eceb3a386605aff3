"""What comes after the layers, in plain loops over the numbers of the oracle: outputs, losses, mixtures of experts.

No code of attncalc's. Each function puts its steps on a page of the oracle, by their ids; figures are texts.
"""

import math
from decimal import localcontext
from fractions import Fraction

import oracle


def numbers(page, rows):
    return [[page.arithmetic.number(text) for text in row] for row in rows]


def ln(page, x):
    if isinstance(page.arithmetic, oracle.Exact):
        return math.log(x)
    with localcontext(prec=50):
        return Fraction(oracle.as_decimal(x).ln())


def softmax(page, id, rows, hidden=oracle.HIDDEN):
    """e^x by its sum, where no row needs to be shifted; the sum's id is row_sum."""
    powers = [[0 if x == hidden else page.arithmetic.exp(x) for x in row] for row in rows]
    powers = page.worked("exp", powers)
    sums = page.worked("row_sum", [[sum(row)] for row in powers])
    return page.worked(id, [[x / total for x in row] for row, [total] in zip(powers, sums, strict=True)])


def ranking(row):
    """The columns of a row, its largest figure first; of equal ones, the first."""
    return sorted(range(len(row)), key=lambda j: (-round(row[j], 12), j))


def keep(page, id, rows, chosen, renormalise, prefix=""):
    page.copied(f"{prefix}chosen", chosen)
    products = [[x * c for x, c in zip(row, marks, strict=True)] for row, marks in zip(rows, chosen, strict=True)]
    if not renormalise:
        return page.worked(f"{prefix}{id}", products)
    products = page.worked(f"{prefix}{id}.product", products)
    sums = page.worked(f"{prefix}{id}.row_sum", [[sum(row)] for row in products])
    kept = [[x / total for x in row] for row, [total] in zip(products, sums, strict=True)]
    return page.worked(f"{prefix}{id}", kept)


def largest(rows, k):
    return [[1 if j in ranking(row)[:k] else 0 for j in range(len(row))] for row in rows]


def top_p(page, rows, p):
    chosen = []
    page.copied("sorted", [[row[j] for j in ranking(row)] for row in rows])
    page.worked("cumulative", [[sum(row[: j + 1]) for j in range(len(row))] for row in page.steps["sorted"]])
    for row, sums in zip(rows, page.steps["cumulative"], strict=True):
        count = next((k for k, total in enumerate(sums, start=1) if total >= p - 1e-12), len(row))
        chosen.append([1 if j in ranking(row)[:count] else 0 for j in range(len(row))])
    return chosen


def output(problem, arithmetic):
    """A dict of x, W (or tied), b; or logits; or probabilities; temperature, top_k, top_p, renormalise."""
    page = oracle.Page(arithmetic)
    if "probabilities" in problem:
        P = page.copied("probabilities", numbers(page, problem["probabilities"]))
    else:
        if "logits" in problem:
            L = page.copied("logits", numbers(page, problem["logits"]))
        else:
            W = numbers(page, problem.get("W") or problem["tied"])
            W = oracle.transposed(W) if "tied" in problem else W
            b = numbers(page, [problem["b"]]) if "b" in problem else None
            L = oracle.affine(page, "logits", numbers(page, problem["x"]), W, b)
        if "temperature" in problem:
            L = page.worked("scaled", [[x / arithmetic.number(problem["temperature"]) for x in row] for row in L])
        P = softmax(page, "probabilities", L)
    renormalise = problem.get("renormalise", True)
    both = "top_k" in problem and "top_p" in problem
    if "top_k" in problem:
        chosen = largest(P, problem["top_k"])
        P = keep(page, "kept", P, chosen, renormalise or both, "top_k." if both else "")
    if "top_p" in problem:
        P = keep(page, "kept", P, top_p(page, P, float(problem["top_p"])), renormalise)
    return page.steps


def loss(problem, arithmetic):
    """A dict of logits or probabilities and targets, or of the targets' probabilities; reduction."""
    page = oracle.Page(arithmetic)
    if "of_targets" in problem:
        p = page.copied("target_probabilities", [[arithmetic.number(x)] for x in problem["of_targets"]])
    else:
        P = numbers(page, problem.get("probabilities") or problem["logits"])
        P = P if "probabilities" in problem else softmax(page, "probabilities", P)
        p = page.copied("target_probabilities", [[row[t]] for row, t in zip(P, problem["targets"], strict=True)])
    logs = page.worked("log_probabilities", [[ln(page, x)] for [x] in p])
    losses = page.worked("losses", [[-x] for [x] in logs])
    reduction = problem.get("reduction", "mean")
    if reduction != "none":
        page.worked("likelihood", [[math.prod(x for [x] in p)]])
        page.worked("sum", [[sum(x for [x] in losses)]])
    if reduction == "mean":
        mean = page.worked("mean", [[sum(x for [x] in losses) / len(losses)]])
        page.worked("perplexity", [[arithmetic.exp(mean[0][0])]])
    return page.steps


def experts(problem, arithmetic):
    """A dict of x, router, experts (each of W_1, b_1, W_2, b_2 and an activation: relu or none), top_k, normalise."""
    page = oracle.Page(arithmetic)
    x, router = numbers(page, problem["x"]), numbers(page, problem["router"])
    L = page.worked("logits", oracle.product(x, router))
    if problem.get("normalise", "after") == "after":
        chosen = page.copied("chosen", largest(L, problem["top_k"]))
        left = [[a if c else oracle.HIDDEN for a, c in zip(*rows, strict=True)] for rows in zip(L, chosen, strict=True)]
        gates = softmax(page, "gates", page.copied("masked", left))
    else:
        P = softmax(page, "probabilities", L)
        chosen = largest(P, problem["top_k"])
        gates = keep(page, "gates", P, chosen, problem.get("renormalise", True))
    page.copied("load", [[sum(row[e] for row in chosen) for e in range(len(router[0]))]])
    combined = []
    for i, row in enumerate(x):
        outputs = []
        for e in [e for e, mark in enumerate(chosen[i]) if mark]:
            outputs.append(network(page, f"token{i + 1}.expert{e + 1}.", [row], problem["experts"][e]))
        weights = [gates[i][e] for e, mark in enumerate(chosen[i]) if mark]
        page.copied(f"token{i + 1}.gates", [weights])
        page.copied(f"token{i + 1}.outputs", outputs)
        combined.append(page.worked(f"token{i + 1}.combined", oracle.product([weights], outputs))[0])
    page.copied("combined", combined)
    return page.steps


def network(page, prefix, x, expert):
    """The one row of a feed-forward."""
    weights = {name: numbers(page, expert[name]) for name in ("W_1", "W_2")}
    biases = {name: numbers(page, [expert[name]]) if name in expert else None for name in ("b_1", "b_2")}
    hidden = oracle.affine(page, f"{prefix}hidden", x, weights["W_1"], biases["b_1"])
    if expert.get("activation", "relu") == "relu":
        hidden = page.worked(f"{prefix}activated", [[max(0, z) for z in row] for row in hidden])
    return oracle.affine(page, f"{prefix}output", hidden, weights["W_2"], biases["b_2"])[0]
