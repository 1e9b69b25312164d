# SPDX-License-Identifier: MIT
"""Tests that damaged and random files give a header or an error of one sentence, in limited time:
no traceback, and no incomplete file.

    damaged.py [FILES] --     FILES: the number of random files, 2,400 unless given

A damaged file must give an error. Only damage that a reader can detect is tested: a file that is cut or
has more bytes, a flipped bit in the header or its length, an entry with a wrong or missing value, a
weight that became NaN or infinity. (No reader can detect another flipped bit of a weight, or another
name of a tensor that the layer does not need.)
"""
import json
import pickle
import random
import sys
import tomllib

from tests.export import exporter, models
from tests.export.exporter import in_folder
from tests.export.fake_torch import Tensor
from tests.export.files import SIZES, frame, safetensors, split
from tests.export.models import STORED
from tests.support import tap

LIES = (0, -1, 1, 2, 3, 2**31, 2**63 - 1, 2**63, 2**64, 10**40, 1.5, 1e300, "", "8", "F33", *SIZES, None,
        True, [], [[1]], {}, {"a": 1})
NOT_FINITE = (b"\x00\x00\xc0\x7f", b"\x01\x00\x80\xff", b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff")
PIECES = sorted({piece for case in STORED.values() for name in case.tensors for piece in name.split(".")})
ODD_PIECES = ("", "", "\n", "\u00fc", "T", "W_key_bias", "q_norm", "bias_k", "rope", "lora_A", "2",
              "a" * 300, "0" * 50, "rel_" * 99)
SHAPES = ((2, 2), (6, 2), (2, 6), (2,), (6,), (), (0, 2), (1, 1, 2, 2))
TWO_HEADS = {"num_heads": 2, "context_length": 4}
TABLES = ({"attention": "", **TWO_HEADS, "causal": False, "ignore": ["*"],
           "mapping": {"out": "out_proj.weight"}},
          {"linear": "out_proj", "transposed": True}, {"tensor": "in_proj_bias"},
          {"conv1d": "stem", "stride": 2},
          {"linear": "out_proj", "weights": "int8"},
          {"attention": "", **TWO_HEADS, "causal": True, "weights": "int8", "cache": "int8"},
          *(tomllib.loads(case.files["model.toml"])["model"] | TWO_HEADS
            for case in STORED.values() if case.files.get("model.toml")))
CONFIGS = tuple(json.loads(model.config) for model in models.MODELS.values() if model.config)
NO_STATE_DICTS = (None, [Tensor(2)], 3, RuntimeError("a\nb"), RuntimeError(),
                  pickle.UnpicklingError("weights_only"), EOFError("\x1b"))
MODEL_ARGS = (*LIES, *CONFIGS, {"n_head": 2}, {3: "a"}, {(1, 2): 3}, {"n_head": Tensor(2)})


def changes(tree):
    """Yields changed copies of a JSON value: another value instead; a member missing; a member
    changed in the same ways."""
    yield from (lie for lie in LIES if json.dumps(lie) != json.dumps(tree))
    for key in tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        without = tree.copy()
        del without[key]
        yield without
        for item in changes(tree[key]):
            other = tree.copy()
            other[key] = item
            yield other


def damages(whole):
    """Yields the contents of damaged files. None has metadata, where a flipped bit does not
    matter."""
    header, data = split(whole)
    del header["__metadata__"]
    whole = frame(header, data)
    start = len(whole) - len(data)
    yield from (whole[:length] for length in range(len(whole)))
    yield from (whole + bytes(more) for more in (1, 4, 1000))
    yield from (whole[:bit // 8] + bytes([whole[bit // 8] ^ 1 << bit % 8]) + whole[bit // 8 + 1:]
                for bit in range(8 * start))
    yield from (frame(other, data) for other in changes(header))
    yield from (whole[:i] + value + whole[i + 4:]
                for i in range(start, len(whole), 4) for value in NOT_FINITE)


def first_not_refused(name, count):
    case = STORED[name]
    files = list(damages(safetensors(case.tensors)))
    chosen = random.Random(1).sample(files, min(count, len(files)))
    problems = (exporter.answer_problem("", content, case.arguments) for content in chosen)
    return next(filter(None, problems), "" if len(files) > 3000 else f"only {len(files)} files")


def random_name(generator):
    return ".".join(generator.choice((*ODD_PIECES, *PIECES)) for _ in range(generator.randint(1, 5)))


def perhaps_changed(generator, tree):
    return generator.choice([tree] * 200 + list(changes(tree)))


def random_tensors(generator, case):
    """Returns the tensors of a layout, perhaps of another type or below a prefix, and some with
    random names and shapes."""
    prefix = generator.choice(("", "", f"{random_name(generator)}."))
    dtype = generator.choice(("F32", "F32", "F32", *SIZES))
    tensors = {prefix + name: (dtype, shape) for name, (_, shape, *_) in case.tensors.items()}
    for _ in range(generator.choice((0, 0, 1, 5))):
        tensors[random_name(generator)] = generator.choice(list(SIZES)), generator.choice(SHAPES)
    if generator.random() < 0.2:
        tensors[generator.choice(list(tensors))] = dtype, generator.choice(SHAPES)
    return tensors


def random_pickle(generator, tensors):
    """Returns a pickle of what torch.load may return or raise: nested dicts of tensors and other
    values, or an exception."""
    content = {name: Tensor(*shape) for name, (_, shape) in tensors.items()}
    for wrapper in generator.sample(("model", "state_dict", "other", 3, None), generator.randrange(3)):
        content = {wrapper: content, "step": generator.choice(LIES),
                   "model_args": generator.choice(MODEL_ARGS)}
    return pickle.dumps(generator.choice((content,) * 20 + NO_STATE_DICTS))


def description(generator):
    """Returns a random description in TOML, made of JSON by replacing colons by equals signs."""
    tables = generator.choices(TABLES, k=generator.choice((0, 1, 3)))
    lines = (f"part_{number} = {json.dumps(perhaps_changed(generator, table))}\n"
             for number, table in enumerate(tables))
    return "".join(lines).replace('": ', '" = ')


def random_request(generator, folder):
    """Writes random files, and returns the exporter's arguments."""
    case = generator.choice(list(STORED.values()))
    tensors = random_tensors(generator, case)
    weights = folder / generator.choice(("weights.safetensors", "weights.pt"))
    is_pickle = weights.suffix == ".pt"
    weights.write_bytes(random_pickle(generator, tensors) if is_pickle else safetensors(tensors))
    own = [weights, *exporter.arguments_of(case, folder), "--num-heads", generator.choice("1123")]
    config = perhaps_changed(generator, generator.choice(CONFIGS))
    (folder / "other.json").write_text(json.dumps(config))
    (folder / "parts.toml").write_text(description(generator))
    (folder / "tokens.txt").write_text(generator.choice(("1 2 3", "10", "11", "", "a")))
    (folder / "a.safetensors").write_bytes(safetensors(STORED["multihead_attention"].tensors))
    parts = ["--parts", folder / "parts.toml"]
    return generator.choice((
        own, own, [*own, "--prefix", random_name(generator)],
        [*own, "--ignore", "*.bias", random_name(generator)],
        [*own, "--map", f"out={random_name(generator)}"], [*own, "--binary", folder / "weights.bin"],
        [*own, "--weights", "int8", "--binary", folder / "weights.bin"],
        [*own, "--weights", "int8", "--example", folder / "tokens.txt"], [*own, "--cache", "int8"], [*own, "--config", folder / "other.json"], [folder / "a.safetensors", *parts],
        [weights, *parts]))


@in_folder
def try_request(folder, seed):
    arguments = random_request(random.Random(seed), folder)
    status, _, problem = exporter.answer(folder, *arguments)
    return status, problem and f"seed {seed}, {arguments}: {problem}"


def first_without_answer(count):
    """Returns the problem of the first file that gives neither a header nor one sentence. Also
    fails if too few files gave a header: the fuzzer would not test the code that writes one."""
    statuses, problems = zip(*map(try_request, range(count)))
    few = "" if statuses.count(0) > count // 20 else f"only {statuses.count(0)} headers of {count}"
    return next(filter(None, problems), few)


files = int(sys.argv[1]) if sys.argv[1:2] not in ([], ["--"]) else 2_400
tap.report([("random files", first_without_answer, files // 2)] + [
    (f"damaged {name}", first_not_refused, name, files // 8)
    for name in ("multihead_attention", "multihead_attention_int8", "multihead_attention_without_bias", "qkv",
                 "model_llama_meta")])
