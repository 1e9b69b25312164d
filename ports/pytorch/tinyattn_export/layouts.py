# SPDX-License-Identifier: MIT
"""The names under which attention layers are stored, and the layer among them that a prefix and a mapping mean."""
import dataclasses
import re

from .refusal import Advised, Refusal, listed, shown
from .safetensors import extents

INPUTS = ("query", "key", "value")
ROLES = [role + ending for role in (*INPUTS, "qkv", "out") for ending in ("", "_bias")]  # that a mapping may name


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
    outs: tuple = ()  # where the output projection might be, if it is not there
    needs_out: bool = False
    heads: int = 0  # how many are stacked, 0 if they are groups of columns
    unclear: object = None  # a Refusal, if the names and shapes do not say how the layer is stored

    def places(self):
        return [place for places in self.inputs.values() for place in places] + ([self.out] if self.out else [])


def names_of(places):
    return {name for place in places for name in (place.weight, place.bias) if name}


def as_mapping(**names):
    """How it is said, as an option and as a key."""
    return ("--map " + " ".join(f"{role}={name}" for role, name in names.items()),
            "mapping = {" + ", ".join(f'{role} = "{name}"' for role, name in names.items()) + "}")


def is_conv1d(weight, out):
    """Whether c_attn is GPT-2's Conv1D, as in OpenAI's and Hugging Face's files, or a Linear layer; and what to do if no shape tells."""
    width = out.shape[0] if out and out.shape else min(weight.shape, default=0)
    linear, conv1d = (extent == 3 * width for extent in (*weight.shape, 0, 0)[:2])
    if linear != conv1d or out and not linear:
        return not linear, None
    qkv, projection = shown(weight.name), shown(out.name) if out else "NAME"
    out_by_in, in_by_out = as_mapping(qkv=qkv, out=projection), as_mapping(qkv=f"{qkv}.T", out=f"{projection}.T")
    return True, Advised(lambda spelled: (
        f"{qkv}, {extents(weight.shape)}, may be a Linear layer, which is stored out x in, or GPT-2's Conv1D, in x out: say "
        f"{spelled(*out_by_in)} for the first, or {spelled(*in_by_out)} for the other"))


def projection(tensors, prefix, stems):
    """The first output projection that is there, or None; and where it might be if it is not."""
    places = tuple(Place(f"{prefix}{stem}.weight", f"{prefix}{stem}.bias") for stem in stems)
    out = next((place for place in places if place.weight in tensors), None)
    return out, () if out else places


def match(tensors, layout, prefix):
    """The layer at `prefix` if it is stored in this layout."""
    weights, biases = layout.weights(prefix), [prefix + stem + layout.bias for stem in layout.inputs]
    if any(weight not in tensors for weight in weights):
        return None
    out, outs = projection(tensors, prefix, layout.outs)
    conv1d, unclear = False, None
    if layout.inputs == ("c_attn",):
        conv1d, unclear = is_conv1d(tensors[weights[0]], out and tensors[out.weight])
    blocks = 3 // len(weights)
    inputs = {role: [Place(weights[i // blocks], biases[i // blocks], layout.in_by_out or conv1d, i % blocks, blocks)]
              for i, role in enumerate(INPUTS)}
    out = out and dataclasses.replace(out, in_by_out=conv1d)
    return Found(prefix, layout.title, inputs, out, outs, layout.needs_out, unclear=unclear)


def match_any(tensors, prefix):
    return next(filter(None, (match(tensors, layout, prefix) for layout in LAYOUTS)), None)


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
    out, outs = projection(tensors, prefix, OUTS_OF_STACKED_HEADS)
    outs += tuple(place for head in whole for place in head.outs)
    return Found(prefix, f"stacked heads, each {whole[0].title}", inputs, out, outs, heads=len(whole))


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


def located(tensors, prefix):
    """The layer at this prefix, with or without its dot, or the only one whose prefix ends so; without a prefix the only one."""
    found = find_at(tensors, prefix) or find_at(tensors, prefix + ".")
    if found:
        return found
    every = prefixes(tensors)
    fitting = [other for other in every if not prefix or other.endswith("." + prefix.rstrip(".") + ".")]
    if len(fitting) == 1:
        return find_at(tensors, fitting[0])
    if fitting and not prefix:
        raise Advised(lambda spelled: f"it has {len(every)} attention layers, " + spelled("--prefix", 'attention = "PREFIX"')
                      + f" says which: {listed(other or 'none' for other in every)}")
    absent = incomplete(tensors, prefix)
    if absent:
        raise Refusal(f"there is no {listed(absent)}")
    where = f"at the prefix {shown(prefix)}" if prefix else "in it"
    if every:
        raise Refusal(f"there is no attention layer {where}; there is one at {listed(other or 'no prefix' for other in every)}")
    mapping = as_mapping(query="NAME", key="NAME", value="NAME", out="NAME")
    raise Advised(lambda spelled: f"there is no attention layer {where} of a known layout: it has {listed(tensors) or 'no tensors'}; "
                  f"{spelled(*mapping)} says which is which")


def by_mapping(tensors, prefix, mapping):
    """The mapping names query, key and value, or qkv; or only an output projection that a known layout does not know. `NAME.T` stands
    for a weight that is stored in x out."""
    starts = (prefix, prefix + ".", "")

    def existing(name, role):
        start = next((start for start in starts if start + name in tensors), None)
        if start is None:
            longer = [start + name + ending for start in starts for ending in (".weight", "weight", ".bias")]
            near = [other for other in longer if other in tensors]
            remedy = f"is {shown(near[0])} meant?" if near else f"there are {listed(tensors)}"
            raise Refusal(f"there is no {shown(name)}, which the mapping gives for {role}: {remedy}")
        return start + name

    def place(role, block=0, blocks=1):
        name = mapping[role]
        transposed = name.endswith(".T") and all(start + name not in tensors for start in starts)
        weight = existing(name[:-2] if transposed else name, role)
        beside, is_weight = re.subn(r"weight(\.T)?\Z", "bias", weight)
        bias = existing(mapping[role + "_bias"], role) if role + "_bias" in mapping else beside if is_weight else ""
        return Place(weight, bias, transposed, block, blocks)

    out = place("out") if "out" in mapping else None
    if "qkv" in mapping:
        return Found(prefix, "as mapped", {role: [place("qkv", i, 3)] for i, role in enumerate(INPUTS)}, out)
    if "query" in mapping:
        return Found(prefix, "as mapped", {role: [place(role)] for role in INPUTS}, out)
    return dataclasses.replace(located(tensors, prefix), out=out)


def find(tensors, prefix, mapping):
    """The layer that is meant. A Refusal if there is none, or more than one."""
    mapping = mapping or {}
    unknown = [f"{role}={name}" for role, name in mapping.items() if role not in ROLES or not name]
    if unknown:
        raise Refusal(f"{listed(unknown)} is not ROLE=NAME, with one of {', '.join(ROLES)} as ROLE")
    alone = [role for role in mapping if role.removesuffix("_bias") not in mapping]
    if alone:
        raise Refusal(f"a mapping names {listed(alone)} without its weight")
    named = [role for role in INPUTS if role in mapping]
    if named and (len(named) < len(INPUTS) or "qkv" in mapping):
        raise Refusal("a mapping must name all of query, key and value, or qkv, or none of them")
    found = by_mapping(tensors, prefix, mapping) if mapping else located(tensors, prefix)
    if found.unclear and found.out:
        raise found.unclear
    if found.needs_out and not found.out:
        raise Refusal(f"there is no {' or '.join(shown(place.weight) for place in found.outs)}, the output projection")
    return found
