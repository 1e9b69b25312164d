# SPDX-License-Identifier: MIT
"""The command from_board.py: its arguments, and the file it writes."""
import argparse
import io
import os
import pathlib
import sys

from . import board, checkpoints, command_line, header, parts, safetensors, whole_files
from .errors import ExportError, printable

SUFFIXES = (*sorted(checkpoints.TORCH_SUFFIXES), ".safetensors")


def make_parser():
    parser = command_line.Parser(
        prog="from_board.py", description="Turns what a board has saved into a state_dict of PyTorch, bit for bit.",
        epilog="After --like come the arguments that export.py had, such as --num-heads.")
    parser.add_argument("board", metavar="BOARD.bin", help="a dump of one slot of its flash, or of both")
    parser.add_argument("-o", dest="output", metavar="FILE",
                        help=f"what to write: {', '.join(SUFFIXES)}; BOARD.pt unless given")
    parser.add_argument("--like", metavar="WEIGHTS",
                        help="the checkpoint that the model was exported from, whose names it gets")
    return parser


def in_names_of(slot, path, arguments):
    """Returns the tensors of a slot as a checkpoint has them, which export.py turned into the model by these
    arguments."""
    args = command_line.parse([str(path), "-o", os.devnull, *arguments])
    weights = checkpoints.read(path)
    requests = command_line.requests(args)
    consumed = set().union(*(part.consumed for part in header.make_parts(weights, requests).values()))
    places = board.places_of(weights.tensors, consumed)
    numbered = checkpoints.Tensors({name: board.with_numbers(tensor, "f", places[name]) if name in places else tensor
                                    for name, tensor in weights.tensors.items()})
    numbered.model_args = getattr(weights.tensors, "model_args", {})
    made = header.make_parts(checkpoints.Weights(weights.source, weights.sha256, numbered), requests)
    return board.like(slot, weights.tensors, places, {name: parts.leaves(part.tree) for name, part in made.items()})


def in_torch(tensors):
    """Returns the content of a file of torch.save."""
    torch = checkpoints.pytorch("only it writes .pt: install it, or name the file .safetensors")
    if sys.byteorder == "big":
        raise ExportError("this machine is big-endian: name the file .safetensors")
    content = io.BytesIO()
    torch.save({tensor.name: torch.frombuffer(bytearray(tensor.data), dtype=torch.float32).reshape(tensor.shape)
                for tensor in tensors}, content)
    return content.getvalue()


def convert(args, rest):
    output = pathlib.Path(args.output or pathlib.Path(args.board).with_suffix(".pt"))
    if output.suffix not in SUFFIXES:
        raise ExportError(f"{printable(output)} has none of the suffixes {', '.join(SUFFIXES)}")
    if os.path.realpath(output) in map(os.path.realpath, filter(None, (args.board, args.like))):
        raise ExportError("what is read and what is written must be different files")
    slot = board.read_board(args.board)
    tensors = in_names_of(slot, args.like, rest) if args.like else slot.tensors()
    compose = safetensors.compose if output.suffix == ".safetensors" else in_torch
    whole_files.replace({output: compose(tensors)})
    yield f"{output}: model {slot.sequence}, of byte {slot.place}; {len(tensors)} tensors"
    yield from slot.remarks
    yield from (f"  {tensor}" for tensor in tensors)


def main(arguments):
    parser = make_parser()
    args, rest = parser.parse_known_args(arguments)
    if rest and not args.like:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        lines = list(convert(args, rest))
    except (ExportError, MemoryError) as error:
        print(f"from_board.py: {command_line.message(error, argparse.Namespace(parts=None))}", file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0
