# SPDX-License-Identifier: MIT
"""A board on the desk: what a header computes, bit for bit, called from Python. The compiler at hand makes a shared
library of it."""
import ctypes
import dataclasses
import functools
import os
import pathlib
import platform
import re
import shlex
import subprocess
import tempfile
import zlib

from . import header
from .checkpoints import pytorch, read
from .errors import ExportError, listing, printable, within
from .language_models import LanguageModelRequest
from .tokenizer_files import read_tokenizer

ROOT = pathlib.Path(__file__).resolve().parents[3]
MOST_TOKENS = 1 << 16
MOST_WHOLE = 2**24  # floats hold every whole number up to it
NEEDED = "the board computes with a compiler of C++20, which CXX names, or c++"
MODEL = re.compile(r"  using (?:In|Out)put\d* = tinyattn::\w+<([\w:]+), ([\d, ]+)>;")
LANGUAGE_MODEL = re.compile(r"::tinyattn::LanguageModel<.*> (\w+)(?:;| = )")
LIMIT = re.compile(r"^  // (\w+) has tokens below ([\d, ]+): others leave the result undefined.$", re.MULTILINE)
FORWARD = re.compile(r"constexpr void forward\((.*?)Workspace& workspace\)", re.DOTALL)
SIZES = re.compile(r"^(?://| \*) .*?(\d+) parameters, (\d+) bytes\.(?: \*/)?$", re.MULTILINE)
CODE = """\
#include "board.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

namespace of_board {{  // whose names are not those of the header

using Model = {type};

template <class Tensor, class Number>
void read(Tensor& x, const Number* from) {{
  using Element = std::remove_cvref_t<decltype(x.elements[0])>;
  for (std::size_t i = 0; i < x.size(); ++i) x.elements[i] = static_cast<Element>(from[i]);
}}

#pragma GCC visibility push(default)
extern "C" {{
std::size_t forward(const void* address, std::size_t count, const void* const* from, const std::size_t* steps,
                    float* const* to) {{
{statics}
  for (std::size_t i = 0; i < count; ++i) {{
{body}
  }}
  return count;
}}
}}
}}
"""
GENERATE = """\
  if (count == 0) {{  // board.generate; steps: tokens of the prompt, tokens to draw, top_k, seed, stop
    const auto* prompt = static_cast<const std::int64_t*>(from[0]);
    const auto* rates = static_cast<const float*>(from[1]);  // temperature, top_p
    const tinyattn::Sampling sampling = {{rates[0], steps[2], rates[1]}};
    tinyattn::Philox4x32 generator(steps[3]);
    tinyattn::Token token = 0;
    std::size_t i = 0;
    for (; i < steps[0] + steps[1] && cache->has_room(1) && (i <= steps[0] || token != steps[4]); ++i) {{
      const bool is_drawn = i >= steps[0];
      token = is_drawn ? tinyattn::sample(logits, sampling, generator) : static_cast<tinyattn::Token>(prompt[i]);
      if (is_drawn) to[0][i - steps[0]] = token;
      static_cast<void>({model}.forward(std::span(&token, 1), *cache, logits, workspace));
    }}
    return i;
  }}
"""
OF_BOARDS = ("-DTINYATTN_PORT=scalar", "-DTINYATTN_SCRATCH_OF_BOARDS")  # the sizes, not those of this machine
RAM = """\
#include "board.hpp"

#include <cstddef>
#include <type_traits>

using Model = {type};

#pragma GCC visibility push(default)
extern "C" std::size_t ram() {{ return {ram}; }}
"""


def compiler():
    """Returns the words of the compiler's command that CXX may say, too."""
    words = shlex.split(os.environ.get("CXX", "c++"))
    fast = ["-O2", *(["-march=native"] if platform.machine() in ("x86_64", "AMD64") else [])]
    return words if any(word.startswith("-O") for word in words) else [*words, *fast]


def compiled(header, code, *flags):
    """Returns the shared library of a text of C++ that includes a header."""
    with tempfile.TemporaryDirectory() as folder, within(NEEDED, OSError, ValueError):
        for name, text in (("board.hpp", header), ("board.cpp", code)):
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        path = f"{folder}/board.so"
        command = [*compiler(), *flags, "-std=c++20", "-fPIC", "-shared",
                   "-fvisibility=hidden",  # else two boards would share constants of one name
                   f"-I{ROOT}/include", f"-I{ROOT}/ports/simd", f"{folder}/board.cpp", "-o", path]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode(errors="replace").splitlines()
            raise ExportError(printable(next((line for line in said if "error" in line), f"status {done.returncode}")))
        return ctypes.PyDLL(path)  # holds the lock of Python: the workspace is for one call at a time


class Board:
    """What a header computes. `weights`: the bytes of its binary, if it has one."""

    def __init__(self, text, name, weights=None):
        self.text, self.name, self.weights = text, name, weights
        sizes = SIZES.search(text)
        self.parameters, self.flash = map(int, sizes.groups())
        self.memory = ctypes.create_string_buffer(weights or b"")
        self.address = ctypes.c_void_p(ctypes.addressof(self.memory))

    @functools.cached_property
    def library(self):
        library = compiled(self.text, self.code())
        library.forward.restype = ctypes.c_size_t
        return library

    def forward(self, count, inputs, steps, outputs):
        """Computes `count` outputs, of inputs that lie `steps` numbers apart. Returns how many it has computed."""
        pointers = [(ctypes.c_void_p * len(tensors))(*(tensor.data_ptr() for tensor in tensors))
                    for tensors in (inputs, outputs)]
        return self.library.forward(self.address, ctypes.c_size_t(count), pointers[0],
                                    (ctypes.c_size_t * len(steps))(*steps), pointers[1])

    def model(self, member=""):
        """Returns the model in C++: a constant, or a member of what lies at an address."""
        if self.weights is None:
            return f"::{self.name}::{member or 'model'}"
        return f"::{self.name}::weights(address){member and '.'}{member}"

    @functools.cached_property
    def ram(self):
        """The bytes on a board of the scratch of a call, and of a language model's cache."""
        function = compiled(self.text, RAM.format(type=self.type(), ram=self.ram_in_cpp()), *OF_BOARDS).ram
        function.restype = ctypes.c_size_t
        return function()

    def lines(self):
        yield f"{self.name}: {self.parameters} parameters"
        yield f"flash: {self.flash} bytes of weights"
        try:
            yield f"RAM: {self.ram} bytes; the stack is the board's"
        except ExportError as error:
            yield f"RAM: unknown, for {error}"

    def __str__(self):
        return "\n".join(self.lines())


class LanguageBoard(Board):
    """board(tokens) returns the logits after each token."""

    @property
    def member(self):
        return LANGUAGE_MODEL.search(self.text)[1]

    def type(self):
        scope = "" if self.weights is None else "Weights::"
        return f"std::remove_cvref_t<decltype(::{self.name}::{scope}{self.member})>"

    def ram_in_cpp(self):
        of_block = "sizeof(Model::Cache::blocks[0].keys_and_values) + 4"  # and a count, of 8 bytes on this machine
        return f"std::extent_v<decltype(Model::Cache::blocks)> * ({of_block}) + sizeof(Model::Cache::Workspace)"

    def code(self):
        return '#include "tinyattn/sampling.hpp"\n' + CODE.format(
            type=self.type(),
            statics="  static Model::Cache::Workspace workspace;\n"
                    "  static tinyattn::Vector<float, Model::vocabulary> logits;\n"
                    "  const auto cache = std::make_unique<Model::Cache>();\n"
                    + GENERATE.format(model=self.model(self.member)),
            body="    const auto token = static_cast<tinyattn::Token>(static_cast<const std::int64_t*>(from[0])[i]);\n"
                 f"    if ({self.model(self.member)}.forward(std::span(&token, 1), *cache, logits, workspace) != "
                 "tinyattn::Status::ok) return i;\n"
                 "    std::memcpy(to[0] + i * logits.size(), logits.data(), sizeof logits);")

    def texts(self, torch, tokens):
        """Returns tokens as a tensor, and the vocabulary."""
        tokens = tensor_of(torch, tokens, "tokens")
        vocabulary = int(re.search(r"\.vocabulary = (\d+)", self.text)[1])
        if tokens.dtype not in (torch.int64, torch.int32) or not 1 <= tokens.dim() <= 2 or not tokens.shape[-1]:
            raise ExportError("board(tokens) takes integers, one text or a batch of texts, each of a token or more")
        if tokens.numel() and not 0 <= tokens.min() <= tokens.max() < vocabulary:
            raise ExportError(f"board(tokens) takes tokens from 0 to {vocabulary - 1}")
        return tokens.to(torch.int64).contiguous(), vocabulary

    def read(self, row, *arguments):
        """Calls `forward` with a text. Returns how many tokens the model has read."""
        done = self.forward(*arguments)
        if done < len(row):
            raise ExportError(f"there are {len(row)} tokens, and the context of the model is {done}")
        return done

    def generate(self, tokens, max_tokens, temperature=1.0, top_k=0, top_p=1.0, seed=0, stop=None):
        """Returns the tokens that `generate` draws after a text on every board, with a Philox4x32 of this seed: at most
        max_tokens, as long as the context has room; the last is `stop`, if that is drawn."""
        torch = pytorch("board.generate returns a tensor")
        prompt, vocabulary = self.texts(torch, tokens)
        limits = (max_tokens, 2**31), (top_k, 2**63), (seed, 2**64), (stop or 0, 2**31)
        if prompt.dim() > 1 or not all(isinstance(count, int) and 0 <= count < most for count, most in limits):
            raise ExportError("generate takes one text, and whole numbers from 0 on")
        if not (temperature >= 0 and top_p == top_p):
            raise ExportError("generate takes a temperature from 0 on, and a top_p that is a number")
        steps = [len(prompt), max_tokens, top_k, seed, vocabulary if stop is None else stop]
        drawn = torch.empty(max_tokens)
        done = self.read(prompt, 0, [prompt, torch.tensor([temperature, top_p])], steps, [drawn])
        return drawn[:done - len(prompt)].to(torch.int64)

    def __call__(self, tokens):
        torch = pytorch("board(tokens) returns a tensor")
        tokens, vocabulary = self.texts(torch, tokens)
        rows = tokens.reshape(-1, tokens.shape[-1])
        out = torch.empty(*rows.shape, vocabulary)
        for row, logits in zip(rows, out):
            self.read(row, len(row), [row], [], [logits])
        return out.reshape(*tokens.shape, vocabulary)


class ModuleBoard(Board):
    """board(x) returns what forward returns: of one input, or of a batch."""

    results = None  # what only export.module knows

    def __init__(self, text, name, weights=None):
        super().__init__(text, name, weights)
        types = [(element, tuple(map(int, extents.split(", ")))) for element, extents in MODEL.findall(text)]
        names = re.findall(r"(const )?\w+& (\w+),", FORWARD.search(text)[1])
        self.inputs, self.outputs = ([(own, *type) for (read, own), type in zip(names, types) if bool(read) == is_input]
                                     for is_input in (True, False))
        limits = {own: tuple(map(int, limit.split(", "))) for own, limit in LIMIT.findall(text)}
        self.limits = [limits.get(own, (MOST_TOKENS,)) for own, *_ in self.inputs]  # tokens are below: all, or each
        self.check = None  # raises an ExportError for wrong inputs
        # ((the shape of an element, the axis of a batch, is it joined), ...), and how to make what forward returns of tensors
        self.shapes = [(extents, 0, False) for _, _, extents in self.outputs]
        self.mixes = False  # whether forward mixes what is in a batch
        self.types = [None] * len(self.inputs)  # of numbers; None is float32 or bool
        self.axes = [0] * len(self.inputs)  # of a batch; None if there is none
        self.dtypes = [None] * len(self.outputs)  # of what forward returns; None is float32
        self.rebuilt = lambda found: found[0] if len(found) == 1 else tuple(found)

    def type(self):
        return f"::{self.name}::Model"

    def ram_in_cpp(self):
        in_c = f"{self.name}_workspace"
        return f"sizeof({in_c})" if f"}} {in_c};" in self.text else (
            "std::is_empty_v<Model::Workspace> ? 0 : sizeof(Model::Workspace)")

    def code(self):
        lines = []
        types = re.findall(r"using ((?:In|Out)put\d*) =", self.text)
        objects = [type.lower() for type in types]
        for i, (type, object) in enumerate(zip(types, objects)):
            lines.append(f"static Model::{type} {object};")
            if i < len(self.inputs):
                number = "float" if self.inputs[i][1] == "float" else "std::int64_t"
                lines.append(f"read({object}, static_cast<const {number}*>(from[{i}]) + i * steps[{i}]);")
        lines.append(f"{self.model()}.forward({', '.join(objects)}, workspace);")
        lines += [f"std::memcpy(to[{i}] + i * {out}.size(), {out}.data(), sizeof {out});"
                  for i, out in enumerate(objects[len(self.inputs):])]
        return CODE.format(type=self.type(), statics="  static Model::Workspace workspace;",
                           body="\n".join(f"    {line}" for line in lines))

    def taken(self, x, i):
        """Returns an input as the library takes it, and whether it has a batch in front."""
        torch = pytorch("board(x) returns tensors")
        name, element, extents = self.inputs[i]
        is_number = element == "float"
        x = tensor_of(torch, x, name)
        types = self.types[i] or (torch.float32, torch.bool)
        if x.dtype not in (types if is_number else (torch.int64, torch.int32)):
            wanted = str(types[0])[6:] if is_number else "int64, for tokens"
            raise ExportError(f"{name} is of {x.dtype}, and must be of {wanted}")
        if x.dim() == 1 and extents == (1,) and len(x) != 1:  # a batch of single numbers
            x = x[:, None]
        has_batch, own = x.shape != extents, self.axes[i]
        if has_batch:
            moved = [(axis, x.movedim(axis, 0)) for axis in (own or 0, 0, 1) if x.dim() > max(axis, len(extents))]
            fitting = [each for axis, each in moved if each.shape[1:] == extents and (axis == own or len(each) == 1)]
            if not fitting:
                raise ExportError(f"{name} is {list(x.shape)}, and must be {list(extents)}, or a batch of such")
            x = fitting[0]
        if not is_number:
            most = torch.tensor(self.limits[i])
            most = (most if len(most) == 1 else most.view(extents)).expand_as(x)
            for limit in most[(x < 0) | (x >= most)][:1].tolist():
                raise ExportError(f"{name} must have tokens from 0 to {limit - 1}")
        return x.to(torch.float32 if is_number else torch.int64).contiguous(), has_batch

    def __call__(self, *inputs):
        torch = pytorch("board(x) returns tensors")
        inputs = flat(inputs)
        if len(inputs) != len(self.inputs):
            raise ExportError(f"board takes {len(self.inputs)} inputs, and not {len(inputs)}")
        taken = [self.taken(x, i) for i, x in enumerate(inputs)]
        counts = {len(x) for x, has_batch in taken if has_batch}
        if len(counts) > 1:
            raise ExportError(f"the inputs are batches of different sizes: {sorted(counts)}")
        count = max(counts, default=1)
        if count > 1 and self.mixes:
            raise ExportError("forward mixes what is in a batch: give board one input at a time")
        for i in range(count if self.check else 0):
            self.check([x[i] if has_batch else x for x, has_batch in taken])
        found = [torch.empty(count, *extents) for _, _, extents in self.outputs]
        steps = [x[0].numel() if has_batch and count else 0 for x, has_batch in taken]
        self.forward(count, [x for x, _ in taken], steps, found)
        if any(dtype in (torch.int64, torch.int32) and (out.abs() > MOST_WHOLE).any()
               for out, dtype in zip(found, self.dtypes)):
            raise ExportError(f"an output is a whole number above {MOST_WHOLE}, which floats do not hold")
        return self.rebuilt([self.placed(out, place, bool(counts)).to(dtype or torch.float32)
                             for out, place, dtype in zip(found, self.shapes, self.dtypes)])

    def placed(self, out, place, has_batch):
        """Returns an output with its batch where forward has it, if it has one."""
        shape, axis, is_joined = place
        if axis is None or not has_batch or is_joined is None and len(out) == 1:
            return out[0].reshape(shape)
        out = out.reshape(len(out), *shape).movedim(0, axis)
        return out.flatten(axis, axis + 1) if is_joined else out

    def lines(self):
        yield from super().lines()
        if self.results is not None:
            yield from self.results(self)


def tensor_of(torch, x, name):
    with within(f"{name} must be a tensor", TypeError, ValueError, RuntimeError):
        return torch.as_tensor(x).detach().cpu()


def flat(inputs):
    """Returns the tensors in tuples, such as the two of a state, without those that are None."""
    def inner(each):
        return flat(each) if isinstance(each, (tuple, list)) else flat(each.values()) if isinstance(each, dict) else [each]
    return [x for each in inputs if each is not None for x in inner(each)]


def load(path, name="model", binary=None):
    """Returns the Board of a header that export wrote. Its binary, if it has one, lies next to it unless its path is
    given. Outputs of a module are tensors, with the extents that they have in C++; several are a tuple."""
    with within(f"cannot read {printable(path)}", OSError, ValueError):
        text = pathlib.Path(path).read_text(encoding="utf-8")
    kind = ModuleBoard if MODEL.search(text) else LanguageBoard if LANGUAGE_MODEL.search(text) else None
    if kind is None or f"namespace {name} {{" not in text or not SIZES.search(text):
        raise ExportError(f"{printable(path)} has no module and no language model of export in a namespace {name}")
    return kind(text, name, binary_of(path, text, binary))


def binary_of(path, text, binary):
    """Returns the bytes of the binary of a header, or None if it has none."""
    found = re.search(r"^// CRC-32 of (.*), as of zip and Ethernet.*\n.*crc_32 = (\w+);", text, re.MULTILINE)
    if found is None:
        return None
    binary = pathlib.Path(binary) if binary else pathlib.Path(path).with_name(found[1])
    with within(f"cannot read {printable(binary)}", OSError):
        content = binary.read_bytes()
    if zlib.crc32(content) != int(found[2], 16):
        raise ExportError(f"{printable(binary)} is not the binary that {printable(path)} was written with")
    return content


def language_model(checkpoint, path, name="model", binary=None, tokenizer=None, **settings):
    """Writes the header of a language model from a checkpoint, as export.py --language-model does, with a tokenizer if
    a file of one is given. Returns its Board: board(tokens) are the logits after each token. `settings` are the options
    of the command: config="config.json", weights="int8", context_length and so on."""
    known = [field.name for field in dataclasses.fields(LanguageModelRequest)]
    if unknown := settings.keys() - known:
        raise ExportError(f"language_model has no {listing(sorted(unknown))}: it has binary, tokenizer, "
                          f"{', '.join(known)}")
    request = LanguageModelRequest(**settings)
    header.write(path, read(checkpoint), name, {"model": request}, binary, tokenizer and read_tokenizer(tokenizer),
                 request.config)
    return load(path, name, binary)
