# SPDX-License-Identifier: MIT
"""Makes attention layers of PyTorch in every layout that the exporter knows.

    python3 -m tests.export.models                            writes data/: their weights, and cases.json: how to export
                                                              each, an input, PyTorch's output
    python3 -m tests.export.models -- COMPILER ARGUMENT...    tests the exporter on new random ones, in two shapes:
                                                              from .safetensors, from .pt and from memory

Needs PyTorch (Debian: python3-torch). The second command skips its tests without it.
"""
import math
import sys
import types
import typing

from tests.export import exporter, with_torch
from tests.export.exporter import in_folder
from tests.export.with_torch import fresh, nine_digits
from tests.support import tap

import torch
from torch import nn

from ports.pytorch import tinyattn_export as export

INPUTS = ("query", "key", "value")


def upper(tokens):
    return torch.triu(torch.ones(tokens, tokens), diagonal=1)


def attend(linears, x, num_heads, causal):
    """Computes scaled dot-product attention, with heads that are groups of columns."""
    query, key, value = (linear(x).view(len(x), num_heads, -1).transpose(0, 1) for linear in linears[:3])
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    if causal:
        scores = scores.masked_fill(upper(len(x)).bool(), -torch.inf)
    context = (torch.softmax(scores, dim=-1) @ value).transpose(0, 1).flatten(1)
    return linears[3](context) if len(linears) > 3 else context


# Each of the following functions stores a layer in a layout. `states`: the state_dict of each Linear, which are query,
# key, value and, if there is one, the output projection.
def with_names(names, states):
    return {f"{name}.{key}": tensor for name, state in zip(names.split(), states) for key, tensor in state.items()}


def concatenate(states):
    return [{key: torch.cat([state[key] for state in states[:3]]) for key in states[0]}, *states[3:]]


def transpose(states):
    return [{key: tensor.t() for key, tensor in state.items()} for state in states]


def with_mask(states, shape):
    """Adds the mask that the book LLMs-from-scratch registers as a buffer."""
    return {**with_names("W_query W_key W_value out_proj", states), "mask": upper(shape.tokens)}


def multihead_attention(states, _):
    projections, out = concatenate(states)
    return {**{f"in_proj_{key}": tensor for key, tensor in projections.items()}, **with_names("out_proj", [out])}


def nanogpt(states, shape):
    lower = torch.ones(1, 1, shape.tokens, shape.tokens, dtype=torch.uint8).tril()
    return {**with_names("c_attn c_proj", concatenate(states)), "bias": lower, "masked_bias": torch.tensor(-1e4)}


def gpt2(states, shape):
    """Stores the layer as the second of a GPT-2, next to its other tensors."""
    norm, own = nn.LayerNorm(shape.d_out).state_dict(), {**nanogpt(states, shape),
                                                         **with_names("c_attn c_proj", transpose(concatenate(states)))}
    other = {name: torch.ones_like(tensor) for name, tensor in own.items()}
    layers = {f"h.{i}.attn.{name}": tensor for i, layer in enumerate((other, own)) for name, tensor in layer.items()}
    return {"wte.weight": torch.rand(7, shape.d_out), **layers, **with_names("h.0.ln_1 h.1.ln_1 ln_f", [norm] * 3)}


def stacked_heads(states, shape):
    tensors = with_names("proj", states[3:])
    for head in range(shape.num_heads):
        for role, state in zip(INPUTS, states):
            tensors[f"heads.{head}.{role}.weight"] = state["weight"].chunk(shape.num_heads)[head]
        tensors[f"heads.{head}.tril"] = torch.ones(shape.tokens, shape.tokens).tril()
    return tensors


class Case(typing.NamedTuple):
    layout: object  # a function from states and shape to {name: tensor}
    arguments: str = "--causal"
    biases: tuple = (False, False, False, True)  # of each Linear; if three: one head, no projection
    dtype: torch.dtype = torch.float32  # of the numbers in the file
    square: bool = True  # d_in is d_out


PROJ, ALL, NONE = "q_proj k_proj v_proj o_proj", (True,) * 4, (False,) * 4
MAP = "--map query=ask.weight key=match.weight value=give.weight.T out=mix.weight --causal"
CASES = {
    "w_query": Case(with_mask, square=False),
    "w_query_float16": Case(with_mask, biases=ALL, dtype=torch.float16, square=False),
    "w_query_without_projection": Case(with_mask, biases=NONE[:3], square=False),
    "w_query_parameters": Case(lambda states, _: {f"W_{role}": state["weight"].T for role,
                                                  state in zip(INPUTS, states)}, "--no-causal",
                               NONE[:3], square=False),  # matrices without Linear, used as x @ W
    "wq_bfloat16": Case(lambda states, _: with_names("wq wk wv wo", states), biases=NONE, dtype=torch.bfloat16),
    "q_proj_key_without_bias": Case(lambda states, _: with_names(PROJ, states), biases=(True, False, True, True)),
    "q_proj_float64": Case(lambda states, _: with_names(PROJ, states), "--no-causal", ALL, torch.float64),
    "multihead_attention": Case(multihead_attention, "--no-causal", ALL),
    "multihead_attention_without_bias": Case(multihead_attention, biases=NONE),
    "gpt2": Case(gpt2, "--prefix h.1.attn. --causal", ALL),
    "nanogpt": Case(nanogpt, biases=ALL),
    "qkv": Case(lambda states, _: with_names("qkv proj", concatenate(states)), "--no-causal", ALL),
    "stacked_heads": Case(stacked_heads),
    "mapped": Case(lambda states, _: with_names("ask match give mix",
                                                [*states[:2], *transpose(states[2:3]), states[3]]), MAP,
                   (True, True, True, False), square=False),
}


def output(case, linears, state, x, num_heads):
    causal = "--causal" in case.arguments
    if case.layout is not multihead_attention:
        return attend(linears, x, num_heads, causal)
    own = nn.MultiheadAttention(x.shape[1], num_heads, bias="in_proj_bias" in state)
    own.load_state_dict(state)
    return own(x, x, x, attn_mask=upper(len(x)).bool() if causal else None, need_weights=False)[0]


def models(d_in, d_out, num_heads, tokens, seed):
    """Yields a layer in each layout: its name, its tensors, and its entry of cases.json."""
    for number, (name, case) in enumerate(CASES.items()):
        torch.manual_seed(seed + number)
        shape = types.SimpleNamespace(d_in=d_out if case.square else d_in, d_out=d_out, tokens=tokens,
                                      num_heads=num_heads if len(case.biases) == 4 else 1)
        widths = (shape.d_in, shape.d_in, shape.d_in, d_out)
        linears = [nn.Linear(width, d_out, bias).to(case.dtype).float() for width, bias in zip(widths, case.biases)]
        tensors = case.layout([linear.state_dict() for linear in linears], shape)
        state = {key: (tensor.to(case.dtype) if tensor.is_floating_point() else tensor).contiguous() for key,
                 tensor in tensors.items()}
        x = torch.randn(tokens, shape.d_in)
        arguments = ["--num-heads", str(shape.num_heads), "--context-length", str(tokens), *case.arguments.split()]
        computed = output(case, linears, state, x, shape.num_heads)
        yield name, state, {"arguments": arguments, "input": nine_digits(x), "output": nine_digits(computed)}


@in_folder
def damaged_pt(folder):
    """Checks that a file of torch.save that is cut, or that is something else, is refused."""
    torch.save({"qkv.weight": torch.rand(6, 2), "proj.weight": torch.rand(2, 2)}, folder / "weights.pt")
    whole, hostile = (folder / "weights.pt").read_bytes(), b"\x80\x02cos\nsystem\n(S'exit 0'\ntR."
    files = (b"", b"PK\x03\x04", whole[:40], whole[:len(whole) // 2], whole[:-30], hostile)
    return next(filter(None, (exporter.answer_problem("", file, suffix=".pt") for file in files)), "")


@in_folder
def checkpoint(folder, name, key):
    """Checks that a checkpoint of a training run can be read; or that PyTorch 1.13 refuses it, and that the Python code
    in the error message, run as printed, makes a readable file of it."""
    path, model_args = folder / name, {"n_head": 2, "bias": True, "dropout": 0.0}
    linear = nn.Linear(2, 6, bias=False)
    optimizer = torch.optim.AdamW(linear.parameters(), lr=1e-3, betas=(0.9, 0.95))
    tensors, others = {"c_attn.weight": linear.weight,
                       "c_proj.weight": torch.rand(2, 2)}, {"best_val_loss": 1e9, "config": {"seed": 1337}}
    torch.save({**({key: tensors} if key else tensors), "optimizer": optimizer.state_dict(), "model_args": model_args,
                **others}, path)
    status, _, errors = exporter.run(path, "-o", folder / "model.hpp", *exporter.ARGUMENTS)
    if "run in Python: " in errors:
        done, path = exporter.call(sys.executable, "-c",
                                   errors.partition("run in Python: ")[2]), path.with_suffix(".weights.pt")
        status, _, errors = exporter.run(path, "-o", folder / "model.hpp", *exporter.ARGUMENTS)
        errors += done.stderr
    return errors if status else "" if export.read(path).tensors.model_args == model_args else "its model_args are lost"


if exporter.COMPILER:
    tap.report([
        ("a damaged .pt", damaged_pt), ("a checkpoint of nanoGPT", checkpoint, "ckpt.pt", "model"),
        ("a checkpoint of Lightning", checkpoint, "it's.ckpt", "state_dict"),
        ("tensors next to floats", checkpoint, "a.pt", "")] + [
        (f"{name} {shape}", fresh, state, case)
        for shape in ((1, 1, 1, 1), (20, 48, 4, 33)) for name, state, case in models(*shape, seed=100 + shape[0])])
with_torch.write_data("cases.json", models(d_in=6, d_out=8, num_heads=2, tokens=5, seed=2026))
