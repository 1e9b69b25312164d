# SPDX-License-Identifier: MIT
"""A Conv1d of a header, of the weight and bias of a torch.nn.Conv1d."""
import dataclasses
import math

from . import layouts
from .errors import ExportError, printable
from .parts import Part, initializer, place_at, source, with_or_without
from .storage import Request


def tree_of(weight, bias):
    """Returns the members of a tinyattn Conv1d or Conv2d, of a weight that is out x in x kernel. Its own weight is
    [kernel * in, out]: for each position of the kernel, then for each feature, the weights of all outputs."""
    _, inputs, *kernel = weight.shape
    values, size = weight.values(), math.prod(kernel)
    rows = [values[c * size + k::inputs * size] for k in range(size) for c in range(inputs)]
    return {"weight": rows, **({} if bias is None else {"bias": [bias.values()]})}


@dataclasses.dataclass
class Conv1dRequest(Request):
    """Asks for a Conv1d from prefix.weight, out x in x kernel, and, if there is one, prefix.bias."""

    prefix: str
    stride: int = 1
    padding: int = 0  # PyTorch's number, of zeros on each side
    weights: str = "f32"

    def part(self, tensors):
        place = place_at(tensors, self.prefix, "Conv1d")
        weight, bias = tensors[place.weight], tensors.get(place.bias)
        if len(weight.shape) != 3 or 0 in weight.shape:
            raise weight.wrong_shape("the weight of a Conv1d has three dimensions, none of them zero")
        outputs, inputs, kernel = weight.shape
        if self.padding >= kernel:
            raise ExportError(f"padding {self.padding} is not less than the kernel of {kernel} tokens, of which each "
                              "must have one of the input")
        if bias is not None and bias.shape != (outputs,):
            raise bias.wrong_shape(f"{printable(weight.name)} has {outputs} outputs")
        config = self.with_weights({"in": inputs, "out": outputs, "kernel": kernel, "stride": self.stride,
                                    "padding": self.padding, "bias": bias is not None})
        summary = (f"Conv1d, {inputs} features to {outputs}, a kernel of {kernel}, stride {self.stride}, padding "
                   f"{self.padding}, {with_or_without(bias)} bias{self.in_words()}")
        return Part(
            f"::tinyattn::Conv1d<::tinyattn::Conv1dConfig{initializer(config)}>", "tinyattn/convolution.hpp",
            self.stored(tree_of(weight, bias), "convolution"), summary, {"convolution": source(tensors, [place])},
            layouts.names_in([place]), config=config)
