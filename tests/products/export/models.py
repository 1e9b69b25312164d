# SPDX-License-Identifier: MIT
"""The layers and models for which tests make files, one of each layout that the exporter knows:
which tensors a file has, how it is exported, and an input."""
import dataclasses
import json
import pathlib
import random
import tomllib

from tests.products.export.files import draw, drawn, of_hex

TABLE = tomllib.loads(pathlib.Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
VOCABULARY = 11
PROMPT = 4  # tokens, as in program.cpp


@dataclasses.dataclass(frozen=True)
class Case:
    """A file of weights, and how it is exported. FOLDER in an argument is the folder of `files`."""

    tensors: dict  # {name: (dtype, shape, bytes)}
    arguments: list
    input: list  # rows of features, or a row of tokens
    files: dict = dataclasses.field(default_factory=dict)
    part: str = "model"  # of the header


def parameters(patterns, shapes, has_bias):
    """Yields the name and the shape of each parameter of some linear layers. models.toml explains patterns."""
    for pattern, (outputs, inputs), bias in zip(patterns.split(), shapes, has_bias):
        pattern, _, is_transposed = pattern.partition("^")
        weight = pattern.format("weight")
        yield weight, (inputs, outputs) if is_transposed else (outputs, inputs)
        if bias:
            yield pattern.format("bias"), (outputs,)


# --- Layers of attention ---


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layout of attention layers, as in models.toml."""

    linears: str
    arguments: str = "--causal"
    biases: str = "o"
    dtype: str = "F32"
    is_square: bool = True
    more: dict = dataclasses.field(default_factory=dict)

    def num_heads(self, wanted):
        return 1 if self.linears.count(" ") == 2 else wanted  # without a projection there is one head

    def tensors(self, d_in, d_out, num_heads, tokens):
        """Returns {name: (dtype, shape)}."""
        patterns, is_joined = self.linears, self.linears.count(" ") == 1
        outputs = [3 * d_out, d_out] if is_joined else [d_out] * 4
        inputs = [d_in, d_out] if is_joined else [d_in] * 3 + [d_out]
        shapes = list(zip(outputs, inputs))
        biases = [role in self.biases for role in ("qo" if is_joined else "qkvo")]
        if "*" in patterns:
            heads, out = patterns.rsplit(" ", 1)
            patterns = " ".join([heads.replace("*", str(head)) for head in range(num_heads)] + [out])
            shapes = [(d_out // num_heads, d_in)] * 3 * num_heads + shapes[3:]
            biases = [False] * 3 * num_heads + [True]
        extents = {"1": 1, "v": 7, "t": tokens, "d": d_out, "q": 3 * d_out}
        named = {name: (self.dtype, shape) for name, shape in parameters(patterns, shapes, biases)}
        more = {name: (dtype, tuple(map(extents.get, letters))) for name, (dtype, letters) in self.more.items()}
        return {**named, **more}


LAYERS = {name: Layer(**row) for name, row in TABLE["layers"].items()}


def layers(d_in, d_out, num_heads, tokens):
    """Returns {name: Case} of all layouts of attention."""
    cases = {}
    for name, layer in LAYERS.items():
        width, heads = d_out if layer.is_square else d_in, layer.num_heads(num_heads)
        tensors = drawn(layer.tensors(width, d_out, heads, tokens), name)
        sizes = f"--num-heads {heads} --context-length {tokens} {layer.arguments}"
        cases[name] = Case(tensors, sizes.split(), part="attention",
                           input=[draw(f"{name} {row}", width, 2) for row in range(tokens)])
    return cases


# --- Language models ---


@dataclasses.dataclass(frozen=True)
class Model:
    """A layout of language models, and one such model, as in models.toml."""

    tops: str
    block: str
    arguments: str = "--language-model --config FOLDER/config.json --context-length LENGTH"
    activation: str = ""
    rotate: str = ""  # how queries and keys are rotated: halves, interleaved
    has_bias: bool = True
    is_tied: bool = True  # the head is the token embedding
    d_model: int = 8
    num_heads: int = 2
    num_kv_heads: int = 2
    base: int = 10000
    window: int = None
    epsilon: float = 1e-5
    dtype: str = "F32"
    biases: str = ""  # which linears have one, if not all
    in_norms: str = "weight bias"
    rms: bool = None  # as Llama, whose features rotate, unless it says otherwise
    head_dim: int = None
    rotary_dim: int = None
    norms: dict = dataclasses.field(default_factory=dict)  # {query or key: the norm of its heads}
    adds_one: bool = False  # norms multiply by 1 + weight
    parallel: bool = False
    by_head: bool = False
    embedding_scale: float = 1.0
    spread: int = 5  # of weights: less keeps what rounding does small
    score_width: float = None
    config: str = ""  # config.json
    description: str = ""  # model.toml
    more: dict = dataclasses.field(default_factory=dict)  # other tensors of the file

    def linear_shapes(self):
        d_model, d_hidden = self.d_model, 2 * self.d_model
        d_kv = self.width * self.num_kv_heads
        if self.count == 4:
            return [(3 * d_model, d_model), (d_model, d_model), (d_hidden, d_model), (d_model, d_hidden)]
        d_heads = self.width * self.num_heads
        return [(d_heads, d_model), (d_kv, d_model), (d_kv, d_model), (d_model, d_heads),
                *[(d_hidden, d_model)] * (self.count - 5), (d_model, d_hidden)]

    @property
    def count(self):  # of linears in a block
        return len(TABLE["blocks"][self.block].split()) - 2

    @property
    def width(self):
        return self.head_dim or self.d_model // self.num_heads

    @property
    def is_rms(self):
        return bool(self.rotate) if self.rms is None else self.rms

    def norm(self, name, width=None):
        return {f"{name}.{kind}": (width or self.d_model,)
                for kind in self.in_norms.split()[:1 + (self.has_bias and not self.is_rms)]}

    def tensors(self, positions, blocks=2):
        """Returns {name: (dtype, shape)}."""
        token, position, stem, final_norm, head = self.tops.split()
        shapes = {f"{token}.weight": (VOCABULARY, self.d_model), f"{position}.weight": (positions, self.d_model),
                  f"{head}.weight": (VOCABULARY, self.d_model), **self.norm(final_norm)}
        norm_1, norm_2, linears = TABLE["blocks"][self.block].split(" ", 2)
        for start in (f"{stem}{i}." for i in range(blocks)):
            shapes |= {**self.norm(start + norm_1), **self.norm(start + norm_2)}
            for name in self.norms.values():
                shapes |= self.norm(start + name, self.width)
            has_bias = [letter in self.biases for letter in "qkvoud"] if self.biases else [self.has_bias] * 7
            shapes |= {start + name: shape for name, shape in parameters(linears, self.linear_shapes(), has_bias)}
        return {name: (self.dtype, shape) for name, shape in shapes.items() if name[0] != "-"}


OF_CONFIG = {"activation": "hidden_act activation_function", "epsilon": "rms_norm_eps layer_norm_eps layer_norm_epsilon",
             "base": "rope_theta rotary_emb_base", "d_model": "hidden_size n_embd", "num_kv_heads": "num_key_value_heads",
             "head_dim": "head_dim", "rotary_dim": "rotary_dim", "window": "sliding_window"}


def of_config(text):
    """Returns the fields of a Model that its config.json says."""
    config = json.loads(text or "{}")
    found = {field: config.get(key) for field, keys in OF_CONFIG.items() for key in keys.split() if key in config}
    return {field: value for field, value in found.items() if value is not None}


MODELS = {name: Model(**{**TABLE["families"].get(row["block"], {}), **of_config(row.get("config")), **row})
          for name, row in TABLE["models"].items()}
LLAMA = Model("model.embed_tokens - model.layers. model.norm -", "llama", rotate="halves", has_bias=False,
              num_kv_heads=1).tensors(5, blocks=1)


def language_models(length):
    """Returns {name: Case}. If --context-length is given, the file has more positions than that."""
    cases = {}
    for name, model in MODELS.items():
        tensors = model.tensors(length + 3 * ("LENGTH" in model.arguments))
        tensors = drawn({**tensors, **of_hex(model.more)}, name, spread=model.spread)
        token, *_, head = (f"{top}.weight" for top in model.tops.split())
        if model.is_tied and head in tensors:
            tensors[head] = tensors[token]
        tokens = random.Random(name).choices(range(VOCABULARY), k=length)
        cases[name] = Case(tensors, model.arguments.replace("LENGTH", str(length)).split(), input=[tokens],
                           files={"config.json": model.config, "model.toml": model.description})
    return cases


# --- Encoders of torch.nn ---


def encoder_tensors(prefix, kind="transformer", blocks=2):
    """Returns {name: (dtype, shape)}. An encoder at a prefix has a final norm."""
    linears = "self_attn.in_proj_{} self_attn.out_proj.{} linear1.{} linear2.{}"
    block = dict(parameters(linears, [(24, 8), (8, 8), (16, 8), (8, 16)], [True] * 4))
    block |= {f"norm{i}.{word}": (8,) for i in (1, 2) for word in ("weight", "bias")}
    if kind == "transformer_block":
        shapes = block
    else:
        shapes = {f"layers.{i}.{name}": shape for i in range(blocks) for name, shape in block.items()}
        shapes |= {"norm.weight": (8,), "norm.bias": (8,)} if prefix else {}
    return {prefix + name: ("F32", shape) for name, shape in shapes.items()}


def encoders(length):
    """Returns {name: Case}."""
    cases = {}
    for name, encoder in TABLE["encoders"].items():
        kind, prefix, settings = (encoder[key] for key in ("kind", "prefix", "settings"))
        table = {kind: prefix, "causal": False, "activation": settings.get("activation", "relu"),
                 "norm_first": settings.get("norm_first", False), "epsilon": settings.get("layer_norm_eps", 1e-5)}
        toml = "[model]\n" + "".join(f"{key} = {json.dumps(table[key])}\n" for key in table)
        sizes = f"--parts FOLDER/model.toml --num-heads 2 --context-length {length}"
        cases[name] = Case(drawn(encoder_tensors(prefix, kind), name), sizes.split(),
                           [draw(f"{name} {row}", 8, 2) for row in range(length)], {"model.toml": toml})
    return cases


# --- Convolutions ---


def convolutions(length):
    """Returns {name: Case}."""
    cases = {}
    for name, row in TABLE["convolutions"].items():
        outputs, inputs, _ = row["shape"]
        shapes = {"stem.weight": tuple(row["shape"])}
        if row["has_bias"]:
            shapes["stem.bias"] = (outputs,)
        toml = f"[model]\nconv1d = 'stem'\nstride = {row['stride']}\npadding = {row['padding']}\n"
        cases[name] = Case(drawn({key: ("F32", shape) for key, shape in shapes.items()}, name),
                           ["--parts", "FOLDER/model.toml"],
                           [draw(f"{name} {token}", inputs, 2) for token in range(length)], {"model.toml": toml})
    return cases


# --- The same with int8 weights ---


def with_int8(cases):
    """Returns {name: Case}: the cases, and the ones of them that are exported with int8, too."""
    int8 = {f"{name}_int8": dataclasses.replace(cases[name], arguments=[*cases[name].arguments, *arguments.split()])
            for name, arguments in TABLE["int8"].items() if name in cases}
    return {**cases, **int8}


STORED = with_int8({**layers(6, 8, 2, 5), **language_models(12), **encoders(12), **convolutions(12)})
