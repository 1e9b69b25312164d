# SPDX-License-Identifier: MIT
"""Computes the logits of a language model in double precision, to tell how much int8 weights change them. Only weights
are rounded here: what a target computes rounds the inputs of layers, too."""
import math
import operator
import pathlib

from .errors import ExportError, printable, within
from .int8 import Int8Matrix, transposed

MOST_DIGITS = 9


def silu(x):
    return 0.5 * x * (1 + math.tanh(0.5 * x))  # x / (1 + exp(-x)) could overflow


ACTIVATIONS = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: 0.5 * x * (1 + math.erf(x * math.sqrt(0.5))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))),
    "silu": silu,
}


def dot(a, b):
    return sum(map(operator.mul, a, b))


def add(a, b):
    return list(map(operator.add, a, b))


class Linear:
    def __init__(self, tree):
        weight = tree["weight"]
        self.outputs = weight.weights() if isinstance(weight, Int8Matrix) else transposed(weight)
        self.bias = tree["bias"][0] if "bias" in tree else [0.0] * len(self.outputs)

    def __call__(self, x):
        return [dot(x, weights) + bias for weights, bias in zip(self.outputs, self.bias)]


def normalized(norm, x):
    """Computes a LayerNorm, which has a bias in the tree, or an RmsNorm."""
    mean = sum(x) / len(x) if "bias" in norm else 0.0
    centered = [value - mean for value in x]
    deviation = math.sqrt(dot(centered, centered) / len(x) + norm["epsilon"])
    factor = 1 / deviation if deviation else math.nan
    scaled = [value * factor * weight for value, weight in zip(centered, norm["weight"][0])]
    return add(scaled, norm["bias"][0]) if "bias" in norm else scaled


def rotated(head, position, style):
    half = len(head) // 2
    rotation = list(head)
    for i in range(half if style.rotary != "none" else 0):
        a, b = (i, i + half) if style.rotary == "halves" else (2 * i, 2 * i + 1)
        angle = position * style.rotary_base**(-2 * i / len(head))
        cosine, sine = math.cos(angle), math.sin(angle)
        rotation[a], rotation[b] = head[a] * cosine - head[b] * sine, head[a] * sine + head[b] * cosine
    return rotation


class Block:
    """A block with the keys and values of the tokens so far."""

    def __init__(self, tree, style):
        self.tree, self.style = tree, style
        self.linears = {role: Linear(member) for part in ("attention", "feed_forward")
                        for role, member in tree[part].items() if member}
        self.keys, self.values = [], []  # of each token, those of all heads

    def heads(self, role, x):
        row, width = self.linears[role](x), len(self.linears["query"].outputs) // self.style.num_heads
        return [row[i:i + width] for i in range(0, len(row), width)]

    def attention(self, x):
        position = len(self.keys)
        self.keys.append([rotated(head, position, self.style) for head in self.heads("key", x)])
        self.values.append(self.heads("value", x))
        context, first = [], max(0, position + 1 - (self.style.window or position + 1))
        for h, head in enumerate(self.heads("query", x)):
            query, own = rotated(head, position, self.style), h * len(self.keys[0]) // self.style.num_heads
            scores = [dot(query, keys[own]) / math.sqrt(len(head)) for keys in self.keys[first:]]
            largest = max(scores)
            weights = [math.exp(score - largest) for score in scores]
            columns = zip(*(values[own] for values in self.values[first:]))
            context += [dot(weights, column) / sum(weights) for column in columns]
        return self.linears["out_proj"](context)

    def feed_forward(self, x):
        activate, up = ACTIVATIONS[self.style.activation], self.linears["up"](x)
        if "gate" in self.linears:
            return self.linears["down"]([activate(gate) * y for gate, y in zip(self.linears["gate"](x), up)])
        return self.linears["down"](list(map(activate, up)))

    def __call__(self, x):
        x = add(x, self.attention(normalized(self.tree["attention_norm"], x)))
        return add(x, self.feed_forward(normalized(self.tree["feed_forward_norm"], x)))


def logits(tree, style, tokens):
    """Returns the logits after each token. `tree`: of a language model, with floats or with int8."""
    weight = tree["token_embedding"]["weight"]
    embedding = weight.weights() if isinstance(weight, Int8Matrix) else weight
    positions, transformer = tree["position_embedding"], tree["transformer"]
    layers = [Block(block, style) for block in transformer["blocks"]]
    head = Linear(tree["head"]) if tree["head"] else lambda x: [dot(x, row) for row in embedding]
    rows = []
    for i, token in enumerate(tokens):
        x = list(embedding[token])
        if positions:
            x = add(x, positions["weight"][i])
        for layer in layers:
            x = layer(x)
        rows.append(head(normalized(transformer["final_norm"], x)))
    return rows


def likeliest(row):
    return max(range(len(row)), key=row.__getitem__)


def comparison(floats, rounded, style, tokens):
    """Returns, in words, how the logits of a model with int8 weights differ from those with floats."""
    wanted, found = logits(floats, style, tokens), logits(rounded, style, tokens)
    difference = max(abs(a - b) for rows in zip(wanted, found) for a, b in zip(*rows))
    largest = max(abs(value) for row in wanted for value in row)
    others = sum(likeliest(a) != likeliest(b) for a, b in zip(wanted, found))
    return (f"example of {len(tokens)} tokens: largest difference of a logit {difference:.4g}, largest logit "
            f"{largest:.4g}, another most likely token after {others} of them")


def read_tokens(path):
    """Returns the tokens in a text file: numbers with white space between them."""
    with within(f"cannot read {printable(path)}", OSError, ValueError):
        words = pathlib.Path(path).read_text(encoding="utf-8").split()
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS):
            raise ExportError(
                f"{printable(path)} must hold tokens, which are numbers with spaces between them, and has "
                f"{printable(word)}")
    return list(map(int, words))


def check_tokens(tokens, vocabulary, context_length):
    if not 0 < len(tokens) <= context_length:
        raise ExportError(f"the example has {len(tokens)} tokens, and the model takes 1 to {context_length}")
    for token in tokens:
        if type(token) is not int or not 0 <= token < vocabulary:
            raise ExportError(f"the example has the token {printable(token)}, and the vocabulary is {vocabulary}")
