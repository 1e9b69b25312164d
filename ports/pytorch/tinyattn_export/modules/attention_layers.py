# SPDX-License-Identifier: MIT
"""MultiheadAttention and PyTorch's encoders."""
import torch
from torch.nn import functional

from ..encoders import TransformerBlockRequest, TransformerRequest
from ..errors import ExportError
from ..parts import AttentionRequest
from . import attention
from .table import lowers_module
from .tracing import is_original, torch_class
from .program import Scratch
from .values import Absent, Operand, Value, numbered
from .weighted import part_of


@lowers_module("MultiheadAttention")
def multihead_attention(low, module, args):
    query, key, value = (low.check_floats(args.take(name)) for name in ("query", "key", "value"))
    padding = args.take("key_padding_mask")
    args.take("need_weights")
    mask = args.take("attn_mask")
    args.take("average_attn_weights")
    is_causal = args.take("is_causal", default=False)
    if module.bias_k is not None or module.add_zero_attn:
        low.refuse("add_bias_kv or add_zero_attn", "leave them False")
    if module.kdim != module.embed_dim or module.vdim != module.embed_dim:
        low.refuse("keys or values of another width", "project them to embed_dim first")
    swap = not module.batch_first and query.view.dim() == 3
    views = [item.view.transpose(0, 1) if swap else item.view for item in (query, key, value)]
    same = same_value(query, key) and same_value(key, value)
    operands = [low.batch_of(item, view) for item, view in zip((query, key, value), views)]
    queries, keys = views[0].shape[-2], views[1].shape[-2]
    by_mask = attention.mask_of(low, mask, padding, is_causal, queries, keys, true_is_masked=True)
    calls = calls_of(low, module)
    calls.append((max(queries, keys), by_mask))
    part = lambda: part_of(low, AttentionRequest(  # noqa: E731
        num_heads=module.num_heads, context_length=max(length for length, _ in calls),
        causal=all(mask.causal for _, mask in calls), weights=low.members.weights), module.state_dict())
    member = low.members.layer(low.node.target, part)
    result = add_call(low, member, operands[:1] if same else operands, by_mask, calls, operands[0].extents)
    view = numbered(tuple(views[0].shape))
    return Value(result, view.transpose(0, 1) if swap else view), Absent(
        "the weights of attention", "call forward_with_weights of the layer in C++")


def same_value(a, b):
    return a.object is b.object and a.view.shape == b.view.shape and a.view.stride() == b.view.stride() and (
        a.offset == b.offset)


def calls_of(low, module):
    return low.members.calls.setdefault(low.node.target, [])


def add_call(low, member, operands, mask, calls, extents, in_place=True):
    """Adds the step of a layer with a workspace."""
    object = low.program.activation(low.name(), extents)
    text = [member, ".forward("]
    for operand in operands:
        text += [operand, ", "]
    text += [lambda: mask_text(low, mask, calls), Operand(object, extents), ", ", Scratch(member.path), ");"]
    allowed = [operands[0].object] if in_place and operands[0].stride is None and (
        len(operands) == 1 or operands[0].object not in [other.object for other in operands[1:]]) else []
    return low.program.add(*text, writes=object, in_place=allowed)


def mask_text(low, mask, calls):
    """Returns the argument for a mask. A layer is causal if all of its calls are."""
    causal_layer = all(other.causal for _, other in calls)
    if mask.causal and mask.text and not causal_layer:
        raise ExportError("a layer is called with a causal mask and a padding mask, and without the first: give each "
                          "call a layer of its own")
    argument = mask.argument(causal_layer)
    return f"{argument}, " if argument else ""


ACTIVATIONS = {functional.relu: "relu", torch.relu: "relu", functional.gelu: "gelu", functional.silu: "silu",
               torch.nn.ReLU: "relu", torch.nn.GELU: "gelu", torch.nn.SiLU: "silu"}


def activation_name(low, layer):
    function = layer.activation
    name = ACTIVATIONS.get(function, ACTIVATIONS.get(type(function)))
    if name is None or isinstance(function, torch.nn.Module) and not is_original(function):
        what = getattr(function, "__name__", type(function).__name__)
        low.refuse(f"the activation {what} in a block", "take relu, gelu or silu of torch.nn.functional")
    return "gelu_tanh" if getattr(function, "approximate", "none") == "tanh" else name


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


def options_of(low, layer):
    check_parts(low, layer)
    if layer.norm1.eps != layer.norm2.eps:
        low.refuse("two norms with other epsilons", "give both one epsilon")
    return {"num_heads": layer.self_attn.num_heads, "norm_first": layer.norm_first, "epsilon": layer.norm1.eps,
            "activation": activation_name(low, layer), "batch_first": layer.self_attn.batch_first}


def encoder_call(low, value, options, masks, request, tensors):
    mask, padding, is_causal = masks
    low.check_floats(value)
    swap = not options["batch_first"] and value.view.dim() == 3
    view = value.view.transpose(0, 1) if swap else value.view
    tokens = view.shape[-2]
    by_mask = attention.mask_of(low, mask, padding, is_causal, tokens, tokens, true_is_masked=True)
    operand = low.batch_of(value, view)
    calls = calls_of(low, None)
    calls.append((tokens, by_mask))
    settings = {key: option for key, option in options.items() if key != "batch_first"}
    member = low.members.layer(low.node.target, lambda: part_of(low, request(
        **settings, context_length=max(length for length, _ in calls), causal=all(mask.causal for _, mask in calls),
        weights=low.members.weights), tensors))
    result = add_call(low, member, [operand], by_mask, calls, operand.extents)
    view = numbered(tuple(view.shape))
    return Value(result, view.transpose(0, 1) if swap else view)


@lowers_module("TransformerEncoderLayer")
def encoder_layer(low, module, args):
    value, mask, padding = args.take("src"), args.take("src_mask"), args.take("src_key_padding_mask")
    return encoder_call(low, value, options_of(low, module), (mask, padding, args.take("is_causal", default=False)),
                        TransformerBlockRequest, module.state_dict())


@lowers_module("TransformerEncoder")
def encoder(low, module, args):
    value, mask, padding = args.take("src"), args.take("mask"), args.take("src_key_padding_mask")
    is_causal = args.take("is_causal", default=False) or False
    options = [options_of(low, layer) for layer in module.layers]
    if any(option != options[0] for option in options):
        low.refuse("a TransformerEncoder whose layers differ", "call each layer")
    if module.norm is not None and (not is_of(module.norm, NORMS) or
                                    module.norm.eps != options[0]["epsilon"]):
        low.refuse("a final norm of another kind or epsilon", "apply it after the encoder")
    return encoder_call(low, value, options[0], (mask, padding, is_causal), TransformerRequest, module.state_dict())
