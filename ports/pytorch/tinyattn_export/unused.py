# SPDX-License-Identifier: MIT
"""The tensors of a file that a layer does not use: masks, other parts of the model, and tensors whose omission would be
a mistake.

A file may hold any number of names of any length. So nothing here takes time that grows with the square of their
number.
"""
import dataclasses
import fnmatch
import re

from . import layouts
from .errors import ExportError, Spelling, listing, printable

MASKS = re.compile(r"(heads\.\d+\.)?(mask|masked_bias|tril|triu|causal_mask|attn_mask)")
CHANGES_THE_RESULT = re.compile(
    r"(?:^|[._])(?:(?:[qk]_?norm|[qk]_?ln|(?:query|key)_norm|bias_[kv]|[qkv]_proj_weight|inv_freq|slopes?|sinks?|"
    r"logit_scale|scale|temperature|weight_[gv]|parametrizations)(?:[._]|\Z)|"
    r"rotary|rope|alibi|(?:rel|relative|lora)_\w)", re.IGNORECASE)
IGNORE = Spelling("--ignore NAME", 'ignore = ["NAME"]')


def around_each_letter(name):
    """Returns what precedes and what follows each character that is no digit: numbers tell layers and heads apart."""
    return [(name[:i], name[i + 1:]) for i, character in enumerate(name) if not character.isdigit()]


def refuse_misspelt(tensors, layer, names):
    """Raises an ExportError if a name has one other character than that of a tensor that the layer could have, as by a
    damaged bit: the result may depend on it. A bias that has its own weight next to it is that of another module."""
    absent = layouts.names_in([*layer.places(), *layer.outs]) - tensors.keys()
    likely = {around: name for name in absent for around in around_each_letter(name)}
    longest = max(map(len, absent), default=0)
    for name in names:
        around = next(filter(likely.get, around_each_letter(name) if len(name) <= longest else ()), None)
        if around and not (name.endswith("bias") and name.removesuffix("bias") + "weight" in tensors):
            meant = printable(likely[around])
            raise ExportError(f"{printable(name)} looks like a misspelt {meant}: rename it, or say ",
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
