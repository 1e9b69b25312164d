#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch's results as a C++ header.

    constants.py expected.json constants.hpp
"""
import json
import pathlib
import sys

HEADER = """\
// Generated from expected.json by constants.py.
#pragma once

#include "tinyattn/tensor.hpp"
#include "tinyattn/token.hpp"

namespace writer {{ namespace expected {{

inline constexpr char prompt[] = {prompt};
// The tokens of the prompt, after the token that begins a text; and the most likely ones that follow.
inline constexpr tinyattn::Token tokens[] = {{{tokens}}}, greedy[] = {{{greedy_tokens}}};
// After each token of the prompt; and those from which the last token of `greedy` is.
inline constexpr tinyattn::Matrix<float, {rows}, {cols}> logits = {{{{
    {logits}}}}};

}}}}  // namespace writer::expected
"""


def main(expected, target):
    expected = json.loads(pathlib.Path(expected).read_text())
    logits = [row.split() for row in expected["logits"]]
    pathlib.Path(target).write_text(HEADER.format(
        prompt=json.dumps(expected["prompt"]), rows=len(logits), cols=len(logits[0]),
        **{name: ", ".join(map(str, expected[name])) for name in ("tokens", "greedy_tokens")},
        logits=",\n    ".join(", ".join(f"{logit}f" for logit in row) for row in logits)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
