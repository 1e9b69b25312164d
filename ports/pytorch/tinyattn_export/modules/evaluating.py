# SPDX-License-Identifier: MIT
"""Computes the steps of a Program in Python. It reads what the header will have: the text of each step, the numbers of
each part, and which objects share memory."""
import array
import functools
import itertools
import math
import re
import typing

import torch
from torch.nn import functional

from ..layouts import INPUTS
from ..settings import ACTIVATIONS
from .members import Layer, part_of_tensor
from .program import Scratch
from .values import TOKEN, Operand

LOOP = re.compile(r"for \(std::size_t (\w) = 0; \1 < (\d+); \+\+\1\)( \{)?\s*")
IN_PYTHON = [(re.compile(pattern), text) for pattern, text in (
    (r"tinyattn::MatrixView<(?:const )?[\w:]+, (\d+), (\d+), (\d+)>\{(\w+)\.data\(\)( \+ )?([^}]*)\}",
     r"\4.as_strided((\1, \2), (\3, 1), 0\5\6)"),
    (r"tinyattn::columns<(\d+)>\(", r"columns(\1, "), (r"tinyattn::(\w+)\{\}", r"\1"), (r"tinyattn::", ""),
    (r"std::numeric_limits<float>::infinity\(\)", "inf"),
    (r"\b([\d.]+(?:e[+-]?\d+)?)f\b", r"single(\1)"), (r"\.elements\b", ".view(-1)"),
    (r"static_cast<void>", ""), (r"(?:const )?auto ", ""), (r" / ", " // "))]


class Mask(typing.NamedTuple):
    """A mask of attention: true is masked; floats are added."""

    tensor: torch.Tensor = None
    causal: bool = False

    def applied(self, scores):
        if self.causal:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
        if self.tensor is None:
            return scores
        return scores.masked_fill(self.tensor, -math.inf) if self.tensor.dtype == torch.bool else scores + self.tensor


def attend(query, key, value, mask):
    scores = mask.applied(query @ key.mT / math.sqrt(query.shape[-1]))
    sees_nothing = (scores == -math.inf).all(-1, keepdim=True)
    return scores.softmax(-1).masked_fill(sees_nothing, 0.0) @ value


def writes(compute):
    """Returns a function as the library has it: the last argument is written."""
    def function(*arguments):
        *inputs, out = arguments
        out.copy_(compute(*inputs).reshape(out.shape))
    return function


COMPUTED = {
    **{name: functools.partial(getattr(functional, function), **arguments)
       for name, (function, _, arguments, *_) in ACTIVATIONS.items()},
    "add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "matmul": torch.matmul, "transpose": torch.t,
    "standardize": lambda x, mean, factor: (x - mean) * factor, "softmax": lambda x: x.softmax(-1),
    "masked_fill": lambda x, mask, number: x.masked_fill(mask, number), "row": lambda x, i: x[i],
    "matmul_transposed": lambda a, b: a @ b.mT, "mean": lambda x: x.mean(-2), "largest": lambda x: x.amax(-2),
    "concat_rows": lambda a, b: torch.cat((torch.atleast_2d(a), torch.atleast_2d(b))),
    "concat_columns": lambda a, b: torch.cat((a, b), -1), "scaled_dot_product_attention": attend}
NAMES = {**{name: writes(compute) for name, compute in COMPUTED.items()}, "NoMask": Mask(), "Causal": Mask(causal=True),
         "columns": lambda count, x, first: x.narrow(1, first, count), "inf": math.inf,
         "single": lambda number: array.array("f", [number])[0]}


# --- Layers, from the configuration and the weights of a Part ---


def linear(tree, x):
    return x @ tree["weight"] + (tree["bias"] if "bias" in tree else 0.0)


def norm(tree, x):
    if "bias" in tree:
        return functional.layer_norm(x, x.shape[-1:], tree["weight"][0], tree["bias"][0], tree["epsilon"])
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + tree["epsilon"]) * tree["weight"]


def convolution(config, tree, x, mask):
    padded = functional.pad(x, (0, 0, config["padding"], config["padding"]))
    return linear(tree, padded.unfold(-2, config["kernel"], config["stride"]).mT.flatten(-2))


def attention(config, tree, query, key, value, mask):
    def heads(role, x):
        return linear(tree[role], x).unflatten(-1, (config["num_heads"], -1)).transpose(-2, -3)
    mask = Mask(mask.tensor, mask.causal or config["causal"])
    context = attend(*map(heads, INPUTS, (query, key, value)), mask)
    return linear(tree["out_proj"], context.transpose(-2, -3).flatten(-2))


def block(config, tree, x, mask):
    def feed_forward(x):
        activate = COMPUTED[config["feed_forward"]["activation"].rpartition(":")[2]]
        return linear(tree["feed_forward"]["down"], activate(linear(tree["feed_forward"]["up"], x)))
    parts = (("attention_norm", lambda x: attention(config["attention"], tree["attention"], x, x, x, mask)),
             ("feed_forward_norm", feed_forward))
    for name, part in parts:
        x = x + part(norm(tree[name], x)) if config["norm_first"] else norm(tree[name], x + part(x))
    return x


def transformer(config, tree, x, mask):
    for each in tree["blocks"]:
        x = block(config["block"], each, x, mask)
    return norm(tree["final_norm"], x) if tree["final_norm"] else x


LAYERS = {
    **dict.fromkeys(("LayerNorm", "RmsNorm"), lambda config, tree, x, mask: norm(tree, x)),
    "Linear": lambda config, tree, x, mask: linear(tree, x), "TransformerBlock": block, "Transformer": transformer,
    "Embedding": lambda config, tree, x, mask: tree["weight"][x], "Conv1d": convolution,
    "MultiHeadAttention": attention}


def tensors_of(tree, type):
    """Returns the tree of a Part with tensors for its lists of rows."""
    if isinstance(tree, list):
        return torch.frombuffer(bytearray(b"".join(tree)), dtype=torch.float32).view(len(tree), -1).to(type)
    if isinstance(tree, dict):
        return {name: tensors_of(member, type) for name, member in tree.items()}
    return tuple(tensors_of(member, type) for member in tree) if isinstance(tree, tuple) else tree


class Evaluated:
    """A layer."""

    def __init__(self, part, type):
        self.kind = re.match(r"::tinyattn::(\w+)", part.type)[1]
        self.config, self.tree = part.config, tensors_of(part.tree, type)
        self.weight = self.tree.get("weight")

    def forward(self, *arguments):
        *inputs, out = (argument for argument in arguments if isinstance(argument, torch.Tensor))
        inputs *= 3 if self.kind == "MultiHeadAttention" and len(inputs) == 1 else 1
        mask = next((argument for argument in arguments if isinstance(argument, Mask)), Mask())
        out.copy_(LAYERS[self.kind](self.config, self.tree, *inputs, mask).reshape(out.shape))


class Memory:
    """Runs the steps of a Lowering on an input, in float32 or in double."""

    @torch.no_grad()
    def __init__(self, low, x, example, type):
        self.type, self.objects, parts = type, {}, low.members.finished
        self.names = {**NAMES, "layers": {path: Evaluated(parts[path], type) for path in low.members.requests}}
        for mask in low.members.masks:
            tensor = mask.tensor if mask.tensor.dtype == torch.bool else mask.tensor.to(type)
            self.names[mask.name] = tensor if mask.type.startswith("tinyattn::Tensor") else Mask(tensor)
        for object, tensor in low.members.objects.values():
            self.at(object).copy_(tensors_of(part_of_tensor(object, tensor).tree, type).view(object.extents))
        self.at(x).copy_(example.reshape(x.extents))

    def at(self, object):
        return self.names[self.name(object)]

    def name(self, object, extents=None):
        """Returns the name of the memory of an object, which for `out` may be seen with other extents. It is not a
        number before a step writes it."""
        object = object.resolved()
        if object not in self.objects:
            self.objects[object] = f"memory_{len(self.objects)}"
            empty = (0, torch.int64) if object.element == TOKEN else (math.nan, self.type)
            self.names[self.objects[object]] = torch.full(object.extents, empty[0], dtype=empty[1])
        name = "_".join(map(str, (self.objects[object], *(extents or object.extents))))
        self.names[name] = self.names[self.objects[object]].view(extents or object.extents)
        return name

    def elements(self, value):
        """Returns the elements of a Value, as PyTorch has them."""
        return self.at(value.object).flatten()[value.view]

    def text(self, part):
        if isinstance(part, Operand):
            return part.text(self.name(part.object, part.extents if part.stride is None else None))
        if isinstance(part, (Layer, Scratch)):
            return f"layers[{part.path!r}]" if isinstance(part, Layer) else "None"
        return part() if callable(part) else part

    @torch.no_grad()
    def run(self, step):
        text = "".join(map(self.text, step.text))
        loops, body = LOOP.findall(text), LOOP.sub("", text).removesuffix("}")
        for pattern, in_python in IN_PYTHON:
            body = pattern.sub(in_python, body)
        code = compile("\n".join(map(str.strip, body.split(";"))), "<steps>", "exec")
        names, ranges = [name for name, *_ in loops], [range(int(count)) for _, count, _ in loops]
        if not any(brace for *_, brace in loops):  # a copy, of all elements at once
            ranges = [[each] for each in torch.meshgrid(*map(torch.tensor, ranges), indexing="ij")] if loops else []
        for indices in itertools.product(*ranges):
            exec(code, {**self.names, **dict(zip(names, indices))})
