# SPDX-License-Identifier: MIT
"""Damaged and random files give a header or a sentence each: no traceback, no end of time, nothing half-written.

    damaged.py [--files N] --     2,400 unless given

A damaged file gives a sentence. Damaged is what a reader can see: a file that is cut or has more bytes, a bit of the header's length or of
the header, a shape, offset or type that lies, a weight that became NaN or infinity. (Another bit of a weight makes another weight: no
reader can know. So does the name of a tensor that the layer does not need.)
"""
import argparse
import functools
import json
import math
import pickle
import random
import sys

import exporter
import tap
from exporter import CASES, DATA, SIZES, framed, in_folder

from tinyattn_export import layouts

LIES = (0, -1, 1, 2, 3, 2**31, 2**63 - 1, 2**63, 2**64, 10**40, 1.5, 1e300, "8", None, True, [], {})
NOT_FINITE = (b"\x00\x00\xc0\x7f", b"\x01\x00\x80\xff", b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff")
PREFIXES = ("", "", "", "a.", "h.0.", "h.1.attn.", "heads.0.", "heads.1.", "h.0.heads.0.", "rel_" * 99, "\u00fc\n.", "." * 50)
STEMS = (*(stem for layout in layouts.LAYOUTS for stem in (*layout.inputs, *layout.outs)), "", "mask", "tril", "q_norm", "ln",
         "bias_k", "rope", "lora_A", "in_proj_weight", "a" * 300, "0" * 50)
SHAPES = ((2, 2), (6, 2), (2, 6), (2,), (6,), (), (0, 2), (1, 1, 2, 2))
ENDINGS = (".weight", ".weight", "_weight", ".bias", "_bias", "bias", "", ".T", ".weight.", "s", "\n")
SETTINGS = ("num_heads = 2", "num_heads = 99999999999999999999999", "context_length = 0x" + "f" * 5000, "causal = 1", "transposed = true",
            'mapping = {out = "a"}', 'ignore = ["*"]', "ignore = [[1]]", "num_heads = nan", "a.b.c = 1979-05-27", '["\\u0000"]', "[")
PARTS = ('[layer]\nattention = ""\nnum_heads = 2\ncontext_length = 4\ncausal = false',
         '[out]\nlinear = "out_proj"', '[bias]\ntensor = "in_proj_bias"')


def parted(content):
    """The header of a file, and where its data begin."""
    start = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:start]), start


# Each kind of damage: from a whole file, and where its data begin, to one damaged file after another.
def cut(content, _):
    yield from (content[:length] for length in range(len(content)))
    yield from (content + bytes(more) for more in (1, 4, 1000))


def a_bit_flipped(content, start):
    for bit in range(8 * start):
        yield content[:bit // 8] + bytes([content[bit // 8] ^ 1 << bit % 8]) + content[bit // 8 + 1:]


def a_lie(content, start):
    """Another dtype, shape or offset, or another element of it."""
    header, _ = parted(content)
    for name, entry in header.items():
        changes = [("dtype", dtype) for dtype in sorted({*SIZES, "F33", ""} - {entry["dtype"]})]
        for key, value in entry.items():
            changes += [(key, lie) for lie in LIES]
            items = range(len(value)) if isinstance(value, list) else ()
            changes += [(key, value[:i] + [lie] + value[i + 1:]) for i in items for lie in LIES if lie != value[i] or lie is True]
        for key, value in changes:
            yield framed({**header, name: {**entry, key: value}}, content[start:])


def a_weight_that_is_not_finite(content, start):
    for offset in range(start, len(content), 4):
        yield from (content[:offset] + value + content[offset + 4:] for value in NOT_FINITE)


@in_folder
def refuse(folder, damage, layouts_of_kind, count):
    """The first damage that is not refused as it should be."""
    damaged = []
    for layout in layouts_of_kind:
        content = (DATA / f"{layout}.safetensors").read_bytes()
        damaged += [(layout, content) for content in damage(content, parted(content)[1])]
    for layout, content in random.Random(1).sample(damaged, min(count, len(damaged))):
        problem = exporter.refusal(folder, content, CASES[layout]["arguments"])
        if problem:
            return f"{layout}, {content!r}: {problem}"
    return "" if len(damaged) >= 1000 else f"only {len(damaged)} files"


def mutated(generator, content):
    """With some bytes changed, taken away or doubled, or as it was."""
    for _ in range(generator.choice((0, 0, 0, 0, 1, 5))):
        first = generator.randrange(len(content) + 1)
        last = min(len(content), first + generator.choice((0, 1, 1, 8, 100)))
        others = (b"", generator.randbytes(last - first or 1), content[first:last] * 2, b"\0", b"9" * 30, b"[" * 99)
        content = content[:first] + generator.choice(others) + content[last:]
    return content


def random_name(generator):
    return "".join(map(generator.choice, (PREFIXES, STEMS, ENDINGS)))


def random_layer(generator):
    """The tensors of a layout, perhaps of another type or elsewhere, some that have names like its own, and arguments."""
    layout, prefix, dtype = generator.choice(list(CASES)), generator.choice(PREFIXES), generator.choice(("F32", "F32", "F32", *SIZES))
    header, _ = parted((DATA / f"{layout}.safetensors").read_bytes())
    tensors = {prefix + name: (dtype, entry["shape"]) for name, entry in header.items()}
    for _ in range(generator.choice((0, 0, 1, 5))):
        tensors[random_name(generator)] = (generator.choice(list(SIZES)), generator.choice(SHAPES))
    arguments = generator.choice(((), (), ("--prefix", generator.choice(PREFIXES)), ("--ignore", "*.bias", random_name(generator)),
                                  ("--map", "qkv=c_attn.weight.T", "out=c_proj.weight"), ("--map", f"out={random_name(generator)}")))
    return ({name: (dtype, shape, generator.choice((bytes, generator.randbytes))(SIZES[dtype] * math.prod(shape)))
             for name, (dtype, shape) in tensors.items()},
            [*CASES[layout]["arguments"], "--num-heads", generator.choice("1123"), *arguments])


# Each kind of random file: the file, and the arguments for the exporter.
def safetensors(generator, folder):
    tensors, arguments = random_layer(generator)
    (folder / "weights.safetensors").write_bytes(mutated(generator, exporter.safetensors(tensors)))
    return [folder / "weights.safetensors", *arguments]


def pt(generator, folder):
    """What torch.load gives: tensors and what is none, in tables within tables, or an exception."""
    tensors, arguments = random_layer(generator)
    content = {name: exporter.torch_tensor(shape, bytes(4 * math.prod(shape))) for name, (_, shape, _) in tensors.items()}
    for wrapper in generator.sample(("model", "state_dict", "other", 3, None), generator.randrange(3)):
        content = {wrapper: content, "step": generator.choice((1, "a", [1], {"b": 2}, None))}
    others = (None, [content], 3, RuntimeError("a\nb"), RuntimeError(), pickle.UnpicklingError("weights_only"), EOFError("\x1b[31m"))
    exporter.LOADED[folder / "weights.pt"] = generator.choice((content,) * 20 + others)
    (folder / "weights.pt").write_bytes(b"PK")
    return [folder / "weights.pt", *arguments]


def description(generator, folder):
    lines = [*generator.sample(PARTS, generator.randrange(4)), *generator.sample(SETTINGS, generator.choice((0, 0, 0, 1, 3)))]
    generator.shuffle(lines)
    (folder / "model.toml").write_bytes(mutated(generator, "\n".join(lines).encode()))
    return [DATA / "multihead_attention.safetensors", "--parts", folder / "model.toml", *generator.choice(((), exporter.ARGUMENTS))]


def answered(make, count):
    """The first file that gets neither a header nor a sentence; and how many headers there are, which a fuzzer must reach."""
    @in_folder
    def answer(folder, seed):
        arguments = [*make(random.Random(seed), folder), *(("--binary", folder / "weights.out") if seed % 4 == 0 else ())]
        status, _, problem = exporter.answer(folder, *arguments)
        return status, problem and f"seed {seed}, {arguments}: {problem}"
    answers = [answer(seed) for seed in range(count)]
    headers = sum(status == 0 for status, _ in answers)
    return next((problem for _, problem in answers if problem), "" if headers > count // 100 else f"only {headers} headers of {count}")


OF_FLOAT32, MIXED = ("multihead_attention", "multihead_attention_without_bias", "qkv"), ("multihead_attention", "nanogpt", "wq_bfloat16")
DAMAGES = {cut: MIXED, a_bit_flipped: MIXED, a_lie: OF_FLOAT32, a_weight_that_is_not_finite: OF_FLOAT32}
RANDOM = (safetensors, pt, description)

parser = argparse.ArgumentParser()
parser.add_argument("--files", type=int, default=2_400)
share = parser.parse_args(sys.argv[1:sys.argv.index("--")] if "--" in sys.argv else None).files // (len(DAMAGES) + len(RANDOM))
tap.report([
    *((damage.__name__.replace("_", " "), functools.partial(refuse, damage, of_kind, share)) for damage, of_kind in DAMAGES.items()),
    *((f"random {make.__name__}", functools.partial(answered, make, share)) for make in RANDOM)])
