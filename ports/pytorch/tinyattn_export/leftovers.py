# SPDX-License-Identifier: MIT
"""What a file holds beside a layer: masks, other parts of the model, and what must not be overlooked."""
import fnmatch
import re

from . import layouts
from .refusal import Refusal, listed, shown

MASKS = re.compile(r"(heads\.\d+\.)?(mask|masked_bias|tril|triu|causal_mask|attn_mask)")
COMMON_MASKS = ("mask", "bias", "masked_bias", "tril")
CHANGES_THE_RESULT = re.compile(
    r"(.*[._])?([qk]_?norm|[qk]_?ln|(query|key)_norm|bias_[kv]|[qkv]_proj_weight|rotary\w*|rope\w*|inv_freq|rel_\w+|relative_\w+|"
    r"alibi\w*|slopes?|sinks?|lora_\w+|logit_scale|scale|temperature|weight_[gv]|parametrizations)([._].*)?", re.IGNORECASE)


def is_mask(tensor, name):
    return bool(MASKS.fullmatch(name)) or (name == "bias" and len(tensor.shape) > 1)


def differs_little(one, other):
    """In at most two characters that stand together, as by a typing error or a damaged bit."""
    shorter = min(len(one), len(other))
    start = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    end = next((i for i in range(shorter - start) if one[-1 - i] != other[-1 - i]), shorter - start)
    return max(len(one), len(other)) - start - end <= 2


def is_of_another_layer(tensors, name, absent):
    """h.1.attn.c_proj.bias is no misspelt h.0.attn.c_proj.bias, if there is such a layer."""
    if re.sub(r"\d+", "0", name) != re.sub(r"\d+", "0", absent):
        return False
    return any(name.startswith(prefix) for prefix in layouts.prefixes(tensors) if prefix)


def refuse_misspelt(tensors, found, names):
    """A name that is all but one that might be there: to leave it out could change the result."""
    masks = {found.prefix + mask for mask in COMMON_MASKS} - tensors.keys()
    for name in names:
        for absent in sorted(found.absent | masks):
            if abs(len(name) - len(absent)) <= 2 and differs_little(name, absent) and not is_of_another_layer(tensors, name, absent):
                raise Refusal(f"{shown(name)} looks like a misspelt {shown(absent)}: rename it, or say --ignore {shown(name)}")


def refuse_unplaced(names):
    if names:
        raise Refusal(f"cannot place {listed(names)}: without it the layer would compute something else; --ignore NAME leaves one out")


def remarks(tensors, found, ignored):
    """Sentences on what is left out. A Refusal if the layer would then compute something else."""
    rest = [name for name in tensors if name not in found.names() and not any(fnmatch.fnmatchcase(name, pattern) for pattern in ignored)]
    inside = {name: name[len(found.prefix):] for name in rest if name.startswith(found.prefix)}
    masks = [name for name, own_name in inside.items() if is_mask(tensors[name], own_name)]
    others = [name for name in inside if name not in masks]
    stems = tuple(place.weight.removesuffix("weight") for place in found.places())
    refuse_unplaced([name for name in others if CHANGES_THE_RESULT.fullmatch(inside[name])])
    refuse_misspelt(tensors, found, [name for name in rest if name not in masks])
    refuse_unplaced([name for name in others if name.startswith(stems)])
    said = {"masks, which the layer has in its type": [tensors[name] for name in masks], "no part of an attention layer": others,
            "elsewhere in the file": [name for name in rest if name not in inside]}
    return [f"left out: {listed(names)} ({why})" for why, names in said.items() if names]
