#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what the journey prints with what PyTorch prints.

    printed.py tables.json journey.txt

Each table in journey.txt, the output of examples/journey, must be the text that PyTorch's print makes of the reference values:
the formatter here is Python's own. Tables without a reference value of their own are computed from others, in double
precision. Where our bits are those of PyTorch, the checksum under the table must be that of the reference. Prints the Test
Anything Protocol.
"""
import json
import math
import re
import struct
import sys
import zlib


# Where our bits, not only our digits, are PyTorch's: what is given, drawn, masked or counted, but not what is summed.
BIT_FOR_BIT = {
    1: {"inputs"},
    2: {"W_query", "W_key", "W_value"},
    3: {"W_query.weight", "W_key.weight", "W_value.weight", "bias"},
    4: {"mask_simple", "mask"},
    5: {"dropout(example)"},
    7: {"query", "key", "value"},
    8: {"x", "head_0", "head_1", "head_2"},
    9: {"upper_triangle"},
}


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def parsed(value):
    """The value of a JSON table as float32s in nested lists."""
    return [parsed(v) for v in value] if isinstance(value, list) else float32(float(value))


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, list) else [value]


def as_torch_prints(value):
    """As torch/_tensor_str.py formats a float tensor, for numbers within a factor of 1000 and rows of up to 80 characters."""
    finite = [x for x in flat(value) if math.isfinite(x) and x != 0]
    whole = all(x == int(x) for x in finite)
    assert not finite or max(map(abs, finite)) <= 1000 * min(map(abs, finite)), "PyTorch would print this with exponents"

    def number(x):
        return (f"{x:.0f}." if math.isfinite(x) else str(x)) if whole else f"{x:.4f}"

    width = max((len(number(x)) for x in finite), default=1)

    def rows(v, depth, indent):
        if depth == 0:
            return number(v).rjust(width)
        separator = ", " if depth == 1 else "," + "\n" * (depth - 1) + " " * (indent + 1)
        return "[" + separator.join(rows(x, depth - 1, indent + 1) for x in v) + "]"

    depth, inner = 0, value
    while isinstance(inner, list):
        depth, inner = depth + 1, inner[0]
    return "tensor(" + rows(value, depth, len("tensor(")) + ")"


def matmul(a, b):
    return [[sum(x * y for x, y in zip(row, col)) for col in zip(*b)] for row in a]


def transposed(a):
    return [list(col) for col in zip(*a)]


def expected(t):
    """What stands under each (stage, name)."""
    inputs, keys = t["inputs"], t["v1.keys"]
    minus_infinity = [[0.0 if j <= i else -math.inf for j in range(4)] for i in range(4)]
    arange = [[float(12 * i + j) for j in range(12)] for i in range(2)]
    values = matmul(inputs, transposed(t["v2.value.weight_out_in"]))
    causal_context = matmul(t["causal.weights"], values)
    differences = [abs(a - b) for a, b in zip(flat(t["v2.context"]), flat(causal_context))]
    batch = lambda name: [t[name], t[name]]
    return {
        (1, "inputs"): inputs,
        (1, "attn_scores_2"): t["simple.scores"][1],
        (1, "attn_weights_2_tmp"): t["simple.scores_of_token_2_normalized_by_sum"],
        (1, "attn_weights_2_naive"): t["simple.weights"][1],
        (1, "attn_weights_2"): t["simple.weights"][1],
        (1, "context_vec_2"): t["simple.context"][1],
        (1, "attn_scores"): t["simple.scores"],
        (1, "attn_weights"): t["simple.weights"],
        (1, "all_context_vecs"): t["simple.context"],
        (2, "W_query"): t["v1.w_query"],
        (2, "W_key"): t["v1.w_key"],
        (2, "W_value"): t["v1.w_value"],
        (2, "queries"): matmul(inputs, t["v1.w_query"]),
        (2, "keys"): keys,
        (2, "values"): t["v1.values"],
        (2, "query_2"): t["v1.query_of_token_2"],
        (2, "attn_score_22"): t["v1.scores_of_token_2"][1],
        (2, "attn_scores_2"): t["v1.scores_of_token_2"],
        (2, "attn_weights_2"): t["v1.weights_of_token_2"],
        (2, "context_vec_2"): t["v1.context"][1],
        (2, "context_vec"): t["v1.context"],
        (3, "W_query.weight"): t["v2.query.weight_out_in"],
        (3, "W_key.weight"): t["v2.key.weight_out_in"],
        (3, "W_value.weight"): t["v2.value.weight_out_in"],
        (3, "bias"): t["v2.key.weight_out_in"][0][:2],  # drawn where the layer without a bias goes on with the key
        (3, "attn_scores"): t["v2.scores"],
        (3, "attn_weights"): t["v2.weights"],
        (3, "context_vec"): t["v2.context"],
        (4, "mask_simple"): t["causal.tril_of_ones"],
        (4, "masked_simple"): t["causal.weights_times_tril"],
        (4, "masked_simple_norm"): t["causal.renormalized"],
        (4, "attn_weights_half"): t["causal.scaled_by_half_over_d_k"],
        (4, "masked_simple_norm_half"): t["causal.scaled_by_half_over_d_k.renormalized"],
        (4, "masked"): t["causal.masked_scores"],
        (4, "attn_weights"): t["causal.weights"],
        (4, "mask"): t["causal.additive_mask_4"],
        (4, "broadcast"): batch("multi_head.context"),
        (5, "dropout(example)"): t["dropout.of_ones"],
        (5, "dropout(attn_weights)"): t["dropout.of_causal_weights"],
        (6, "context_vecs"): batch("causal_attention.context"),
        (6, "context_vecs_without_mask"): batch("causal_attention_without_its_mask.context"),
        (6, "wrapper"): batch("wrapper.context"),
        (6, "wrapper_without_mask"): t["wrapper_without_its_mask.context"],
        (6, "multi_head"): batch("multi_head.context"),
        (7, "query"): t["fruit.q"],
        (7, "key"): t["fruit.k"],
        (7, "value"): t["fruit.v"],
        (7, "scores"): t["fruit.scores"],
        (7, "p_attn_unscaled"): t["fruit.weights_unscaled"],
        (7, "p_attn"): t["fruit.weights"],
        (7, "output"): t["fruit.context"],
        (7, "output_d_v_2"): [row[:2] for row in t["fruit.context"]],
        (8, "x"): arange,
        (8, "head_0"): [row[0:4] for row in arange],
        (8, "head_1"): [row[4:8] for row in arange],
        (8, "head_2"): [row[8:12] for row in arange],
        (9, "normal_weights"): t["v2.weights"],
        (9, "causal_weights"): t["causal.weights"],
        (9, "normal_context"): t["v2.context"],
        (9, "causal_context"): causal_context,
        (9, "mean_absolute_difference"): sum(differences) / len(differences),
        (9, "upper_triangle"): 0.0,
        (9, "normal_row_sums"): [1.0] * 6,
        (9, "causal_row_sums"): [1.0] * 6,
    }


def printed(text):
    """(stage, name) -> (the tensor's text, its checksum), in the order of the output."""
    found, stage, name = {}, 0, ""
    for block in re.finditer(r"^(\d+)\. |^(\S+) = |^(tensor\([^()]*\))\ncrc32 ([0-9a-f]{8})$", text, re.MULTILINE):
        stage, name = int(block[1] or stage), block[2] or name
        if block[3]:
            assert (stage, name) not in found, f"{name} is printed twice in stage {stage}"
            found[stage, name] = block[3], block[4]
    return found


def crc32(value):
    return f"{zlib.crc32(struct.pack(f'<{len(flat(value))}f', *flat(value))):08x}"


def main(tables_path, journey_path):
    with open(tables_path, encoding="utf-8") as file:
        tables = {name: parsed(value) for name, value in json.load(file).items()}
    with open(journey_path, encoding="utf-8") as file:
        found = printed(file.read())
    wanted = expected(tables)
    unknown = [key for key in found if key not in wanted]

    failures = 0
    for number, ((stage, name), value) in enumerate(wanted.items(), 1):
        text, exact = as_torch_prints(value), name in BIT_FOR_BIT.get(stage, ())
        got, checksum = found.get((stage, name), ("nothing", ""))
        if name.endswith("_row_sums"):  # 1 but for the last bit: then PyTorch prints decimals too
            got = got.replace("1.0000", "1.")
        passed = got == text and (not exact or checksum == crc32(value))
        failures += not passed
        print("ok" if passed else "not ok", number, f"- stage {stage}, {name}" + (", bit for bit" if exact else ""))
        if not passed:
            print("\n".join("# " + line for line in f"expected\n{text}\n{crc32(value)}\nprinted\n{got}\n{checksum}".split("\n")))
    print(f"1..{len(wanted)}")
    for key in unknown:
        print(f"# without a reference: stage {key[0]}, {key[1]}")
    return failures != 0


if len(sys.argv) != 3:
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
