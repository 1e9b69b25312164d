# SPDX-License-Identifier: MIT
"""Tests from_board.py: a model that was exported, changed in C++ and saved comes back into the names of its checkpoint,
or into a module of PyTorch, bit for bit; damaged dumps are refused in one sentence.

    from_board.py [each_night] -- COMPILER ARGUMENT...    each_night: C++ saves all layouts
"""
import contextlib
import io
import re
import struct

from ports.pytorch.tinyattn_export import board, board_command, checkpoints, command_line, header, parts
from tests.export.exporter import COMPILER, IS_NIGHT, STREAMS, arguments_of, call, in_folder, run
from tests.export.files import safetensors, slot
from tests.export.models import STORED
from tests.support import debian, tap

LIKE = ("w_query", "multihead_attention", "nanogpt", "qkv", "stacked_heads", "mapped", "gpt2", "q_proj_float64", "model_gpt2",
        "model_nanogpt_untied", "model_llama", "model_llama_meta", "encoder_norm_first", "encoder_layer", "convolution_padded")
IN_CPP = LIKE if IS_NIGHT else ("mapped", "model_gpt2", "model_llama_meta", "convolution_padded")
SLOT = 65536
FLASH = """\
#include <cstdio>
#include <cstring>
#include <span>

#include "tinyattn/checkpoint.hpp"

struct Flash {
  unsigned char bytes[2][SLOT];
  void erase(std::size_t slot) { std::memset(bytes[slot], 0xff, SLOT); }
  void write(std::size_t slot, std::size_t offset, std::span<const std::byte> from) {
    std::memcpy(bytes[slot] + offset, from.data(), from.size());
  }
  void read(std::size_t slot, std::size_t offset, std::span<std::byte> to) { std::memcpy(to.data(), bytes[slot] + offset, to.size()); }
};

inline void write_file(const char* name, const void* from, std::size_t count) {
  std::FILE* file = std::fopen(name, "wb");
  std::fwrite(from, 1, count, file);
  std::fclose(file);
}

// Saves a model, changes each number, and saves it again.
template <class Model>
int save_changed(Model& model) {
  static Flash flash;
  flash.erase(0);
  flash.erase(1);
  bool saved = tinyattn::save(model, flash) == tinyattn::Status::ok;
  float change = 0.0f;
  tinyattn::for_each_parameter(model, [&]<class Parameter>(const char*, Parameter& parameter) {
    if constexpr (requires { parameter.elements; })
      for (float& element : parameter.elements) element = 0.75f * element + (change += 0.001f);
  });
  saved = tinyattn::save(model, flash) == tinyattn::Status::ok && saved;
  write_file("flash.bin", flash.bytes, sizeof flash.bytes);
  return saved ? 0 : 1;
}
"""
OF_EXPORT = """\
#include "flash.hpp"
#include "model.hpp"

static auto changed = model::PART;

int main() { return save_changed(changed); }
"""
OF_PARTS = """\
#include "flash.hpp"
#include "tinyattn/convolution.hpp"
#include "tinyattn/embedding.hpp"
#include "tinyattn/feed_forward.hpp"
#include "tinyattn/normalization.hpp"

using namespace tinyattn;

struct Model {
  Embedding<7, 3> embedding;
  Conv1d<Conv1dConfig{.in = 3, .out = 4, .kernel = 3, .padding = 1}> convolution;
  LayerNorm<4> norm;
  Linear<4, 5> linear;
  Linear<5, 6, true, Weights::int8> codes;
  using Parts = Parameters<&Model::embedding, &Model::convolution, &Model::norm, &Model::linear, &Model::codes>;
};

static Model changed;

int main() {
  static Linear<5, 6> floats;
  for (std::size_t i = 0; i < 30; ++i) floats.weight(i % 5, i / 5) = 0.1f * static_cast<float>(i % 7) - 0.25f;
  changed.codes = quantize(floats);
  const int status = save_changed(changed);
  static Matrix<float, 5, 3> embedded;
  static Matrix<float, 5, 4> convolved;
  static Matrix<float, 5, 5> out;
  if (changed.embedding.forward(vector<Token>({2, 0, 6, 6, 3}), embedded) != Status::ok) return 1;
  changed.convolution.forward(embedded, convolved);
  changed.norm.forward(convolved, convolved);
  changed.linear.forward(convolved, out);
  for (const float element : out.elements) std::printf("%.9g ", static_cast<double>(element));
  return status;
}
"""


def convert(*arguments):
    """Runs from_board.py within this process. Returns its exit status, its output and its errors."""
    output, errors = io.StringIO(), io.StringIO()
    with STREAMS, contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = board_command.main([str(argument) for argument in arguments])
        except SystemExit as usage:
            status = usage.code
    return status, output.getvalue(), errors.getvalue()


def saved_by(folder, program, *definitions):
    """Compiles and runs a program in a folder. Returns what it printed, and what went wrong."""
    (folder / "flash.hpp").write_text(FLASH)
    (folder / "program.cpp").write_text(program)
    done = call(*COMPILER, "-O0", "-I", folder, f"-DSLOT={SLOT}", *definitions, folder / "program.cpp", "-o",
                folder / "program")
    if done.returncode:
        return "", done.stderr[:2000]
    done = call(folder / "program", cwd=folder)
    return done.stdout, f"exit status {done.returncode}" if done.returncode else ""


def exported(weights, arguments):
    """Returns the part that the exporter makes of a file, without its epsilons, which are no parameters, as bytes."""
    requests = command_line.requests(command_line.parse([str(weights), "-o", "-", *arguments]))
    (part,) = header.make_parts(checkpoints.read(weights), requests).values()
    return b"".join(parts.content(leaf) for leaf in parts.leaves(part.tree) if not isinstance(leaf, float))


def saved_by_python(weights, arguments):
    """Returns two slots as C++ would save them: a model, and the model with other numbers."""
    data = exported(weights, arguments)
    changed = struct.pack(f"<{len(data) // 4}f", *(
        0.75 * number + 0.001 * i for i, (number,) in enumerate(struct.iter_unpack("<f", data))))
    layout = b"\0a=f%d\n" % (len(data) // 4)
    return b"".join(slot(layout, each, i).ljust(SLOT, b"\xff") for i, each in enumerate((data, changed)))


@in_folder
def comes_back(folder, name, is_in_cpp):
    """Checks that a layer or model which was changed comes back in the names of its checkpoint: exported once more, it
    has the bits of the board. And that one which is not changed is the checkpoint."""
    case = STORED[name]
    weights, arguments = folder / "weights.safetensors", arguments_of(case, folder)
    weights.write_bytes(safetensors(case.tensors))
    if is_in_cpp:
        status, _, errors = run(weights, "-o", folder / "model.hpp", *arguments)
        if problem := errors if status else saved_by(folder, OF_EXPORT, f"-DPART={case.part}")[1]:
            return problem
    else:
        (folder / "flash.bin").write_bytes(saved_by_python(weights, arguments))
    first, back = folder / "first.safetensors", folder / "back.safetensors"
    (folder / "first.bin").write_bytes((folder / "flash.bin").read_bytes()[:SLOT])
    for source, target in (("first.bin", first), ("flash.bin", back)):
        status, _, errors = convert(folder / source, "-o", target, "--like", weights, *arguments)
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
    return "" if again == board.read_board(folder / "flash.bin").data else "exported again, it is another"


@in_folder
def loads_into_a_module(folder):
    """Checks that a struct of parts loads into torch.nn.Sequential, with the bits of C++, and computes the same."""
    import torch
    from torch import nn

    printed, problem = saved_by(folder, OF_PARTS)
    if problem:
        return problem
    status, _, errors = convert(folder / "flash.bin")
    if status:
        return errors
    state = torch.load(folder / "flash.pt", weights_only=True)
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
                   and ((state["4.weight"] - codes).abs() <= step * 0.51).all())
            else f"{out}\n{wanted}\n{state}")


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
    """Checks that the report says if a model that is newer, or may be, is damaged, and is silent on older ones."""
    newer, path = slot(b"\0a.weight=T2x3\n\2bias=f3\n", bytes(36), 1), folder / "a.bin"
    for byte, dump, sentence in ((130, newer + GOOD, "newest: the model at byte 0 is damaged"),
                                 (130, GOOD + newer, ""),
                                 (8, newer + GOOD, "newest: the header at byte 0 is damaged")):
        path.write_bytes(dump[:byte] + bytes([dump[byte] ^ 1]) + dump[byte + 1:])
        status, printed, errors = convert(path, "-o", folder / "a.safetensors")
        if status or errors or printed.count("newest") != bool(sentence) or sentence not in printed:
            return f"{sentence}: {status} {printed} {errors}"
    return ""


pytorch = tap.Skip("PyTorch is not installed (Debian: python3-torch)") if debian.missing("torch") else loads_into_a_module
tap.report([*((f"comes back: {name}", comes_back, name, False) for name in LIKE),
            *((f"comes back from C++: {name}", comes_back, name, True) for name in IN_CPP),
            *((f"refused: {sentence}", refuses, sentence, content) for sentence, content in REFUSED.items()),
            ("says what it passes over", says_what_it_passes_over),
            ("loads into a module of PyTorch", pytorch)])
