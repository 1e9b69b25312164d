# SPDX-License-Identifier: MIT
"""What every request says of memory: how weights lie in flash, keys and values in a cache, and how far attention looks
back."""
import dataclasses

from . import matrices
from .errors import ExportError, Spelling
from .settings import FORMATS, LARGEST_OBJECT, SETTINGS, missing, parse

MOST_INT8_TOKENS = (2**31 - 1) // (127 * 255)  # powers of two in attention have eight bits or more
INT8_CACHE = Spelling("--cache int8", 'cache = "int8"')
WINDOW = Spelling("--window", "window")
type_of = "::tinyattn::Weights::{}".format  # in C++


class Storage:
    """What requests, Styles and Members have in common. These are values of those that have no such field."""

    weights = cache = "f32"
    window = None
    causal = True

    def check_context(self, kv_width, layers=1):
        """Raises an ExportError if the keys and values of all tokens, which are in one object, the Workspace of a layer
        or the Cache of a model, are larger than an object may be."""
        if self.cache == "int8" and (self.window or self.context_length) > MOST_INT8_TOKENS:
            raise ExportError(INT8_CACHE, f" holds at most {MOST_INT8_TOKENS} tokens, as its sums have 32 bits")
        longest = max(self.context_length, self.window or 0)
        size = 2 * 4 * longest * kv_width * layers
        if size > LARGEST_OBJECT:
            raise ExportError(
                f"{'context_length' if longest == self.context_length else 'window'} {longest} is too long: the keys "
                f"and values of so many tokens take {size} bytes, and no target holds an object of more than "
                f"{LARGEST_OBJECT}")

    def stored(self, tree, path=""):
        """Returns a tree of floats with the weights as they are asked for. `path`: the members that lead to it."""
        return matrices.stored(tree, FORMATS[self.weights], path) if self.weights in FORMATS else tree

    def last_argument(self):
        """Returns the last argument of a template of C++, which weights of floats need not have."""
        return "" if self.weights == "f32" else f", {type_of(self.weights)}"

    def with_weights(self, config):
        """Returns the members of a configuration in C++, with the one that says what weights are at their end."""
        return config if self.weights == "f32" else {**config, "weights": type_of(self.weights)}

    def with_storage(self, config):
        """Returns the same for attention, with the type of its cache and its window where they are set."""
        return {**self.with_weights(config), **({} if self.cache == "f32" else {"cache": type_of(self.cache)}),
                **({} if self.window is None else {"window": self.window})}

    def in_words(self):
        """Returns what is not float and whether there is a window, for a summary."""
        window = "" if self.window is None else f", a window of {self.window}"
        kinds = {"weights": self.weights, "cache": self.cache}
        return window + "".join(f", {name} in {kind}" for name, kind in kinds.items() if kind != "f32")


class Request(Storage):
    """Asks for a part: a dataclass, whose first field says where the part is in a file, and others how it is made."""

    needed = ()  # names of fields that must be given

    def __post_init__(self):
        """Converts all settings. Raises an ExportError if one is missing or not valid, or if there can be no window."""
        absent = [name for name in self.needed if getattr(self, name) is None]
        if absent:
            raise missing(absent)
        for name, value in vars(self).items():
            if name in SETTINGS and value is not None:
                setattr(self, name, parse(name, value, name).value)
        if self.window is not None and not self.causal:
            raise ExportError(WINDOW, " makes no sense if tokens attend to later ones: only causal attention has one")


@dataclasses.dataclass
class RequestOfLayers(Request):
    """What all requests that have attention have in common."""

    prefix: str = ""
    num_heads: int = None
    context_length: int = None
    ignore: list = ()  # patterns of names that may be left out
    weights: str = "f32"
    cache: str = "f32"
    window: int = None
