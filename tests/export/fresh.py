# SPDX-License-Identifier: MIT
"""Models that nobody has seen, made by PyTorch now: every layout in two shapes, from .safetensors, from .pt and from memory.

    fresh.py -- COMPILER ARGUMENT...

Skipped where no Python has PyTorch.
"""
import functools
import json
import pathlib
import re
import sys
import tempfile

import exporter
import tap
from exporter import ARGUMENTS, COMPILER, ROOT, call, command, in_folder

SHAPES = ((1, 1, 1, 1), (20, 48, 4, 33))  # d_in, d_out, num_heads, tokens
OF_EACH_TYPE = ("gpt2", "w_query_float16", "wq_bfloat16", "q_proj_float64")
PYTHONS = [python for python in (sys.executable, "/usr/bin/python3")
           if pathlib.Path(python).exists() and call(python, "-c", "import torch").returncode == 0]


def same(folder, name, case):
    """The .pt and the state_dict in memory give what the .safetensors gives, but for the words on their source."""
    for ending in (".safetensors", ".pt"):
        done = command(folder / (name + ending), folder / f"{name}{ending}.hpp", *case["arguments"], python=PYTHONS[0])
        if done.returncode:
            return done.stderr
    file, pt, memory = ((folder / f"{name}.{way}.hpp").read_text() for way in ("safetensors", "pt", "memory"))
    if file != memory:
        return "from memory it differs"
    return "" if file.partition("#pragma once")[2] == pt.partition("#pragma once")[2] else "from .pt it differs"


@in_folder
def damaged_pt(folder, whole):
    """A file of torch.save that is cut anywhere, or is something else, is refused."""
    hostile = b"\x80\x02cos\nsystem\n(S'exit 0'\ntR."
    for content in (b"", b"PK\x03\x04", whole[:40], whole[:len(whole) // 2], whole[:-30], hostile):
        (folder / "weights.pt").write_bytes(content)
        done = command(folder / "weights.pt", folder / "model.hpp", *ARGUMENTS, python=PYTHONS[0])
        if done.returncode != 1 or done.stderr.count("\n") != 1 or (folder / "model.hpp").exists():
            return f"{content!r}, exit status {done.returncode}: {done.stderr}"
    return ""


@in_folder
def readme(folder):
    """What the README says, done in its order: train, export, include."""
    text = (ROOT / "ports" / "pytorch" / "README.md").read_text(encoding="utf-8")
    train, export, include = (re.search(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1] for kind in ("python", "sh", "cpp"))
    (folder / "ports").symlink_to(ROOT / "ports")
    (folder / "main.cpp").write_text(include)
    steps = ([PYTHONS[0], "-B", "-c", train], ["sh", "-e", "-c", export], [*COMPILER, "-c", "main.cpp"])
    done = (call(*step, cwd=folder) for step in steps)
    return next((step.stderr for step in done if step.returncode), "")


def checks(folder):
    for seed, shape in enumerate(SHAPES, 100):
        made_in = folder / str(seed)
        made_in.mkdir()
        done = call(PYTHONS[0], "-B", ROOT / "tests" / "export" / "models.py", made_in, *shape, seed)
        if done.returncode:
            yield f"shape {shape}", functools.partial(str, done.stderr)
            continue
        for name, case in json.loads((made_in / "cases.json").read_text(encoding="utf-8")).items():
            yield f"{name} {shape}", functools.partial(exporter.computes, made_in / f"{name}.safetensors", case)
            if name in OF_EACH_TYPE:
                yield f"{name} {shape} from .pt and memory", functools.partial(same, made_in, name, case)
    yield "damaged .pt", functools.partial(damaged_pt, (made_in / "qkv.pt").read_bytes())
    yield "the README", readme


if not PYTHONS:
    tap.report([("fresh models", lambda: tap.Skip("PyTorch is not installed (Debian: python3-torch)"))])
with tempfile.TemporaryDirectory() as name:
    tap.report(list(checks(pathlib.Path(name))))
