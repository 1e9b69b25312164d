# SPDX-License-Identifier: MIT
"""Tests that what cannot be exported gives an error of one sentence, which names it, and that no file is written."""
import errno
import functools
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tomllib
import types
from unittest import mock

from ports.pytorch.tinyattn_export import whole_files
from tests.export import exporter
from tests.export.exporter import ARGUMENTS, frame, safetensors, answer_problem
from tests.export.fake_torch import Tensor as TorchTensor
from tests.support import tap

LAYER = {"W_query.weight": ["F32", [8, 6]], "W_key.weight": ["F32", [8, 6]], "W_value.weight": ["F32", [8, 6]],
         "out_proj.weight": ["F32", [8, 8]], "out_proj.bias": ["F32", [8]]}
LLAMA = {f"model.{name}.weight": ["F32", shape] for name, shape in {
    "embed_tokens": [11, 8], "norm": [8], "layers.0.input_layernorm": [8], "layers.0.post_attention_layernorm": [8],
    **{f"layers.0.self_attn.{name}_proj": [4 if name in "kv" else 8, 8] for name in "qkvo"},
    "layers.0.mlp.up_proj": [16, 8], "layers.0.mlp.gate_proj": [16, 8], "layers.0.mlp.down_proj": [8, 16]}.items()}
# A language model inside a multimodal model.
NESTED = {name.replace("model.", "model.language_model."): tensor for name, tensor in LLAMA.items()}
GPT2 = {f"{name}.{kind}": ["F32", shape[len(shape) - 1:] if kind == "bias" else shape] for name, shape in {
    "h.0.ln_1": [8], "h.0.ln_2": [8], "ln_f": [8], "h.0.attn.c_attn": [8, 24], "h.0.attn.c_proj": [8, 8],
    "h.0.mlp.c_fc": [8, 16],
    "h.0.mlp.c_proj": [16, 8]}.items() for kind in ("weight", "bias")} | {"wte.weight": ["F32", [11, 8]],
                                                                          "wpe.weight": ["F32", [5, 8]]}
NANOGPT = {name: [dtype, shape[::-1] if name.startswith("h.") else shape] for name, (dtype, shape) in GPT2.items()}
ENCODER = {f"layers.0.{name}": ["F32", shape] for name, shape in {
    "self_attn.in_proj_weight": [24, 8], "self_attn.out_proj.weight": [8, 8], "linear1.weight": [16, 8],
    "linear2.weight": [8, 16],
    "norm1.weight": [8], "norm2.weight": [8]}.items()}
ONE = ("--language-model", "--num-heads", "2")
OF_LLAMA, OF_GPT2 = ("--activation", "silu", "--epsilon", "1e-5", "--rotary-base",
                     "10000"), ("--activation", "gelu_tanh")
OF_ENCODER = ("--context-length", "5", "--no-causal", "--no-norm-first", "--activation", "relu")
ENTRY = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}


def apply(table, changes):
    return {name: item for name, item in {**table, **changes}.items() if item is not False}


def of_tensors(tensors):
    return safetensors({name: (dtype, shape, *map(bytes.fromhex, end)) for name,
                        (dtype, shape, *end) in tensors.items()})


def of_torch(tensors, **others):
    """Returns a checkpoint as a training run saves it, pickled for fake_torch.load."""
    return pickle.dumps({"model": {name: TorchTensor(*shape) for name, (_, shape) in tensors.items()}, **others})


ALL_IN_ONE = "[a]\nlanguage_model = ''\nconfig = 'FOLDER/config.json'\n"
CONTENTS = {  # {table of refused.toml: a function from a value in it to the content of the file}
    "file": lambda text: text.encode("latin-1"),
    "header": lambda text: frame(text.encode(), bytes(4)),
    "entry": lambda changes: frame({"a": apply(ENTRY, changes)}, bytes(4)),
}
MODEL, PARTS, CONFIG = ("--language-model",), ("--parts", "FOLDER/model.toml"), ("--config", "FOLDER/config.json")
FIVE, HEAD = ("--context-length", "5"), {"lm_head.weight": ["F32", [11, 8], "0000803f"]}
# {table of refused.toml: (the tensors of the file, arguments, which setting of a case a value is)}. Cases in tables
# whose names begin with `accepted_` must be exported.
BASES = {
    "tensors": ({}, ARGUMENTS, "tensors"),
    "layer": (LAYER, ARGUMENTS, "tensors"),
    "arguments": (LAYER, ARGUMENTS, "arguments"),
    "all_arguments": (LAYER, (), "arguments"),
    "case": ({}, ARGUMENTS, None),
    "no_model": ({}, (*ONE, *FIVE), "tensors"),
    "llama": (LLAMA, (*ONE, *OF_LLAMA, *FIVE), "tensors"),
    "nested": (NESTED, (*ONE, *OF_LLAMA, *FIVE, "--prefix", "model.language_model."), "tensors"),
    "llama_untold": (LLAMA, MODEL, "arguments"),
    "llama_arguments": (LLAMA, (*MODEL, *OF_LLAMA), "arguments"),
    "llama_config": ({**LLAMA, **HEAD}, (*ONE, *FIVE, *CONFIG), "config"),
    "gpt2": (GPT2, (*ONE, *OF_GPT2), "tensors"),
    "gpt2_untold": (GPT2, MODEL, "arguments"),
    "gpt2_arguments": (GPT2, (*MODEL, *OF_GPT2), "arguments"),
    "gpt2_config": (GPT2, (*MODEL, *CONFIG), "config"),
    "gpt2_case": (GPT2, (*ONE, *OF_GPT2), None),
    "nanogpt_args": (NANOGPT, MODEL, None),
    "encoder": (ENCODER, (*PARTS, *OF_ENCODER), "description"),
    "encoder_untold": (ENCODER, PARTS, "description"),
    "classified": ({**ENCODER, "classifier.weight": ["F32", [3, 8]]}, (*PARTS, *OF_ENCODER), "description"),
    "in_parts": ({**LLAMA, "lm_head.weight": ["F32", [11, 8]]}, (*PARTS, "--num-heads", "2", *FIVE), None),
    "description": (LAYER, PARTS, "description"),
    "two_parts": ({**LAYER, "fc.weight": ["F32", [2, 2]], "step": ["I32", []]}, PARTS, "description"),
}


def request(table, value):
    """Returns the arguments of `answer_problem` for a value of a table."""
    if table in CONTENTS:
        return {"content": CONTENTS[table](value)}
    tensors, arguments, key = BASES[table.removeprefix("accepted_")]
    case = {key: value} if key else value
    more, config = case.get("arguments", []), case.get("config", "")
    tensors = apply(tensors, case.get("tensors", {}))
    description = case.get("description", "")
    if "in_parts" in table:
        description, config = f"{ALL_IN_ONE}{case.get('more', '')}", config or {}
    if isinstance(config, dict):
        config = json.dumps({"rms_norm_eps": 1e-6, **config})
    is_torch = "model_args" in case
    content = of_torch(tensors, model_args=case["model_args"]) if is_torch else of_tensors(tensors)
    return {"content": content, "suffix": ".pt" if is_torch else ".safetensors", "description": description,
            "config": config,
            "arguments": (*arguments, *(more.split() if isinstance(more, str) else more)),
            "accepts": table.startswith("accepted_")}


OF_TORCH = {
    "in_proj_weight is on the meta device": {"in_proj_weight": TorchTensor(24, 8, device="meta")},
    "torch.save(model.state_dict(), FILE)": pickle.UnpicklingError("Set `weights_only` to False"),
    "take PyTorch 2, or, if you trust the file, run in Python: import json, torch; checkpoint = torch.load('/":
        pickle.UnpicklingError("Set `weights_only` to False. WeightsUnpickler error: Unsupported operand 71"),
    "torch.sparse_coo, which is not read": {"a": TorchTensor(1, layout="torch.sparse_coo")},
    "no state_dict": {"a": types.SimpleNamespace(data_ptr=0)},
    "refuses it: failed finding central directory\n": RuntimeError("failed finding central directory\nmore"),
}


# Files with very many names, heads, digits or brackets: the error must come quickly.
def tiny(*names):
    return {name: ("F32", (1, 1)) for name in names}


def heads(count):
    return tiny(*(f"heads.{i}.{stem}.weight" for i in range(count) for stem in ("query", "key", "value")))


ZEROS = 40 * "0"
LAYERS = tiny(*(f"a.{ZEROS[:i]}{number}{ZEROS[i + 2:]}.wq.bias" for i in range(0, 40, 2) for number in range(10, 100)),
              *(f"{prefix}.{name}.weight" for prefix in ("a", f"a.{ZEROS}") for name in ("wq", "wk", "wv", "wo")))
ENDLESS = [
    ("nested too deeply", frame(b"[" * 100_000)),
    ("nested too deeply", frame(b'{"a":' * 100_000)),
    ("a number of 5000 digits", frame(b"9" * 5000)),
    ("no proper shape", frame({"a": apply(ENTRY, {"shape": [2**62] * 100_000})}, bytes(4))),
    ("cannot place rel_", of_tensors({**LAYER, **tiny("rel_" * 1000 + "\n")})),
    ("3000 stacked heads", safetensors({**heads(3000), **tiny("heads.1.W_query.biaN")})),
    ("400 stacked heads", safetensors({**heads(400), **tiny(*(f"block.{i}.other.weight" for i in range(2000)))})),
    ("1 outputs", safetensors(LAYERS), "--prefix", f"a.{ZEROS}"),
]


def problem(table, phrase, values):
    return next(filter(None, (answer_problem(phrase, **request(table, value)) for value in values)), "")


def failing(step):
    """Patches a method of pathlib.Path so that its first call for the header fails."""
    whole, problems = getattr(pathlib.Path, step), [OSError(errno.ENOSPC, "No space left on device")]

    def failing_once(*paths):
        if problems and "model.hpp" in (path.name for path in paths):
            raise problems.pop()
        return whole(*paths)
    return mock.patch.object(pathlib.Path, step, failing_once)


def linked(header):
    """Puts a link to another file where the exporter will create a temporary file next to the header."""
    link = header.with_name("link")
    link.symlink_to(header.with_name("weights.bin"))
    return link


def refuse_meanwhile(patch, table, phrase, value):
    """Returns the problem of a case while `patch` is active."""
    with exporter.STREAMS, patch:
        return problem(table, phrase, [value])


@exporter.in_folder
def read_no_further(folder):
    """Checks that `export.py ... | true` writes the header, and prints no error."""
    (folder / "weights.safetensors").write_bytes(of_tensors(LAYER))
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as pipe:
        done = subprocess.run([sys.executable, "-B", exporter.ROOT / "ports/pytorch/export.py",
                               folder / "weights.safetensors", "-o",
                               folder / "model.hpp", *ARGUMENTS], stdout=pipe, stderr=subprocess.PIPE, check=False)
    return done.stderr.decode() or ("" if done.returncode == 0 and (folder / "model.hpp").exists()
                                    else f"status {done.returncode}")


@exporter.in_folder
def without_report(folder, redirection, stderr):
    """Checks that, if the report cannot be printed, the header is nevertheless complete and the exit status 0."""
    (folder / "weights.safetensors").write_bytes(of_tensors(LAYER))
    done = exporter.call("sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-B",
                         exporter.ROOT / "ports/pytorch/export.py",
                         folder / "weights.safetensors", "-o", folder / "model.hpp", *ARGUMENTS)
    whole = (folder / "model.hpp").exists() and (folder / "model.hpp").read_text().endswith("}  // namespace model\n")
    return "" if (done.returncode, done.stderr, whole) == (0, stderr,
                                                           True) else f"status {done.returncode}: {done.stderr}"


NOBODY = {">&-": "", ">&- 2>&-": "", "<&- >&- 2>&-": "", "2>&-": "", ">/dev/full 2>&1": "",
          ">/dev/full": "export.py: the header is written, but what it holds cannot be shown: "
                         "No space left on device\n"}
MEANWHILE = {
    "both files or neither, as they are put away": (failing("rename"), "arguments", "No space left",
                                                    "--binary FOLDER/weights.bin"),
    "both files or neither, as new ones come": (failing("replace"), "arguments", "No space left",
                                                "--binary FOLDER/weights.bin"),
    "no link is followed": (mock.patch.object(whole_files, "neighbour", linked), "arguments", "File exists", ""),
    "--parts needs Python 3.11": (mock.patch.dict(sys.modules, tomllib=None), "description", "needs Python 3.11", ""),
}

sentences = tomllib.loads(pathlib.Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
tap.report([
    ("by command", functools.partial(answer_problem, "0 bytes", b"", by=exporter.command)),
    ("a pipe that nobody reads", read_no_further),
    *((f"export.py {redirection}", without_report, redirection, stderr) for redirection, stderr in NOBODY.items()),
    ("the header must be named", lambda: "" if exporter.run("weights")[0] == 2 else "no refusal"),
    *((phrase, problem, table, phrase, values) for table in sentences for phrase, values in sentences[table].items()),
    *((f".pt: {phrase}", functools.partial(answer_problem, phrase, pickle.dumps(content), suffix=".pt")) for phrase,
      content in OF_TORCH.items()),
    *((f"quickly: {phrase}", answer_problem, phrase, content, (*ARGUMENTS, *more)) for phrase, content,
      *more in ENDLESS),
    *((name, refuse_meanwhile, *given) for name, given in MEANWHILE.items()),
])
