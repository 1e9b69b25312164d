# SPDX-License-Identifier: MIT
"""Stands in for ports/pytorch/export.py: weights.py weights.safetensors weights.hpp"""
import pathlib
import sys

import held_out

LINEARS = {"shortcut": "shortcut", "classifier": "classifier"}


def floats(values):
    return ", ".join(f"{v.hex()}f" for v in values)


def linear(tensors, name):
    _, (out, into), weight = tensors[name + ".weight"]
    transposed = [weight[o * into + i] for i in range(into) for o in range(out)]
    bias = tensors.get(name + ".bias")
    text = f"{{{{{{{floats(transposed)}}}}}, " + (f"{{{{{floats(bias[2])}}}}}}}" if bias else "{}}")
    return f"tinyattn::Linear<{into}, {out}, {'true' if bias else 'false'}>", text


def main(source, target):
    t = held_out.read(source)
    lines = ["#pragma once", '#include "tinyattn/tinyattn.hpp"', "namespace digits::weights {"]
    _, shape, position = t["position"]
    lines.append(f"inline constexpr tinyattn::Tensor<float, {shape[0]}, {shape[1]}> position = {{{{{floats(position)}}}}};")
    parts = [linear(t, "attention." + n)[1] for n in ("W_query", "W_key", "W_value", "out_proj")]
    config = "tinyattn::AttentionConfig{.d_in = 8, .d_out = 32, .context_length = 8, .num_heads = 4, .causal = false}"
    lines.append(f"inline constexpr tinyattn::MultiHeadAttention<{config}> attention = {{{', '.join(parts)}}};")
    for name in LINEARS:
        kind, text = linear(t, name)
        lines.append(f"inline constexpr {kind} {name} = {text};")
    lines.append("}")
    pathlib.Path(target).write_text("\n".join(lines) + "\n")


main(*sys.argv[1:])
