# SPDX-License-Identifier: MIT
"""Tests exported headers, binaries and files in C: what is read back of each layout computes what PyTorch computed, in
Python; some are compiled and run, and they have the exact bits of the file, lie in read-only memory, compile quickly.

    headers.py [each_night] -- COMPILER ARGUMENT...    each_night: compiles all layouts
"""
import contextlib
import hashlib
import json
import math
import os
import random
import re
import shlex
import struct
import sys

from ports.pytorch.tinyattn_export import ExportError, names
from tests.export import exporter, read_back
from tests.export.exporter import (ARGUMENTS, COMPILER, EXPECTED, HERE, IS_NIGHT, QUICKLY, ROOT, arguments_of, call,
                                   command, in_folder, run)
from tests.export.files import safetensors
from tests.export.models import PROMPT, STORED
from tests.support import tap

SECONDS = 2
READ_BACK = 3e-6  # the most difference of float32 in PyTorch from double precision, of the largest output
# Float and int8, each kind of positions and of cache, tied and not: each change compiles these, and a module.
COMPILED = ("multihead_attention_int8", "model_gpt2", "model_llama", "model_llama_meta_int8", "model_mistral",
            "encoder_norm_first", "convolution_padded_int8")
EDGES = [0.0, -0.0, 1.0, -1.0, 2.0**-149, -(2.0**-149), 2.0**-126, 1.1754942106924411e-38,
         3.4028234663852886e38, -3.4028234663852886e38, 0.1, 1 / 3, 16777217.0, 1e-40]
PARTS = """
kinds = {tensor = "kinds"}
linear = {linear = "classifier"}
transposed = {linear = "classifier", transposed = true}
convolution = {conv1d = "stem", stride = 2, padding = 1}
first = {attention = ""}
second = {attention = "", num_heads = 4, causal = false}
"""


def failure(folder, *steps):
    """Runs commands. Returns the output of the first that fails. The compiler finds headers in `folder`."""
    environment = {**os.environ, "CPATH": str(folder), "PYTHONPATH": "ports/pytorch", "PYTHONDONTWRITEBYTECODE": "1"}
    done = (call(*step, cwd=folder, env=environment) for step in steps)
    return next((f"{step.args}: {step.stdout}{step.stderr}" for step in done if step.returncode), "")


@in_folder
def computes_in_python(folder, name):
    """Checks that what is read back of a header computes what PyTorch computed; that binary and file in C hold the
    same; that a second export gives the same bytes; and that the header has the hash of the weights."""
    case, expected, content = STORED[name], EXPECTATIONS[name], safetensors(STORED[name].tensors)
    weights, header = folder / "weights.safetensors", folder / "model.hpp"
    weights.write_bytes(content)
    arguments = [weights, *arguments_of(case, folder)]
    by = command if name in COMPILED else run  # another process
    for start, path, *more in ((run, header), (by, folder / "again.hpp"),
                               (run, folder / "binary.hpp", "--binary", folder / "weights.bin")):
        status, _, errors = start(*arguments, "-o", path, *more)
        if status:
            return errors
    text = header.read_text()
    if text != (folder / "again.hpp").read_text() or hashlib.sha256(content).hexdigest() not in text:
        return "the bytes depend on the place or the time, or do not say which weights they are"
    part = read_back.of_header(text)
    if read_back.numbers(part[2]) != (folder / "weights.bin").read_bytes():
        return "the binary has other numbers than the header"
    return other_output(part, case, expected) or other_in_c(folder, arguments, part, case)


def other_output(part, case, expected):
    """Returns what a part computes if it is not what PyTorch computed."""
    output, tokens = read_back.computed(*part, case.input, PROMPT)
    tolerance = READ_BACK * max(abs(value) for row in expected["output"] for value in row)
    is_near = all(abs(a - b) <= tolerance for rows in zip(output, expected["output"], strict=True)
                  for a, b in zip(*rows, strict=True))
    return "" if is_near and tokens == expected["tokens"] else f"{output} {tokens}, not {expected}"


def other_in_c(folder, arguments, part, case):
    """Returns what a file in C has otherwise than the header."""
    status, _, errors = run(*arguments, "-o", folder / "in_c.h", "--c", "--name", "in_c")
    if status:
        return "" if exporter.is_not_for_c(errors, case) else errors
    return read_back.difference_in_c((folder / "in_c.c").read_text(), *part)


@in_folder
def module_computes(folder, name):
    """Checks a module that was exported: with its weights in a binary it computes what PyTorch computed."""
    golden, boards = ROOT / "tests" / "golden", ROOT / "ports" / "boards"
    sources = [golden / "modules.cpp", ROOT / "tests" / "support" / "run.cpp", boards / "host" / "host.cpp"]
    return failure(folder, [*COMPILER, *QUICKLY, "-I", ROOT / "tests", "-I", boards, f"-DNAME={name}",
                            '-DBOARD_NAME="host"', f'-DHEADER="{golden}/modules/{name}.hpp"',
                            f'-DWEIGHTS="{golden}/modules/{name}.bin"', *sources, "-o", "program"], ["./program"])


@in_folder
def every_bit(folder):
    """Checks that constants and binary have the bits of the file, for every kind of number; and that two units that
    include the header link to one program with one layer."""
    generator = random.Random(3)
    drawn = struct.pack("<202I", *(generator.getrandbits(31) % 0x7f800000 for _ in range(202)))
    kinds = struct.pack("<14f", *EDGES) + drawn
    tensors = {"kinds": ("F32", (8, 27), kinds), "classifier.bias": ("F32", (2,)),
               "classifier.weight": ("F32", (2, 2), struct.pack("<4f", 1, 2, 3, 4)),
               "stem.weight": ("F32", (2, 3, 2), struct.pack("<12f", *range(12))),
               "stem.bias": ("F32", (2,), struct.pack("<2f", -1, -2)),
               **{f"w{role}.weight": ("F32", (8, 8)) for role in "qkv"}}
    (folder / "weights.safetensors").write_bytes(safetensors(tensors))
    (folder / "parts.toml").write_text(PARTS)
    request = [folder / "weights.safetensors", "--parts", folder / "parts.toml", *ARGUMENTS]
    run(*request, "-o", folder / "constants.hpp", "--name", "some::model")
    run(*request, "-o", folder / "binary.hpp", "--name", "binary", "--binary", folder / "weights.bin")
    linear = struct.pack("<12f", 1, 3, 2, 4, 0, 0, 1, 2, 3, 4, 0, 0)
    convolution = struct.pack("<14f", 0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11, -1, -2)
    (folder / "wanted.bin").write_bytes(kinds + linear + convolution + bytes(2 * 3 * 4 * 8 * 8))
    dump = HERE / "dump.cpp"
    return failure(folder, [*COMPILER, "-c", dump], [*COMPILER, "-DOTHER", "-c", dump, "-o", "other.o"],
                   [*COMPILER, "dump.o", "other.o", "-o", "dump"], ["sh", "-c", "./dump > constants.bin"],
                   ["cmp", "wanted.bin", "constants.bin"], ["cmp", "wanted.bin", "weights.bin"])


@in_folder
def quick_to_compile(folder):
    """Checks that a header of 102,720 parameters compiles in time, with all of them in .rodata, and
    .data and .bss empty."""
    shapes = {"in_proj_weight": (480, 160), "in_proj_bias": (480,), "out_proj.weight": (160, 160)}
    tensors = {name: ("F32", shape, struct.pack("<f", 0.1) * math.prod(shape)) for name, shape in shapes.items()}
    (folder / "large.safetensors").write_bytes(safetensors(tensors))
    run(folder / "large.safetensors", "-o", folder / "large.hpp", *ARGUMENTS)
    (folder / "main.cpp").write_text('#include "large.hpp"\nconst void* address() { return &model::attention; }\n')
    problem = failure(folder, ["sh", "-c", f'ulimit -t {SECONDS} && exec "$@"', "in time",
                               *COMPILER, "-O2", "-c", "main.cpp"])
    sections = call("objdump", "-h", folder / "main.o").stdout
    read_only = sum(int(size, 16) for size in re.findall(r" \.rodata\S* +([0-9a-f]{8})", sections))
    is_written = re.search(r" \.(data|bss)\S* +0*[1-9a-f]", sections)
    return problem or ("" if read_only >= 4 * 102_720 and not is_written else sections)


@in_folder
def names_compile(folder):
    """Checks each word that occurs in the preprocessed headers or is a macro: as a name, it is
    refused or it compiles."""
    (folder / "qkv.safetensors").write_bytes(safetensors(STORED["qkv"].tensors))
    run(folder / "qkv.safetensors", "-o", folder / "model.hpp", "--binary", folder / "weights.bin", *ARGUMENTS)
    main = folder / "main.cpp"
    main.write_text('#include "model.hpp"\n')
    preprocessed = [call(*COMPILER, "-std=gnu++20", "-I", folder, "-E", main, option).stdout
                    for option in ("-P", "-dM")]
    words = []
    for word in sorted({*re.findall(r"\b[A-Za-z]\w*", "".join(preprocessed))}):
        with contextlib.suppress(ExportError):
            names.check_namespace(word)
            words.append(word)
    text = "".join(f"#ifdef {word}\n#error {word}\n#endif\n"
                   f"namespace {word} {{ inline constexpr int {word}{{}}; }}\n" for word in words)
    main.write_text(f'#include "model.hpp"\n{text}')
    problem = failure(folder, [*COMPILER, "-std=gnu++20", "-fsyntax-only", main])
    return problem or ("" if len(words) > 500 else f"only {words}")


@in_folder
def as_quantize(folder):
    """Checks that a model with int8 has the bits that `quantize` of the library makes of its
    floats, and as many parameters as the report says."""
    case = STORED["model_llama"]
    (folder / "weights.safetensors").write_bytes(safetensors(case.tensors))
    arguments = [folder / "weights.safetensors", *exporter.arguments_of(case, folder)]
    run(*arguments, "-o", folder / "floats.hpp", "--name", "floats")
    _, report, _ = run(*arguments, "-o", folder / "codes.hpp", "--name", "codes", "--weights", "int8")
    count = re.search(r"; (\d+) parameters", report)[1]
    program = [*COMPILER, f"-DPARAMETERS={count}", HERE / "quantized.cpp", "-o", "quantized"]
    return failure(folder, program, ["./quantized"])


def documented_tensors():
    """Returns the tensors of all files that the pages name."""
    layers = ("", "blocks.0.attn.", "encoder.layers.0.self_attn.")
    by_shape = {
        (96, 32): [f"{prefix}in_proj_weight" for prefix in layers],
        (32, 32): ["position", "classifier.weight", *(f"{prefix}out_proj.weight" for prefix in layers)],
        (64, 32): ["encoder.layers.0.linear1.weight"],
        (32, 64): ["encoder.layers.0.linear2.weight"],
        (32,): [f"encoder.layers.0.norm{i}.weight" for i in (1, 2)],
        (12, 36): [f"h.{i}.attn.c_attn.weight" for i in range(12)],
        (32, 6, 3): ["stem.weight"],
        (12, 12): [f"h.{i}.attn.c_proj.weight" for i in range(12)]}
    return {name: ("F32", shape) for shape, members in by_shape.items() for name in members}


@in_folder
def documented(folder):
    """Checks the commands and code of the pages, as they are typed: several parts, in TOML and in
    Python; training, if there is PyTorch; exporting and including."""
    pages = [(ROOT / page).read_text(encoding="utf-8")
             for page in ("README.md", "ports/pytorch/README.md", "include/tinyattn/models.md")]
    commands = re.findall(r"^ *(python3 ports/pytorch/export\.py .*)$", "".join(pages), re.MULTILINE)
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", pages[1], re.MULTILINE | re.DOTALL)
    (module, train, parts), mains, (toml,), (in_c,) = (
        [text for kind, text in blocks if kind == wanted] for wanted in ("python", "cpp", "toml", "c"))
    llama, files = STORED["model_llama"], safetensors(documented_tensors())
    exporter.arguments_of(llama, folder)
    for name, content in zip(
            ("gestures.cpp", "main.cpp", "writer.cpp", "model.toml", "in_c.c", "llama", "model", "weights"),
            (*(text.encode() for text in (*mains, toml, in_c)), safetensors(llama.tensors), files, files)):
        (folder / (name if "." in name else f"{name}.safetensors")).write_bytes(content)
    (folder / "tokenizer.json").write_text(json.dumps(list("abcdefghijk")))
    (folder / "ports").symlink_to(ROOT / "ports")
    several = "python3 ports/pytorch/export.py model.safetensors -o model.hpp --parts model.toml"
    problem = failure(
        folder, [sys.executable, "-c", f"import export\n{parts}"], ["sh", "-c", several],
        *([sys.executable, "-c", f"try: import torch\nexcept ImportError: raise SystemExit\n{code}"]
          for code in (module, train)),
        *(["sh", "-c", command] for command in commands),
        *([*COMPILER, "-c", name] for name in ("main.cpp", "writer.cpp")),
        ["sh", "-c", f"test ! -e gestures.hpp || {shlex.join(map(str, COMPILER))} -c gestures.cpp"])
    for name in ("in_c", "poses"):
        problem = problem or exporter.c_compiler("-c", folder / f"{name}.c", "-o", folder / f"{name}.o").stderr
    return problem or ("" if len(commands) == 8 else f"{len(commands)} commands")


EXPECTATIONS = json.loads(EXPECTED.read_text(encoding="utf-8"))
tap.report([
    *((f"in Python, as PyTorch: {name}", computes_in_python, name) for name in STORED),
    *((f"compiled, as PyTorch: {name}", exporter.computes, safetensors(STORED[name].tensors), STORED[name],
       EXPECTATIONS[name], ("-O1",) if IS_NIGHT else QUICKLY) for name in (STORED if IS_NIGHT else COMPILED)),
    ("compiled, as PyTorch: a module", module_computes, "functional"),
    ("every bit of a weight", every_bit), ("int8 as quantize makes it", as_quantize),
    ("100,000 parameters compile in two seconds, into read-only memory", quick_to_compile),
    ("what the pages say", documented),
    ("a name is refused or compiles", names_compile),
])
