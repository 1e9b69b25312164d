# SPDX-License-Identifier: MIT
"""Models that nobody has seen, made by PyTorch now: every layout in two shapes, from .safetensors, and each type from .pt.

    fresh.py -- COMPILER ARGUMENT...

Skipped where no Python has PyTorch.
"""
import functools
import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import files
import layers
import tap

SHAPES = ((1, 1, 1, 1), (20, 48, 4, 33))  # d_in, d_out, num_heads, tokens
OF_EACH_TYPE = ("gpt2", "w_query_float16", "wq_bfloat16", "q_proj_float64")
WITHOUT_PYTORCH = "PyTorch is not installed (Debian: python3-torch)"


def python_with_pytorch():
    """This one, or the system's own; None if neither has it."""
    for python in (sys.executable, "/usr/bin/python3"):
        if pathlib.Path(python).exists() and layers.call([python, "-c", "import torch"]).returncode == 0:
            return python
    return None


def made(folder, python, shape, seed):
    """Every layout in one shape: the cases, or what went wrong."""
    folder.mkdir()
    done = layers.call([python, "-B", HERE / "make_data.py", folder, *shape, seed])
    return json.loads((folder / "cases.json").read_text(encoding="utf-8")) if done.returncode == 0 else done.stderr


def numbers_of(weights, arguments, folder, python):
    """The header without what it says of its source; or what went wrong."""
    header = folder / f"{weights.name}.hpp"
    done = layers.export(weights, header, *arguments, python=python)
    return header.read_text().partition("#pragma once")[2] if done.returncode == 0 else done.stderr


def same_from_pt(folder, name, case, python):
    """The .pt gives what the .safetensors gives."""
    first, second = (numbers_of(folder / (name + ending), case["arguments"], folder, python) for ending in (".safetensors", ".pt"))
    return "" if first == second else f"from .pt:\n{second[:1000]}"


def same_from_memory(folder, name, case):
    """export.of_state_dict gives what its file gives."""
    header = folder / f"{name}.hpp"
    done = layers.export(folder / f"{name}.safetensors", header, *case["arguments"])
    return done.stderr or ("" if header.read_bytes() == (folder / f"{name}.memory.hpp").read_bytes() else "they differ")


def checks(folder, python, compiler):
    for seed, shape in enumerate(SHAPES, 100):
        cases = made(folder / str(seed), python, shape, seed)
        if isinstance(cases, str):
            yield f"shape {shape}", functools.partial(str, cases)
            continue
        for name, case in cases.items():
            yield f"{name} {shape}", functools.partial(layers.check, folder / str(seed) / f"{name}.safetensors", case, compiler)
        for name in OF_EACH_TYPE:
            yield f"{name} {shape} from .pt", functools.partial(same_from_pt, folder / str(seed), name, cases[name], python)
            yield f"{name} {shape} from memory", functools.partial(same_from_memory, folder / str(seed), name, cases[name])


def damaged_pt(folder, python):
    """A file of torch.save that is cut anywhere, or is something else, is refused."""
    whole = next(folder.glob("*/qkv.pt")).read_bytes()
    hostile = b"\x80\x02cos\nsystem\n(S'exit 0'\ntR."
    for number, content in enumerate([b"", b"PK\x03\x04", whole[:40], whole[:len(whole) // 2], whole[:-30], hostile]):
        weights = folder / f"{number}.pt"
        weights.write_bytes(content)
        done = layers.export(weights, folder / "model.hpp", *files.ARGUMENTS, python=python)
        if done.returncode != 1 or done.stderr.count("\n") != 1 or (folder / "model.hpp").exists():
            return f"file {number}, exit status {done.returncode}: {done.stderr}"
    return ""


def readme(folder, python, compiler):
    """What the README says, done in its order: train, export, include."""
    text = (layers.ROOT / "ports" / "pytorch" / "README.md").read_text(encoding="utf-8")
    train, export, include = (re.search(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1] for kind in ("python", "sh", "cpp"))
    folder.mkdir()
    (folder / "ports").symlink_to(layers.ROOT / "ports")
    (folder / "main.cpp").write_text(include)
    for command in ([python, "-B", "-c", train], ["sh", "-e", "-c", export], [*compiler, "-c", "main.cpp"]):
        done = layers.call(command, cwd=folder)
        if done.returncode:
            return done.stderr
    return ""


def main(compiler):
    python = python_with_pytorch()
    if not python:
        tap.report([("fresh models", lambda: tap.Skip(WITHOUT_PYTORCH))])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tap.report([*checks(folder, python, compiler), ("damaged .pt", functools.partial(damaged_pt, folder, python)),
                    ("the README", functools.partial(readme, folder / "readme", python, compiler))])


main(sys.argv[sys.argv.index("--") + 1:])
