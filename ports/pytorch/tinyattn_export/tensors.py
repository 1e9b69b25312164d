# SPDX-License-Identifier: MIT
"""Named tensors of a file, and their values as float32. Nothing is decoded until it is asked for."""
import array
import dataclasses
import math
import struct
import sys

from .refusal import Refusal, shown


def floats(data):
    values = array.array("f")
    values.frombytes(data)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def of_bfloat16(data):
    """The upper half of a float32."""
    whole = bytearray(2 * len(data))
    whole[2::4], whole[3::4] = data[0::2], data[1::2]
    return floats(whole)


def of_float16(data):
    return array.array("f", struct.unpack(f"<{len(data) // 2}e", data))


def of_float64(data):
    return array.array("f", struct.unpack(f"<{len(data) // 8}d", data))


DECODERS = {"F32": floats, "F16": of_float16, "BF16": of_bfloat16, "F64": of_float64}


def extents(shape):
    return " x ".join(map(str, shape)) or "a single number"


@dataclasses.dataclass(frozen=True)
class Tensor:
    name: str
    dtype: str  # as safetensors calls it
    shape: tuple
    data: memoryview  # row-major, little-endian

    def __str__(self):
        return f"{shown(self.name)} ({self.dtype}, {extents(self.shape)})"

    def values(self):
        """float32, row-major; a Refusal unless all are finite."""
        if self.dtype not in DECODERS:
            raise Refusal(f"{shown(self.name)} is {self.dtype}: only F32, F16, BF16 and F64 can be weights")
        values = DECODERS[self.dtype](bytes(self.data))
        for position, value in enumerate(values):
            if not math.isfinite(value):
                raise Refusal(f"{shown(self.name)} holds {self.what(value)} at {self.index(position)}")
        return values

    def what(self, value):
        if math.isnan(value):
            return "NaN"
        return "infinity" + (", or a value that float32 cannot hold," if self.dtype == "F64" else "")

    def index(self, position):
        index = []
        for extent in reversed(self.shape):
            position, here = divmod(position, extent)
            index.insert(0, here)
        return index


@dataclasses.dataclass
class Weights:
    """The tensors of a file."""

    source: str  # the name of the file, without its folder
    sha256: str  # of the file
    tensors: dict
