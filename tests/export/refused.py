# SPDX-License-Identifier: MIT
"""What cannot be exported is refused in one sentence that names it: hostile files, and models that are no layer of tinyattn."""
import errno
import functools
import json
import os
import pathlib
import pickle
import struct
import sys
import tempfile
import time
import types
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import fake_torch
import files
import tap

import export
from tinyattn_export import whole_files

ONE = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
NAN, INFINITY, BEYOND_FLOAT32 = struct.pack("<f", float("nan")), struct.pack("<e", float("inf")), struct.pack("<d", 1e39)
SQUARE, THREE = ("F32", (8, 8)), ("F32", (24, 8))
STEMS = ("query", "key", "value")
SECONDS = 2.0  # of the processor


def header(text):
    return files.framed(text.encode())


def entry(**changes):
    return files.framed({"a": {**ONE, **changes}}, bytes(4))


HOSTILE = {
    "nothing at all": (b"", "0 bytes"),
    "a length alone": (bytes(8), "not JSON"),
    "a length of 2^64 - 1": (b"\xff" * 8 + b"{}", "more than safetensors allows"),
    "a length of 99 MB in ten bytes": (struct.pack("<Q", 99_000_000) + b"{}", "cut"),
    "a file of torch.save": (b"PK\x03\x04" + bytes(100), "torch.save"),
    "a header that is not UTF-8": (files.framed(b'{"\xff": 1}'), "UTF-8"),
    "a header that is a list": (header("[]"), "not a table of tensors"),
    "a header that is a number": (header("1"), "not a table of tensors"),
    "NaN in the header": (header('{"a": NaN}'), "not JSON"),
    "a number of 5000 digits": (header('{"a": ' + "9" * 5000 + "}"), "not JSON"),
    "100000 brackets": (header("[" * 100_000), "nested too deeply"),
    "100000 tables": (header('{"a":' * 100_000), "nested too deeply"),
    "a name twice": (files.framed(f'{{"a":{json.dumps(ONE)},"a":{json.dumps(ONE)}}}'.encode(), bytes(4)), "names a twice"),
    "a shape twice": (files.framed(b'{"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}}', bytes(4)), "names shape twice"),
    "no dtype": (files.framed({"a": {"shape": [1], "data_offsets": [0, 4]}}, bytes(4)), "no dtype, shape and data_offsets"),
    "a tensor that is a number": (files.framed({"a": 1}), "no dtype, shape and data_offsets"),
    "metadata that are a list": (files.framed({"__metadata__": []}), "__metadata__"),
    "an unknown dtype": (entry(dtype="F33"), "F33"),
    "a dtype that is a list": (entry(dtype=["F32"]), "dtype"),
    "a negative shape": (entry(shape=[-1]), "no proper shape"),
    "two negative extents": (entry(shape=[-1, -1]), "no proper shape"),
    "a shape with a fraction": (entry(shape=[1.0]), "no proper shape"),
    "a shape of a truth value": (entry(shape=[True]), "no proper shape"),
    "a shape beyond 64 bits": (entry(shape=[2**64]), "no proper shape"),
    "extents that wrap around to 1": (entry(shape=[2**62 + 1, 2**62, 4]), "does not take the 4 bytes"),
    "a thousand extents": (entry(shape=[1] * 1000), "no proper shape"),
    "a huge extent and a zero": (entry(shape=[2**62, 0]), "does not take the 4 bytes"),
    "offsets that run backwards": (entry(data_offsets=[4, 0]), "no proper data_offsets"),
    "offsets behind the end": (entry(data_offsets=[4, 8]), "would end at byte 8"),
    "three offsets": (entry(data_offsets=[0, 4, 4]), "no proper data_offsets"),
    "overlapping tensors": (files.framed({"a": ONE, "b": ONE}, bytes(4)), "b begins at byte 0"),
    "a gap between tensors": (files.framed({"a": ONE, "b": {**ONE, "data_offsets": [8, 12]}}, bytes(12)), "b begins at byte 8"),
    "bytes behind the tensors": (files.framed({"a": ONE}, bytes(5)), "take 4 bytes, and 5 follow"),
    "no tensors": (files.framed({}), "no attention layer"),
    "a name that would end a comment": (files.file({"a\n#error\\": ("F32", (1,))}), "a?#error?"),
    "a name of half a character": (header('{"\\ud800": 1}'), "? has no dtype"),
}

MODELS = {
    "another model": (files.file({"fc.weight": SQUARE}), "it has fc.weight"),
    "no key": (files.file(files.layer(W_key__weight=None)), "there is no W_key.weight"),
    "no key somewhere": (files.file({f"h.0.{stem}.weight": SQUARE for stem in ("wq", "wv", "wo")}), "there is no h.0.wk.weight"),
    "no output projection": (files.file({"c_attn.weight": ("F32", (8, 24))}), "there is no c_proj.weight"),
    "a key of another width": (files.file(files.layer(W_key__weight=("F32", (4, 6)))), "W_key.weight gives 6 x 4"),
    "a vector as weight": (files.file(files.layer(W_key__weight=("F32", (48,)))), "two dimensions"),
    "a weight without elements": (files.file(files.layer(W_key__weight=("F32", (8, 0)))), "neither zero"),
    "a bias of another length": (files.file(files.layer(out_proj__bias=("F32", (7,)))), "out_proj.bias has the wrong shape, 7"),
    "a projection to another width": (files.file(files.layer(out_proj__weight=("F32", (6, 8)), out_proj__bias=None)), "wrong shape, 8 x 6"),
    "25 outputs for three": (files.file({"in_proj_weight": ("F32", (25, 8)), "out_proj.weight": SQUARE}), "25 outputs"),
    "integers": (files.file(files.layer(W_key__weight=("I32", (8, 6)))), "W_key.weight is I32"),
    "NaN": (files.file(files.layer(out_proj__bias=("F32", (8,), bytes(12) + NAN + bytes(16)))), "out_proj.bias holds NaN at [3]"),
    "infinity": (files.file(files.layer(W_query__weight=("F16", (8, 6), INFINITY + bytes(94)))), "holds infinity at [0, 0]"),
    "more than float32 holds": (files.file(files.layer(out_proj__bias=("F64", (8,), bytes(56) + BEYOND_FLOAT32))), "cannot hold"),
    "a misspelt bias": (files.file({**files.layer(out_proj__bias=None), "out_proj.bais": ("F32", (8,))}), "misspelt out_proj.bias"),
    "a norm of the queries": (files.file({**files.layer(), "q_norm.weight": ("F32", (4,))}), "q_norm.weight"),
    "a bias of the keys": (files.file({"in_proj_weight": THREE, "out_proj.weight": SQUARE, "bias_k": ("F32", (1, 1, 8))}), "place bias_k"),
    "a third member of a Linear layer": (files.file({**files.layer(), "W_key.weight_g": ("F32", (8,))}), "W_key.weight_g"),
    "heads not all there": (files.file({f"heads.{i}.{stem}.weight": SQUARE for i in (0, 2) for stem in STEMS}), "heads.0, heads.2"),
    "a weight that may lie either way": (files.file({"c_attn.weight": ("F32", (6, 6)), "c_proj.weight": ("F32", (2, 2))}),
                                         "or qkv=c_attn.weight.T out=c_proj.weight.T"),
    "one stacked head of two": (files.file({f"heads.0.{stem}.weight": SQUARE for stem in STEMS}), "1 stacked head, not 2"),
    "two layers": (files.file({f"{i}.{name}": value for i in "ab" for name, value in files.layer().items()}), "a., b."),
}

# Names and heads without end: the answer comes in no time, whether it is a header or a sentence.
GPT2 = {"c_attn.weight": ("F32", (3, 1)), "c_proj.weight": ("F32", (1, 1))}
ZEROS = 40 * "0"
ENDLESS = {
    "relative positions and a line break": ("", files.layer(**{"rel_" * 1000 + "\n": ("F32", (1,))})),
    "numbers of layers": (f"a.{ZEROS}", {
        **{f"{prefix}.{name}": value for prefix in ("a", f"a.{ZEROS}") for name, value in GPT2.items()},
        **{f"a.{ZEROS[:i]}{number}{ZEROS[i + 2:]}.c_attn.bias": ("F32", (1,)) for i in range(0, 40, 2) for number in range(10, 100)}}),
    "stacked heads, one misspelt": ("", {**{f"heads.{i}.{stem}.weight": ("F32", (1, 1)) for i in range(3000) for stem in STEMS},
                                         "heads.1.W_query.biaN": ("F32", (1,))}),
    "stacked heads": ("", {**{f"heads.{i}.{stem}.weight": ("F32", (1, 1)) for i in range(400) for stem in STEMS},
                           **{f"block.{i}.other.weight": ("F32", (1, 1)) for i in range(2000)}}),
}

UNTOLD = "say --num-heads N, --context-length N, --causal or --no-causal"
OF_TORCH = {
    "a meta tensor": ({"in_proj_weight": fake_torch.Tensor((24, 8), device="meta")}, "in_proj_weight is on the meta device"),
    "a whole module": (pickle.UnpicklingError("Set `weights_only` to False"), "torch.save(model.state_dict(), FILE)"),
    "a tensor of no known kind": ({"a": fake_torch.Tensor((1,), layout="torch.sparse_coo")}, "torch.sparse_coo, which is not read"),
    "a storage": ({"a": types.SimpleNamespace(data_ptr=0)}, "no state_dict"),
    "an error of PyTorch": (RuntimeError("failed finding central directory\nmore"), "refuses it: failed finding central directory\n"),
}

REQUESTS = {
    "three heads": ((*files.ARGUMENTS, "--num-heads", "3"), "cannot be divided among 3 heads"),
    "no number of heads": (files.ARGUMENTS[2:], UNTOLD),
    "no number of tokens": (("--num-heads", "2", "--causal"), UNTOLD),
    "no word of the mask": (files.ARGUMENTS[:4], UNTOLD),
    "a prefix that is not there": ((*files.ARGUMENTS, "--prefix", "h.0."), "there is no attention layer at the prefix h.0."),
    "a mapping to nothing": ((*files.ARGUMENTS, "--map", "query=a", "key=b", "value=c"), "there is no a"),
    "a mapping without .weight": ((*files.ARGUMENTS, "--map", "out=out_proj"), "is out_proj.weight meant?"),
    "a mapping of a bias alone": ((*files.ARGUMENTS, "--map", "out=W_key.weight", "key_bias=W_key.bias"), "key_bias without its weight"),
    "a mapping of the query alone": ((*files.ARGUMENTS, "--map", "query=W_query.weight"), "all of query, key and value"),
    "a description that is not there": (("--parts", "/nowhere"), "No such file"),
    "a header that is a folder": ((*files.ARGUMENTS, "-o", "/"), "not a file"),
    "a header in no folder": ((*files.ARGUMENTS, "-o", "/nowhere/model.hpp"), "No such file"),
}

USAGE = {
    "nothing": (),
    "no heads": ("a", "-o", "b", "--num-heads", "0"),
    "more tokens than fit anywhere": ("a", "-o", "b", "--num-heads", "2", "--context-length", "99999999999999999999999"),
    "a number in words": ("a", "-o", "b", "--num-heads", "2", "--context-length", "ten"),
    "a keyword as name": ("a", "-o", "b", "--num-heads", "2", "--name", "class"),
    "a name of the C library": ("a", "-o", "b", "--num-heads", "2", "--name", "size_t"),
    "a name of GCC": ("a", "-o", "b", "--num-heads", "2", "--name", "linux"),
    "a standard name within": ("a", "-o", "b", "--num-heads", "2", "--name", "a::std"),
    "a name with a blank": ("a", "-o", "b", "--num-heads", "2", "--name", "a b"),
    "the library's own name": ("a", "-o", "b", "--num-heads", "2", "--name", "tinyattn"),
    "a mapping of an unknown role": ("a", "-o", "b", "--num-heads", "2", "--map", "keys=W_key.weight"),
}

THE_REST = "\ncontext_length = 5\ncausal = true"
DESCRIPTIONS = {
    "nothing": ("", "no part"),
    "no TOML": ("[a\n", "line 1"),
    "no kind": ("[a]\nnum_heads = 1", "one of attention, linear, tensor"),
    "two kinds": ('[a]\nlinear = "x"\ntensor = "x"', "one of attention, linear, tensor"),
    "an unknown setting": ('[a]\nattention = ""\nheads = 2', "heads"),
    "a number as text": ('[a]\nattention = ""\nnum_heads = "2"', "wrong value of num_heads"),
    "no heads": ('[a]\nattention = ""', "must have num_heads and context_length and causal, which no file of weights tells"),
    "zero heads": ('[a]\nattention = ""\nnum_heads = 0' + THE_REST, "num_heads must be a number from 1 to 2147483647"),
    "more tokens than fit anywhere": (
        '[a]\nattention = ""\nnum_heads = 1\ncausal = true\ncontext_length = 2147483648',
        "context_length must be"),
    "no such layer": ('[a]\nlinear = "fc"', "there is no fc.weight"),
    "no such tensor": ('[a]\ntensor = "position"', "there is no position"),
    "a name that is a macro": ('[NULL]\ntensor = "out_proj.bias"', "NULL cannot be the name of a constant in the header: it is a macro"),
    "a name that C++ cannot have": ('["a-b"]\ntensor = "out_proj.bias"', "a-b"),
}


def refuse(content, phrase, arguments=files.ARGUMENTS):
    with tempfile.TemporaryDirectory() as folder:
        return files.refusal(content, pathlib.Path(folder), arguments, phrase)


def quick(prefix, tensors):
    """Only that an answer comes: which one, other checks look at."""
    with tempfile.TemporaryDirectory() as folder:
        weights = pathlib.Path(folder) / "weights.safetensors"
        weights.write_bytes(files.file(tensors))
        before = time.thread_time()
        files.run([weights, "-o", weights.with_suffix(".hpp"), *files.ARGUMENTS, "--prefix", prefix])
        seconds = time.thread_time() - before
    return "" if seconds < SECONDS else f"{seconds:.1f} s"


def refuse_pt(content, phrase):
    with tempfile.TemporaryDirectory() as folder:
        weights = pathlib.Path(folder) / "weights.pt"
        weights.write_bytes(b"PK")
        fake_torch.CONTENTS[weights] = content
        return files.refused([weights, *files.ARGUMENTS], weights.parent, phrase)


def without_tomllib():
    """As on Python 3.9 and 3.10."""
    with unittest.mock.patch.dict(sys.modules, tomllib=None):
        try:
            export.read_parts("model.toml", {})
        except export.Refusal as problem:
            return "" if "needs Python 3.11" in str(problem) else str(problem)
    return "no refusal"


def refuse_description(text, phrase):
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as description:
        description.write(text)
        description.flush()
        return refuse(files.file(files.layer()), phrase, ("--parts", description.name))


def header_stays():
    """A failure leaves the header of an earlier export as it was."""
    with tempfile.TemporaryDirectory() as name:
        weights, header_file = pathlib.Path(name) / "weights.safetensors", pathlib.Path(name) / "model.hpp"
        weights.write_bytes(files.file(files.layer(W_key__weight=None)))
        header_file.write_text("earlier")
        status, _, _ = files.run([weights, "-o", header_file, *files.ARGUMENTS])
        untouched = header_file.read_text() == "earlier" and len(list(pathlib.Path(name).iterdir())) == 2
        return "" if status == 1 and untouched else f"exit status {status}"


def all_or_nothing(failing):
    """A header and a binary of an earlier export stay, whichever of the steps to new ones fails; and nothing is left beside them."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        places = {folder / "weights.bin": b"old", folder / "model.hpp": b"earlier"}
        for path, content in places.items():
            path.write_bytes(content)
        step = unittest.mock.patch.object(pathlib.Path, failing, failing_for(folder / "model.hpp", getattr(pathlib.Path, failing)))
        with files.STREAMS, step:
            try:
                whole_files.replace({path: b"new" for path in places})
            except export.Refusal as problem:
                left = {path: path.read_bytes() for path in folder.iterdir()}
                return "" if left == places and "No space" in str(problem) else f"{problem}: {left}"
        return "it did not fail"


def failing_for(wanted, function):
    """The function, failing once for this path."""
    failures = iter([OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))])

    def fail(path, *arguments):
        if wanted in (path, *arguments):
            for failure in failures:
                raise failure
        return function(path, *arguments)
    return fail


def only_own_files():
    """Nothing is written through what lies beside the header, wherever its name comes from."""
    with tempfile.TemporaryDirectory() as name:
        folder, written = pathlib.Path(name), []
        victim, write_new = folder / "victim", whole_files.write_new
        victim.write_text("kept")

        def with_a_link(path, content):
            path.symlink_to(victim)
            written.append(write_new(path, content))
        with files.STREAMS, unittest.mock.patch.object(whole_files, "write_new", with_a_link):
            try:
                whole_files.replace({folder / "model.hpp": b"new"})
            except export.Refusal:
                return "" if victim.read_text() == "kept" and not written else "written through the link"
        return "no refusal"


def weights_are_not_overwritten():
    with tempfile.TemporaryDirectory() as name:
        weights = pathlib.Path(name) / "weights.safetensors"
        weights.write_bytes(files.file(files.layer()))
        status, _, said = files.run([weights, "-o", pathlib.Path(name) / "." / weights.name, *files.ARGUMENTS])
        return "" if status == 1 and "different files" in said and weights.read_bytes() == files.file(files.layer()) else said


def usage(*arguments):
    status, _, said = files.run(arguments)
    return "" if status == 2 and "usage: " in said else f"exit status {status}: {said}"


def checks():
    for name, (content, phrase) in {**HOSTILE, **MODELS}.items():
        yield name, functools.partial(refuse, content, phrase)
    for name, (arguments, phrase) in REQUESTS.items():
        yield name, functools.partial(refuse, files.file(files.layer()), phrase, arguments)
    for name, (text, phrase) in DESCRIPTIONS.items():
        yield f"a description with {name}", functools.partial(refuse_description, text, phrase)
    for name, (content, phrase) in OF_TORCH.items():
        yield f".pt with {name}", functools.partial(refuse_pt, content, phrase)
    for name, (prefix, tensors) in ENDLESS.items():
        yield f"quickly: {name}", functools.partial(quick, prefix, tensors)
    yield "an earlier header stays", header_stays
    for step in ("rename", "replace"):
        yield f"both files or neither: {step}", functools.partial(all_or_nothing, step)
    yield "no link is followed", only_own_files
    yield "the weights are not overwritten", weights_are_not_overwritten
    for name, arguments in USAGE.items():
        yield f"usage: {name}", functools.partial(usage, *arguments)


tomllib_is_missed = without_tomllib()  # before other checks run beside it, which need it
tap.report([*checks(), ("a description, before Python 3.11", lambda: tomllib_is_missed)])
