# SPDX-License-Identifier: MIT
"""MultiheadAttention and PyTorch's encoders."""
import functools

import torch
from torch.nn import functional

from ..encoders import TransformerBlockRequest, TransformerRequest
from ..errors import ExportError
from ..parts import AttentionRequest
from ..settings import ACTIVATION_FUNCTIONS, activation_of
from . import attention, attention_options, small_numbers, written_layers
from .table import lowers_module
from .tracing import is_original, torch_class
from .program import Scratch
from .values import Absent, Operand, Value, numbered, whole
from .weighted import part_of


def call_of_layer(low, values, batch_first, masks, request, tensors, heads=()):
    """Adds the step of a layer, and returns its Value. `values`: queries, keys and values, or the only input; `masks`:
    attn_mask, key_padding_mask and is_causal. `request` returns what makes the layer of `tensors`, once all calls are
    known. Where `heads` has their number, it also returns the Object of their weights."""
    values = [low.check_floats(value) for value in values]
    operands, views, swap = operands_of(low, values, batch_first)
    lengths = [view.shape[-2] for view in views]
    mask = attention.mask_of(low, *masks, lengths[0], lengths[-1], true_is_masked=True)
    calls = low.members.calls.setdefault(low.node.target, [])
    calls.append((max(lengths), mask))
    member = low.members.layer(low.node.target, lambda: part_of(low, request(
        context_length=max(length for length, _ in calls), causal=all(mask.causal for _, mask in calls),
        weights=low.members.weights), tensors))
    inputs = operands[:1] if all(same_value(values[0], value) for value in values) else operands
    weights = [low.program.activation(f"{low.name()}_weights_of_heads", (
        *operands[0].extents[:-2], *heads, lengths[0], lengths[-1]))] if heads else []
    masks = mask.arguments(lambda: argument_of(mask, calls))
    result = add_call(low, member, inputs, masks, operands[0].extents, *weights)
    view = numbered(tuple(views[0].shape))
    result = Value(result, view.transpose(0, 1) if swap else view)
    return (result, *weights) if heads else result


def operands_of(low, values, batch_first):
    """Returns the Operands of values, their views, tokens behind the batch, and whether that swaps axes."""
    values = [low.check_floats(value) for value in values]
    swap = not batch_first and values[0].view.dim() == 3
    views = [value.view.transpose(0, 1) if swap else value.view for value in values]
    return [low.batch_of(value, view) for value, view in zip(values, views)], views, swap


def same_value(a, b):
    return a.object is b.object and a.view.shape == b.view.shape and a.view.stride() == b.view.stride() and (
        a.offset == b.offset)


def add_call(low, member, inputs, masks, extents, *weights):
    """Adds the step of a layer with a workspace. It may be computed in place if it has one input."""
    object = low.program.activation(low.name(), extents)
    first, *others = inputs
    alone = first.stride is None and first.object not in [other.object for other in others]
    return low.program.call(member, *inputs, *masks, *map(whole, (object, *weights)), Scratch(member.path),
                            writes=object, method="forward_with_weights" if weights else "forward",
                            in_place=[first.object] if alone else [], also=weights)


def argument_of(mask, calls):
    """Returns the argument for a mask. A layer is causal if all of its calls are."""
    causal_layer = all(other.causal for _, other, *_ in calls)
    if mask.causal and mask.own and not causal_layer:
        raise ExportError("a layer is called with a causal mask and a padding mask, and without the first: give each "
                          "call a layer of its own")
    return mask.argument(causal_layer)


class LayerRequest(AttentionRequest):
    one_width = False


@lowers_module("MultiheadAttention")
def multihead_attention(low, module, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                        average_attn_weights=True, is_causal=False):
    if attention_options.is_needed(low, module):
        if isinstance(key_padding_mask, Value):
            low.refuse("a padding mask that depends on the input, with a mask of each head, add_bias_kv or "
                       "add_zero_attn", "give a layer without these")
        swap = not module.batch_first and low.tracer.value(low.node.args[0]).dim() == 3
        absent = Absent("the weights of attention", "only a layer without options has them")
        return attention_options.written_out(low, module, [query, key, value], swap, attn_mask, key_padding_mask,
                                             is_causal), absent
    request = functools.partial(LayerRequest, num_heads=module.num_heads)
    masks = attn_mask, key_padding_mask, is_causal
    users = [user for user in low.node.users if user.args[1:] == (1,)]
    weights = low.tracer.value(low.node)[1] if users else None
    if any(small_numbers.matter(low.tracer, user) for user in users):
        low.refuse("a step that tells small weights of attention from 0", "write attention with torch.softmax")
    if weights is not None and average_attn_weights and weights.dim() > 2 and len(weights) > 1:
        low.refuse("the mean of weights over heads in a batch", "give average_attn_weights=False")
    result = call_of_layer(low, [query, key, value], module.batch_first, masks, request,
                           attention_options.tensors_of(module), () if weights is None else (module.num_heads,))
    if weights is None:
        return result, None
    result, of_heads = result
    if average_attn_weights:
        rows = Operand(of_heads, (module.num_heads, weights.numel()), weights.numel())
        of_heads = low.call("mean", rows, extents=(weights.numel(),), name=f"{low.name()}_weights")
    return result, Value(of_heads, numbered(tuple(weights.shape)))


def activation_name(low, layer):
    function = layer.activation
    called = getattr(function, "__name__", type(function).__name__)
    of_torch = [getattr(place, called, None) for place in (torch, functional, torch.nn)]
    name = activation_of(called, getattr(function, "__dict__", {}))
    if name is None or not (function in of_torch or is_of(function, of_torch)):
        low.refuse(f"the activation {called} in a block",
                   f"take one of torch.nn.functional: {', '.join(ACTIVATION_FUNCTIONS)}")
    return name


LINEARS, NORMS = (torch.nn.Linear,), (torch.nn.LayerNorm,)
DROPOUTS = (torch.nn.Dropout, torch.nn.Identity)
PARTS = {"self_attn": (torch.nn.MultiheadAttention,), "linear1": LINEARS, "linear2": LINEARS,
         "norm1": NORMS, "norm2": NORMS,
         "dropout": DROPOUTS, "dropout1": DROPOUTS, "dropout2": DROPOUTS}
OF_DECODERS = {"multihead_attn": PARTS["self_attn"], "norm3": NORMS, "dropout3": DROPOUTS}


def is_of(module, kinds):
    """Whether a module does what one of these classes of torch.nn does."""
    return torch_class(module) in kinds and is_original(module)


def check_parts(low, layer):
    """Refuses a layer if it, or a part of it, is not what torch.nn makes there."""
    is_decoder = is_of(layer, (torch.nn.TransformerDecoderLayer,))
    if not is_decoder and not is_of(layer, (torch.nn.TransformerEncoderLayer,)):
        low.refuse(f"{type(layer).__name__} is no layer of torch.nn", "call each layer in forward")
    for name, kinds in (PARTS | OF_DECODERS if is_decoder else PARTS).items():
        if not is_of(getattr(layer, name), kinds):
            low.refuse(f"{name} is another module than torch.nn put there",
                       "write the layer as a module of its own")


def settings_of(low, layer):
    """Returns what a request needs to know of a layer."""
    check_parts(low, layer)
    if len({norm.eps for norm in layer.children() if isinstance(norm, NORMS)}) > 1:
        low.refuse("two norms with other epsilons", "give both one epsilon")
    return {"num_heads": layer.self_attn.num_heads, "norm_first": layer.norm_first, "epsilon": layer.norm1.eps,
            "activation": activation_name(low, layer)}, layer.self_attn.batch_first


def encoder_call(low, module, src, masks, request, settings):
    src, (settings, batch_first) = low.check_floats(src), settings
    tokens = src.shape[-2 if batch_first else 0]
    if low.in_c and attention.mask_of(low, *masks, tokens, tokens, True).argument(causal_layer=True):
        return written_layers.layers(low, module, src, settings, batch_first, masks)
    return call_of_layer(low, [src], batch_first, masks, functools.partial(request, **settings), module.state_dict())


@lowers_module("TransformerEncoderLayer")
def encoder_layer(low, module, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
    masks = src_mask, src_key_padding_mask, is_causal
    return encoder_call(low, module, src, masks, TransformerBlockRequest, settings_of(low, module))


def settings_of_layers(low, module):
    """Returns the same of an encoder or a decoder, whose layers are alike."""
    settings = [settings_of(low, layer) for layer in module.layers]
    if any(other != settings[0] for other in settings):
        low.refuse(f"a {type(module).__name__} whose layers differ", "call each layer")
    if module.norm is not None and (not is_of(module.norm, NORMS) or module.norm.eps != settings[0][0]["epsilon"]):
        low.refuse("a final norm of another kind or epsilon", "apply it after the last layer")
    return settings[0]


@lowers_module("TransformerEncoder")
def encoder(low, module, src, mask=None, src_key_padding_mask=None, is_causal=None):
    masks = mask, src_key_padding_mask, is_causal or False
    return encoder_call(low, module, src, masks, TransformerRequest, settings_of_layers(low, module))
