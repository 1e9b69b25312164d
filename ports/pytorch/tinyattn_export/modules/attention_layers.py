# SPDX-License-Identifier: MIT
"""MultiheadAttention and PyTorch's encoders."""
import functools

import torch
from torch.nn import functional

from ..encoders import TransformerBlockRequest, TransformerRequest
from ..errors import ExportError
from ..parts import AttentionRequest
from ..settings import ACTIVATION_FUNCTIONS, activation_of
from . import attention
from .table import lowers_module
from .tracing import is_original, torch_class
from .program import Scratch
from .values import Absent, Operand, Value, numbered
from .weighted import part_of


def call_of_layer(low, values, batch_first, masks, request, tensors):
    """Adds the step of a layer, and returns its Value. `values`: queries, keys and values, or the only input; `masks`:
    attn_mask, key_padding_mask and is_causal. `request` returns what makes the layer of `tensors`, once all calls are
    known."""
    values = [low.check_floats(value) for value in values]
    swap = not batch_first and values[0].view.dim() == 3
    views = [value.view.transpose(0, 1) if swap else value.view for value in values]
    operands = [low.batch_of(value, view) for value, view in zip(values, views)]
    lengths = [view.shape[-2] for view in views]
    mask = attention.mask_of(low, *masks, lengths[0], lengths[-1], true_is_masked=True)
    calls = low.members.calls.setdefault(low.node.target, [])
    calls.append((max(lengths), mask))
    member = low.members.layer(low.node.target, lambda: part_of(low, request(
        context_length=max(length for length, _ in calls), causal=all(mask.causal for _, mask in calls),
        weights=low.members.weights), tensors))
    inputs = operands[:1] if all(same_value(values[0], value) for value in values) else operands
    result = add_call(low, member, inputs, lambda: mask_text(mask, calls), operands[0].extents)
    view = numbered(tuple(views[0].shape))
    return Value(result, view.transpose(0, 1) if swap else view)


def same_value(a, b):
    return a.object is b.object and a.view.shape == b.view.shape and a.view.stride() == b.view.stride() and (
        a.offset == b.offset)


def add_call(low, member, inputs, mask, extents):
    """Adds the step of a layer with a workspace. It may be computed in place if it has one input."""
    object = low.program.activation(low.name(), extents)
    first, *others = inputs
    text = [part for operand in inputs for part in (operand, ", ")]
    alone = first.stride is None and first.object not in [other.object for other in others]
    return low.program.add(member, ".forward(", *text, mask, Operand(object, extents), ", ", Scratch(member.path), ");",
                           writes=object, in_place=[first.object] if alone else [])


def mask_text(mask, calls):
    """Returns the argument for a mask. A layer is causal if all of its calls are."""
    causal_layer = all(other.causal for _, other in calls)
    if mask.causal and mask.text and not causal_layer:
        raise ExportError("a layer is called with a causal mask and a padding mask, and without the first: give each "
                          "call a layer of its own")
    argument = mask.argument(causal_layer)
    return f"{argument}, " if argument else ""


@lowers_module("MultiheadAttention")
def multihead_attention(low, module, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                        average_attn_weights=True, is_causal=False):
    if module.bias_k is not None or module.add_zero_attn:
        low.refuse("add_bias_kv or add_zero_attn", "leave them False")
    if module.kdim != module.embed_dim or module.vdim != module.embed_dim:
        low.refuse("keys or values of another width", "project them to embed_dim first")
    request = functools.partial(AttentionRequest, num_heads=module.num_heads)
    masks = attn_mask, key_padding_mask, is_causal
    result = call_of_layer(low, [query, key, value], module.batch_first, masks, request, module.state_dict())
    return result, Absent("the weights of attention", "call forward_with_weights of the layer in C++")


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


def is_of(module, kinds):
    """Whether a module does what one of these classes of torch.nn does."""
    return torch_class(module) in kinds and is_original(module)


def check_parts(low, layer):
    """Refuses a layer of an encoder if it, or a part of it, is not what torch.nn makes there."""
    if not is_of(layer, (torch.nn.TransformerEncoderLayer,)):
        low.refuse(f"{type(layer).__name__} is no torch.nn.TransformerEncoderLayer", "call each layer in forward")
    for name, kinds in PARTS.items():
        if not is_of(getattr(layer, name), kinds):
            low.refuse(f"{name} is another module than torch.nn put there",
                       "write the layer as a module of its own")


def settings_of(low, layer):
    """Returns what a request needs to know of a layer."""
    check_parts(low, layer)
    if layer.norm1.eps != layer.norm2.eps:
        low.refuse("two norms with other epsilons", "give both one epsilon")
    return {"num_heads": layer.self_attn.num_heads, "norm_first": layer.norm_first, "epsilon": layer.norm1.eps,
            "activation": activation_name(low, layer)}, layer.self_attn.batch_first


def encoder_call(low, module, src, masks, request, settings):
    settings, batch_first = settings
    return call_of_layer(low, [src], batch_first, masks, functools.partial(request, **settings), module.state_dict())


@lowers_module("TransformerEncoderLayer")
def encoder_layer(low, module, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
    masks = src_mask, src_key_padding_mask, is_causal
    return encoder_call(low, module, src, masks, TransformerBlockRequest, settings_of(low, module))


@lowers_module("TransformerEncoder")
def encoder(low, module, src, mask=None, src_key_padding_mask=None, is_causal=None):
    settings = [settings_of(low, layer) for layer in module.layers]
    if any(other != settings[0] for other in settings):
        low.refuse("a TransformerEncoder whose layers differ", "call each layer")
    if module.norm is not None and (not is_of(module.norm, NORMS) or module.norm.eps != settings[0][0]["epsilon"]):
        low.refuse("a final norm of another kind or epsilon", "apply it after the encoder")
    masks = mask, src_key_padding_mask, is_causal or False
    return encoder_call(low, module, src, masks, TransformerRequest, settings[0])
