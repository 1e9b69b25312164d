# SPDX-License-Identifier: MIT
"""Safetensors files made by hand, whole or broken in any way, and what the exporter must say to a broken one."""
import contextlib
import faulthandler
import io
import json
import pathlib
import struct
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "ports" / "pytorch"))

import export

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I32": 4, "U8": 1, "BOOL": 1}
STREAMS = threading.Lock()  # there is one pair of them in a process
SECONDS = 60  # after which an answer does not come at all, and it is said where it stays
ARGUMENTS = ("--num-heads", "2", "--context-length", "5", "--causal")


def count(shape):
    product = 1
    for extent in shape:
        product *= extent
    return product


def float32(values):
    return struct.pack(f"<{len(values)}f", *values)


def framed(header, data=b""):
    """A file with any header: bytes, or what JSON makes of it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entries(tensors):
    """The header and the data of tensors, given as name: (dtype, shape) or (dtype, shape, bytes)."""
    header, data = {}, b""
    for name, (dtype, shape, *content) in tensors.items():
        begin = len(data)
        data += content[0] if content else bytes(SIZES[dtype] * count(shape))
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, len(data)]}
    return header, data


def file(tensors):
    return framed(*entries(tensors))


def layer(**changes):
    """Four Linear layers of zeros, 6 features to 8, with some tensors changed, added, or taken away by None."""
    names = {"W_query.weight": ("F32", (8, 6)), "W_key.weight": ("F32", (8, 6)), "W_value.weight": ("F32", (8, 6)),
             "out_proj.weight": ("F32", (8, 8)), "out_proj.bias": ("F32", (8,))}
    names.update({name.replace("__", "."): value for name, value in changes.items()})
    return {name: value for name, value in names.items() if value is not None}


def run(arguments):
    """The exporter within this process: its exit status, and what it said on either stream."""
    said, complained = io.StringIO(), io.StringIO()
    said.reconfigure = complained.reconfigure = lambda **_: None
    with STREAMS, contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        faulthandler.dump_traceback_later(SECONDS, exit=True, file=sys.__stderr__)
        try:
            status = export.main([str(argument) for argument in arguments])
        except SystemExit as usage:
            status = usage.code
        finally:
            faulthandler.cancel_dump_traceback_later()
    return status, said.getvalue(), complained.getvalue()


def answer(arguments, header, binary=None):
    """Status, sentence, and what is wrong with an answer: it is a whole header, or one sentence and nothing written."""
    before = set(header.parent.iterdir())
    try:
        status, said, complained = run([arguments[0], "-o", header, *arguments[1:], *(("--binary", binary) if binary else ())])
    except Exception as problem:  # that it is none is what is tested
        return 1, "", f"{type(problem).__name__}: {problem}"
    left = sorted(path.name for path in set(header.parent.iterdir()) - before)
    if status == 0:
        whole = header.exists() and header.read_text(encoding="utf-8").endswith("}  // namespace model\n")
        right = whole and not complained and left == [path.name for path in (header, binary) if path]
        return status, complained, "" if right else f"a header, but {left}: {complained}"
    if status != 1 or said or left:
        return status, complained, f"exit status {status}, said {said[:200]!r}, wrote {left}"
    sentence = complained.startswith("export.py: ") and complained.count("\n") == 1 and complained.endswith("\n")
    return status, complained, "" if sentence else f"not one sentence: {complained[:500]!r}"


def refusal(content, folder, arguments=ARGUMENTS, phrase=""):
    """What is wrong with the answer to a file that must be refused, or nothing."""
    weights = folder / "weights.safetensors"
    weights.write_bytes(content)
    return refused([weights, *arguments], folder, phrase)


def refused(arguments, folder, phrase=""):
    status, complained, problem = answer(arguments, folder / "model.hpp")
    if problem or status == 0:
        return problem or "no refusal"
    return "" if phrase in complained else f"expected: {phrase}\n{complained}"
