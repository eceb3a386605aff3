"""Everything around one attention, in plain loops over floats, to hold the engine against. It shares no code with it.

    steps = solve(problem)

`problem` is the mapping that yaml.safe_load makes of a problem file, all matrices of it written out (or `identity`);
`steps` are rows of floats by the ids of the problem format. Only main steps are there, and only where the format
leaves no doubt about them. `result` is the last one, except of experts and losses, whose last steps are by the way.

A generation also has, under names of its own, `tokens`: the ids that were chosen, in one row; and for each step
`step1.last_logits` and `step1.last_probabilities`: the one row that the next token is chosen from. With a cache,
keys and values of earlier tokens are kept and only new rows are worked out.
"""

import math

HIDDEN = -math.inf
HIDES = -1e9  # a figure so low in an additive mask hides as -inf does


# Figures and rows


def number(value):
    return float(str(value).replace("−", "-").replace("∞", "inf")) if isinstance(value, str) else float(value)


def matrix(value, width=None):
    """Rows of floats; a flat list is one row; `identity` is as wide as is said."""
    if value == "identity":
        return [[float(i == j) for j in range(width)] for i in range(width)]
    if not isinstance(value[0], list):
        value = [value]
    return [[number(x) for x in row] for row in value]


def vector(value):
    return matrix(value)[0]


def is_yes(value):
    return value is True or value in ("yes", "true", 1)


def product(a, b):
    assert len(a[0]) == len(b), (len(a[0]), len(b))
    return [[sum(row[k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for row in a]


def transposed(a):
    return [list(column) for column in zip(*a, strict=True)]


def cells(f, *matrices):
    """f of the entries at each place."""
    return [[f(*entries) for entries in zip(*rows, strict=True)] for rows in zip(*matrices, strict=True)]


def sum_of(a, b):
    return cells(lambda x, y: x + y, a, b)


def part_of(a, count, k):
    """The k-th, from 0, of `count` equal parts of the columns."""
    width = len(a[0]) // count
    return [row[k * width : (k + 1) * width] for row in a]


def side_by_side(matrices):
    return [[x for part in parts for x in part] for parts in zip(*matrices, strict=True)]


def softmax(row):
    """Of a row in which nothing is visible, zeros."""
    highest = max(row)
    if highest == HIDDEN:
        return [0.0] * len(row)
    powers = [math.exp(x - highest) for x in row]
    total = sum(powers)
    return [power / total for power in powers]


class Steps(dict):
    """Rows by id; ids that stand within a part of a model begin with its name."""

    def __init__(self, prefix="", whole=None):
        super().__init__()
        self.prefix, self.whole = prefix, self if whole is None else whole

    def within(self, name):
        return Steps(f"{self.prefix}{name}.", self.whole)

    def put(self, id, rows):
        self.whole[self.prefix + id] = rows
        return rows


# Weights


def weights_of(owner, id, rows, orientation):
    """A matrix of weights as it is multiplied by: in × out."""
    if owner[id] == "identity":
        return matrix("identity", len(rows[0]))
    weights = matrix(owner[id])
    return transposed(weights) if orientation == "out-in" else weights


def affine(steps, id, rows, owner, W, b, orientation):
    """x W, and + b where there is a bias; before it, it is `.product`."""
    out = product(rows, weights_of(owner, W, rows, orientation))
    if b not in owner:
        return steps.put(id, out)
    steps.put(f"{id}.product", out)
    bias = vector(owner[b])
    return steps.put(id, [[x + y for x, y in zip(row, bias, strict=True)] for row in out])


# Positions


def sinusoidal(length, width, base=10000.0, columns="interleaved", first=0):
    """sin and cos of position / base^(2 i / width): side by side, or all sines before all cosines."""
    rows = []
    for position in range(first, first + length):
        angles = [position / base ** (2 * i / width) for i in range((width + 1) // 2)]
        if columns == "concatenated":
            row = [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]
        else:
            row = [f(angle) for angle in angles for f in (math.sin, math.cos)]
        rows.append(row[:width])
    return rows


def position_table(said, length, width, first=0):
    """The rows that are added to tokens; None where position is none, or turns queries and keys instead."""
    said = {"kind": said} if isinstance(said, str) else said or {"kind": "none"}
    if said["kind"] == "sinusoidal":
        base = number(said.get("base", 10000))
        return sinusoidal(length, width, base, said.get("columns", "interleaved"), first)
    return matrix(said["table"])[first : first + length] if said["kind"] == "learned" else None


def rotary_angles(said, rotary_dim, length, first=0):
    """(cos, sin, angles): a row a position, a column a pair. No angles where cos and sin are given."""
    if "cos" in said:
        return matrix(said["cos"]), matrix(said["sin"]), None
    start = int(said.get("start", 0)) + first
    if "angles" in said:
        given = matrix(said["angles"])
        if len(given) == 1:
            given = [[(start + i) * angle for angle in given[0]] for i in range(length)]
        angles = given[:length]
        if is_yes(said.get("degrees", False)):
            angles = [[math.radians(angle) for angle in row] for row in angles]
    else:
        base = number(said.get("base", 10000))
        if "ntk" in said:
            base *= number(said["ntk"]) ** (rotary_dim / (rotary_dim - 2))
        angles = [
            [(start + i) * base ** (-2 * pair / rotary_dim) for pair in range(rotary_dim // 2)] for i in range(length)
        ]
    return cells(math.cos, angles), cells(math.sin, angles), angles


def rotated(rows, said, first=0):
    """Each pair (a, b) of columns turned: (a cos - b sin, a sin + b cos). Columns from rotary_dim on stay."""
    rotary_dim = int(said.get("rotary_dim", len(rows[0])))
    half = rotary_dim // 2
    cos, sin, angles = rotary_angles(said, rotary_dim, len(rows), first)
    turned = [list(row) for row in rows]
    for i, row in enumerate(rows):
        for pair in range(half):
            one, other = (pair, pair + half) if said.get("pairs") == "halves" else (2 * pair, 2 * pair + 1)
            turned[i][one] = row[one] * cos[i][pair] - row[other] * sin[i][pair]
            turned[i][other] = row[one] * sin[i][pair] + row[other] * cos[i][pair]
    return turned, cos, sin, angles


def rotary_of(position):
    """What a position says, where it is rotary; else None."""
    if position == "rotary":
        return {"kind": "rotary"}
    return position if isinstance(position, dict) and position["kind"] == "rotary" else None


# Attention


def mask_rows(said, n, m, head=0, past=0):
    """What a mask adds to the scores of a head."""
    if said in (None, "none"):
        said = {}
    elif said == "causal":
        said = {"causal": True}
    elif isinstance(said, list):
        said = {"add": said}
    first = past + int(said.get("past", m - n if said.get("align") == "end" else 0))

    def part(name):
        rows = said[name]
        return rows[head] if isinstance(rows[0][0], list) else rows

    added = [[0.0] * m for _ in range(n)]
    window = said.get("window")
    if window is not None:
        before, after = (int(window[k]) for k in ("before", "after")) if isinstance(window, dict) else [window - 1] * 2
    for i in range(n):
        for j in range(m):
            at = first + i
            if "add" in said:
                figure = number(part("add")[i][j])
                added[i][j] = HIDDEN if figure <= HIDES else figure
            if (
                (is_yes(said.get("causal", False)) and j > at)
                or (window is not None and not at - before <= j <= at + after)
                or ("keep" in said and not is_yes(part("keep")[i][j]))
                or ("hide" in said and is_yes(part("hide")[i][j]))
            ):
                added[i][j] = HIDDEN
    return added


def additive_scores(Q, K, v_a=None):
    """The sum of tanh(q + k) over the columns, each times its figure of v_a."""
    by = vector(v_a) if v_a is not None else [1.0] * len(K[0])
    return [[sum(v * math.tanh(x + y) for v, x, y in zip(by, q, k, strict=True)) for k in K] for q in Q]


def one_head(steps, problem, head, Q, K, V, padding, past):
    """softmax(Q Kᵀ / √d_k + M) V"""
    additive = problem.get("scores") == "additive"
    scores = steps.put("S", additive_scores(Q, K, problem.get("v_a")) if additive else product(Q, transposed(K)))
    scale = problem.get("scale", "none" if additive else "sqrt_d_k")
    if scale != "none":
        if scale == "sqrt_d_k":
            factor = 1 / math.sqrt(len(K[0]))
        else:
            factor = number(scale["multiply"]) if isinstance(scale, dict) else 1 / number(scale)
        scores = steps.put("scaled", cells(lambda x: x * factor, scores))
    if "softcap" in problem:
        cap = number(problem["softcap"])
        scores = steps.put("softcap", cells(lambda x: cap * math.tanh(x / cap), scores))
    scores = sum_of(scores, mask_rows(problem.get("mask"), len(Q), len(K), head, past))
    if padding is not None:
        scores = [[x if is_yes(kept) else HIDDEN for x, kept in zip(row, padding, strict=True)] for row in scores]
    A = steps.put("A", [softmax(row) for row in scores])
    return steps.put("O", product(A, V))


def queries_keys_values(steps, problem, rows, others, heads, kv_heads):
    """(Q, K, V) of all heads side by side; of a list of heads that each has its own columns, in lists."""
    orientation = problem.get("orientation")
    if "Q" in problem:
        return [matrix(problem[name]) for name in "QKV"]
    if "W_QKV" in problem:
        stack = weights_of(problem, "W_QKV", rows, orientation)
        d_k = int(problem.get("d_k", len(stack[0]) // (heads + 2 * kv_heads)))
        first, second = heads * d_k, (heads + kv_heads) * d_k
        cuts = {"Q": slice(0, first), "K": slice(first, second), "V": slice(second, None)}
        problem = {f"W_{name}": [row[cut] for row in stack] for name, cut in cuts.items()} | {
            f"b_{name}": vector(problem["b_QKV"])[cut] for name, cut in cuts.items() if "b_QKV" in problem
        }
        orientation = "in-out"
    if not isinstance(problem.get("heads"), list):
        return [
            affine(steps, name, x, problem, f"W_{name}", f"b_{name}", orientation)
            for name, x in zip("QKV", (rows, others, others), strict=True)
        ]
    alone = Steps()  # what each of a list of heads does by itself is not among the steps
    found = []
    for name, x in zip("QKV", (rows, others, others), strict=True):
        parts = []
        for h, own in enumerate(problem["heads"]):
            if f"W_{name}" in own:  # the first of those that share keys and values has them
                cut = part_of(x, heads, h) if problem.get("split") == "input" else x
                parts.append(affine(alone, name, cut, own, f"W_{name}", f"b_{name}", orientation))
        found.append(side_by_side(parts))
    return found


def attention(steps, problem, rows, memory=None, rotary=None, padding=None, cache=None):
    """The output of an attention of these rows, over themselves or over a memory.

    A cache is a dict of the keys and values of each head; those of these rows are added to it."""
    heads = problem.get("heads", 1)
    heads = len(heads) if isinstance(heads, list) else int(heads)
    kv_heads = int(problem.get("kv_heads", heads))
    Q, K, V = queries_keys_values(steps, problem, rows, rows if memory is None else memory, heads, kv_heads)
    padding = problem.get("padding", padding)
    if padding is not None and isinstance(padding[0], list):
        padding = padding[0]
    past = len(cache["K"][0]) if cache else 0
    keys, values = ([part_of(x, kv_heads, g) for g in range(kv_heads)] for x in (K, V))
    queries = [part_of(Q, heads, h) for h in range(heads)]
    if rotary:
        queries = [rotated(each, rotary, past)[0] for each in queries]
        keys = [rotated(each, rotary, past)[0] for each in keys]
        if heads == 1:
            steps.put("Q.rotated", queries[0])
            steps.put("K.rotated", keys[0])
    if cache is not None:
        if past:
            keys = [old + new for old, new in zip(cache["K"], keys, strict=True)]
            values = [old + new for old, new in zip(cache["V"], values, strict=True)]
        cache |= {"K": keys, "V": values}
    outputs = []
    for h in range(heads):
        own = steps.within(f"head{h + 1}") if heads > 1 else steps
        group = h * kv_heads // heads
        outputs.append(one_head(own, problem, h, queries[h], keys[group], values[group], padding, past))
    out = steps.put("concat", side_by_side(outputs)) if heads > 1 else outputs[0]
    if "W_O" in problem:
        out = affine(steps, "output", out, problem, "W_O", "b_O", problem.get("orientation"))
    if "query_mask" in problem:
        pairs = zip(out, problem["query_mask"], strict=True)
        out = steps.put("masked_output", [[x if is_yes(kept) else 0.0 for x in row] for row, kept in pairs])
    return out


# Norms


def norm(steps, problem, rows):
    """LayerNorm or RMSNorm, by `kind`, row by row."""
    eps, outside = number(problem.get("eps", 1e-5)), problem.get("eps_in") == "outside"

    def over_root(middle, mean_squares):
        roots = [math.sqrt(x) + eps if outside else math.sqrt(x + eps) for x in mean_squares]
        steps.put("root", [[root] for root in roots])
        return steps.put("normalised", [[x / root for x in row] for row, root in zip(middle, roots, strict=True)])

    if problem["kind"] == "rms-norm":
        mean_squares = [sum(x * x for x in row) / len(row) for row in rows]
        steps.put("mean_square", [[x] for x in mean_squares])
        out = over_root(rows, mean_squares)
    else:
        means = [sum(row) / len(row) for row in rows]
        deviations = [[x - mean for x in row] for row, mean in zip(rows, means, strict=True)]
        count = len(rows[0]) - (problem.get("variance") == "unbiased")
        variances = [sum(x * x for x in row) / count for row in deviations]
        steps.put("mean", [[x] for x in means])
        steps.put("deviations", deviations)
        steps.put("variance", [[x] for x in variances])
        out = over_root(deviations, variances)
    if "gain" in problem:
        gain = vector(problem["gain"])
        out = steps.put("gained", [[x * g for x, g in zip(row, gain, strict=True)] for row in out])
    if "bias" in problem:
        bias = vector(problem["bias"])
        out = steps.put("biased", [[x + b for x, b in zip(row, bias, strict=True)] for row in out])
    return out


# Feed-forward and experts


def gelu(x):
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x):
    """x / (1 + e^-x), where e^-x may be too large for a float."""
    return x / (1 + math.exp(-x)) if x > -700 else x * math.exp(x)


ACTIVATIONS = {"relu": lambda x: max(x, 0.0), "gelu": gelu, "gelu-tanh": gelu_tanh, "silu": silu}
GATED = {"swiglu": silu, "geglu": gelu}


def feed_forward(steps, problem, rows):
    """activation(x W_1) W_2, or (activation(x W_gate) * (x W_1)) W_2, with biases where there are any."""
    orientation, activation = problem.get("orientation"), problem.get("activation", "relu")
    hidden = affine(steps, "hidden", rows, problem, "W_1", "b_1", orientation)
    if activation in GATED:
        gate = affine(steps, "gate", rows, problem, "W_gate", "b_gate", orientation)
        gate = steps.put("activated", cells(GATED[activation], gate))
        hidden = steps.put("gated", cells(lambda x, y: x * y, gate, hidden))
    elif activation != "none":
        hidden = steps.put("activated", cells(ACTIVATIONS[activation], hidden))
    return affine(steps, "output", hidden, problem, "W_2", "b_2", orientation)


def highest(row, count):
    """The places of the highest entries, highest first; of equal ones the lower place first."""
    return sorted(range(len(row)), key=lambda j: (-row[j], j))[:count]


def experts(steps, problem, rows):
    """Each row through the experts that its router prefers, mixed by the router's weights."""
    logits = steps.put("logits", product(rows, weights_of(problem, "router", rows, "in-out")))
    before = problem.get("normalise", "after") == "before"
    if before:
        steps.put("probabilities", [softmax(row) for row in logits])
    top_k = int(problem.get("top_k", len(logits[0])))
    load = [0.0] * len(logits[0])
    combined = []
    for i, row in enumerate(rows):
        chosen = highest(logits[i], top_k)
        gates = [softmax(logits[i])[j] for j in chosen] if before else softmax([logits[i][j] for j in chosen])
        if before and is_yes(problem.get("renormalise", True)):
            gates = [gate / sum(gates) for gate in gates]
        for j in chosen:
            load[j] += 1
        if "experts" not in problem:
            continue
        mixed = None
        for j, gate in zip(chosen, gates, strict=True):
            own = steps.within(f"token{i + 1}").within(f"expert{j + 1}")
            [out] = feed_forward(own, problem["experts"][j], [row])
            mixed = [(mixed[k] if mixed else 0.0) + gate * x for k, x in enumerate(out)]
        combined.append(mixed)
    steps.put("load", [load])
    return steps.put("combined", combined) if combined else None


# Output and loss


def output(steps, problem, rows=None, embedding=None):
    """Probabilities over the vocabulary, and what top_k and top_p keep of them."""
    if "probabilities" in problem:
        probabilities = matrix(problem["probabilities"])
    else:
        if "logits" in problem:
            logits = matrix(problem["logits"])
        elif "W" in problem:
            orientation = problem.get("orientation")
            logits = affine(Steps(), "logits", rows, problem, "W", "b", orientation)
        else:
            tied = problem["tied"]
            weights = matrix(tied) if isinstance(tied, list) else embedding
            logits = product(rows, transposed(weights))
            if "b" in problem:
                logits = [[x + b for x, b in zip(row, vector(problem["b"]), strict=True)] for row in logits]
        steps.put("logits", logits)
        temperature = number(problem.get("temperature", 1))
        if temperature != 1:
            logits = steps.put("scaled", cells(lambda x: x / temperature, logits))
        probabilities = steps.put("probabilities", [softmax(row) for row in logits])
    if "top_k" not in problem and "top_p" not in problem:
        return probabilities
    return steps.put("kept", [kept_of(problem, row) for row in probabilities])


def kept_of(problem, row):
    """The top_k highest; or the fewest of the highest that come to top_p. The others become 0."""
    order = highest(row, int(problem.get("top_k", len(row))))
    if "top_p" in problem:
        total, count = 0.0, 0
        whole = sum(row[j] for j in order)
        while count < len(order) and total < number(problem["top_p"]) * whole - 1e-12:
            total += row[order[count]]
            count += 1
        order = order[: max(count, 1)]
    kept = sum(row[j] for j in order) if is_yes(problem.get("renormalise", True)) else 1.0
    return [row[j] / kept if j in order else 0.0 for j in range(len(row))]


def log_softmax(row):
    highest = max(row)
    total = math.log(sum(math.exp(x - highest) for x in row))
    return [x - highest - total for x in row]


def loss(steps, problem, logs, vocabulary=None):
    """-ln of the probability of each target, from the logarithms of all (or those of the targets alone). A loss is a
    row, also of one number."""
    if "targets" in problem:
        targets = [id_of(target, vocabulary) for target in problem["targets"]]
        losses = [-row[target] for row, target in zip(logs, targets, strict=True)]
    else:
        losses = [-x for row in logs for x in row]
    steps.put("losses", [[x] for x in losses])
    reduction = problem.get("reduction", "mean")
    if reduction != "none":
        steps.put("sum", [[sum(losses)]])
    if reduction == "mean":
        mean = sum(losses) / len(losses)
        steps.put("mean", [[mean]])
        steps.put("perplexity", [[math.exp(mean) if mean < 700 else math.inf]])


# Words


def id_of(word, vocabulary=None):
    """The place of a word in the vocabulary, from 0, or the id itself."""
    names = [str(each) for each in vocabulary or []]
    return names.index(str(word)) if str(word) in names else int(word)


def words_of(problem):
    """(vocabulary or None, the rows of the embedding or None)"""
    vocabulary, embedding = problem.get("vocabulary"), problem.get("embedding")
    if isinstance(embedding, dict):
        vocabulary = vocabulary or list(embedding)
        embedding = [embedding[word] for word in vocabulary]
    return vocabulary, embedding and matrix(embedding)


def tokens_with_positions(steps, problem, tokens=None, first=0):
    """H, and X where positions are added to it. In a generation, the ids of the tokens, the first of which stands at
    position `first`: earlier ones are cached."""
    if tokens is None and "H" in problem:
        rows = matrix(problem["H"])
    else:
        vocabulary, embedding = words_of(problem)
        ids = [id_of(word, vocabulary) for word in problem["input"]] if tokens is None else tokens
        rows = [list(embedding[id]) for id in ids]
    steps.put("H", rows)
    table = position_table(problem.get("position"), len(rows), len(rows[0]), first)
    if table is None:
        return rows
    return steps.put("X", sum_of(rows, steps.put("positions", table)))


# Models


def layers_of(problem):
    return [layer for layer in problem["layers"] for _ in range(int(layer.get("repeat", 1)))]


PARTS = ("attention", "cross_attention", "feed_forward", "experts")


def model(steps, problem, kind, tokens=None, memory=None, memory_padding=None, caches=None):
    """The rows that come out of the last layer (and the last norm)."""
    past = len(caches[0]["K"][0]) if caches and caches[0] else 0
    x = tokens_with_positions(steps, problem, tokens, past)
    for index, layer in enumerate(layers_of(problem)):
        own = steps.within(f"layer{index + 1}")
        parts = [name for name in PARTS if name in layer]
        norms = layer.get("norms", [layer.get("norm")] * len(parts))
        for k, (name, said) in enumerate(zip(parts, norms, strict=True), 1):
            part, place = layer[name], (said or {}).get("place")
            into = norm(own.within(f"norm{k}"), said, x) if place == "pre" else x
            within = own.within(name)
            if name == "attention":
                default = "causal" if kind == "decoder" else "none"
                out = attention(
                    within, {"mask": default, **part}, into,
                    rotary=rotary_of(part.get("position", problem.get("position"))),
                    padding=problem.get("padding"), cache=caches[index] if caches else None,
                )  # fmt: skip
            elif name == "cross_attention":
                out = attention(within, part, into, memory=memory, padding=memory_padding)
            else:
                out = (feed_forward if name == "feed_forward" else experts)(within, part, into)
            if part.get("residual", True) not in (False, "no", "false"):
                out = own.put(f"residual{k}", sum_of(x, out))
            x = norm(own.within(f"norm{k}"), said, out) if place == "post" else out
    return norm(steps.within("final_norm"), problem["final_norm"], x) if "final_norm" in problem else x


def predictions(steps, problem, rows):
    """The probabilities of the next token, as they come and as top_k and top_p leave them."""
    said = {"tied": True} if problem["output"] == "tied" else problem["output"]
    return output(steps.within("output"), said, rows, words_of(problem)[1])


def run(steps, problem, kind, memory=None, memory_padding=None):
    """A whole encoder or decoder: to the end of its layers, to its probabilities, to its loss; or a generation."""
    if "memory" in problem:
        memory = matrix(problem["memory"]["H"])
    if "generate" in problem:
        return generate(steps, problem, kind, memory, memory_padding)
    out = model(steps, problem, kind, None, memory, memory_padding)
    if "output" in problem:
        out = predictions(steps, problem, out)
        if "targets" in problem:
            scaled = f"{steps.prefix}output.scaled"  # by a temperature
            logits = steps.whole.get(scaled, steps.whole[f"{steps.prefix}output.logits"])
            loss(steps.within("loss"), problem, [log_softmax(row) for row in logits], words_of(problem)[0])
            return None
    return out


def generate(steps, problem, kind, memory, memory_padding):
    """Token after token: the likeliest, or the first whose cumulated probability is more than the draw."""
    said, vocabulary = problem["generate"], words_of(problem)[0]
    tokens = [id_of(word, vocabulary) for word in said["from"]]
    given, choose = len(tokens), said.get("choose", "greedy")
    caches = [{} for _ in layers_of(problem)] if is_yes(said.get("cache", False)) else None
    for step in range(int(said["steps"])):
        alone = Steps()
        new = tokens[-1:] if caches and step else tokens
        out = model(alone, problem, kind, new, memory, memory_padding, caches)
        last = predictions(alone, problem, out)[-1]
        steps.put(f"step{step + 1}.last_logits", alone["output.logits"][-1:])
        steps.put(f"step{step + 1}.last_probabilities", alone["output.probabilities"][-1:])
        tokens.append(highest(last, 1)[0] if choose == "greedy" else drawn(last, number(choose["sample"][step])))
        if "stop" in said and tokens[-1] == id_of(said["stop"], vocabulary):
            break
    return steps.put("tokens", [[float(token) for token in tokens[given:]]])


def drawn(row, draw):
    """The first place at which the sum so far is more than the draw."""
    total = 0.0
    for j, p in enumerate(row):
        total += p
        if total > draw * sum(row):
            return j
    return max(j for j, p in enumerate(row) if p)


# Problems


def solve(problem):
    """Rows of floats by step id."""
    steps, kind = Steps(), problem.get("kind", "attention")
    out = KINDS[kind](steps, problem)
    if out is not None:
        steps["result"] = out
    return dict(steps)


def solve_attention(steps, problem):
    rows = None if "Q" in problem else tokens_with_positions(steps, problem)
    memory = problem.get("memory", {}).get("H")
    return attention(steps, problem, rows, memory and matrix(memory), rotary_of(problem.get("position")))


def solve_positions(steps, problem):
    x = matrix(problem["x"]) if "x" in problem else None
    length = len(x) if x else int(problem["length"])
    width = len(x[0]) if x else int(problem["width"])
    base, columns = number(problem.get("base", 10000)), problem.get("columns", "interleaved")
    table = steps.put("positions", sinusoidal(length, width, base, columns))
    return steps.put("X", sum_of(x, table)) if x else table


def solve_rotary(steps, problem):
    out, cos, sin, angles = rotated(matrix(problem["x"]), problem)
    if angles and not is_yes(problem.get("degrees", False)):
        steps.put("angles", angles)
    if angles:
        steps.put("cos", cos)
        steps.put("sin", sin)
    return steps.put("rotated", out)


def solve_experts(steps, problem):
    experts(steps, problem, matrix(problem["x"]))


def solve_output(steps, problem):
    return output(steps, problem, matrix(problem["x"]) if "x" in problem else None)


def solve_loss(steps, problem):
    if "probabilities" in problem:
        logs = cells(math.log, matrix(problem["probabilities"]))
    else:
        logits = matrix(problem["logits"])
        steps.put("probabilities", [softmax(row) for row in logits])
        logs = [log_softmax(row) for row in logits]
    loss(steps, problem, logs, problem.get("vocabulary"))


def solve_encoder_decoder(steps, problem):
    encoder, decoder = problem["encoder"], problem["decoder"]
    memory = run(steps.within("encoder"), encoder, "encoder")
    return run(steps.within("decoder"), decoder, "decoder", memory, encoder.get("padding"))


KINDS = {
    "attention": solve_attention,
    "positions": solve_positions,
    "rotary": solve_rotary,
    "layer-norm": lambda steps, problem: norm(steps, problem, matrix(problem["x"])),
    "rms-norm": lambda steps, problem: norm(steps, problem, matrix(problem["x"])),
    "feed-forward": lambda steps, problem: feed_forward(steps, problem, matrix(problem["x"])),
    "gate": lambda steps, problem: steps.put(
        "output", cells(lambda x, g: x * g, matrix(problem["value"]), matrix(problem["gate"]))
    ),
    "residual": lambda steps, problem: steps.put("output", sum_of(matrix(problem["x"]), matrix(problem["f"]))),
    "experts": solve_experts,
    "output": solve_output,
    "loss": solve_loss,
    "encoder": lambda steps, problem: run(steps, problem, "encoder"),
    "decoder": lambda steps, problem: run(steps, problem, "decoder"),
    "encoder-decoder": solve_encoder_decoder,
}
