# SPDX-License-Identifier: MIT
"""The names under which attention layers are stored, and where each role of a layer is found among them."""
import dataclasses
import re

INPUTS = ("query", "key", "value")


@dataclasses.dataclass(frozen=True)
class Layout:
    """Names behind a layer's prefix: a stem, then .weight or .bias."""

    title: str
    inputs: tuple  # the stems of query, key and value; or one stem for all three
    outs: tuple  # what the output projection may be called
    needs_out: bool = True
    weight: str = ".weight"
    bias: str = ".bias"
    in_by_out: bool = False  # torch.nn.Linear stores out x in

    def weights(self, prefix):
        return [prefix + stem + self.weight for stem in self.inputs]


LAYOUTS = (
    Layout("W_query, W_key, W_value, out_proj", ("W_query", "W_key", "W_value"), ("out_proj",), needs_out=False),
    Layout("parameters W_query, W_key, W_value, as in x @ W", ("W_query", "W_key", "W_value"), ("out_proj",), needs_out=False, weight="",
           in_by_out=True),
    Layout("wq, wk, wv, wo", ("wq", "wk", "wv"), ("wo",), needs_out=False),
    Layout("q_proj, k_proj, v_proj, out_proj or o_proj", ("q_proj", "k_proj", "v_proj"), ("out_proj", "o_proj")),
    Layout("query, key, value, and out_proj, out or proj", ("query", "key", "value"), ("out_proj", "out", "proj"), needs_out=False),
    Layout("q_lin, k_lin, v_lin, out_lin", ("q_lin", "k_lin", "v_lin"), ("out_lin",)),
    Layout("to_q, to_k, to_v, to_out", ("to_q", "to_k", "to_v"), ("to_out.0", "to_out")),
    Layout("torch.nn.MultiheadAttention", ("in_proj",), ("out_proj",), weight="_weight", bias="_bias"),
    Layout("c_attn and c_proj", ("c_attn",), ("c_proj",)),
    Layout("qkv and proj", ("qkv",), ("proj",)),
)
OUTS_OF_STACKED_HEADS = ("out_proj", "proj")


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a role has its matrix: one of `blocks` equal groups of the outputs of a weight, and of its bias if that is there."""

    weight: str
    bias: str
    in_by_out: bool = False
    block: int = 0
    blocks: int = 1


@dataclasses.dataclass(frozen=True)
class Found:
    """A layer. Each input has a Place for each of its stacked heads: mostly one. `absent` names what might be there and is not."""

    prefix: str
    title: str
    inputs: dict
    out: Place = None
    absent: frozenset = frozenset()

    def places(self):
        return [place for places in self.inputs.values() for place in places] + ([self.out] if self.out else [])

    def names(self):
        return {name for place in self.places() for name in (place.weight, place.bias)}


def stored_in_by_out(tensors, layout, prefix, out):
    """Whether c_attn is GPT-2's Conv1D, as in OpenAI's and Hugging Face's files, or a Linear layer: its shape says so."""
    if layout.inputs != ("c_attn",):
        return layout.in_by_out
    rows = tensors[layout.weights(prefix)[0]].shape[0:1]
    width = tensors[out].shape[0:1] if out in tensors else ()
    return not (rows and width and rows[0] == 3 * width[0])


def absent_of(tensors, places, out_names):
    names = {name for place in places for name in (place.weight, place.bias)} | set(out_names)
    return frozenset(names - tensors.keys())


def match(tensors, layout, prefix):
    """The layer at `prefix` if it is stored in this layout."""
    weights = layout.weights(prefix)
    if any(weight not in tensors for weight in weights):
        return None
    outs = [prefix + stem for stem in layout.outs]
    out = next((stem for stem in outs if stem + ".weight" in tensors), None)
    in_by_out = stored_in_by_out(tensors, layout, prefix, f"{out}.weight")
    biases = [prefix + stem + layout.bias for stem in layout.inputs]
    blocks = 3 // len(weights)
    inputs = {role: [Place(weights[i // blocks], biases[i // blocks], in_by_out, i % blocks, blocks)] for i, role in enumerate(INPUTS)}
    out_place = Place(out + ".weight", out + ".bias", in_by_out and layout.weight != "") if out else None
    maybe_outs = [] if out else [stem + ending for stem in outs for ending in (".weight", ".bias")]
    places = [place[0] for place in inputs.values()] + ([out_place] if out else [])
    return Found(prefix, layout.title, inputs, out_place, absent_of(tensors, places, maybe_outs))


def match_any(tensors, prefix):
    found = (match(tensors, layout, prefix) for layout in LAYOUTS)
    return next((layer for layer in found if layer), None)


def match_stacked_heads(tensors, prefix):
    """Heads side by side, each a layer of its own under heads.0, heads.1 and so on: they are the columns of one layer."""
    heads = []
    while (head := match_any(tensors, f"{prefix}heads.{len(heads)}.")) is not None and head.out is None:
        heads.append(head)
    if not heads:
        return None
    inputs = {role: [head.inputs[role][0] for head in heads] for role in INPUTS}
    outs = [prefix + stem for stem in OUTS_OF_STACKED_HEADS]
    out = next((Place(stem + ".weight", stem + ".bias") for stem in outs if stem + ".weight" in tensors), None)
    absent = absent_of(tensors, [out] if out else [], [] if out else [stem + ".weight" for stem in outs])
    return Found(prefix, f"stacked heads, each {heads[0].title}", inputs, out, absent.union(*(head.absent for head in heads)))


def find_at(tensors, prefix):
    """The layer whose names begin with exactly this prefix, or None."""
    return match_any(tensors, prefix) or match_stacked_heads(tensors, prefix)


def prefixes(tensors):
    """Of all layers in a file, in its order."""
    found = {}
    for name in tensors:
        for layout in LAYOUTS:
            weight = layout.weights("")[0]
            prefix = name[:-len(weight)]
            if name.endswith(weight) and (not prefix or prefix.endswith(".")) and find_at(tensors, prefix):
                found[re.sub(r"(^|\.)heads\.\d+\.$", r"\1", prefix)] = True
    return list(found)


def incomplete(tensors, prefix):
    """Names that would complete a layer of which something is there."""
    present = {layout: [weight in tensors for weight in layout.weights(prefix)] for layout in LAYOUTS}
    return [weight for layout in LAYOUTS if any(present[layout]) for weight in layout.weights(prefix) if weight not in tensors]
