# SPDX-License-Identifier: MIT
"""Writes headers of numbers that PyTorch computed: each has nine significant digits, so that it reads back as the same float32."""
import pathlib

HEADER = """\
// SPDX-License-Identifier: MIT
//
// {}. Written by {}: change that, not this.
#pragma once

#include "{}"

// clang-format off
"""


def literals(tensor):
    numbers = (f"{value:.9g}" for value in tensor.flatten().tolist())
    return "{{" + ", ".join("-infinity" if number == "-inf" else f"{float(number)}f" for number in numbers) + "}}"


def constant(name, tensor, kind="Tensor"):
    return f"inline constexpr {kind}<float, {', '.join(map(str, tensor.shape))}> {name}{literals(tensor)};"


def write(file, what, script, include="tinyattn/tensor.hpp", **lines_of):
    """Writes a header with the lines of each namespace."""
    spaces = [f"namespace tinyattn::{name} {{\n" + "\n".join(lines) + f"\n}}  // namespace tinyattn::{name}\n"
              for name, lines in lines_of.items()]
    text = HEADER.format(what, pathlib.Path(script).name, include) + "\n".join(spaces)
    pathlib.Path(__file__).with_name(file).write_text(text, encoding="utf-8")
