# SPDX-License-Identifier: MIT
"""A Conv1d of a header, of the weight and bias of a torch.nn.Conv1d."""
import array
import dataclasses

from . import layouts
from .errors import ExportError, printable
from .parts import Part, initializer, place_at, source, with_or_without
from .storage import Request


def rows_of(weight):
    """Returns the weight of a tinyattn Conv1d, [kernel * in, out], of one that is out x in x kernel: for each token of
    the kernel, then for each feature, the weights of all outputs, as an array."""
    _, inputs, kernel = weight.shape
    values = weight.values()
    return [values[c * kernel + k::inputs * kernel] for k in range(kernel) for c in range(inputs)]


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
        self.check(weight, bias)
        tree = {"weight": rows_of(weight), **({} if bias is None else {"bias": [array.array("f", bias.values())]})}
        config = self.config(weight, bias)
        return Part(
            f"::tinyattn::Conv1d<::tinyattn::Conv1dConfig{initializer(config)}>",
            "tinyattn/convolution.hpp", self.stored(tree, "convolution"), self.summary(weight, bias),
            {"convolution": source(tensors, [place])}, layouts.names_in([place]), config=config)

    def check(self, weight, bias):
        if len(weight.shape) != 3 or 0 in weight.shape:
            raise weight.wrong_shape("the weight of a Conv1d has three dimensions, none of them zero")
        outputs, _, kernel = weight.shape
        if self.padding >= kernel:
            raise ExportError(f"padding {self.padding} is not less than the kernel of {kernel} tokens, of which each "
                              "must have one of the input")
        if bias is not None and bias.shape != (outputs,):
            raise bias.wrong_shape(f"{printable(weight.name)} has {outputs} outputs")

    def config(self, weight, bias):
        outputs, inputs, kernel = weight.shape
        return self.with_weights({"in": inputs, "out": outputs, "kernel": kernel, "stride": self.stride,
                                "padding": self.padding, "bias": bias is not None})

    def summary(self, weight, bias):
        outputs, inputs, kernel = weight.shape
        return (f"Conv1d, {inputs} features to {outputs}, a kernel of {kernel}, stride {self.stride}, padding "
                f"{self.padding}, {with_or_without(bias)} bias{self.in_words()}")
