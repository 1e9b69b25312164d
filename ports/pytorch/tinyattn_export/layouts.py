# SPDX-License-Identifier: MIT
"""The names under which attention layers are stored, and the layer among them that a prefix and a mapping mean."""
import dataclasses
import re

from .errors import ExportError, Spelling, listing, printable
from .safetensors import extents

INPUTS = ("query", "key", "value")
ROLES = [role + ending for role in (*INPUTS, "qkv", "out") for ending in ("", "_bias")]  # the keys of a mapping


@dataclasses.dataclass(frozen=True)
class Layout:
    """The names of tensors after a layer's prefix: a stem, then .weight or .bias."""

    title: str
    inputs: tuple  # the stems of query, key and value; or one stem for all three
    outs: tuple  # stems that the output projection may have
    needs_out: bool = True
    weight: str = ".weight"
    bias: str = ".bias"
    in_by_out: bool = False  # torch.nn.Linear stores out x in

    def weights(self, prefix):
        return [prefix + stem + self.weight for stem in self.inputs]


LAYOUTS = (
    Layout("W_query, W_key, W_value, out_proj", ("W_query", "W_key", "W_value"), ("out_proj",), needs_out=False),
    Layout("parameters W_query, W_key, W_value, as in x @ W", ("W_query", "W_key", "W_value"), ("out_proj",),
           needs_out=False, weight="", in_by_out=True),
    Layout("wq, wk, wv, wo", ("wq", "wk", "wv"), ("wo",), needs_out=False),
    Layout("q_proj, k_proj, v_proj, out_proj or o_proj", ("q_proj", "k_proj", "v_proj"), ("out_proj", "o_proj")),
    Layout("query, key, value, and out_proj, out or proj", ("query", "key", "value"), ("out_proj", "out", "proj"),
           needs_out=False),
    Layout("q_lin, k_lin, v_lin, out_lin", ("q_lin", "k_lin", "v_lin"), ("out_lin",)),
    Layout("to_q, to_k, to_v, to_out", ("to_q", "to_k", "to_v"), ("to_out.0", "to_out")),
    Layout("torch.nn.MultiheadAttention", ("in_proj",), ("out_proj",), weight="_weight", bias="_bias"),
    Layout("c_attn and c_proj", ("c_attn",), ("c_proj",)),
    Layout("qkv and proj", ("qkv",), ("proj",)),
)
OUTS_OF_STACKED_HEADS = ("out_proj", "proj")


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a Linear layer is stored: in the outputs of group `group`, of `groups` equal ones, of a weight and, if it
    is there, of a bias."""

    weight: str
    bias: str
    in_by_out: bool = False
    group: int = 0
    groups: int = 1
    heads: int = 1  # of which each has all groups, one after the other


@dataclasses.dataclass(frozen=True)
class Layer:
    """An attention layer in a file. `inputs` has a list of Places for each of INPUTS: one Place, or one for each
    stacked head."""

    prefix: str
    title: str
    inputs: dict
    out: Place = None
    outs: tuple = ()  # where an output projection could have been, if none was found
    needs_out: bool = False
    heads: int = 0  # the number of stacked heads; 0 if heads are groups of columns
    ambiguity: ExportError = None  # set if names and shapes do not tell whether weights are in x out

    def places(self):
        return [place for places in self.inputs.values() for place in places] + ([self.out] if self.out else [])


def names_in(places):
    return {name for place in places for name in (place.weight, place.bias) if name}


def mapping_spelling(**names):
    return Spelling("--map " + " ".join(f"{role}={name}" for role, name in names.items()),
                    "mapping = {" + ", ".join(f'{role} = "{name}"' for role, name in names.items()) + "}")


def is_conv1d(weight, out):
    """Returns whether c_attn is GPT-2's Conv1D, which OpenAI's and Hugging Face's files have, and not a Linear layer;
    and an error, or None, for when the shapes do not tell."""
    width = out.shape[0] if out and out.shape else min(weight.shape, default=0)
    linear, conv1d = (extent == 3 * width for extent in (*weight.shape, 0, 0)[:2])
    if linear != conv1d or out and not linear:
        return not linear, None
    qkv, projection = printable(weight.name), printable(out.name) if out else "NAME"
    return True, ExportError(
        f"{qkv}, {extents(weight.shape)}, may be a Linear layer, which is stored out x in, or GPT-2's Conv1D, in x "
        "out: ",
        "say ", mapping_spelling(qkv=qkv, out=projection), " for the first, or ",
        mapping_spelling(qkv=f"{qkv}.T", out=f"{projection}.T"), " for the other")


def projection(tensors, prefix, stems):
    """Returns the Place of the first of `stems` that is in the file, and (); or None, and the Places of all stems."""
    places = tuple(Place(f"{prefix}{stem}.weight", f"{prefix}{stem}.bias") for stem in stems)
    out = next((place for place in places if place.weight in tensors), None)
    return out, () if out else places


def match(tensors, layout, prefix):
    """Returns the Layer at `prefix` if it is stored in this layout, else None."""
    weights, biases = layout.weights(prefix), [prefix + stem + layout.bias for stem in layout.inputs]
    if any(weight not in tensors for weight in weights):
        return None
    out, outs = projection(tensors, prefix, layout.outs)
    conv1d, ambiguity = False, None
    if layout.inputs == ("c_attn",):
        conv1d, ambiguity = is_conv1d(tensors[weights[0]], out and tensors[out.weight])
    groups = 3 // len(weights)
    in_by_out = layout.in_by_out or conv1d
    inputs = {role: [Place(weights[i // groups], biases[i // groups], in_by_out, i % groups, groups)]
              for i, role in enumerate(INPUTS)}
    out = out and dataclasses.replace(out, in_by_out=conv1d)
    return Layer(prefix, layout.title, inputs, out, outs, layout.needs_out, ambiguity=ambiguity)


def match_any(tensors, prefix):
    return next(filter(None, (match(tensors, layout, prefix) for layout in LAYOUTS)), None)


def match_stacked_heads(tensors, prefix):
    """Returns, as one Layer, heads that are stored as layers of their own, heads.0, heads.1 and so on; or None."""
    pattern = re.compile(re.escape(prefix) + r"heads\.(\d+)\.")
    numbers = {number[1] for number in map(pattern.match, tensors) if number}
    heads = {number: match_any(tensors, f"{prefix}heads.{number}.") for number in numbers}
    if not any(heads.values()):
        return None
    whole = [heads.get(str(i)) for i in range(len(heads))]
    if not all(whole) or any(head.out for head in whole):
        names = listing(sorted(f"{prefix}heads.{number}" for number in heads))
        raise ExportError(f"the heads {names} are not all there, or not alike")
    inputs = {role: [head.inputs[role][0] for head in whole] for role in INPUTS}
    out, outs = projection(tensors, prefix, OUTS_OF_STACKED_HEADS)
    outs += tuple(place for head in whole for place in head.outs)
    return Layer(prefix, f"stacked heads, each {whole[0].title}", inputs, out, outs, heads=len(whole))


def find_at(tensors, prefix):
    """Returns the Layer whose names begin with exactly this prefix, or None."""
    return match_any(tensors, prefix) or match_stacked_heads(tensors, prefix)


def prefixes(tensors):
    """Returns the prefixes of all attention layers, in the order of the file. Stacked heads count as one layer."""
    layers = {}
    for name in tensors:
        for layout in LAYOUTS:
            weight = layout.weights("")[0]
            prefix = name[:-len(weight)]
            if name.endswith(weight) and (not prefix or prefix.endswith(".")) and match_any(tensors, prefix):
                layers[re.sub(r"(^|\.)heads\.\d+\.$", r"\1", prefix)] = True
    return list(layers)


def incomplete(tensors, prefix):
    """Returns the missing weights of a layer of which some weights are there: at `prefix`, or anywhere if it is
    empty."""
    for layout in LAYOUTS:
        starts = [name[:-len(weight)] for weight in layout.weights("") for name in tensors if name.endswith(weight)]
        for start in starts:
            if start in (prefix, prefix + ".") or not prefix and start.endswith("."):
                return [weight for weight in layout.weights(start) if weight not in tensors]
    return []


def locate(tensors, prefix):
    """Returns the Layer at this prefix, which may lack its last dot; or else the only layer whose prefix ends with it,
    or the only layer of the file if the prefix is empty."""
    layer = find_at(tensors, prefix) or find_at(tensors, prefix + ".")
    if layer:
        return layer
    every = prefixes(tensors)
    candidates = [other for other in every if not prefix or other.endswith("." + prefix.rstrip(".") + ".")]
    if len(candidates) == 1:
        return find_at(tensors, candidates[0])
    if candidates and not prefix:
        raise ExportError(f"it has {len(every)} attention layers, ", Spelling("--prefix", 'attention = "PREFIX"'),
                          f" says which: {listing(other or 'none' for other in every)}")
    absent = incomplete(tensors, prefix)
    if absent:
        raise ExportError(f"there is no {listing(absent)}")
    where = f"at the prefix {printable(prefix)}" if prefix else "in it"
    if every:
        places = listing(other or "no prefix" for other in every)
        raise ExportError(f"there is no attention layer {where}; there is one at {places}")
    names = listing(tensors) or "no tensors"
    raise ExportError(f"there is no attention layer {where} of a known layout: it has {names}; ",
                      mapping_spelling(query="NAME", key="NAME", value="NAME", out="NAME"), " says which is which")


@dataclasses.dataclass(frozen=True)
class Mapping:
    """Finds a layer by a mapping from roles to names of tensors. The mapping names query, key and value, or qkv; or
    only the output projection, if the inputs have a known layout. `NAME.T` says that a weight is stored in x out."""

    tensors: dict
    prefix: str
    names: dict  # by role

    def starts(self):
        return self.prefix, self.prefix + ".", ""

    def full_name(self, name, role):
        """Returns the full name of a tensor that the mapping may give without the prefix."""
        start = next((start for start in self.starts() if start + name in self.tensors), None)
        if start is None:
            longer = [start + name + ending for start in self.starts() for ending in (".weight", "weight", ".bias")]
            near = [other for other in longer if other in self.tensors]
            remedy = f"is {printable(near[0])} meant?" if near else f"there are {listing(self.tensors)}"
            raise ExportError(f"there is no {printable(name)}, which the mapping gives for {role}: {remedy}")
        return start + name

    def place(self, role, group=0, groups=1):
        name, bias_role = self.names[role], role + "_bias"
        transposed = name.endswith(".T") and all(start + name not in self.tensors for start in self.starts())
        weight = self.full_name(name[:-2] if transposed else name, role)
        neighbour, is_weight = re.subn(r"weight(\.T)?\Z", "bias", weight)
        bias = neighbour if is_weight else ""
        if bias_role in self.names:
            bias = self.full_name(self.names[bias_role], bias_role)
        return Place(weight, bias, transposed, group, groups)

    def layer(self):
        out = self.place("out") if "out" in self.names else None
        if "qkv" in self.names:
            inputs = {role: [self.place("qkv", i, 3)] for i, role in enumerate(INPUTS)}
            return Layer(self.prefix, "as mapped", inputs, out)
        if "query" in self.names:
            return Layer(self.prefix, "as mapped", {role: [self.place(role)] for role in INPUTS}, out)
        return dataclasses.replace(locate(self.tensors, self.prefix), out=out)


def check_mapping(names):
    unknown = [f"{role}={name}" for role, name in names.items() if role not in ROLES or not name]
    if unknown:
        raise ExportError(f"{listing(unknown)} is not ROLE=NAME, with one of {', '.join(ROLES)} as ROLE")
    alone = [role for role in names if role.removesuffix("_bias") not in names]
    if alone:
        raise ExportError(f"a mapping names {listing(alone)} without its weight")
    inputs = [role for role in INPUTS if role in names]
    if inputs and (len(inputs) < len(INPUTS) or "qkv" in names):
        raise ExportError("a mapping must name all of query, key and value, or qkv, or none of them")


def find(tensors, prefix, mapping):
    """Returns the only Layer that a prefix and a mapping can mean."""
    check_mapping(mapping or {})
    layer = Mapping(tensors, prefix, mapping).layer() if mapping else locate(tensors, prefix)
    if layer.ambiguity and layer.out:
        raise layer.ambiguity
    if layer.needs_out and not layer.out:
        names = " or ".join(printable(place.weight) for place in layer.outs)
        raise ExportError(f"there is no {names}, the output projection")
    return layer
