# SPDX-License-Identifier: MIT
"""Tests from_board.py: a model that was exported, changed in C++ and saved returns to the names of its checkpoint,
or to a module of PyTorch, bit for bit; damaged dumps are refused in one sentence."""
import functools
import pathlib
import re
import tempfile

from ports.pytorch.tinyattn_export import board, board_command, checkpoints, command_line, header, parts
from tests.products.export import exporter
from tests.products.export.exporter import COMPILER, HERE, arguments_of
from tests.products.export.files import slot
from tests.products.export.models import STORED
from tests.support import debian, processes, tap
from tests.support.tap import in_folder

LIKE = ("w_query", "multihead_attention", "nanogpt", "qkv", "stacked_heads", "mapped", "gpt2", "q_proj_float64", "model_gpt2",
        "model_nanogpt_untied", "model_llama", "model_llama_meta", "encoder_norm_first", "encoder_layer", "convolution_padded")
SLOT = 65536
convert = functools.partial(exporter.run, main=board_command.main)


def exported(weights, arguments):
    """Returns the bytes that the exporter makes of a file, without the epsilons, which are no parameters."""
    requests = command_line.requests(command_line.parse([str(weights), "-o", "-", *arguments]))
    (part,) = header.make_parts(checkpoints.read(weights), requests).values()
    return b"".join(parts.content(leaf) for leaf in parts.leaves(part.tree) if not isinstance(leaf, float))


def saved(folder):
    """Saves all layouts in C++. Returns what the program printed."""
    exporter.write_layouts(folder, {name: STORED[name] for name in LIKE})
    processes.call([*COMPILER, "-O0", f"-DSLOT={SLOT}", "-I", folder, HERE / "board.cpp", folder / "weights.s", "-o",
                    folder / "program"])
    return processes.call([folder / "program"], folder=folder)


def comes_back(folder, name):
    """Checks that a changed layer or model returns to the names of its checkpoint: exported once more, it has the
    board's bits. And that an unchanged one equals the checkpoint."""
    flash, place = folder / f"{name}.bin", folder / name
    weights, arguments = place / "weights.safetensors", arguments_of(STORED[name], place)
    first, back = place / "first.safetensors", place / "back.safetensors"
    (place / "first.bin").write_bytes(flash.read_bytes()[:SLOT])
    for source, target in ((place / "first.bin", first), (flash, back)):
        status, _, errors = convert(source, "-o", target, "--like", weights, *arguments)
        if status:
            return errors
    before, unchanged, after = (checkpoints.read(path).tensors for path in (weights, first, back))
    for tensor in before.values():
        same = unchanged[tensor.name]
        if not tensor.shape == same.shape == after[tensor.name].shape:
            return f"{same} was {tensor}"
        if tensor.data != same.data and tensor.values() != same.values():
            return f"{tensor} came back with other values"
    again = exported(back, arguments)
    return "" if again == board.read_board(flash).data else "exported again, it is another"


def loads_into_a_module(folder, printed):
    """Checks that a struct of parts loads into torch.nn.Sequential, with the bits of C++, and computes the same."""
    import torch
    from torch import nn

    status, _, errors = convert(folder / "parts.bin")
    if status:
        return errors
    state = torch.load(folder / "parts.pt", weights_only=True)
    module = nn.Sequential(nn.Embedding(7, 3), nn.Conv1d(3, 4, 3, padding=1), nn.LayerNorm(4), nn.Linear(4, 5), nn.Linear(5, 6))
    module.load_state_dict(state)
    with torch.no_grad():
        convolved = module[1](module[0](torch.tensor([2, 0, 6, 6, 3])).T).T
        out = module[3](module[2](convolved)).flatten()
    wanted = torch.tensor([float(word) for word in printed.split()])
    codes = (torch.arange(30) % 7 * 0.1 - 0.25).reshape(6, 5)
    step = codes.abs().max(dim=1, keepdim=True).values / 127
    changes = (torch.arange(1, 22, dtype=torch.float32) * 0.001).reshape(7, 3)
    return ("" if (torch.allclose(out, wanted, atol=1e-6) and out.shape == wanted.shape
                   and torch.allclose(state["0.weight"], changes, atol=1e-6)
                   and ((state["4.weight"] - codes).abs() <= step * 0.51).all()) else f"{out}\n{wanted}\n{state}")


GOOD = slot(b"\0a.weight=T2x3\n\2bias=f3\n", bytes(36))
REFUSED = {
    "no model was saved in these 0 bytes": b"",
    "no model was saved in these 64 bytes": b"\xff" * 64,
    "it is cut": GOOD[:-32],
    "is damaged, or was not written to its end": GOOD[:100] + b"\1" + GOOD[101:],
    "its layout makes no sense at byte 0": slot(b"\1a=f1\n", bytes(4)),
    "its layout makes no sense at byte 6": slot(b"\0a=f1\n\0b=g1\n", bytes(8)),
    "its layout makes no sense": slot(b"\0a", bytes(8)),
    "or one of them twice": slot(b"\0a=f1\n\1=f1\n", bytes(8)),
    "names no parameter": slot(b"", b""),
    "its layout describes others": slot(b"\0a=f2\n", bytes(4)),
    "a shape that makes no sense": slot(b"\0a=T4\n", bytes(16)),
}


@in_folder
def refuses(folder, sentence, content):
    """Checks that a file is refused in one sentence, and that nothing is written."""
    path, output = folder / "board.bin", folder / "out.safetensors"
    path.write_bytes(content)
    status, printed, errors = convert(path, "-o", output)
    is_right = status == 1 and not printed and not output.exists() and re.fullmatch(r"from_board\.py: .+\n", errors)
    return "" if is_right and sentence in errors else f"{status}: {printed}{errors}"


@in_folder
def says_what_it_passes_over(folder):
    """Checks that the report mentions a damaged model if it is or may be the newer one, but not if it is older."""
    newer, path = slot(b"\0a.weight=T2x3\n\2bias=f3\n", bytes(36), 1), folder / "a.bin"
    for byte, dump, sentence in ((130, newer + GOOD, "newest: the model at byte 0 is damaged"), (130, GOOD + newer, ""),
                                 (8, newer + GOOD, "newest: the header at byte 0 is damaged")):
        path.write_bytes(dump[:byte] + bytes([dump[byte] ^ 1]) + dump[byte + 1:])
        status, printed, errors = convert(path, "-o", folder / "a.safetensors")
        if status or errors or printed.count("newest") != bool(sentence) or sentence not in printed:
            return f"{sentence}: {status} {printed} {errors}"
    return ""


with tempfile.TemporaryDirectory() as home:
    place = pathlib.Path(home)
    output = saved(place)
    pytorch = tap.Skip("PyTorch is not installed (Debian: python3-torch)") if debian.missing("torch") else loads_into_a_module
    tap.report([*((f"comes back: {name}", comes_back, place, name) for name in LIKE),
                *((f"refused: {sentence}", refuses, sentence, content) for sentence, content in REFUSED.items()),
                ("says what it passes over", says_what_it_passes_over),
                ("loads into a module of PyTorch", pytorch, place, output)])
