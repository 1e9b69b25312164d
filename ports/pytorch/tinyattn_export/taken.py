# SPDX-License-Identifier: MIT
"""The tensors of a file as a model takes them, one by one, so that those that are left over are known."""
import re

from . import layouts, leftovers
from .layouts import Place
from .parts import linear_at, zeros
from .refusal import Refusal, listed, shown
from .safetensors import extents

BUFFERS = re.compile(rf"(?:^|\.)(?:{leftovers.MASKS.pattern}|rotary_emb\.inv_freq|rope\.freqs|freqs_(?:cis|cos|sin))\Z")
FREQUENCIES = ("inv_freq", "rope.freqs")


def numbered(tensors, stem):
    """How many modules there are: stem0., stem1. and so on. None may be missing."""
    found = re.compile(rf"{re.escape(stem)}(\d+)\.")
    numbers = {number[1] for number in map(found.match, tensors) if number}
    absent = next((str(i) for i in range(len(numbers)) if str(i) not in numbers), None)
    if absent is not None:
        raise Refusal(f"there is no {shown(stem + absent)}, but {listed(stem + number for number in sorted(numbers))}")
    return len(numbers)


def located(tensors, first, prefix, what):
    """What stands before the names of the only model whose first weight is `first`, or of the one at the prefix. None if there is none."""
    starts = [name[:-len(first)] for name in tensors if name.endswith(first)]
    fitting = [start for start in starts if (not start or start.endswith(".")) and (not prefix or start in (prefix, prefix + "."))]
    if len(fitting) > 1:
        raise Refusal(f"it has {len(fitting)} {what}, a prefix says which: {listed(start or 'none' for start in fitting)}")
    return fitting[0] if fitting else None


def place_of(stem, in_by_out=False):
    return Place(f"{stem}.weight", f"{stem}.bias", in_by_out)


class Taken:
    """The file, and which of its names were taken."""

    def __init__(self, tensors):
        self.tensors = tensors
        self.names = set()

    def tensor(self, name, needed=True):
        if name in self.tensors:
            self.names.add(name)
            return self.tensors[name]
        if needed:
            raise Refusal(f"there is no {shown(name)}: there are {listed(self.tensors)}")
        return None

    def matrix(self, name):
        """Its rows, as they lie in the file."""
        found = self.tensor(name)
        if len(found.shape) != 2 or 0 in found.shape:
            raise found.wrong_shape("an embedding has two dimensions, neither zero")
        values, width = found.values(), found.shape[1]
        return [values[first:first + width] for first in range(0, len(values), width)]

    def vector(self, name, size, needed=True):
        found = self.tensor(name, needed)
        if found and found.shape != (size,):
            raise found.wrong_shape(f"the model has {size} features")
        return found.values() if found else None

    def linear(self, place, d_in=None, d_out=None):
        """A Linear layer, of these widths where they are known."""
        weight = self.tensor(place.weight)
        self.tensor(place.bias, needed=False)
        made = linear_at(self.tensors, place)
        wanted = (d_in or made.shape[0], d_out or made.shape[1])
        if made.shape != wanted:
            parts = f" in each of its {place.blocks} parts" if place.blocks > 1 else ""
            raise weight.wrong_shape(f"here it must be {extents(wanted)} in x out{parts}, and it is {extents(made.shape)}")
        return made

    def norm(self, stem, width, normalization, epsilon):
        """A LayerNorm, whose bias may be missing, or an RmsNorm, which has none."""
        tree = {"weight": [self.vector(f"{stem}.weight", width)]}
        if normalization == "layer":
            tree["bias"] = [self.vector(f"{stem}.bias", width, needed=False) or zeros(width)]
        return {**tree, "epsilon": epsilon or -0.0}  # as the class Epsilon stores 0, so that a binary has it too

    def attention(self, prefix):
        """The places of a layer with an output projection, whose names layouts.py knows."""
        found = layouts.match_any(self.tensors, prefix)
        if not found or not found.out:
            absent = [place.weight for place in found.outs] if found else layouts.incomplete(self.tensors, prefix)
            raise Refusal(f"there is no {listed(absent) or 'attention layer at ' + shown(prefix)}: there are {listed(self.tensors)}")
        return found

    def refuse_leftovers(self, beginnings, ignore, taken, head_dim=0, base=0):
        """What is left out, and why: buffers, and what may be ignored. A Refusal if something else belongs to the model, as all names do
        that begin so. taken: by it, and by what other parts a header has."""
        rest = leftovers.unignored([name for name in self.tensors if name not in taken], ignore)
        inside = [name for name in rest if name.startswith(beginnings)]
        leftovers.refuse_unplaced([name for name in inside if not self.is_buffer(name)], "model")
        for name in inside:
            self.check_frequencies(name, head_dim, base)
        return {**dict.fromkeys(self.tensors.keys() - taken - set(rest), "ignored"),
                **dict.fromkeys(inside, "masks and tables, which the model has in its type")}

    def is_buffer(self, name):
        return BUFFERS.search(name) or name.endswith("attn.bias") and len(self.tensors[name].shape) > 1

    def check_frequencies(self, name, head_dim, base):
        """That a table of rotary positions is of this base; one of a model without them cannot be placed."""
        if not name.endswith(FREQUENCIES):
            return
        values, wanted = self.tensors[name].values(), [base**(-2 * i / head_dim) for i in range(head_dim // 2)] if base else None
        if wanted is None:
            leftovers.refuse_unplaced([name], "model")
        if len(values) != len(wanted) or any(abs(value - near) > 0.02 * near for value, near in zip(values, wanted)):
            raise Refusal(f"{shown(name)} is not of rotary positions with the base {base} for heads of {head_dim} features")
