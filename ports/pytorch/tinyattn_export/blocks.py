# SPDX-License-Identifier: MIT
"""Reads the blocks of a transformer: each has an attention layer and a feed-forward part, both with a norm, under the
names of a layout."""
import dataclasses

from . import layouts
from .errors import ExportError, listing, printable
from .layouts import INPUTS
from .parts import fill_biases, source
from .reader import place_of
from .storage import Storage

# Maps each flag of the configuration to the Linear layers whose biases it switches.
NORMS = ("attention_norm", "feed_forward_norm", "query_norm", "key_norm")
SHARED_BIASES = {"qkv_bias": INPUTS, "out_bias": ("out_proj",), "bias": ("up", "gate", "down")}


@dataclasses.dataclass(frozen=True)
class Names:
    """What a layout calls the parts of a block, after the block's prefix. layouts.py has the names within the attention
    layer."""

    attention: str
    attention_norm: str
    feed_forward_norm: str
    up: str
    down: str
    gate: str = ""
    query_norm: str = ""
    key_norm: str = ""
    layout: object = None  # of the attention layer, if layouts.py has not its names
    by_head: bool = False  # in one weight, the query, key and value of each head follow one another


@dataclasses.dataclass
class Style(Storage):
    """Settings of a block that its tensors do not tell."""

    num_heads: int
    context_length: int
    activation: str
    epsilon: float
    causal: bool = True
    normalization: str = "layer"
    norm_first: bool = True
    rotary: str = "none"
    rotary_base: int = 10000
    weights: str = "f32"
    cache: str = "f32"
    window: int = None
    head_dim: int = None
    rotary_dim: int = None
    parallel: bool = False
    adds_one: bool = False  # norms multiply by 1 + weight
    embedding_scale: float = 1.0
    score_scale: float = 1.0  # besides 1 / sqrt(head_dim)


def style_of(given, **defaults):
    """Returns the Style of settings, {name: value}, of which None is not given."""
    names = {field.name for field in dataclasses.fields(Style)}
    return Style(**{**defaults, **{name: given[name] for name in names & given.keys() if given[name] is not None}})


@dataclasses.dataclass
class Block:
    linears: dict  # {member, such as query: its Linear}
    norms: dict  # {member: the tree of its weight, bias and epsilon}
    places: dict  # {member: a list of its Places}

    def tree(self):
        linears = {role: linear.tree() for role, linear in self.linears.items()}
        for role in ("query", "key"):
            if f"{role}_norm" in self.norms:
                linears[role] = {"linear": linears[role], "norm": self.norms[f"{role}_norm"]}
        gate = linears.get("gate")
        return {"attention_norm": self.norms["attention_norm"],
                "attention": {role: linears[role] for role in (*INPUTS, "out_proj")},
                "feed_forward_norm": self.norms["feed_forward_norm"],
                "feed_forward": {"up": linears["up"], "gate": gate, "down": linears["down"]}}

    def fold(self, style):
        """Folds into the weights what scales the embedding: features are kept divided by it, as are the outputs of both
        parts that are added to them; and what scales the scores."""
        scale = 1 / style.embedding_scale
        for part, role in (("attention", "out_proj"), ("feed_forward", "down")):
            self.norms[f"{part}_norm"] = without_scale(self.norms[f"{part}_norm"], style)
            self.linears[role] = self.linears[role].scaled(scale) if scale != 1 else self.linears[role]
        if style.score_scale != 1:
            self.linears["query"] = self.linears["query"].scaled(style.score_scale)
        return self


def without_scale(tree, style):
    """Returns a norm of features that are divided by the scale of the embedding: its epsilon is, by the square."""
    return {**tree, "epsilon": tree["epsilon"] / style.embedding_scale**2}


def head_width(d_model, style):
    if not style.head_dim and d_model % style.num_heads:
        raise ExportError(f"{d_model} features cannot be divided among {style.num_heads} heads")
    head_dim = style.head_dim or d_model // style.num_heads
    if style.rotary != "none" and (style.rotary_dim or head_dim) % 2:
        raise ExportError(f"{style.rotary_dim or f'heads of {head_dim}'} features have no rotary positions, which "
                          "rotate two at a time")
    if style.rotary_dim and style.rotary_dim > head_dim:
        raise ExportError(f"rotary_dim says {style.rotary_dim}, and heads have {head_dim} features")
    return head_dim


def places_of(reader, names, prefix, num_heads):
    """Returns {member: a list of its Places} of the Linear layers of a block. The feed-forward part is taken to be
    stored in x out, as in GPT-2, if the attention layer is."""
    start = prefix + names.attention
    layer = layouts.match(reader.tensors, names.layout, start) if names.layout else reader.attention(start)
    if not layer or not layer.out:
        raise ExportError(f"{printable(start)} has not the layout of {names.layout.title}: there are "
                          f"{listing(reader.tensors)}")
    if names.by_head:
        layer = dataclasses.replace(layer, inputs={role: [dataclasses.replace(place, heads=num_heads)]
                                                   for role, (place,) in layer.inputs.items()})
    stems = {"up": names.up, "gate": names.gate, "down": names.down}
    feed_forward = {role: [place_of(prefix + stem, layer.out.in_by_out)] for role, stem in stems.items() if stem}
    return {**layer.inputs, "out_proj": [layer.out], **feed_forward}


def block_at(reader, names, prefix, d_model, style, head_dim):
    places, width = places_of(reader, names, prefix, style.num_heads), style.num_heads * head_dim
    widths = {"query": (d_model, width), "key": (d_model, None), "value": (d_model, None),
              "out_proj": (width, d_model), "up": (d_model, None), "gate": (d_model, None), "down": (None, d_model)}
    linears = {role: reader.linear(place, *widths[role]) for role, (place,) in places.items()}
    for one, axis, other in (("value", 1, "key"), ("gate", 1, "up"), ("down", 0, "up")):
        if one in linears and linears[one].shape[axis] != linears[other].shape[1]:
            raise reader.tensors[places[one][0].weight].wrong_shape(
                f"{printable(places[other][0].weight)} has {linears[other].shape[1]} outputs")
    stems = {role: getattr(names, role) for role in NORMS if getattr(names, role)}
    norms = {role: reader.norm(prefix + stem, head_dim if role in ("query_norm", "key_norm") else d_model,
                               style.normalization, style.epsilon, style.adds_one) for role, stem in stems.items()}
    return Block(linears, norms, places).fold(style)


def flags_of(blocks):
    """Returns the flags of SHARED_BIASES, and remarks. A flag is true if any of its Linear layers, in any block, has a
    bias; the remark names those that get one of zeros."""
    flags, names = {}, []
    for flag, roles in SHARED_BIASES.items():
        linears = {f"{role} of block {i}": block.linears[role]
                   for i, block in enumerate(blocks) for role in roles if role in block.linears}
        names += fill_biases(linears)
        flags[flag] = all(linear.bias is not None for linear in linears.values())
    first = ", ".join(names[:3]) + (" and more" if len(names) > 3 else "")
    return flags, [f"{first} without a bias: filled with zeros"] if names else []


@dataclasses.dataclass
class Blocks:
    """The blocks of a transformer in their order, all of the same shape."""

    trees: tuple
    config: dict  # the members of BlockConfig
    flags: dict
    num_kv_heads: int
    head_dim: int
    d_hidden: int
    gated: bool
    sources: dict  # of the first block: {member: the tensors that it is made of, in words}
    remarks: list

    def transformer(self, final_norm):
        """Returns the members of the TransformerConfig of these blocks."""
        return {"block": self.config, "num_layers": len(self.trees), "final_norm": final_norm}


def config_of(block, style, d_model, num_kv_heads, flags):
    attention = {"d_in": d_model, "d_out": d_model, "context_length": style.context_length,
                 "num_heads": style.num_heads, "causal": style.causal, "qkv_bias": flags["qkv_bias"],
                 "out_bias": flags["out_bias"]}
    if num_kv_heads != style.num_heads:
        attention["num_kv_heads"] = num_kv_heads
    if style.rotary != "none":
        attention.update(rotary=f"::tinyattn::Rotary::{style.rotary}", rotary_base=style.rotary_base)
    more = {"head_dim": style.head_dim if style.head_dim != d_model / style.num_heads else None,
            "rotary_dim": style.rotary_dim, "qk_norm": "query_norm" in block.norms}
    feed_forward = {"d_model": d_model, "d_hidden": block.linears["up"].shape[1],
                    "activation": f"::tinyattn::Activation::{style.activation}", "gated": "gate" in block.linears,
                    "bias": flags["bias"]}
    attention = {**style.with_storage(attention), **{name: value for name, value in more.items() if value}}
    return {"attention": attention, "feed_forward": style.with_weights(feed_forward),
            "normalization": f"::tinyattn::Normalization::{style.normalization}", "norm_first": style.norm_first,
            **({"parallel": True} if style.parallel else {})}


def check_alike(reader, blocks):
    shapes = {role: linear.shape for role, linear in blocks[0].linears.items()}
    for block in blocks:
        for role, linear in block.linears.items():
            if linear.shape != shapes[role]:
                weight = reader.tensors[block.places[role][0].weight]
                raise weight.wrong_shape("it differs from that of the first block")


def blocks_at(reader, names, prefixes, d_model, style):
    head_dim = head_width(d_model, style)
    blocks = [block_at(reader, names, prefix, d_model, style, head_dim) for prefix in prefixes]
    check_alike(reader, blocks)
    first = blocks[0]
    kv_width = first.linears["key"].shape[1]
    num_kv_heads = kv_width // head_dim
    if kv_width % head_dim or style.num_heads % num_kv_heads:
        raise ExportError(
            f"{printable(first.places['key'][0].weight)} has {kv_width} outputs, which are no heads of {head_dim} "
            f"features that {style.num_heads} heads of queries can share evenly")
    flags, remarks = flags_of(blocks)
    sources = {f"{role} of the first block": source(reader.tensors, places) for role, places in first.places.items()}
    return Blocks(tuple(block.tree() for block in blocks), config_of(first, style, d_model, num_kv_heads, flags), flags,
                  num_kv_heads, head_dim, first.linears["up"].shape[1], "gate" in first.linears, sources, remarks)
