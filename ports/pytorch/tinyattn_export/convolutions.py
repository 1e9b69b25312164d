# SPDX-License-Identifier: MIT
"""A Conv1d of a header, of the weight and bias of a torch.nn.Conv1d."""
import array
import dataclasses

from . import int8, layouts
from .errors import ExportError, printable
from .layouts import Place
from .parts import Part, initializer, source, with_or_without
from .settings import LARGEST_COUNT, check_storage, storage_words


def rows_of(weight):
    """Returns the weight of a tinyattn Conv1d, [kernel * in, out], of one that is out x in x kernel: for each token of
    the kernel, then for each feature, the weights of all outputs, as an array."""
    _, inputs, kernel = weight.shape
    values = weight.values()
    return [values[c * kernel + k::inputs * kernel] for k in range(kernel) for c in range(inputs)]


@dataclasses.dataclass(frozen=True)
class Conv1dRequest:
    """Asks for a Conv1d from prefix.weight, out x in x kernel, and, if there is one, prefix.bias."""

    prefix: str
    stride: int = 1
    padding: int = 0  # PyTorch's number, of zeros on each side
    weights: str = "f32"  # or int8

    def __post_init__(self):
        check_storage(self.weights)
        for name, least in (("stride", 1), ("padding", 0)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= LARGEST_COUNT:
                raise ExportError(f"{name} must be a number from {least} to {LARGEST_COUNT}")

    def part(self, tensors):
        starts = (self.prefix, self.prefix + ".")
        start = next((start for start in starts if start + "weight" in tensors), None)
        if start is None:
            name = printable(self.prefix.rstrip(".") + ".weight")
            raise ExportError(f"there is no {name}, the weight of a Conv1d")
        place = Place(start + "weight", start + "bias")
        weight, bias = tensors[place.weight], tensors.get(place.bias)
        self.check(weight, bias)
        tree = {"weight": rows_of(weight), **({} if bias is None else {"bias": [array.array("f", bias.values())]})}
        config = self.config(weight, bias)
        return Part(
            f"::tinyattn::Conv1d<::tinyattn::Conv1dConfig{initializer(config)}>",
            "tinyattn/convolution.hpp", int8.quantized(tree, "convolution") if self.weights == "int8" else tree,
            self.summary(weight, bias), {"convolution": source(tensors, [place])}, layouts.names_in([place]),
            config=config)

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
        return int8.with_storage({"in": inputs, "out": outputs, "kernel": kernel, "stride": self.stride,
                                  "padding": self.padding, "bias": bias is not None}, self.weights)

    def summary(self, weight, bias):
        outputs, inputs, kernel = weight.shape
        return (f"Conv1d, {inputs} features to {outputs}, a kernel of {kernel}, stride {self.stride}, padding "
                f"{self.padding}, {with_or_without(bias)} bias{storage_words(self.weights)}")
