"""Makes the decoder of article 2, problems/small-decoder.npz, and its figures, small_decoder.json. No test runs this.

In an environment of its own, as for transformer_cases.py:

    torchvenv/bin/python tests/small_decoder.py

The model is one pre-norm block of width 8 with two heads: learned positions, GELU of 32, a vocabulary of 50. Its
weights are those that PyTorch draws after manual_seed(7), so its parts must be made in the article's order; they were
made with torch 2.13.0 (CPU). Neither the number of heads nor the mask has a part in the draw.

In the .npz, as float32: embedding (50 × 8), positions (16 × 8), gains and biases of norms; W_QKV (24 × 8), W_O (8 × 8),
W_1 (32 × 8) and W_2 (8 × 32) out × in, as nn.Linear keeps them; W_lm in × out (8 × 50), as `output` reads it.

In the .json, by variant: "logits" and "attention" (heads × 8 × 8) as the float32 model gives them; "logits64" and
"attention64" of the very same weights in float64; "top" and "probabilities", the three likeliest ids after the last.
"""

import json
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
IDS = [3, 8, 12, 5, 17, 42, 23, 6]
WIDTH, VOCABULARY, LONGEST = 8, 50, 16
VARIANTS = {"two heads": (2, True), "four heads": (4, True), "no mask": (2, False), "four heads, no mask": (4, False)}


def parts():
    """The parts of the model. Each draws its weights when it is made: the order matters."""
    torch.manual_seed(7)
    return nn.ModuleDict({
        "embedding": nn.Embedding(VOCABULARY, WIDTH),
        "positions": nn.Embedding(LONGEST, WIDTH),
        "norm1": nn.LayerNorm(WIDTH),
        "qkv": nn.Linear(WIDTH, 3 * WIDTH, bias=False),
        "out": nn.Linear(WIDTH, WIDTH, bias=False),
        "norm2": nn.LayerNorm(WIDTH),
        "up": nn.Linear(WIDTH, 4 * WIDTH),
        "down": nn.Linear(4 * WIDTH, WIDTH),
        "final_norm": nn.LayerNorm(WIDTH),
        "lm": nn.Linear(WIDTH, VOCABULARY, bias=False),
    })  # fmt: skip


def logits_and_attention(of, heads, causal):
    """(8 × 50, heads × 8 × 8)"""
    n = len(IDS)
    x = of["embedding"](torch.tensor(IDS)) + of["positions"](torch.arange(n))
    stack = of["qkv"](of["norm1"](x))  # n × 24
    # heads × n × d_k each
    Q, K, V = (part.unflatten(-1, (heads, -1)).transpose(0, 1) for part in stack.split(WIDTH, dim=-1))
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    if causal:
        scores = scores + torch.full((n, n), -torch.inf).triu(1)
    A = scores.softmax(-1)
    x = x + of["out"]((A @ V).transpose(0, 1).flatten(1))
    x = x + of["down"](nn.functional.gelu(of["up"](of["norm2"](x))))
    return of["lm"](of["final_norm"](x)), A


def arrays(of):
    named = {
        "embedding": of["embedding"].weight, "positions": of["positions"].weight,
        "W_QKV": of["qkv"].weight, "W_O": of["out"].weight,
        "W_1": of["up"].weight, "b_1": of["up"].bias, "W_2": of["down"].weight, "b_2": of["down"].bias,
        "W_lm": of["lm"].weight.T,
    }  # fmt: skip
    for norm in ("norm1", "norm2", "final_norm"):
        named |= {f"{norm}.gain": of[norm].weight, f"{norm}.bias": of[norm].bias}
    return {name: np.ascontiguousarray(tensor.numpy()) for name, tensor in named.items()}


def compact(tensor, digits):
    if tensor.dim() == 0:
        return float(f"{tensor.item():.{digits}g}")
    return [compact(each, digits) for each in tensor]


if __name__ == "__main__":
    figures = {"torch": torch.__version__}
    with torch.no_grad():
        single = parts()
        np.savez(HERE.parent / "problems" / "small-decoder.npz", **arrays(single))
        double = parts().double()
        for name, (heads, causal) in VARIANTS.items():
            logits, A = logits_and_attention(single, heads, causal)
            logits64, A64 = logits_and_attention(double, heads, causal)
            likeliest = logits[-1].softmax(-1).topk(3)
            figures[name] = {
                "logits": compact(logits, 8), "attention": compact(A, 8),
                "logits64": compact(logits64, 12), "attention64": compact(A64, 12),
                "top": likeliest.indices.tolist(), "probabilities": compact(likeliest.values, 8),
            }  # fmt: skip
            print(f"{name}: first head's last row {A[0, -1].tolist()}")
            print(f"  last logits from {logits[-1, :3].tolist()}, likeliest {figures[name]['top']}")
            print(f"  of probability {figures[name]['probabilities']}")
    text = json.dumps(figures, separators=(",", ":"))
    (HERE / "small_decoder.json").write_text(text.replace('},"', '},\n"') + "\n", "utf-8")
