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
from .elementwise import LIBRARY, NAMED
from .members import Layer, part_of_tensor
from .program import Scratch
from .values import TOKEN, Operand, places

LOOP = re.compile(r"for \(std::size_t (\w) = 0; \1 < (\d+); \+\+\1\)( \{)?\s*")
IN_PYTHON = [(re.compile(pattern), text) for pattern, text in (
    (r"tinyattn::MatrixView<(?:const )?[\w:]+, (\d+), (\d+), (\d+)>\{(\w+)\.data\(\)( \+ )?([^}]*)\}",
     r"\4.as_strided((\1, \2), (\3, 1), 0\5\6)"),
    (r"tinyattn::StridedView<(?:const )?[\w:]+, tinyattn::Extents<([^>]*)>, tinyattn::Strides<([^>]*)>>"
     r"\{&?(\w+)\.\w+(?:\(\)|\[(\d+)\])\}", r"viewed(\3, (\1,), (\2,), int('0\4'))"),
    (r"tinyattn::AdditiveMask\{(\w+)\}", r"AdditiveMask(\1)"), (r"tinyattn::function::(\w+)", r"functions['\1']"),
    (r"tinyattn::reduction::(\w+)(?:\{(\d+)\})?", r"functools.partial(reductions['\1'], *[\2])"),
    (r"reduce<([\d, ]*)>\(", r"reduce((\1,), "),
    (r"(\w+_pool\dd)<(?:tinyattn::Size2d)?\{?([\w, ]+)\}?>\(", r"\1((\2), "),
    (r"tinyattn::columns<(\d+)>\(", r"columns(\1, "), (r"tinyattn::(\w+)\{\}", r"\1"), (r"tinyattn::", ""),
    (r"std::numeric_limits<float>::infinity\(\)", "inf"),
    (r"\b([\d.]+(?:e[+-]?\d+)?)f\b", r"single(\1)"), (r"\.elements\b", ".view(-1)"),
    (r"(\w+) = \{\};", r"\1.zero_();"), (r"(\w+) = (\w+);", r"\1.copy_(\2);"),
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


def weights_of(query, key, mask):
    scores = mask.applied(query @ key.mT / math.sqrt(query.shape[-1]))
    sees_nothing = (scores == -math.inf).all(-1, keepdim=True)
    return scores.softmax(-1).masked_fill(sees_nothing, 0.0)


def attend(query, key, value, mask):
    return weights_of(query, key, mask) @ value


def pool(name, rank, config, x):
    """Pools features that come last. `config` has the arguments of PyTorch's function, or is a size."""
    arguments = {"kernel_size" if key == "kernel" else key: value for key, value in config.items()
                 } if isinstance(config, dict) else {"output_size": config}
    return getattr(functional, name)(x.movedim(-1, -rank - 1), **arguments).movedim(-rank - 1, -1)


def writes(compute):
    """Returns a function as the library has it: the last argument is written."""
    def function(*arguments):
        *inputs, out = arguments
        out.copy_(compute(*inputs).reshape(out.shape))
    return function


COMPUTED = {
    **{name: functools.partial(getattr(functional, function), **arguments)
       for name, (function, _, arguments, *_) in ACTIVATIONS.items()},
    "add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "transpose": torch.t,
    "matmul": lambda a, b: a @ torch.atleast_2d(b), "matmul_transposed": lambda a, b: a @ torch.atleast_2d(b).mT,
    "standardize": lambda x, mean, factor: (x - mean) * factor, "softmax": lambda x: x.softmax(-1),
    "masked_fill": lambda x, mask, number: x.masked_fill(mask, number), "row": lambda x, i: x[i],
    "mean": lambda x: x.mean(-2), "largest": lambda x: x.amax(-2),
    "concat_rows": lambda a, b: torch.cat((torch.atleast_2d(a), torch.atleast_2d(b))),
    "concat_columns": lambda a, b: torch.cat((a, b), -1), "scaled_dot_product_attention": attend,
    **{f"{kind}_pool{rank}d": functools.partial(pool, f"{kind}_pool{rank}d", rank)
       for kind in ("max", "avg", "adaptive_max", "adaptive_avg") for rank in (1, 2)}}
NAMES = {**{name: writes(compute) for name, compute in COMPUTED.items()}, "NoMask": Mask(), "Causal": Mask(causal=True),
         "AdditiveMask": Mask,
         "columns": lambda count, x, first: x.narrow(1, first, count), "inf": math.inf,
         "single": lambda number: array.array("f", [number])[0]}


# --- Functions of each element, and reductions ---

FUNCTIONS = {
    **{name: getattr(torch, name, None) or getattr(functional, name, None) for name in (
        *NAMED, *LIBRARY.values(), "negative", "square", "selu", "lerp", "clamp", "add", "multiply", "subtract")},
    "power": torch.pow, "equal": torch.eq, "fma": lambda a, b, c: a * b + c,
    "leaky_relu": lambda x, slope: torch.where(x < 0, x * slope, x),
    "elu": lambda x, alpha: torch.where(x < 0, alpha * x.expm1(), x),
    "celu": lambda x, alpha: torch.where(x < 0, alpha * (x / alpha).expm1(), x),
    "select": lambda condition, a, b: torch.where(condition != 0, a, b)}
REDUCTIONS = {  # of the last axis
    "sum": lambda x: x.sum(-1), "mean": lambda x: x.mean(-1), "largest": lambda x: x.amax(-1),
    "smallest": lambda x: x.amin(-1), "product": lambda x: x.prod(-1), "norm": lambda x: x.norm(2, -1),
    "any": lambda x: (x != 0).any(-1), "all": lambda x: (x != 0).all(-1), "log_sum_exp": lambda x: x.logsumexp(-1),
    "absolute_sum": lambda x: x.norm(1, -1), "largest_magnitude": lambda x: x.abs().amax(-1),
    "argmax": lambda x: x.argmax(-1), "argmin": lambda x: x.argmin(-1),
    "variance": lambda correction, x: (x - x.mean(-1, True)).square().sum(-1) / (x.shape[-1] - correction),
    "deviation": lambda correction, x: REDUCTIONS["variance"](correction, x).sqrt()}


def elementwise(function, *arguments):
    *inputs, out = arguments
    out.copy_(function(*(torch.as_tensor(each, dtype=out.dtype) for each in inputs)))


def reduce(axes, operation, x, out):
    rest = x.movedim(axes, tuple(range(-len(axes), 0))).flatten(-len(axes))
    out.copy_(operation(rest).reshape(out.shape))


def viewed(memory, extents, strides, first):
    """Returns a view of memory, or a copy if a stride is negative."""
    return memory.as_strided(extents, strides, first) if min(strides) >= 0 else memory.flatten()[
        places(extents, strides, first)]


NAMES.update(elementwise=elementwise, reduce=reduce, viewed=viewed, functions=FUNCTIONS, reductions=REDUCTIONS,
             functools=functools, copy=lambda x, out: out.copy_(torch.as_tensor(x)))


# --- Layers, from the configuration and the weights of a Part ---


def linear(tree, x):
    return x @ tree["weight"] + (tree["bias"] if "bias" in tree else 0.0)


def norm(tree, x):
    if "bias" in tree:
        return functional.layer_norm(x, x.shape[-1:], tree["weight"][0], tree["bias"][0], tree["epsilon"])
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + tree["epsilon"]) * tree["weight"]


def convolution(rank, config, tree, x, mask):
    def spread(name):
        size = config.get(name, 1)
        return size if isinstance(size, tuple) else (size,) * rank
    image = x.unflatten(-1, (-1, config["in"])) if x.dim() == rank == 2 else x
    weight = tree["weight"].view(*spread("kernel"), -1, config["out"]).permute(rank + 1, rank, *range(rank))
    out = getattr(functional, f"conv{rank}d")(
        image.movedim(-1, -rank - 1), weight, tree["bias"].flatten() if "bias" in tree else None,
        *map(spread, ("stride", "padding", "dilation")), config.get("groups", 1))
    return out.movedim(-rank - 1, -1)


def attention(config, tree, query, key, value, mask, weights=None):
    def heads(role, x):
        return linear(tree[role], x).unflatten(-1, (config["num_heads"], -1)).transpose(-2, -3)
    mask = Mask(mask.tensor, mask.causal or config["causal"])
    query, key, value = map(heads, INPUTS, (query, key, value))
    if weights is not None:
        weights.copy_(weights_of(query, key, mask).reshape(weights.shape))
    context = attend(query, key, value, mask)
    return linear(tree["out_proj"], context.transpose(-2, -3).flatten(-2))


def block(config, tree, x, mask, memory=None, memory_mask=None):
    def feed_forward(x):
        activate = COMPUTED[config["feed_forward"]["activation"].rpartition(":")[2]]
        return linear(tree["feed_forward"]["down"], activate(linear(tree["feed_forward"]["up"], x)))
    parts = {"attention": lambda x: attention(config["attention"], tree["attention"], x, x, x, mask),
             "cross_attention": lambda x: attention(
                 config["cross_attention"], tree["cross_attention"], x, memory, memory, memory_mask),
             "feed_forward": feed_forward}
    for name in [name for name in parts if name in tree]:
        norm_of_part = functools.partial(norm, tree[f"{name}_norm"])
        x = x + parts[name](norm_of_part(x)) if config["norm_first"] else norm_of_part(x + parts[name](x))
    return x


def transformer(config, tree, x, mask, *source):
    for each in tree["blocks"]:
        x = block(config["block"], each, x, mask, *source)
    return norm(tree["final_norm"], x) if tree["final_norm"] else x


RECURRENT = {"Gru": torch.gru_cell, "Lstm": torch.lstm_cell}


def recur(cell, tree, x, state, *out):
    """Reads tokens, and goes on from a state, by torch.gru_cell or torch.lstm_cell."""
    products = tree["input"], tree["recurrent"]
    weights = [part["weight"].T for part in products] + [part["bias"][0] for part in products if "bias" in part]
    rows = torch.atleast_2d(state)
    for i, token in enumerate(torch.atleast_2d(x).split(1)):
        last = rows.split(1) if len(rows) == 2 else rows
        rows.copy_(torch.cat([*cell(token, last, *weights)]).view_as(rows))
        for each in out:
            torch.atleast_2d(each)[i] = rows[0]


LAYERS = {
    **{f"Conv{rank}d": functools.partial(convolution, rank) for rank in (1, 2)},
    **dict.fromkeys(("LayerNorm", "RmsNorm"), lambda config, tree, x, mask: norm(tree, x)),
    "Linear": lambda config, tree, x, mask: linear(tree, x), "TransformerBlock": block, "Transformer": transformer,
    "Embedding": lambda config, tree, x, mask: tree["weight"][x], "MultiHeadAttention": attention,
    "TransformerDecoder": lambda config, tree, x, memory, mask, memory_mask=Mask(): transformer(
        config, tree, x, mask, memory, memory_mask)}


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

    def forward(self, *arguments, **weights):
        tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
        if self.kind in RECURRENT:
            return recur(RECURRENT[self.kind], self.tree, *tensors)
        *inputs, out = tensors
        inputs *= 3 if self.kind == "MultiHeadAttention" and len(inputs) == 1 else 1
        masks = [argument for argument in arguments if isinstance(argument, Mask)] or [Mask()]
        out.copy_(LAYERS[self.kind](self.config, self.tree, *inputs, *masks, **weights).reshape(out.shape))

    def forward_with_weights(self, *arguments):
        *others, weights, workspace = arguments
        self.forward(*others, workspace, weights=weights)


class Memory:
    """Runs the steps of a Lowering on an input, in float32 or in double."""

    @torch.no_grad()
    def __init__(self, low, inputs, examples, type):
        self.type, self.objects, parts = type, {}, low.members.finished
        self.paths = [*low.members.requests]  # not in the text: they may have words of C++
        self.names = {**NAMES, "layers": [Evaluated(parts[path], type) for path in low.members.requests]}
        self.names.update({name: members for name, _, members in low.members.configs.values()})
        for mask in low.members.masks:
            tensor = mask.tensor.to(type) if mask.tensor.dtype.is_floating_point else mask.tensor
            is_tensor = mask.type.startswith("tinyattn::Tensor")
            self.names[mask.name] = tensor if is_tensor else [*map(Mask, tensor)] if mask.is_array else Mask(tensor)
        for object, tensor in low.members.objects.values():
            self.at(object).copy_(tensors_of(part_of_tensor(object, tensor).tree, type).view(object.extents))
        for x, example in zip(inputs, examples):
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
            return f"layers[{self.paths.index(part.path)}]" if isinstance(part, Layer) else "None"
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
