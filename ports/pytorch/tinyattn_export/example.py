# SPDX-License-Identifier: MIT
"""What int8 changes of the logits after each token of an example. The library itself computes them, compiled for this
machine: so they have the bits that every target computes."""
import array
import os
import pathlib
import platform
import shlex
import subprocess
import tempfile

from .errors import ExportError, printable, within

MOST_DIGITS = 9
ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = """\
#include "tinyattn/language_model.hpp"

#include <cstdio>
#include <cstdlib>
#include <span>

template <class Model>
bool print_logits(const char* path, std::span<char*> tokens) {{
  static Model model;
  static typename Model::Cache cache;
  static typename Model::Cache::Workspace workspace;
  static tinyattn::Vector<float, Model::vocabulary> logits;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr || std::fread(&model, sizeof model, 1, file) != 1) return false;
  for (const char* word : tokens) {{
    const auto token = static_cast<tinyattn::Token>(std::atoi(word));
    if (model.forward(std::span(&token, 1), cache, logits, workspace) != tinyattn::Status::ok) return false;
    std::fwrite(logits.data(), sizeof(float), logits.size(), stdout);
  }}
  return true;
}}

int main(int count, char** words) {{
  const std::span tokens(words + 3, words + count);
  return print_logits<{floats}>(words[1], tokens) && print_logits<{rounded}>(words[2], tokens) ? 0 : 1;
}}
"""


def run(*command):
    """Returns what a command prints. Raises an ExportError if it fails."""
    with within(f"--example needs a compiler of C++20, which CXX names, or c++: {printable(command[0])}", OSError):
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode(errors="replace").splitlines()
            raise ExportError(printable(next((line for line in said if "error" in line), f"status {done.returncode}")))
        return done.stdout


def logits(floats, rounded, tokens):
    """Returns the logits after each token: of two Parts that are language models, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("floats", "rounded", "main.cpp", "main")]
        for path, content in zip(paths, (floats.content(), rounded.content(), PROGRAM.format(
                floats=floats.type, rounded=rounded.type).encode())):
            pathlib.Path(path).write_bytes(content)
        compiler, folders = shlex.split(os.environ.get("CXX", "c++")), [f"-I{ROOT}/include", f"-I{ROOT}/ports/simd"]
        own = ["-march=native"] if platform.machine() in ("x86_64", "AMD64") else []
        run(*compiler, "-std=c++20", "-O2", *own, *folders, paths[2], "-o", paths[3])
        values = array.array("f", run(paths[3], *paths[:2], *map(str, tokens)))
    rows = [values[i:i + floats.vocabulary] for i in range(0, len(values), floats.vocabulary)]
    return rows[:len(tokens)], rows[len(tokens):]


def likeliest(row):
    return max(range(len(row)), key=row.__getitem__)


def comparison(floats, rounded, tokens):
    """Returns, in words, how the logits of a language model with int8 differ from those with floats. Both are Parts."""
    wanted, found = logits(floats, rounded, tokens)
    difference = max(abs(a - b) for rows in zip(wanted, found) for a, b in zip(*rows))
    largest = max(abs(value) for row in wanted for value in row)
    others = sum(likeliest(a) != likeliest(b) for a, b in zip(wanted, found))
    return (f"example of {len(tokens)} tokens: largest difference of a logit {difference:.4g}, largest logit "
            f"{largest:.4g}, another most likely token after {others} of them")


def read_tokens(path):
    """Returns the tokens in a text file: numbers with white space between them."""
    with within(f"cannot read {printable(path)}", OSError, ValueError):
        words = pathlib.Path(path).read_text(encoding="utf-8").split()
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS):
            raise ExportError(
                f"{printable(path)} must hold tokens, which are numbers with spaces between them, and has "
                f"{printable(word)}")
    return list(map(int, words))


def check_tokens(tokens, vocabulary, context_length):
    if not 0 < len(tokens) <= context_length:
        raise ExportError(f"the example has {len(tokens)} tokens, and the model takes 1 to {context_length}")
    for token in tokens:
        if type(token) is not int or not 0 <= token < vocabulary:
            raise ExportError(f"the example has the token {printable(token)}, and the vocabulary is {vocabulary}")
