# SPDX-License-Identifier: MIT
"""Computes the outputs of the layers and models of models.py with PyTorch.

    python3 -m tests.products.export.with_pytorch                            writes expected.json
    python3 -m tests.products.export.with_pytorch -- COMPILER ARGUMENT...    tests the exporter on models in
                                                                    other sizes, from .safetensors,
                                                                    from .pt and from memory

Needs PyTorch (Debian: python3-torch). The second command skips its tests without it.
"""
import dataclasses
import functools
import json
import math
import sys

from ports.pytorch import tinyattn_export as export
from ports.pytorch.tinyattn_export import command_line, settings
from tests.products.export import exporter, models
from tests.products.export.exporter import ARGUMENTS, EXPECTED
from tests.support import debian, tap
from tests.support.tap import in_folder

debian.needs_pytorch()
import torch
from torch.nn import functional

from tests.golden.models import ACTIVATIONS, attention, causal, rotate

torch.set_grad_enabled(False)
TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def state_dict(case):
    """Returns the tensors of a file, in their types."""
    def tensor(dtype, shape, *data):
        if dtype not in TYPES:
            return torch.ones(shape, dtype=torch.uint8)
        return torch.frombuffer(bytearray(*data), dtype=TYPES[dtype]).reshape(shape)
    return {name: tensor(*entry) for name, entry in case.tensors.items()}


class Weights:
    """The weights of a model as float32: functions for its parts, by their names."""

    def __init__(self, case):
        self.tensors = {name: tensor.float() for name, tensor in state_dict(case).items()}

    def linear(self, pattern, x):
        """Computes a linear layer. See models.parameters for its pattern."""
        pattern, _, is_transposed = pattern.partition("^")
        if "*" in pattern:
            heads = sum(name.startswith("heads.") for name in self.tensors) // 3
            return torch.cat([self.linear(pattern.replace("*", str(head)), x) for head in range(heads)], dim=-1)
        weight = self.tensors[pattern.format("weight")]
        bias = self.tensors.get(pattern.format("bias")) if "{}" in pattern else None
        return functional.linear(x, weight.t() if is_transposed else weight, bias)

    def norm(self, name, epsilon, is_rms, x, adds_one=False):
        names = ("scale", "shift") if f"{name}.scale" in self.tensors else ("weight", "bias")
        weight, bias = (self.tensors.get(f"{name}.{kind}") for kind in names)
        weight = 1 + weight if adds_one else weight
        if is_rms:
            return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon))
        return functional.layer_norm(x, weight.shape, weight, bias, epsilon)


# --- Attention ---


def rotated(x, dim, rotary, base):
    dim = dim or x.shape[-1]
    return torch.cat([rotate(x[..., :dim], rotary == "interleaved", base), x[..., dim:]], dim=-1) if rotary else x


def attend(weights, patterns, x, num_heads, is_causal, rotary="", base=0, window=None, rotary_dim=None, by_head=False,
           norms=(), score_width=None):
    """Computes attention with the layers of some patterns: three projections or one, and perhaps an output."""
    inputs, out = (patterns[:-1], patterns[-1:]) if len(patterns) != 3 else (patterns, [])
    joined = [weights.linear(pattern, x) for pattern in inputs]
    if by_head:
        joined = [part.flatten(1) for part in joined[0].view(len(x), num_heads, 3, -1).unbind(2)]
    parts = joined if len(joined) == 3 else joined[0].chunk(3, dim=-1)
    head_dim = parts[0].shape[1] // num_heads
    heads = [part.view(len(x), -1, head_dim).transpose(0, 1) for part in parts]
    heads = [one.repeat_interleave(num_heads // len(one), dim=0) for one in heads]
    for i, norm in enumerate(norms):
        heads[i] = norm(heads[i])
    query, key = (rotated(one, rotary_dim, rotary, base) for one in heads[:2])
    query = query * (head_dim / (score_width or head_dim))**0.5
    mask = causal(len(x), len(x), window=window or math.inf) if is_causal else 0.0
    context = attention(query, key, heads[2], mask).transpose(0, 1).flatten(1)
    return weights.linear(out[0], context) if out else context


# --- The outputs of each case: a matrix, and the tokens that a language model generates ---


def of_layer(name, case):
    layer, x = models.LAYERS[name], torch.tensor(case.input)
    num_heads, is_causal = int(case.arguments[1]), "--causal" in case.arguments
    window = int(case.arguments[-1]) if "--window" in case.arguments else None
    if not name.startswith("multihead_attention"):
        return attend(Weights(case), layer.linears.split(), x, num_heads, is_causal, window=window), []
    own = torch.nn.MultiheadAttention(x.shape[1], num_heads, bias=bool(layer.biases))
    own.load_state_dict(state_dict(case))
    mask = causal(len(x), len(x)).float() if is_causal else None
    return own(x, x, x, attn_mask=mask, need_weights=False)[0], []


def logits_of(model, weights, tokens):
    token, position, stem, final_norm, head = model.tops.split()
    norm_1, norm_2, *linears = models.TABLE["blocks"][model.block].split()
    count = 2 if model.count == 4 else 4
    norm = lambda name, x: weights.norm(name, model.epsilon, model.is_rms, x, model.adds_one)
    activate = ACTIVATIONS[settings.ACTIVATION_NAMES[model.activation]]
    x = weights.tensors[f"{token}.weight"][tokens] * model.embedding_scale
    if position != "-":
        x = x + weights.tensors[f"{position}.weight"][:len(tokens)]
    for start in (f"{stem}{i}." for i in range(2)):
        projections, (up, *gate, down) = ([start + name for name in names]
                                        for names in (linears[:count], linears[count:]))
        norms = [functools.partial(norm, start + name) for name in model.norms.values()]
        context = attend(weights, projections, norm(start + norm_1, x), model.num_heads, True, model.rotate, model.base,
                         model.window, model.rotary_dim, model.by_head, norms, model.score_width)
        y = norm(start + norm_2, x if model.parallel else x + context)
        hidden = weights.linear(up, y)
        hidden = activate(weights.linear(gate[0], y)) * hidden if gate else activate(hidden)
        x = x + context + weights.linear(down, hidden)
    top = f"{head}.weight" if head != "-" else f"{token}.weight"
    return functional.linear(norm(final_norm, x), weights.tensors[top], weights.tensors.get(f"{head}.bias"))


def of_model(name, case):
    logits = functools.partial(logits_of, models.MODELS[name], Weights(case))
    tokens = case.input[0][:models.PROMPT]
    while len(tokens) < len(case.input[0]):
        tokens.append(int(logits(torch.tensor(tokens))[-1].argmax()))
    return logits(torch.tensor(case.input[0])), tokens[models.PROMPT:]


def of_encoder(name, case):
    row = models.TABLE["encoders"][name]
    prefix = row["prefix"]
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, **row["settings"])
    norm = torch.nn.LayerNorm(8) if prefix else None
    module = layer if row["kind"] == "transformer_block" else torch.nn.TransformerEncoder(
        layer, 2, norm=norm, enable_nested_tensor=False)
    state = {key.removeprefix(prefix): tensor for key, tensor in state_dict(case).items()}
    module.load_state_dict(state)
    return module(torch.tensor(case.input)), []


def of_convolution(name, case):
    row = models.TABLE["convolutions"][name]
    outputs, inputs, kernel = row["shape"]
    module = torch.nn.Conv1d(inputs, outputs, kernel, row["stride"], row["padding"], bias=row["has_bias"])
    module.load_state_dict({key.removeprefix("stem."): tensor for key, tensor in state_dict(case).items()})
    return module(torch.tensor(case.input).t()).t(), []


def rounded(weight, axis):
    """Returns the values that a weight's codes stand for. `axis` is the axis of inputs."""
    scale = (weight.double().abs().amax(axis, keepdim=True) / 127).float().double()
    return (torch.round(weight.double() / scale).clamp(-127, 127) * scale).float()


def dequantized(name, case):
    """Returns the case with its weights as int8 codes represent them."""
    if name in models.MODELS:
        patterns = models.TABLE["blocks"][models.MODELS[name].block]
        floats = (models.MODELS[name].tops.split()[1] + ".weight",)
    else:
        patterns, floats = models.LAYERS[name].linears if name in models.LAYERS else "", ()
    axis = 0 if "^" in patterns else 1
    tensors = {}
    for key, tensor in state_dict(case).items():
        if tensor.dim() == 2 and tensor.is_floating_point() and key not in floats:
            stored_by_rows = key.endswith(("wte.weight", "lm_head.weight"))
            tensor = rounded(tensor.float(), 1 if stored_by_rows else axis)
            tensors[key] = "F32", tuple(tensor.shape), tensor.numpy().tobytes()
        elif tensor.dim() == 3:
            tensors[key] = "F32", tuple(tensor.shape), rounded(tensor, (1, 2)).numpy().tobytes()
        else:
            tensors[key] = case.tensors[key]
    return dataclasses.replace(case, tensors=tensors)


def expected(name, case):
    """Returns the outputs with nine digits, enough to read back the same float32; and the tokens."""
    name = name.removesuffix("_int8")
    case = dequantized(name, case) if "--weights" in case.arguments else case
    compute = of_layer if name in models.LAYERS else of_model if name in models.MODELS else (
        of_convolution if name in models.TABLE["convolutions"] else of_encoder)
    output, tokens = compute(name, case)
    return {"output": [[float(f"{value:.9g}") for value in row] for row in output.tolist()], "tokens": tokens}


# --- Tests with files of torch.save ---


@in_folder
def from_anywhere(folder, case):
    """Checks that .pt and a state_dict in memory give the same header as .safetensors, except for the name of the
    source."""
    weights, state = folder / "weights.safetensors", state_dict(case)
    export.write_safetensors(weights, state)
    torch.save(state, folder / "weights.pt")
    arguments = exporter.arguments_of(case, folder)
    request = command_line.requests(command_line.parse(["-", "-o", "-", *arguments]))
    headers = []
    for source in (export.read(weights), export.of_state_dict(state, weights.name), export.read(folder / "weights.pt")):
        export.write(folder / "model.hpp", source, "model", request)
        headers.append((folder / "model.hpp").read_text().partition("#pragma once"))
    file, memory, pt = headers
    return "" if file == memory and file[2] == pt[2] else "from .pt or from memory it differs"


@in_folder
def damaged_pt(folder):
    """Checks that a file of torch.save that is cut, or that is something else, is refused."""
    torch.save({"qkv.weight": torch.rand(6, 2), "proj.weight": torch.rand(2, 2)}, folder / "a.pt")
    whole, hostile = (folder / "a.pt").read_bytes(), b"\x80\x02cos\nsystem\n(S'exit 0'\ntR."
    files = (b"", b"PK\x03\x04", whole[:40], whole[:len(whole) // 2], whole[:-30], hostile)
    return next(filter(None, (exporter.answer_problem("", file, suffix=".pt") for file in files)), "")


@in_folder
def checkpoint(folder, name, key):
    """Checks that a checkpoint of a training run can be read; or that PyTorch 1.13 refuses it, and
    that the Python code in the error message, run as printed, makes a readable file of it."""
    path, model_args = folder / name, {"n_head": 2, "bias": True, "dropout": 0.0}
    linear = torch.nn.Linear(2, 6, bias=False)
    optimizer = torch.optim.AdamW(linear.parameters(), lr=1e-3, betas=(0.9, 0.95))
    tensors = {"c_attn.weight": linear.weight, "c_proj.weight": torch.rand(2, 2)}
    torch.save({**({key: tensors} if key else tensors), "optimizer": optimizer.state_dict(),
                "model_args": model_args, "best_val_loss": 1e9, "config": {"seed": 1337}}, path)
    status, _, errors = exporter.run(path, "-o", folder / "model.hpp", *ARGUMENTS)
    if "run in Python: " in errors:
        done = exporter.call(sys.executable, "-c", errors.partition("run in Python: ")[2])
        path = path.with_suffix(".weights.pt")
        status, _, errors = exporter.run(path, "-o", folder / "model.hpp", *ARGUMENTS)
        errors += done.stderr
    if status:
        return errors
    is_kept = export.read(path).tensors.model_args == model_args
    return "" if is_kept else "its model_args are lost"


def in_size(cases):
    return exporter.points(cases, {name: expected(name, case) for name, case in cases.items()}, ("-O1",))


if exporter.COMPILER:
    # Without language models with int8 weights: in long texts two tokens may be almost equally likely.
    sizes = [models.with_int8(models.layers(1, 1, 1, 1)), models.with_int8(models.layers(20, 48, 4, 33)),
             {**models.language_models(208), **models.with_int8({**models.encoders(33), **models.convolutions(100)})}]
    tap.report([
        ("a damaged .pt", damaged_pt), ("a checkpoint of nanoGPT", checkpoint, "ckpt.pt", "model"),
        ("a checkpoint of Lightning", checkpoint, "it's.ckpt", "state_dict"),
        ("tensors next to floats", checkpoint, "a.pt", ""),
        *((f"from anywhere: {name}", from_anywhere, case) for name, case in models.STORED.items()),
        *(point for cases in sizes for point in in_size(cases))])
lines = [f"{json.dumps(name)}: {json.dumps(expected(name, case))}" for name, case in models.STORED.items()]
EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
