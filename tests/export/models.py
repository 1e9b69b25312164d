# SPDX-License-Identifier: MIT
"""The layers and models of which the tests make files, one of each layout that the exporter knows:
which tensors a file has, how it is exported, and an input."""
import dataclasses
import json
import random
import struct

from tests.export.files import draw, drawn

VOCABULARY = 11


@dataclasses.dataclass(frozen=True)
class Case:
    """A file of weights, and how it is exported. FOLDER in an argument is the folder of `files`."""

    tensors: dict  # {name: (dtype, shape, bytes)}
    arguments: list
    input: list  # rows of features, or a row of tokens
    files: dict = dataclasses.field(default_factory=dict)
    part: str = "model"  # of the header


# The pattern of a linear layer's names is that of its weight and bias: {} becomes either word. ^T: in
# the file, the weight is in x out. *: one for each head.
def parameters(patterns, shapes, has_bias):
    """Yields the name and the shape of each parameter of some linear layers."""
    for pattern, (outputs, inputs), bias in zip(patterns.split(), shapes, has_bias):
        pattern, _, is_transposed = pattern.partition("^")
        weight = pattern.format("weight")
        yield weight, (inputs, outputs) if is_transposed else (outputs, inputs)
        if bias:
            yield pattern.format("bias"), (outputs,)


# --- Layers of attention ---


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layout of attention layers."""

    linears: str  # patterns of query, key, value and output; the first three may be one
    arguments: str = "--causal"
    biases: tuple = (False, False, False, True)  # of each of the four
    dtype: str = "F32"
    is_square: bool = True  # d_in is d_out
    more: dict = dataclasses.field(default_factory=dict)  # {name: (dtype, the letters of its extents)}

    def num_heads(self, wanted):
        return 1 if self.linears.count(" ") == 2 else wanted  # without a projection there is one head

    def tensors(self, d_in, d_out, num_heads, tokens):
        """Returns {name: (dtype, shape)}."""
        patterns, is_joined = self.linears, self.linears.count(" ") == 1
        outputs = [3 * d_out, d_out] if is_joined else [d_out] * 4
        inputs = [d_in, d_out] if is_joined else [d_in] * 3 + [d_out]
        shapes, biases = list(zip(outputs, inputs)), self.biases[2:] if is_joined else self.biases
        if "*" in patterns:
            heads, out = patterns.rsplit(" ", 1)
            patterns = " ".join([heads.replace("*", str(head)) for head in range(num_heads)] + [out])
            shapes = [(d_out // num_heads, d_in)] * 3 * num_heads + shapes[3:]
            biases = [False] * 3 * num_heads + [True]
        extents = {"1": 1, "v": 7, "t": tokens, "d": d_out, "q": 3 * d_out}
        named = {name: (self.dtype, shape) for name, shape in parameters(patterns, shapes, biases)}
        more = {name: (dtype, tuple(map(extents.get, letters)))
                for name, (dtype, letters) in self.more.items()}
        return {**named, **more}


ALL, NONE = (True,) * 4, (False,) * 4
BOOK, MASK = "W_query.{} W_key.{} W_value.{} out_proj.{}", {"mask": ("F32", "tt")}
PROJ = "q_proj.{} k_proj.{} v_proj.{} o_proj.{}"
OTHERS_OF_GPT2 = {  # the layer is the second of a GPT-2
    "wte.weight": ("F32", "vd"), "ln_f.weight": ("F32", "d"), "h.1.ln_1.bias": ("F32", "d"),
    "h.0.attn.c_attn.weight": ("F32", "dq"), "h.0.attn.c_proj.weight": ("F32", "dd"),
    "h.1.attn.bias": ("U8", "11tt")}
LAYERS = {
    "w_query": Layer(BOOK, is_square=False, more=MASK),
    "w_query_float16": Layer(BOOK, biases=ALL, dtype="F16", is_square=False, more=MASK),
    "w_query_without_projection": Layer(BOOK.rpartition(" ")[0], biases=NONE, is_square=False, more=MASK),
    "w_query_parameters": Layer("W_query^T W_key^T W_value^T", "--no-causal", NONE, is_square=False),
    "wq_bfloat16": Layer("wq.{} wk.{} wv.{} wo.{}", biases=NONE, dtype="BF16"),
    "q_proj_key_without_bias": Layer(PROJ, biases=(True, False, True, True)),
    "q_proj_float64": Layer(PROJ, "--no-causal", ALL, "F64"),
    "multihead_attention": Layer("in_proj_{} out_proj.{}", "--no-causal", ALL),
    "multihead_attention_without_bias": Layer("in_proj_{} out_proj.{}", biases=NONE),
    "gpt2": Layer("h.1.attn.c_attn.{}^T h.1.attn.c_proj.{}^T", "--prefix h.1.attn. --causal", ALL,
                  more=OTHERS_OF_GPT2),
    "nanogpt": Layer("c_attn.{} c_proj.{}", biases=ALL,
                     more={"bias": ("U8", "11tt"), "masked_bias": ("F32", "")}),
    "qkv": Layer("qkv.{} proj.{}", "--no-causal", ALL),
    "stacked_heads": Layer("heads.*.query.{} heads.*.key.{} heads.*.value.{} proj.{}",
                           more={"heads.0.tril": ("F32", "tt")}),
    "mapped": Layer("ask.{} match.{} give.{}^T mix.{}",
                    "--map query=ask.weight key=match.weight value=give.weight.T out=mix.weight "
                    "--causal", (True, True, True, False), is_square=False),
}


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
    """A layout of language models, and one of them."""

    tops: str  # token embedding, position embedding, blocks, final norm, head; - where there is none
    block: str  # names in a block: both norms, then patterns of the linears
    arguments: str
    activation: str
    rotate: str = ""  # how queries and keys are rotated: halves, interleaved
    has_bias: bool = True
    is_tied: bool = True  # the head is the token embedding
    d_model: int = 8
    num_heads: int = 2
    num_kv_heads: int = 2
    base: int = 10000
    epsilon: float = 1e-5
    dtype: str = "F32"
    files: dict = dataclasses.field(default_factory=dict)
    more: dict = dataclasses.field(default_factory=dict)  # other tensors of the file

    def linear_shapes(self):
        d_model, d_hidden = self.d_model, 2 * self.d_model
        d_kv = d_model * self.num_kv_heads // self.num_heads
        if not self.rotate:
            return [(3 * d_model, d_model), (d_model, d_model), (d_hidden, d_model),
                    (d_model, d_hidden)]
        return [(d_model, d_model), (d_kv, d_model), (d_kv, d_model), (d_model, d_model),
                (d_hidden, d_model), (d_hidden, d_model), (d_model, d_hidden)]

    def norm(self, name):
        return {f"{name}.{kind}": (self.d_model,)
                for kind in ("weight", "bias")[:1 + (self.has_bias and not self.rotate)]}

    def tensors(self, positions, blocks=2):
        """Returns {name: (dtype, shape)}."""
        token, position, stem, final_norm, head = self.tops.split()
        shapes = {f"{token}.weight": (VOCABULARY, self.d_model),
                  f"{position}.weight": (positions, self.d_model),
                  f"{head}.weight": (VOCABULARY, self.d_model), **self.norm(final_norm)}
        norm_1, norm_2, linears = self.block.split(" ", 2)
        for start in (f"{stem}{i}." for i in range(blocks)):
            shapes |= {**self.norm(start + norm_1), **self.norm(start + norm_2)}
            shapes |= {start + name: shape for name, shape in parameters(
                linears, self.linear_shapes(), [self.has_bias] * 7)}
        return {name: (self.dtype, shape) for name, shape in shapes.items() if name[0] != "-"}


GPT2 = "ln_1 ln_2 attn.c_attn.{}^T attn.c_proj.{}^T mlp.c_fc.{}^T mlp.c_proj.{}^T"
NANOGPT = GPT2.replace("^T", "")
LLAMA = ("input_layernorm post_attention_layernorm self_attn.q_proj.{} self_attn.k_proj.{} "
         "self_attn.v_proj.{} self_attn.o_proj.{} mlp.up_proj.{} mlp.gate_proj.{} mlp.down_proj.{}")
META = ("attention_norm ffn_norm attention.wq.{} attention.wk.{} attention.wv.{} attention.wo.{} "
        "feed_forward.w3.{} feed_forward.w1.{} feed_forward.w2.{}")
ONE, CONFIG = "--language-model --num-heads", "--language-model --config FOLDER/config.json"
GPT2_CONFIG = {
    "model_type": "gpt2", "n_head": 2, "n_embd": 8, "n_layer": 2, "vocab_size": 11, "n_inner": 16,
    "activation_function": "gelu_new", "layer_norm_epsilon": 1e-3, "tie_word_embeddings": True,
    "scale_attn_weights": True}
LLAMA_CONFIG = {
    "model_type": "llama", "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4,
    "hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 2, "vocab_size": 11,
    "rope_theta": 500.0, "rope_scaling": None, "hidden_act": "silu", "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False}
UNTIED = '[model]\nlanguage_model = ""\nnum_heads = 4\nactivation = "relu"\nepsilon = 0.01\n'
MODELS = {
    "model_gpt2": Model(
        "transformer.wte transformer.wpe transformer.h. transformer.ln_f lm_head", GPT2,
        f"{ONE} 2 --activation gelu_new", "gelu_new",
        more={"transformer.h.0.attn.bias": ("U8", (1, 1, 5, 5)),
              "transformer.h.1.attn.masked_bias": ("F32", ())}),
    "model_gpt2_config": Model(
        "wte wpe h. ln_f -", GPT2, CONFIG, "gelu_new", epsilon=1e-3, dtype="F16",
        files={"config.json": json.dumps(GPT2_CONFIG)}),
    "model_nanogpt": Model(
        "_orig_mod.transformer.wte _orig_mod.transformer.wpe _orig_mod.transformer.h. "
        "_orig_mod.transformer.ln_f _orig_mod.lm_head", NANOGPT,
        f"{ONE} 2 --activation gelu --context-length LENGTH", "gelu", has_bias=False),
    "model_nanogpt_untied": Model(
        "wte wpe h. ln_f lm_head", NANOGPT, "--parts FOLDER/model.toml", "relu", is_tied=False,
        num_heads=4, epsilon=0.01, dtype="F64", files={"model.toml": UNTIED}),
    "model_llama": Model(
        "model.embed_tokens - model.layers. model.norm lm_head", LLAMA,
        f"{CONFIG} --context-length LENGTH", "silu", "halves", has_bias=False, is_tied=False,
        num_kv_heads=1, base=500, epsilon=1e-6, dtype="BF16",
        files={"config.json": json.dumps(LLAMA_CONFIG)},
        more={"model.layers.0.self_attn.rotary_emb.inv_freq":
              ("F32", (2,), struct.pack("<2f", 1, 500**-.5))}),
    "model_llama_meta": Model(
        "tok_embeddings - layers. norm output", META,
        f"{ONE} 4 --num-kv-heads 2 --context-length LENGTH --activation silu --epsilon 1e-5 "
        "--rotary-base 100", "silu", "interleaved", d_model=16, num_heads=4, base=100,
        has_bias=False),
}


def language_models(length):
    """Returns {name: Case}. If --context-length is given, the file has more positions than that."""
    cases = {}
    for name, model in MODELS.items():
        tensors = model.tensors(length + 3 * ("LENGTH" in model.arguments))
        tensors = drawn({**tensors, **model.more}, name, spread=5)
        token, *_, head = (f"{top}.weight" for top in model.tops.split())
        if model.is_tied and head in tensors:
            tensors[head] = tensors[token]
        tokens = random.Random(name).choices(range(VOCABULARY), k=length)
        cases[name] = Case(tensors, model.arguments.replace("LENGTH", str(length)).split(),
                           input=[tokens], files=model.files)
    return cases


# --- Encoders of torch.nn ---

ENCODERS = {  # {name: (settings of torch.nn.TransformerEncoderLayer, kind of part, prefix)}
    "encoder": ({}, "transformer", ""),
    "encoder_norm_first": ({"norm_first": True, "activation": "gelu"}, "transformer", "encoder."),
    "encoder_layer": ({"layer_norm_eps": 1e-3}, "transformer_block", "encoder."),
}


def encoder_tensors(prefix, kind="transformer", blocks=2):
    """Returns {name: (dtype, shape)}. An encoder at a prefix has a final norm."""
    linears = "self_attn.in_proj_{} self_attn.out_proj.{} linear1.{} linear2.{}"
    block = dict(parameters(linears, [(24, 8), (8, 8), (16, 8), (8, 16)], ALL))
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
    for name, (settings, kind, prefix) in ENCODERS.items():
        table = {kind: prefix, "causal": False, "activation": settings.get("activation", "relu"),
                 "norm_first": settings.get("norm_first", False),
                 "epsilon": settings.get("layer_norm_eps", 1e-5)}
        toml = "[model]\n" + "".join(f"{key} = {json.dumps(table[key])}\n" for key in table)
        sizes = f"--parts FOLDER/model.toml --num-heads 2 --context-length {length}"
        cases[name] = Case(drawn(encoder_tensors(prefix, kind), name), sizes.split(),
                           [draw(f"{name} {row}", 8, 2) for row in range(length)],
                           {"model.toml": toml})
    return cases


STORED = {**layers(6, 8, 2, 5), **language_models(12), **encoders(12)}
