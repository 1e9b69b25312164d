# SPDX-License-Identifier: MIT
"""PyTorch's decoders, which read the output of an encoder."""

from ..encoders import DecoderRequest
from . import attention, written_layers
from .attention_layers import add_call, argument_of, operands_of, settings_of, settings_of_layers
from .table import lowers_module
from .values import Value, numbered
from .weighted import part_of


def decoder_call(low, module, values, masks, source_masks, settings):
    """Adds the step of a decoder. `values`: tgt and memory."""
    settings, batch_first = settings
    if low.in_c:
        x, source = map(low.check_floats, values)
        return written_layers.layers(low, low.module_of(low.node), x, settings, batch_first, masks, source,
                                     source_masks)
    operands, views, swap = operands_of(low, values, batch_first)
    (tokens, source_tokens) = (view.shape[-2] for view in views)
    mask = attention.mask_of(low, *masks, tokens, tokens, true_is_masked=True)
    source_mask = attention.mask_of(low, *source_masks, tokens, source_tokens, true_is_masked=True)
    if source_mask.causal and source_mask.own:
        low.refuse("a causal memory_mask together with another", "give one mask")
    calls = low.members.calls.setdefault(low.node.target, [])
    calls.append((tokens, mask, source_tokens))
    member = low.members.layer(low.node.target, lambda: part_of(low, DecoderRequest(
        context_length=max(length for length, *_ in calls), causal=all(mask.causal for _, mask, _ in calls),
        source_length=max(length for *_, length in calls), weights=low.members.weights, **settings),
        module.state_dict()))

    def arguments():
        found = argument_of(mask, calls), source_mask.argument(False)
        return [argument or "tinyattn::NoMask{}" for argument in found] if any(found) else found
    masks = [*mask.arguments(lambda: arguments()[0]), *source_mask.arguments(lambda: arguments()[1])]
    result = add_call(low, member, operands, masks, operands[0].extents)
    view = numbered(tuple(views[0].shape))
    return Value(result, view.transpose(0, 1) if swap else view)


@lowers_module("TransformerDecoderLayer")
def decoder_layer(low, module, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                  memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False):
    return decoder_call(low, module, [tgt, memory], (tgt_mask, tgt_key_padding_mask, tgt_is_causal or False),
                        (memory_mask, memory_key_padding_mask, memory_is_causal), settings_of(low, module))


@lowers_module("TransformerDecoder")
def decoder(low, module, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
            memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False):
    return decoder_call(low, module, [tgt, memory], (tgt_mask, tgt_key_padding_mask, tgt_is_causal or False),
                        (memory_mask, memory_key_padding_mask, memory_is_causal), settings_of_layers(low, module))
