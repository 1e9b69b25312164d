#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns a file of reference values into a C++ header. Needs Python's standard library only.

    to_cpp.py tables.json tables.hpp     an object: one constant for each entry, dots become underscores
    to_cpp.py cases.json  cases.hpp      a list: one struct for each case, and the tuple of them all
"""
import json
import pathlib
import sys
import textwrap

HEADER = """\
// SPDX-License-Identifier: MIT
//
// Values computed by PyTorch. Written by to_cpp.py from {source}: change that, not this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>

#include "tinyattn/multi_head_attention.hpp"

namespace {namespace} {{
{body}
}}  // namespace {namespace}
"""

CASE = """
struct Case{number} {{
  static constexpr char name[] = "tokens {tokens}{source}, {d_in} -> {d_out}, heads {num_heads}{mask}, seed {seed}";
  static constexpr tinyattn::AttentionConfig config{{{config}}};
  static constexpr bool is_cross = {is_cross};
  static constexpr std::size_t tokens = {tokens};
  static constexpr std::size_t source_tokens = {source_tokens};
  static constexpr std::uint32_t seed = {seed};
  {tensors}
}};"""

CONFIG = "d_in d_out context_length num_heads causal qkv_bias out_proj out_bias dropout residual_dropout".split()


def shape(value):
    return [len(value), *shape(value[0])] if isinstance(value, list) else []


def flat(value):
    return [element for part in value for element in flat(part)] if isinstance(value, list) else [value]


def literal(value):
    return "-std::numeric_limits<float>::infinity()" if value == "-inf" else f"{value}f"


def constant(name, value):
    if not isinstance(value, list):
        return f"constexpr {'double' if isinstance(value, float) else 'std::uint32_t'} {name} = {value};"
    literals = textwrap.fill(", ".join(map(literal, flat(value))), 120)
    return f"constexpr tinyattn::Tensor<float, {str(shape(value))[1:-1]}> {name}{{{{{literals}}}}};"


def struct_of(number, case):
    is_cross = "memory" in case
    source_tokens = case["source_tokens"] or case["tokens"]
    config = {**case, "context_length": max(case["tokens"], source_tokens)}
    tensors = ["static " + constant(name, value) for name, value in case.items() if isinstance(value, list)]
    return CASE.format_map({
        **case, "number": number, "source_tokens": source_tokens, "is_cross": str(is_cross).lower(),
        "source": f" against {source_tokens}" if is_cross else "", "mask": ", causal" if case["causal"] else "",
        "config": ", ".join(f".{field} = {json.dumps(config[field])}" for field in CONFIG),
        "tensors": "\n  ".join(tensors + ([] if is_cross else ["static constexpr const auto& memory = x;"]))})


source, to = map(pathlib.Path, sys.argv[1:])
values = json.loads(source.read_text(encoding="utf-8"))
if isinstance(values, dict):
    namespace, body = "reference", [f"inline {constant(name.replace('.', '_'), value)}" for name, value in values.items()]
else:
    namespace, body = f"reference::{source.stem}", [struct_of(number, case) for number, case in enumerate(values, 1)]
    body.append(f"\nusing All = std::tuple<{', '.join(f'Case{number}' for number in range(1, len(values) + 1))}>;")
to.write_text(HEADER.format(source=source.name, namespace=namespace, body="\n".join(body)), encoding="utf-8")
