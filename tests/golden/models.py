# SPDX-License-Identifier: MIT
"""Attention, blocks and language models as PyTorch computes them, for gradients.py: functions of parameters and inputs.

Parameters have the library's names, order and layout: a weight is [in, out].
"""

import math
import pathlib
import re

import torch
from torch.nn import functional


def of_linear(d_in, d_out, name="", bias=True):
    return {f"{name}weight": (d_in, d_out), **({f"{name}bias": (d_out,)} if bias else {})}


def linear(p, x, name=""):
    return x @ p[f"{name}weight"] + p.get(f"{name}bias", 0)


def layer_norm(p, x, name=""):
    return functional.layer_norm(x, x.shape[-1:], p[f"{name}weight"], p[f"{name}bias"])


def rms_norm(p, x, name=""):
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * p[f"{name}weight"]


LIST = pathlib.Path(__file__).parents[2] / "include/tinyattn/activation_list.h"
# PyTorch's function has the name of the activation, but for these.
OF_OTHER_NAMES = {"gelu_tanh": lambda x: functional.gelu(x, approximate="tanh")}
ACTIVATIONS = {name: OF_OTHER_NAMES.get(name) or getattr(functional, name)
               for name in re.findall(r"^ +use\((\w+)", LIST.read_text(encoding="utf-8"), re.MULTILINE)}


def feed_forward(p, x, activation, name=""):
    up = linear(p, x, f"{name}up.")
    activated = ACTIVATIONS[activation](linear(p, x, f"{name}gate.")) * up if f"{name}gate.weight" in p else ACTIVATIONS[activation](up)
    return linear(p, activated, f"{name}down.")


def of_feed_forward(d_model, d_hidden, gated=False, bias=True, name=""):
    gate = of_linear(d_model, d_hidden, f"{name}gate.", bias) if gated else {}
    return {**of_linear(d_model, d_hidden, f"{name}up.", bias), **gate, **of_linear(d_hidden, d_model, f"{name}down.", bias)}


# --- Masks, as addends of scores ---

def causal(tokens, source_tokens, diagonal=0, window=math.inf):
    """Query i attends to the last `window` keys up to key i + diagonal."""
    distance = torch.arange(tokens)[:, None] + diagonal - torch.arange(source_tokens)
    return torch.zeros(tokens, source_tokens).masked_fill((distance < 0) | (distance >= window), -math.inf).double()


def pattern(tokens, source_tokens):
    return (3 * torch.arange(tokens)[:, None] + 5 * torch.arange(source_tokens)) % 7


def patterned(tokens, source_tokens, adds=False):
    """The masks of catalogue/gradients_of_attention.hpp."""
    number = pattern(tokens, source_tokens)
    return torch.where(number == 1, -math.inf, number * 0.25 - 1 if adds else 0.0).double()


# --- Dropout ---

def philox(seed, stream, count):
    """Random words of Philox 4x32-10; word 2 of the counter is the stream's number."""
    words = []
    for counter in range((count + 3) // 4):
        block, key = [counter, 0, stream, 0], [seed, 0]
        for _ in range(10):
            first, second = 0xd2511f53 * block[0], 0xcd9e8d57 * block[2]
            block = [second >> 32 ^ block[1] ^ key[0], second & 0xffffffff, first >> 32 ^ block[3] ^ key[1], first & 0xffffffff]
            key = [(key[0] + 0x9e3779b9) & 0xffffffff, (key[1] + 0xbb67ae85) & 0xffffffff]
        words += block
    return words[:count]


class Dropout:
    """Drops at rates of weights and of outputs; each call takes the next stream of seed 123."""

    def __init__(self, weights=0.0, outputs=0.0):
        self.rates = {"weights": weights, "outputs": outputs}
        self.stream = 0

    def __call__(self, which, x):
        rate = self.rates[which]
        if rate == 0:
            return x
        below = math.ceil((1 - rate) * 2**32)
        kept = [word < below for word in philox(123, self.stream, x.numel())]
        self.stream += 1
        return x * torch.tensor(kept).reshape(x.shape) / (1 - rate)


# --- Attention ---

def attention(query, key, value, mask=0.0, dropout=Dropout()):
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]) + torch.as_tensor(mask).to(query.dtype)
    return dropout("weights", torch.softmax(scores, -1)) @ value


def rotate(x, interleaved, base):
    """Rotates pairs of features of [..., tokens, head_dim] by their positions."""
    tokens, dim = x.shape[-2:]
    angles = torch.arange(tokens)[:, None].double() * base**(-2 * torch.arange(dim // 2).double() / dim)
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :dim // 2], x[..., dim // 2:])
    cosines, sines = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    turned = a * cosines - b * sines, a * sines + b * cosines
    return torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)


def of_layer(d_in, d_out, name="", kv_width=None, qkv_bias=False, out_proj=True):
    kv_width = kv_width or d_out
    return {**of_linear(d_in, d_out, f"{name}query.", qkv_bias), **of_linear(d_in, kv_width, f"{name}key.", qkv_bias),
            **of_linear(d_in, kv_width, f"{name}value.", qkv_bias), **(of_linear(d_out, d_out, f"{name}out_proj.") if out_proj else {})}


def layer(p, x, key_input=None, value_input=None, name="", heads=1, mask=0.0, rotary=None, dropout=Dropout()):
    key_input = x if key_input is None else key_input
    value_input = key_input if value_input is None else value_input
    dim = p[f"{name}query.weight"].shape[1] // heads
    query, key, value = (linear(p, given, f"{name}{part}.").unflatten(-1, (-1, dim)).transpose(-2, -3)
                         for part, given in (("query", x), ("key", key_input), ("value", value_input)))
    if rotary:
        query, key = rotate(query, *rotary), rotate(key, *rotary)
    key, value = (m.repeat_interleave(heads // m.shape[-3], -3) for m in (key, value))
    out = attention(query, key, value, mask, dropout).transpose(-2, -3).flatten(-2)
    return dropout("outputs", linear(p, out, f"{name}out_proj.") if f"{name}out_proj.weight" in p else out)


# --- Blocks and models ---

def of_norm(dim, name, rms=False):
    return {f"{name}weight": (dim,), **({} if rms else {f"{name}bias": (dim,)})}


def of_block(d_model, d_hidden, name="", rms=False, gated=False, hidden_bias=True, **attention_options):
    return {**of_norm(d_model, f"{name}attention_norm.", rms), **of_layer(d_model, d_model, f"{name}attention.", **attention_options),
            **of_norm(d_model, f"{name}feed_forward_norm.", rms),
            **of_feed_forward(d_model, d_hidden, gated, hidden_bias, f"{name}feed_forward.")}


def block(p, x, activation, name="", norm_first=True, dropout=Dropout(), **options):
    def norm(y, part):
        of_part = f"{name}{part}_norm."
        return (layer_norm if f"{of_part}bias" in p else rms_norm)(p, y, of_part)

    parts = {"attention": lambda y: layer(p, y, name=f"{name}attention.", dropout=dropout, **options),
             "feed_forward": lambda y: dropout("outputs", feed_forward(p, y, activation, f"{name}feed_forward."))}
    for part, compute in parts.items():
        x = x + compute(norm(x, part)) if norm_first else norm(x + compute(x), part)
    return x


def encoder_layer(p, x, heads, name=""):
    """torch.nn.TransformerEncoderLayer itself."""
    names = {"linear1": "feed_forward.up", "linear2": "feed_forward.down", "norm1": "attention_norm", "norm2": "feed_forward_norm",
             "self_attn.out_proj": "attention.out_proj"}
    theirs = {f"{its}.{kind}": torch.t(p[f"{name}{ours}.{kind}"]) for its, ours in names.items() for kind in ("weight", "bias")}
    for kind in ("weight", "bias"):
        parts = [torch.t(p[f"{name}attention.{part}.{kind}"]) for part in ("query", "key", "value")]
        theirs[f"self_attn.in_proj_{kind}"] = torch.cat(parts)
    d_hidden = theirs["linear1.bias"].shape[0]
    with torch.random.fork_rng():  # it draws parameters of its own
        module = torch.nn.TransformerEncoderLayer(x.shape[-1], heads, d_hidden, dropout=0.0, batch_first=True).to(x.dtype)
    return torch.nn.utils.stateless.functional_call(module, theirs, (x[None],))[0]


def of_model(vocabulary, d_model, d_hidden, layers, context=None, rms=False, tied=True, head_bias=False, **options):
    return {"token_embedding.weight": (vocabulary, d_model), **({"position_embedding.weight": (context, d_model)} if context else {}),
            **{key: shape for i in range(layers) for key, shape in of_block(d_model, d_hidden, f"{i}.", rms=rms, **options).items()},
            **of_norm(d_model, "final_norm.", rms), **({} if tied else of_linear(d_model, vocabulary, "head.", head_bias))}


def some_tokens(count, vocabulary):
    return torch.tensor([(3 * i * i + 2) % vocabulary for i in range(count)])


def model(p, count, layers, dropout=Dropout(), **options):
    """The logits after each of `count` tokens."""
    vocabulary = p["token_embedding.weight"].shape[0]
    x = functional.embedding(some_tokens(count, vocabulary), p["token_embedding.weight"])
    if "position_embedding.weight" in p:
        x = x + p["position_embedding.weight"][:count]
    for i in range(layers):
        x = block(p, x, name=f"{i}.", mask=causal(count, count), dropout=dropout, **options)
    x = (layer_norm if "final_norm.bias" in p else rms_norm)(p, x, "final_norm.")
    return linear(p, x, "head.") if "head.weight" in p else x @ p["token_embedding.weight"].T


def loss(p, count, **options):
    logits = model(p, count, **options)
    vocabulary = logits.shape[-1]
    targets = torch.tensor([-100 if i % 4 == 2 else (i * 7 + vocabulary - 1) % vocabulary for i in range(count)])
    return functional.cross_entropy(logits, targets)[None]
