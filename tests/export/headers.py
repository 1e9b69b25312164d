# SPDX-License-Identifier: MIT
"""What an exported header is: a layer that computes what PyTorch computed, of the very bits of the file, in read-only memory, quick to
compile; and the binary.

    headers.py -- COMPILER ARGUMENT...
"""
import functools
import hashlib
import json
import os
import random
import re
import struct
import subprocess

import exporter
import tap
from exporter import ARGUMENTS, CASES, COMPILER, DATA, call, in_folder, run, safetensors

import export
from tinyattn_export import names

SECONDS = 2.0
IN_PLACE = ("w_query", "w_query_without_projection", "q_proj_key_without_bias", "qkv")
EDGES = [0.0, -0.0, 1.0, -1.0, 2.0**-149, -(2.0**-149), 2.0**-126, 1.1754942106924411e-38, 3.4028234663852886e38, -3.4028234663852886e38,
         0.1, 1 / 3, 16777217.0, 1e-40]
PARTS = """
bias = {tensor = "out_proj.bias"}
layer = {linear = "out_proj"}
first = {attention = ""}
second = {attention = "", num_heads = 4, causal = false}
"""
DUMP = """
#include "constants.hpp"
#include <cstdio>
template <class Part> void dump(const Part& part) { std::fwrite(&part, 1, sizeof part, stdout); }
const void* elsewhere();
int main() {
  dump(some::model::bias);
  dump(some::model::layer);
  dump(some::model::first);
  dump(some::model::second);
  return elsewhere() == &some::model::first ? 0 : 1;
}
"""
OTHER_UNIT = """
#include "constants.hpp"
const void* elsewhere();
const void* elsewhere() { return &some::model::first; }
"""


def compiled(folder, text, *arguments):
    """Compiles and links; what the compiler said, or nothing."""
    (folder / "main.cpp").write_text(text)
    done = call(*COMPILER, "-I", folder, folder / "main.cpp", *arguments, cwd=folder)
    return done.stderr if done.returncode else ""


@in_folder
def every_bit(folder):
    """The constants, and the binary, have the bits of the file: of a layer of 6 features to 8 with every kind of number. Two units with the
    header are one program, with one layer."""
    generator = random.Random(3)
    drawn = [struct.unpack("<f", struct.pack("<I", generator.getrandbits(31) % 0x7f800000))[0] for _ in range(202)]
    kept, tensors, taken = EDGES + drawn, {}, 0
    for name, d_in in (("W_query", 6), ("W_key", 6), ("W_value", 6), ("out_proj", 8)):
        matrix = [kept[taken + 8 * i + o] for o in range(8) for i in range(d_in)]  # tinyattn stores in x out
        tensors[f"{name}.weight"] = ("F32", (8, d_in), struct.pack(f"<{8 * d_in}f", *matrix))
        taken += 8 * d_in
    tensors["out_proj.bias"] = ("F32", (8,), struct.pack("<8f", *kept[taken:]))
    (folder / "weights.safetensors").write_bytes(safetensors(tensors))
    (folder / "parts.toml").write_text(PARTS)
    request = [folder / "weights.safetensors", "--parts", folder / "parts.toml", "--name", "some::model", *ARGUMENTS]
    run(*request, "-o", folder / "constants.hpp")
    run(*request, "-o", folder / "binary.hpp", "--binary", folder / "weights.bin")
    whole = struct.pack("<216f", *kept)
    wanted = whole[-32:] + whole[-288:] + whole + whole
    (folder / "other.cpp").write_text(OTHER_UNIT)
    problem = compiled(folder, DUMP, folder / "other.cpp", "-o", folder / "dump")
    if problem or call("sh", "-c", "./dump > constants.bin", cwd=folder).returncode:
        return problem or "two layers"
    different = [name for name in ("constants.bin", "weights.bin") if (folder / name).read_bytes() != wanted]
    if different:
        return f"{' and '.join(different)}: other bits"
    return compiled(folder, '#include "binary.hpp"\nstatic_assert(sizeof(some::model::Weights) == 2048);\n', "-c", "-o", "binary.o")


@in_folder
def in_place(folder, layout):
    """The binary, put into read-only memory by the assembler, computes the same where it lies."""
    request = [DATA / f"{layout}.safetensors", *CASES[layout]["arguments"]]
    run(*request, "-o", folder / "model.hpp")
    run(*request, "-o", folder / "binary.hpp", "--binary", folder / "weights.bin")
    (folder / "weights.s").write_text(f'.section .rodata\n.balign 4\n.globl model_weights\nmodel_weights: .incbin "{folder}/weights.bin"\n')
    constants = exporter.outputs(folder / "model.hpp", CASES[layout], folder)
    placed = exporter.outputs(folder / "binary.hpp", CASES[layout], folder, "-DIN_PLACE", folder / "weights.s")
    return "" if isinstance(placed, list) and placed == constants else f"{placed}\n{constants}"


@in_folder
def same_bytes(folder):
    """By command and from Python, wherever it is written; and it says where it comes from."""
    weights = DATA / "gpt2.safetensors"
    (folder / "other").mkdir()
    done = exporter.command(weights, folder / "command.hpp", *ARGUMENTS, "--prefix", "h.0.attn")
    part = export.attention("h.0.attn", num_heads=2, context_length=5, causal=True)
    export.write(folder / "other" / "python.hpp", export.read(weights), "model", {"attention": part})
    text = (folder / "command.hpp").read_text() if done.returncode == 0 else done.stderr
    wanted = ["gpt2.safetensors", hashlib.sha256(weights.read_bytes()).hexdigest(), "288 parameters, 1152 bytes",
              "8 features to 8, 2 heads, causal, at most 5 tokens",
              ".d_in = 8, .d_out = 8, .context_length = 5, .num_heads = 2, .causal = true"]
    missing = [words for words in wanted if words not in text]
    if text != (folder / "other" / "python.hpp").read_text() or str(folder) in text or str(DATA) in text:
        return "the bytes depend on the place, the time or the way"
    return f"it does not say {missing}" if missing else ""


@in_folder
def quick_to_compile(folder):
    """102,720 parameters, all of them in .rodata, and nothing in .data or .bss."""
    generator, width = random.Random(1), 160
    tensors = {name: ("F32", shape, struct.pack(f"<{count}f", *(generator.gauss(0, 0.1) for _ in range(count))))
               for name, shape, count in (("in_proj_weight", (3 * width, width), 3 * width**2), ("in_proj_bias", (3 * width,), 3 * width),
                                          ("out_proj.weight", (width, width), width**2))}
    (folder / "large.safetensors").write_bytes(safetensors(tensors))
    run(folder / "large.safetensors", "-o", folder / "large.hpp", *ARGUMENTS)
    (folder / "main.cpp").write_text('#include "large.hpp"\nconst void* address() { return &model::attention; }\n')
    compiler = subprocess.Popen([*COMPILER, "-I", folder, "-O2", "-c", "main.cpp", "-o", "large.o"], cwd=folder)
    _, compiler.returncode, used = os.wait4(compiler.pid, 0)
    seconds = used.ru_utime + used.ru_stime
    if compiler.returncode or seconds > SECONDS:
        return f"exit status {compiler.returncode}, {seconds:.2f} s for 102,720 parameters"
    sections = call("objdump", "-h", folder / "large.o").stdout
    size = {".rodata": 0, ".data": 0, ".bss": 0}
    for kind, length in re.findall(r"^ *\d+ (\.rodata|\.data|\.bss)\S* +([0-9a-f]{8})", sections, re.MULTILINE):
        size[kind] += int(length, 16)
    return "" if size[".rodata"] >= 4 * 102_720 and not size[".data"] + size[".bss"] else sections


@in_folder
def names_compile(folder):
    """Whatever word stands in a header or before the first one is a name that is refused, or one that compiles."""
    run(DATA / "qkv.safetensors", "-o", folder / "model.hpp", "--binary", folder / "weights.bin", *ARGUMENTS)
    (folder / "all.cpp").write_text('#include "model.hpp"\n')
    preprocessed = [call(*COMPILER, "-std=gnu++20", "-I", folder, "-E", folder / "all.cpp", option).stdout for option in ("-P", "-dM")]
    words = []
    for word in sorted({*re.findall(r"\b[A-Za-z]\w*", "".join(preprocessed))}):
        try:
            names.check_namespace(word)
            words.append(word)
        except export.Refusal:
            pass
    text = "".join(f"#ifdef {word}\n#error {word}\n#endif\nnamespace {word} {{ inline constexpr int {word}{{}}; }}\n" for word in words)
    problem = compiled(folder, f'#include "model.hpp"\n{text}', "-std=gnu++20", "-fsyntax-only")
    return problem or ("" if len(words) > 500 else f"only {words}")


@in_folder
def documented(folder):
    """The commands of both READMEs, the description of parts and the Python beside it, as they are typed."""
    readmes = [(exporter.ROOT / place / "README.md").read_text(encoding="utf-8") for place in ("", "ports/pytorch")]
    commands = re.findall(r"^ *(python3 ports/pytorch/export\.py .*)$", "".join(readmes), re.MULTILINE)
    description, snippet = (re.search(f"^```{start}(.*?)^```", readmes[1], re.MULTILINE | re.DOTALL)[1]
                            for start in ("toml\n", r"python\n(?=export\.write\()"))
    (folder / "ports").symlink_to(exporter.ROOT / "ports")
    (folder / "model.toml").write_text(description)
    (folder / "snippet.py").write_text(f"import sys\nsys.path.insert(0, 'ports/pytorch')\nimport export\n{snippet}")
    square, layer = ("F32", (32, 32)), {"in_proj_weight": ("F32", (96, 32)), "out_proj.weight": ("F32", (32, 32))}
    gpt2 = {"c_attn.weight": ("F32", (12, 36)), "c_proj.weight": ("F32", (12, 12))}
    parts = {"position": square, "classifier.weight": square, **{f"blocks.0.attn.{name}": value for name, value in layer.items()}}
    for command, tensors in (*((command, layer) for command in commands),
                             ("python3 ports/pytorch/export.py model.safetensors -o model.hpp --parts model.toml", parts),
                             ("python3 snippet.py", {f"h.{i}.attn.{name}": value for i in range(12) for name, value in gpt2.items()})):
        for name in ("weights", "model"):
            (folder / f"{name}.safetensors").write_bytes(safetensors(tensors))
        done = call("sh", "-c", command, cwd=folder, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        if done.returncode:
            return f"{command}\n{done.stderr}"
    return "" if len(commands) == 2 else f"{len(commands)} commands"


@in_folder
def left_out(folder, stems, *mapping):
    """What else a file may have is no misspelt part of its layer, in any order, with spaces and metadata."""
    layer = {f"{stem}.weight": ("F32", (8, 8)) for stem in stems}
    others = {"ln.weight": ("F32", (8,)), "ln.bias": ("F32", (8,)), "empty": ("F32", (0, 8)), "steps": ("I32", ())}
    content = safetensors({**layer, **others})
    start = 8 + int.from_bytes(content[:8], "little")
    header = {"__metadata__": {"format": "pt"}, **dict(reversed(json.loads(content[8:start]).items()))}
    (folder / "weights.safetensors").write_bytes(exporter.framed(json.dumps(header, indent=3).encode() + b"   ", content[start:]))
    _, said, complained = run(folder / "weights.safetensors", "-o", folder / "model.hpp", *ARGUMENTS, *mapping)
    return "" if "left out: steps, empty, ln.bias, ln.weight (no part of an attention layer)" in said else said + complained


tap.report([
    *((f"as PyTorch: {name}", functools.partial(exporter.computes, DATA / f"{name}.safetensors", case)) for name, case in CASES.items()),
    ("every bit of a weight", every_bit),
    *((f"a binary in place: {layout}", functools.partial(in_place, layout)) for layout in IN_PLACE),
    ("the same bytes each time", same_bytes),
    ("100,000 parameters compile in two seconds, into read-only memory", quick_to_compile),
    ("what the READMEs say", documented),
    ("a name is refused or compiles", names_compile),
    ("left out", functools.partial(left_out, ("wq", "wk", "wv"))),
    ("left out, as mapped", functools.partial(left_out, "qkv", "--map", "query=q.weight", "key=k.weight", "value=v.weight")),
])
