# SPDX-License-Identifier: MIT
"""Tests boards on the desk: what export.module, export.language_model and export.load return computes what PyTorch computes, of
one input and of a batch, with float and int8 weights, and says what it takes; and modules in C compute the same. Needs PyTorch
(Debian: python3-torch); skips its tests without it.

    python3 -m tests.products.export.boards [each_night] -- COMPILER ARGUMENT..."""
import json
import math
import os
import re
import shutil
import unittest.mock

from tests.products.export import exporter
from tests.products.export.files import safetensors
from tests.products.export.models import STORED
from tests.support import debian, tap
from tests.support.tap import in_folder

debian.needs_pytorch()
import torch
from torch import nn

from ports.pytorch import tinyattn_export as export
from ports.pytorch.tinyattn_export.modules import TRACING
from ports.pytorch.tinyattn_export.modules.signature import leaves
from tests.products.export.corner_modules import MODULES, Mixed, Written
from tests.products.export.field_modules import MODELS, made
from tests.products.export.modules_in_c import computed

os.environ["CXX"] = (exporter.COMPILER or ["c++"])[0] + ("" if exporter.IS_NIGHT else " -O0")  # quick to compile
FINE, COARSE = 1e-5, 2e-2  # of the largest output: f32, and int8
IN_WORDS = re.compile(r"""mixed: (\d+) parameters
flash: (\d+) bytes of weights
RAM: (\d+) bytes; the stack is the board's
multiply-adds: (\d+), of the products
largest difference from PyTorch: (\S+) on the example, (\S+) on 2 drawn inputs; the largest output is (\S+)""")
GENERATE = """\
#include "a.hpp"
#include "tinyattn/generate.hpp"
#include <cstdio>
using namespace tinyattn;
using Model = std::remove_cvref_t<decltype(a::model)>;
struct Drawn {
  std::string_view piece(Token token) const { return std::printf("%d ", token), std::string_view(); }
};
static Model::Cache cache;
static Model::Cache::Workspace workspace;
static Vector<float, Model::vocabulary> logits;
int main() {
  constexpr Token prompt[] = {1, 7, 3};
  Philox4x32 generator(5);
  const auto result = generate(a::model, Drawn{}, prompt, {{.7f, 9, .9f}, MOST, STOP}, cache, logits, workspace, generator,
                               [](std::string_view) { return true; });
  std::printf("%zu", result.num_tokens);
}
"""
MIXED_MULTIPLIES = 5 * (6 * 8 + 2 * 5 * 8 + 8 * (4 * 8 + 2 * 16) + 2 * 8 * 3)


def is_near(found, wanted, most=FINE):
    """Returns what is wrong with what a board computes."""
    found, wanted = leaves(found), leaves(wanted)
    kinds = [[(name, tensor.shape, tensor.dtype) for name, tensor in of] for of in (found, wanted)]
    if kinds[0] != kinds[1]:
        return f"{kinds[0]}, not {kinds[1]}"
    errors = {name: ((a.float() - b.float()).abs().max() / b.float().abs().max()).item() for (name, a), (_, b) in zip(found, wanted)}
    return "".join(f"{name} differs by {error}\n" for name, error in errors.items() if not error <= most)


def of_pytorch(net, *inputs):
    with TRACING:  # another thread may trace, and modules are not to be called then
        return net(*inputs)


def inputs(count):
    return torch.randint(11, (count, 5)), torch.randn(count, 5, 6)


@in_folder
def mixed(folder):
    """A batch of one, of three, and none; the same of the header alone; tokens that there are not; what print says."""
    torch.manual_seed(1)
    net, example, batch = Mixed().eval(), inputs(1), inputs(3)
    board = export.module(net, example, folder / "m.hpp", "mixed", binary=folder / "m.bin")
    loaded = export.load(folder / "m.hpp", "mixed")
    loaded.library = board.library
    found = [leaves(call(*(x[index] for x in batch)))
             for call, index in ((board, 0), (loaded, 0), (board, slice(0, 1)))]
    bits = all(torch.equal(first.flatten(), other.flatten()) for one in zip(*found) for (_, first), (_, other) in zip(one, one[1:]))
    numbers = IN_WORDS.fullmatch(str(board))
    wanted = [board.parameters, (folder / "m.bin").stat().st_size, board.ram, MIXED_MULTIPLIES]
    said = numbers and [*map(int, numbers.groups()[:4])] == wanted
    small = numbers and all(float(error) < FINE * float(numbers[7]) for error in numbers.groups()[4:6])
    return is_near(board(*example), of_pytorch(net, *example)) or is_near(board(*batch), of_pytorch(net, *batch)) or (
        "" if bits and said and small else f"{bits} {board}") or refused(
        "union must have tokens from 0 to 10", lambda: board(batch[0] + 6, batch[1])) or refused(
        "samples is [3, 5, 5], and must be [5, 6], or a batch of such", lambda: board(batch[0], batch[1][..., 1:]))


@in_folder
def of_joined_batches(folder):
    """A batch that forward joins with tokens, one that it has not in front, one that it leaves out if it is one, and numbers
    of other types."""
    net = Written(lambda self, x: (self.linear(x).view(-1, 3), x.transpose(0, 1), x.argmax(-1), x > 0, x.sum(-1).squeeze()),
                  linear=nn.Linear(6, 3))
    board, batch = export.module(net, torch.randn(1, 4, 6), folder / "m.hpp", "model"), torch.randn(3, 4, 6)
    found, wanted = board(batch), of_pytorch(net, batch)
    return is_near(board(batch[:1]), of_pytorch(net, batch[:1])) or is_near(found, wanted)


@in_folder
def states(folder):
    """An LSTM of two layers that goes on from a state and returns it: a batch is the second axis of each, and a number."""
    net = Written(lambda self, x, state, scale, more: self.lstm(x * scale[:, None] if more is None else more, state),
                  lstm=nn.LSTM(6, 5, 2)).eval()
    state, states = (tuple(torch.randn(2, batch, 5) for _ in range(2)) for batch in (1, 2))
    board = export.module(net, (torch.randn(4, 1, 6), state, torch.ones(1), None), folder / "m.hpp", weights={"lstm": "f32"})
    batch = torch.randn(4, 2, 6), states, torch.randn(2), None
    return is_near(board(*batch), of_pytorch(net, *batch)) or refused("inputs_0 must be a tensor", lambda: board("a", state, 1))


@in_folder
def not_for_this_board(folder):
    """A second axis that is no batch, since forward takes its mean; and indices that floats do not hold."""
    for sentence, forward, example, x in (
            ("x is [4, 2, 6], and must be [4, 6]", lambda self, x: x.mean(1), torch.randn(4, 1, 6), torch.randn(4, 2, 6)),
            ("a whole number above 16777216", lambda self, x: (x * 1e7).long(), torch.ones(1, 2), torch.ones(1, 2) * 2)):
        board = export.module(Written(forward), example, folder / "m.hpp")
        if problem := refused(sentence, lambda: board(x)):
            return problem
    return ""


@in_folder
def one_by_one(folder):
    """A module that takes one input only gets each of a batch; one that mixes what is in a batch gets one, too."""
    x = torch.randn(2, 4, 6)
    for forward in (lambda self, x: x.view(4, 6), lambda self, x: x.view(1, 4, 2, -1).transpose(1, 2), lambda self, x: x.sum(),
                    lambda self, x: torch.maximum(x, x.max() - 20)):
        net = Written(forward).eval()
        board, wanted = export.module(net, x[:1], folder / "m.hpp"), [of_pytorch(net, each[None]) for each in x]
        of_both = is_near(board(x), torch.cat(wanted)) if wanted[0].dim() == 2 else refused("mixes what is in a batch", lambda: board(x))
        if problem := is_near(board(x[:1]), wanted[0]) or of_both:
            return problem
    return ""


@in_folder
def by_layer(folder):
    """Both boards have one name: neither may read the other's constants. int8 of a layer changes its bytes only."""
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4))).eval()
    kinds = ("f32", {"": "int8", "2.1": "f32"}, {"2": "int8"}, {"0": "int8", "2.0": "int8"})
    x = torch.randn(9, 6)
    boards = [export.module(net, x[0], folder / "m.hpp", "model", weights=kind) for kind in kinds]
    sizes = [board.flash - boards[0].flash for board in boards]
    saved = {"0": 8 * (16 + 4 - 24), "2.0": 8 * (16 + 4 - 32), "2.1": 4 * (16 + 4 - 32)}
    wanted = [0, saved["0"] + saved["2.0"], saved["2.0"] + saved["2.1"], saved["0"] + saved["2.0"]]
    texts = [board.text for board in boards]
    return is_near(boards[0](x), of_pytorch(net, x)) or is_near(boards[1](x), of_pytorch(net, x), COARSE) or (
        "" if sizes == wanted and texts[1] == texts[3] != texts[2] else f"{sizes}, not {wanted}")


@in_folder
def trainable(folder):
    """forward_features and a layer that may be trained compute together every bit of forward. With int8 weights the layer has floats."""
    net, x = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)).eval(), torch.randn(9, 6)
    for kind in ("f32", "int8"):
        boards = [export.module(net, x[0], folder / "m.hpp", weights={"": kind, "2": "f32"}),
                  export.module(net, x[0], folder / "m.hpp", weights=kind, trainable="2")]
        if "  using Features = " not in boards[1].text or not torch.equal(*(board(x) for board in boards)):
            return f"{kind}: other bits"
    return "" if "training: 288 bytes of RAM" in str(boards[1]) else str(boards[1])


@in_folder
def refused_weights(folder):
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.TransformerEncoderLayer(8, 2, 16)).eval()
    cases = [("q, and there is no such module: there are 0, 1, 2", {"q": "int8"}, None), ("one of f32, int8", {"0": "f16"}, None),
             ("linear1, which is in 2, a layer that has one kind of weights", {"2.linear1": "int8"}, None),
             ("int8 of 1, which has no weights that can be int8", {"1": "int8"}, None),
             ("trainable names q, and there is no such module", "f32", "q"), ("a board trains only a Linear", "int8", "0"),
             ("int8 of 0, which is trainable", {"0": "int8"}, "0")]
    return "".join(refused(text, lambda its=its: export.module(net, torch.ones(5, 6), folder / "m.hpp", weights=its[0], trainable=its[1]))
                   for text, *its in cases)


def refused(sentence, call):
    try:
        return f"it is done, and not: {sentence}" if call() is not None else "None"
    except export.ExportError as error:
        return "" if sentence in str(error) and "\n" not in str(error) else str(error)


@in_folder
def without_compiler(folder):
    with unittest.mock.patch.dict(os.environ, CXX="/no/compiler"):
        board = export.module(nn.Linear(6, 3).eval(), torch.ones(1, 6), folder / "m.hpp")
        said = "RAM: unknown, for the board computes with a compiler of C++20, which CXX names, or c++: No such file"
        return refused("which CXX names, or c++: No such file", lambda: board(torch.ones(6))) or (
            "" if said in str(board) and "multiply-adds: 18" in str(board) else str(board))


@in_folder
def products_with_constants(folder):
    """Those are counted that PyTorch computes without a product."""
    wanted = {lambda self, x: torch.fft.rfft(x).abs(): 4 * 2 * 16 * 9, lambda self, x: x.cumsum(1): 16 * 4 * 4,
              lambda self, x: self.linear(torch.fft.rfft(x).real): 4 * (16 * 9 + 9 * 3),
              lambda self, x: nn.functional.interpolate(x, scale_factor=2, mode="linear"): 4 * 32 * 16}
    boards = [export.module(Written(forward, linear=nn.Linear(9, 3)), torch.randn(1, 4, 16), folder / "m.hpp") for forward in wanted]
    said = [next(board.results(board)) for board in boards]
    wanted = [f"multiply-adds: {count}, of the products" for count in wanted.values()]
    return "" if said == wanted else f"{said}, not {wanted}"


@in_folder
def damaged(folder):
    """A header of something else, a binary that is missing or another one, and other names."""
    export.module(nn.Linear(6, 3).eval(), torch.ones(1, 6), folder / "m.hpp", "a", folder / "m.bin")
    (folder / "other.bin").write_bytes(bytes(84))
    (folder / "other.hpp").write_text("#pragma once\n")
    cases = [("cannot read", "none.hpp", "a", None), ("has no module and no language model", "other.hpp", "a", None),
             ("in a namespace b", "m.hpp", "b", None), ("other.bin is not the binary that", "m.hpp", "a", folder / "other.bin")]
    return "".join(refused(text, lambda arguments=arguments: export.load(folder / arguments[0], *arguments[1:]))
                   for text, *arguments in cases)


@in_folder
def language_model(folder, name):
    """The logits after each token of a checkpoint, as PyTorch computed them, and with int8 weights."""
    case, expected = STORED[name], json.loads(exporter.EXPECTED.read_text(encoding="utf-8"))
    (folder / "a.safetensors").write_bytes(safetensors(case.tensors))
    config = exporter.arguments_of(case, folder)[2]
    tokens = torch.tensor(case.input)
    for kind, most in (("f32", FINE), ("int8", exporter.COARSE_INT8)):
        wanted = torch.tensor(expected[name if kind == "f32" else f"{name}_int8"]["output"])
        board = export.language_model(folder / "a.safetensors", folder / "a.hpp", name, folder / "a.bin", config=config,
                                      context_length=12, weights=kind)
        problem = is_near(board(tokens[0]), wanted, most) or is_near(
            board(tokens.expand(2, -1)), wanted.expand(2, -1, -1), most)
        if problem or board.flash != (folder / "a.bin").stat().st_size:
            return f"{kind}: {problem}, {board}"
    return refused("13 tokens, and the context of the model is 12", lambda: board(tokens[0].repeat(2)[:13])) or refused(
        "takes integers, one text or a batch of texts, each of a token or more", lambda: board(tokens[0, :0])) or refused(
        "language_model has no weigths: it has binary, tokenizer, prefix", lambda: export.language_model("a", "a.hpp", weigths="int8"))


@in_folder
def generated(folder):
    """board.generate draws the tokens of `generate` in C++: until there are enough, one ends the text, or the context is full."""
    (folder / "w.safetensors").write_bytes(safetensors(STORED["model_llama"].tensors))
    config = exporter.arguments_of(STORED["model_llama"], folder)[2]
    board = export.language_model(folder / "w.safetensors", folder / "a.hpp", "a", config=config, context_length=12)
    (folder / "a.cpp").write_text(GENERATE)
    drawn = board.generate([1, 7, 3], 20, temperature=0.7, top_k=9, top_p=0.9, seed=5)
    stop = drawn[3].item()
    for most, end in ((4, 99), (20, 99), (20, stop)):
        done = exporter.call(*exporter.COMPILER, f"-DMOST={most}", f"-DSTOP={end}", folder / "a.cpp", "-o", folder / "a")
        *wanted, count = map(int, exporter.call(folder / "a").stdout.split() or [0])
        found = board.generate([1, 7, 3], most, temperature=0.7, top_k=9, top_p=0.9, seed=5, stop=end).tolist()
        if done.returncode or not wanted or found != wanted + [end] * (count - len(wanted)):
            return f"{found}, not {wanted} of {count} {done.stderr}"
    return refused("generate takes one text", lambda: board.generate([[1, 7]], 3)) or refused(
        "a temperature from 0 on", lambda: board.generate([1, 7], 3, temperature=float("nan"))) or (
        "" if len(drawn) == 9 and len(set(drawn.tolist())) > 3 else f"{drawn}")


@in_folder
def ram_of_a_board(folder):
    """print says the RAM of a Cortex-M4, not that of this machine: of a module in C and in C++, and of a cache with a window."""
    if not shutil.which("arm-none-eabi-g++"):
        return tap.Skip("there is no arm-none-eabi-g++ (Debian: gcc-arm-none-eabi)")
    net, x = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval(), torch.ones(1, 32, 32)
    boards = [export.module(net, x, folder / f"{name}.{ending}", name, weights="int8") for name, ending in (("a", "h"), ("b", "hpp"))]
    (folder / "w.safetensors").write_bytes(safetensors(STORED["model_llama"].tensors))
    config = exporter.arguments_of(STORED["model_llama"], folder)[2]
    boards.append(export.language_model(folder / "w.safetensors", folder / "c.hpp", "c", config=config, context_length=12, window=4))
    sizes = ("sizeof(a_workspace)", "sizeof(b::Model::Workspace)", "sizeof(C::Cache) + sizeof(C::Cache::Workspace)")
    (folder / "ram.cpp").write_text("\n".join([
        '#include "a.h"', '#include "b.hpp"', '#include "c.hpp"', "using C = std::remove_cvref_t<decltype(c::model)>;",
        *(f"static_assert({size} == {board.ram});" for size, board in zip(sizes, boards)), ""]))
    command = ["arm-none-eabi-g++", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-std=c++20", "-fsyntax-only"]
    return exporter.call(*command, *(f"-I{exporter.ROOT}/{place}" for place in ("include", "ports/simd")), folder / "ram.cpp").stderr


@in_folder
def of_the_field(folder, name):
    """A board of each module as people write them, of a batch and of its second input."""
    net, example = made(name)
    x = torch.cat([example, example.flip(1)]) if len(example) == 1 else example
    try:
        wanted = of_pytorch(net, x)
    except (RuntimeError, AssertionError):  # the module takes no batch
        x, wanted = example, of_pytorch(net, example)
    board = export.module(net, example, folder / "m.hpp")
    return is_near(board(x), wanted) or (
        "" if x is example or torch.equal(board(x[-1:]), board(x)[-1:]) else "other bits")


def like(x):
    return x // 2 if x.dtype == torch.int64 else torch.randn(x.shape)


def content_of(tensors):
    return b"".join((x if x.is_floating_point() else x.short()).contiguous().numpy().tobytes() for x in tensors)


@in_folder
def in_c(folder, name, net, example, weights):
    """The module in C99 compiles without a warning, and computes the bits of its board, also of inputs that are drawn; or it is
    refused with its line."""
    try:
        board = export.module(net.eval(), example, folder / "m.h", "m", weights=weights)
    except export.ExportError as error:
        is_right = re.search(r" at \w+\.py:\d+: in C there is nothing for ", str(error)) and {name, f"{name}, {weights}"} & NOT_IN_C
        return "" if is_right else str(error)
    example = [tensor for _, tensor in leaves(example)]
    board.dtypes = [torch.float32] * len(board.outputs)  # which have -0, too
    assert board.library  # is compiled
    with TRACING:
        inputs = [example, *([*map(like, example)] for _ in range(3))]
        wanted = [[tensor for _, tensor in leaves(board(*each))] for each in inputs]
    found, problem = computed(folder, {"m": (example, wanted[0], len(inputs))}, content_of(sum(map(list, inputs), [])))
    most = (COARSE if weights == "int8" else FINE) * max(1, *(tensor.abs().max() for tensor in wanted[0]))
    error = math.nan if problem else torch.frombuffer(bytearray(found[-4:]), dtype=torch.float32).item()
    return problem or ("" if found[:-4] == content_of(sum(wanted, [])) and error <= most else f"other bits, or {error} > {most}")


@in_folder
def said_in_c(folder):
    """What C lacks of a pool, the RAM that C takes, the tokens that it takes, and NaN if a call fails."""
    pool = Written(lambda self, x: nn.functional.max_pool1d(x, 3, 2, 1, ceil_mode=True))
    if problem := refused("in C there is nothing for max_pool1d with padding and ceil_mode: write a header of C++",
                          lambda: export.module(pool, torch.ones(1, 4, 6), folder / "m.h")):
        return problem
    net = Written(lambda self, x: self.gru(self.e(x))[0], e=nn.Embedding(11, 6), gru=nn.GRU(6, 5, batch_first=True))
    x = torch.tensor([[10, 3]])
    board, ram = export.module(net.eval(), x, folder / "m.c", "m"), 4 * (2 * 15 + 5 + 2 * 6)
    (folder / "m.c").write_text((folder / "m.c").read_text().replace("!= TINYATTN_OK", "== TINYATTN_OK"))
    found, problem = computed(folder, {"m": ([x], [board(x)], 1)}, content_of([x]))
    is_right = math.isnan(torch.frombuffer(bytearray(found[-4:]), dtype=torch.float32).item()) and f"RAM: {ram} bytes" in str(board)
    is_right = is_right and " *   x [2]: tokens below 11, else" in (folder / "m.h").read_text()
    return problem or ("" if is_right else f"{board} {found[-4:]}")


NOT_IN_C = {"listener, int8", "raw_keywords, int8", *"""a_residual_block keywords_by_depthwise_convolutions dilated_convolutions
            convolutions_and_pools_as_functions pools_to_sizes a_gray_image weights_of_attention encoded_and_decoded
            padding_of_the_input""".split()}
OF_CHANGE = "vit masked gpt raw_keywords listener each_reduction moved means_of_several rows_with_gaps members_named_as_code".split()
IN_C = {"mixed": (Mixed(), inputs(1)), **MODULES, **{name: made(name) for name in MODELS}}
IN_C = {name: IN_C[name] for name in (IN_C if exporter.IS_NIGHT else OF_CHANGE)}
tap.report([*((f"in C: {name}, {weights}", in_c, name, net, example, weights) for name, (net, example) in IN_C.items()
              for weights in (("f32", "int8") if name in MODELS else ("f32",))),
            *((name, of_the_field, name) for name in MODELS if exporter.IS_NIGHT and len(MODELS[name]) == 2),
            ("two inputs, many outputs", mixed), ("a batch, one by one", one_by_one), ("joined batches", of_joined_batches),
            ("states", states), ("not for this board", not_for_this_board), ("int8 by layer", by_layer),
            ("a layer that may be trained", trainable),
            ("weights that are refused", refused_weights), ("what a board of C says", said_in_c),
            ("products with constants", products_with_constants),
            ("no compiler", lambda problem=without_compiler(): problem), ("headers and binaries that do not fit", damaged),
            ("the RAM of a board", ram_of_a_board), ("tokens that are drawn", generated),
            ("a language model", language_model, "model_llama")])
