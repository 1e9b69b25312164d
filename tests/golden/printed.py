#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what the journey prints with what PyTorch prints: printed.py tables.json journey.txt

Each table in journey.txt must be the text that PyTorch's print makes of the reference values: the formatter here is Python's own.
Prints the Test Anything Protocol.
"""
import array
import json
import math
import pathlib
import re
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402

# Stage by stage, what is printed and the reference value, of which [i] is a row. After a ! the bits are PyTorch's too, not only the digits:
# what is given, drawn, masked or counted, but not what is summed.
PRINTED = {
    1: "inputs!inputs attn_scores_2=simple.scores[1] attn_weights_2_tmp=simple.scores_of_token_2_normalized_by_sum "
       "attn_weights_2_naive=simple.weights[1] attn_weights_2=simple.weights[1] context_vec_2=simple.context[1] attn_scores=simple.scores "
       "attn_weights=simple.weights all_context_vecs=simple.context",
    2: "W_query!v1.w_query W_key!v1.w_key W_value!v1.w_value queries=v1.queries keys=v1.keys values=v1.values "
       "query_2=v1.query_of_token_2 attn_score_22=v1.scores_of_token_2[1] attn_scores_2=v1.scores_of_token_2 "
       "attn_weights_2=v1.weights_of_token_2 context_vec_2=v1.context[1] context_vec=v1.context",
    3: "W_query.weight!v2.query.weight_out_in W_key.weight!v2.key.weight_out_in W_value.weight!v2.value.weight_out_in bias!v2.bias "
       "attn_scores=v2.scores attn_weights=v2.weights context_vec=v2.context",
    4: "mask_simple!causal.tril_of_ones masked_simple=causal.weights_times_tril masked_simple_norm=causal.renormalized "
       "attn_weights_half=causal.scaled_by_half_over_d_k masked_simple_norm_half=causal.scaled_by_half_over_d_k.renormalized "
       "masked=causal.masked_scores attn_weights=causal.weights mask!causal.additive_mask_4 broadcast=multi_head.batch",
    5: "dropout(example)!dropout.of_ones dropout(attn_weights)=dropout.of_causal_weights",
    6: "context_vecs=causal_attention.batch context_vecs_without_mask=causal_attention_without_its_mask.batch wrapper=wrapper.batch "
       "wrapper_without_mask=wrapper_without_its_mask.context multi_head=multi_head.batch",
    7: "query!fruit.q key!fruit.k value!fruit.v scores=fruit.scores p_attn_unscaled=fruit.weights_unscaled p_attn=fruit.weights "
       "output=fruit.context output_d_v_2=fruit.context_of_two",
    8: "x!numbered head_0!numbered.head_0 head_1!numbered.head_1 head_2!numbered.head_2",
    9: "normal_weights=v2.weights causal_weights=causal.weights normal_context=v2.context causal_context=causal.context "
       "mean_absolute_difference=difference upper_triangle!zero normal_row_sums=ones causal_row_sums=ones",
}


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, list) else [value]


def as_torch_prints(value):
    """As torch/_tensor_str.py formats a float tensor, for numbers within a factor of 1000 and rows of up to 80 characters."""
    finite = [x for x in flat(value) if math.isfinite(x) and x != 0]
    decimals = 0 if all(x == int(x) for x in finite) else 4
    assert not finite or max(map(abs, finite)) <= 1000 * min(map(abs, finite)), "PyTorch would print this with exponents"

    def number(x):
        return f"{x:.{decimals}f}" + "." * (decimals == 0 and math.isfinite(x))

    def rows(v, indent):
        if not isinstance(v, list):
            return number(v).rjust(max((len(number(x)) for x in finite), default=1))
        inner = [rows(x, indent + 1) for x in v]
        depth = len(inner[0]) - len(inner[0].lstrip("["))  # of brackets in each element
        return "[" + (f",{chr(10) * depth}{' ' * (indent + 1)}" if depth else ", ").join(inner) + "]"

    return f"tensor({rows(value, len('tensor('))})"


def matmul(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def with_derived(t):
    """The reference values and, in double precision, those that follow from them."""
    causal_context = matmul(t["causal.weights"], matmul(t["inputs"], list(zip(*t["v2.value.weight_out_in"]))))
    differences = [abs(a - b) for a, b in zip(flat(t["v2.context"]), flat(causal_context))]
    numbered = [[float(12 * i + j) for j in range(12)] for i in range(2)]
    return t | {
        "v1.queries": matmul(t["inputs"], t["v1.w_query"]),
        "v2.bias": t["v2.key.weight_out_in"][0][:2],  # drawn where the layer without a bias goes on with the key
        "fruit.context_of_two": [row[:2] for row in t["fruit.context"]],
        "causal.context": causal_context, "difference": sum(differences) / len(differences), "zero": 0.0, "ones": [1.0] * 6,
        "numbered": numbered, **{f"numbered.head_{head}": [row[4 * head:4 * head + 4] for row in numbered] for head in range(3)},
        **{name.replace(".context", ".batch"): [value] * 2 for name, value in t.items() if name.endswith(".context")}}


def float32(value):
    return [float32(v) for v in value] if isinstance(value, list) else array.array("f", [float(value)])[0]


def main(tables, journey):
    values = with_derived({name: float32(value) for name, value in json.loads(pathlib.Path(tables).read_text(encoding="utf-8")).items()})
    found, stage, name = {}, 0, ""  # (stage, name) -> the tensor's text and its checksum
    text = pathlib.Path(journey).read_text(encoding="utf-8")
    for block in re.finditer(r"^(\d+)\. |^(\S+) = |^(tensor\([^()]*\)\ncrc32 [0-9a-f]{8})$", text, re.MULTILINE):
        stage, name = int(block[1] or stage), block[2] or name
        if block[3]:
            assert (stage, name) not in found, f"{name} is printed twice in stage {stage}"
            found[stage, name] = block[3]
    checks = []
    for stage, line in PRINTED.items():
        for name, exact, reference, row in re.findall(r"(\S+)([=!])([\w.]+)(?:\[(\d)\])?", line):
            value = values[reference][int(row)] if row else values[reference]
            wanted = f"{as_torch_prints(value)}\ncrc32 {zlib.crc32(array.array('f', flat(value)).tobytes()):08x}"
            text = found.get((stage, name), "nothing\n")
            if name.endswith("_row_sums"):  # 1 but for the last bit: then PyTorch prints decimals too
                text = text.replace("1.0000", "1.")
            holds = text == wanted if exact == "!" else text.partition("\ncrc32")[0] == wanted.partition("\ncrc32")[0]
            problem = "" if holds else f"expected\n{wanted}\nprinted\n{text}"
            checks.append((f"stage {stage}, {name}" + ", bit for bit" * (exact == "!"), lambda problem=problem: problem))
    tap.report(checks)


main(*sys.argv[1:])
