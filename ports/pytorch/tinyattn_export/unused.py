# SPDX-License-Identifier: MIT
"""The tensors of a file that a layer does not use: masks, other parts of the model, and tensors whose omission would be
a mistake.

A file may hold any number of names of any length. So nothing here takes time that grows with the square of their
number.
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
MOST_LEVELS = 4  # in a name after the prefix of its layer: heads.0.query.bias has four


def differ_little(one, other):
    """Returns whether two names differ in at most two adjacent characters, as by a typing error or a damaged bit."""
    start = len(os.path.commonprefix((one, other)))
    end = len(os.path.commonprefix((one[start:][::-1], other[start:][::-1])))
    return max(len(one), len(other)) - start - end <= 2


def is_of_another_layer(name, own_prefix, prefixes):
    """Returns whether a name belongs to another layer of the file: h.1.attn.c_proj.bias is no misspelt
    h.0.attn.c_proj.bias if there is a layer h.1.attn."""
    start = name
    for _ in range(MOST_LEVELS):
        start, dot, _ = start.rpartition(".")
        if dot and start + "." in prefixes:
            return start + "." != own_prefix
    return False


def is_of_another_module(tensors, name, absent):
    """Returns whether a name that is like `absent` belongs to another module: a bias that has its own weight next to
    it, or a weight of one dimension, which is a norm's."""
    if absent.endswith("bias"):
        return name.removesuffix("bias") + "weight" in tensors
    return absent.endswith("weight") and len(tensors[name].shape) == 1


def refuse_misspelt(tensors, layer, names):
    """Raises an ExportError if a name is almost that of a tensor that the layer could have: the result may depend on
    it. Names that differ only in numbers, of heads or layers, are compared once."""
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
    """Returns the names that match no pattern of --ignore."""
    patterns = [re.compile(fnmatch.translate(pattern)) for pattern in patterns]
    return [name for name in names if not any(pattern.match(name) for pattern in patterns)]


def starting_with(stems, names):
    """Returns the names that begin with one of the stems. Looks up one prefix for each length of a stem, since there
    may be many stems, but of few lengths."""
    lengths = {len(stem) for stem in stems}
    return [name for name in names if any(name[:length] in stems for length in lengths)]


@dataclasses.dataclass(frozen=True)
class AroundLayer:
    """The rest of a file that holds an attention layer."""

    tensors: dict
    layer: layouts.Layer
    ignore: tuple

    def reasons(self, consumed):
        """Returns {name: why it may be left out} of the unused tensors at the layer's prefix. Raises an ExportError if
        the result of the layer could depend on one. `consumed`: the names that any part of the header uses."""
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
