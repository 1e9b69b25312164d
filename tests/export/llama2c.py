# SPDX-License-Identifier: MIT
"""Tests that a model of stories260K's shape writes llama2.c's own text from a prompt in words: with llama2.c's
tokenizer.bin, and weights that are drawn here. Run by hand, since llama2.c is not in this repository.

    llama2c.py CLONE_OF_LLAMA2_C -- COMPILER ARGUMENT...
"""
import pathlib
import random
import struct
import sys

from tests.export import exporter
from tests.export.exporter import COMPILER, HERE, in_folder
from tests.export.files import safetensors
from tests.support import tap

CLONE = pathlib.Path(sys.argv[1])
WIDTH, HIDDEN, LAYERS, HEADS, KV_HEADS, CONTEXT, VOCABULARY = 64, 172, 5, 8, 4, 512, 32000
PROMPTS = ("Once upon a time, there was a little girl", "The cat sat", "\u00c9mile, 42 \U0001f600 & co:", "")
STEPS = 250  # tokens of a text, with its prompt


def drawn_tensors():
    """Returns {name: (shape, values)} in the order of llama2.c's checkpoint."""
    generator, kv_width = random.Random(7), WIDTH // HEADS * KV_HEADS
    shapes = {"attention_norm": (WIDTH,), "attention.wq": (WIDTH, WIDTH), "attention.wk": (kv_width, WIDTH),
              "attention.wv": (kv_width, WIDTH), "attention.wo": (WIDTH, WIDTH), "ffn_norm": (WIDTH,),
              "feed_forward.w1": (HIDDEN, WIDTH), "feed_forward.w2": (WIDTH, HIDDEN), "feed_forward.w3": (HIDDEN, WIDTH)}
    names = {"tok_embeddings": (VOCABULARY, WIDTH)}
    names |= {f"layers.{i}.{part}": shape for part, shape in shapes.items() for i in range(LAYERS)}
    names |= {"norm": (WIDTH,), "output": (VOCABULARY, WIDTH)}
    count = {name: shape[0] * (shape[1:] or (1,))[0] for name, shape in names.items()}
    return {f"{name}.weight": (shape, [generator.uniform(-0.5, 0.5) + (len(shape) == 1) for _ in range(count[name])])
            for name, shape in names.items()}


def write_checkpoints(folder):
    """Writes the same model for llama2.c, model.bin, and for the exporter."""
    tensors = drawn_tensors()
    values = {name: struct.pack(f"<{len(numbers)}f", *numbers) for name, (_, numbers) in tensors.items()}
    shape = struct.pack("<7i", WIDTH, HIDDEN, LAYERS, HEADS, KV_HEADS, -VOCABULARY, CONTEXT)
    unused = bytes(4 * CONTEXT * WIDTH // HEADS)  # cosines and sines
    output = values.pop("output.weight")
    (folder / "model.bin").write_bytes(shape + b"".join(values.values()) + unused + output)
    values["output.weight"] = output
    (folder / "model.safetensors").write_bytes(safetensors(
        {name: ("F32", shape, values[name]) for name, (shape, _) in tensors.items()}))


def in_ascii(text):
    """Leaves out what llama2.c does not print of a byte that is a token, and the same elsewhere."""
    return bytes(byte for byte in text if 32 <= byte < 127)


@in_folder
def writes_as_llama2c(folder):
    write_checkpoints(folder)
    tokenizer = CLONE / "tokenizer.bin"
    status, _, errors = exporter.run(
        folder / "model.safetensors", "-o", folder / "model.hpp", "--binary", folder / "weights.bin", "--language-model",
        "--num-heads", HEADS, "--context-length", CONTEXT, "--activation", "silu", "--epsilon", "1e-5", "--rotary-base", "10000",
        "--tokenizer", tokenizer)
    if status:
        return errors
    (folder / "weights.s").write_text(
        f'.section .rodata\n.balign 4\n.globl placed\nplaced: .incbin "{folder}/weights.bin"\n')
    for command in (["gcc", "-O2", "-w", CLONE / "run.c", "-lm", "-o", folder / "run"],
                    [*COMPILER, "-O2", "-I", folder, HERE / "continued.cpp", folder / "weights.s", "-o", folder / "continued"]):
        done = exporter.call(*command)
        if done.returncode:
            return done.stderr[:2000]
    for prompt in PROMPTS:
        theirs = exporter.call(folder / "run", folder / "model.bin", "-z", tokenizer, "-t", "0", "-n", STEPS, "-i", prompt)
        ours = exporter.call(folder / "continued", prompt, STEPS)
        found, expected = (in_ascii(done.stdout.encode()) for done in (ours, theirs))
        if len(expected) < STEPS or found != expected:
            return f"{prompt!r}: {found[:300]}\n{expected[:300]}{ours.stderr}{theirs.stderr}"
    return ""


tap.report([(f"{len(PROMPTS)} texts of {STEPS} tokens as llama2.c", writes_as_llama2c)])
