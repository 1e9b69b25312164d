#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns trained weights into a C++ header of constant tinyattn layers. From Python, `import export` gives the same as functions.

    export.py WEIGHTS -o HEADER --num-heads N --context-length N (--causal | --no-causal) [--prefix PREFIX] [--name NAME]
    export.py WEIGHTS -o HEADER --language-model --config config.json [--context-length N] [--prefix PREFIX] [--name NAME]
"""
import argparse
import contextlib
import os
import sys

if sys.version_info < (3, 9):
    sys.exit("export.py needs Python 3.9 or newer")

from tinyattn_export.checkpoints import of_state_dict, read, write_safetensors
from tinyattn_export.description import read_parts
from tinyattn_export.encoders import transformer, transformer_block
from tinyattn_export.header import left_out, write
from tinyattn_export.language_models import language_model
from tinyattn_export.parts import attention, linear, tensor
from tinyattn_export.refusal import Advised, Refusal, listed
from tinyattn_export.settings import ACTIVATIONS, ROTARIES

__all__ = ["Refusal", "attention", "language_model", "linear", "of_state_dict", "read", "read_parts", "tensor", "transformer",
           "transformer_block", "write", "write_safetensors"]
LAYERS_ALONE, MODELS_ALONE = ("mapping", "causal", "norm_first"), ("num_kv_heads", "rotary", "rotary_base", "config")
BLOCKS = ("norm_first", "activation", "epsilon")


def arguments(words):
    parser = argparse.ArgumentParser(prog="export.py", description="Writes trained weights as a C++ header of constant tinyattn layers.")
    parser.add_argument("weights", metavar="WEIGHTS", help=".safetensors; or .pt, .pth, .bin, .ckpt where PyTorch is installed")
    parser.add_argument("-o", dest="header", metavar="HEADER", required=True, help="the header to write")
    parser.add_argument("--num-heads", type=int, metavar="N", help="how many; needed, as the next two, unless --parts has it")
    parser.add_argument("--context-length", type=int, metavar="N", help="the most tokens")
    parser.add_argument("--causal", action=argparse.BooleanOptionalAction, help="whether no token sees a later one")
    parser.add_argument("--prefix", default="", help="what stands before the layer's own names, such as h.0.attn.")
    parser.add_argument("--name", default="model", help="the namespace of the constants; model unless given")
    parser.add_argument("--map", dest="mapping", action="extend", nargs="+", default=[], metavar="ROLE=NAME",
                        help="which tensor is query, key, value, qkv or out, or the bias of one: query_bias ...; NAME.T if stored in x out")
    parser.add_argument("--ignore", action="extend", nargs="+", default=[], metavar="NAME",
                        help="a tensor that may be left out although it belongs to the layer; * and ? are wildcards")
    parser.add_argument("--parts", metavar="TOML", help="a description of a model of several parts")
    parser.add_argument("--binary", metavar="FILE", help="writes the numbers there, and a header of their types")
    add_model_arguments(parser.add_argument_group("whole models"))
    given = parser.parse_args(words)
    if given.parts and (given.prefix or given.mapping or given.ignore or given.language_model):
        parser.error("--prefix, --map, --ignore and --language-model stand in the description of --parts")
    foreign = LAYERS_ALONE if given.language_model else MODELS_ALONE if given.parts else MODELS_ALONE + BLOCKS
    said = [name for name in foreign if getattr(given, name) not in (None, [], given.language_model)]  # it is causal, norms first
    if said:
        parser.error(f"{' and '.join(said)} cannot be said of {'a language model' if given.language_model else 'this'}")
    return given


def add_model_arguments(group):
    group.add_argument("--language-model", action="store_true", help="the whole file is a GPT-2, a nanoGPT or a Llama")
    group.add_argument("--config", metavar="JSON", help="a config.json, for what no tensor tells of a language model")
    group.add_argument("--num-kv-heads", type=int, metavar="N", help="heads of keys and values; the tensors tell it too")
    group.add_argument("--rotary", choices=ROTARIES, help="which features turn together; its names tell it of a Llama")
    group.add_argument("--rotary-base", type=int, metavar="B", help="of the angles, such as 10000")
    group.add_argument("--activation", choices=ACTIVATIONS, help="of a model, or a block in --parts")
    group.add_argument("--epsilon", type=float, metavar="E", help="of norms; 1e-5 for LayerNorm unless given")
    group.add_argument("--norm-first", action=argparse.BooleanOptionalAction, help="as PyTorch's option, for blocks in --parts")


def requested(given):
    layer = {"num_heads": given.num_heads, "context_length": given.context_length}
    model = {"activation": given.activation, "epsilon": given.epsilon}
    if given.parts:
        return read_parts(given.parts, {**layer, **model, "causal": given.causal, "norm_first": given.norm_first})
    if given.language_model:
        model.update({name: getattr(given, name) for name in MODELS_ALONE})
        return {"model": language_model(given.prefix, **layer, **model, ignore=given.ignore)}
    mapping = dict(setting.partition("=")[::2] for setting in given.mapping)
    return {"attention": attention(given.prefix, **layer, causal=given.causal, mapping=mapping, ignore=given.ignore)}


def main(words):
    given = arguments(words)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed, as by >&-
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        getattr(sys, name).reconfigure(errors="backslashreplace")
    try:
        paths = [os.path.realpath(path) for path in (given.weights, given.parts, given.config, given.header, given.binary) if path]
        if len(set(paths)) != len(paths):
            raise Refusal("what is read and what is written must be different files")
        request = requested(given)
        weights = read(given.weights)
        parts = write(given.header, weights, given.name, request, given.binary)
    except (Refusal, MemoryError) as problem:
        said = problem.on_command_line() if isinstance(problem, Advised) and not given.parts else str(problem)
        print(f"export.py: {said or 'the memory does not suffice'}", file=sys.stderr)
        return 1
    try:
        print("\n".join(report(given.name, weights, parts)), flush=True)
    except OSError as problem:  # the header is there all the same; Python flushes once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(problem, BrokenPipeError):  # whoever reads it has read enough
            with contextlib.suppress(OSError):
                print(f"export.py: the header is written, but what it holds cannot be shown: {problem.strerror}", file=sys.stderr)
    return 0


def report(name, weights, parts):
    for part_name, part in parts.items():
        yield f"{name}::{part_name}: {part.summary}; {part.parameter_count} parameters"
        yield from (f"  {member}: {text}" for member, text in part.sources.items())
        yield from (f"  {remark}" for remark in part.remarks)
    yield from (f"left out: {listed(names)} ({why})" for why, names in left_out(weights, parts).items())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
