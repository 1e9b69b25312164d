# SPDX-License-Identifier: MIT
"""Thousands of damaged files give thousands of sentences, and not one header.

Damaged is what a reader can see: a file that is cut or has more bytes, a bit of the header's length or of the header, a size, offset or
type that lies, a weight that became NaN or infinity. (Another bit of a weight makes another weight: no reader can know. So does the name
of a tensor that the layer does not need.)
"""
import functools
import json
import pathlib
import random
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import files
import layers
import tap

DATA = HERE / "data"
CASES = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
LAYOUTS = ("multihead_attention", "nanogpt", "wq_bfloat16")
OF_FLOAT32 = ("multihead_attention", "multihead_attention_without_bias", "qkv")
LIES = (0, -1, 1, 2, 3, 2**31, 2**63 - 1, 2**63, 2**64, 10**40, 1.5, 1e300, "8", None, True, [], {})
NOT_FINITE = (b"\x00\x00\xc0\x7f", b"\x01\x00\x80\xff", b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff")


def read(layout):
    content = (DATA / f"{layout}.safetensors").read_bytes()
    return content, 8 + int.from_bytes(content[:8], "little")


def cut(layout):
    content, _ = read(layout)
    for length in range(len(content)):
        yield content[:length]
    for more in (1, 4, 1000):
        yield content + bytes(more)


def with_a_bit_flipped(layout):
    content, start = read(layout)
    for bit in range(8 * start):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        yield bytes(damaged)


def with_a_lie(layout):
    content, start = read(layout)
    text = content[8:start].decode()
    for name, entry in json.loads(text).items():
        for key, value in entry.items():
            items = list(range(len(value))) if isinstance(value, list) else []
            for lie in LIES:
                changes = [lie] + [value[:i] + [lie] + value[i + 1:] for i in items if lie != value[i] or lie is True]
                for change in changes:
                    header = json.loads(text)
                    header[name][key] = change
                    yield files.framed(header, content[start:])
        for dtype in sorted({*files.SIZES, "F33", ""} - {entry["dtype"]}):
            header = json.loads(text)
            header[name]["dtype"] = dtype
            yield files.framed(header, content[start:])


def with_a_size_that_lies(layout):
    content, start = read(layout)
    generator = random.Random(layout)
    for length in (*range(start - 8), *(generator.getrandbits(64) for _ in range(100)), len(content), 2**63, 2**64 - 1):
        yield length.to_bytes(8, "little") + content[8:]


def with_a_weight_that_is_not_finite(layout):
    content, start = read(layout)
    for entry in json.loads(content[8:start]).values():
        for offset in range(start + entry["data_offsets"][0], start + entry["data_offsets"][1], 4):
            for value in NOT_FINITE:
                yield content[:offset] + value + content[offset + 4:]


def check(damages, layouts):
    """The first damage that is not refused as it should be."""
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        for layout in layouts:
            for content in damages(layout):
                problem = files.refusal(content, pathlib.Path(folder), CASES[layout]["arguments"])
                if problem:
                    return f"{layout}, file {number}: {problem}"
                number += 1
    return "" if number >= 1000 else f"only {number} files"


def check_by_command():
    """Some of them as a user meets them, with the interpreter's own streams and exit status."""
    generator = random.Random(5)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for content in generator.sample([*cut("w_query"), *with_a_bit_flipped("w_query"), *with_a_lie("w_query")], 24):
            (folder / "weights.safetensors").write_bytes(content)
            done = layers.export(folder / "weights.safetensors", folder / "model.hpp", *files.ARGUMENTS)
            if done.returncode != 1 or done.stdout or done.stderr.count("\n") != 1 or (folder / "model.hpp").exists():
                return f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    return ""


KINDS = {cut: LAYOUTS, with_a_bit_flipped: LAYOUTS, with_a_lie: OF_FLOAT32, with_a_size_that_lies: LAYOUTS,
         with_a_weight_that_is_not_finite: OF_FLOAT32}
tap.report([(damages.__name__.replace("_", " "), functools.partial(check, damages, layouts)) for damages, layouts in KINDS.items()] +
           [("by command", check_by_command)])
