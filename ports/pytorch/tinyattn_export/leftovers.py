# SPDX-License-Identifier: MIT
"""What a file holds beside a layer: masks, other parts of the model, and what must not be overlooked."""
import fnmatch
import re

from . import layouts
from .refusal import Refusal, listed, shown

MASKS = re.compile(r"(heads\.\d+\.)?(mask|masked_bias|tril|triu|causal_mask|attn_mask)")
COMMON_MASKS = ("mask", "bias", "masked_bias", "tril")
CHANGES_THE_RESULT = re.compile(
    r"(.*[._])?([qk]_?norm|[qk]_?ln|(query|key)_norm|bias_[kv]|[qkv]_proj_weight|rotary\w*|rope\w*|inv_freq|rel_\w+|relative_\w+|alibi\w*|slopes?|"
    r"sinks?|lora_\w+|logit_scale|scale|temperature|weight_[gv]|parametrizations)([._].*)?", re.IGNORECASE)


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


def misspelt(tensors, found, names):
    """A name that is all but one that might be there: leaving it out could change the result."""
    masks = {found.prefix + mask for mask in COMMON_MASKS} - tensors.keys()
    for name in names:
        for absent in sorted(found.absent | masks):
            if abs(len(name) - len(absent)) <= 2 and differs_little(name, absent) and not is_of_another_layer(tensors, name, absent):
                raise Refusal(f"{shown(name)} looks like a misspelt {shown(absent)}: rename it, or say --ignore {shown(name)}")


def unplaced(found, names):
    """Names in the layer that it cannot do without."""
    stems = tuple(re.sub(r"weight$", "", place.weight) for place in found.places())
    rest = [name for name in names if name.startswith(found.prefix)]
    return [name for name in rest if name.startswith(stems) or CHANGES_THE_RESULT.fullmatch(name[len(found.prefix):])]


def remarks(tensors, found, ignored):
    """Sentences on what is left out. A Refusal if the layer would then compute something else."""
    rest = [name for name in tensors if name not in found.names() and not any(fnmatch.fnmatchcase(name, pattern) for pattern in ignored)]
    inside = [name for name in rest if name.startswith(found.prefix)]
    masks = [name for name in inside if is_mask(tensors[name], name[len(found.prefix):])]
    others = [name for name in inside if name not in masks]
    misspelt(tensors, found, [name for name in rest if name not in masks])
    strange = unplaced(found, others)
    if strange:
        raise Refusal(f"no place in a layer of tinyattn for {listed(strange)}: it would compute something else; --ignore NAME leaves one out")
    said = [f"left out: {listed(masks)}, a mask, which the layer has in its type"] if masks else []
    if others:
        said.append(f"left out: {listed(others)}, no part of an attention layer")
    if len(rest) > len(inside):
        said.append(f"left alone: {len(rest) - len(inside)} other tensors of the file")
    return said
