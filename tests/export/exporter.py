# SPDX-License-Identifier: MIT
"""Files of weights made by hand, the exporter within this process or as a command, and what its headers compute."""
import contextlib
import ctypes
import functools
import io
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import threading
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "export" / "data"
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "ports" / "pytorch")]

import export

CASES = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
COMPILER = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
ARGUMENTS = ("--num-heads", "2", "--context-length", "5", "--causal")
SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I32": 4, "U8": 1, "BOOL": 1}
STREAMS = threading.RLock()  # of what a process has once: its streams, and what is patched in it
TOLERANCE = 4e-6


def in_folder(check):
    """Gives a check a folder of its own."""
    def with_folder(*arguments):
        with tempfile.TemporaryDirectory() as name:
            return check(pathlib.Path(name), *arguments)
    return functools.wraps(check)(with_folder)


def framed(header, data=b""):
    """A .safetensors with any header: bytes, or what JSON makes of it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def safetensors(tensors):
    """A file of tensors, given as name: (dtype, shape), which is zeros, or (dtype, shape, bytes)."""
    header, data = {}, b""
    for name, (dtype, shape, *content) in tensors.items():
        begin = len(data)
        data += content[0] if content else bytes(SIZES[dtype] * math.prod(shape))
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, len(data)]}
    return framed(header, data)


def torch_tensor(shape, data=b"", dtype="torch.float32", layout="torch.strided", device="cpu"):
    """What the exporter uses of a PyTorch tensor, for where there is no PyTorch."""
    kept = ctypes.create_string_buffer(data, max(len(data), 1))
    tensor = types.SimpleNamespace(shape=shape, dtype=dtype, layout=layout, device=device, data_ptr=lambda: ctypes.addressof(kept),
                                   nelement=lambda: len(data) // 4, element_size=lambda: 4)
    tensor.detach = tensor.cpu = tensor.contiguous = lambda: tensor
    return tensor


def load(path, map_location, weights_only):
    """torch.load within this process."""
    if isinstance(LOADED[path], Exception):
        raise LOADED[path]
    return LOADED[path] if weights_only and map_location == "cpu" else None


LOADED = {}  # what it gives for a path, or the exception that it raises
sys.modules["torch"] = types.SimpleNamespace(load=load)


def run(*arguments):
    """The exporter within this process: its exit status, and what it said on either stream."""
    said, complained = io.StringIO(), io.StringIO()
    said.reconfigure = complained.reconfigure = lambda **_: None
    with STREAMS, contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        try:
            status = export.main([str(argument) for argument in arguments])
        except SystemExit as usage:
            status = usage.code
    return status, said.getvalue(), complained.getvalue()


def contents(folder):
    return {(path, path.read_bytes()) for path in folder.iterdir()}


def answer(folder, weights, *arguments):
    """Exit status, what was said, and what is wrong with it: there is a whole header; or nothing is written, and one sentence, or how to
    use it, is on stderr."""
    header = folder / "model.hpp"
    header.write_text("earlier")
    before = contents(folder)
    try:
        status, said, complained = run(weights, "-o", header, *arguments)
    except Exception as problem:  # whatever it is, it should have been a sentence
        return 1, "", f"{type(problem).__name__}: {problem}"
    changed = {path.name for path, _ in before ^ contents(folder)}
    if status == 0:
        right = not complained and changed - {"weights.out"} == {"model.hpp"} and header.read_text().endswith("}  // namespace model\n")
    else:
        wanted = {1: r"export\.py: .+\n", 2: r"usage: (.|\n)+"}.get(status, "")
        right = not said and not changed and re.fullmatch(wanted, complained)
    return status, said + complained, "" if right else f"exit status {status}, changed {changed}: {said[:200]}{complained[:500]}"


def refusal(folder, content, arguments=ARGUMENTS, phrase="", suffix=".safetensors"):
    """What is wrong with the answer to a file that must be refused, or nothing."""
    weights = folder / f"weights{suffix}"
    weights.write_bytes(content)
    status, said, problem = answer(folder, weights, *(str(argument).replace("FOLDER", str(folder)) for argument in arguments))
    return problem or ("" if status and phrase in said else f"expected: {phrase}\n{said}")


def call(*command, **settings):
    return subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", errors="replace", check=False, **settings)


def command(weights, header, *arguments, python=sys.executable):
    """The exporter as a user calls it."""
    return call(python, "-B", ROOT / "ports" / "pytorch" / "export.py", weights, "-o", header, *arguments)


def outputs(header, case, folder, *arguments):
    """What the exported layer makes of a case's input; or what went wrong, as text."""
    program = folder / "program"
    built = call(*COMPILER, "-O1", "-include", header, *arguments, ROOT / "tests" / "export" / "program.cpp", "-o", program)
    if built.returncode:
        return "\n".join(built.stderr.splitlines()[:20])
    ran = call(program, input=" ".join(repr(value) for row in case["input"] for value in row))
    return list(map(float, ran.stdout.split())) if ran.returncode == 0 else f"the program ended with {ran.returncode}"


@in_folder
def computes(folder, weights, case):
    """Whether the exported layer computes what PyTorch computed."""
    done = command(weights, folder / "model.hpp", *case["arguments"])
    found = done.stderr if done.returncode else outputs(folder / "model.hpp", case, folder)
    wanted = [value for row in case["output"] for value in row]
    if isinstance(found, str) or len(found) != len(wanted):
        return str(found)
    differences = [abs(a - b) for a, b in zip(found, wanted)]
    return "" if all(difference <= TOLERANCE for difference in differences) else f"the output differs from PyTorch's: {differences}"
