#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns trained weights into a C++ header of constant tinyattn layers. From Python, `import export` gives the same as functions.

    export.py WEIGHTS -o HEADER --num-heads N --context-length N (--causal | --no-causal) [--prefix PREFIX] [--name NAME]
"""
import argparse
import os
import sys

if sys.version_info < (3, 9):
    sys.exit("export.py needs Python 3.9 or newer")

from tinyattn_export.checkpoints import of_state_dict, read, write_safetensors
from tinyattn_export.header import write
from tinyattn_export.parts import attention, linear, read_parts, tensor
from tinyattn_export.refusal import Refusal

__all__ = ["Refusal", "attention", "linear", "of_state_dict", "read", "read_parts", "tensor", "write", "write_safetensors"]


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
    given = parser.parse_args(words)
    if given.parts and (given.prefix or given.mapping or given.ignore):
        parser.error("--prefix, --map and --ignore stand in the description of --parts")
    return given


def requested(given):
    layer = {"num_heads": given.num_heads, "context_length": given.context_length, "causal": given.causal}
    if given.parts:
        return read_parts(given.parts, layer)
    mapping = dict(setting.partition("=")[::2] for setting in given.mapping)
    return {"attention": attention(given.prefix, **layer, mapping=mapping, ignore=given.ignore)}


def main(words):
    given = arguments(words)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    try:
        paths = [os.path.realpath(path) for path in (given.weights, given.parts, given.header, given.binary) if path]
        if len(set(paths)) != len(paths):
            raise Refusal("what is read and what is written must be different files")
        request = requested(given)
        weights = read(given.weights)
        parts = write(given.header, weights, given.name, request, given.binary)
    except (Refusal, MemoryError) as problem:
        print(f"export.py: {str(problem) or 'the memory does not suffice'}", file=sys.stderr)
        return 1
    for name, part in parts.items():
        print(f"{given.name}::{name}: {part.summary}; {part.parameter_count} parameters")
        for member, text in part.sources.items():
            print(f"  {member}: {text}")
        for remark in part.remarks:
            print(f"  {remark}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
