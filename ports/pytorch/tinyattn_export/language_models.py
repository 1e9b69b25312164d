# SPDX-License-Identifier: MIT
"""Language models: the names under which GPT-2, nanoGPT and Llama are stored, and how one becomes a part of a header."""
import dataclasses
import functools

from . import blocks, leftovers
from .blocks import Style
from .parts import Part, initializer, source
from .refusal import Advised, Refusal, listed, shown
from .settings import Settings, check_context, of_json, unsaid
from .taken import Taken, located, numbered, place_of

MOST_TOKENS = 2**16  # that tinyattn's Token counts
DEFAULT_EPSILON = 1e-5  # of a LayerNorm, in PyTorch and in all of these models


@dataclasses.dataclass(frozen=True)
class Layout:
    """Names behind the model's prefix, and what a model of such names is unless something else is said."""

    title: str
    family: str
    first: str  # the weight by which it is known
    blocks: str
    names: blocks.Names
    token_embedding: str
    final_norm: str
    head: str  # behind the prefix, or behind any beginning of it
    activation: str  # if a config.json says none
    position_embedding: str = ""
    normalization: str = "rms"
    rotary: str = "none"


GPT2 = blocks.Names("attn.", "ln_1", "ln_2", "mlp.c_fc", "mlp.c_proj")
LLAMA = blocks.Names("self_attn.", "input_layernorm", "post_attention_layernorm", "mlp.up_proj", "mlp.down_proj", "mlp.gate_proj")
META = blocks.Names("attention.", "attention_norm", "ffn_norm", "feed_forward.w3", "feed_forward.w2", "feed_forward.w1")
LAYOUTS = (
    Layout("GPT-2", "GPT-2", "h.0.attn.c_attn.weight", "h.", GPT2, "wte.weight", "ln_f", "lm_head", "gelu_tanh",
           position_embedding="wpe.weight", normalization="layer"),
    Layout("Llama, Hugging Face's names", "Llama", "layers.0.self_attn.q_proj.weight", "layers.", LLAMA, "embed_tokens.weight", "norm",
           "lm_head", "silu", rotary="halves"),
    Layout("Llama, Meta's names", "Llama", "layers.0.attention.wq.weight", "layers.", META, "tok_embeddings.weight", "norm", "output",
           "silu", rotary="interleaved"),
)
OF_HEADS = (*(layout.head for layout in LAYOUTS), "final_logits_bias", "logit")  # how names begin of what makes logits


def found(tensors, prefix):
    """The layout, and what stands before its names."""
    for layout in LAYOUTS:
        start = located(tensors, layout.first, prefix, "language models")
        if start is not None:
            return of_shape(layout, tensors, start), start
    where = f"at the prefix {shown(prefix)}" if prefix else "in it"
    raise Refusal(f"there is no language model {where} of a known layout, GPT-2's, nanoGPT's or Llama's: it has "
                  f"{listed(tensors) or 'no tensors'}")


def of_shape(layout, tensors, start):
    """nanoGPT has GPT-2's names, weights stored out x in, and either GELU: its settings do not say which."""
    shape = tensors[start + layout.first].shape
    if layout.family != "GPT-2":
        return layout
    if len(shape) != 2 or 0 in shape or max(shape) != 3 * min(shape):
        raise tensors[start + layout.first].wrong_shape("queries, keys and values are three times as many as features")
    return layout if shape[1] == 3 * shape[0] else dataclasses.replace(layout, title="nanoGPT", activation="")


def context_length_of(settings, rows):
    """As many as the learned positions, or as the model was trained with; fewer if somebody says so."""
    if rows:
        settings.check("trained_length", rows, "the position embedding")
    own, most = settings.value("context_length"), rows or settings.value("trained_length")
    if own and most and own > most:
        raise Refusal(f"context_length says {own}, and the model knows {most} positions")
    return own or most


def untold(settings, layout):
    """What must be said. A config.json that leaves out the activation or the base means those of its layout."""
    yield "num_heads"
    if not layout.position_embedding and not settings.said["trained_length"]:
        yield "context_length"
    if not settings.has_config or not layout.activation:
        yield "activation"
    if layout.normalization == "rms":
        yield "epsilon"
    if layout.rotary != "none" and not settings.has_config:
        yield "rotary_base"


def style_of(settings, layout, rows):
    absent = [name for name in untold(settings, layout) if not settings.said[name]]
    if absent:
        raise unsaid(absent, config=not settings.has_config)
    if layout.position_embedding and (settings.said["rotary"] or settings.said["rotary_base"]):
        raise Refusal(f"the positions of {layout.title} are learned, not rotary")
    context_length = context_length_of(settings, rows)
    settings.check_window(context_length)
    return Style(settings.value("num_heads"), context_length, settings.value("activation", layout.activation),
                 settings.value("epsilon", DEFAULT_EPSILON), normalization=layout.normalization,
                 rotary=settings.value("rotary", layout.rotary), rotary_base=settings.value("rotary_base", 10000))


def stem_of_head(tensors, start, layout, ignore):
    """Where the head is: with the blocks, or at any level above them. None if there is none."""
    weight = f"{layout.head}.weight"
    levels = {name: name[:-len(weight)] for name in tensors if name.endswith(weight)}
    heads = leftovers.unignored([name for name, level in levels.items() if start.startswith(level) and level[-1:] in ("", ".")], ignore)
    if len(heads) > 1:
        raise Advised(lambda spelled: f"it has {len(heads)} heads, {listed(heads)}: {spelled(*leftovers.IGNORE)} leaves one out")
    return heads[0].removesuffix(".weight") if heads else None


def beginnings(prefix):
    """Of all names that belong to the model: its own, and a head's at any level above."""
    levels = [prefix[:end] for end in range(len(prefix)) if not end or prefix[end - 1] == "."]
    return (prefix, *(level + name for level in levels for name in OF_HEADS))


def refuse_unknown_heads(tensors, start, layout, ignore, taken):
    """Without a head, what has the shape of one may be it under another name; another model's token embedding is none."""
    if stem_of_head(tensors, start, layout, ignore) is None:
        shape = tensors[start + layout.token_embedding].shape
        like_heads = [name for name, tensor in tensors.items()
                      if name not in taken and tensor.shape == shape and not name.endswith(layout.token_embedding)]
        leftovers.refuse_unplaced(leftovers.unignored(like_heads, ignore), "model, whose head it may be,")


def head_of(taken, start, layout, settings, width, vocabulary, ignore):
    """The head's Linear, or None if it is the token embedding bit for bit, or not there; and what is said of it."""
    stem, embedding = stem_of_head(taken.tensors, start, layout, ignore), taken.tensors[start + layout.token_embedding]
    if stem is None:
        settings.check("tied", True, f"the file, which has no {layout.head}.weight,")
        return None, f"the token embedding, as there is no {layout.head}.weight"
    place = place_of(stem)
    weight = taken.tensor(place.weight)
    same = (weight.dtype, weight.shape, weight.data) == (embedding.dtype, embedding.shape, embedding.data)
    if same and place.bias not in taken.tensors:
        return None, f"the token embedding, which {weight} is bit for bit"
    if not same and settings.value("tied"):
        settings.check("tied", False, f"{shown(weight.name)}, which is not the token embedding,")
    return taken.linear(place, width, vocabulary), source(taken.tensors, [place])


def left_out(taken, layout, start, prefix, ignore, done, style, of_parts):
    """What stands beside the names that some part has, and why it is left out. A Refusal if something belongs to it."""
    refuse_unknown_heads(taken.tensors, start, layout, ignore, of_parts)
    base = style.rotary_base if style.rotary != "none" else 0
    return taken.refuse_leftovers(beginnings(prefix), ignore, of_parts, done.head_dim, base)


def check_vocabulary(embedding):
    if max(embedding.shape[:1], default=0) > MOST_TOKENS:
        raise Refusal(f"{embedding} is of {embedding.shape[0]} tokens, and tinyattn's Token counts {MOST_TOKENS}")


def check_shapes(settings, done, d_model, vocabulary):
    """That the tensors are what a config.json says."""
    settings.check("vocabulary", vocabulary, "the token embedding")
    settings.check("d_model", d_model, "the token embedding")
    settings.check("num_layers", len(done.trees), "the file")
    settings.check("head_dim", done.head_dim, f"the file, with {d_model} features for {settings.value('num_heads')} heads,")
    settings.check("num_kv_heads", done.num_kv_heads, "the width of the keys")
    settings.check("d_hidden", done.d_hidden, "the feed-forward part")
    settings.check("attention_bias", done.flags["qkv_bias"], "the attention layer")
    settings.check("feed_forward_bias", done.flags["bias"], "the feed-forward part")


def summary(style, done, d_model, vocabulary, head):
    said = [f"{len(done.trees)} blocks", f"{d_model} features", f"{style.num_heads} heads"]
    said += [f"{done.num_kv_heads} of keys"] if done.num_kv_heads != style.num_heads else []
    said += [f"rotary positions in {style.rotary}, base {style.rotary_base}" if style.rotary != "none" else "learned positions"]
    said += [f"{done.d_hidden} hidden, {'gated ' if done.gated else ''}{style.activation}"]
    said += [f"{'LayerNorm' if style.normalization == 'layer' else 'RmsNorm'}, epsilon {style.epsilon:.6g}"]
    said += [f"at most {style.context_length} tokens of {vocabulary}", "a head of its own" if head else "a tied head"]
    return f"language model, {', '.join(said)}"


def language_model(prefix="", *, num_heads=None, num_kv_heads=None, context_length=None, rotary=None, rotary_base=None, activation=None,
                   epsilon=None, config=None, ignore=()):
    """A LanguageModel. What `config` says, the path of a config.json or what it holds, need not be said again; num_kv_heads may always be
    left out; learned positions tell the context_length."""
    given = {"num_heads": num_heads, "num_kv_heads": num_kv_heads, "context_length": context_length, "rotary": rotary,
             "rotary_base": rotary_base, "activation": activation, "epsilon": epsilon}
    configs = {} if config is None else {"config.json": config if isinstance(config, dict) else of_json(config)}
    Settings(given, configs)  # whatever the file of weights says

    def part(tensors):
        settings = Settings(given, {**configs, "model_args": getattr(tensors, "model_args", {})})
        layout, start = found(tensors, prefix)
        settings.check_family(layout.family)
        taken = Taken(tensors)
        check_vocabulary(taken.tensor(start + layout.token_embedding))
        embedding = taken.matrix(start + layout.token_embedding)
        vocabulary, d_model = len(embedding), len(embedding[0])
        positions = taken.matrix(start + layout.position_embedding) if layout.position_embedding else None
        style = style_of(settings, layout, len(positions or ()))
        stem = start + layout.blocks
        done = blocks.blocks_at(taken, layout.names, [f"{stem}{i}." for i in range(numbered(tensors, stem))], d_model, style)
        final_norm = taken.norm(start + layout.final_norm, d_model, style.normalization, style.epsilon)
        head, head_source = head_of(taken, start, layout, settings, d_model, vocabulary, ignore)
        check_shapes(settings, done, d_model, vocabulary)
        check_context(style.context_length, done.num_kv_heads * done.head_dim, len(done.trees))
        config = {"vocabulary": vocabulary, "transformer": done.transformer(True),
                  "positions": f"::tinyattn::Positions::{'learned' if positions else 'none'}", "tied": head is None,
                  "head_bias": head is not None and head.bias is not None}
        tree = {"token_embedding": {"weight": embedding},
                "position_embedding": {"weight": positions[:style.context_length]} if positions else None,
                "transformer": {"blocks": done.trees, "final_norm": final_norm}, "head": head.tree() if head else None}
        sources = {"token_embedding": str(tensors[start + layout.token_embedding]), **done.sources, "head": head_source}
        return Part(f"::tinyattn::LanguageModel<::tinyattn::LanguageModelConfig{initializer(config)}>", "tinyattn/language_model.hpp", tree,
                    summary(style, done, d_model, vocabulary, head), sources,
                    taken.names, [f"layout: {layout.title}" + (f", at {shown(start)}" if start else ""), *done.remarks],
                    functools.partial(left_out, taken, layout, start, prefix, ignore, done, style))
    return part
