"""Makes torch_cases.json, PyTorch's own figures for problem files of ours, in float64. No test runs this.

To make them anew, in an environment of its own:

    python3 -m venv torchvenv && torchvenv/bin/pip install torch==2.13.0 numpy
    torchvenv/bin/python tests/torch_cases.py

They were made with torch 2.13.0 (CPU). Rows that may see nothing are left out: PyTorch gives NaN there.
"""

import json
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

torch.set_default_dtype(torch.float64)
HERE = Path(__file__).resolve().parent
CASES = []


def drawn(*shape):
    """Decimals of three places, so that the text of the problem file says them whole."""
    return torch.randint(-2000, 2001, shape).to(torch.float64) / 1000


def rows(matrix):
    return json.dumps(matrix.tolist())


def added(mask):
    """An additive mask as YAML."""
    return rows(mask).replace("-Infinity", "-inf")


def side_by_side(heads):
    """heads × n × d as n × (heads · d): how a problem file gives Q, K and V of several heads."""
    return heads.permute(1, 0, 2).reshape(heads.shape[1], -1)


def case(name, lines, **figures):
    """One case: a problem file, and what PyTorch gives by the id of our step."""
    text = "".join(f"{key}: {value}\n" for key, value in lines.items())
    for id, matrix in figures.items():
        assert torch.isfinite(matrix).all(), (name, id)
    figures = {id.replace("__", "."): matrix.tolist() for id, matrix in figures.items()}
    CASES.append({"name": name, "problem": text, "figures": figures})


def sdpa(name, n, m, d_k, d_v, heads=1, kv_heads=None, mask=None, said=None, **options):
    """scaled_dot_product_attention on drawn Q, K and V. `mask` is PyTorch's, `said` what a problem file says for it."""
    kv_heads = kv_heads or heads
    Q, K, V = drawn(heads, n, d_k), drawn(kv_heads, m, d_k), drawn(kv_heads, m, d_v)
    out = scaled_dot_product_attention(
        Q[None], K[None], V[None], attn_mask=mask, enable_gqa=kv_heads < heads, **options
    )[0]  # fmt: skip
    lines = {"Q": rows(side_by_side(Q)), "K": rows(side_by_side(K)), "V": rows(side_by_side(V))}
    if heads > 1:
        lines["heads"] = heads
    if kv_heads < heads:
        lines["kv_heads"] = kv_heads
    if "scale" in options:
        lines["scale"] = f"{{multiply: {options['scale']}}}"
    lines |= said or {}
    whole = side_by_side(out)
    per_head = {f"head{h + 1}__O": out[h] for h in range(heads)} if heads > 1 else {}
    case(name, lines, **per_head, **{"concat" if heads > 1 else "O": whole})


def boolean(n, m):
    """A boolean mask in which every query may see something, True where it may."""
    mask = torch.rand(n, m) < 0.6
    mask[torch.arange(n), torch.randint(0, m, (n,))] = True
    return mask


def floating(n, m, *lead):
    """A float mask: figures to be added, -inf here and there, at least one finite a row."""
    mask = torch.where(torch.rand(*lead, n, m) < 0.7, drawn(*lead, n, m), -torch.inf)
    mask[..., 0] = drawn(*lead, n)
    return mask


def scaled_dot_products():
    sdpa("plain", 3, 3, 2, 2)
    sdpa("wider values", 4, 4, 3, 5)
    sdpa("narrower values", 3, 3, 4, 1)
    sdpa("one query, many keys", 1, 7, 4, 4)
    sdpa("more queries than keys", 5, 2, 3, 2)
    sdpa("causal", 4, 4, 2, 3, is_causal=True, said={"mask": "causal"})
    sdpa("causal, fewer queries: the first stands at the first key", 2, 5, 2, 2, is_causal=True,
         said={"mask": "{causal: yes, align: start}"})  # fmt: skip
    sdpa("causal, more queries", 5, 3, 2, 2, is_causal=True, said={"mask": "{causal: yes, align: start}"})
    for name, shape in {"boolean mask": (4, 4), "boolean mask on unequal sides": (3, 6)}.items():
        mask = boolean(*shape)
        sdpa(name, *shape, 3, 2, mask=mask, said={"mask": f"{{keep: {rows(mask.int())}}}"})
        sdpa(f"{name}, said as hidden", *shape, 3, 2, mask=mask, said={"mask": f"{{hide: {rows(~mask)}}}"})
    for name, shape in {"float mask": (3, 3), "float mask on unequal sides": (4, 2)}.items():
        mask = floating(*shape)
        sdpa(name, *shape, 2, 3, mask=mask, said={"mask": added(mask)})
    lower = torch.tril(torch.ones(2, 5, dtype=torch.bool), diagonal=3)
    sdpa("causal, the last query at the last key", 2, 5, 4, 2, mask=lower, said={"mask": "{causal: yes, align: end}"})
    band = boolean(4, 4) | torch.eye(4, dtype=torch.bool)
    near = (torch.arange(5)[:, None] - torch.arange(5)).abs() < 2
    sdpa("window", 5, 5, 3, 3, mask=near, said={"mask": "{window: 2}"})
    past = torch.tril(torch.ones(5, 5, dtype=torch.bool)) & near
    sdpa("causal window", 5, 5, 3, 3, mask=past, said={"mask": "{causal: true, window: 2}"})
    sdpa("causal and kept", 4, 4, 2, 2, mask=torch.tril(band),
         said={"mask": f"{{causal: yes, keep: {rows(band.int())}}}"})  # fmt: skip
    sdpa("scale 1", 3, 3, 4, 4, scale=1.0)
    sdpa("scale 0.125", 3, 4, 4, 2, scale=0.125)
    sdpa("scale 2.5, causal", 4, 4, 3, 3, scale=2.5, is_causal=True, said={"mask": "causal"})
    sdpa("two heads", 3, 3, 2, 2, heads=2)
    sdpa("three heads, causal, wider values", 4, 4, 2, 3, heads=3, is_causal=True, said={"mask": "causal"})
    mask = floating(3, 4, 2)
    sdpa("two heads, a float mask each", 3, 4, 2, 2, heads=2, mask=mask, said={"mask": f"{{add: {added(mask)}}}"})
    mask = torch.stack([boolean(3, 3), boolean(3, 3)])
    sdpa("two heads, a boolean mask each", 3, 3, 2, 2, heads=2, mask=mask,
         said={"mask": f"{{keep: {rows(mask.int())}}}"})  # fmt: skip
    for heads, kv_heads in ((4, 2), (4, 1), (6, 2), (6, 3)):
        sdpa(f"{heads} heads on {kv_heads}", 3, 3, 2, 2, heads=heads, kv_heads=kv_heads)
    sdpa("4 heads on 2, causal, a decoding step", 1, 6, 3, 2, heads=4, kv_heads=2)
    sdpa("4 heads on 2, causal", 4, 4, 2, 3, heads=4, kv_heads=2, is_causal=True, said={"mask": "causal"})
    mask = boolean(3, 5)
    sdpa("4 heads on 1, boolean mask, scale", 3, 5, 2, 2, heads=4, kv_heads=1, mask=mask, scale=0.5,
         said={"mask": f"{{keep: {rows(mask.int())}}}"})  # fmt: skip


def layer(name, n, d_model, heads, said=None, mask=None, padding=None, bias=True, keys=None, kdim=None, vdim=None):
    """nn.MultiheadAttention; its weights are stored out × in. `keys` are as many rows for keys and values to come from,
    of kdim = vdim columns where that is said: then it has three matrices instead of a stack."""
    module = nn.MultiheadAttention(d_model, heads, bias=bias, kdim=kdim, vdim=vdim, batch_first=True)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(drawn(*parameter.shape))
    H = drawn(n, d_model)
    memory = H if keys is None else drawn(keys, kdim or d_model)
    output, weights = module(
        H[None], memory[None], memory[None], need_weights=True, average_attn_weights=False,
        attn_mask=mask, key_padding_mask=None if padding is None else padding[None],
    )  # fmt: skip
    lines = {"orientation": "out-in", "heads": heads, "H": rows(H)}
    if kdim:
        lines |= {f"W_{of}": rows(getattr(module, f"{of.lower()}_proj_weight")) for of in "QKV"}
    elif keys is None:
        lines["W_QKV"] = rows(module.in_proj_weight)
    else:
        lines |= {f"W_{of}": rows(part) for of, part in zip("QKV", module.in_proj_weight.chunk(3), strict=True)}
    if keys is not None:
        lines["memory"] = f"{{H: {rows(memory)}}}"
    if bias and keys is None and not kdim:
        lines["b_QKV"] = rows(module.in_proj_bias)
    elif bias:
        lines |= {f"b_{of}": rows(part) for of, part in zip("QKV", module.in_proj_bias.chunk(3), strict=True)}
    lines["W_O"] = rows(module.out_proj.weight)
    if bias:
        lines["b_O"] = rows(module.out_proj.bias)
    lines |= said or {}
    A = {(f"head{h + 1}__A" if heads > 1 else "A"): weights[0, h] for h in range(heads)}
    case(f"layer: {name}", lines, **A, output=output[0])


def layers():
    layer("one head", 3, 2, 1)
    layer("two heads", 3, 4, 2)
    layer("three heads without biases", 2, 6, 3, bias=False)
    layer("four heads of one column", 3, 4, 4)
    lower = torch.triu(torch.ones(4, 4, dtype=torch.bool), diagonal=1)  # True: may not see
    layer("causal", 4, 4, 2, mask=lower, said={"mask": "causal"})
    mask = floating(3, 3)
    layer("float mask", 3, 4, 2, mask=mask, said={"mask": added(mask)})
    mask = floating(3, 3, 2)
    layer("a float mask each head", 3, 4, 2, mask=mask, said={"mask": added(mask)})
    hidden = ~boolean(3, 3)
    layer("boolean mask, True hides", 3, 4, 2, mask=hidden, said={"mask": f"{{hide: {rows(hidden)}}}"})
    padding = torch.tensor([False, False, True, True])  # True: padding
    layer("padding at the end", 4, 4, 2, padding=padding, said={"padding": "[1, 1, 0, 0]"})
    layer("padding and causal", 4, 4, 2, padding=padding, mask=lower,
          said={"padding": "[yes, yes, no, no]", "mask": "causal"})  # fmt: skip
    layer("over a memory", 2, 4, 2, keys=5)
    layer("over a memory with padding", 3, 4, 2, keys=3, padding=torch.tensor([True, False, False]),
          said={"padding": "[0, 1, 1]"})  # fmt: skip
    layer("kdim and vdim", 3, 4, 2, keys=4, kdim=3, vdim=3)
    layer("kdim and vdim without biases", 2, 6, 3, keys=3, kdim=2, vdim=2, bias=False)


if __name__ == "__main__":
    torch.manual_seed(7)
    scaled_dot_products()
    with torch.no_grad():
        layers()
    lines = ",\n".join(json.dumps(each, allow_nan=False) for each in CASES)
    (HERE / "torch_cases.json").write_text(f'{{"torch": "{torch.__version__}", "cases": [\n{lines}\n]}}\n', "utf-8")
    print(len(CASES), "cases")
