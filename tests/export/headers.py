# SPDX-License-Identifier: MIT
"""Tests exported headers and binaries: they compute what PyTorch computed, have the exact bits of the file, lie in
read-only memory, and compile quickly.

    headers.py -- COMPILER ARGUMENT...
"""
import contextlib
import math
import os
import random
import re
import struct
import sys

from ports.pytorch.tinyattn_export import ExportError, names
from tests.export import exporter
from tests.export.exporter import ARGUMENTS, CASES, COMPILER, DATA, MODELS, ROOT, call, in_folder, run, safetensors
from tests.support import tap

SECONDS = 2
DUMP = ROOT / "tests" / "export" / "dump.cpp"
EDGES = [0.0, -0.0, 1.0, -1.0, 2.0**-149, -(2.0**-149), 2.0**-126, 1.1754942106924411e-38, 3.4028234663852886e38,
         -3.4028234663852886e38,
         0.1, 1 / 3, 16777217.0, 1e-40]
PARTS = """
kinds = {tensor = "kinds"}
linear = {linear = "classifier"}
transposed = {linear = "classifier", transposed = true}
first = {attention = ""}
second = {attention = "", num_heads = 4, causal = false}
"""


def failure(folder, *steps):
    """Runs commands. Returns the output of the first that fails. The compiler finds headers in `folder`."""
    done = (call(*step, cwd=folder, env={**os.environ, "CPATH": str(folder), "PYTHONPATH": "ports/pytorch",
                                       "PYTHONDONTWRITEBYTECODE": "1"}) for step in steps)
    return next((f"{step.args}: {step.stdout}{step.stderr}" for step in done if step.returncode), "")


@in_folder
def every_bit(folder):
    """Checks that constants and binary have the bits of the file, for every kind of number; and that two units that
    include the header link to one program with one layer."""
    generator = random.Random(3)
    drawn = [struct.unpack("<f", struct.pack("<I", generator.getrandbits(31) % 0x7f800000))[0] for _ in range(202)]
    kinds, zeros = struct.pack("<216f", *EDGES, *drawn), {f"w{role}.weight": ("F32", (8, 8)) for role in "qkv"}
    linear = {"classifier.weight": ("F32", (2, 2), struct.pack("<4f", 1, 2, 3, 4)), "classifier.bias": ("F32", (2,))}
    (folder / "weights.safetensors").write_bytes(safetensors({"kinds": ("F32", (8, 27), kinds), **linear, **zeros}))
    (folder / "parts.toml").write_text(PARTS)
    request = [folder / "weights.safetensors", "--parts", folder / "parts.toml", *ARGUMENTS]
    run(*request, "-o", folder / "constants.hpp", "--name", "some::model")
    run(*request, "-o", folder / "binary.hpp", "--name", "binary", "--binary", folder / "weights.bin")
    wanted = kinds + struct.pack("<12f", 1, 3, 2, 4, 0, 0, 1, 2, 3, 4, 0, 0) + bytes(2 * 3 * 4 * 8 * 8)
    (folder / "wanted.bin").write_bytes(wanted)
    return failure(folder, [*COMPILER, "-c", DUMP], [*COMPILER, "-DOTHER", "-c", DUMP, "-o", "other.o"],
                   [*COMPILER, "dump.o", "other.o", "-o", "dump"], ["sh", "-c", "./dump > constants.bin"],
                   ["cmp", "wanted.bin", "constants.bin"], ["cmp", "wanted.bin", "weights.bin"])


@in_folder
def quick_to_compile(folder):
    """Checks that a header of 102,720 parameters compiles in time, with all of them in .rodata, and .data and .bss
    empty."""
    shapes = {"in_proj_weight": (480, 160), "in_proj_bias": (480,), "out_proj.weight": (160, 160)}
    tensors = {name: ("F32", shape, struct.pack("<f", 0.1) * math.prod(shape)) for name, shape in shapes.items()}
    (folder / "large.safetensors").write_bytes(safetensors(tensors))
    run(folder / "large.safetensors", "-o", folder / "large.hpp", *ARGUMENTS)
    (folder / "main.cpp").write_text('#include "large.hpp"\nconst void* address() { return &model::attention; }\n')
    problem = failure(folder, ["sh", "-c", f'ulimit -t {SECONDS} && exec "$@"', "in time", *COMPILER, "-O2", "-c",
                               "main.cpp"])
    sections = call("objdump", "-h", folder / "main.o").stdout
    read_only = sum(int(length, 16) for length in re.findall(r" \.rodata\S* +([0-9a-f]{8})", sections))
    right = read_only >= 4 * 102_720 and not re.search(r" \.(data|bss)\S* +0*[1-9a-f]", sections)
    return problem or ("" if right else sections)


@in_folder
def names_compile(folder):
    """Checks each word that occurs in the preprocessed headers or is a macro: as a name, it is refused or it
    compiles."""
    run(DATA / "qkv.safetensors", "-o", folder / "model.hpp", "--binary", folder / "weights.bin", *ARGUMENTS)
    (folder / "all.cpp").write_text('#include "model.hpp"\n')
    preprocessed = [call(*COMPILER, "-std=gnu++20", "-I", folder, "-E", folder / "all.cpp", option).stdout
                    for option in ("-P", "-dM")]
    words = []
    for word in sorted({*re.findall(r"\b[A-Za-z]\w*", "".join(preprocessed))}):
        with contextlib.suppress(ExportError):
            names.check_namespace(word)
            words.append(word)
    text = "".join(f"#ifdef {word}\n#error {word}\n#endif\nnamespace {word} {{ inline constexpr int {word}{{}}; }}\n"
                   for word in words)
    (folder / "all.cpp").write_text(f'#include "model.hpp"\n{text}')
    problem = failure(folder, [*COMPILER, "-std=gnu++20", "-fsyntax-only", "all.cpp"])
    return problem or ("" if len(words) > 500 else f"only {words}")


@in_folder
def documented(folder):
    """Checks the commands and code of the pages, as they are typed: several parts, in TOML and in Python; training, if
    there is PyTorch; exporting and including."""
    texts = [(ROOT / page).read_text(encoding="utf-8")
             for page in ("README.md", "ports/pytorch/README.md", "include/tinyattn/models.md")]
    commands = re.findall(r"^ *(python3 ports/pytorch/export\.py .*)$", "".join(texts), re.MULTILINE)
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", texts[1], re.MULTILINE | re.DOTALL)
    (train, parts), *others = ([text for kind, text in blocks if kind == wanted]
                               for wanted in ("python", "cpp", "toml"))
    for name, text in zip(("main.cpp", "writer.cpp", "model.toml"), sum(others, [])):
        (folder / name).write_text(text)
    exporter.arguments_of(MODELS["model_llama"], folder)
    (folder / "llama.safetensors").write_bytes((DATA / "model_llama.safetensors").read_bytes())
    (folder / "ports").symlink_to(ROOT / "ports")
    attention_layers = ("", "blocks.0.attn.", "encoder.layers.0.self_attn.")
    by_shape = {(96, 32): [f"{prefix}in_proj_weight" for prefix in attention_layers],
                (32, 32): ["position", "classifier.weight",
                           *(f"{prefix}out_proj.weight" for prefix in attention_layers)],
                (64, 32): ["encoder.layers.0.linear1.weight"], (32, 64): ["encoder.layers.0.linear2.weight"],
                (32,): [f"encoder.layers.0.norm{i}.weight" for i in (1, 2)],
                (12, 36): [f"h.{i}.attn.c_attn.weight" for i in range(12)],
                (12, 12): [f"h.{i}.attn.c_proj.weight" for i in range(12)]}
    tensors = {name: ("F32", shape) for shape, names_of_shape in by_shape.items() for name in names_of_shape}
    for name in ("model", "weights"):
        (folder / f"{name}.safetensors").write_bytes(safetensors(tensors))
    python = [sys.executable, "-c"]
    several = "python3 ports/pytorch/export.py model.safetensors -o model.hpp --parts model.toml"
    problem = failure(
        folder, [*python, f"import export\n{parts}"], ["sh", "-c", several],
        [*python, f"try: import torch\nexcept ImportError: raise SystemExit\n{train}"],
        *(["sh", "-c", command] for command in commands), [*COMPILER, "-c", "main.cpp"],
        [*COMPILER, "-c", "writer.cpp"])
    return problem or ("" if len(commands) == 4 else f"{len(commands)} commands")


tap.report([
    *((f"as PyTorch: {name}", exporter.computes, DATA / f"{name}.safetensors", case) for name,
      case in {**CASES, **MODELS}.items()),
    ("every bit of a weight", every_bit),
    ("100,000 parameters compile in two seconds, into read-only memory", quick_to_compile),
    ("what the pages say", documented),
    ("a name is refused or compiles", names_compile),
])
