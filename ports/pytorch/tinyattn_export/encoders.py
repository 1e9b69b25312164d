# SPDX-License-Identifier: MIT
"""torch.nn.TransformerEncoderLayer and torch.nn.TransformerEncoder as a TransformerBlock and a Transformer."""
import functools

from . import blocks
from .blocks import Style
from .parts import Part, initializer
from .refusal import Refusal, listed, shown
from .settings import Settings, check_context, require
from .taken import Taken, located, numbered

NAMES = blocks.Names("self_attn.", "norm1", "norm2", "linear1", "linear2")
FIRST = "self_attn.in_proj_weight"


def placed(tensors, first, prefix, what):
    start = located(tensors, first, prefix, f"{what}s")
    if start is None:
        raise Refusal(f"there is no {shown(prefix + first)}, by which a {what} is known: there are {listed(tensors)}")
    return start


def made(tensors, start, prefixes, settings, ignore, has_final_norm=False):
    """What the names behind `start` are: the blocks, the tree of a final norm or None, a summary, and what else a Part has."""
    style = Style(settings.value("num_heads"), settings.value("context_length"), settings.value("activation"),
                  settings.value("epsilon", 1e-5), settings.value("causal"), norm_first=settings.value("norm_first"))
    taken = Taken(tensors)
    d_model = (*tensors[prefixes[0] + FIRST].shape, 0, 0)[1]
    done = blocks.blocks_at(taken, NAMES, prefixes, d_model, style)
    check_context(style.context_length, d_model)
    norm = taken.norm(f"{start}norm", d_model, style.normalization, style.epsilon) if has_final_norm else None
    said = (f"{d_model} features, {style.num_heads} heads, {'causal' if style.causal else 'not causal'}, {done.d_hidden} hidden, "
            f"{style.activation}, norms {'first' if style.norm_first else 'last'}, epsilon {style.epsilon:.6g}, at most "
            f"{style.context_length} tokens")
    remarks = [*([f"at {shown(start)}"] if start else []), *done.remarks]
    return done, norm, said, (taken.names, remarks, functools.partial(taken.refuse_leftovers, start, ignore))


def settings_of(num_heads, context_length, causal, norm_first, activation, epsilon):
    require(num_heads=num_heads, context_length=context_length, causal=causal, norm_first=norm_first, activation=activation)
    return Settings({"num_heads": num_heads, "context_length": context_length, "causal": causal, "norm_first": norm_first,
                     "activation": activation, "epsilon": epsilon})


def transformer_block(prefix="", *, num_heads=None, context_length=None, causal=None, norm_first=None, activation=None, epsilon=None,
                      ignore=()):
    """A TransformerBlock from a torch.nn.TransformerEncoderLayer. Only epsilon need not be said: 1e-5, as there."""
    settings = settings_of(num_heads, context_length, causal, norm_first, activation, epsilon)

    def part(tensors):
        start = placed(tensors, FIRST, prefix, "torch.nn.TransformerEncoderLayer")
        done, _, said, rest = made(tensors, start, [start], settings, ignore)
        return Part(f"::tinyattn::TransformerBlock<::tinyattn::BlockConfig{initializer(done.config)}>", "tinyattn/transformer.hpp",
                    done.trees[0], f"transformer block, {said}", done.sources, *rest)
    return part


def transformer(prefix="", *, num_heads=None, context_length=None, causal=None, norm_first=None, activation=None, epsilon=None, ignore=()):
    """A Transformer from a torch.nn.TransformerEncoder, with its final norm if it has one."""
    settings = settings_of(num_heads, context_length, causal, norm_first, activation, epsilon)

    def part(tensors):
        start = placed(tensors, f"layers.0.{FIRST}", prefix, "torch.nn.TransformerEncoder")
        count, has_norm = numbered(tensors, f"{start}layers."), f"{start}norm.weight" in tensors
        prefixes = [f"{start}layers.{i}." for i in range(count)]
        done, norm, said, rest = made(tensors, start, prefixes, settings, ignore, has_norm)
        return Part(f"::tinyattn::Transformer<::tinyattn::TransformerConfig{initializer(done.transformer(has_norm))}>",
                    "tinyattn/transformer.hpp", {"blocks": done.trees, "final_norm": norm},
                    f"transformer, {count} blocks, {said}", done.sources, *rest)
    return part
