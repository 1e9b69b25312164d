# SPDX-License-Identifier: MIT
"""What a header can hold: an attention layer, a Linear layer, a tensor. `attention`, `linear` and `tensor` ask for one, and give a
function that takes it out of a file's weights. Whole models are in language_models.py and encoders.py.
"""
import array
import dataclasses
import functools

from . import layouts, leftovers
from .layouts import INPUTS, Place
from .refusal import Refusal, shown
from .safetensors import extents
from .settings import LARGEST_COUNT, check_context, require


def rows_of(tree):
    if isinstance(tree, list):
        return tree
    if isinstance(tree, float):
        return [(tree,)]
    members = tree.values() if isinstance(tree, dict) else tree or ()
    return [row for member in members for row in rows_of(member)]


@dataclasses.dataclass(frozen=True)
class Part:
    """One object of a header, whatever its type: its numbers, and what is said of it."""

    type: str  # in C++
    header: str  # of tinyattn, that has the type
    tree: object  # members in the order of the type: a dict of trees, a tuple of them, a list of rows, a number, or None, which is empty
    summary: str
    sources: dict  # what each member is made of
    taken: set  # the names of all tensors that it is made of
    remarks: list = dataclasses.field(default_factory=list)
    left_out: object = lambda taken: {}  # why, by the name of a tensor that stands beside those and beside `taken` by other parts

    def rows(self):
        """All numbers, in the order in which they lie in memory; what is no parameter is a tuple."""
        return rows_of(self.tree)

    @property
    def parameter_count(self):
        return sum(len(row) for row in self.rows() if not isinstance(row, tuple))

    @property
    def size(self):
        """In bytes: there is no padding."""
        return 4 * sum(map(len, self.rows()))


@dataclasses.dataclass
class Linear:
    """Values as tinyattn's Linear has them."""

    rows: list  # of the weight: one for each input, with a column for each output
    bias: array.array = None

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])

    def tree(self):
        return {"weight": self.rows} if self.bias is None else {"weight": self.rows, "bias": [self.bias]}


def linear_at(tensors, place):
    weight, bias = tensors[place.weight], tensors.get(place.bias)
    if len(weight.shape) != 2 or 0 in weight.shape:
        raise weight.wrong_shape("a weight has two dimensions, neither zero")
    outputs, inputs = reversed(weight.shape) if place.in_by_out else weight.shape
    if outputs % place.blocks:
        raise weight.wrong_shape(f"{outputs} outputs are not three of one width")
    values, width = weight.values(), outputs // place.blocks
    begin, end = place.block * width, (place.block + 1) * width
    if place.in_by_out:
        rows = [values[i * outputs + begin:i * outputs + end] for i in range(inputs)]
    else:
        block = values[begin * inputs:end * inputs]
        rows = [block[i::inputs] for i in range(inputs)]
    if bias is not None and bias.shape != (outputs,):
        raise bias.wrong_shape(f"{shown(place.weight)} has {outputs} outputs")
    return Linear(rows, None if bias is None else bias.values()[begin:end])


def zeros(count):
    return array.array("f", bytes(4 * count))


def side_by_side(heads):
    """The outputs of several Linear layers as those of one."""
    shapes = {extents(head.shape) for head in heads}
    if len(shapes) > 1:
        raise Refusal(f"the heads have different shapes: {', '.join(sorted(shapes))}")
    rows = [array.array("f", b"".join(rows)) for rows in zip(*(head.rows for head in heads))]
    if all(head.bias is None for head in heads):
        return Linear(rows)
    return Linear(rows, array.array("f", b"".join(zeros(head.shape[1]) if head.bias is None else head.bias for head in heads)))


def flag(value):
    return "true" if value else "false"


def initializer(fields):
    """An aggregate in C++: {.d_in = 3, .causal = true, .block = {...}}."""
    def text(value):
        return initializer(value) if isinstance(value, dict) else flag(value) if isinstance(value, bool) else str(value)
    return "{" + ", ".join(f".{name} = {text(value)}" for name, value in fields.items()) + "}"


def with_or_without(bias):
    return "without" if bias is None else "with"


def source(tensors, places):
    """What a Linear layer is made of, for people."""
    said = []
    for place in places:
        block = f", part {place.block + 1} of {place.blocks}" if place.blocks > 1 else ""
        stored = ", stored in x out" if place.in_by_out else ""
        said.append(f"{tensors[place.weight]}{stored}{block}" + (f" and {tensors[place.bias]}" if place.bias in tensors else ""))
    return "; ".join(said)


def check_attention(found, inputs, out, num_heads):
    if len({linear.shape for linear in inputs.values()}) > 1:
        said = ", ".join(f"{shown(found.inputs[role][0].weight)} gives {extents(linear.shape)}" for role, linear in inputs.items())
        raise Refusal(f"query, key and value must have the same shape, in x out, and {said}")
    width = inputs["query"].shape[1]
    if found.heads not in (0, num_heads):
        raise Refusal(f"the file has {found.heads} stacked head{'s' * (found.heads > 1)}, not {num_heads}")
    if width % num_heads:
        raise Refusal(f"{width} outputs cannot be divided among {num_heads} heads")
    if out and out.shape != (width, width):
        raise Refusal(f"{shown(found.out.weight)} has the wrong shape, {extents(out.shape)} in x out: the heads have {width} outputs "
                      f"together, and their projection is {width} x {width}")


def fill_biases(inputs):
    """All three have a bias, or none. A bias of zeros changes nothing."""
    without = [role for role, linear in inputs.items() if linear.bias is None]
    if len(without) in (0, len(inputs)):
        return []
    for role in without:
        inputs[role].bias = zeros(inputs[role].shape[1])
    return [f"{' and '.join(without)} without a bias: filled with zeros, since others have one"]


def attention(prefix="", *, num_heads=None, context_length=None, causal=None, mapping=None, ignore=()):
    """A MultiHeadAttention. `mapping` names tensors of a layout that is not known, `ignore` those that may be left out."""
    require(num_heads=num_heads, context_length=context_length, causal=causal)
    for name, value in (("num_heads", num_heads), ("context_length", context_length)):
        if type(value) is not int or not 0 < value <= LARGEST_COUNT:
            raise Refusal(f"{name} must be a number from 1 to {LARGEST_COUNT}")
    if type(causal) is not bool:
        raise Refusal("causal must be true or false")

    def part(tensors):
        found = layouts.find(tensors, prefix, mapping)
        inputs = {role: side_by_side([linear_at(tensors, place) for place in found.inputs[role]]) for role in INPUTS}
        out = linear_at(tensors, found.out) if found.out else None
        check_attention(found, inputs, out, num_heads)
        filled = fill_biases(inputs)
        d_in, d_out = inputs["query"].shape
        check_context(context_length, d_out)
        bias = inputs["query"].bias
        linears = {**inputs, "out_proj": out} if out else inputs
        places = {**found.inputs, "out_proj": [found.out]}
        config = {"d_in": d_in, "d_out": d_out, "context_length": context_length, "num_heads": num_heads, "causal": causal,
                  "qkv_bias": bias is not None, "out_proj": out is not None, "out_bias": out is not None and out.bias is not None}
        return Part(
            f"::tinyattn::MultiHeadAttention<::tinyattn::AttentionConfig{initializer(config)}>",
            "tinyattn/multi_head_attention.hpp",
            {role: linear.tree() for role, linear in linears.items()},
            f"attention, {d_in} features to {d_out}, {num_heads} {'head' if num_heads == 1 else 'heads'}, "
            f"{'causal' if causal else 'not causal'}, at most {context_length} tokens, queries, keys and values "
            f"{with_or_without(bias)} bias, "
            + (f"an output projection {with_or_without(out.bias)} bias" if out else "no output projection"),
            {role: source(tensors, places[role]) for role in linears}, layouts.names_of(found.places()),
            [f"layout: {found.title}" + (f", at {shown(found.prefix)}" if found.prefix else ""), *filled],
            functools.partial(leftovers.left_out, tensors, found, ignore))
    return part


def linear(prefix, transposed=False):
    """A Linear from prefix.weight and, if there is one, prefix.bias; transposed: the file stores in x out."""
    def part(tensors):
        start = next((start for start in (prefix, prefix + ".") if start + "weight" in tensors), None)
        if start is None:
            raise Refusal(f"there is no {shown(prefix.rstrip('.') + '.weight')}, the weight of a Linear layer")
        place = Place(start + "weight", start + "bias", transposed)
        made = linear_at(tensors, place)
        d_in, d_out = made.shape
        return Part(f"::tinyattn::Linear<{d_in}, {d_out}, {flag(made.bias is not None)}>", "tinyattn/linear.hpp", made.tree(),
                    f"Linear, {d_in} features to {d_out}, {with_or_without(made.bias)} bias", {"linear": source(tensors, [place])},
                    layouts.names_of([place]))
    return part


def tensor(name):
    """A Tensor with the extents that it has in the file."""
    def part(tensors):
        if name not in tensors:
            raise Refusal(f"there is no {shown(name)}")
        found = tensors[name]
        shape = found.shape or (1,)
        if 0 in shape:
            raise Refusal(f"{shown(name)} is {extents(shape)}: an extent must not be zero")
        values = found.values()
        rows = [values[first:first + shape[-1]] for first in range(0, len(values), shape[-1])]
        return Part(f"::tinyattn::Tensor<float, {', '.join(map(str, shape))}>", "tinyattn/tensor.hpp", rows, f"tensor, {extents(shape)}",
                    {"tensor": str(found)}, {name})
    return part
