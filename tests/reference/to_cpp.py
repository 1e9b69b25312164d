#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns a file of reference values into a C++ header. Needs Python's standard library only.

    to_cpp.py tables.json tables.hpp     an object: one constant for each entry, dots become underscores
    to_cpp.py cases.json  cases.hpp      a list: one struct for each case, and a tuple of all structs
"""
import json
import pathlib
import sys

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
  static constexpr char name[] = "{tokens} x {source_tokens} tokens, {d_in} -> {d_out}, {num_heads} heads, causal {causal}, seed {seed}";
  static constexpr tinyattn::AttentionConfig config{{{config}}};
  static constexpr bool is_cross = {is_cross};
  static constexpr std::size_t tokens = {tokens}, source_tokens = {source_tokens};
  static constexpr std::uint32_t seed = {seed};
{tensors}
}};"""

CONFIG = "d_in d_out context_length num_heads causal qkv_bias out_proj out_bias dropout residual_dropout".split()


def shape(value):
    return [len(value), *shape(value[0])] if isinstance(value, list) else []


def flat(value):
    return [element for part in value for element in flat(part)] if isinstance(value, list) else [value]


def constant(name, value):
    if not isinstance(value, list):
        return f"constexpr {'double' if isinstance(value, float) else 'std::uint32_t'} {name} = {value};"
    literals = ["-std::numeric_limits<float>::infinity()" if element == "-inf" else f"{element}f" for element in flat(value)]
    return f"constexpr tinyattn::Tensor<float, {str(shape(value))[1:-1]}> {name}{{{{{', '.join(literals)}}}}};"


def struct_of(number, case):
    source_tokens = case["source_tokens"] or case["tokens"]
    values = case | {"number": number, "source_tokens": source_tokens, "context_length": max(case["tokens"], source_tokens),
                     "is_cross": "memory" in case}
    stated = {name: json.dumps(value) for name, value in values.items()}
    tensors = [f"  static {constant(name, value)}" for name, value in case.items() if isinstance(value, list)]
    return CASE.format_map(stated | {"config": ", ".join(f".{field} = {stated[field]}" for field in CONFIG), "tensors": "\n".join(tensors)})


source, to = map(pathlib.Path, sys.argv[1:])
values = json.loads(source.read_text(encoding="utf-8"))
if isinstance(values, dict):
    namespace, body = "reference", [f"inline {constant(name.replace('.', '_'), value)}" for name, value in values.items()]
else:
    namespace, body = f"reference::{source.stem}", [struct_of(number, case) for number, case in enumerate(values, 1)]
    body.append(f"\nusing All = std::tuple<{', '.join(f'Case{number}' for number in range(1, len(values) + 1))}>;")
to.write_text(HEADER.format(source=source.name, namespace=namespace, body="\n".join(body)), encoding="utf-8")
