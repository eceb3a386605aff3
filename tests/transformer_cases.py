"""Makes transformer_cases.json: what PyTorch and Hugging Face's models give for problems of ours. No test runs this.

To make it anew, in an environment of its own:

    python3 -m venv torchvenv && torchvenv/bin/pip install torch==2.13.0 transformers==5.24.0 numpy
    torchvenv/bin/python tests/transformer_cases.py

All weights are drawn, to three decimals, so that a problem holds them whole; no weights are downloaded. A case is

    {"name", "source", "problem": a mapping as of a problem file, "expected": {step id: rows}, "tolerance"}

and a generation also has "generated", the ids that were chosen, and "last_logits", what each was chosen from.

Figures are float64, to 12 digits. Parts of some models work in float32 whatever they are given (Llama's and Mixtral's
norms, angles and routers; tables of sines): those cases have a larger tolerance, and 8 digits. Tolerances are absolute
for figures up to 1, relative above.
"""

import json
from pathlib import Path

import torch
import transformers
from torch import nn
from torch.nn import functional as F
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MarianConfig,
    MarianMTModel,
    MistralConfig,
    MistralForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
)
from transformers.generation.logits_process import TopKLogitsWarper, TopPLogitsWarper
from transformers.models.bert.modeling_bert import BertConfig, BertLayer
from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.llama import modeling_llama as llama
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock

torch.set_default_dtype(torch.float64)
HERE = Path(__file__).resolve().parent
CASES = []
DOUBLE, SINGLE = 1e-10, 1e-5


def drawn(*shape, most=1000):
    """Decimals of three places up to ±1, or so many thousandths."""
    return torch.randint(-most, most + 1, shape).to(torch.float64) / 1000


def redraw(module):
    """The module, all its weights drawn anew."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(drawn(*parameter.shape))
    return module


def plain(value, digits=None):
    """Tensors as lists, also within a mapping or a list."""
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: plain(each, digits) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, digits) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if digits else round(value, 6)
    return value


def case(name, source, problem, expected, tolerance=DOUBLE, **more):
    digits = 12 if tolerance == DOUBLE else 8
    for id, rows in expected.items():
        assert torch.isfinite(rows).all() and rows.dim() == 2, (name, id)
    made = {"name": name, "source": source, "problem": plain(problem), "expected": plain(expected, digits)}
    CASES.append(made | plain(more, digits) | {"tolerance": tolerance})


# One mechanism


def norms():
    x = drawn(3, 4, most=3000)
    gain, bias = drawn(4), drawn(4)
    case("layer norm", "F.layer_norm", {"kind": "layer-norm", "x": x}, {"normalised": F.layer_norm(x, (4,))})
    case(
        "layer norm, gain and bias", "F.layer_norm",
        {"kind": "layer-norm", "x": x, "gain": gain, "bias": bias},
        {"normalised": F.layer_norm(x, (4,)), "biased": F.layer_norm(x, (4,), gain, bias)},
    )  # fmt: skip
    case(
        "layer norm, large eps, gain alone", "F.layer_norm",
        {"kind": "layer-norm", "x": x, "eps": 0.5, "gain": gain},
        {"gained": F.layer_norm(x, (4,), gain, eps=0.5)},
    )  # fmt: skip
    constant = torch.full((1, 4), 2.0)
    case("layer norm of a constant row", "F.layer_norm", {"kind": "layer-norm", "x": constant},
         {"normalised": F.layer_norm(constant, (4,))})  # fmt: skip
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    case(
        "layer norm, unbiased, eps outside the root", "torch.mean, torch.std",
        {"kind": "layer-norm", "x": x, "variance": "unbiased", "eps_in": "outside", "eps": 0.01, "gain": gain},
        {"gained": gain * (x - mean) / (std + 0.01)},
    )  # fmt: skip
    for eps in (1e-5, 0.25):
        module = redraw(nn.RMSNorm(4, eps=eps))
        case(f"RMS norm, eps {eps}", "nn.RMSNorm", {"kind": "rms-norm", "x": x, "eps": eps, "gain": module.weight},
             {"gained": module(x)})  # fmt: skip
    case("RMS norm without a gain", "F.rms_norm", {"kind": "rms-norm", "x": x, "eps": 1e-6},
         {"normalised": F.rms_norm(x, (4,), eps=1e-6)})  # fmt: skip


ACTIVATIONS = {
    "none": nn.Identity(),
    "relu": nn.ReLU(),
    "gelu": nn.GELU(),
    "gelu-tanh": nn.GELU(approximate="tanh"),
    "silu": nn.SiLU(),
}


def feed_forward(first, second, activation):
    """A feed-forward of two nn.Linear as a problem says it."""
    said = {"orientation": "out-in", "activation": activation, "W_1": first.weight, "W_2": second.weight}
    for name, module in (("b_1", first), ("b_2", second)):
        if module.bias is not None:
            said[name] = module.bias
    return said


def feed_forwards():
    x = drawn(3, 2, most=4000)
    for name, activation in ACTIVATIONS.items():
        module = redraw(nn.Sequential(nn.Linear(2, 5), activation, nn.Linear(5, 2)))
        expected = {"hidden": module[0](x), "output": module(x)}
        if name != "none":
            expected["activated"] = module[:2](x)
        said = feed_forward(module[0], module[2], name)
        case(f"feed-forward, {name}", "nn.Linear", {"kind": "feed-forward", "x": x, **said}, expected)
    for name, activation in {"swiglu": F.silu, "geglu": F.gelu}.items():
        for bias in (False, True):
            up, gate, down = (redraw(nn.Linear(*size, bias=bias)) for size in ((2, 4), (2, 4), (4, 3)))
            said = feed_forward(up, down, name) | {"W_gate": gate.weight}
            if bias:
                said["b_gate"] = gate.bias
            gated = activation(gate(x)) * up(x)
            case(f"feed-forward, {name}{' with biases' if bias else ''}", "nn.Linear",
                 {"kind": "feed-forward", "x": x, **said},
                 {"activated": activation(gate(x)), "gated": gated, "output": down(gated)})  # fmt: skip
    wide = torch.tensor([[-30.0, -8, -3, -1, -0.5, 0, 0.5, 1, 3, 8, 30]])
    for name in ("gelu", "gelu-tanh", "silu"):
        case(f"{name} far out", f"nn.functional, {name}",
             {"kind": "feed-forward", "x": wide, "W_1": "identity", "W_2": "identity", "activation": name},
             {"output": ACTIVATIONS[name](wide)})  # fmt: skip


def positions():
    for columns in ("interleaved", "concatenated"):
        if columns == "interleaved":
            table = torch.empty(5, 6)
            create_sinusoidal_embeddings(5, 6, table)
        else:
            module = MarianSinusoidalPositionalEmbedding(5, 6)
            table = module.create_weight()
        case(f"sinusoidal positions, {columns}",
             "transformers, " + ("DistilBERT" if columns == "interleaved" else "Marian"),
             {"kind": "positions", "length": 5, "width": 6, "columns": columns},
             {"positions": table.double()}, SINGLE)  # fmt: skip


def llama_config(**said):
    sizes = {
        "vocab_size": 10, "hidden_size": 8, "intermediate_size": 6, "num_hidden_layers": 1, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 4, "max_position_embeddings": 16, "bos_token_id": None,
        "eos_token_id": None, "pad_token_id": None, "rms_norm_eps": 1e-5, "tie_word_embeddings": False,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    }  # fmt: skip
    return sizes | said


def rotary():
    x = drawn(4, 6, most=3000)
    at = torch.arange(4)[None]
    config = LlamaConfig(**llama_config(head_dim=6))
    cos, sin = llama.LlamaRotaryEmbedding(config)(x, at + 3)
    turned = llama.apply_rotary_pos_emb(x[None, None], x[None, None], cos, sin)[0][0, 0]
    case("rotary in halves, from position 3", "transformers, Llama",
         {"kind": "rotary", "x": x, "pairs": "halves", "start": 3}, {"rotated": turned}, SINGLE)  # fmt: skip
    table = gptj.create_sinusoidal_positions(8, 6).double()
    sin, cos = table[:4].chunk(2, dim=-1)
    turned = gptj.apply_rotary_pos_emb(x[None, :, None], sin[None], cos[None])[0, :, 0]
    case("rotary, adjacent pairs", "transformers, GPT-J", {"kind": "rotary", "x": x}, {"rotated": turned}, SINGLE)
    table = gptj.create_sinusoidal_positions(8, 4).double()
    sin, cos = table[:4].chunk(2, dim=-1)
    turned = gptj.apply_rotary_pos_emb(x[None, :, None, :4], sin[None], cos[None])[0, :, 0]
    case("rotary, adjacent pairs of the first four columns", "transformers, GPT-J",
         {"kind": "rotary", "x": x, "rotary_dim": 4}, {"rotated": torch.cat([turned, x[:, 4:]], -1)},
         SINGLE)  # fmt: skip
    for base, pairs in ((500000.0, "halves"), (100.0, "adjacent")):
        frequencies = base ** (-torch.arange(0, 6, 2).double() / 6)
        angles = torch.arange(4)[:, None] * frequencies
        if pairs == "halves":
            a, b = x[:, :3], x[:, 3:]
        else:
            a, b = x[:, ::2], x[:, 1::2]
        both = torch.view_as_real(torch.complex(a, b) * torch.polar(torch.ones_like(angles), angles))
        turned = torch.cat([both[..., 0], both[..., 1]], -1) if pairs == "halves" else both.flatten(-2)
        case(f"rotary with base {base:g}, {pairs}", "torch.polar, a product of complex numbers",
             {"kind": "rotary", "x": x, "base": base, "pairs": pairs}, {"rotated": turned})  # fmt: skip
    config = LlamaConfig(**llama_config(
        head_dim=6, max_position_embeddings=4,
        rope_parameters={"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0},
    ))  # fmt: skip
    longer = drawn(8, 6, most=3000)
    cos, sin = llama.LlamaRotaryEmbedding(config)(longer, torch.arange(8)[None])
    turned = llama.apply_rotary_pos_emb(longer[None, None], longer[None, None], cos, sin)[0][0, 0]
    case("rotary in halves, the base times 3^(6/4)", "transformers, Llama: dynamic, factor 2, 8 positions instead of 4",
         {"kind": "rotary", "x": longer, "pairs": "halves", "ntk": 3}, {"rotated": turned}, SINGLE)  # fmt: skip


def losses():
    logits, targets = drawn(4, 5, most=3000), torch.tensor([3, 0, 4, 4])
    of_each = F.cross_entropy(logits, targets, reduction="none")[:, None]
    mean = F.cross_entropy(logits, targets).reshape(1, 1)
    problem = {"kind": "loss", "logits": logits, "targets": targets}
    case("cross entropy, mean", "F.cross_entropy", problem,
         {"losses": of_each, "mean": mean, "perplexity": mean.exp(), "probabilities": logits.softmax(-1)})  # fmt: skip
    case("cross entropy, sum", "F.cross_entropy", problem | {"reduction": "sum"},
         {"losses": of_each, "sum": F.cross_entropy(logits, targets, reduction="sum").reshape(1, 1)})  # fmt: skip
    case("cross entropy of each", "F.cross_entropy", problem | {"reduction": "none"}, {"losses": of_each})
    thousandths = torch.tensor([[0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
    case("loss of given probabilities", "F.nll_loss",
         {"kind": "loss", "probabilities": thousandths, "targets": [1, 0]},
         {"mean": F.nll_loss(thousandths.log(), torch.tensor([1, 0])).reshape(1, 1)})  # fmt: skip


def outputs():
    x, linear = drawn(2, 3, most=2000), redraw(nn.Linear(3, 5))
    W, b, E = drawn(3, 5), drawn(5), drawn(5, 3)
    linear.weight.data, linear.bias.data = W.T, b
    logits = linear(x)
    case("output with a bias", "nn.Linear", {"kind": "output", "x": x, "W": W, "b": b},
         {"logits": logits, "probabilities": logits.softmax(-1)})  # fmt: skip
    case("output tied to an embedding", "F.linear", {"kind": "output", "x": x, "tied": E},
         {"logits": F.linear(x, E), "probabilities": F.linear(x, E).softmax(-1)})  # fmt: skip
    given = drawn(2, 6, most=3000)
    case("temperature 0.5", "torch.softmax", {"kind": "output", "logits": given, "temperature": 0.5},
         {"probabilities": (given / 0.5).softmax(-1)})  # fmt: skip
    for name, warper, said in (
        ("top_k 2", TopKLogitsWarper(2), {"top_k": 2}),
        ("top_p 0.6", TopPLogitsWarper(0.6), {"top_p": 0.6}),
        ("top_p 0.95", TopPLogitsWarper(0.95), {"top_p": 0.95}),
        ("top_p 0.1", TopPLogitsWarper(0.1), {"top_p": 0.1}),
    ):
        warped = warper(None, given)
        problem = {"kind": "output", "logits": given, **said}
        case(name, f"transformers, {type(warper).__name__}", problem | {"renormalise": "yes"},
             {"probabilities": given.softmax(-1), "kept": warped.softmax(-1)})  # fmt: skip
        case(f"{name}, as they are", f"transformers, {type(warper).__name__}", problem | {"renormalise": "no"},
             {"kept": torch.where(warped.isinf(), 0.0, given.softmax(-1))})  # fmt: skip


# Experts


def expert(module, j):
    """One of Mixtral's experts as a problem says it; its gate and W_1 are stored in one."""
    gate, up = module.gate_up_proj[j].chunk(2)
    return {"orientation": "out-in", "activation": "swiglu", "W_1": up, "W_gate": gate, "W_2": module.down_proj[j]}


def mixtral_experts(block):
    count = block.experts.num_experts
    return {
        "router": block.gate.weight.T, "top_k": block.gate.top_k, "normalise": "before", "renormalise": "yes",
        "experts": [expert(block.experts, j) for j in range(count)],
    }  # fmt: skip


def mixtral_config(**said):
    said = llama_config(num_local_experts=4, num_experts_per_tok=2, sliding_window=None, **said)
    return MixtralConfig(**said, experts_implementation="eager")  # others work in float32 alone


def expert_blocks():
    x = drawn(5, 4, most=2000)
    config = mixtral_config(hidden_size=4, intermediate_size=3)
    block = redraw(MixtralSparseMoeBlock(config))
    logits = F.linear(x, block.gate.weight)
    load = logits.topk(2).indices.flatten().bincount(minlength=4).double()[None]
    said = {"kind": "experts", "x": x, **mixtral_experts(block)}
    case("two experts of four", "transformers, Mixtral", said,
         {"logits": logits, "probabilities": logits.softmax(-1), "combined": block(x[None])[0], "load": load},
         SINGLE)  # fmt: skip
    case("two experts of four, weights after the choice", "transformers, Mixtral",
         {key: each for key, each in said.items() if key != "renormalise"} | {"normalise": "after"},
         {"combined": block(x[None])[0]}, SINGLE)  # fmt: skip

    def outputs_of(row):
        found = []
        for j in range(4):
            gate, up = block.experts.gate_up_proj[j].chunk(2)
            found.append(F.linear(F.silu(F.linear(row, gate)) * F.linear(row, up), block.experts.down_proj[j]))
        return torch.stack(found)

    weights = logits.softmax(-1)
    kept = torch.zeros_like(weights).scatter(-1, logits.topk(2).indices, 1.0) * weights
    combined = torch.stack([kept[i] @ outputs_of(x[i]) for i in range(5)])
    case("two experts of four, not renormalised", "torch.topk", said | {"renormalise": "no"}, {"combined": combined})
    combined = torch.stack([weights[i] @ outputs_of(x[i]) for i in range(5)])
    case("all four experts", "torch.softmax", said | {"top_k": 4}, {"combined": combined})


# Layers of PyTorch


def layer_norm(module, place=None):
    said = {"kind": "layer-norm", "eps": module.eps, "gain": module.weight, "bias": module.bias}
    return said | ({"place": place} if place else {})


def self_attention(module, **said):
    return {
        "orientation": "out-in", "heads": module.num_heads, "W_QKV": module.in_proj_weight,
        "b_QKV": module.in_proj_bias, "W_O": module.out_proj.weight, "b_O": module.out_proj.bias, **said,
    }  # fmt: skip


def cross_attention(module, **said):
    said = {"orientation": "out-in", "heads": module.num_heads, **said}
    for of, W, b in zip("QKV", module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3), strict=True):
        said |= {f"W_{of}": W, f"b_{of}": b}
    return said | {"W_O": module.out_proj.weight, "b_O": module.out_proj.bias}


def layer_of(module, **of_attention):
    """nn.TransformerEncoderLayer or nn.TransformerDecoderLayer as a problem says it."""
    place = "pre" if module.norm_first else "post"
    activation = "relu" if module.activation is F.relu else "gelu"
    said = {"attention": self_attention(module.self_attn, **of_attention.get("attention", {}))}
    norms = [module.norm1, module.norm2]
    if hasattr(module, "multihead_attn"):
        said["cross_attention"] = cross_attention(module.multihead_attn, **of_attention.get("cross_attention", {}))
        norms.append(module.norm3)
    said["feed_forward"] = feed_forward(module.linear1, module.linear2, activation)
    return said | {"norms": [layer_norm(norm, place) for norm in norms]}


def watched(modules, run):
    """(what run() gives, {name: what the module of that name gave last})."""
    seen, handles = {}, []
    for name, module in modules.items():

        def note(_, __, out, name=name):
            seen[name] = (out[0] if isinstance(out, tuple) else out)[0]  # of a batch of one

        handles.append(module.register_forward_hook(note))
    out = run()
    for handle in handles:
        handle.remove()
    return out[0], seen


def norm_ids(layer, count, place="biased"):
    return {f"layer1.norm{k}.{place}": getattr(layer, f"norm{k}") for k in range(1, count + 1)}


def encoder_layers():
    x = drawn(3, 4, most=2000)
    for first in (False, True):
        for activation in ("relu", "gelu"):
            module = redraw(nn.TransformerEncoderLayer(4, 2, 6, 0.0, activation, batch_first=True, norm_first=first))
            modules = {
                "layer1.attention.output": module.self_attn, "layer1.feed_forward.output": module.linear2,
                **norm_ids(module, 2),
            }  # fmt: skip
            out, seen = watched(modules, lambda module=module: module(x[None]))
            case(f"encoder layer, {'pre' if first else 'post'}-norm, {activation}", "nn.TransformerEncoderLayer",
                 {"kind": "encoder", "H": x, "layers": [layer_of(module)]},
                 seen | {"layer1.residual2" if first else "result": out, "result": out})  # fmt: skip
    module = redraw(nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True))
    padding = torch.tensor([[False, False, True]])
    case("encoder layer with padding", "nn.TransformerEncoderLayer",
         {"kind": "encoder", "H": x, "padding": [1, 1, 0], "layers": [layer_of(module)]},
         {"result": module(x[None], src_key_padding_mask=padding)[0]})  # fmt: skip
    for first in (False, True):
        layer = nn.TransformerEncoderLayer(4, 2, 5, 0.0, batch_first=True, norm_first=first)
        whole = redraw(nn.TransformerEncoder(layer, 2, nn.LayerNorm(4), enable_nested_tensor=False))
        case(f"encoder of two layers, {'pre' if first else 'post'}-norm", "nn.TransformerEncoder",
             {"kind": "encoder", "H": x, "layers": [layer_of(each) for each in whole.layers],
              "final_norm": layer_norm(whole.norm)},
             {"final_norm.biased": whole(x[None])[0], "result": whole(x[None])[0]})  # fmt: skip
    layer = redraw(nn.TransformerEncoderLayer(4, 2, 3, 0.0, batch_first=True))
    whole = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)  # three copies
    case("encoder of one layer, three times", "nn.TransformerEncoder",
         {"kind": "encoder", "H": x, "layers": [layer_of(layer) | {"repeat": 3}]},
         {"layer3.norm2.biased": whole(x[None])[0], "result": whole(x[None])[0]})  # fmt: skip
    config = BertConfig(hidden_size=4, num_attention_heads=2, intermediate_size=6, hidden_dropout_prob=0.0,
                        attention_probs_dropout_prob=0.0, attn_implementation="eager")  # fmt: skip
    layer = redraw(BertLayer(config)).double()
    own, after = layer.attention.self, layer.attention.output
    attention = {"orientation": "out-in", "heads": 2, "W_O": after.dense.weight, "b_O": after.dense.bias}
    for name, module in {"Q": own.query, "K": own.key, "V": own.value}.items():
        attention |= {f"W_{name}": module.weight, f"b_{name}": module.bias}
    out = layer(x[None])
    out = (out[0] if isinstance(out, tuple) else out)[0]
    case("a layer of BERT", "transformers, BERT",
         {"kind": "encoder", "H": x, "layers": [{
             "attention": attention,
             "feed_forward": feed_forward(layer.intermediate.dense, layer.output.dense, "gelu"),
             "norms": [layer_norm(after.LayerNorm, "post"), layer_norm(layer.output.LayerNorm, "post")],
         }]}, {"result": out})  # fmt: skip


def later(n):
    """True where a query may not see a key."""
    return torch.ones(n, n, dtype=torch.bool).triu(1)


def decoder_layers():
    x, memory = drawn(3, 4, most=2000), drawn(4, 4, most=2000)
    for first in (False, True):
        for activation in ("relu", "gelu"):
            module = redraw(nn.TransformerDecoderLayer(4, 2, 6, 0.0, activation, batch_first=True, norm_first=first))
            modules = {
                "layer1.attention.output": module.self_attn, "layer1.cross_attention.output": module.multihead_attn,
                "layer1.feed_forward.output": module.linear2, **norm_ids(module, 3),
            }  # fmt: skip
            out, seen = watched(modules, lambda module=module: module(x[None], memory[None], later(3)))
            case(f"decoder layer over a memory, {'pre' if first else 'post'}-norm, {activation}",
                 "nn.TransformerDecoderLayer",
                 {"kind": "decoder", "H": x, "memory": {"H": memory}, "layers": [layer_of(module)]},
                 seen | {"result": out})  # fmt: skip
    module = redraw(nn.TransformerDecoderLayer(4, 2, 3, 0.0, batch_first=True))
    case("decoder layer without a mask", "nn.TransformerDecoderLayer",
         {"kind": "decoder", "H": x, "memory": {"H": memory}, "layers": [layer_of(module, attention={"mask": "none"})]},
         {"result": module(x[None], memory[None])[0]})  # fmt: skip
    padding = torch.tensor([[True, False, False, False]])
    case("decoder layer over a padded memory", "nn.TransformerDecoderLayer",
         {"kind": "decoder", "H": x, "memory": {"H": memory},
          "layers": [layer_of(module, cross_attention={"padding": [0, 1, 1, 1]})]},
         {"result": module(x[None], memory[None], later(3), memory_key_padding_mask=padding)[0]})  # fmt: skip


def encoder_decoders():
    source, target = drawn(3, 4, most=2000), drawn(2, 4, most=2000)
    for first in (False, True):
        module = redraw(nn.Transformer(4, 2, 2, 1, 5, 0.0, batch_first=True, norm_first=first))
        # Some layers of a padded encoder work on tokens alone: it is asked for as one that does not.
        module.encoder.enable_nested_tensor = False
        encoder = {
            "H": source, "layers": [layer_of(each) for each in module.encoder.layers],
            "final_norm": layer_norm(module.encoder.norm),
        }  # fmt: skip
        decoder = {
            "H": target, "layers": [layer_of(each) for each in module.decoder.layers],
            "final_norm": layer_norm(module.decoder.norm),
        }  # fmt: skip
        of_encoder = module.encoder(source[None])[0]
        out = module(source[None], target[None], tgt_mask=later(2))[0]
        case(f"encoder and decoder, {'pre' if first else 'post'}-norm", "nn.Transformer",
             {"kind": "encoder-decoder", "encoder": encoder, "decoder": decoder},
             {"encoder.final_norm.biased": of_encoder, "decoder.final_norm.biased": out, "result": out})  # fmt: skip
    padding = torch.tensor([[False, False, True]])
    out = module(source[None], target[None], tgt_mask=later(2), src_key_padding_mask=padding,
                 memory_key_padding_mask=padding)[0]  # fmt: skip
    decoder["layers"] = [layer_of(each, cross_attention={"padding": [1, 1, 0]}) for each in module.decoder.layers]
    case("encoder and decoder, a padded source, hidden from both", "nn.Transformer",
         {"kind": "encoder-decoder", "encoder": encoder | {"padding": [1, 1, 0]}, "decoder": decoder},
         {"result": out})  # fmt: skip


# Models of Hugging Face


def rms_norm(module, place=None):
    said = {"kind": "rms-norm", "eps": module.variance_epsilon, "gain": module.weight}
    return said | ({"place": place} if place else {})


def llama_layer(layer, mask="causal"):
    attention = layer.self_attn
    said = {"orientation": "out-in", "heads": attention.config.num_attention_heads,
            "kv_heads": attention.config.num_key_value_heads, "mask": mask}  # fmt: skip
    said |= {f"W_{name.upper()}": getattr(attention, f"{name}_proj").weight for name in "qkvo"}
    norms = [rms_norm(layer.input_layernorm, "pre"), rms_norm(layer.post_attention_layernorm, "pre")]
    if hasattr(layer.mlp, "experts"):
        return {"attention": said, "experts": mixtral_experts(layer.mlp), "norms": norms}
    mlp = layer.mlp
    feed_forward = {"orientation": "out-in", "activation": "swiglu", "W_1": mlp.up_proj.weight,
                    "W_gate": mlp.gate_proj.weight, "W_2": mlp.down_proj.weight}  # fmt: skip
    return {"attention": said, "feed_forward": feed_forward, "norms": norms}


def llama_problem(model, ids, mask="causal"):
    """LlamaForCausalLM, or one built like it, as a problem says it."""
    return {
        "kind": "decoder", "embedding": model.model.embed_tokens.weight, "input": ids,
        "position": {"kind": "rotary", "base": 10000, "pairs": "halves"},
        "layers": [llama_layer(layer, mask) for layer in model.model.layers],
        "final_norm": rms_norm(model.model.norm), "output": {"W": model.lm_head.weight.T},
    }  # fmt: skip


def built(of, config):
    """A model with drawn weights; norms have gains around 1."""
    model = of._from_config(config, attn_implementation="eager").eval().double()
    redraw(model)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name or "ln_" in name:
                parameter.copy_(parameter / 2 + (1 if name.endswith("weight") else 0))
                parameter.copy_((parameter * 1000).round() / 1000)
    return model


def logits_of(model, ids):
    """(logits, the attention weights of each layer: heads × n × n)"""
    out = model(torch.tensor([ids]), output_attentions=True, use_cache=False)
    return out.logits[0], [each[0] for each in out.attentions]


def figures_of(model, ids):
    """The figures of a model: its logits, its probabilities, and the attention weights of each head."""
    logits, attentions = logits_of(model, ids)
    expected = {
        f"layer{k + 1}.attention.head{h + 1}.A": attentions[k][h]
        for k in range(len(attentions))
        for h in range(len(attentions[k]))
    }
    return expected | {"output.logits": logits, "output.probabilities": logits.double().softmax(-1)}


def generation(name, source, model, problem, given, steps):
    """Greedy decoding by the model's own generate, with a cache and without, and to a token that stops it. It gives its
    logits as float32."""
    stop = None
    for how in ("with a cache", "without a cache", "to a stop"):
        cache = how != "without a cache"
        out = model.generate(
            torch.tensor([given]), max_new_tokens=steps, do_sample=False, use_cache=cache, output_logits=True,
            eos_token_id=stop if how == "to a stop" else None, return_dict_in_generate=True,
            attention_mask=torch.ones(1, len(given), dtype=torch.long), pad_token_id=0,
        )  # fmt: skip
        generated = out.sequences[0, len(given) :].tolist()
        said = {"from": given, "steps": steps, "choose": "greedy", "cache": cache}
        if how == "to a stop":
            said["stop"] = stop
        problem = {key: each for key, each in problem.items() if key != "input"} | {"generate": said}
        case(f"{name}, {how}", source, problem, {}, SINGLE, generated=generated, last_logits=torch.cat(out.logits))
        # Some token but the first, so that something is generated before it stops.
        stop = next(token for token in generated if token != generated[0])


def llamas():
    torch.manual_seed(12)  # of few seeds do these models not say one token over and over
    ids = [3, 1, 4, 1, 5]
    for layers in (1, 2):
        model = built(LlamaForCausalLM, LlamaConfig(**llama_config(num_hidden_layers=layers)))
        problem = llama_problem(model, ids)
        name = "Llama of one layer" if layers == 1 else "Llama of two layers"
        case(name, "transformers, Llama", problem, figures_of(model, ids), SINGLE)
    generation("Llama generates", "transformers, Llama", model, problem, [3, 1], 4)
    targets = torch.tensor([1, 4, 1, 5, 9])
    mean = F.cross_entropy(logits_of(model, ids)[0], targets).reshape(1, 1)
    case("Llama's loss under teacher forcing", "F.cross_entropy", problem | {"targets": targets},
         {"loss.mean": mean, "loss.perplexity": mean.exp()}, SINGLE)  # fmt: skip
    config = MistralConfig(**llama_config(), sliding_window=2)
    model = built(MistralForCausalLM, config)
    case("Mistral, a window of two", "transformers, Mistral",
         llama_problem(model, ids, {"causal": "yes", "window": 2}), figures_of(model, ids), SINGLE)  # fmt: skip
    model = built(MixtralForCausalLM, mixtral_config(intermediate_size=3))
    case("Mixtral of one layer", "transformers, Mixtral", llama_problem(model, ids), figures_of(model, ids), SINGLE)


def gpt2s():
    torch.manual_seed(12)  # as for llamas
    ids = [2, 7, 1, 8]
    config = GPT2Config(vocab_size=9, n_positions=8, n_embd=4, n_layer=2, n_head=2, n_inner=6, bos_token_id=None,
                        eos_token_id=None, pad_token_id=None, activation_function="gelu_new")  # fmt: skip
    model = built(GPT2LMHeadModel, config)
    body, layers = model.transformer, []
    for block in body.h:
        attention = {"heads": 2, "W_QKV": block.attn.c_attn.weight, "b_QKV": block.attn.c_attn.bias,
                     "W_O": block.attn.c_proj.weight, "b_O": block.attn.c_proj.bias}  # fmt: skip
        ff = {"W_1": block.mlp.c_fc.weight, "b_1": block.mlp.c_fc.bias, "W_2": block.mlp.c_proj.weight,
              "b_2": block.mlp.c_proj.bias, "activation": "gelu-tanh"}  # fmt: skip
        norms = [layer_norm(block.ln_1, "pre"), layer_norm(block.ln_2, "pre")]
        layers.append({"attention": attention, "feed_forward": ff, "norms": norms})
    problem = {
        "kind": "decoder", "embedding": body.wte.weight, "input": ids,
        "position": {"kind": "learned", "table": body.wpe.weight}, "layers": layers,
        "final_norm": layer_norm(body.ln_f), "output": "tied",
    }  # fmt: skip
    embedded = body.wte.weight[ids] + body.wpe.weight[:4]
    out, seen = watched(
        {"final_norm.biased": body.ln_f, "layer1.norm1.biased": body.h[0].ln_1,
         "layer2.feed_forward.output": body.h[1].mlp},
        lambda: body(torch.tensor([ids]), use_cache=False, return_dict=False)[0],
    )  # fmt: skip
    assert torch.equal(out, seen["final_norm.biased"])
    case("GPT-2 of two layers", "transformers, GPT-2", problem, {"X": embedded, **seen, **figures_of(model, ids)})
    generation("GPT-2 generates", "transformers, GPT-2", model, problem, [2, 7], 5)


def marian_attention(module):
    said = {"orientation": "out-in", "heads": module.num_heads, "W_O": module.out_proj.weight,
            "b_O": module.out_proj.bias}  # fmt: skip
    for name in "qkv":
        projection = getattr(module, f"{name}_proj")
        said |= {f"W_{name.upper()}": projection.weight, f"b_{name.upper()}": projection.bias}
    return said


def marian_layer(layer):
    said, norms = {"attention": marian_attention(layer.self_attn)}, [layer.self_attn_layer_norm]
    if hasattr(layer, "encoder_attn"):
        said["cross_attention"] = marian_attention(layer.encoder_attn)
        norms.append(layer.encoder_attn_layer_norm)
    said["feed_forward"] = feed_forward(layer.fc1, layer.fc2, "silu")
    return said | {"norms": [layer_norm(norm, "post") for norm in [*norms, layer.final_layer_norm]]}


def marians():
    """An encoder and a decoder of the first kind: post-norm, sines and cosines, one embedding for all."""
    torch.manual_seed(9)  # of few seeds does the model not say one token over and over
    config = MarianConfig(
        vocab_size=8, d_model=4, encoder_layers=2, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=5, decoder_ffn_dim=6, max_position_embeddings=8,
        activation_function="swish", dropout=0.0, scale_embedding=False, pad_token_id=0, eos_token_id=None,
        forced_eos_token_id=None, bos_token_id=None, decoder_start_token_id=1,
    )  # fmt: skip
    model = built(MarianMTModel, config)
    tables = [part.embed_positions for part in (model.model.encoder, model.model.decoder)]
    for table in tables:  # which were drawn with all else
        table.weight.copy_(table.create_weight())
    shared = {"embedding": model.model.shared.weight, "position": {"kind": "sinusoidal", "columns": "concatenated"}}
    source, target, targets = [3, 5, 2], [1, 4, 6], torch.tensor([4, 6, 7])
    encoder = {**shared, "input": source, "layers": [marian_layer(each) for each in model.model.encoder.layers]}
    decoder = {**shared, "layers": [marian_layer(each) for each in model.model.decoder.layers], "output": "tied"}
    out = model(torch.tensor([source]), decoder_input_ids=torch.tensor([target]), output_attentions=True)
    mean = F.cross_entropy(out.logits[0], targets).reshape(1, 1)
    expected = {
        "encoder.layer2.norm2.biased": out.encoder_last_hidden_state[0],
        **{f"encoder.layer1.attention.head{h + 1}.A": out.encoder_attentions[0][0, h] for h in range(2)},
        **{f"decoder.layer1.attention.head{h + 1}.A": out.decoder_attentions[0][0, h] for h in range(2)},
        **{f"decoder.layer1.cross_attention.head{h + 1}.A": out.cross_attentions[0][0, h] for h in range(2)},
        "decoder.output.logits": out.logits[0], "decoder.loss.mean": mean,
    }  # fmt: skip
    case("Marian under teacher forcing", "transformers, Marian",
         {"kind": "encoder-decoder", "encoder": encoder, "decoder": decoder | {"input": target, "targets": targets}},
         expected, SINGLE)  # fmt: skip
    out = model.generate(
        torch.tensor([source]), attention_mask=torch.ones(1, 3, dtype=torch.long), max_new_tokens=4, do_sample=False,
        num_beams=1, output_logits=True, return_dict_in_generate=True, bad_words_ids=None,
    )  # fmt: skip
    said = {"from": [1], "steps": 4, "choose": "greedy", "cache": True}
    case("Marian generates", "transformers, Marian",
         {"kind": "encoder-decoder", "encoder": encoder, "decoder": decoder | {"generate": said}}, {}, SINGLE,
         generated=out.sequences[0, 1:], last_logits=torch.cat(out.logits))  # fmt: skip


if __name__ == "__main__":
    torch.manual_seed(7)
    torch.set_num_threads(1)
    with torch.no_grad():
        for make in (norms, feed_forwards, positions, rotary, losses, outputs, expert_blocks, encoder_layers,
                     decoder_layers, encoder_decoders, llamas, gpt2s, marians):  # fmt: skip
            make()
    lines = ",\n".join(json.dumps(each, allow_nan=False, separators=(",", ":")) for each in CASES)
    versions = f'"torch": "{torch.__version__}", "transformers": "{transformers.__version__}"'
    (HERE / "transformer_cases.json").write_text(f'{{{versions}, "cases": [\n{lines}\n]}}\n', "utf-8")
    print(len(CASES), "cases")
