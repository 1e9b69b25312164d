# SPDX-License-Identifier: MIT
"""What cannot be exported is refused in one sentence that names it: hostile files, and models that are no layer of tinyattn."""
import functools
import json
import pathlib
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import files
import tap

ONE = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
NAN, INFINITY, BEYOND_FLOAT32 = struct.pack("<f", float("nan")), struct.pack("<e", float("inf")), struct.pack("<d", 1e39)
SQUARE, THREE = ("F32", (8, 8)), ("F32", (24, 8))
STEMS = ("query", "key", "value")


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
    "two layers": (files.file({f"{i}.{name}": value for i in "ab" for name, value in files.layer().items()}), "a., b."),
}

REQUESTS = {
    "three heads": (("--num-heads", "3"), "cannot be divided among 3 heads"),
    "a prefix that is not there": ((*files.ARGUMENTS, "--prefix", "h.0."), "there is no attention layer at the prefix h.0."),
    "a mapping to nothing": ((*files.ARGUMENTS, "--map", "query=a", "key=b", "value=c"), "there is no a"),
    "a mapping of a bias alone": ((*files.ARGUMENTS, "--map", "out=W_key.weight", "key_bias=W_key.bias"), "key_bias without its weight"),
    "a mapping of the query alone": ((*files.ARGUMENTS, "--map", "query=W_query.weight"), "all of query, key and value"),
    "a description that is not there": (("--parts", "/nowhere"), "No such file"),
    "a header that is a folder": ((*files.ARGUMENTS, "-o", "/"), "not a file"),
    "a header in no folder": ((*files.ARGUMENTS, "-o", "/nowhere/model.hpp"), "No such file"),
}

USAGE = {
    "nothing": (),
    "no number of heads": ("a", "-o", "b"),
    "no heads": ("a", "-o", "b", "--num-heads", "0"),
    "a number in words": ("a", "-o", "b", "--num-heads", "2", "--context-length", "ten"),
    "a keyword as name": ("a", "-o", "b", "--num-heads", "2", "--name", "class"),
    "a name with a blank": ("a", "-o", "b", "--num-heads", "2", "--name", "a b"),
    "the library's own name": ("a", "-o", "b", "--num-heads", "2", "--name", "tinyattn"),
    "a mapping of an unknown role": ("a", "-o", "b", "--num-heads", "2", "--map", "keys=W_key.weight"),
}

DESCRIPTIONS = {
    "nothing": ("", "no part"),
    "no TOML": ("[a\n", "line 1"),
    "no kind": ("[a]\nnum_heads = 1", "one of attention, linear, tensor"),
    "two kinds": ('[a]\nlinear = "x"\ntensor = "x"', "one of attention, linear, tensor"),
    "an unknown setting": ('[a]\nattention = ""\nheads = 2', "heads"),
    "a number as text": ('[a]\nattention = ""\nnum_heads = "2"', "wrong value of num_heads"),
    "no heads": ('[a]\nattention = ""', "must have num_heads"),
    "zero heads": ('[a]\nattention = ""\nnum_heads = 0', "wrong value of num_heads"),
    "no such layer": ('[a]\nlinear = "fc"', "there is no fc.weight"),
    "no such tensor": ('[a]\ntensor = "position"', "there is no position"),
    "a name that C++ cannot have": ('["a-b"]\ntensor = "out_proj.bias"', "a-b"),
}


def refuse(content, phrase, arguments=files.ARGUMENTS):
    with tempfile.TemporaryDirectory() as folder:
        return files.refusal(content, pathlib.Path(folder), arguments, phrase)


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
    yield "an earlier header stays", header_stays
    yield "the weights are not overwritten", weights_are_not_overwritten
    for name, arguments in USAGE.items():
        yield f"usage: {name}", functools.partial(usage, *arguments)


tap.report(list(checks()))
