# SPDX-License-Identifier: MIT
"""A Conv1d of a header, of the weight and bias of a torch.nn.Conv1d."""
import array
import dataclasses
import math

from . import layouts
from .errors import ExportError, printable
from .parts import Part, initializer, place_at, source, with_or_without
from .storage import Request


def rows_of(weight):
    """Returns the weight of a tinyattn Conv1d or Conv2d, [kernel * in, out], of one that is out x in x kernel: for each
    position of the kernel, then for each feature, the weights of all outputs, as an array."""
    _, inputs, *kernel = weight.shape
    values, size = weight.values(), math.prod(kernel)
    return [values[c * size + k::inputs * size] for k in range(size) for c in range(inputs)]


def size_of(numbers):
    """Returns a height and a width as C++ takes them: one number is both."""
    return numbers[0] if len(set(numbers)) == 1 else tuple(numbers)


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


@dataclasses.dataclass
class ConvolutionRequest(Conv1dRequest):
    """Asks for a Conv1d or a Conv2d of a module. stride, padding and dilation have a number for each dimension."""

    groups: int = 1
    dilation: tuple = ()

    def __post_init__(self):
        """The numbers are those of torch.nn, which has checked them."""

    def check(self, weight, bias):
        """The same."""

    def config(self, weight, bias):
        outputs, inputs, *kernel = weight.shape
        config = {"in": inputs * self.groups, "out": outputs, "kernel": size_of(kernel), "stride": size_of(self.stride),
                  "padding": size_of(self.padding), "bias": bias is not None}
        others = {"groups": self.groups, "dilation": size_of(self.dilation)}
        return {**self.with_weights(config), **{name: number for name, number in others.items() if number != 1}}

    def part(self, tensors):
        part = super().part(tensors)
        if len(self.stride) == 1:
            return part
        return dataclasses.replace(part, type=part.type.replace("Conv1d", "Conv2d"),
                                   header="tinyattn/convolution.hpp")

    def summary(self, weight, bias):
        return f"Conv{len(self.stride)}d, {self.config(weight, bias)}"
