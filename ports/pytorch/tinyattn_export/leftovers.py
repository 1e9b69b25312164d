# SPDX-License-Identifier: MIT
"""What a file holds beside a layer: masks, other parts of the model, and what must not be overlooked.

A file may hold any number of names of any length, so each name is looked at once, and nothing here goes through all of them for each.
"""
import fnmatch
import os
import re

from . import layouts
from .refusal import Advised, listed, shown

MASKS = re.compile(r"(heads\.\d+\.)?(mask|masked_bias|tril|triu|causal_mask|attn_mask)")
COMMON_MASKS = ("mask", "bias", "masked_bias", "tril")
CHANGES_THE_RESULT = re.compile(
    r"(?:^|[._])(?:(?:[qk]_?norm|[qk]_?ln|(?:query|key)_norm|bias_[kv]|[qkv]_proj_weight|inv_freq|slopes?|sinks?|logit_scale|scale|"
    r"temperature|weight_[gv]|parametrizations)(?:[._]|\Z)|rotary|rope|alibi|(?:rel|relative|lora)_\w)", re.IGNORECASE)
NUMBER = re.compile(r"\d+")
IGNORE = ("--ignore NAME", 'ignore = ["NAME"]')
MOST_LEVELS = 4  # of a name behind the prefix of its layer, as in heads.0.query.bias


def differs_little(one, other):
    """In at most two characters that stand together, as by a typing error or a damaged bit."""
    start = len(os.path.commonprefix((one, other)))
    end = len(os.path.commonprefix((one[start:][::-1], other[start:][::-1])))
    return max(len(one), len(other)) - start - end <= 2


def is_of_another_layer(name, own_prefix, prefixes):
    """h.1.attn.c_proj.bias is no misspelt h.0.attn.c_proj.bias, if there is such a layer."""
    start = name
    for _ in range(MOST_LEVELS):
        start, dot, _ = start.rpartition(".")
        if dot and start + "." in prefixes:
            return start + "." != own_prefix
    return False


def is_of_another_module(tensors, name, absent):
    """A bias beside its own weight is that module's, and a weight of one dimension is a norm's."""
    if absent.endswith("bias"):
        return name.removesuffix("bias") + "weight" in tensors
    return absent.endswith("weight") and len(tensors[name].shape) == 1


def refuse_misspelt(tensors, found, names):
    """A name that is all but one that might be there: to leave it out could change the result. What stands in many heads or layers has
    the same name but for numbers, and is compared once."""
    possible = layouts.names_of([*found.places(), *found.outs]) | {found.prefix + mask for mask in COMMON_MASKS}
    absent = possible - tensors.keys()
    forms = {NUMBER.sub("0", name): name for name in sorted(absent, reverse=True)}
    prefixes = frozenset(layouts.prefixes(tensors))
    for name in names:
        own_form = NUMBER.sub("0", name)
        for form, first in forms.items():
            if (differs_little(own_form, form) and not is_of_another_module(tensors, name, form)
                    and not is_of_another_layer(name, found.prefix, prefixes)):
                numbers = iter(NUMBER.findall(name))
                alike = NUMBER.sub(lambda number: next(numbers, number[0]), first)
                meant = shown(alike if alike in absent else first)
                raise misspelt(shown(name), meant)


def misspelt(name, meant):
    return Advised(lambda spelled: f"{name} looks like a misspelt {meant}: rename it, or say "
                   + spelled(f"--ignore {name}", f'ignore = ["{name}"]'))


def refuse_unplaced(names, whole="layer"):
    if names:
        raise Advised(lambda spelled: f"cannot place {listed(names)}: without it the {whole} would compute something else; "
                      f"{spelled(*IGNORE)} leaves one out")


def unignored(names, ignored):
    """Those that no pattern allows to be left out."""
    patterns = [re.compile(fnmatch.translate(pattern)) for pattern in ignored]
    return [name for name in names if not any(pattern.match(name) for pattern in patterns)]


def starting_with(stems, names):
    """Those of the names that begin with a stem. The stems have few lengths, however many they are."""
    lengths = {len(stem) for stem in stems}
    return [name for name in names if any(name[:length] in stems for length in lengths)]


def left_out(tensors, found, ignored, taken):
    """What stands beside the layer at its prefix, and why it is left out. A Refusal if the layer would then compute something else.
    taken: by it, and by what other parts a header has."""
    rest = unignored([name for name in tensors if name not in taken], ignored)
    inside = {name: name[len(found.prefix):] for name in rest if name.startswith(found.prefix)}
    masks = {name for name, own_name in inside.items()
             if MASKS.fullmatch(own_name) or own_name == "bias" and len(tensors[name].shape) > 1}
    others = [name for name in inside if name not in masks]
    refuse_unplaced([name for name in others if CHANGES_THE_RESULT.search(inside[name])])
    refuse_misspelt(tensors, found, [name for name in rest if name not in masks])
    refuse_unplaced(starting_with({place.weight.removesuffix("weight") for place in found.places()}, others))
    return {**dict.fromkeys(tensors.keys() - taken - set(rest), "ignored"), **dict.fromkeys(others, "no part of an attention layer"),
            **dict.fromkeys(masks, "masks, which the layer has in its type")}
