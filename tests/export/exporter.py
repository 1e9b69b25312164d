# SPDX-License-Identifier: MIT
"""Functions of the tests of the exporter: make files of weights, run the exporter within this process or as a command,
and run what it wrote."""
import contextlib
import functools
import hashlib
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
import time

from ports.pytorch.tinyattn_export import command_line

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "export" / "data"
CASES, MODELS = (json.loads((DATA / name).read_text(encoding="utf-8")) for name in ("cases.json", "models.json"))
COMPILER = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
ARGUMENTS = ("--num-heads", "2", "--context-length", "5", "--causal")
SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I32": 4, "U8": 1, "BOOL": 1}
SECONDS = 2.0  # of processor time, for any file
STREAMS = threading.RLock()  # guards the standard streams, and what tests patch
TOLERANCE, OF_LARGEST = 4e-6, 8e-6  # of a layer, absolute; of a model, relative to its largest output


def in_folder(check):
    """Decorates a check: its first argument becomes an empty folder of its own."""
    def with_folder(*arguments, **settings):
        with tempfile.TemporaryDirectory() as name:
            return check(pathlib.Path(name), *arguments, **settings)
    return functools.wraps(check)(with_folder)


def frame(header, data=b""):
    """Returns a .safetensors with this header: bytes, or a value that is encoded as JSON."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def split(content):
    """Returns the header of a .safetensors as a dict, and the data."""
    start = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:start]), content[start:]


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


def run(*arguments):
    """Runs the exporter within this process. Returns its exit status, stdout and stderr."""
    output, errors = io.StringIO(), io.StringIO()
    output.reconfigure = errors.reconfigure = lambda **_: None
    with STREAMS, contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = command_line.main([str(argument) for argument in arguments])
        except SystemExit as usage:
            status = usage.code
    return status, output.getvalue(), errors.getvalue()


def call(*command, **settings):
    return subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", errors="replace",
                          check=False, **settings)


def command(*arguments):
    """Runs export.py as a command. Returns the same as run."""
    done = call(sys.executable, "-B", ROOT / "ports" / "pytorch" / "export.py", *arguments)
    return done.returncode, done.stdout, done.stderr


def contents(folder):
    return {(path.name, path.read_bytes()) for path in folder.iterdir()}


def answer(folder, *arguments, by=run):
    """Runs the exporter. Returns its exit status, its output, and what is wrong with them. Either it writes a complete
    header; or it changes and adds no file, and prints one sentence, or its usage, on stderr. It must be quick."""
    header = folder / "model.hpp"
    for path in (header, folder / "weights.bin"):
        path.write_text("earlier")
    before, start = contents(folder), time.thread_time()
    try:
        status, output, errors = by("-o", header, *arguments)
    except Exception as problem:  # of any kind: it should have been an error message
        return 1, "", f"{type(problem).__name__}: {problem}"
    seconds, changed = time.thread_time() - start, {name for name, _ in before ^ contents(folder)}
    if status == 0:
        whole = header.read_text().endswith("}  // namespace model\n")
        right = not errors and changed - {"weights.bin"} == {"model.hpp"} and whole
    else:
        wanted = {1: r"export\.py: .+\n", 2: r"usage: (.|\n)+"}.get(status, "")
        right = not output and not changed and re.fullmatch(wanted, errors)
    text = f"exit status {status}, {seconds} s, changed {changed}: {output[:200]}{errors[:500]}"
    return status, output + errors, "" if right and seconds < SECONDS else text


@in_folder
def answer_problem(folder, phrase, content, arguments=ARGUMENTS, description="", config="", suffix=".safetensors",
                   accepts=False, by=run):
    """Returns what is wrong with the answer to a file that must be refused with `phrase`, or be accepted. FOLDER, in an
    argument or a description, becomes the folder of the files."""
    weights = folder / f"weights{suffix}"
    weights.write_bytes(content)
    (folder / "model.toml").write_text(description.replace("FOLDER", str(folder)))
    (folder / "config.json").write_text(config)
    status, output, problem = answer(folder, weights,
                                     *(argument.replace("FOLDER", str(folder)) for argument in arguments), by=by)
    return problem or ("" if accepts == (status == 0) and phrase in output else f"expected: {phrase}\n{output}")


def arguments_of(case, folder):
    """Returns the arguments of a case. Writes its other files into the folder."""
    for name, content in case.get("files", {}).items():
        (folder / name).write_text(content)
    return [argument.replace("FOLDER", str(folder)) for argument in case["arguments"]]


@in_folder
def computes(folder, weights, case):
    """Checks that the layer or model computes what PyTorch computed, both as a constant and from a binary that the
    assembler puts into read-only memory; that exporting twice gives the
    same bytes; and that the header has the hash of the weights."""
    arguments, part = arguments_of(case, folder), case.get("part", "attention")
    output = [command(weights, "-o", folder / "model.hpp", *arguments),
            run(weights, "-o", folder / "again.hpp", *arguments),
            run(weights, "-o", folder / "binary.hpp", "--name", "binary", "--binary", folder / "weights.bin",
                *arguments)]
    if any(status for status, _, _ in output):
        return "".join(errors for _, _, errors in output)
    header = (folder / "model.hpp").read_text()
    if header != (folder / "again.hpp").read_text() or hashlib.sha256(weights.read_bytes()).hexdigest() not in header:
        return "the bytes depend on the place or the time, or do not say which weights they are"
    placed = f'.section .rodata\n.balign 4\n.globl placed\nplaced: .incbin "{folder}/weights.bin"\n'
    (folder / "weights.s").write_text(placed)
    done = call(*COMPILER, "-O1", f"-DPART={part}", "-I", folder, ROOT / "tests/export/program.cpp",
                folder / "weights.s",
                "-o", folder / "program")
    if done.returncode == 0:
        done = call(folder / "program", input="".join(f"{value} " for row in 2 * case["input"] for value in row))
    return done.stderr[:2000] or difference(list(map(float, done.stdout.split())), case)


def difference(found, case):
    """Returns the difference between outputs and tokens and those of PyTorch, or an empty string."""
    output, tokens = [value for row in case["output"] for value in row], case.get("tokens", [])
    tolerance = OF_LARGEST * max(map(abs, output)) if "part" in case else TOLERANCE
    wanted = 2 * (output + tokens)
    near = len(found) == len(wanted) and all(abs(a - b) <= tolerance for a, b in zip(found, wanted))
    return "" if near else f"not PyTorch's output, to {tolerance}: {found[:100]}\n{wanted[:100]}"
