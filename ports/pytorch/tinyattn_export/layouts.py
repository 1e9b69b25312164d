# SPDX-License-Identifier: MIT
"""The names under which attention layers are stored, and where each role of a layer is found among them."""
import dataclasses
import re

from .refusal import Refusal, listed, shown
from .tensors import extents

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
    """A layer. Each input has a Place for each of its stacked heads: mostly one."""

    prefix: str
    title: str
    inputs: dict
    out: Place = None
    needs: tuple = ()  # names for the output projection, if there is none and the layout cannot be without
    absent: frozenset = frozenset()  # names that might be there and are not
    heads: int = 0  # how many are stacked, 0 if they are groups of columns
    unclear: str = ""  # why the names and shapes do not say how the layer is stored

    def places(self):
        return [place for places in self.inputs.values() for place in places] + ([self.out] if self.out else [])

    def names(self):
        return {name for place in self.places() for name in (place.weight, place.bias)}


def is_conv1d(weight, out):
    """Whether c_attn is GPT-2's Conv1D, as in OpenAI's and Hugging Face's files, or a Linear layer; and what to do if no shape tells."""
    width = out.shape[0] if out and out.shape else min(weight.shape, default=0)
    linear, conv1d = (extent == 3 * width for extent in (*weight.shape, 0, 0)[:2])
    if linear != conv1d or out and not linear:
        return not linear, ""
    qkv, projection = shown(weight.name), shown(out.name) if out else "NAME"
    return True, (f"{qkv}, {extents(weight.shape)}, may be a Linear layer, which is stored out x in, or GPT-2's Conv1D, in x out: say "
                  f"--map qkv={qkv} out={projection} for the first, or qkv={qkv}.T out={projection}.T for the other")


def stored_in_by_out(tensors, layout, prefix, out):
    """Whether the layer is, and why that is not clear."""
    if layout.inputs == ("c_attn",):
        return is_conv1d(tensors[layout.weights(prefix)[0]], tensors.get(out))
    return layout.in_by_out, ""


def absent(tensors, *names):
    return frozenset(name for name in names if name not in tensors)


def match(tensors, layout, prefix):
    """The layer at `prefix` if it is stored in this layout."""
    weights = layout.weights(prefix)
    if any(weight not in tensors for weight in weights):
        return None
    stems = [prefix + stem for stem in layout.outs]
    out = next((stem for stem in stems if stem + ".weight" in tensors), None)
    in_by_out, unclear = stored_in_by_out(tensors, layout, prefix, f"{out}.weight")
    biases = [prefix + stem + layout.bias for stem in layout.inputs]
    blocks = 3 // len(weights)
    inputs = {role: [Place(weights[i // blocks], biases[i // blocks], in_by_out, i % blocks, blocks)] for i, role in enumerate(INPUTS)}
    if out:
        place = Place(out + ".weight", out + ".bias", in_by_out and layout.weight != "")
        return Found(prefix, layout.title, inputs, place, absent=absent(tensors, *biases, place.bias), unclear=unclear)
    outs = [stem + ending for stem in stems for ending in (".weight", ".bias")]
    needs = tuple(outs[::2]) if layout.needs_out else ()
    return Found(prefix, layout.title, inputs, None, needs, absent(tensors, *biases, *outs), unclear=unclear)


def match_any(tensors, prefix):
    found = (match(tensors, layout, prefix) for layout in LAYOUTS)
    return next((layer for layer in found if layer), None)


def match_stacked_heads(tensors, prefix):
    """Heads side by side, each a layer of its own under heads.0, heads.1 and so on: they are the columns of one layer."""
    pattern = re.compile(re.escape(prefix) + r"heads\.(\d+)\.")
    numbers = {number[1] for number in map(pattern.match, tensors) if number}
    heads = {number: match_any(tensors, f"{prefix}heads.{number}.") for number in numbers}
    if not any(heads.values()):
        return None
    whole = [heads.get(str(i)) for i in range(len(heads))]
    if not all(whole) or any(head.out for head in whole):
        raise Refusal(f"the heads {listed(sorted(f'{prefix}heads.{number}' for number in heads))} are not all there, or not alike")
    inputs = {role: [head.inputs[role][0] for head in whole] for role in INPUTS}
    outs = [Place(prefix + stem + ".weight", prefix + stem + ".bias") for stem in OUTS_OF_STACKED_HEADS]
    out = next((place for place in outs if place.weight in tensors), None)
    possible = {name for place in ([out] if out else outs) for name in (place.weight, place.bias)}
    absent = (possible - tensors.keys()).union(*(head.absent for head in whole))
    return Found(prefix, f"stacked heads, each {whole[0].title}", inputs, out, absent=frozenset(absent), heads=len(whole))


def find_at(tensors, prefix):
    """The layer whose names begin with exactly this prefix, or None."""
    return match_any(tensors, prefix) or match_stacked_heads(tensors, prefix)


def prefixes(tensors):
    """Of all layers in a file, in its order; stacked heads are one."""
    found = {}
    for name in tensors:
        for layout in LAYOUTS:
            weight = layout.weights("")[0]
            prefix = name[:-len(weight)]
            if name.endswith(weight) and (not prefix or prefix.endswith(".")) and match_any(tensors, prefix):
                found[re.sub(r"(^|\.)heads\.\d+\.$", r"\1", prefix)] = True
    return list(found)


def incomplete(tensors, prefix):
    """Names that would complete a layer at `prefix` of which something is there; without a prefix, one anywhere."""
    for layout in LAYOUTS:
        starts = [name[:-len(weight)] for weight in layout.weights("") for name in tensors if name.endswith(weight)]
        for start in (start for start in starts if start in (prefix, prefix + ".") or not prefix and start.endswith(".")):
            return [weight for weight in layout.weights(start) if weight not in tensors]
    return []
