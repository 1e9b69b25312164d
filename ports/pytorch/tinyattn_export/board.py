# SPDX-License-Identifier: MIT
"""Reads what tinyattn's save wrote to flash, of a dump of one slot or of both: training/checkpoint.hpp of the library.

A slot is blocks of 32 bytes, its words little-endian: a header (a magic number, a sequence number, the CRC of the
layout, the bytes of layout and data, the CRC of these five words), the layout, the data, and the CRC of all before it.
"""
import array
import dataclasses
import math
import pathlib
import re
import struct
import sys
import zlib

from .errors import ExportError, printable, within
from .safetensors import Tensor

MAGIC = b"TAA1"
BLOCK = 32
ENTRY = re.compile(rb"([fTq])([1-9]\d{0,9}(?:x[1-9]\d{0,9})*)(?:/([1-9]\d{0,9}))?\n")


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A tensor of the library: floats as PyTorch has them, "f"; the transposed weight of a layer, "T"; or int8, "q",
    rows of codes with a scale for each. A weight may be that of several `tokens` which follow one another."""

    name: str
    kind: str
    shape: tuple
    tokens: int

    @property
    def size(self):
        """The bytes in flash."""
        if self.kind == "q":
            out, inputs = self.shape
            return out * (-(-inputs // 16) * 16 + 4)
        return 4 * math.prod(self.shape)

    def tensor(self, data):
        """Returns it as PyTorch has it."""
        shape = self.shape
        if self.kind == "q":
            data = floats_of_codes(data, *shape)
        elif self.kind == "T":
            data, shape = transposed(data, *shape), shape[::-1]
        if self.tokens > 1:  # [out, tokens * in] becomes [out, in, tokens]
            out, inputs = shape[0], shape[1] // self.tokens
            rows = [data[4 * i:4 * (i + shape[1])] for i in range(0, out * shape[1], shape[1])]
            data = b"".join(transposed(row, self.tokens, inputs) for row in rows)
            shape = (out, inputs, self.tokens)
        return Tensor(self.name, "F32", shape, memoryview(data))


def transposed(data, rows, cols):
    """Transposes a matrix of float32. Its bits stay as they are."""
    words = array.array("I", data)
    turned = array.array("I", bytes(len(data)))
    for i in range(rows):
        turned[i::rows] = words[i * cols:(i + 1) * cols]
    return turned.tobytes()


def floats_of_codes(data, out, inputs):
    """Returns the floats that codes and scales stand for."""
    row = -(-inputs // 16) * 16
    scales = struct.unpack_from(f"<{out}f", data, out * row)
    return b"".join(struct.pack(f"<{inputs}f", *(scale * (code - 128) for code in data[o * row:o * row + inputs]))
                    for o, scale in enumerate(scales))


@dataclasses.dataclass(frozen=True)
class Slot:
    """A whole slot."""

    place: int  # of its first byte in the dump
    sequence: int
    parameters: list
    data: bytes
    remarks: tuple = ()  # on others, which are damaged, and may be newer

    def tensors(self):
        """Returns its tensors, as a state_dict has them."""
        tensors, position = [], 0
        for parameter in self.parameters:
            tensors.append(parameter.tensor(self.data[position:position + parameter.size]))
            position += parameter.size
        return tensors


def blocks(size):
    return -(-size // BLOCK) * BLOCK


def layout_of(text):
    """Returns the Parameters that a layout describes: a byte that says how much of the name before is repeated, the
    rest of the name, "=", and the type."""
    parameters, name, position = [], b"", 0
    while position < len(text):
        end = text.find(b"=", position + 1)
        entry = ENTRY.match(text, end + 1)
        if end < 0 or entry is None or text[position] > len(name):
            raise ExportError(f"its layout makes no sense at byte {position}: another version of tinyattn wrote it")
        name = name[:text[position]] + text[position + 1:end]
        shape = tuple(map(int, entry[2].split(b"x")))
        parameters.append(Parameter(name.decode("ascii", "replace"), entry[1].decode(), shape, int(entry[3] or 1)))
        position = entry.end()
        last = parameters[-1]
        if last.kind != "f" and (len(shape) != 2 or shape[1 if last.kind == "q" else 0] % last.tokens):
            raise ExportError(f"its layout gives {printable(last.name)} a shape that makes no sense")
    names = [parameter.name for parameter in parameters]
    if not names or len(set(names)) != len(names):
        raise ExportError("its layout names no parameter, or one of them twice")
    return parameters


def is_header(dump, place):
    words = struct.unpack_from("<I", dump, place + 20)
    return place + BLOCK <= len(dump) and zlib.crc32(dump[place:place + 20]) == words[0]


def slot_at(dump, place):
    """Returns the Slot whose header, which is sound, is at `place`. Raises an ExportError if it is not whole."""
    sequence, layout_crc, layout_size, data_size = struct.unpack_from("<4I", dump, place + 4)
    start = place + BLOCK + blocks(layout_size)
    end = start + blocks(data_size)
    if end + 4 > len(dump):
        raise ExportError(f"the model at byte {place} would end at byte {end + BLOCK}, and the dump has {len(dump)}: "
                          "it is cut")
    text = dump[place + BLOCK:place + BLOCK + layout_size]
    if zlib.crc32(dump[place:end]) != struct.unpack_from("<I", dump, end)[0] or zlib.crc32(text) != layout_crc:
        raise ExportError(f"the model at byte {place} is damaged, or was not written to its end: its CRC is wrong")
    parameters = layout_of(text)
    if sum(parameter.size for parameter in parameters) != data_size:
        raise ExportError(f"the model at byte {place} has {data_size} bytes, and its layout describes others")
    return Slot(place, sequence, parameters, dump[start:start + data_size])


def slots(dump):
    """Returns the whole Slots of a dump, and (sequence number, ExportError) of those that are not. A header that is
    damaged has no sequence number."""
    whole, errors, place = [], [], dump.find(MAGIC)
    while place >= 0:
        after = place + 1
        if place + BLOCK <= len(dump) and is_header(dump, place):
            try:
                whole.append(slot_at(dump, place))
                after = place + BLOCK + len(whole[-1].data)  # bytes of a model may look like a header
            except ExportError as error:
                errors.append((struct.unpack_from("<I", dump, place + 4)[0], error))
        else:
            errors.append((None, ExportError(f"the header at byte {place} is damaged")))
        place = dump.find(MAGIC, after)
    return whole, errors


def is_newer(sequence, other):
    """Sequence numbers wrap around."""
    return 0 < (sequence - other) % 2**32 < 2**31


def newest_slot(dump):
    """Returns the newest whole Slot of a dump. Raises an ExportError if there is none."""
    whole, errors = slots(dump)
    if not whole:
        raise next((error for sequence, error in errors if sequence is not None), ExportError(
            f"no model was saved in these {len(dump)} bytes: read the flash from the first byte of a slot"))
    newest = whole[0]
    for slot in whole[1:]:
        newest = slot if is_newer(slot.sequence, newest.sequence) else newest
    return dataclasses.replace(newest, remarks=tuple(
        f"it may not be the newest: {error}" for sequence, error in errors
        if sequence is None or is_newer(sequence, newest.sequence)))


def read_board(path):
    """Returns the newest whole Slot of a file."""
    with within(f"cannot read {printable(path)}", OSError, ValueError):
        return newest_slot(pathlib.Path(path).read_bytes())


# --- In the names of the checkpoint that the model was made of ---

MOST_NUMBERS = 2**24  # a float32 counts no further


def places_of(tensors, consumed):
    """Returns {name: a range} of the tensors that are `consumed`: the place of each number among all. Equal matrices,
    which are one, have equal places."""
    places, known, count = {}, {}, 0
    for name, tensor in tensors.items():
        if name in consumed:
            key = (tensor.shape, bytes(tensor.data)) if len(tensor.shape) == 2 else name
            places[name] = known.setdefault(key, range(count, count + math.prod(tensor.shape)))
            count = max(count, places[name].stop)
    if count > MOST_NUMBERS:
        raise ExportError(f"a checkpoint of more than {MOST_NUMBERS:,} numbers cannot be traced")
    return places


def with_numbers(tensor, code, numbers):
    """Returns a tensor of other floats, or of floats of other bits."""
    numbers = array.array(code, numbers)
    if sys.byteorder == "big":
        numbers.byteswap()
    return Tensor(tensor.name, "F32", tensor.shape, memoryview(numbers.tobytes()))


def places_in(part_leaves):
    """Returns the place of each number of a part, in the order of memory. An epsilon is no parameter."""
    leaves = [leaf for leaf in part_leaves if not isinstance(leaf, float)]
    if not all(isinstance(leaf, list) for leaf in leaves):
        raise ExportError("int8 weights have lost what the checkpoint had: leave out --like")
    return [int(value) for leaf in leaves for row in leaf for value in row]


def like(slot, tensors, places, parts):
    """Returns the tensors of a slot in the names and layouts of a checkpoint. `tensors` are those of the checkpoint,
    and `parts` what the exporter makes of their `places` instead of their numbers: {name: leaves}."""
    if any(parameter.kind == "q" for parameter in slot.parameters):
        raise ExportError("int8 weights have lost what the checkpoint had: leave out --like")
    words = [word for (word,) in struct.iter_unpack("<I", slot.data)]
    found = [places for places in map(places_in, parts.values()) if len(places) == len(words)]
    if len(found) != 1:
        raise ExportError(f"the board's model has {len(words)} numbers, and {'several parts' if found else 'no part'} "
                          "of the export: give the arguments that export.py had")
    values = {}
    for place, word in zip(found[0], words):
        if values.setdefault(place, word) != word:
            raise ExportError("two tensors of the board, which are one in the checkpoint, differ")
    return [replaced(tensor, places.get(name, ()), values) for name, tensor in tensors.items()]


def replaced(tensor, places, values):
    """Returns a tensor of the checkpoint with those of its numbers, by their places, that the board has."""
    if values.keys().isdisjoint(places):
        return tensor
    before = struct.iter_unpack("=I", tensor.values().tobytes())
    return with_numbers(tensor, "I", (values.get(place, bits) for place, (bits,) in zip(places, before)))
