#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns a file of reference values into a C++ header. Needs Python's standard library only.

    to_cpp.py tables.json tables.hpp     an object: one constant for each entry, dots become underscores
    to_cpp.py cases.json  cases.hpp      a list: one struct for each case, and the tuple of them all
"""
import json
import math
import pathlib
import struct
import sys
import textwrap

PREAMBLE = """\
// SPDX-License-Identifier: MIT
//
// Values computed by PyTorch. Written by {script} from {source}: change that, not this.
#pragma once

{includes}

namespace {namespace} {{

"""

CONFIG = ("d_in", "d_out", "context_length", "num_heads", "causal", "qkv_bias", "out_proj", "out_bias", "dropout", "residual_dropout")


def shape(value):
    return [len(value)] + shape(value[0]) if isinstance(value, list) else []


def flat(value):
    return [element for part in value for element in flat(part)] if isinstance(value, list) else [value]


def float32(value):
    """A literal that reads back as the same float32. What was not printed from a float32 is refused."""
    if value == "-inf":
        return "-std::numeric_limits<float>::infinity()"
    digits = "%.9g" % struct.unpack("f", struct.pack("f", value))
    if float(digits) != value:
        raise ValueError(f"{value!r} is no float32 in nine digits")
    mantissa, exponent, power = digits.partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + exponent + power + "f"


def tensor(name, value):
    extents, elements = shape(value), flat(value)
    if len(elements) != math.prod(extents):
        raise ValueError(f"{name} is ragged")
    literals = [float32(element) for element in elements]
    lines = [", ".join(literals[i:i + 8]) for i in range(0, len(literals), 8)]
    return f"constexpr tinyattn::Tensor<float, {', '.join(map(str, extents))}> {name}{{{{\n    " + ",\n    ".join(lines) + "}};\n"


def plain(value):
    return str(value).lower() if isinstance(value, bool) else repr(value)


def constant(name, value):
    if isinstance(value, list):
        return "inline " + tensor(name, value)
    return f"inline constexpr {'double' if isinstance(value, float) else 'std::uint32_t'} {name} = {plain(value)};\n"


def constants(table):
    named = {name.replace(".", "_"): value for name, value in table.items()}
    if len(named) != len(table):
        raise ValueError("two entries get the same name")
    return "\n".join(constant(name, value) for name, value in named.items())


def title(case):
    source = f" against {case['source_tokens']}" if case["source_tokens"] else ""
    mask = ", causal" if case["causal"] else ""
    return f"tokens {case['tokens']}{source}, {case['d_in']} -> {case['d_out']}, heads {case['num_heads']}{mask}, seed {case['seed']}"


def structure(name, case):
    source_tokens = case["source_tokens"] or case["tokens"]
    settings = dict(case, context_length=max(case["tokens"], source_tokens))
    config = ", ".join(f".{field} = {plain(settings[field])}" for field in CONFIG)
    memory = tensor("memory", case["memory"]) if "memory" in case else "constexpr const auto& memory = x;\n"
    members = [
        f'constexpr char name[] = "{title(case)}";\n',
        f"constexpr tinyattn::AttentionConfig config{{{config}}};\n",
        f"constexpr bool is_cross = {plain('memory' in case)};\n",
        f"constexpr std::size_t tokens = {case['tokens']};\n",
        f"constexpr std::size_t source_tokens = {source_tokens};\n",
        f"constexpr std::uint32_t seed = {case['seed']};\n",
        tensor("x", case["x"]),
        memory,
        tensor("weights", case["weights"]),
        tensor("output", case["output"]),
    ]
    return f"struct {name} {{\n" + textwrap.indent("".join("static " + member for member in members), "  ") + "};\n"


def structures(cases):
    names = [f"Case{number}" for number in range(1, len(cases) + 1)]
    return "\n".join(map(structure, names, cases)) + f"\nusing All = std::tuple<{', '.join(names)}>;\n"


def header(source):
    values = json.loads(source.read_text())
    if isinstance(values, dict):
        namespace, body, includes = "reference", constants(values), ["<cstdint>", "<limits>", '"tinyattn/tensor.hpp"']
    else:
        namespace, body = f"reference::{source.stem}", structures(values)
        includes = ["<cstddef>", "<cstdint>", "<limits>", "<tuple>", '"tinyattn/multi_head_attention.hpp"']
    preamble = PREAMBLE.format(script=pathlib.Path(__file__).name, source=source.name, namespace=namespace,
                               includes="\n".join(f"#include {include}" for include in includes))
    return preamble + body + f"\n}}  // namespace {namespace}\n"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[2]).write_text(header(pathlib.Path(sys.argv[1])))
