# SPDX-License-Identifier: MIT
"""The safetensors format: eight bytes, little-endian, that give the length of a JSON header; the header, with a dtype,
a shape and two offsets for each name; then the data, without a gap. All that a file says is checked before it is
used.

https://huggingface.co/docs/safetensors/index, and the limits of its reference implementation.
"""
import array
import dataclasses
import json
import math
import struct

from .errors import ExportError, printable

LONGEST_HEADER = 100_000_000
LARGEST_EXTENT = 2**63 - 1
MOST_EXTENTS = 32
MOST_DIGITS = 1000  # converting a number takes time that grows with the square of its digits
ZIP = b"PK\x03\x04"
BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
    "U16": 16, "I16": 16, "F16": 16, "BF16": 16, "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64,
    "F64": 64, "C64": 64,
}
FORMATS = {"F32": "<f", "F16": "<e", "BF16": "<f", "F64": "<d"}  # of weights, for `struct`; BF16 is widened first


def extents(shape):
    return " x ".join(map(str, shape)) or "a single number"


@dataclasses.dataclass(frozen=True)
class Tensor:
    name: str
    dtype: str
    shape: tuple
    data: memoryview  # row-major, little-endian

    def __str__(self):
        return f"{printable(self.name)} ({self.dtype}, {extents(self.shape)})"

    def wrong_shape(self, why):
        return ExportError(f"{printable(self.name)} has the wrong shape, {extents(self.shape)}: {why}")

    def values(self):
        """Returns all values as float32, row-major. Raises an ExportError unless all are finite."""
        if self.dtype not in FORMATS:
            raise ExportError(f"{printable(self.name)} is {self.dtype}: only F32, F16, BF16 and F64 can be weights")
        data = self.data
        if self.dtype == "BF16":  # the upper half of a float32
            data = bytearray(2 * len(self.data))
            data[2::4], data[3::4] = self.data[0::2], self.data[1::2]
        values = array.array("f", (value for (value,) in struct.iter_unpack(FORMATS[self.dtype], data)))
        for position, value in enumerate(values):
            if not math.isfinite(value):
                beyond = ", or a value that float32 cannot hold," if self.dtype == "F64" else ""
                what = "NaN" if math.isnan(value) else "infinity" + beyond
                index = []
                for extent in reversed(self.shape):
                    position, here = divmod(position, extent)
                    index.insert(0, here)
                raise ExportError(f"{printable(self.name)} holds {what} at {index}")
        return values

    def rows(self):
        """Returns its values, an array for each row."""
        values, width = self.values(), (self.shape or (1,))[-1]
        return [values[first:first + width] for first in range(0, len(values), width)]


def unique(pairs):
    table = {}
    for name, value in pairs:
        if name in table:
            raise ExportError(f"it names {printable(name)} twice")
        table[name] = value
    return table


def number(text):
    if len(text) > MOST_DIGITS:
        raise ExportError(f"its header is not JSON: a number of {len(text)} digits")
    return int(text)


def parse_header(data):
    """Returns the header as a dict, and the offset at which the data begin."""
    if len(data) < 8:
        raise ExportError(f"it has {len(data)} bytes, less than the length of a header")
    length = int.from_bytes(data[:8], "little")
    if bytes(data[:4]) == ZIP:
        raise ExportError("it is no safetensors file but one of torch.save: name it .pt")
    if length > LONGEST_HEADER:
        raise ExportError(f"it says that its header has {length} bytes, more than safetensors allows")
    if length > len(data) - 8:
        raise ExportError(f"it says that its header has {length} bytes, and {len(data) - 8} are left: it is cut, or no "
                          "safetensors file")
    try:
        text = bytes(data[8:8 + length]).decode("utf-8")
        header = json.loads(text, object_pairs_hook=unique, parse_int=number)
    except UnicodeDecodeError:
        raise ExportError("its header is not UTF-8") from None
    except RecursionError:
        raise ExportError("its header is nested too deeply") from None
    except ValueError as error:
        raise ExportError(f"its header is not JSON: {printable(error)}") from None
    if not isinstance(header, dict):
        raise ExportError("its header is not a table of tensors")
    return header, 8 + length


def are_counts(values):
    return isinstance(values, list) and all(type(value) is int and 0 <= value <= LARGEST_EXTENT for value in values)


def tensor_at(name, entry, data):
    """Returns the Tensor that an entry of the header describes, and the offsets of its begin and end."""
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise ExportError(f"{printable(name)} has no dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BITS:
        raise ExportError(f"{printable(name)} has a dtype that safetensors does not know: {printable(dtype)}")
    if not are_counts(shape) or len(shape) > MOST_EXTENTS:
        raise ExportError(f"{printable(name)} has no proper shape: {printable(shape)}")
    if not are_counts(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ExportError(f"{printable(name)} has no proper data_offsets: {printable(offsets)}")
    begin, end = offsets
    if end > len(data):
        raise ExportError(f"{printable(name)} would end at byte {end} of the data, which has {len(data)}: the file is "
                          "cut, or its header wrong")
    if math.prod(shape) * BITS[dtype] != 8 * (end - begin):  # exact, and quick: there are at most 32 extents of 63 bits
        raise ExportError(f"{printable(name)}, {dtype} of shape {printable(shape)}, does not take the {end - begin} "
                          "bytes that its offsets give it")
    return Tensor(name, dtype, tuple(shape), data[begin:end]), begin, end


def parse(data):
    """Returns the tensors by name. `data` is the content of the whole file."""
    data = memoryview(data)
    header, start = parse_header(data)
    if not isinstance(header.pop("__metadata__", {}), dict):
        raise ExportError("its __metadata__ is not a table")
    places = [tensor_at(name, entry, data[start:]) for name, entry in header.items()]
    position = 0
    for tensor, begin, end in sorted(places, key=lambda place: place[1:]):
        if begin != position:
            raise ExportError(f"{printable(tensor.name)} begins at byte {begin} of the data, and {position} is where "
                              "the tensor before it ends")
        position = end
    if position != len(data) - start:
        raise ExportError(f"its tensors take {position} bytes, and {len(data) - start} follow its header")
    return {tensor.name: tensor for tensor, _, _ in places}


def compose(tensors):
    """Returns the content of a file with these tensors, in their order: always the same bytes."""
    header, position = {}, 0
    for tensor in tensors:
        end = position + len(tensor.data)
        header[tensor.name] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": [position, end]}
        position = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *(tensor.data for tensor in tensors)])
