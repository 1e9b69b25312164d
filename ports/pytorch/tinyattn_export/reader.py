# SPDX-License-Identifier: MIT
"""Reads the tensors of a model one by one, and notes which ones, so that the unused ones are known."""
import array
import dataclasses
import re

from . import layouts, unused
from .errors import ExportError, listing, printable
from .layouts import Place
from .parts import linear_at, zeros
from .safetensors import extents

BUFFERS = re.compile(rf"(?:^|\.)(?:{unused.MASKS.pattern}|rotary_emb\.inv_freq|rope\.freqs|freqs_(?:cis|cos|sin))\Z")
OF_NORMS = ("weight", "bias"), ("scale", "shift")  # PyTorch's names, and those of Build a Large Language Model
FREQUENCIES = ("inv_freq", "rope.freqs")


def count_modules(tensors, stem):
    """Returns the number of modules stem0., stem1. and so on. Raises an ExportError if one is missing in between."""
    pattern = re.compile(rf"{re.escape(stem)}(\d+)\.")
    numbers = {number[1] for number in map(pattern.match, tensors) if number}
    absent = next((str(i) for i in range(len(numbers)) if str(i) not in numbers), None)
    if absent is not None:
        present = listing(stem + number for number in sorted(numbers))
        raise ExportError(f"there is no {printable(stem + absent)}, but {present}")
    return len(numbers)


def find_start(tensors, first, prefix, what):
    """Returns what precedes `first` in the name of a weight: that of the only such weight, or of the one at the prefix.
    None if there is none."""
    starts = [name[:-len(first)] for name in tensors if name.endswith(first)]
    whole_names = [start for start in starts if not start or start.endswith(".")]
    candidates = [start for start in whole_names if not prefix or start in (prefix, prefix + ".")]
    if len(candidates) > 1:
        prefixes = listing(start or "none" for start in candidates)
        raise ExportError(f"it has {len(candidates)} {what}, a prefix says which: {prefixes}")
    return candidates[0] if candidates else None


def place_of(stem, in_by_out=False):
    return Place(f"{stem}.weight", f"{stem}.bias", in_by_out)


class Reader:
    """Reads tensors of a file, and notes their names in `consumed`."""

    def __init__(self, tensors):
        self.tensors = tensors
        self.consumed = set()

    def tensor(self, name, needed=True):
        if name in self.tensors:
            self.consumed.add(name)
            return self.tensors[name]
        if needed:
            raise ExportError(f"there is no {printable(name)}: there are {listing(self.tensors)}")
        return None

    def matrix(self, name):
        """Returns the rows of a matrix, in the order of the file."""
        tensor = self.tensor(name)
        if len(tensor.shape) != 2 or 0 in tensor.shape:
            raise tensor.wrong_shape("an embedding has two dimensions, neither zero")
        return tensor.rows()

    def vector(self, name, size, needed=True):
        tensor = self.tensor(name, needed)
        if tensor and tensor.shape != (size,):
            raise tensor.wrong_shape(f"the model has {size} features")
        return tensor.values() if tensor else None

    def linear(self, place, d_in=None, d_out=None):
        """Returns the Linear at a Place. Checks its widths if they are given."""
        weight = self.tensor(place.weight)
        self.tensor(place.bias, needed=False)
        linear = linear_at(self.tensors, place)
        expected = (d_in or linear.shape[0], d_out or linear.shape[1])
        if linear.shape != expected:
            groups = f" in each of its {place.groups} parts" if place.groups > 1 else ""
            raise weight.wrong_shape(
                f"here it must be {extents(expected)} in x out{groups}, and it is {extents(linear.shape)}")
        return linear

    def norm(self, stem, width, normalization, epsilon, adds_one=False):
        """Returns the tree of a LayerNorm, with zeros for a missing bias, or of an RmsNorm, which has no bias. With
        adds_one it multiplies by 1 + weight."""
        own_weight, own_bias = OF_NORMS[f"{stem}.scale" in self.tensors]
        weight = self.vector(f"{stem}.{own_weight}", width)
        tree = {"weight": [array.array("f", (1 + value for value in weight)) if adds_one else weight]}
        if normalization == "layer":
            tree["bias"] = [self.vector(f"{stem}.{own_bias}", width, needed=False) or zeros(width)]
        return {**tree, "epsilon": epsilon or -0.0}  # tinyattn's Epsilon stores 0 as -0.0; a binary needs it too

    def attention(self, prefix):
        """Returns the Layer at a prefix. It must have an output projection, and names that layouts.py knows."""
        layer = layouts.match_any(self.tensors, prefix)
        if not layer or not layer.out:
            absent = [place.weight for place in layer.outs] if layer else layouts.incomplete(self.tensors, prefix)
            what = listing(absent) or "attention layer at " + printable(prefix)
            raise ExportError(f"there is no {what}: there are {listing(self.tensors)}")
        return layer


@dataclasses.dataclass(frozen=True)
class AroundModel:
    """The rest of a file that holds a model."""

    tensors: dict
    beginnings: tuple  # prefixes of the names that belong to the model
    ignore: tuple
    head_dim: int = 0
    rotary_base: int = 0  # 0: the model has no rotary positions

    def reasons(self, consumed):
        """Returns {name: why it may be left out} of the tensors that are ignored or are buffers. Raises an ExportError
        for any other unused tensor of the model."""
        names = unused.without_ignored([name for name in self.tensors if name not in consumed], self.ignore)
        inside = [name for name in names if name.startswith(self.beginnings)]
        unused.refuse_unplaced([name for name in inside if not self.is_buffer(name)], "model")
        for name in inside:
            self.check_frequencies(name)
        return {**dict.fromkeys(self.tensors.keys() - consumed - set(names), "ignored"),
                **dict.fromkeys(inside, "masks and tables, which the model has in its type")}

    def is_buffer(self, name):
        is_mask = name.endswith(("attn.bias", "attention.bias")) and len(self.tensors[name].shape) > 1
        return BUFFERS.search(name) or is_mask

    def check_frequencies(self, name):
        """Raises an ExportError if a table of rotary frequencies does not fit the base, or the model has no rotary
        positions."""
        if not name.endswith(FREQUENCIES):
            return
        values = self.tensors[name].values()
        if not self.rotary_base:
            unused.refuse_unplaced([name], "model")
        expected = [self.rotary_base**(-2 * i / self.head_dim) for i in range(self.head_dim // 2)]
        if len(values) != len(expected) or any(abs(a - b) > 0.02 * b for a, b in zip(values, expected)):
            raise ExportError(f"{printable(name)} is not of rotary positions with the base {self.rotary_base} for "
                              f"heads of {self.head_dim} features")
