# SPDX-License-Identifier: MIT
"""Thousands of damaged and random files give a header or a sentence each: no traceback, no end of time, nothing half-written.

    damaged.py [--files N] --     10,000 unless given

A damaged file gives a sentence. Damaged is what a reader can see: a file that is cut or has more bytes, a bit of the header's length or of
the header, a size, offset or type that lies, a weight that became NaN or infinity. (Another bit of a weight makes another weight: no
reader can know. So does the name of a tensor that the layer does not need.)
"""
import argparse
import functools
import json
import pathlib
import pickle
import random
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import fake_torch
import files
import layers
import tap

from tinyattn_export import layouts

DATA = HERE / "data"
CASES = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
LAYOUTS = ("multihead_attention", "nanogpt", "wq_bfloat16")
OF_FLOAT32 = ("multihead_attention", "multihead_attention_without_bias", "qkv")
LIES = (0, -1, 1, 2, 3, 2**31, 2**63 - 1, 2**63, 2**64, 10**40, 1.5, 1e300, "8", None, True, [], {})
PREFIXES = ("", "a.", "h.0.", "h.1.attn.", "heads.0.", "heads.1.", "h.0.heads.0.", "rel_" * 99, "\u00fc\n.", "." * 50)
STEMS = (*(stem for layout in layouts.LAYOUTS for stem in (*layout.inputs, *layout.outs)), "", "mask", "tril", "q_norm", "ln",
         "bias_k", "rope", "lora_A", "in_proj_weight", "a" * 300, "0" * 50)
ENDINGS = (".weight", ".weight", "_weight", ".bias", "_bias", "bias", "", ".T", ".weight.")
PART_NAMES = ("a", "a", "attention", "b.c", '"a b"', "std", '"\\u0000"', "a" * 300)
SETTINGS = ('attention = ""', 'attention = ""', 'linear = "out_proj."', 'tensor = "out_proj.bias"', 'tensor = "in_proj_weight"',
            "num_heads = 2",
            "num_heads = 99999999999999999999999", "context_length = 4", "context_length = 0x" + "f" * 5000, "causal = false", "causal = 1",
            "transposed = true", 'mapping = {out = "a"}', 'ignore = ["*"]', "ignore = [[1]]", "num_heads = nan", "a.b.c = 1979-05-27", "[")
PARTS = ('[layer]\nattention = ""\nnum_heads = 2\ncontext_length = 4\ncausal = false',
         '[out]\nlinear = "out_proj"', '[bias]\ntensor = "in_proj_bias"')
NOT_FINITE = (b"\x00\x00\xc0\x7f", b"\x01\x00\x80\xff", b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff")


def read(layout):
    content = (DATA / f"{layout}.safetensors").read_bytes()
    return content, 8 + int.from_bytes(content[:8], "little")


def cut(layout):
    content, _ = read(layout)
    for length in range(len(content)):
        yield content[:length]
    for more in (1, 4, 1000):
        yield content + bytes(more)


def with_a_bit_flipped(layout):
    content, start = read(layout)
    for bit in range(8 * start):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        yield bytes(damaged)


def with_a_lie(layout):
    content, start = read(layout)
    text = content[8:start].decode()
    for name, entry in json.loads(text).items():
        for key, value in entry.items():
            items = list(range(len(value))) if isinstance(value, list) else []
            for lie in LIES:
                changes = [lie] + [value[:i] + [lie] + value[i + 1:] for i in items if lie != value[i] or lie is True]
                for change in changes:
                    header = json.loads(text)
                    header[name][key] = change
                    yield files.framed(header, content[start:])
        for dtype in sorted({*files.SIZES, "F33", ""} - {entry["dtype"]}):
            header = json.loads(text)
            header[name]["dtype"] = dtype
            yield files.framed(header, content[start:])


def with_a_size_that_lies(layout):
    content, start = read(layout)
    generator = random.Random(layout)
    for length in (*range(start - 8), *(generator.getrandbits(64) for _ in range(100)), len(content), 2**63, 2**64 - 1):
        yield length.to_bytes(8, "little") + content[8:]


def with_a_weight_that_is_not_finite(layout):
    content, start = read(layout)
    for entry in json.loads(content[8:start]).values():
        for offset in range(start + entry["data_offsets"][0], start + entry["data_offsets"][1], 4):
            for value in NOT_FINITE:
                yield content[:offset] + value + content[offset + 4:]


def mutated(generator, content):
    """With some bytes changed, taken away or doubled, or as it was."""
    damaged = bytearray(content)
    for _ in range(generator.choice((0, 0, 1, 1, 2, 5))):
        first = generator.randrange(len(damaged) + 1)
        last = min(len(damaged), first + generator.choice((0, 1, 1, 8, 100)))
        others = (b"", generator.randbytes(last - first or 1), damaged[first:last] * 2, b"\0", b"9" * 30, b"[" * 99)
        damaged[first:last] = generator.choice(others)
    return bytes(damaged)


def random_name(generator):
    return "".join(map(generator.choice, (PREFIXES, STEMS, ENDINGS, ("", "", "", "", "s", "\n"))))


def random_tensors(generator):
    """Of a layer that is known, perhaps, and some that have names like its own."""
    layout, width = generator.choice(layouts.LAYOUTS), generator.choice((1, 2, 6))
    shapes = ((width, width), (3 * width, width), (width, 3 * width), (width,), (3 * width,), (), (0, 2), (1, 1, 2, 2))
    prefixes = generator.sample(PREFIXES, generator.choice((0, 1, 1, 1, 2, 3)))
    names = [prefix + name for prefix in prefixes for name in (*layout.weights(""), layout.outs[0] + ".weight")]
    dtype = generator.choice(("F32", *sorted(files.SIZES)))
    tensors = {name: (dtype, shapes[len(layout.inputs) == 1 and i % 2 == 0]) for i, name in enumerate(names)}
    for _ in range(generator.choice((0, 1, 3, 9))):
        tensors[random_name(generator)] = (generator.choice(sorted(files.SIZES)), generator.choice(shapes))
    return {name: (dtype, shape, generator.choice((bytes, generator.randbytes))(files.SIZES[dtype] * files.count(shape)))
            for name, (dtype, shape) in tensors.items()}


def random_arguments(generator):
    return [*("--num-heads", generator.choice("1123"), "--context-length", "4", generator.choice(("--causal", "--no-causal"))),
            *generator.choice(((), (), ("--prefix", generator.choice(PREFIXES)), ("--ignore", "*.bias", random_name(generator)),
                               ("--map", f"qkv=c_attn.weight{generator.choice(('', '.T'))}", "out=c_proj.weight"),
                               ("--map", f"out={random_name(generator) or 'a'}")))]


def random_safetensors(generator, folder):
    weights = folder / "weights.safetensors"
    weights.write_bytes(mutated(generator, files.file(random_tensors(generator))))
    return [weights, *random_arguments(generator)]


def random_pt(generator, folder):
    """What torch.load gives: tensors and what is none, in tables within tables, or an exception."""
    weights = folder / "weights.pt"
    weights.write_bytes(b"PK")
    device = generator.choice(("cpu",) * 20 + ("meta",))
    dtype = generator.choice(("torch.float32",) * 20 + ("torch.complex32",))
    content = {name: fake_torch.Tensor(shape, bytes(4 * files.count(shape)), dtype, device=device)
               for name, (_, shape, _) in random_tensors(generator).items()}
    content.update({generator.choice(("step", 3, None)): generator.choice((1, "a", [1], {"b": 2}, None))})
    for _ in range(generator.randrange(3)):
        content = {generator.choice(("model", "state_dict", "other")): content}
    others = (None, [content], 3, RuntimeError("a\nb"), RuntimeError(), pickle.UnpicklingError("weights_only"), EOFError("\x1b[31m"))
    fake_torch.CONTENTS[weights] = generator.choice((content,) * 20 + others)
    return [weights, *random_arguments(generator)]


def random_description(generator, folder):
    weights, description = folder / "weights.safetensors", folder / "model.toml"
    weights.write_bytes((DATA / "multihead_attention.safetensors").read_bytes())
    lines = [f"[{generator.choice(PART_NAMES)}]\n" + "\n".join(generator.sample(SETTINGS, generator.randrange(1, 6)))
             for _ in range(generator.choice((0, 0, 1, 3)))]
    lines += generator.sample(PARTS, generator.randrange(3))
    description.write_bytes(mutated(generator, "\n".join(lines).encode()))
    return [weights, "--parts", description, *generator.choice(((), files.ARGUMENTS))]


def check_damaged(damages, layouts_of_kind, count):
    """The first damage that is not refused as it should be."""
    everything = [(layout, content) for layout in layouts_of_kind for content in damages(layout)]
    with tempfile.TemporaryDirectory() as folder:
        for layout, content in random.Random(1).sample(everything, min(count, len(everything))):
            problem = files.refusal(content, pathlib.Path(folder), CASES[layout]["arguments"])
            if problem:
                return f"{layout}, {content!r}: {problem}"
    return "" if len(everything) >= 1000 else f"only {len(everything)} files"


def check_random(make, count):
    """The first file that gets neither a header nor a sentence; and how many headers there are, which a fuzzer must reach."""
    headers = 0
    for seed in range(count):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            arguments = make(random.Random(seed), folder)
            status, _, problem = files.answer(arguments, folder / "model.hpp", *[folder / "weights.dat"] * (seed % 4 == 0))
            if problem:
                return f"seed {seed}, {arguments}: {problem}"
            headers += status == 0
    return "" if headers > count // 100 else f"only {headers} headers of {count}"


def check_by_command():
    """Some of them as a user meets them, with the interpreter's own streams and exit status."""
    generator = random.Random(5)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for content in generator.sample([*cut("w_query"), *with_a_bit_flipped("w_query"), *with_a_lie("w_query")], 24):
            (folder / "weights.safetensors").write_bytes(content)
            done = layers.export(folder / "weights.safetensors", folder / "model.hpp", *files.ARGUMENTS)
            if done.returncode != 1 or done.stdout or done.stderr.count("\n") != 1 or (folder / "model.hpp").exists():
                return f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    return ""


KINDS = {cut: LAYOUTS, with_a_bit_flipped: LAYOUTS, with_a_lie: OF_FLOAT32, with_a_size_that_lies: LAYOUTS,
         with_a_weight_that_is_not_finite: OF_FLOAT32}
RANDOM = (random_safetensors, random_pt, random_description)


def checks(count):
    share = count // (len(KINDS) + len(RANDOM))
    for damages, of_kind in KINDS.items():
        yield damages.__name__.replace("_", " "), functools.partial(check_damaged, damages, of_kind, share)
    for make in RANDOM:
        yield make.__name__.replace("_", " "), functools.partial(check_random, make, share)
    yield "by command", check_by_command


parser = argparse.ArgumentParser()
parser.add_argument("--files", type=int, default=10_000)
tap.report(list(checks(parser.parse_args(sys.argv[1:sys.argv.index("--")] if "--" in sys.argv else None).files)))
