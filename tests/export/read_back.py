# SPDX-License-Identifier: MIT
"""Reads back what the exporter wrote, a header or a file in C, and computes in double precision what the library does
with it. So a layout is tested without a compiler."""
import itertools
import math
import re
import struct

from ports.pytorch.tinyattn_export.forward import ACTIVATIONS, add, dot

WORD = re.compile(r"[{}]|\.\w+(?= = )|[-\w:.+]+")
IN_HEADER = re.compile(r"^inline constexpr ::tinyattn::(\w+)<::tinyattn::\w+(\{.*\})> \w+ = (\{.*?\});\n",
                       re.MULTILINE | re.DOTALL)
IN_C = re.compile(r"(\w+)(?:\[\d+\])? = (\{.*?\});\n", re.DOTALL)
PASSED = {"transformer", "attention", "feed_forward", "linear", "weight"}  # levels that header and C do not share
RENAMED = {"code": "codes", "scale": "scales", "token_codes": "token_embedding codes",
           "token_scales": "token_embedding scales"}


# --- Reading ---


def scalar(word, known):
    if word.partition(".")[0] in known:
        return known[word.partition(".")[0]]
    if re.match(r"-?0x.*p", word):
        return float.fromhex(word.rstrip("f"))
    name = word.rpartition("::")[2].removeprefix("TINYATTN_").lower()
    return {"true": True, "false": False}.get(name, int(name, 0) if re.match(r"-?\d", name) else name)


def value(words, known):
    """Returns an initializer: a dict of members, a list, or a scalar, which may be the name of what is known."""
    if (word := next(words)) != "{":
        return scalar(word, known)
    members, items = {}, []
    while (word := next(words)) != "}":
        if word[0] == ".":
            members[word[1:]] = value(words, known)
        else:
            items.append(value(itertools.chain([word], words), known))
    return members or (items[0] if len(items) == 1 and isinstance(items[0], list) else items)


def parsed(text, known=()):
    return value(iter(WORD.findall(text)), known)


def of_header(text):
    """Returns the kind of the only part, its configuration and its tree."""
    ((kind, config, tree),) = IN_HEADER.findall(text)
    return kind, parsed(config), parsed(tree)


def of_c(text):
    """Returns the last struct of a file, with what it points to."""
    known = {}
    for name, text in IN_C.findall(text):
        known[name] = parsed(text, known)
    return known[name]


def leaves(tree, path=()):
    """Yields the path and the numbers of each array, and of each scalar, under the names of C."""
    if isinstance(tree, dict):
        for name, member in tree.items():
            more = RENAMED.get(name, name).split()
            yield from leaves(member, path if name in PASSED else (*path, *more))
    elif isinstance(tree, list) and tree and isinstance(tree[0], dict):
        for i, member in enumerate(tree):
            yield from leaves(member, (*path, i))
    elif tree not in ([], {}):
        yield path, tree


def numbers(tree):
    """Returns the bytes of all numbers, in the order of memory."""
    return b"".join(bytes(leaf) if isinstance(leaf, list) and isinstance(leaf[0], int) else
                    struct.pack(f"<{len(leaf)}f", *leaf) if isinstance(leaf, list) else struct.pack("<f", leaf)
                    for _, leaf in leaves(tree))


def settings(config):
    return {path[-1]: setting for path, setting in leaves(config)}


def difference_in_c(text, kind, config, tree):
    """Returns what a file in C has otherwise than a header: arrays, sizes, settings, tables of rotary positions."""
    said = {"num_kv_heads": settings(config).get("num_heads"), "num_layers": 1, **settings(config)}
    wanted = dict(leaves({"blocks": [tree]} if kind == "TransformerBlock" else tree))
    found = dict(leaves(of_c(text)))
    tables = [found.pop((name,), []) for name in ("cosines", "sines")]
    found.pop(("speeds",), None)  # of a window: compiled each night
    wanted |= {(name,): said[name] for name in ("rotary", "window") if name in said}
    wrong = [path for path in wanted if found.get(path) != wanted[path]]
    wrong += [path for path in set(found) - set(wanted) if len(path) > 1 or said.get(path[0]) != found[path]]
    if tables[0]:
        width, base = said["d_out"] // said["num_heads"], said["rotary_base"]
        frequencies = [base**(-2 * i / width) for i in range(width // 2)]
        angles = [position * each for position in range(said["context_length"]) for each in frequencies]
        wrong += [table[:4] for table, of in zip(tables, (math.cos, math.sin)) if len(table) != len(angles) or any(
            abs(number - of(angle)) > 1e-6 for number, angle in zip(table, angles))]
    return ", ".join(map(str, wrong))


# --- Computing ---


def outputs(weight, inputs):
    """Returns the weights of each output, of a matrix of floats or of codes."""
    if isinstance(weight, list):
        return [weight[i::len(weight) // inputs] for i in range(len(weight) // inputs)]
    padded = -(-inputs // 16) * 16
    return [[(code - 128) * scale for code in weight["code"][i * padded:i * padded + inputs]]
            for i, scale in enumerate(weight["scale"])]


def linear(tree, rows):
    weights = outputs(tree["weight"], len(rows[0]))
    bias = tree.get("bias", [0.0] * len(weights))
    return [[dot(row, own) + term for own, term in zip(weights, bias, strict=True)] for row in rows]


def norm(kind, tree, rows):
    def one(row):
        mean = sum(row) / len(row) if kind == "layer" else 0.0
        centered = [element - mean for element in row]
        factor = 1 / math.sqrt(dot(centered, centered) / len(row) + tree["epsilon"])
        scaled = [element * factor * weight for element, weight in zip(centered, tree["weight"], strict=True)]
        return add(scaled, tree["bias"]) if "bias" in tree else scaled
    return list(map(one, rows))


def rotated(config, rows):
    """Rotates the rows of a head by their positions."""
    result, width = [list(row) for row in rows], len(rows[0])
    for (position, row), i in itertools.product(enumerate(rows), range(width // 2 if "rotary" in config else 0)):
        a, b = (i, i + width // 2) if config["rotary"] == "halves" else (2 * i, 2 * i + 1)
        angle = position * config["rotary_base"]**(-2 * i / width)
        result[position][a] = row[a] * math.cos(angle) - row[b] * math.sin(angle)
        result[position][b] = row[a] * math.sin(angle) + row[b] * math.cos(angle)
    return result


def attention(config, tree, rows):
    width = config["d_out"] // config["num_heads"]
    query, key, value = ([[row[i:i + width] for row in own] for i in range(0, len(own[0]), width)]
                         for own in (linear(tree[role], rows) for role in ("query", "key", "value")))
    agree(config, d_in=len(rows[0]), num_heads=len(query), qkv_bias="bias" in tree["query"],
          out_proj="out_proj" in tree, out_bias="bias" in tree.get("out_proj", ()))
    agree({"num_kv_heads": config["num_heads"], **config}, num_kv_heads=len(key))
    context = [[] for _ in rows]
    for head, own in enumerate(query):
        keys, values = (rows[head * len(key) // len(query)] for rows in (key, value))
        keys = rotated(config, keys)
        for i, row in enumerate(rotated(config, own)):
            seen = slice(max(0, i + 1 - config.get("window", len(rows))), i + 1 if config["causal"] else None)
            weights = [math.exp(dot(row, other) / math.sqrt(width)) for other in keys[seen]]
            context[i] += [dot(weights, column) / sum(weights) for column in zip(*values[seen])]
    return linear(tree["out_proj"], context) if "out_proj" in tree else context


def feed_forward(config, tree, rows):
    up, gate, activate = linear(tree["up"], rows), tree.get("gate"), ACTIVATIONS[config["activation"]]
    agree(config, d_model=len(rows[0]), d_hidden=len(up[0]), gated=bool(gate), bias="bias" in tree["up"])
    hidden = [list(map(activate, row)) for row in (linear(gate, rows) if gate else up)]
    return linear(tree["down"], [[a * b for a, b in zip(*pair)] for pair in zip(hidden, up)] if gate else hidden)


def block(config, tree, rows):
    for name, part in (("attention", attention), ("feed_forward", feed_forward)):
        own = lambda rows: norm(config["normalization"], tree[f"{name}_norm"], rows)
        new = part(config[name], tree[name], own(rows) if config["norm_first"] else rows)
        rows = list(map(add, rows, new))
        rows = rows if config["norm_first"] else own(rows)
    return rows


def transformer(config, tree, rows):
    agree(config, num_layers=len(tree["blocks"]), final_norm=bool(tree["final_norm"]))
    for each in tree["blocks"]:
        rows = block(config["block"], each, rows)
    return norm(config["block"]["normalization"], tree["final_norm"], rows) if tree["final_norm"] else rows


def logits(config, tree, tokens):
    positions, head, width = tree["position_embedding"], tree["head"], settings(config)["d_in"]
    stored = tree["token_embedding"]["weight"]  # a row of floats for each token, or codes
    embedding = outputs(stored, width) if isinstance(stored, dict) else [
        stored[i:i + width] for i in range(0, len(stored), width)]
    agree(config, vocabulary=len(embedding), positions="learned" if positions else "none", tied=not head,
          head_bias="bias" in head)
    rows = [embedding[token] for token in tokens]
    if positions:
        rows = [add(row, positions["weight"][i * width:(i + 1) * width]) for i, row in enumerate(rows)]
    rows = transformer(config["transformer"], tree["transformer"], rows)
    return linear(head, rows) if head else [[dot(row, own) for own in embedding] for row in rows]


def convolution(config, tree, rows):
    padding, width = [[0.0] * config["in"]] * config["padding"], config["kernel"]
    rows = [*padding, *rows, *padding]
    windows = [sum(rows[i:i + width], []) for i in range(0, len(rows) - width + 1, config["stride"])]
    result = linear(tree, windows)
    agree(config, out=len(result[0]), bias="bias" in tree)
    return result


def agree(config, **found):
    """Raises a ValueError if the configuration of a type does not say of its numbers what is found."""
    for name, number in found.items():
        if config.get(name, number) != number:
            raise ValueError(f"{name} = {config[name]}, and the numbers say {number}")


COMPUTED = {"MultiHeadAttention": attention, "TransformerBlock": block, "Transformer": transformer,
            "Conv1d": convolution}


def computed(kind, config, tree, rows, prompt):
    """Returns the output for rows of features or a row of tokens; and the tokens that a model lets follow a prompt."""
    agree(settings(config), context_length=len(rows[0] if kind == "LanguageModel" else rows))
    if kind != "LanguageModel":
        return COMPUTED[kind](config, tree, rows), []
    (tokens,), following = rows, rows[0][:prompt]
    while len(following) < len(tokens):
        last = logits(config, tree, following)[-1]
        following = [*following, last.index(max(last))]
    return logits(config, tree, tokens), following[prompt:]
