# SPDX-License-Identifier: MIT
"""The command export.py: its arguments, what they ask for, and what it prints."""
import argparse
import contextlib
import os
import sys

from . import c_source, header, tokenizers
from .checkpoints import read
from .description import read_parts, settings_of
from .encoders import TransformerRequest
from .errors import ExportError, listing
from .language_models import LanguageModelRequest
from .parts import AttentionRequest
from .settings import ACTIVATION_NAMES, CACHES, ROTARIES, WEIGHTS, read_config
from .tokenizer_files import read_tokenizer


class Parser(argparse.ArgumentParser):
    """Exits with its status even if nobody can read why, as newer versions of Python do by themselves."""

    def _print_message(self, message, file=None):
        with contextlib.suppress(OSError):
            super()._print_message(message, file)


def make_parser():
    parser = Parser(
        prog="export.py", description="Writes trained weights as a C++ header of constant tinyattn layers.")
    add, choice = parser.add_argument, argparse.BooleanOptionalAction
    add("file", metavar="WEIGHTS", nargs="?",
        help=".safetensors; or .pt, .pth, .bin, .ckpt where PyTorch is installed")
    add("-o", dest="header", metavar="HEADER", required=True, help="the header to write")
    add("--num-heads", type=int, metavar="N", help="how many; needed, as the next two, unless --parts has it")
    add("--context-length", type=int, metavar="N", help="the most tokens")
    add("--causal", action=choice, help="whether no token attends to a later one")
    add("--prefix", default="", help="what precedes the layer's own names, such as h.0.attn.")
    add("--name", default="model", help="the namespace of the constants; model unless given")
    add("--map", dest="mapping", action="extend", nargs="+", default=[], metavar="ROLE=NAME",
        help="which tensor is query, key, value, qkv or out, or the bias of one: query_bias ...; NAME.T if stored in x "
             "out")
    add("--ignore", action="extend", nargs="+", default=[], metavar="NAME",
        help="a tensor that may be left out although it belongs to the layer; * and ? are wildcards")
    add("--parts", metavar="TOML", help="a description of a model of several parts")
    add("--binary", metavar="FILE", help="writes the numbers there, and a header of their types")
    add("--c", action="store_true", help="writes NAME.h and NAME.c for the compiled library; -o says NAME.h")
    add("--weights", choices=WEIGHTS, default="f32", help="how weights lie in flash; f32 unless given")
    add("--cache", choices=CACHES, default="f32",
        help="how keys and values lie in RAM, in a cache and without one; f32 unless given")
    add("--window", type=int, metavar="N", help="a token attends to itself and the N - 1 before it: causal attention")
    add = parser.add_argument_group("whole models").add_argument
    add("--language-model", action="store_true", help="the whole file is a GPT-2, a nanoGPT or a Llama")
    add("--config", metavar="JSON", help="a config.json, for what no tensor tells of a language model")
    add("--tokenizer", metavar="FILE", help="adds it: tokenizer.model, .bin or .json; vocab.json with merges.txt; or a "
        "table of characters. Without WEIGHTS, the header has the tokenizer alone")
    add("--num-kv-heads", type=int, metavar="N", help="heads of keys and values; the tensors tell it too")
    add("--rotary", choices=ROTARIES, help="which features rotate together; its names tell it of a Llama")
    add("--rotary-base", type=int, metavar="B", help="of the angles, such as 10000")
    add("--activation", choices=ACTIVATION_NAMES, help="of a model, or a block in --parts")
    add("--epsilon", type=float, metavar="E", help="of norms; 1e-5 for LayerNorm unless given")
    add("--norm-first", action=choice, help="as PyTorch's option, for blocks in --parts")
    return parser


def names_of(request):
    return {"prefix", *settings_of(request)[1]}


def foreign_to(args):
    """Returns the arguments that make no sense for what is asked for."""
    requests = AttentionRequest, TransformerRequest, LanguageModelRequest
    taken = {"config"} if args.file is None else names_of(
        LanguageModelRequest if args.language_model else TransformerRequest if args.parts else AttentionRequest)
    return [name for name in vars(args) if name in set().union(*map(names_of, requests)) - taken]


def parse(arguments):
    parser = make_parser()
    args = parser.parse_args(arguments)
    if args.parts and (args.prefix or args.mapping or args.ignore or args.language_model):
        parser.error("--prefix, --map, --ignore and --language-model belong into the description of --parts")
    if args.c and args.binary:
        parser.error("--c takes no --binary: numbers are constants of NAME.c")
    if args.c and args.tokenizer:
        parser.error("--c takes no --tokenizer: write a header of C++, of which tokenizer_for_c.hpp makes one of C")
    if args.file is None and (not args.tokenizer or args.language_model or args.parts or args.binary):
        parser.error("the following arguments are required: WEIGHTS; a --tokenizer alone needs none")
    if args.file is not None and args.tokenizer and not args.language_model:
        parser.error("--tokenizer is for --language-model, or without WEIGHTS")
    foreign = foreign_to(args)
    # True is allowed for a language model: it is causal, and its norms come first.
    present = [name for name in foreign if getattr(args, name) not in (None, [], "", "f32", args.language_model)]
    if present:
        parser.error(f"not for {'a language model' if args.language_model else 'this'}: {', '.join(present)}")
    args.mapping = dict(entry.partition("=")[::2] for entry in args.mapping)
    return args


def check_taken(args, requests):
    """Raises an ExportError if no part of a description takes what the command says about all of them."""
    for name, value, what in (("weights", args.weights, "weights"), ("cache", args.cache, "a cache")):
        if value != "f32" and all(getattr(request, name, "f32") == "f32" for request in requests.values()):
            raise ExportError(f"--{name} {value} makes no sense: no part has {what} in {value}")
    if args.window is not None and all(getattr(request, "window", None) is None for request in requests.values()):
        raise ExportError("--window makes no sense: no part has attention")


def requests(args):
    if args.parts:
        described = read_parts(args.parts, vars(args))
        check_taken(args, described)
        return described
    name, request = ("model", LanguageModelRequest) if args.language_model else ("attention", AttentionRequest)
    return {name: request(**{setting: getattr(args, setting) for setting in names_of(request)})}


def report(name, weights, parts, tokenizer=None, is_c=False):
    for part_name, part in parts.items():
        own = c_source.called(name, part_name, parts) if is_c else f"{name}::{part_name}"
        yield f"{own}: {part.summary}; {part.parameter_count} parameters"
        yield from (f"  {member}: {text}" for member, text in part.sources.items())
        yield from (f"  {remark}" for remark in part.remarks)
        if part.matrices():
            yield f"  {part.size} bytes, with weights of floats {part.size_of_floats}"
        yield from (f"  {members}: {matrix.remark}" for members, matrix in part.matrices())
    if weights is not None:
        yield from (f"left out: {listing(names)} ({why})" for why, names in header.unused(weights, parts).items())
    if tokenizer is not None:
        yield f"{name}::tokenizer: {tokenizers.summary(tokenizer)}"


@contextlib.contextmanager
def streams():
    """Replaces a standard stream that is closed, as by >&-, by os.devnull; and escapes what a stream cannot encode.
    At the end it replaces one that cannot be written: Python flushes it once more, and the failure of
    that would be the exit status."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        getattr(sys, name).reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def as_command(main):
    """Runs the main function of a command, and exits."""
    with streams():
        sys.exit(main(sys.argv[1:]))


def print_report(lines):
    """Prints lines on stdout. If that fails, the header is nevertheless written."""
    try:
        print("\n".join(lines), flush=True)
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # a broken pipe: the reader has read enough
            with contextlib.suppress(OSError):
                print(f"export.py: the header is written, but what it holds cannot be shown: {error.strerror}",
                      file=sys.stderr)


def message(error, args):
    if isinstance(error, MemoryError):
        return str(error) or "the memory does not suffice"
    return str(error) if args.parts else error.on_command_line()


def main(arguments):
    args = parse(arguments)
    try:
        files = [args.file, args.parts, args.config, args.tokenizer, args.header, args.binary]
        if args.c:
            c_source.check_path(args.header)
            files.append(c_source.source_of(args.header))
        paths = [os.path.realpath(path) for path in files if path]
        if len(set(paths)) != len(paths):
            raise ExportError("what is read and what is written must be different files")
        weights, wanted = None, {}
        tokenizer = read_tokenizer(args.tokenizer) if args.tokenizer else None
        config = read_config(args.config) if args.tokenizer and args.config else None
        if args.file is not None:
            wanted = requests(args)
            weights = read(args.file)
        if args.c:
            parts = c_source.write(args.header, weights, args.name, wanted)
        else:
            parts = header.write(args.header, weights, args.name, wanted, args.binary, tokenizer, config)
    except (ExportError, MemoryError) as error:
        print(f"export.py: {message(error, args)}", file=sys.stderr)
        return 1
    print_report(report(args.name, weights, parts, tokenizer, args.c))
    return 0
