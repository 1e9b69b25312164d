# SPDX-License-Identifier: MIT
"""MultiheadAttention with options that the layer of the library has not: it is written out, as projections, scaled
dot-product attention for each head, and a projection."""
import math

import torch
from torch.nn import functional

from ..layouts import INPUTS
from . import attention
from .table import named
from .moves import move
from .values import Constant, Value
from .weighted import linear


def is_needed(low, module):
    """Whether a layer has biases or zeros behind keys and values, in any of its calls a mask for each head, or in C
    inputs of other widths."""
    calls = [node for node in low.tracer.graph.nodes if node.op == "call_module" and node.target == low.node.target]
    masks = [low.tracer.value(mask) if isinstance(mask, torch.fx.Node) else mask
             for mask in (node.kwargs.get("attn_mask", (*node.args, *[None] * 6)[5]) for node in calls)]
    is_in_c = low.in_c and {module.kdim, module.vdim} != {module.embed_dim}
    return is_in_c or module.bias_k is not None or module.add_zero_attn or any(
        mask.dim() > 2 and not (mask == mask[:1]).all() for mask in masks if isinstance(mask, torch.Tensor))


def projections(module):
    """Returns (query, key or value, its weight, its bias or None) for each."""
    bias = module.in_proj_bias
    weights = module.in_proj_weight.chunk(3) if module._qkv_same_embed_dim else (
        module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    return list(zip(INPUTS, weights, (None,) * 3 if bias is None else bias.chunk(3)))


def tensors_of(module):
    """Returns the state_dict of a layer, with a Linear for each of query, key and value if their inputs differ."""
    if module._qkv_same_embed_dim:
        return module.state_dict()
    own = {name: tensor for name, tensor in module.state_dict().items() if name.startswith("out_proj.")}
    for role, weight, bias in projections(module):
        own |= {f"{role}.weight": weight.detach()} | ({} if bias is None else {f"{role}.bias": bias.detach()})
    return own


def written_out(low, module, inputs, swap, mask, padding, is_causal):
    """`inputs`: queries, keys and values, whose tokens come first if `swap`."""
    path, name = low.node.target, low.name()
    inputs = [Value(value.object, value.view.transpose(0, 1) if swap else value.view)
              for value in map(low.check_floats, inputs)]
    projected = []
    for value, (role, *parameters) in zip(inputs, projections(module)):
        low.title = f"{name}_{role}"
        projected.append(linear(low, value, *parameters, f"{path}.{role}"))
    query, key, value = projected
    more = {"bias_kv": (module.bias_k, module.bias_v)} if module.bias_k is not None else {}
    more |= {"zeros": (torch.zeros(1, 1, module.embed_dim),) * 2} if module.add_zero_attn else {}
    for name, rows in more.items():
        key, value = (named(low, low.node, "cat", [[to, Constant(row.detach().reshape(-1).expand(
            *to.shape[:-2], 1, -1), f"{path}_{name}")]], {"dim": -2}) for to, row in zip((key, value), rows))
    query, key, value = (Value(each.object, each.view.unflatten(-1, (module.num_heads, -1)).transpose(-2, -3))
                         for each in (query, key, value))
    low.title = f"{name}_context"
    mask = mask_of_all(low, mask, padding, query, key.shape[-2], len(more))
    context = attention.scaled_dot_product(low, query, key, value, mask, is_causal and not mask, None)
    context = move(low, "flatten", Value(context.object, context.view.transpose(-2, -3)), (-2,), {})
    low.title = name
    out = linear(low, context, module.out_proj.weight, module.out_proj.bias, f"{path}.out_proj")
    return Value(out.object, out.view.transpose(0, 1) if swap else out.view)


def mask_of_all(low, mask, padding, query, keys, more):
    """Returns the sum of both masks, for keys of which the last ones, `more`, are not masked."""
    if not mask and not padding:
        return None
    queries, count = query.shape[-2], math.prod(query.shape[:-2])
    full = torch.zeros(queries, keys - more)
    if mask:
        full = full + attention.additive(low, mask.tensor, False, queries, keys - more, count)
    if padding:
        full = full + attention.additive(low, attention.padding_row(low, padding.tensor), False, queries, keys - more)
    full = functional.pad(full, (0, more))
    return Constant(full.view(*query.shape[:-2], queries, keys) if full.dim() > 2 else full, "mask")
