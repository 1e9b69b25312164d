# SPDX-License-Identifier: MIT
"""Encoders and decoders as their parts, for C, which has encoders without masks only."""
from . import attention_options, weighted
from .table import Functions
from .values import Constant, Value


def norm(low, module, value):
    weight, bias = (tensor if tensor is None else Constant(tensor, f"{low.node.target}.norm.{name}")
                    for name, tensor in (("weight", module.weight), ("bias", getattr(module, "bias", None))))
    return weighted.norm(low, value, module.normalized_shape, weight, bias, module.eps)


def layer(low, module, x, activation, swap, masks, *source):
    """Computes a layer. A decoder also has a source, and its masks."""
    def attend(attention, query, key, masks):
        return attention_options.written_out(low, attention, [query, key, key], swap, *masks)

    def feed_forward(value):
        up, down = ((linear.weight, linear.bias, f"{low.node.target}.{name}")
                    for name, linear in (("linear1", module.linear1), ("linear2", module.linear2)))
        return weighted.linear(low, low.elementwise(weighted.linear(low, value, *up), activation), *down)
    parts = [lambda value: attend(module.self_attn, value, value, masks), feed_forward]
    if source:
        parts.insert(1, lambda value: attend(module.multihead_attn, value, *source))
    f = Functions(low)
    for i, part in enumerate(parts, 1):
        own = getattr(module, f"norm{i}")
        x = f.add(x, part(norm(low, own, x))) if module.norm_first else norm(low, own, f.add(x, part(x)))
    return x


def layers(low, module, x, settings, batch_first, masks, *source):
    """Computes a layer, or several and a norm."""
    if low.members.weights == "int8":  # activations of the layer are in integers
        low.refuse(f"in C there is nothing for {'a decoder of int8' if source else 'a mask, other than causal, of an int8 encoder'}",
                   "write a header of C++, NAME.hpp")
    if any(isinstance(mask, Value) for given in (masks, *source[1:]) for mask in given):
        low.refuse("in C there is nothing for a mask that depends on the input", "write a header of C++, NAME.hpp")
    for each in getattr(module, "layers", [module]):
        x = layer(low, each, x, settings["activation"], not batch_first and len(x.shape) == 3, masks, *source)
    final = getattr(module, "norm", None)
    return x if final is None else norm(low, final, x)
