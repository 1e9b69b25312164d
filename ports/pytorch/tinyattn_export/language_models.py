# SPDX-License-Identifier: MIT
"""Language models: the names of tensors in files of GPT-2, nanoGPT, Llama and others, and how such a file becomes a
part of a header."""
import dataclasses

from . import blocks, layouts, unused
from .errors import ExportError, listing, printable
from .families import Family, changed
from .parts import Part, initializer, layout_remark, source
from .reader import AroundModel, Reader, count_modules, find_start, place_of
from .settings import CONFIG, Settings, missing, read_config
from .storage import RequestOfLayers

MOST_TOKENS = 2**16  # the values of tinyattn's Token
DEFAULT_EPSILON = 1e-5  # of LayerNorm in PyTorch, and in GPT-2 and nanoGPT


@dataclasses.dataclass(frozen=True)
class Layout:
    """The names of tensors after the model's prefix, and the settings that a model with such names has by default."""

    title: str
    family: str
    first: str  # the weight whose name identifies the layout
    blocks: str
    names: blocks.Names
    token_embedding: str
    final_norm: str
    head: str  # follows the whole prefix or fewer levels of it
    activation: str  # what a config.json that names none means; empty if it must name one
    position_embedding: str = ""
    normalization: str = "rms"
    rotary: str = "none"
    needs_config: bool = False  # arguments do not say all


GPT2 = blocks.Names("attn.", "ln_1", "ln_2", "mlp.c_fc", "mlp.c_proj")
LLAMA = blocks.Names("self_attn.", "input_layernorm", "post_attention_layernorm", "mlp.up_proj", "mlp.down_proj",
                     "mlp.gate_proj")
META = blocks.Names("attention.", "attention_norm", "ffn_norm", "feed_forward.w3", "feed_forward.w2", "feed_forward.w1")
LAYOUTS = (
    Layout("GPT-2", "GPT-2", "h.0.attn.c_attn.weight", "h.", GPT2, "wte.weight", "ln_f", "lm_head", "gelu_tanh",
           position_embedding="wpe.weight", normalization="layer"),
    Layout("Llama, Hugging Face's names", "Llama", "layers.0.self_attn.q_proj.weight", "layers.", LLAMA,
           "embed_tokens.weight", "norm", "lm_head", "silu", rotary="halves"),
    Layout("Llama, Meta's names", "Llama", "layers.0.attention.wq.weight", "layers.", META, "tok_embeddings.weight",
           "norm", "output", "silu", rotary="interleaved"),
)
NEOX = blocks.Names("attention.", "input_layernorm", "post_attention_layernorm", "mlp.dense_h_to_4h",
                    "mlp.dense_4h_to_h", layout=layouts.Layout("GPT-NeoX", ("query_key_value",), ("dense",)),
                    by_head=True)
GPTJ = blocks.Names("attn.", "ln_1", "ln_1", "mlp.fc_in", "mlp.fc_out")
GPT_NEO = blocks.Names("attn.attention.", "ln_1", "ln_2", "mlp.c_fc", "mlp.c_proj")
BOOK = blocks.Names("att.", "norm1", "norm2", "ff.layers.0", "ff.layers.2")
LAYOUTS += (
    Layout("GPT-NeoX", "GPT-NeoX", "layers.0.attention.query_key_value.weight", "layers.", NEOX, "embed_in.weight",
           "final_layer_norm", "embed_out", "gelu", normalization="layer", rotary="halves", needs_config=True),
    Layout("GPT-J", "GPT-J", "h.0.attn.q_proj.weight", "h.", GPTJ, "wte.weight", "ln_f", "lm_head", "gelu_tanh",
           normalization="layer", rotary="interleaved", needs_config=True),
    Layout("GPT-Neo", "GPT-Neo", "h.0.attn.attention.q_proj.weight", "h.", GPT_NEO, "wte.weight", "ln_f", "lm_head",
           "gelu_tanh", "wpe.weight", "layer", needs_config=True),
    Layout('GPTModel of "Build a Large Language Model (From Scratch)"', "GPTModel", "trf_blocks.0.att.W_query.weight",
           "trf_blocks.", BOOK, "tok_emb.weight", "final_norm", "out_head", "gelu_tanh", "pos_emb.weight", "layer"),
)
HEADS = (*(layout.head for layout in LAYOUTS), "final_logits_bias", "logit")  # how names of a head's tensors begin


def find(tensors, prefix):
    """Returns the layout of the model, and the start that precedes the layout's names."""
    for layout in LAYOUTS:
        start = find_start(tensors, layout.first, prefix, "language models")
        if start is not None:
            return by_shape(layout, tensors[start + layout.first]), start
    where = f"at the prefix {printable(prefix)}" if prefix else "in it"
    raise ExportError(f"there is no language model {where} of a known layout, GPT-2's, nanoGPT's or Llama's: it has "
                      f"{listing(tensors) or 'no tensors'}")


def by_shape(layout, first):
    """Tells nanoGPT from GPT-2, whose names it shares, by the shape of a weight: nanoGPT stores out x in. Its layout
    has no activation, since nanoGPT used both forms of GELU and its settings do not say which."""
    shape = first.shape
    if layout.family != "GPT-2":
        return layout
    if len(shape) != 2 or 0 in shape or max(shape) != 3 * min(shape):
        raise first.wrong_shape("queries, keys and values are three times as many as features")
    return layout if shape[1] == 3 * shape[0] else dataclasses.replace(layout, title="nanoGPT", activation="")


def context_length_of(settings, rows):
    """Returns the context length: the one that was asked for, which must not exceed the learned positions or the
    trained length; or else this maximum."""
    if rows:
        settings.check("trained_length", rows, "the position embedding")
    own, most = settings.value("context_length"), rows or settings.value("trained_length")
    if own and most and own > most:
        raise ExportError(f"context_length says {own}, and the model knows {most} positions")
    return own or most


def required_settings(settings, layout):
    """Yields the settings that must be given. A config.json may leave out the activation, if the layout has one, and
    the rotary base: the defaults hold then."""
    yield "num_heads"
    if not layout.position_embedding and not settings.has("trained_length"):
        yield "context_length"
    if not settings.has_config or not layout.activation:
        yield "activation"
    if layout.normalization == "rms":
        yield "epsilon"
    if layout.rotary != "none" and not settings.has_config:
        yield "rotary_base"


def rotary_dim_of(values, head_dim):
    """Returns how many features of a head rotate, or None for all."""
    dim = int(head_dim * (values["rotary_part"] or 1)) if values["rotary_dim"] is None else values["rotary_dim"]
    return dim if dim != head_dim else None


def family_style(settings, family, values, d_model):
    """Returns what a Style has of a family, or of settings that only families take."""
    values = {**values, **{name: value for name, value in family.settings.items() if values.get(name) is None}}
    head_dim = values["head_dim"] or d_model // values["num_heads"] or 1
    return {**{name: values[name] for name in ("head_dim", "parallel", "rotary_base")},
            "adds_one": family.adds_one, "rotary_dim": rotary_dim_of(values, head_dim),
            "score_scale": 1.0 if family.scales_scores else head_dim**0.5,
            "embedding_scale": d_model**0.5 if family.scales_embedding else 1.0}


def style_of(settings, layout, rows, family, d_model):
    absent = [name for name in required_settings(settings, layout) if not settings.has(name)]
    if absent:
        raise missing(absent, config=not settings.has_config)
    if layout.position_embedding and (settings.has("rotary") or settings.has("rotary_base")):
        raise ExportError(f"the positions of {layout.title} are learned, not rotary")
    context_length = context_length_of(settings, rows)
    values = settings.values()
    given = {**values, "context_length": context_length, "window": settings.window(context_length),
             **family_style(settings, family, values, d_model)}
    return blocks.style_of(given, activation=layout.activation, epsilon=DEFAULT_EPSILON, rotary=layout.rotary,
                           normalization=layout.normalization)


def stem_of_head(tensors, start, layout, ignore):
    """Returns the name of the head without .weight, or None if there is no head. The head may lie next to the blocks or
    at any level above them."""
    weight = f"{layout.head}.weight"
    levels = {name: name[:-len(weight)] for name in tensors if name.endswith(weight)}
    names = [name for name, level in levels.items() if start.startswith(level) and level[-1:] in ("", ".")]
    heads = unused.without_ignored(names, ignore)
    if len(heads) > 1:
        raise ExportError(f"it has {len(heads)} heads, {listing(heads)}: ", unused.IGNORE, " leaves one out")
    return heads[0].removesuffix(".weight") if heads else None


def beginnings(prefix):
    """Returns how the names of all tensors of the model begin: with its prefix, or, for a head, with HEADS after any
    levels of it."""
    levels = [prefix[:end] for end in range(len(prefix)) if not end or prefix[end - 1] == "."]
    return (prefix, *(level + name for level in levels for name in HEADS))


@dataclasses.dataclass(frozen=True)
class AroundLanguageModel(AroundModel):
    """The rest of a file that holds a language model. If no head is found, an unused tensor of the shape of a head is
    an error, since it may be the head under another name; unless it is the token embedding of another model."""

    layout: Layout = None
    start: str = ""

    def reasons(self, consumed):
        if stem_of_head(self.tensors, self.start, self.layout, self.ignore) is None:
            embedding = self.layout.token_embedding
            shape = self.tensors[self.start + embedding].shape
            names = [name for name, tensor in self.tensors.items()
                     if name not in consumed and tensor.shape == shape and not name.endswith(embedding)]
            unused.refuse_unplaced(unused.without_ignored(names, self.ignore), "model, whose head it may be,")
        return super().reasons(consumed)


def check_vocabulary(embedding):
    if max(embedding.shape[:1], default=0) > MOST_TOKENS:
        raise ExportError(
            f"{embedding} is of {embedding.shape[0]} tokens, and tinyattn's Token counts {MOST_TOKENS}")


class Model:
    """A language model in a file."""

    def __init__(self, tensors, prefix, settings, ignore):
        self.settings, self.ignore, self.prefix = settings, ignore, prefix
        self.layout, self.start = find(tensors, prefix)
        own = settings.family(self.layout.family)
        if own is None and self.layout.family == "Llama" and settings.value("activation") == "gelu_tanh":
            raise ExportError("a Llama with gelu_tanh may be a Gemma, which has the same names and other norms: say ",
                              CONFIG)
        family = own or Family(self.layout.family, "")
        self.layout = changed(self.layout, family)
        if self.layout.needs_config and own is None:
            raise ExportError(f"it has the names of {self.layout.title}, whose settings no argument gives: say ",
                              CONFIG, ", which names a model_type")
        self.reader = Reader(tensors)
        check_vocabulary(self.tensor("token_embedding"))
        self.token_embedding = self.reader.matrix(self.name("token_embedding"))
        self.vocabulary, self.d_model = len(self.token_embedding), len(self.token_embedding[0])
        self.positions = None
        if self.layout.position_embedding:
            self.positions = self.reader.matrix(self.name("position_embedding"))
        self.style = style_of(settings, self.layout, len(self.positions or ()), family, self.d_model)
        stem = self.start + self.layout.blocks
        prefixes = [f"{stem}{i}." for i in range(count_modules(tensors, stem))]
        self.blocks = blocks.blocks_at(self.reader, self.layout.names, prefixes, self.d_model, self.style)
        self.final_norm = blocks.without_scale(self.reader.norm(
            self.name("final_norm"), self.d_model, self.style.normalization, self.style.epsilon, self.style.adds_one),
                                               self.style)
        self.head, self.head_source = self.read_head()

    def name(self, role):
        return self.start + getattr(self.layout, role)

    def tensor(self, role):
        return self.reader.tensor(self.name(role))

    def read_head(self):
        """Returns the Linear of the head, or None if the head is missing or equals the token embedding bit for bit; and
        its source in words."""
        reader, settings, embedding = self.reader, self.settings, self.tensor("token_embedding")
        stem = stem_of_head(reader.tensors, self.start, self.layout, self.ignore)
        if stem is None:
            settings.check("tied", True, f"the file, which has no {self.layout.head}.weight,")
            return None, f"the token embedding, as there is no {self.layout.head}.weight"
        place = place_of(stem)
        weight = reader.tensor(place.weight)
        same = (weight.dtype, weight.shape, weight.data) == (embedding.dtype, embedding.shape, embedding.data)
        if same and place.bias not in reader.tensors:
            return None, f"the token embedding, which {weight} is bit for bit"
        if not same and settings.value("tied"):
            settings.check("tied", False, f"{printable(weight.name)}, which is not the token embedding,")
        return reader.linear(place, self.d_model, self.vocabulary), source(reader.tensors, [place])

    def check(self):
        """Raises an ExportError if the shapes of the tensors contradict a setting."""
        check, heads = self.settings.check, self.settings.value("num_heads")
        check("vocabulary", self.vocabulary, "the token embedding")
        check("d_model", self.d_model, "the token embedding")
        check("num_layers", len(self.blocks.trees), "the file")
        check("head_dim", self.blocks.head_dim, f"the file, with {self.d_model} features for {heads} heads,")
        check("num_kv_heads", self.blocks.num_kv_heads, "the width of the keys")
        check("d_hidden", self.blocks.d_hidden, "the feed-forward part")
        check("attention_bias", self.blocks.flags["qkv_bias"], "the attention layer")
        check("feed_forward_bias", self.blocks.flags["bias"], "the feed-forward part")
        kv_width = self.blocks.num_kv_heads * self.blocks.head_dim
        self.style.check_context(kv_width, len(self.blocks.trees))

    def config(self):
        config = {"vocabulary": self.vocabulary, "transformer": self.blocks.transformer(True),
                  "positions": f"::tinyattn::Positions::{'learned' if self.positions else 'none'}",
                  "tied": self.head is None, "head_bias": self.head is not None and self.head.bias is not None}
        return self.style.with_weights(config)

    def tree(self):
        rows = self.positions and self.positions[:self.style.context_length]
        return {"token_embedding": {"weight": self.token_embedding},
                "position_embedding": {"weight": rows} if rows else None,
                "transformer": {"blocks": self.blocks.trees, "final_norm": self.final_norm},
                "head": self.head.tree() if self.head else None}

    def summary(self):
        style, layers = self.style, self.blocks
        positions, norm = "learned positions", "LayerNorm" if style.normalization == "layer" else "RmsNorm"
        if style.rotary != "none":
            positions = f"rotary positions in {style.rotary}, base {style.rotary_base}"
        return ", ".join([
            f"language model, {len(layers.trees)} blocks", f"{self.d_model} features", f"{style.num_heads} heads",
            *([f"{layers.num_kv_heads} of keys"] if layers.num_kv_heads != style.num_heads else []), positions,
            f"{layers.d_hidden} hidden", f"{'gated ' if layers.gated else ''}{style.activation}", norm,
            f"epsilon {style.epsilon:.6g}", f"at most {style.context_length} tokens of {self.vocabulary}",
            "a head of its own" if self.head else "a tied head"]) + style.in_words()

    def sources(self):
        return {"token_embedding": str(self.tensor("token_embedding")), **self.blocks.sources, "head": self.head_source}

    def surroundings(self):
        base = self.style.rotary_base if self.style.rotary != "none" else 0
        rotated = self.style.rotary_dim or self.blocks.head_dim
        return AroundLanguageModel(self.reader.tensors, beginnings(self.prefix), self.ignore, rotated, base,
                                   self.layout, self.start)

    def part(self):
        self.check()
        remarks = [layout_remark(self.layout.title, self.start), *self.blocks.remarks,
                   *self.settings.long_windows(self.style.context_length)]
        tree, config = self.style.stored(self.tree()), self.config()
        return Part(f"::tinyattn::LanguageModel<::tinyattn::LanguageModelConfig{initializer(config)}>",
                    "tinyattn/language_model.hpp", tree, self.summary(), self.sources(), self.reader.consumed, remarks,
                    self.surroundings(), self.vocabulary, config)


@dataclasses.dataclass
class LanguageModelRequest(RequestOfLayers):
    """Asks for a LanguageModel. What its config says needs no argument. num_kv_heads follows from the tensors, and
    context_length from learned positions, if there are any."""

    num_kv_heads: int = None
    rotary: str = None
    rotary_base: int = None
    activation: str = None
    epsilon: float = None
    config: str = None  # the path of a config.json, or its content

    def __post_init__(self):
        if self.config is not None and not isinstance(self.config, dict):
            self.config = read_config(self.config)
        super().__post_init__()
        self.settings()  # checks that the arguments and the config agree, before any weights are read

    def settings(self, model_args=None):
        configs = {} if self.config is None else {"config.json": self.config}
        return Settings(vars(self), configs if model_args is None else {**configs, "model_args": model_args})

    def part(self, tensors):
        settings = self.settings(getattr(tensors, "model_args", {}))
        return Model(tensors, self.prefix, settings, self.ignore).part()
