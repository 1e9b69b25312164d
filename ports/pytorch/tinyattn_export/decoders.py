# SPDX-License-Identifier: MIT
"""Turns a torch.nn.TransformerDecoder into a TransformerDecoder, and a layer of it into one of one block."""
import dataclasses

from . import blocks
from .encoders import FIRST, EncoderRequest
from .parts import AttentionRequest, Part, initializer
from .reader import Reader, count_modules


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
