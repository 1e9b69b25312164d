# SPDX-License-Identifier: MIT
"""Reads protocol buffers: the fields of a message by their numbers."""
import struct

from .errors import ExportError

CUT = "it is cut, or no protocol buffer"


def read_number(data, position):
    """Returns the number of seven bits a byte at a position, and the position after it."""
    number = 0
    for i, byte in enumerate(data[position:position + 10]):
        number |= (byte & 127) << 7 * i
        if byte < 128:
            return number, position + i + 1
    raise ExportError(CUT)


def fields(data):
    """Yields (number, value) of each field: an int, or the bytes of a text, a float or a message."""
    position = 0
    while position < len(data):
        key, position = read_number(data, position)
        kind, size = key & 7, 0
        if kind == 0:
            value, position = read_number(data, position)
            yield key >> 3, value
            continue
        if kind == 2:
            size, position = read_number(data, position)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ExportError(CUT)
        if position + size > len(data):
            raise ExportError(CUT)
        yield key >> 3, data[position:position + size]
        position += size


def as_bytes(value, size=None):
    if not isinstance(value, bytes) or size not in (None, len(value)):
        raise ExportError(CUT)
    return value


def as_float(value):
    return struct.unpack("<f", as_bytes(value, 4))[0]


def as_text(value):
    try:
        return as_bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        raise ExportError("a text in it is not UTF-8") from None


def message(data):
    """Returns {number: the last value} of a message."""
    return dict(fields(as_bytes(data)))
