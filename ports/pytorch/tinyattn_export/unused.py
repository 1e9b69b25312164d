# SPDX-License-Identifier: MIT
"""What a file holds next to a layer: masks, other parts of the model, and what must not be overlooked.

A file may hold any number of names of any length, so each name is looked at once, and nothing here goes through all of
them for each.
"""
import dataclasses
import fnmatch
import os
import re

from . import layouts
from .errors import ExportError, Spelling, listing, printable

MASKS = re.compile(r"(heads\.\d+\.)?(mask|masked_bias|tril|triu|causal_mask|attn_mask)")
COMMON_MASKS = ("mask", "bias", "masked_bias", "tril")
CHANGES_THE_RESULT = re.compile(
    r"(?:^|[._])(?:(?:[qk]_?norm|[qk]_?ln|(?:query|key)_norm|bias_[kv]|[qkv]_proj_weight|inv_freq|slopes?|sinks?|"
    r"logit_scale|scale|temperature|weight_[gv]|parametrizations)(?:[._]|\Z)|"
    r"rotary|rope|alibi|(?:rel|relative|lora)_\w)", re.IGNORECASE)
NUMBER = re.compile(r"\d+")
IGNORE = Spelling("--ignore NAME", 'ignore = ["NAME"]')
MOST_LEVELS = 4  # of a name after the prefix of its layer, as in heads.0.query.bias


def differ_little(one, other):
    """In at most two characters that lie together, as by a typing error or a damaged bit."""
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
    """A bias next to its own weight is that module's, and a weight of one dimension is a norm's."""
    if absent.endswith("bias"):
        return name.removesuffix("bias") + "weight" in tensors
    return absent.endswith("weight") and len(tensors[name].shape) == 1


def refuse_misspelt(tensors, layer, names):
    """A name that is all but one that might be there: without it the result could change. Names of many heads or layers
    are the same but for numbers, and are compared once."""
    possible = layouts.names_in([*layer.places(), *layer.outs]) | {layer.prefix + mask for mask in COMMON_MASKS}
    absent = possible - tensors.keys()
    forms = {NUMBER.sub("0", name): name for name in sorted(absent, reverse=True)}
    prefixes = frozenset(layouts.prefixes(tensors))
    for name in names:
        own_form = NUMBER.sub("0", name)
        for form, first in forms.items():
            if (differ_little(own_form, form) and not is_of_another_module(tensors, name, form)
                    and not is_of_another_layer(name, layer.prefix, prefixes)):
                numbers = iter(NUMBER.findall(name))
                alike = NUMBER.sub(lambda number: next(numbers, number[0]), first)
                raise misspelling(printable(name), printable(alike if alike in absent else first))


def misspelling(name, likely):
    return ExportError(f"{name} looks like a misspelt {likely}: rename it, or say ",
                       Spelling(f"--ignore {name}", f'ignore = ["{name}"]'))


def refuse_unplaced(names, whole="layer"):
    if names:
        raise ExportError(f"cannot place {listing(names)}: without it the {whole} would compute something else; ",
                          IGNORE, " leaves one out")


def without_ignored(names, patterns):
    """The names that no pattern allows to be left out."""
    patterns = [re.compile(fnmatch.translate(pattern)) for pattern in patterns]
    return [name for name in names if not any(pattern.match(name) for pattern in patterns)]


def starting_with(stems, names):
    """Those of the names that begin with a stem. The stems have few lengths, however many they are."""
    lengths = {len(stem) for stem in stems}
    return [name for name in names if any(name[:length] in stems for length in lengths)]


@dataclasses.dataclass(frozen=True)
class AroundLayer:
    """The rest of a file that an attention layer is made of."""

    tensors: dict
    layer: layouts.Layer
    ignore: tuple

    def reasons(self, consumed):
        """{name: why it may be left out} of the unused tensors at the layer's prefix. An ExportError if the layer would
        compute something else without one. consumed: by the layer, and by other parts of the header."""
        prefix = self.layer.prefix
        names = without_ignored([name for name in self.tensors if name not in consumed], self.ignore)
        inside = {name: name[len(prefix):] for name in names if name.startswith(prefix)}
        masks = {name for name, own_name in inside.items()
                 if MASKS.fullmatch(own_name) or own_name == "bias" and len(self.tensors[name].shape) > 1}
        others = [name for name in inside if name not in masks]
        refuse_unplaced([name for name in others if CHANGES_THE_RESULT.search(inside[name])])
        refuse_misspelt(self.tensors, self.layer, [name for name in names if name not in masks])
        refuse_unplaced(starting_with({place.weight.removesuffix("weight") for place in self.layer.places()}, others))
        return {**dict.fromkeys(self.tensors.keys() - consumed - set(names), "ignored"),
                **dict.fromkeys(others, "no part of an attention layer"),
                **dict.fromkeys(masks, "masks, which the layer has in its type")}
