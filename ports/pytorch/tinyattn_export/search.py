# SPDX-License-Identifier: MIT
"""From a prefix and a mapping, as the user gives them, to the layer that is meant."""
import dataclasses

from . import layouts
from .layouts import Found, INPUTS, Place
from .refusal import Refusal, listed, shown

ROLES = (*INPUTS, "qkv", "out")
SETTINGS = [role + ending for role in ROLES for ending in ("", "_bias")]


def at_prefix(tensors, prefix):
    """The layer at this prefix, with or without its dot, or at the only one that ends so."""
    exactly = layouts.find_at(tensors, prefix) or layouts.find_at(tensors, prefix + ".")
    if exactly:
        return exactly
    ending = prefix.rstrip(".") + "."
    others = [other for other in layouts.prefixes(tensors) if other.endswith("." + ending)]
    return layouts.find_at(tensors, others[0]) if len(others) == 1 else None


def missing(tensors, prefix):
    """What is wrong with a file in which no layer was found at a prefix."""
    absent = layouts.incomplete(tensors, prefix)
    if absent:
        return f"there is no {listed(absent)}"
    where = f"at the prefix {shown(prefix)}" if prefix else "in it"
    others = layouts.prefixes(tensors)
    if others:
        return f"there is no attention layer {where}; there is one at {listed(other or 'no prefix' for other in others)}"
    return (f"there is no attention layer {where} of a known layout: it has {listed(tensors) or 'no tensors'}; --map query=NAME key=NAME "
            "value=NAME out=NAME says which is which")


def located(tensors, prefix):
    found = at_prefix(tensors, prefix)
    if found:
        return found
    others = [] if prefix else layouts.prefixes(tensors)
    if len(others) > 1:
        raise Refusal(f"it has {len(others)} attention layers, --prefix says which: {listed(other or 'none' for other in others)}")
    if not others:
        raise Refusal(missing(tensors, prefix))
    return layouts.find_at(tensors, others[0])


def bias_beside(weight):
    for ending in ("weight", "weight.T"):
        if weight.endswith(ending):
            return weight[:-len(ending)] + "bias"
    return ""


def mapped_place(tensors, prefix, mapping, role, blocks=1, block=0):
    """`NAME.T` stands for a weight that is stored in x out."""
    def existing(name):
        starts = (prefix, prefix + ".", "")
        start = next((start for start in starts if start + name in tensors), None)
        if start is None:
            longer = [start + name + ending for start in starts for ending in (".weight", "weight", ".bias")]
            near = [other for other in longer if other in tensors]
            remedy = f"is {shown(near[0])} meant?" if near else f"there are {listed(tensors)}"
            raise Refusal(f"there is no {shown(name)}, which the mapping gives for {role}: {remedy}")
        return start + name

    name = mapping[role]
    transposed = name.endswith(".T") and all(start + name not in tensors for start in (prefix, prefix + ".", ""))
    weight = existing(name[:-2] if transposed else name)
    bias = existing(mapping[role + "_bias"]) if role + "_bias" in mapping else bias_beside(weight)
    return Place(weight, bias, transposed, block, blocks)


def check_mapping(mapping):
    unknown = [role for role in mapping if role not in SETTINGS]
    if unknown:
        raise Refusal(f"a mapping knows no {listed(unknown)}, only {', '.join(SETTINGS)}")
    alone = [role for role in mapping if role.removesuffix("_bias") not in mapping]
    if alone:
        raise Refusal(f"a mapping names {listed(alone)} without its weight")
    named = [role for role in INPUTS if role in mapping]
    if named and len(named) < len(INPUTS) or named and "qkv" in mapping:
        raise Refusal("a mapping must name all of query, key and value, or qkv, or none of them")


def by_mapping(tensors, prefix, mapping):
    """The mapping names query, key and value, or qkv; or only an output projection that a known layout does not know."""
    check_mapping(mapping)
    out = mapped_place(tensors, prefix, mapping, "out") if "out" in mapping else None
    if "qkv" in mapping:
        inputs = {role: [mapped_place(tensors, prefix, mapping, "qkv", 3, i)] for i, role in enumerate(INPUTS)}
    elif "query" in mapping:
        inputs = {role: [mapped_place(tensors, prefix, mapping, role)] for role in INPUTS}
    elif out:
        return dataclasses.replace(located(tensors, prefix), out=out)
    else:
        raise Refusal("a mapping must name query, key and value, or qkv, or out")
    places = [places[0] for places in inputs.values()] + ([out] if out else [])
    return Found(prefix, "as mapped", inputs, out, absent=frozenset({place.bias for place in places} - tensors.keys() - {""}))


def find(tensors, prefix, mapping):
    found = by_mapping(tensors, prefix, mapping) if mapping else located(tensors, prefix)
    if found.unclear and found.out:
        raise Refusal(found.unclear)
    if found.needs and not found.out:
        raise Refusal(f"there is no {' or '.join(map(shown, found.needs))}, the output projection")
    return found
