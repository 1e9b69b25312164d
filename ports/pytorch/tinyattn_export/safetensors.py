# SPDX-License-Identifier: MIT
"""The safetensors format: eight bytes, little-endian, that give the length of a JSON header; the header, with a dtype, a shape and
two offsets for each name; then the data, without a gap. Every statement of a file is checked before it is used.

https://huggingface.co/docs/safetensors/index, and the limits of its reference implementation.
"""
import json

from .refusal import Refusal, shown
from .tensors import Tensor

LONGEST_HEADER = 100_000_000
LARGEST_EXTENT = 2**63 - 1
MOST_EXTENTS = 32
MOST_DIGITS = 1000  # the time for a number grows with their square
ZIP = b"PK\x03\x04"
BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U16": 16, "I16": 16,
    "F16": 16, "BF16": 16, "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64, "F64": 64, "C64": 64,
}


def unique(pairs):
    table = dict(pairs)
    if len(table) != len(pairs):
        seen = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise Refusal(f"its header names {shown(twice)} twice")
    return table


def no_constant(text):
    raise Refusal(f"its header is not JSON: {text}")


def number(text):
    if len(text) > MOST_DIGITS:
        raise Refusal(f"its header is not JSON: a number of {len(text)} digits")
    return int(text)


def header_of(data):
    """The header as Python has it, and where the data begin."""
    if len(data) < 8:
        raise Refusal(f"it has {len(data)} bytes, less than the length of a header")
    length = int.from_bytes(data[:8], "little")
    if bytes(data[:4]) == ZIP:
        raise Refusal("it is no safetensors file but one of torch.save: name it .pt")
    if length > LONGEST_HEADER:
        raise Refusal(f"it says that its header has {length} bytes, more than safetensors allows")
    if length > len(data) - 8:
        raise Refusal(f"it says that its header has {length} bytes, and {len(data) - 8} are left: it is cut, or no safetensors file")
    try:
        text = bytes(data[8:8 + length]).decode("utf-8")
        header = json.loads(text, object_pairs_hook=unique, parse_int=number, parse_constant=no_constant)
    except UnicodeDecodeError:
        raise Refusal("its header is not UTF-8") from None
    except RecursionError:
        raise Refusal("its header is nested too deeply") from None
    except ValueError as problem:
        raise Refusal(f"its header is not JSON: {shown(problem)}") from None
    if not isinstance(header, dict):
        raise Refusal("its header is not a table of tensors")
    return header, 8 + length


def is_count(value):
    return type(value) is int and 0 <= value <= LARGEST_EXTENT


def size_in_bits(shape, dtype, limit):
    """Above `limit` it does not matter how much."""
    size = 0 if 0 in shape else BITS[dtype]
    for extent in shape:
        size = min(size * extent, limit + 1)
    return size


def described(name, entry, data):
    """The tensor that an entry of the header describes, and where it begins and ends."""
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise Refusal(f"{shown(name)} has no dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BITS:
        raise Refusal(f"{shown(name)} has a dtype that safetensors does not know: {shown(dtype)}")
    if not isinstance(shape, list) or len(shape) > MOST_EXTENTS or not all(map(is_count, shape)):
        raise Refusal(f"{shown(name)} has no proper shape: {shown(shape)}")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(is_count, offsets)) or offsets[0] > offsets[1]:
        raise Refusal(f"{shown(name)} has no proper data_offsets: {shown(offsets)}")
    begin, end = offsets
    if end > len(data):
        raise Refusal(f"{shown(name)} would end at byte {end} of the data, which has {len(data)}: the file is cut, or its header wrong")
    if size_in_bits(shape, dtype, 8 * len(data)) != 8 * (end - begin):
        raise Refusal(f"{shown(name)}, {dtype} of shape {shown(shape)}, does not take the {end - begin} bytes that its offsets give it")
    return Tensor(name, dtype, tuple(shape), data[begin:end]), begin, end


def parse(data):
    """The tensors by name; `data` is the whole file."""
    data = memoryview(data)
    header, start = header_of(data)
    if not isinstance(header.pop("__metadata__", {}), dict):
        raise Refusal("its __metadata__ is not a table")
    places = [described(name, entry, data[start:]) for name, entry in header.items()]
    position = 0
    for tensor, begin, end in sorted(places, key=lambda place: place[1:]):
        if begin != position:
            raise Refusal(f"{shown(tensor.name)} begins at byte {begin} of the data, and {position} is where the tensor before it ends")
        position = end
    if position != len(data) - start:
        raise Refusal(f"its tensors take {position} bytes, and {len(data) - start} follow its header")
    return {tensor.name: tensor for tensor, _, _ in places}


def compose(tensors):
    """A file, in the order of the tensors: the same bytes each time."""
    header, position = {}, 0
    for tensor in tensors:
        end = position + len(tensor.data)
        header[tensor.name] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": [position, end]}
        position = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *(tensor.data for tensor in tensors)])
