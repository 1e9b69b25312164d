# SPDX-License-Identifier: MIT
"""What an exported header is: the very bits of the file, the same each time, in read-only memory, quick to compile; and the binary.

    headers.py -- COMPILER ARGUMENT...
"""
import array
import functools
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import files
import layers
import tap

import export
from tinyattn_export import names

DATA = HERE / "data"
SECONDS = 2.0
COMPILER = sys.argv[sys.argv.index("--") + 1:]
EDGES = [0.0, -0.0, 1.0, -1.0, 2.0**-149, -(2.0**-149), 2.0**-126, 1.1754942106924411e-38, 3.4028234663852886e38, -3.4028234663852886e38,
         0.1, 1 / 3, 16777217.0, 1e-40]

IN_PLACE = """
.section .rodata
.balign 4
.globl model_weights
model_weights: .incbin "{}"
"""

DUMP = """
#include "parts.hpp"
#include <cstdio>
template <class Part> void dump(const Part& part) { std::fwrite(&part, 1, sizeof part, stdout); }
int main() {
  dump(some::model::bias);
  dump(some::model::layer);
  dump(some::model::first);
  dump(some::model::second);
}
"""


def in_folder(check):
    """Gives a check a folder of its own."""
    def with_folder(*arguments):
        with tempfile.TemporaryDirectory() as name:
            return check(pathlib.Path(name), *arguments)
    return functools.wraps(check)(with_folder)


def compiled(folder, text, *arguments):
    """Compiles and links; what the compiler said, or nothing."""
    (folder / "main.cpp").write_text(text)
    done = layers.call([*COMPILER, "-I", folder, folder / "main.cpp", *arguments], cwd=folder)
    return done.stderr if done.returncode else ""


def exact_weights():
    """A layer of 6 features to 8 with every kind of number, stored as tinyattn keeps it: rows of inputs."""
    generator = random.Random(3)
    numbers = EDGES + [struct.unpack("<f", struct.pack("<I", generator.getrandbits(31) % 0x7f800000))[0] for _ in range(202)]
    kept = array.array("f", numbers[:216])
    tensors, taken = {}, 0
    for name, d_in in (("W_query", 6), ("W_key", 6), ("W_value", 6), ("out_proj", 8)):
        rows = [kept[taken + 8 * i:taken + 8 * (i + 1)] for i in range(d_in)]
        tensors[f"{name}.weight"] = ("F32", (8, d_in), files.float32([row[o] for o in range(8) for row in rows]))
        taken += 8 * d_in
    tensors["out_proj.bias"] = ("F32", (8,), files.float32(kept[taken:]))
    return tensors, files.float32(kept)


@in_folder
def every_bit(folder):
    """The constants, and the binary, have the bits of the file."""
    tensors, kept = exact_weights()
    (folder / "weights.safetensors").write_bytes(files.file(tensors))
    (folder / "parts.toml").write_text('[bias]\ntensor = "out_proj.bias"\n[layer]\nlinear = "out_proj"\n'
                                       '[first]\nattention = ""\n[second]\nattention = ""\nnum_heads = 4\ncausal = false\n')
    request = [folder / "weights.safetensors", "--parts", folder / "parts.toml", "--name", "some::model", *files.ARGUMENTS]
    for arguments in (["-o", folder / "parts.hpp"], ["-o", folder / "binary.hpp", "--binary", folder / "weights.bin"]):
        status, _, said = files.run([*request, *arguments])
        if status:
            return said
    wanted = kept[-32:] + kept[-288:] + kept + kept
    problem = compiled(folder, DUMP, "-o", folder / "dump")
    if problem:
        return problem
    if subprocess.run([folder / "dump"], capture_output=True, check=False).stdout != wanted:
        return "the constants have other bits"
    if (folder / "weights.bin").read_bytes() != wanted:
        return "the binary has other bits"
    return compiled(folder, '#include "binary.hpp"\nstatic_assert(sizeof(some::model::Weights) == 2048);\n', "-c", "-o", "binary.o")


@in_folder
def in_place(folder, layout):
    """The binary, put into read-only memory by the assembler, computes the same where it lies."""
    case = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))[layout]
    request = [DATA / f"{layout}.safetensors", *case["arguments"]]
    files.run([*request, "-o", folder / "model.hpp"])
    files.run([*request, "-o", folder / "binary.hpp", "--binary", folder / "weights.bin"])
    (folder / "weights.s").write_text(IN_PLACE.format(folder / "weights.bin"))
    constants = layers.outputs(folder / "model.hpp", case["input"], COMPILER, folder)
    placed = layers.outputs(folder / "binary.hpp", case["input"], COMPILER, folder, "-DIN_PLACE", folder / "weights.s")
    return "" if isinstance(placed, list) and placed == constants else f"{placed}\n{constants}"


@in_folder
def same_bytes(folder):
    """Wherever it is written, and however often; and it says where it comes from."""
    weights = DATA / "gpt2.safetensors"
    texts = []
    for number in range(2):
        (folder / str(number)).mkdir()
        done = layers.export(weights, folder / str(number) / f"{number}.hpp", *files.ARGUMENTS, "--prefix", "h.0.attn")
        texts.append((folder / str(number) / f"{number}.hpp").read_text() if done.returncode == 0 else done.stderr)
    wanted = ["gpt2.safetensors", hashlib.sha256(weights.read_bytes()).hexdigest(), "288 parameters, 1152 bytes",
              "8 features to 8, 2 heads, causal, at most 5 tokens",
              ".d_in = 8, .d_out = 8, .context_length = 5, .num_heads = 2, .causal = true"]
    missing = [text for text in wanted if text not in texts[0]]
    if texts[0] != texts[1] or str(folder) in texts[0] or str(DATA) in texts[0]:
        return "the bytes depend on the place or the time"
    return f"it does not say {missing}" if missing else ""


def large_header(folder):
    """A layer of 102,720 parameters."""
    generator, width = random.Random(1), 160
    draw = lambda count: files.float32([generator.gauss(0, 0.1) for _ in range(count)])
    tensors = {"in_proj_weight": ("F32", (3 * width, width), draw(3 * width * width)),
               "in_proj_bias": ("F32", (3 * width,), draw(3 * width)),
               "out_proj.weight": ("F32", (width, width), draw(width * width))}
    (folder / "large.safetensors").write_bytes(files.file(tensors))
    return files.run([folder / "large.safetensors", "-o", folder / "large.hpp", *files.ARGUMENTS])[2]


@in_folder
def quick_to_compile(folder):
    problem = large_header(folder)
    if problem:
        return problem
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    problem = compiled(folder, '#include "large.hpp"\nconst void* address() { return &model::attention; }\n', "-O2", "-c", "-o", "large.o")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if problem or seconds > SECONDS:
        return problem or f"{seconds:.2f} s for 102,720 parameters"
    return in_read_only_memory(folder / "large.o", 4 * 102_720)


def in_read_only_memory(unit, size):
    """The sections of an object: all of the layer is in .rodata, and nothing is in .data or .bss."""
    sections = layers.call(["objdump", "-h", unit]).stdout
    found = re.findall(r"^ *\d+ (\.(?:rodata|data|bss)\S*) +([0-9a-f]{8})", sections, re.MULTILINE)
    bytes_of = {kind: sum(int(length, 16) for name, length in found if name.startswith(kind)) for kind in (".rodata", ".data", ".bss")}
    return "" if bytes_of[".rodata"] >= size and not bytes_of[".data"] + bytes_of[".bss"] else sections


@in_folder
def in_two_units(folder):
    """Two units with the header are one program, with one layer."""
    files.run([DATA / "wq_bfloat16.safetensors", "-o", folder / "model.hpp", *files.ARGUMENTS])
    (folder / "other.cpp").write_text('#include "model.hpp"\nconst void* other();\nconst void* other() { return &model::attention; }\n')
    problem = compiled(folder, '#include "model.hpp"\nconst void* other();\nint main() { return other() == &model::attention ? 0 : 1; }\n',
                       folder / "other.cpp", "-o", folder / "both")
    return problem or ("" if layers.call([folder / "both"]).returncode == 0 else "two layers")


@in_folder
def from_python(folder):
    """The functions of export.py write what the command writes."""
    weights = export.read(DATA / "stacked_heads.safetensors")
    export.write(folder / "python.hpp", weights, "model", {"attention": export.attention(num_heads=2, context_length=5, causal=True)})
    files.run([DATA / "stacked_heads.safetensors", "-o", folder / "command.hpp", *files.ARGUMENTS])
    return "" if (folder / "python.hpp").read_bytes() == (folder / "command.hpp").read_bytes() else "they differ"


def from_other_writers():
    """Names in any order, spaces, metadata, empty tensors: whatever the format allows."""
    header, data = files.entries(files.layer(empty=("F32", (0, 8)), steps=("I32", ())))
    shuffled = {"__metadata__": {"format": "pt"}, **dict(reversed(header.items()))}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "weights.safetensors").write_bytes(files.framed(json.dumps(shuffled, indent=3).encode() + b"   ", data))
        status, said, complained = files.run([folder / "weights.safetensors", "-o", folder / "model.hpp", *files.ARGUMENTS])
    return complained if status else "" if "left out: steps, empty (no part" in said else said


@in_folder
def names_compile(folder):
    """Whatever word stands in a header or before the first one is a name that is refused, or one that compiles."""
    files.run([DATA / "qkv.safetensors", "-o", folder / "model.hpp", "--binary", folder / "weights.bin", *files.ARGUMENTS])
    (folder / "all.cpp").write_text('#include "model.hpp"\n')
    command = [*COMPILER, "-std=gnu++20", "-I", folder, "-E", folder / "all.cpp"]
    found = layers.call([*command, "-P"]).stdout + layers.call([*command, "-dM"]).stdout
    words = [word for word in sorted({*re.findall(r"\b[A-Za-z]\w*", found)}) if not refuses(names.check_namespace, word)]
    macros = "".join(f"#ifdef {word}\n#error {word}\n#endif\n" for word in words)
    text = "".join(f"namespace {word} {{ inline constexpr int {word}{{}}; }}\n" for word in words)
    problem = compiled(folder, f'#include "model.hpp"\n{macros}{text}', "-std=gnu++20", "-fsyntax-only")
    return problem or ("" if len(words) > 500 else f"only {words}")


@in_folder
def documented(folder):
    """The commands of both READMEs, the description of parts and the Python beside it, as they are typed."""
    readmes = [(layers.ROOT / place / "README.md").read_text(encoding="utf-8") for place in ("", "ports/pytorch")]
    commands = re.findall(r"^ *(python3 ports/pytorch/export\.py .*)$", "".join(readmes), re.MULTILINE)
    description, snippet = (re.search(f"^```{start}(.*?)^```", readmes[1], re.MULTILINE | re.DOTALL)[1]
                            for start in ("toml\n", r"python\n(?=export\.write\()"))
    (folder / "ports").symlink_to(layers.ROOT / "ports")
    (folder / "model.toml").write_text(description)
    (folder / "snippet.py").write_text(f"import sys\nsys.path.insert(0, 'ports/pytorch')\nimport export\n{snippet}")
    square, layer = ("F32", (32, 32)), {"in_proj_weight": ("F32", (96, 32)), "out_proj.weight": ("F32", (32, 32))}
    gpt2 = {"c_attn.weight": ("F32", (12, 36)), "c_proj.weight": ("F32", (12, 12))}
    parts = {"position": square, "classifier.weight": square, **{f"blocks.0.attn.{name}": value for name, value in layer.items()}}
    for command, tensors in (*((command, layer) for command in commands),
                             ("python3 ports/pytorch/export.py model.safetensors -o model.hpp --parts model.toml", parts),
                             ("python3 snippet.py", {f"h.{i}.attn.{name}": value for i in range(12) for name, value in gpt2.items()})):
        for name in ("weights", "model"):
            (folder / f"{name}.safetensors").write_bytes(files.file(tensors))
        done = layers.call(["sh", "-c", command], cwd=folder, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        if done.returncode:
            return f"{command}\n{done.stderr}"
    return "" if len(commands) == 2 else f"{len(commands)} commands"


def refuses(check, name):
    try:
        check(name)
    except export.Refusal:
        return True
    return False


@in_folder
def modules_beside(folder):
    """A norm beside a layer, whose names are as short as the layer's, is no misspelt part of it."""
    square, vector = ("F32", (8, 8)), ("F32", (8,))
    for stems, arguments in ((("wq", "wk", "wv"), ()), (("q", "k", "v"), ("--map", "query=q.weight", "key=k.weight", "value=v.weight"))):
        tensors = {**{f"{stem}.weight": square for stem in stems}, "ln.weight": vector, "ln.bias": vector}
        (folder / "weights.safetensors").write_bytes(files.file(tensors))
        _, said, complained = files.run([folder / "weights.safetensors", "-o", folder / "model.hpp", *files.ARGUMENTS, *arguments])
        if "left out: ln.weight, ln.bias (no part of an attention layer)" not in said:
            return said + complained
    return ""


tap.report([
    ("every bit of a weight", every_bit),
    *((f"a binary in place: {layout}", functools.partial(in_place, layout)) for layout in ("w_query", "w_query_without_projection", "qkv")),
    ("the same bytes each time", same_bytes),
    ("100,000 parameters compile in two seconds, into read-only memory", quick_to_compile),
    ("in two units", in_two_units),
    ("from Python", from_python),
    ("from other writers", from_other_writers),
    ("what the READMEs say", documented),
    ("a name is refused or compiles", names_compile),
    ("a norm beside a layer", modules_beside),
])
