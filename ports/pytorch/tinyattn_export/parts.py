# SPDX-License-Identifier: MIT
"""What a header can hold: an attention layer, a Linear layer, a tensor. The method `part` of a request makes a Part
of the tensors of a file. Whole models are in language_models.py and encoders.py.
"""
import array
import dataclasses
import struct

from . import layouts, matrices, unused
from .errors import ExportError, printable
from .layouts import INPUTS, Place
from .safetensors import extents
from .storage import Request, RequestOfLayers


def leaves(tree):
    return (leaf for _, leaf in matrices.leaves(tree))


def content(leaf):
    """Returns the bytes of a leaf in the memory of the target, where floats are little-endian."""
    if isinstance(leaf, matrices.StoredMatrix):
        return leaf.content
    rows = [(leaf,)] if isinstance(leaf, float) else leaf
    return b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)


@dataclasses.dataclass(frozen=True)
class Part:
    """One object of a header, of any type: its numbers and its description."""

    type: str  # its type in C++
    header: str  # the header of tinyattn that declares the type
    tree: object  # members in order: a dict or a tuple of trees, a leaf (see `leaves`), or None, which is empty
    summary: str = ""
    sources: dict = dataclasses.field(default_factory=dict)  # {member: the tensors that it is made of, in words}
    consumed: set = frozenset()  # the names of all tensors that it is made of
    remarks: list = dataclasses.field(default_factory=list)
    surroundings: object = None  # its `reasons` returns which unused tensors may be left out, and why
    vocabulary: int = None  # the number of tokens of a language model
    config: dict = None  # the members of its type's configuration in C++

    def content(self):
        """Returns its bytes in the memory of the target."""
        return b"".join(map(content, leaves(self.tree)))

    def matrices(self):
        """Returns (its members, the matrix) for each one that is not of floats."""
        return [(path, leaf) for path, leaf in matrices.leaves(self.tree) if isinstance(leaf, matrices.StoredMatrix)]

    @property
    def parameter_count(self):
        """The number of weights and biases. A single number, such as an epsilon, is none, nor is a scale."""
        return self.size_of_floats // 4 - sum(isinstance(leaf, float) for leaf in leaves(self.tree))

    @property
    def size_of_floats(self):
        """The size in bytes if all weights were floats."""
        def size(leaf):
            if isinstance(leaf, matrices.StoredMatrix):
                return 4 * leaf.parameter_count
            return 4 if isinstance(leaf, float) else 4 * sum(map(len, leaf))
        return sum(map(size, leaves(self.tree)))

    @property
    def size(self):
        """The size in bytes. There is no padding but that of the rows of codes."""
        return self.size_of_floats + sum(len(leaf.content) - 4 * leaf.parameter_count for _, leaf in self.matrices())


@dataclasses.dataclass
class Linear:
    """The values of a Linear layer, in the order of tinyattn's Linear."""

    rows: list  # of the weight, which is in x out: each row is an array
    bias: array.array = None

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])

    def scaled(self, factor):
        """Returns the Linear whose outputs are multiplied by a factor."""
        return Linear([scaled(row, factor) for row in self.rows], self.bias and scaled(self.bias, factor))

    def tree(self):
        return {"weight": self.rows} if self.bias is None else {"weight": self.rows, "bias": [self.bias]}


def linear_at(tensors, place):
    weight, bias = tensors[place.weight], tensors.get(place.bias)
    if len(weight.shape) != 2 or 0 in weight.shape:
        raise weight.wrong_shape("a weight has two dimensions, neither zero")
    outputs, inputs = reversed(weight.shape) if place.in_by_out else weight.shape
    if outputs % (place.groups * place.heads):
        raise weight.wrong_shape(f"{outputs} outputs are not three of one width")
    values, width = weight.values(), outputs // (place.groups * place.heads)
    begins = [(head * place.groups + place.group) * width for head in range(place.heads)]

    def own(row):
        return array.array("f", b"".join(row[begin:begin + width] for begin in begins))
    rows = [own(values[i * outputs:(i + 1) * outputs] if place.in_by_out else values[i::inputs]) for i in range(inputs)]
    if bias is not None and bias.shape != (outputs,):
        raise bias.wrong_shape(f"{printable(place.weight)} has {outputs} outputs")
    return Linear(rows, None if bias is None else own(bias.values()))


def scaled(row, factor):
    return array.array("f", (value * factor for value in row))


def zeros(count):
    return array.array("f", bytes(4 * count))


def concatenated(heads):
    """Returns one Linear that has the outputs of several, one after the other."""
    shapes = {extents(head.shape) for head in heads}
    if len(shapes) > 1:
        raise ExportError(f"the heads have different shapes: {', '.join(sorted(shapes))}")
    rows = [array.array("f", b"".join(rows)) for rows in zip(*(head.rows for head in heads))]
    if all(head.bias is None for head in heads):
        return Linear(rows)
    biases = (zeros(head.shape[1]) if head.bias is None else head.bias for head in heads)
    return Linear(rows, array.array("f", b"".join(biases)))


def flag(value):
    return "true" if value else "false"


def initializer(value):
    """Returns the initializer of a value in C++; that of a dict is {.d_in = 3, .causal = true, .block = {...}}."""
    if isinstance(value, dict):
        return "{" + ", ".join(f".{name} = {initializer(member)}" for name, member in value.items()) + "}"
    if isinstance(value, tuple):
        return "{" + ", ".join(map(initializer, value)) + "}"
    return flag(value) if isinstance(value, bool) else str(value)


def with_or_without(bias):
    return "without" if bias is None else "with"


def source(tensors, places):
    """Returns the tensors that a Linear layer is made of, in words."""
    texts = []
    for place in places:
        group = f", part {place.group + 1} of {place.groups}" if place.groups > 1 else ""
        stored = ", stored in x out" if place.in_by_out else ""
        bias = f" and {tensors[place.bias]}" if place.bias in tensors else ""
        texts.append(f"{tensors[place.weight]}{stored}{group}{bias}")
    return "; ".join(texts)


def layout_remark(title, start):
    return f"layout: {title}" + (f", at {printable(start)}" if start else "")


def fill_biases(linears):
    """Gives a bias of zeros, which changes no result, to each of {name: Linear} that has none, if another has one.
    Returns their names."""
    without = [name for name, linear in linears.items() if linear.bias is None]
    filled = without if len(without) < len(linears) else []
    for name in filled:
        linears[name].bias = zeros(linears[name].shape[1])
    return filled


@dataclasses.dataclass
class AttentionRequest(RequestOfLayers):
    """Asks for a MultiHeadAttention."""

    causal: bool = None
    mapping: dict = None  # names the tensors of a layout that is not known
    needed = ("num_heads", "context_length", "causal")
    one_width = True  # of the inputs of queries, keys and values

    def part(self, tensors):
        layer = layouts.find(tensors, self.prefix, self.mapping)
        inputs = {role: concatenated([linear_at(tensors, place) for place in layer.inputs[role]]) for role in INPUTS}
        out = linear_at(tensors, layer.out) if layer.out else None
        self.check(layer, inputs, out)
        filled = " and ".join(fill_biases(inputs))
        fills = [f"{filled} without a bias: filled with zeros, since others have one"] if filled else []
        linears = {**inputs, "out_proj": out} if out else inputs
        places = {**layer.inputs, "out_proj": [layer.out]}
        self.check_context(inputs["query"].shape[1])
        tree, config = {role: linear.tree() for role, linear in linears.items()}, self.config(inputs, out)
        return Part(
            f"::tinyattn::MultiHeadAttention<::tinyattn::AttentionConfig{initializer(config)}>",
            "tinyattn/multi_head_attention.hpp", self.stored(tree), self.summary(inputs, out),
            {role: source(tensors, places[role]) for role in linears},
            layouts.names_in(layer.places()), [layout_remark(layer.title, layer.prefix), *fills],
            unused.AroundLayer(tensors, layer, self.ignore), config=config)

    def check(self, layer, inputs, out):
        if self.one_width and len({linear.shape for linear in inputs.values()}) > 1:
            shapes = ", ".join(f"{printable(layer.inputs[role][0].weight)} gives {extents(linear.shape)}"
                               for role, linear in inputs.items())
            raise ExportError(f"query, key and value must have the same shape, in x out, and {shapes}")
        width = inputs["query"].shape[1]
        if layer.heads not in (0, self.num_heads):
            heads = f"{layer.heads} stacked head{'s' * (layer.heads > 1)}"
            raise ExportError(f"the file has {heads}, not {self.num_heads}")
        if width % self.num_heads:
            raise ExportError(f"{width} outputs cannot be divided among {self.num_heads} heads")
        if out and out.shape != (width, width):
            raise ExportError(
                f"{printable(layer.out.weight)} has the wrong shape, {extents(out.shape)} in x out: the heads have "
                f"{width} outputs together, and their projection is {width} x {width}")

    def config(self, inputs, out):
        d_in, d_out = inputs["query"].shape
        config = {"d_in": d_in, "d_out": d_out, "context_length": self.context_length, "num_heads": self.num_heads,
                  "causal": self.causal, "qkv_bias": inputs["query"].bias is not None, "out_proj": out is not None,
                  "out_bias": out is not None and out.bias is not None}
        others = {f"d_{role}": inputs[role].shape[0] for role in ("key", "value") if inputs[role].shape[0] != d_in}
        return {**self.with_storage(config), **others}

    def summary(self, inputs, out):
        d_in, d_out = inputs["query"].shape
        projection = f"an output projection {with_or_without(out.bias)} bias" if out else "no output projection"
        return (f"attention, {d_in} features to {d_out}, {self.num_heads} "
                f"{'head' if self.num_heads == 1 else 'heads'}, {'causal' if self.causal else 'not causal'}, at most "
                f"{self.context_length} tokens, queries, keys and values {with_or_without(inputs['query'].bias)} bias, "
                f"{projection}{self.in_words()}")


def place_at(tensors, prefix, what, in_by_out=False):
    """Returns the Place of the weight, and perhaps the bias, at a prefix, which may lack its last dot."""
    start = next((start for start in (prefix, prefix + ".") if start + "weight" in tensors), None)
    if start is None:
        raise ExportError(f"there is no {printable(prefix.rstrip('.') + '.weight')}, the weight of a {what}")
    return Place(start + "weight", start + "bias", in_by_out)


@dataclasses.dataclass
class LinearRequest(Request):
    """Asks for a Linear from prefix.weight and, if there is one, prefix.bias."""

    prefix: str
    transposed: bool = False  # the file stores in x out
    weights: str = "f32"

    def part(self, tensors):
        place = place_at(tensors, self.prefix, "Linear layer", self.transposed)
        linear = linear_at(tensors, place)
        d_in, d_out = linear.shape
        return Part(
            f"::tinyattn::Linear<{d_in}, {d_out}, {flag(linear.bias is not None)}{self.last_argument()}>",
            "tinyattn/linear.hpp", self.stored(linear.tree(), "linear"),
            f"Linear, {d_in} features to {d_out}, {with_or_without(linear.bias)} bias{self.in_words()}",
            {"linear": source(tensors, [place])}, layouts.names_in([place]))


@dataclasses.dataclass
class TensorRequest(Request):
    """Asks for a Tensor with the extents that it has in the file."""

    name: str

    def part(self, tensors):
        if self.name not in tensors:
            raise ExportError(f"there is no {printable(self.name)}")
        tensor = tensors[self.name]
        shape = tensor.shape or (1,)
        if 0 in shape:
            raise ExportError(f"{printable(self.name)} is {extents(shape)}: an extent must not be zero")
        return Part(f"::tinyattn::Tensor<float, {', '.join(map(str, shape))}>", "tinyattn/tensor.hpp", tensor.rows(),
                    f"tensor, {extents(shape)}", {"tensor": str(tensor)}, {self.name})
