# SPDX-License-Identifier: MIT
"""Tests that damaged or random files give a header or an error of one sentence, in limited time: no traceback, no
incomplete file. Hypothesis (Debian: python3-hypothesis) draws them, the same each time, and shows the smallest example.

    damaged.py [FILES] --     FILES: how many are drawn, 500 unless given

A damaged file of weights must give an error. Only damage that a reader can detect is tested: a file that is cut or
has more bytes, a flipped bit in the header or its length, an entry with a wrong or missing value, a weight that is NaN
or infinity. (No reader can detect another flipped bit of a weight, or another name of a tensor that no layer needs.)
"""
import contextlib
import json
import pathlib
import pickle
import sys
import tempfile
import tomllib

from tests.support import debian, tap

if debian.missing("hypothesis"):
    tap.report([("all tests", tap.Skip("Python has no hypothesis (Debian: python3-hypothesis)"))])
from hypothesis import HealthCheck, configuration, given, settings, strategies as st

from ports.pytorch.tinyattn_export import ExportError, board
from tests.products.export import exporter, models
from tests.products.export.fake_torch import Tensor
from tests.products.export.files import SIZES, frame, safetensors, slot, split
from tests.products.export.models import STORED
from tests.products.export.refused_tokenizers import VALID

HOME = tempfile.TemporaryDirectory()
configuration.set_hypothesis_home_dir(HOME.name)  # not the tree
FILES = int(sys.argv[1]) if sys.argv[1:2] not in ([], ["--"]) else 500
DAMAGED = ("multihead_attention", "multihead_attention_int8", "multihead_attention_without_bias", "qkv",
           "model_llama_meta")
LIES = (0, -1, 1, 2, 3, 2**31, 2**63 - 1, 2**63, 2**64, 10**40, 1.5, 1e300, "", "8", "F33", *SIZES, None, True, [],
        [[1]], {}, {"a": 1})
NOT_FINITE = (b"\x00\x00\xc0\x7f", b"\x01\x00\x80\xff", b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff")
PIECES = sorted({piece for case in STORED.values() for name in case.tensors for piece in name.split(".")})
ODD_PIECES = ("", "", "\n", "\u00fc", "T", "W_key_bias", "q_norm", "bias_k", "rope", "lora_A", "2", "a" * 300, "0" * 50,
              "rel_" * 99)
SHAPES = ((2, 2), (6, 2), (2, 6), (2,), (6,), (), (0, 2), (1, 1, 2, 2))
TWO_HEADS = {"num_heads": 2, "context_length": 4}
TABLES = ({"attention": "", **TWO_HEADS, "causal": False, "ignore": ["*"], "mapping": {"out": "out_proj.weight"}},
          {"linear": "out_proj", "transposed": True}, {"tensor": "in_proj_bias"}, {"conv1d": "stem", "stride": 2},
          {"linear": "out_proj", "weights": "int8"},
          {"attention": "", **TWO_HEADS, "causal": True, "weights": "int8", "cache": "int8"},
          *(tomllib.loads(case.files["model.toml"])["model"] | TWO_HEADS
            for case in STORED.values() if case.files.get("model.toml")))
CONFIGS = tuple(json.loads(model.config) for model in models.MODELS.values() if model.config)
NO_STATE_DICTS = (None, [Tensor(2)], 3, RuntimeError("a\nb"), RuntimeError(), pickle.UnpicklingError("weights_only"),
                  EOFError("\x1b"))
MODEL_ARGS = (*LIES, *CONFIGS, {"n_head": 2}, {3: "a"}, {(1, 2): 3}, {"n_head": Tensor(2)})


def problem_of(check, count, *strategies):
    """Returns what is wrong with the smallest example that fails a check."""
    @settings(max_examples=count, derandomize=True, database=None, deadline=None,
              suppress_health_check=list(HealthCheck))
    @given(st.tuples(*strategies))
    def passes(drawn):
        if problem := check(*drawn):
            raise AssertionError(f"{problem}: {drawn}")
    try:
        passes()
    except AssertionError as error:
        return str(error)[:2000]
    return ""


# --- Damage ---


@st.composite
def changed(draw, tree):
    """Draws a JSON value with one change: another value instead; a member missing; a member changed in these ways."""
    if isinstance(tree, (dict, list)) and tree and draw(st.integers(0, 3)):
        other = tree.copy()
        key = draw(st.sampled_from(list(tree) if isinstance(tree, dict) else range(len(tree))))
        if draw(st.booleans()):
            del other[key]
        else:
            other[key] = draw(changed(tree[key]))
        return other
    lies = st.sampled_from(LIES) | st.integers() | st.floats() | st.text("aF3\u00fc\n\"\\", max_size=9)
    return draw(lies.filter(lambda lie: json.dumps(lie) != json.dumps(tree)))


@st.composite
def damaged(draw, whole):
    """Draws a damaged file of weights. It has no metadata, where a flipped bit does not matter."""
    header, data = split(whole)
    del header["__metadata__"]
    whole = frame(header, data)
    start, kind = len(whole) - len(data), draw(st.integers(0, 6))
    if kind == 0:
        return whole[:draw(st.integers(0, len(whole) - 1))]
    if kind == 1:
        return whole + draw(st.binary(min_size=1, max_size=99))
    if kind == 2:
        bit = draw(st.integers(0, 8 * start - 1))
        return whole[:bit // 8] + bytes([whole[bit // 8] ^ 1 << bit % 8]) + whole[bit // 8 + 1:]
    if kind > 3:
        return frame(draw(changed(header)), data)
    place = start + 4 * draw(st.integers(0, len(data) // 4 - 1))
    return whole[:place] + draw(st.sampled_from(NOT_FINITE)) + whole[place + 4:]


@st.composite
def spoiled(draw, content):
    """Draws any file that is cut, has changed bytes, or repeats a part."""
    place = draw(st.integers(0, len(content) - 1))
    others = st.sampled_from((b"null", b"[]", b"{}", b'"', b"-1", b"\xff\xff\xff\xff", b"\x80"))
    return content[:place] + draw(others | st.binary(max_size=2)) + content[draw(st.integers(0, len(content))):]


def not_refused(name):
    case = STORED[name]
    return problem_of(lambda content: exporter.answer_problem("", content, case.arguments), FILES // 4,
                      damaged(safetensors(case.tensors)))


def tokenizer_problem(name):
    """Checks that damaged files give a header or one sentence. The intact file must give a header."""
    @tap.in_folder
    def check(folder, content):
        (folder / name).write_bytes(content)
        status, output, problem = exporter.answer(folder, "--tokenizer", folder / name)
        return problem or (output if status == 2 or (status == 1 and content == VALID[name]) else "")
    return check(VALID[name]) or problem_of(check, FILES // 10, spoiled(VALID[name]))


def board_problem():
    """Checks that a dump with some wrong bits is refused, or read as its other model: all numbers of both are 0."""
    layout = b"\0a.weight=T2x3\n\2bias=f3\n"
    dump = slot(layout, bytes(36), 0xffffffff) + b"\xff" * 32 + slot(layout, bytes(36))
    if board.newest_slot(dump).sequence != 0:
        return "after 2^32 models the oldest is the newest"

    def check(flips, size):
        content = bytearray(dump)
        for bit in flips:
            content[bit // 8] ^= 1 << bit % 8
        with contextlib.suppress(ExportError):
            if any(any(tensor.data) for tensor in board.newest_slot(bytes(content[:size])).tensors()):
                return "wrong numbers are taken for right ones"
        return ""
    return problem_of(check, FILES, st.sets(st.integers(0, 8 * len(dump) - 1), min_size=1, max_size=3),
                      st.integers(0, len(dump)))


# --- Random requests ---


NAMES = st.lists(st.sampled_from((*ODD_PIECES, *PIECES)), min_size=1, max_size=5).map(".".join)


def perhaps_changed(tree):
    return st.integers(0, 2).flatmap(lambda number: changed(tree) if number == 0 else st.just(tree))


@st.composite
def tensors(draw, case):
    """Draws a layout's tensors, perhaps of another type or below a prefix, and some with other names and shapes."""
    prefix, dtype = draw(st.just("") | NAMES.map("{}.".format)), draw(st.just("F32") | st.sampled_from(list(SIZES)))
    drawn = {prefix + name: (dtype, shape) for name, (_, shape, *_) in case.tensors.items()}
    names = st.just([]) | st.lists(NAMES | st.sampled_from(list(drawn)), max_size=5)
    return drawn | {name: (draw(st.sampled_from(list(SIZES))), draw(st.sampled_from(SHAPES))) for name in draw(names)}


@st.composite
def pickles(draw, tensors):
    """Draws a pickle of what torch.load may return or raise: nested dicts of tensors and other values; an exception."""
    content = {name: Tensor(*shape) for name, (_, shape) in tensors.items()}
    for wrapper in draw(st.lists(st.sampled_from(("model", "state_dict", "other", 3, None)), max_size=2)):
        content = {wrapper: content, "step": draw(st.sampled_from(LIES)),
                   "model_args": draw(st.sampled_from(MODEL_ARGS))}
    return pickle.dumps(draw(st.sampled_from((content,) * 20 + NO_STATE_DICTS)))


@st.composite
def requests(draw):
    """Draws the exporter's arguments, and {name: content} of their files. FOLDER is where these are."""
    case = draw(st.sampled_from(list(STORED.values())))
    drawn, is_pickle = draw(tensors(case)), draw(st.booleans())
    weights = f"FOLDER/weights.{'pt' if is_pickle else 'safetensors'}"
    tables = enumerate(draw(st.lists(st.sampled_from(TABLES).flatmap(perhaps_changed), max_size=3)))
    files = {weights: draw(pickles(drawn)) if is_pickle else safetensors(drawn),
             **{f"FOLDER/{name}": text.encode() for name, text in case.files.items()},
             "FOLDER/other.json": json.dumps(draw(st.sampled_from(CONFIGS).flatmap(perhaps_changed))).encode(),
             "FOLDER/a.safetensors": safetensors(STORED["multihead_attention"].tensors),
             "FOLDER/parts.toml": "".join(  # JSON, with equals signs instead of colons
                 f"part_{i} = {json.dumps(table)}\n" for i, table in tables).replace('": ', '" = ').encode()}
    own = [weights, *case.arguments, "--num-heads", draw(st.sampled_from("1123"))]
    int8, parts, name = [*own, "--weights", "int8"], ["--parts", "FOLDER/parts.toml"], draw(NAMES)
    return files, draw(st.sampled_from((
        own, own, [*own, "--prefix", name], [*own, "--ignore", "*.bias", name], [*own, "--map", f"out={name}"],
        [*own, "--binary", "FOLDER/weights.bin"], [*int8, "--binary", "FOLDER/weights.bin"],
        [*own, "--cache", "int8"], [*own, "--config", "FOLDER/other.json"],
        ["FOLDER/a.safetensors", *parts], [weights, *parts])))


def request_problem():
    """Checks that each request gives a header or one sentence, and that enough give a header: otherwise the code that
    writes one is not tested."""
    statuses = []

    @tap.in_folder
    def check(folder, request):
        files, arguments = request
        for name, content in files.items():
            pathlib.Path(name.replace("FOLDER", str(folder))).write_bytes(content.replace(b"FOLDER", bytes(folder)))
        status, _, problem = exporter.answer(folder, *(word.replace("FOLDER", str(folder)) for word in arguments))
        statuses.append(status)
        return problem
    problem, headers = problem_of(check, FILES, requests()), statuses.count(0)
    return problem or ("" if headers > len(statuses) // 20 else f"only {headers} headers of {len(statuses)}")


# One after the other, as Hypothesis is not made for threads.
tap.report([("random files", request_problem()), ("damage of a board's dump is noticed", board_problem()),
            *((f"damaged {name}", not_refused(name)) for name in DAMAGED),
            *((f"damaged {name}", tokenizer_problem(name)) for name in VALID)])
