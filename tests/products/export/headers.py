# SPDX-License-Identifier: MIT
"""Tests exported headers, binaries and files in C: each layout is compiled and computes what PyTorch computed; they have
the exact bits of the file, lie in read-only memory, compile quickly.

    headers.py [each_night] -- COMPILER ARGUMENT...    each_night: with optimization
"""
import hashlib
import json
import math
import os
import random
import re
import shlex
import struct
import sys

from tests.products.export import exporter, typed
from tests.products.export.exporter import (ARGUMENTS, COMPILER, EXPECTED, HERE, IS_NIGHT, QUICKLY, ROOT, arguments_of, call,
                                   command, run)
from tests.products.export.files import safetensors
from tests.products.export.models import STORED
from tests.support import tap
from tests.support.tap import in_folder

SECONDS = 2
# The library's `quantize` of a model's floats has the bits of the exported int8 model.
QUANTIZED = """\
constexpr bool is_quantized(const auto& floats, const auto& codes) {
  const auto& wanted = floats.transformer.blocks[1];
  const auto& found = codes.transformer.blocks[1];
  return quantize(floats.token_embedding) == codes.token_embedding && quantize(floats.head) == codes.head &&
         quantize(wanted.attention.key) == found.attention.key && quantize(wanted.feed_forward.down) == found.feed_forward.down &&
         wanted.attention_norm == found.attention_norm;
}
static_assert(is_quantized(model_llama::model, model_llama_int8::model));"""
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
    environment = {**os.environ, "CPATH": str(folder), "PYTHONPATH": "ports/pytorch", "PYTHONDONTWRITEBYTECODE": "1",
                   "CXX": f"{COMPILER[0]} -O0"}
    done = (call(*step, cwd=folder, env=environment) for step in steps)
    return next((f"{step.args}: {step.stdout}{step.stderr}" for step in done if step.returncode), "")


@in_folder
def is_the_same_again(folder, name):
    """Checks that a second export, in another process and place, gives the same bytes, and that the header has the hash of
    the weights."""
    content = safetensors(STORED[name].tensors)
    (folder / "weights.safetensors").write_bytes(content)
    arguments = [folder / "weights.safetensors", *arguments_of(STORED[name], folder)]
    problem = "".join(by(*arguments, "-o", folder / path)[2] for by, path in ((run, "a.hpp"), (command, "b.hpp")))
    texts = [(folder / path).read_text() for path in ("a.hpp", "b.hpp")]
    is_right = texts[0] == texts[1] and hashlib.sha256(content).hexdigest() in texts[0]
    return problem or ("" if is_right else "the bytes depend on the place or the time, or have another hash")


@in_folder
def module_computes(folder, name):
    """Checks an exported module whose weights are in a binary: it computes what PyTorch computed."""
    golden, boards = ROOT / "tests" / "golden", ROOT / "ports" / "boards"
    sources = [golden / "modules.cpp", ROOT / "tests" / "support" / "run.cpp", boards / "host" / "host.cpp"]
    return failure(folder, [*COMPILER, *QUICKLY, "-I", ROOT / "tests", "-I", boards, f"-DNAME={name}",
                            '-DBOARD_NAME="host"', f'-DHEADER="{golden}/modules/{name}.hpp"',
                            f'-DWEIGHTS="{golden}/modules/{name}.bin"', *sources, "-o", "program"], ["./program"])


@in_folder
def every_bit(folder):
    """Checks that constants and binary have the file's bits, for every kind of number; and that two units that include
    the header link to a program with one copy of the layer."""
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


def documented_tensors():
    """Returns the tensors of all files that pages name."""
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
    blocks = [*typed.blocks(ROOT / "ports/pytorch/README.md"), *typed.blocks(ROOT / "README.md")]
    (module, cost, train, parts, first), mains, (toml,), (in_c,) = (
        [text for kind, text in blocks if kind == wanted] for wanted in ("python", "cpp", "toml", "c"))
    llama, files = STORED["model_llama"], safetensors(documented_tensors())
    exporter.arguments_of(llama, folder)
    for name, content in zip(
            ("gestures.cpp", "main.cpp", "writer.cpp", "first.cpp", "model.toml", "in_c.c", "llama", "model", "weights"),
            (*(text.encode() for text in (*mains, toml, in_c)), safetensors(llama.tensors), files, files)):
        (folder / (name if "." in name else f"{name}.safetensors")).write_bytes(content)
    (folder / "tokenizer.json").write_text(json.dumps(list("abcdefghijk")))
    (folder / "ports").symlink_to(ROOT / "ports")
    several = "python3 ports/pytorch/export.py model.safetensors -o model.hpp --parts model.toml"
    problem = failure(
        folder, [sys.executable, "-c", f"import export\n{parts}"], ["sh", "-c", several],
        *([sys.executable, "-c", f"try: import torch\nexcept ImportError: raise SystemExit\n{code}"]
          for code in (module, cost, train, first)),
        *(["sh", "-c", command] for command in commands),
        *([*COMPILER, "-c", name] for name in ("main.cpp", "writer.cpp")),
        *(["sh", "-c", f"if test -e {header}.hpp; then {shlex.join(map(str, COMPILER))} {name}.cpp -o {name} {then}; fi"]
          for header, name, then in (("gestures", "gestures", "-c"), ("net", "first", "&& ./first"))))
    for name in ("in_c", "poses"):
        problem = problem or exporter.c_compiler("-c", folder / f"{name}.c", "-o", folder / f"{name}.o").stderr
    return problem or ("" if len(commands) == 7 else f"{len(commands)} commands")


def refused_in_c(flag, phrase):
    """What includes the header of C, such as NAME.c, does not compile with a flag that the headers of C++ refuse."""
    headers = [ROOT / name for name in ("include/tinyattn/tinyattn.h", "ports/simd/tinyattn/port/compiler.hpp")]
    said = exporter.c_compiler(flag, "-fsyntax-only", "-x", "c", headers[0]).stderr
    conditions = {re.search("#if defined.__FAST_MATH__.*?#endif.*?#endif", header.read_text(), re.DOTALL)[0] for header in headers}
    return "" if phrase in said and len(conditions) == 1 else f"not printed: {phrase}\n{said}\n{conditions}"


tap.report([
    *exporter.points(STORED, json.loads(EXPECTED.read_text(encoding="utf-8")), ("-O1",) if IS_NIGHT else QUICKLY, QUANTIZED),
    *((f"the same again: {name}", is_the_same_again, name) for name in ("multihead_attention_int8", "model_gpt2")),
    ("compiled, as PyTorch: a module", module_computes, "functional"),
    ("every bit of a weight", every_bit),
    ("100,000 parameters compile in two seconds, into read-only memory", quick_to_compile),
    ("what the pages say", documented),
    *((f"refused in C: {flag}", refused_in_c, flag, phrase) for flag, phrase in (
        ("-Ofast", "which -ffast-math forbids"), ("-ffinite-math-only", "which -ffinite-math-only (a part of -ffast-math) forbids"))),
])
