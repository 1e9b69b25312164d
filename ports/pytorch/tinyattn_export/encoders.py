# SPDX-License-Identifier: MIT
"""Turns a torch.nn.TransformerEncoderLayer into a TransformerBlock, a torch.nn.TransformerEncoder into a Transformer,
and a torch.nn.TransformerDecoder, or a layer of it, into a TransformerDecoder."""
import dataclasses

from . import blocks
from .errors import ExportError, listing, printable
from .parts import AttentionRequest, Part, initializer
from .reader import AroundModel, Reader, count_modules, find_start
from .storage import RequestOfLayers

NAMES = blocks.Names("self_attn.", "norm1", "norm2", "linear1", "linear2")
FIRST = "self_attn.in_proj_weight"


@dataclasses.dataclass
class EncoderRequest(RequestOfLayers):
    """What both requests have in common."""

    causal: bool = None
    norm_first: bool = None
    activation: str = None
    epsilon: float = None  # PyTorch's 1e-5 unless given
    names = NAMES
    needed = ("num_heads", "context_length", "causal", "norm_first", "activation")

    def start(self, tensors, first, what):
        start = find_start(tensors, first, self.prefix, f"{what}s")
        if start is None:
            raise ExportError(
                f"there is no {printable(self.prefix + first)}, by which a {what} is known: there are "
                f"{listing(tensors)}")
        return start

    def style(self):
        return blocks.style_of(vars(self), epsilon=1e-5)

    def encoder(self, reader, start, prefixes):
        """Returns the Blocks at some prefixes, their summary in words, and the last arguments of their Part."""
        style, d_model = self.style(), (*reader.tensors[prefixes[0] + FIRST].shape, 0, 0)[1]
        encoder = blocks.blocks_at(reader, self.names, prefixes, d_model, style)
        style.check_context(d_model)
        summary = (
            f"{d_model} features, {style.num_heads} heads, {'causal' if style.causal else 'not causal'}, "
            f"{encoder.d_hidden} hidden, {style.activation}, norms {'first' if style.norm_first else 'last'}, epsilon "
            f"{style.epsilon:.6g}, at most {style.context_length} tokens{self.in_words()}")
        remarks = [*([f"at {printable(start)}"] if start else []), *encoder.remarks]
        return encoder, summary, (reader.consumed, remarks, AroundModel(reader.tensors, start, self.ignore))

    def final_norm(self, reader, start):
        if f"{start}norm.weight" not in reader.tensors:
            return None
        style, d_model = self.style(), (*reader.tensors[f"{start}layers.0.{FIRST}"].shape, 0, 0)[1]
        return reader.norm(f"{start}norm", d_model, style.normalization, style.epsilon)


class TransformerBlockRequest(EncoderRequest):
    """Asks for a TransformerBlock from a torch.nn.TransformerEncoderLayer."""

    def part(self, tensors):
        start = self.start(tensors, FIRST, "torch.nn.TransformerEncoderLayer")
        encoder, summary, others = self.encoder(Reader(tensors), start, [start])
        return Part(f"::tinyattn::TransformerBlock<::tinyattn::BlockConfig{initializer(encoder.config)}>",
                    "tinyattn/transformer.hpp", self.stored(encoder.trees[0]), f"transformer block, {summary}",
                    encoder.sources, *others, config=encoder.config)


class TransformerRequest(EncoderRequest):
    """Asks for a Transformer from a torch.nn.TransformerEncoder, with its final norm if it has one."""

    def part(self, tensors):
        start = self.start(tensors, f"layers.0.{FIRST}", "torch.nn.TransformerEncoder")
        reader, count = Reader(tensors), count_modules(tensors, f"{start}layers.")
        encoder, summary, others = self.encoder(reader, start, [f"{start}layers.{i}." for i in range(count)])
        norm = self.final_norm(reader, start)
        config = encoder.transformer(norm is not None)
        return Part(f"::tinyattn::Transformer<::tinyattn::TransformerConfig{initializer(config)}>",
                    "tinyattn/transformer.hpp", self.stored({"blocks": encoder.trees, "final_norm": norm}),
                    f"transformer, {count} blocks, {summary}", encoder.sources, *others, config=config)


@dataclasses.dataclass
class DecoderRequest(EncoderRequest):
    """Asks for a decoder of the tensors of a state_dict: of one block, or of several in `layers`."""

    source_length: int = None  # the most tokens of a source
    names = blocks.Names("self_attn.", "norm1", "norm3", "linear1", "linear2")
    needed = (*EncoderRequest.needed, "source_length")

    def part(self, tensors):
        reader = Reader(tensors)
        prefixes = [""] if FIRST in tensors else [f"layers.{i}." for i in range(count_modules(tensors, "layers."))]
        decoder, summary, (consumed, *others) = self.encoder(reader, "", prefixes)
        sources = [AttentionRequest(f"{prefix}multihead_attn.", num_heads=self.num_heads, causal=False,
                                    context_length=self.source_length).part(tensors) for prefix in prefixes]
        trees = tuple(self.block(reader, *each) for each in zip(prefixes, decoder.trees, sources))
        block = {"attention": decoder.config["attention"],
                 "cross_attention": self.with_weights(sources[0].config), **decoder.config}
        norm = self.final_norm(reader, "")
        config = {"block": block, "num_layers": len(trees), "final_norm": norm is not None}
        summary = f"decoder, {len(trees)} blocks, {summary}, a source of at most {self.source_length}"
        consumed = consumed.union(*(part.consumed for part in sources))
        return Part(f"::tinyattn::TransformerDecoder<::tinyattn::TransformerDecoderConfig{initializer(config)}>",
                    "tinyattn/transformer_decoder.hpp", self.stored({"blocks": trees, "final_norm": norm}),
                    summary, decoder.sources, consumed, *others, config=config)

    def block(self, reader, prefix, tree, source):
        """Returns the tree of a block, from that of a block that reads no source, and a cross-attention."""
        width, style = len(tree["attention_norm"]["weight"][0]), self.style()
        norm = reader.norm(f"{prefix}norm2", width, style.normalization, style.epsilon)
        members = {**tree, "cross_attention_norm": norm, "cross_attention": source.tree}
        return {member: members[member] for name in ("attention", "cross_attention", "feed_forward")
                for member in (f"{name}_norm", name)}
