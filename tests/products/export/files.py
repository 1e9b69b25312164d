# SPDX-License-Identifier: MIT
"""Makes files of weights by hand: .safetensors, with zeros or numbers drawn from the names."""
import json
import math
import random
import struct
import zlib

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I32": 4, "I8": 1, "U8": 1, "BOOL": 1}
FORMATS = {"F64": "d", "F32": "f", "F16": "e"}


def frame(header, data=b""):
    """Returns a .safetensors with this header: bytes, or a value that is encoded as JSON."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def split(content):
    """Returns the header of a .safetensors as a dict, and the data."""
    start = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:start]), content[start:]


def slot(layout, data, sequence=0):
    """Returns the bytes that the library's save writes to flash."""
    def padded(content):
        return content + bytes(-len(content) % 32)
    words = b"TAA1" + struct.pack("<4I", sequence, zlib.crc32(layout), len(layout), len(data))
    content = padded(words + struct.pack("<I", zlib.crc32(words))) + padded(layout) + padded(data)
    return content + padded(struct.pack("<I", zlib.crc32(content)))


def safetensors(tensors):
    """Returns a .safetensors of {name: (dtype, shape)} or {name: (dtype, shape, its last bytes)}; other bytes are 0.
    The header has names in another order than the data, metadata and spaces, as the format allows."""
    header, data = {}, b""
    for name, (dtype, shape, *end) in tensors.items():
        begin = len(data)
        data += b"".join(end).rjust(SIZES[dtype] * math.prod(shape), b"\0")
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, len(data)]}
    names = {"__metadata__": {"format": "pt"}, **dict(reversed(header.items()))}
    return frame(json.dumps(names, indent=1).encode() + b"  ", data)


def of_hex(tensors):
    """Returns tensors whose last bytes were given in hexadecimal."""
    return {name: (dtype, shape, *map(bytes.fromhex, end)) for name, (dtype, shape, *end) in tensors.items()}


def draw(seed, count, scale=1):
    generator = random.Random(seed)
    return [generator.uniform(-scale, scale) for _ in range(count)]


def encode(dtype, values):
    if dtype == "BF16":  # the upper half of a float32
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    return struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)


def drawn(tensors, seed, spread=1):
    """Returns the same tensors, with weights that depend on their names. Integers, and tensors that already have bytes,
    stay. With more spread a language model generates less monotonous tokens."""
    def filled(name, dtype, shape, *end):
        if end or dtype not in (*FORMATS, "BF16"):
            return dtype, shape, *end
        scale = 1 if len(shape) < 2 else spread * shape[-1]**-0.5  # as a linear layer begins
        values = draw(f"{seed} {name}", math.prod(shape), scale)
        return dtype, shape, encode(dtype, values)
    return {name: filled(name, *tensor) for name, tensor in tensors.items()}
