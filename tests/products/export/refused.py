# SPDX-License-Identifier: MIT
"""Tests that files which cannot be exported give an error of one sentence, which names the cause, and that
nothing is written. refused.toml has the sentences."""
import errno
import functools
import json
import pathlib
import pickle
import re
import sys
import tomllib
import types
from unittest import mock

from ports.pytorch.tinyattn_export import settings, whole_files
from tests.products.export import exporter, models
from tests.products.export.exporter import ARGUMENTS, EXPORT, answer_problem
from tests.products.export.fake_torch import Tensor
from tests.products.export.files import frame, of_hex, safetensors
from tests.support import tap


# --- What refused.toml changes: files that can be exported ---

LAYER = models.Layer("W_query.{} W_key.{} W_value.{} out_proj.{}").tensors(6, 8, 2, 5)
GPT2, NANOGPT = (models.Model("wte wpe h. ln_f -", block).tensors(5, blocks=1) for block in ("gpt2", "nanogpt"))
ENCODER = models.encoder_tensors("", blocks=1)
FILES = {
    "neox": models.MODELS["model_gpt_neox"].tensors(5),
    "nothing": {}, "layer": LAYER, "llama": models.LLAMA, "gpt2": GPT2, "nanogpt": NANOGPT, "encoder": ENCODER,
    "layer with others": {**LAYER, "ln.weight": ("F32", (8,)), "ln.bias": ("F32", (8,)),
                          "empty": ("F32", (0, 8)), "steps": ("I32", ())},
    "layer with a linear": {**LAYER, "fc.weight": ("F32", (2, 2)), "step": ("I32", ())},
    "convolution": {"stem.weight": ("F32", (2, 3, 4)), "stem.bias": ("F32", (2,))},
    "llama with a head": {**models.LLAMA, "lm_head.weight": ("F32", (11, 8), "0000803f")},
    "llama in a model": {name.replace("model.", "model.language_model."): tensor
                         for name, tensor in models.LLAMA.items()},
}
ENTRY = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
SENTENCES = tomllib.loads(pathlib.Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
BASES = SENTENCES.pop("bases")
CONTENTS = {  # {table of refused.toml: a function from a value in it to the file's content}
    "file": lambda text: text.encode("latin-1"),
    "header": lambda text: frame(text.encode(), bytes(4)),
    "entry": lambda changes: frame({"a": apply(ENTRY, changes)}, bytes(4)),
}


def apply(table, changes):
    return {name: item for name, item in {**table, **changes}.items() if item is not False}


def of_tensors(tensors):
    return safetensors(of_hex(tensors))


def of_torch(tensors, **others):
    """Returns a checkpoint as a training run saves it, pickled for fake_torch.load."""
    state = {name: Tensor(*shape) for name, (_, shape, *_) in tensors.items()}
    return pickle.dumps({"model": state, **others})


def case_of(phrase, value, key=None):
    """Returns what a value of refused.toml changes, {kind: change}."""
    if key:
        return {key: value}
    if isinstance(value, str):
        kind = "name" if "{}" in phrase else "description" if value.startswith("[") else "arguments"
        return {kind: value}
    return value if value.keys() & {"tensors", "description", "model_args"} else {"tensors": value}


def request(table, phrase, value):
    """Returns the arguments of `answer_problem` for a value of a table. Cases in tables whose names begin with
    `accepted_` must be exported."""
    if table in CONTENTS:
        return {"content": CONTENTS[table](value)}
    file, arguments, *key = BASES[table.removeprefix("accepted_")]
    case = case_of(phrase, value, *key)
    more = {case["name"]: ("F32", (8,))} if "name" in case else case.get("tensors", {})
    tensors, config = apply(FILES[file], more), case.get("config", {})
    if isinstance(config, dict):
        config = json.dumps({"rms_norm_eps": 1e-6, **config})
    is_torch = "model_args" in case
    content = of_torch(tensors, model_args=case["model_args"]) if is_torch else of_tensors(tensors)
    return {"content": content, "suffix": ".pt" if is_torch else ".safetensors",
            "files": {"model.toml": case.get("description", ""), "config.json": config},
            "arguments": f"{arguments} {case.get('arguments', '')}".split(),
            "is_accepted": table.startswith("accepted_")}


def problem(table, phrase, values):
    problems = (answer_problem(phrase.replace("{}", str(value)), **request(table, phrase, value)) for value in values)
    return next(filter(None, problems), "")


# --- Checkpoints of PyTorch ---

PICKLES = {
    "in_proj_weight is on the meta device": {"in_proj_weight": Tensor(24, 8, device="meta")},
    "torch.save(model.state_dict(), FILE)": pickle.UnpicklingError("Set `weights_only` to False"),
    "take PyTorch 2, or, if you trust the file, run in Python: import json, torch; checkpoint = "
    "torch.load('/": pickle.UnpicklingError("Set `weights_only` to False. Unsupported operand 71"),
    "it is damaged, or holds more than tensors": KeyError(101),  # of a text
    "torch.sparse_coo, which is not read": {"a": Tensor(1, layout="torch.sparse_coo")},
    "no state_dict": {"a": types.SimpleNamespace(data_ptr=0)},
    "refuses it: failed finding central directory\n":
        RuntimeError("failed finding central directory\nmore"),
}


# --- Files with very many names, heads, digits or brackets: the error must come quickly ---


def tiny(*names):
    return {name: ("F32", (1, 1)) for name in names}


def heads(count):
    return tiny(*(f"heads.{i}.{stem}.weight" for i in range(count) for stem in ("query", "key", "value")))


ZEROS = 40 * "0"
SIMILAR = tiny(*(f"a.{ZEROS[:i]}{number}{ZEROS[i + 2:]}.wq.bias" for i in range(0, 40, 2) for number in range(10, 100)),
    *(f"{prefix}.{name}.weight" for prefix in ("a", f"a.{ZEROS}") for name in ("wq", "wk", "wv", "wo")))
ENDLESS = [
    ("nested too deeply", frame(b'{"a":' * 100_000)),
    ("a number of 5000 digits", frame(b"9" * 5000)),
    ("no proper shape", frame({"a": {**ENTRY, "shape": [2**62] * 100_000}}, bytes(4))),
    ("cannot place rel_", of_tensors({**LAYER, **tiny("rel_" * 1000 + "\n")})),
    ("3000 stacked heads", safetensors({**heads(3000), **tiny("heads.1.W_query.biaN")})),
    ("400 stacked heads", safetensors({**heads(400), **tiny(*(f"block.{i}.other.weight" for i in range(2000)))})),
    ("1 outputs", safetensors(SIMILAR), "--prefix", f"a.{ZEROS}"),
]


# --- Failures of the system ---


def failing(step):
    """Patches a method of pathlib.Path so that its first call for the header fails."""
    whole, problems = getattr(pathlib.Path, step), [OSError(errno.ENOSPC, "No space left on device")]

    def failing_once(*paths):
        if problems and "model.hpp" in (path.name for path in paths):
            raise problems.pop()
        return whole(*paths)
    return mock.patch.object(pathlib.Path, step, failing_once)


def linked(header):
    """Puts a link to another file at the path of the exporter's temporary file next to the header."""
    link = header.with_name("link")
    link.symlink_to(header.with_name("weights.bin"))
    return link


def refuse_meanwhile(patch, table, phrase, value):
    """Returns the problem of a case while `patch` is active."""
    with exporter.STREAMS, patch:
        return problem(table, phrase, [value])


def by_buffered_python(line, *arguments):
    """Runs export.py by a line of bash, in a Python that buffers its output."""
    return exporter.call("bash", "-c", f"unset PYTHONUNBUFFERED; set -o pipefail; {line}", "bash", *EXPORT, *arguments)


@tap.in_folder
def without_report(folder, redirection, stderr):
    """Checks that, if the report cannot be printed, the header is nevertheless complete, and the exit status 0."""
    (folder / "weights.safetensors").write_bytes(of_tensors(LAYER))
    done = by_buffered_python(f'"$@" {redirection}', folder / "weights.safetensors", "-o",
                              folder / "model.hpp", *ARGUMENTS)
    header = folder / "model.hpp"
    is_whole = header.exists() and header.read_text().endswith("}  // namespace model\n")
    is_right = (done.returncode, done.stderr, is_whole) == (0, stderr, True)
    return "" if is_right else f"status {done.returncode}: {done.stderr}"


def usage_without_stderr():
    """Checks the exit status if not even the usage can be printed."""
    status = by_buffered_python('"$@" >/dev/full 2>&1').returncode
    return "" if status == 2 else f"status {status}"


BINARY = "--binary FOLDER/weights.bin"
MEANWHILE = {
    "both files or neither, as they are put away": (failing("rename"), "layer", "No space left", BINARY),
    "both files or neither, as new ones come": (failing("replace"), "layer", "No space left", BINARY),
    "no link is followed": (mock.patch.object(whole_files, "neighbour", linked), "layer", "File exists", ""),
    "--parts needs Python 3.11": (mock.patch.dict(sys.modules, tomllib=None), "described", "needs Python 3.11", ""),
}
UNHEARD = {
    ">&-": "", ">&- 2>&-": "", "<&- >&- 2>&-": "", "2>&-": "", ">/dev/full 2>&1": "", "| true": "",
    ">/dev/full": "export.py: the header is written, but what it holds cannot be shown: No space left on device\n"}


@tap.in_folder
def in_several_files(folder, phrase, **places):
    """Exports a layer whose tensors are in two files, with their index, in which `places` are changed."""
    names = list(LAYER)
    for i in (0, 1):
        (folder / f"{i}.safetensors").write_bytes(of_tensors({name: LAYER[name] for name in names[i::2]}))
    weight_map = {**{name: f"{i % 2}.safetensors" for i, name in enumerate(names)}, **places}
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": weight_map}))
    status, output, wrong = exporter.answer(folder, index, *ARGUMENTS)
    return wrong or ("" if phrase in output and bool(status) == bool(phrase) else output)


def missing_activations():
    """Returns the activations of the headers that the table of settings.py lacks."""
    listed = exporter.ROOT.joinpath("include/tinyattn/activation_list.h").read_text(encoding="utf-8")
    return ", ".join(set(re.findall(r"^ +use\((\w+)", listed, re.MULTILINE)) - set(settings.ACTIVATIONS))


tap.report([
    ("each activation is in the table of settings.py", missing_activations),
    ("by command", functools.partial(answer_problem, "0 bytes", b"", by=exporter.command)),
    ("a table of settings", functools.partial(answer_problem, "it is JSON, and has no tensors", b"{}", suffix=".json")),
    ("a model in two files", in_several_files, ""),
    *((f"a model in two files: {phrase}", functools.partial(in_several_files, phrase, **{name: file}))
      for phrase, name, file in (("there is no such file", "more", "2.safetensors"), ("no file next to it", "more", "../x"),
                                 ("differ in more", "more", "1.safetensors"),
                                 ("differ in W_query.weight", "W_query.weight", "1.safetensors"))),
    ("the header must be named", lambda: "" if exporter.run("weights")[0] == 2 else "no refusal"),
    ("usage into a full disk", usage_without_stderr),
    *((f"export.py {redirection}", without_report, redirection, stderr) for redirection, stderr in UNHEARD.items()),
    *((phrase, problem, table, phrase, values)
      for table, sentences in SENTENCES.items() for phrase, values in sentences.items()),
    *((f".pt: {phrase}", functools.partial(answer_problem, phrase, pickle.dumps(content), suffix=".pt"))
      for phrase, content in PICKLES.items()),
    *((f"quickly: {phrase}", answer_problem, phrase, content, (*ARGUMENTS, *more))
      for phrase, content, *more in ENDLESS),
    *((name, refuse_meanwhile, *given) for name, given in MEANWHILE.items()),
])
