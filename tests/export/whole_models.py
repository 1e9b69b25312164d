# SPDX-License-Identifier: MIT
"""Makes language models and encoders of PyTorch, in every layout that the exporter knows.

    python3 -m tests.export.whole_models                            writes data/: their weights, and models.json: how to
                                                                    export each, an input, what PyTorch makes
    python3 -m tests.export.whole_models -- COMPILER ARGUMENT...    tests the exporter on new random ones: logits, and
                                                                    more than 200 tokens, each the most likely one

Needs PyTorch (Debian: python3-torch). The second command skips its tests without it.
"""
import json
import math
import types
import typing

from tests.export import exporter, with_torch
from tests.export.with_torch import fresh, nine_digits
from tests.support import tap

import torch
from torch import nn
from torch.nn import functional

PROMPT = 4  # tokens, as program.cpp has it


class Conv1D(nn.Module):
    """GPT-2's linear layer, whose weight is in x out."""

    def __init__(self, d_in, d_out, bias=True):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(d_in, d_out) * 0.3), nn.Parameter(torch.randn(d_out) * 0.3)

    def forward(self, x):
        return torch.addmm(self.bias, x, self.weight)


class LayerNorm(nn.LayerNorm):
    """A LayerNorm with random weights and, as in nanoGPT, perhaps without a bias."""

    def __init__(self, width, epsilon, bias=True):
        super().__init__(width, epsilon)
        self.weight, self.bias = nn.Parameter(torch.rand(width)
                                              + 0.5), nn.Parameter(torch.randn(width)) if bias else None


class RmsNorm(nn.Module):
    def __init__(self, width, epsilon, **_):
        super().__init__()
        self.weight, self.epsilon = nn.Parameter(torch.rand(width) + 0.5), epsilon

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon))


# Both functions rotate queries or keys [heads, tokens, head_dim] by their positions, as two well-known codes do.
def rotate_halves(x, base):
    """Rotates as modeling_llama.py of transformers: feature i is paired with i + head_dim / 2."""
    frequencies = 1.0 / base**(torch.arange(0, x.shape[2], 2).float() / x.shape[2])
    angles = torch.outer(torch.arange(x.shape[1]).float(), frequencies)
    angles = torch.cat((angles, angles), dim=-1)
    first, second = x.chunk(2, dim=-1)
    return x * angles.cos() + torch.cat((-second, first), dim=-1) * angles.sin()


def rotate_interleaved(x, base):
    """Rotates as model.py of Meta's llama: features 2 i and 2 i + 1 are a complex number."""
    frequencies = 1.0 / base**(torch.arange(0, x.shape[2], 2).float() / x.shape[2])
    angles = torch.outer(torch.arange(x.shape[1]).float(), frequencies)
    pairs = torch.view_as_complex(x.reshape(*x.shape[:2], -1, 2).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(2)


ACTIVATIONS = {"gelu": functional.gelu, "gelu_new": lambda x: functional.gelu(x, approximate="tanh"),
               "silu": functional.silu,
               "relu": functional.relu}


class Model(typing.NamedTuple):
    """The description of a language model, and how to export it."""

    tops: str  # names of token embedding, position embedding, blocks, final norm, head; - where there is none
    names: str  # names in a block: both norms, attention's projections, feed-forward layers
    arguments: str
    activation: str
    linear: type = nn.Linear
    norm: type = LayerNorm
    rotate: object = None
    bias: bool = True
    tied: bool = True
    d_model: int = 8
    num_kv_heads: int = 2
    base: int = 10000
    epsilon: float = 1e-5
    dtype: torch.dtype = torch.float32
    files: dict = {}
    more: object = lambda context_length: {}  # makes buffers of the file: {name: tensor}


def gpt2_buffers(context_length):
    lower = torch.ones(context_length, context_length, dtype=torch.uint8).tril().view(1, 1, context_length,
                                                                                      context_length)
    return {"transformer.h.0.attn.bias": lower, "transformer.h.1.attn.masked_bias": torch.tensor(-1e4)}


def frequencies(name, base):
    return lambda _: {name: 1.0 / base**(torch.arange(0, 4, 2).float() / 4)}


def config(**settings):
    return {"config.json": json.dumps(settings)}


GPT2 = "ln_1 ln_2 attn.c_attn attn.c_proj mlp.c_fc mlp.c_proj"
LLAMA = ("input_layernorm post_attention_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj "
         "mlp.up_proj mlp.gate_proj mlp.down_proj")
META = ("attention_norm ffn_norm attention.wq attention.wk attention.wv attention.wo feed_forward.w3 feed_forward.w1 "
        "feed_forward.w2")
ONE, CONFIG = "--language-model --num-heads", "--language-model --config FOLDER/config.json"
PARTS = "--parts FOLDER/model.toml"
GPT2_CONFIG = config(
    model_type="gpt2", n_head=2, n_embd=8, n_layer=2, vocab_size=11, n_inner=None, activation_function="gelu_new",
    layer_norm_epsilon=1e-3,
    tie_word_embeddings=True, scale_attn_weights=True)
LLAMA_CONFIG = config(
    model_type="llama", num_attention_heads=2, num_key_value_heads=1, head_dim=4, hidden_size=8, intermediate_size=12,
    num_hidden_layers=2,
    vocab_size=11, rope_theta=500.0, rope_scaling=None, hidden_act="silu", rms_norm_eps=1e-6, tie_word_embeddings=False,
    attention_bias=False, mlp_bias=False)
UNTIED = """[model]
language_model = ""
num_heads = 4
activation = "relu"
epsilon = 0.01
"""
MODELS = {
    "model_gpt2": Model("transformer.wte transformer.wpe transformer.h. transformer.ln_f lm_head", GPT2,
                        f"{ONE} 2 --activation gelu_new",
                        "gelu_new", Conv1D, more=gpt2_buffers),
    "model_gpt2_config": Model("wte wpe h. ln_f -", GPT2, CONFIG, "gelu_new", Conv1D, epsilon=1e-3, dtype=torch.float16,
                               files=GPT2_CONFIG),
    "model_nanogpt": Model("_orig_mod.transformer.wte _orig_mod.transformer.wpe _orig_mod.transformer.h. "
                           "_orig_mod.transformer.ln_f "
                           "_orig_mod.lm_head", GPT2, f"{ONE} 2 --activation gelu --context-length LENGTH", "gelu",
                           bias=False),
    "model_nanogpt_untied": Model("wte wpe h. ln_f lm_head", GPT2, PARTS, "relu", tied=False, epsilon=0.01,
                                  dtype=torch.float64,
                                  num_kv_heads=4, files={"model.toml": UNTIED}),
    "model_llama": Model("model.embed_tokens - model.layers. model.norm lm_head", LLAMA,
                         f"{CONFIG} --context-length LENGTH", "silu",
                         norm=RmsNorm, rotate=rotate_halves, bias=False, tied=False, num_kv_heads=1, base=500,
                         epsilon=1e-6,
                         dtype=torch.bfloat16, files=LLAMA_CONFIG,
                         more=frequencies("model.layers.0.self_attn.rotary_emb.inv_freq", 500)),
    "model_llama_meta": Model("tok_embeddings - layers. norm output", META,
                              f"{ONE} 4 --num-kv-heads 2 --context-length LENGTH --activation silu --epsilon 1e-5 "
                              "--rotary-base 100",
                              "silu", norm=RmsNorm, base=100,
                              rotate=rotate_interleaved, bias=False, d_model=16),
}


def tree(parts):
    """Returns a module whose state_dict has these names."""
    root = nn.Module()
    for name, part in parts.items():
        *path, last = name.split(".")
        at = root
        for word in path:
            if word not in at._modules:
                at.add_module(word, nn.Module())
            at = at._modules[word]
        at.add_module(last, part)
    return root


def heads_of(linears, x, num_heads):
    """Returns queries, keys and values as [heads, tokens, head_dim]. Keys and values that heads share are repeated."""
    inputs = linears[0](x).chunk(3, dim=-1) if len(linears) == 1 else [linear(x) for linear in linears]
    split = [one.view(len(x), -1, x.shape[1] // num_heads).transpose(0, 1) for one in inputs]
    return [one.repeat_interleave(num_heads // len(one), dim=0) for one in split]


def forward(model, parts, num_heads, tokens):
    """Returns the logits after each token. `parts`: the modules of MODELS' names, in their order."""
    token_embedding, positions, final_norm, head, *blocks = parts
    x = token_embedding(tokens)
    x = x + positions(torch.arange(len(tokens))) if positions else x
    hidden = torch.ones(len(tokens), len(tokens)).triu(1).bool()
    for attention_norm, feed_forward_norm, *linears in blocks:
        *inputs, out = linears[:4] if len(linears) == 7 else linears[:2]
        up, *gate, down = linears[len(inputs) + 1:]
        query, key, value = heads_of(inputs, attention_norm(x), num_heads)
        if model.rotate:
            query, key = (model.rotate(one, model.base) for one in (query, key))
        scores = (query @ key.transpose(1, 2) / math.sqrt(query.shape[2])).masked_fill(hidden, -torch.inf)
        x = x + out((torch.softmax(scores, -1) @ value).transpose(0, 1).flatten(1))
        y, act = feed_forward_norm(x), ACTIVATIONS[model.activation]
        x = x + down(act(gate[0](y)) * up(y) if gate else act(up(y)))
    return functional.linear(final_norm(x), (head or token_embedding).weight)


def build(model, num_heads, length, vocabulary=11, layers=2):
    """Returns the state_dict, and a function from tokens to logits. If --context-length is given, there are three more
    learned positions than it keeps."""
    d_model, rows = model.d_model, length + 3 * ("LENGTH" in model.arguments)
    token, position, stem, final_norm, head = model.tops.split()
    norm = lambda: model.norm(d_model, model.epsilon, bias=model.bias)
    linear = lambda d_in, d_out: model.linear(d_in, d_out, bias=model.bias)
    kv_width, d_hidden = model.num_kv_heads * d_model // num_heads, 12 if model.rotate else 4 * d_model
    inputs = [(d_model, d_model), (d_model, kv_width),
              (d_model, kv_width)] if model.rotate else [(d_model, 3 * d_model)]
    shapes = [*inputs, (d_model, d_model), *[(d_model, d_hidden)] * (2 if model.rotate else 1), (d_hidden, d_model)]
    tops = {token: nn.Embedding(vocabulary, d_model),
            **({} if position == "-" else {position: nn.Embedding(rows, d_model)}),
            final_norm: norm(), **({} if head == "-" else {head: nn.Linear(d_model, vocabulary, bias=False)})}
    blocks = [dict(zip((f"{stem}{i}.{name}" for name in model.names.split()),
                       [norm(), norm(), *(linear(*shape) for shape in shapes)]))
              for i in range(layers)]
    whole = tree({**tops, **{name: part for block in blocks for name, part in block.items()}})
    for parameter in whole.parameters():  # rounds to the type of the file
        parameter.copy_(parameter.to(model.dtype))
    if model.tied and head != "-":
        tops[head].weight = tops[token].weight
    parts = [tops[token], tops.get(position), tops[final_norm], tops.get(head),
             *([*block.values()] for block in blocks)]
    state = {name: tensor.to(model.dtype) for name, tensor in whole.state_dict().items()}
    return {**state, **model.more(length)}, lambda tokens: forward(model, parts, num_heads, tokens)


def continuation(logits_of, tokens, length):
    tokens = tokens.tolist()
    while len(tokens) < length:
        tokens.append(int(logits_of(torch.tensor(tokens))[-1].argmax()))
    return tokens


def language_models(length, seed):
    for number, (name, model) in enumerate(MODELS.items()):
        torch.manual_seed(seed + number)
        num_heads = model.num_kv_heads * (2 if model.rotate else 1)
        state, logits_of = build(model, num_heads, length)
        tokens = torch.randint(11, (length,))
        yield name, state, {
            "arguments": model.arguments.replace("LENGTH", str(length)).split(), "files": model.files, "part": "model",
            "input": [tokens.tolist()], "output": nine_digits(logits_of(tokens)),
            "tokens": continuation(logits_of, tokens[:PROMPT], length)[PROMPT:]}


def encoders(length, seed):
    """Yields encoders of torch.nn, norm last and norm first, without and with a final norm; and a single layer."""
    for number, (name, kind, settings) in enumerate((
            ("encoder", "transformer", {}), ("encoder_norm_first", "transformer",
                                             {"norm_first": True, "activation": "gelu"}),
            ("encoder_layer", "transformer_block", {"layer_norm_eps": 1e-3}))):
        torch.manual_seed(seed + number)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, **settings)
        module = layer if kind == "transformer_block" else nn.TransformerEncoder(
            layer, 2, norm=nn.LayerNorm(8) if settings else None, enable_nested_tensor=False)
        for parameter in module.parameters():  # else both layers would be equal, and biases zeros
            parameter.add_(torch.randn_like(parameter) * 0.1)
        x = torch.randn(length, 8)
        table = {"activation": settings.get("activation", "relu"), "norm_first": settings.get("norm_first", False),
                 "causal": False,
                 "epsilon": settings.get("layer_norm_eps", 1e-5), kind: "encoder." if settings else ""}
        toml = "[model]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
        state = {table[kind] + key: tensor for key, tensor in module.state_dict().items()}
        yield name, state, {"arguments": ["--parts", "FOLDER/model.toml", "--num-heads", "2", "--context-length",
                                          str(length)],
                            "files": {"model.toml": toml}, "part": "model", "input": nine_digits(x),
                            "output": nine_digits(module(x))}


def every(length, seed):
    yield from language_models(length, seed)
    yield from encoders(min(length, 33), seed)


if exporter.COMPILER:
    tap.report([(name, fresh, state, case) for name, state, case in every(208, seed=7)])
with_torch.write_data("models.json", every(12, seed=2026))
