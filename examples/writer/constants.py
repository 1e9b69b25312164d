#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The vocabulary, and what PyTorch computes, as a C++ header.

    constants.py vocabulary.json expected.json constants.hpp
"""
import json
import pathlib
import sys

HEADER = """\
// Generated from vocabulary.json and expected.json by constants.py.
#pragma once

#include "tinyattn/tensor.hpp"

namespace writer {{

inline constexpr char vocabulary[] = {vocabulary};  // the character of each token

namespace expected {{

inline constexpr char prompt[] = {prompt};
inline constexpr char greedy[] = {greedy};
// After each character of the prompt; and those of the last character of `greedy`.
inline constexpr tinyattn::Matrix<float, {rows}, {cols}> logits = {{{{
    {logits}}}}};

}}  // namespace expected

}}  // namespace writer
"""


def main(vocabulary, expected, target):
    expected = json.loads(pathlib.Path(expected).read_text())
    logits = [row.split() for row in expected["logits"]]
    pathlib.Path(target).write_text(HEADER.format(
        vocabulary=json.dumps(json.loads(pathlib.Path(vocabulary).read_text())), prompt=json.dumps(expected["prompt"]),
        greedy=json.dumps(expected["greedy"]), rows=len(logits), cols=len(logits[0]),
        logits=",\n    ".join(", ".join(f"{logit}f" for logit in row) for row in logits)))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
