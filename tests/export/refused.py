# SPDX-License-Identifier: MIT
"""What cannot be exported is refused in one sentence that names it, and nothing is written: all files, or none."""
import errno
import functools
import json
import pathlib
import pickle
import re
import struct
import sys
import time
import types
import unittest.mock

import exporter
import tap
from exporter import ARGUMENTS, framed, in_folder, safetensors, torch_tensor

import export
from tinyattn_export import whole_files

SECONDS = 2.0  # of the processor
ONE = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
SQUARE, THREE, TINY = ("F32", (8, 8)), ("F32", (24, 8)), ("F32", (1, 1))
STEMS = ("query", "key", "value")


def layer(**changes):
    """Four Linear layers of zeros, 6 features to 8, with some tensors changed, added, or taken away by None."""
    tensors = {"W_query.weight": ("F32", (8, 6)), "W_key.weight": ("F32", (8, 6)), "W_value.weight": ("F32", (8, 6)),
               "out_proj.weight": ("F32", (8, 8)), "out_proj.bias": ("F32", (8,))}
    tensors.update({name.replace("__", "."): value for name, value in changes.items()})
    return {name: value for name, value in tensors.items() if value is not None}


def heads(numbers, shape=SQUARE):
    return {f"heads.{i}.{stem}.weight": shape for i in numbers for stem in STEMS}


def entry(**changes):
    return framed({"a": {**ONE, **changes}}, bytes(4))


# What a sentence must say, and to what: a whole file, the tensors of one, arguments, or a description of parts.
SENTENCES = [
    ("0 bytes", b""),
    ("more than safetensors allows", b"\xff" * 8 + b"{}"),
    ("it is cut", struct.pack("<Q", 99_000_000) + b"{}"),
    ("one of torch.save", b"PK\x03\x04" + bytes(100)),
    ("not UTF-8", framed(b'{"\xff": 1}')),
    ("not a table of tensors", framed([]), framed(1)),
    ("not JSON", bytes(8), framed(b'{"a": NaN}')),
    ("not JSON: a number of 5000 digits", framed(b'{"a": ' + b"9" * 5000 + b"}")),
    ("nested too deeply", framed(b"[" * 100_000), framed(b'{"a":' * 100_000)),
    ("names a twice", framed(f'{{"a":{json.dumps(ONE)},"a":{json.dumps(ONE)}}}'.encode(), bytes(4))),
    ("names shape twice", framed(b'{"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}}', bytes(4))),
    ("__metadata__", framed({"__metadata__": []})),
    ("take 4 bytes, and 5 follow", framed({"a": ONE}, bytes(5))),
    ("of the data, and 4 is where the tensor before it ends",
     *(framed({"a": ONE, "b": {**ONE, "data_offsets": offsets}}, bytes(offsets[1])) for offsets in ([0, 4], [8, 12]))),
    ("a?#error?", safetensors({"a\n#error\\": ("F32", (1,))})),
    ("? has no dtype", framed(b'{"\\ud800": 1}')),
    ("no dtype, shape and data_offsets", framed({"a": {"shape": [1], "data_offsets": [0, 4]}}, bytes(4)), framed({"a": 1})),
    ("does not know: F33", entry(dtype="F33")),
    ("does not know: ['F32']", entry(dtype=["F32"])),
    ("no proper shape", *(entry(shape=shape) for shape in ([-1], [-1, -1], [1.0], [True], [2**64], [1] * 1000))),
    ("does not take the 4 bytes", *(entry(shape=shape) for shape in ([2**62 + 1, 2**62, 4], [2**62, 0]))),
    ("no proper data_offsets", *(entry(data_offsets=offsets) for offsets in ([4, 0], [0, 4, 4]))),
    ("would end at byte 8", entry(data_offsets=[4, 8])),
    ("no attention layer in it of a known layout: it has no tensors", {}),
    ("no attention layer in it of a known layout: it has fc.weight", {"fc.weight": SQUARE}),
    ("there is no W_key.weight", layer(W_key__weight=None)),
    ("there is no h.0.wk.weight", {f"h.0.{stem}.weight": SQUARE for stem in ("wq", "wv", "wo")}),
    ("there is no c_proj.weight", {"c_attn.weight": ("F32", (8, 24))}),
    ("W_key.weight gives 6 x 4", layer(W_key__weight=("F32", (4, 6)))),
    ("two dimensions, neither zero", layer(W_key__weight=("F32", (48,))), layer(W_key__weight=("F32", (8, 0)))),
    ("out_proj.bias has the wrong shape, 7", layer(out_proj__bias=("F32", (7,)))),
    ("wrong shape, 8 x 6", layer(out_proj__weight=("F32", (6, 8)), out_proj__bias=None)),
    ("25 outputs", {"in_proj_weight": ("F32", (25, 8)), "out_proj.weight": SQUARE}),
    ("W_key.weight is I32", layer(W_key__weight=("I32", (8, 6)))),
    ("out_proj.bias holds NaN at [3]", layer(out_proj__bias=("F32", (8,), struct.pack("<8f", 0, 0, 0, float("nan"), 0, 0, 0, 0)))),
    ("holds infinity at [0, 0]", layer(W_query__weight=("F16", (8, 6), struct.pack("<e", float("inf")) + bytes(94)))),
    ("cannot hold", layer(out_proj__bias=("F64", (8,), bytes(56) + struct.pack("<d", 1e39)))),
    ("misspelt out_proj.bias", layer(out_proj__bias=None, out_proj__bais=("F32", (8,)))),
    ("q_norm.weight", layer(q_norm__weight=("F32", (4,)))),
    ("place bias_k", {"in_proj_weight": THREE, "out_proj.weight": SQUARE, "bias_k": ("F32", (1, 1, 8))}),
    ("W_key.weight_g", layer(W_key__weight_g=("F32", (8,)))),
    ("heads.0, heads.2", heads((0, 2))),
    ("1 stacked head, not 2", heads((0,))),
    ("or qkv=c_attn.weight.T out=c_proj.weight.T", {"c_attn.weight": ("F32", (6, 6)), "c_proj.weight": ("F32", (2, 2))}),
    ("it has 2 attention layers, --prefix says which: a., b..",
     {f"{prefix}.{name}": value for prefix in ("a", "b.") for name, value in layer().items()}),
    ("cannot be divided among 3 heads", (*ARGUMENTS, "--num-heads", "3")),
    ("say --num-heads N, --context-length N, --causal or --no-causal", ARGUMENTS[2:], (*ARGUMENTS[:2], "--causal"), ARGUMENTS[:4]),
    ("there is no attention layer at the prefix h.0.", (*ARGUMENTS, "--prefix", "h.0.")),
    ("there is no a,", (*ARGUMENTS, "--map", "query=a", "key=b", "value=c")),
    ("is out_proj.weight meant?", (*ARGUMENTS, "--map", "out=out_proj")),
    ("key_bias without its weight", (*ARGUMENTS, "--map", "out=W_key.weight", "key_bias=W_key.bias")),
    ("all of query, key and value", (*ARGUMENTS, "--map", "query=W_query.weight")),
    ("not a file", (*ARGUMENTS, "-o", "/")),
    ("No such file", ("--parts", "/nowhere"), (*ARGUMENTS, "-o", "/nowhere/model.hpp")),
    ("different files", (*ARGUMENTS, "-o", "FOLDER/./weights.safetensors")),
    ("no part", ""),
    ("line 1", "[a\n"),
    ("one of attention, linear, tensor", "[a]\nnum_heads = 1", '[a]\nlinear = "x"\ntensor = "x"'),
    ("attention does not know: heads", '[a]\nattention = ""\nheads = 2'),
    ("wrong value of num_heads", '[a]\nattention = ""\nnum_heads = "2"'),
    ("must have num_heads and context_length and causal, which no file of weights tells", '[a]\nattention = ""'),
    ("num_heads must be a number from 1 to", '[a]\nattention = ""\nnum_heads = 0\ncontext_length = 5\ncausal = true'),
    ("context_length must be", '[a]\nattention = ""\nnum_heads = 1\ncausal = true\ncontext_length = 2147483648'),
    ("there is no fc.weight", '[a]\nlinear = "fc"'),
    ("there is no position", '[a]\ntensor = "position"'),
    ("NULL cannot be the name of a constant in the header: it is a macro", '[NULL]\ntensor = "out_proj.bias"'),
    ("is not a number from 1 to 2147483647", *((*ARGUMENTS, "--num-heads", text) for text in ("0", "ten", "99999999999999999999999"))),
    ("keys=W_key.weight is not ROLE=NAME", (*ARGUMENTS, "--map", "keys=W_key.weight")),
    ("class cannot be the name of a C++ namespace: it is a keyword", (*ARGUMENTS, "--name", "class")),
    ("the C library has it", (*ARGUMENTS, "--name", "size_t")),
    ("linux cannot be the name of a C++ namespace: it is a macro", (*ARGUMENTS, "--name", "linux")),
    ("it is reserved", (*ARGUMENTS, "--name", "a::std"), (*ARGUMENTS, "--name", "tinyattn")),
    ("it is no identifier", (*ARGUMENTS, "--name", "a b")),
]
OF_TORCH = {
    "in_proj_weight is on the meta device": {"in_proj_weight": torch_tensor((24, 8), device="meta")},
    "torch.save(model.state_dict(), FILE)": pickle.UnpicklingError("Set `weights_only` to False"),
    "torch.sparse_coo, which is not read": {"a": torch_tensor((1,), layout="torch.sparse_coo")},
    "no state_dict": {"a": types.SimpleNamespace(data_ptr=0)},
    "refuses it: failed finding central directory\n": RuntimeError("failed finding central directory\nmore"),
}
# Names and heads without end: the answer comes in no time, whether it is a header or a sentence.
GPT2 = {"c_attn.weight": ("F32", (3, 1)), "c_proj.weight": TINY}
ZEROS = 40 * "0"
ENDLESS = {
    "relative positions and a line break": ("", layer(**{"rel_" * 1000 + "\n": TINY})),
    "numbers of layers": (f"a.{ZEROS}", {
        **{f"{prefix}.{name}": value for prefix in ("a", f"a.{ZEROS}") for name, value in GPT2.items()},
        **{f"a.{ZEROS[:i]}{number}{ZEROS[i + 2:]}.c_attn.bias": ("F32", (1,)) for i in range(0, 40, 2) for number in range(10, 100)}}),
    "stacked heads, one misspelt": ("", {**heads(range(3000), TINY), "heads.1.W_query.biaN": ("F32", (1,))}),
    "stacked heads": ("", {**heads(range(400), TINY), **{f"block.{i}.other.weight": TINY for i in range(2000)}}),
}


@in_folder
def refuse(folder, phrase, *requests):
    for given in requests:
        content = given if isinstance(given, bytes) else safetensors(given if isinstance(given, dict) else layer())
        arguments = given if isinstance(given, tuple) else ARGUMENTS
        if isinstance(given, str):
            (folder / "model.toml").write_text(given)
            arguments = ("--parts", "FOLDER/model.toml")
        problem = exporter.refusal(folder, content, arguments, phrase)
        if problem:
            return problem
    return ""


@in_folder
def refuse_pt(folder, phrase, content):
    exporter.LOADED[folder / "weights.pt"] = content
    return exporter.refusal(folder, b"PK", ARGUMENTS, phrase, ".pt")


def sentence(action, *arguments):
    try:
        action(*arguments)
    except export.Refusal as problem:
        return str(problem)
    return "no refusal"


def without_tomllib():
    """As on Python 3.9 and 3.10."""
    with exporter.STREAMS, unittest.mock.patch.dict(sys.modules, tomllib=None):
        said = sentence(export.read_parts, "model.toml", {})
    return "" if "needs Python 3.11" in said else said


@in_folder
def quick(folder, prefix, tensors):
    """Only that an answer comes: which one, other checks look at."""
    (folder / "weights.safetensors").write_bytes(safetensors(tensors))
    before = time.thread_time()
    exporter.run(folder / "weights.safetensors", "-o", folder / "model.hpp", *ARGUMENTS, "--prefix", prefix)
    seconds = time.thread_time() - before
    return "" if seconds < SECONDS else f"{seconds:.1f} s"


@in_folder
def all_or_nothing(folder, step):
    """A header and a binary of an earlier export stay, whichever of the steps to new ones fails; and nothing is left beside them."""
    earlier = {folder / "weights.bin": b"old", folder / "model.hpp": b"earlier"}
    for path, content in earlier.items():
        path.write_bytes(content)
    whole, failures = getattr(pathlib.Path, step), [OSError(errno.ENOSPC, "No space left on device")]

    def failing_once(path, *arguments):
        if failures and folder / "model.hpp" in (path, *arguments):
            raise failures.pop()
        return whole(path, *arguments)
    with exporter.STREAMS, unittest.mock.patch.object(pathlib.Path, step, failing_once):
        said = sentence(whole_files.replace, {path: b"new" for path in earlier})
    left = {path: path.read_bytes() for path in folder.iterdir()}
    return "" if left == earlier and "No space" in said else f"{said}: {left}"


@in_folder
def only_own_files(folder):
    """Nothing is written through what lies beside the header, whatever its name."""
    (folder / "victim").write_text("kept")
    (folder / "link").symlink_to(folder / "victim")
    with exporter.STREAMS, unittest.mock.patch.object(whole_files, "beside", lambda _: folder / "link"):
        said = sentence(whole_files.replace, {folder / "model.hpp": b"new"})
    return "" if "File exists" in said and (folder / "victim").read_text() == "kept" else said


@in_folder
def by_command(folder):
    """As a user meets it, with the interpreter's own streams and exit status."""
    (folder / "weights.safetensors").write_bytes(b"")
    done = exporter.command(folder / "weights.safetensors", folder / "model.hpp", *ARGUMENTS)
    right = done.returncode == 1 and not done.stdout and re.fullmatch(r"export\.py: .+\n", done.stderr)
    return "" if right else f"exit status {done.returncode}: {done.stdout}{done.stderr}"


tap.report([
    ("by command", by_command),
    *((phrase, functools.partial(refuse, phrase, *requests)) for phrase, *requests in SENTENCES),
    *((f".pt: {phrase}", functools.partial(refuse_pt, phrase, content)) for phrase, content in OF_TORCH.items()),
    ("the header must be named", lambda: "" if exporter.run("weights")[0] == 2 else "no refusal"),
    ("--parts needs Python 3.11", without_tomllib),
    *((f"quickly: {name}", functools.partial(quick, *given)) for name, given in ENDLESS.items()),
    *((f"both files or neither: {step}", functools.partial(all_or_nothing, step)) for step in ("rename", "replace")),
    ("no link is followed", only_own_files),
])
