# SPDX-License-Identifier: MIT
"""What modules of torch.nn of one input become. Convolutions and attention have files of their own."""
import functools

import torch

from ..matrices import EMBEDDING
from ..parts import Part
from ..settings import ACTIVATIONS
from . import composed, functions, moves
from .checks import TRAINING, in_training
from .pools import POOLS
from .table import MODULES, SAME_PARAMETERS, call, lowers, lowers_module
from .tracing import torch_class
from .values import TOKEN, Constant, Operand, Value, numbered
from .weighted import linear, rows_of

INSTEAD = {"RNN": "take GRU or LSTM"}
AS_FUNCTIONS = {  # {module: (the function or method that computes the same, what the module gives it after the input)}
    **dict.fromkeys("Identity Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout".split(),
                    ("identity",)), "Softmax": ("softmax", "dim"),
    **{module: (function, *arguments) for function, module, arguments, *_ in ACTIVATIONS.values()},
    "Flatten": ("flatten", "start_dim", "end_dim"), "Unflatten": ("unflatten", "dim", "unflattened_size"),
    **POOLS,
    "LayerNorm": ("layer_norm", "normalized_shape", "weight", "bias", "eps"),
    "RMSNorm": ("rms_norm", "normalized_shape", "weight", "eps"),
    "GroupNorm": ("group_norm", "num_groups", "weight", "bias", "eps"),
    **dict.fromkeys(("InstanceNorm1d", "InstanceNorm2d"), (
        "instance_norm", "running_mean", "running_var", "weight", "bias", "track_running_stats", "eps")),
    **{name: (name.lower(),) for name in
       "Tanh Sigmoid Hardswish Hardsigmoid Mish Softsign SELU ReLU6 Tanhshrink".split()},
    "LogSigmoid": ("logsigmoid",), "LogSoftmax": ("log_softmax", "dim"), "Softmin": ("softmin", "dim"),
    "LeakyReLU": ("leaky_relu", "negative_slope"), "ELU": ("elu", "alpha"), "CELU": ("celu", "alpha"),
    "GLU": ("glu", "dim"),
    "Softplus": ("softplus", "beta", "threshold"), "Hardtanh": ("hardtanh", "min_val", "max_val"),
    "Softshrink": ("softshrink", "lambd"), "Hardshrink": ("hardshrink", "lambd"), "PReLU": ("prelu", "weight"),
    "Threshold": ("threshold", "threshold", "value"), "PixelShuffle": ("pixel_shuffle", "upscale_factor"),
    "ZeroPad2d": ("pad", "padding"), "ConstantPad1d": ("pad", "padding", "value"),
    "CosineSimilarity": ("cosine_similarity", "dim", "eps"), "ChannelShuffle": ("channel_shuffle", "groups"),
}


def lower(low, node, args, kwargs):
    module = low.module_of(node)
    name = torch_class(module).__name__
    if in_training(module):
        low.refuse(TRAINING[0].format(type(in_training(module)).__name__), TRAINING[1])
    if name.startswith("Parametrized"):
        low.refuse("a parametrized module", "call torch.nn.utils.parametrize.remove_parametrizations before the export")
    if name not in MODULES and name not in AS_FUNCTIONS:
        low.refuse(f"there is nothing for torch.nn.{name}",
                   INSTEAD.get(name, "write it with what the table of ports/pytorch/README.md has"))
    function = as_function if name in AS_FUNCTIONS else MODULES[name]
    return call(low, f"torch.nn.{name}", functools.partial(function, low, module), args, kwargs)


def as_function(low, module, *inputs):
    function, *settings = AS_FUNCTIONS[torch_class(module).__name__]
    arguments = {SAME_PARAMETERS.get(name, name): constant_of(low, module, name) for name in settings}
    return functions.named(low, low.node, function, inputs, arguments)


def constant_of(low, module, name):
    """Returns an attribute of a module; a tensor as a Constant."""
    value = getattr(module, name)
    return Constant(value.detach(), f"{low.node.target}.{name}") if isinstance(value, torch.Tensor) else value


@lowers_module("Linear", "NonDynamicallyQuantizableLinear")
def linear_module(low, module, input):
    weight, bias = low.folded.get(low.node.target, (module.weight, module.bias))
    return linear(low, input, weight, bias, low.node.target)


@lowers_module("Embedding")
def embedding_module(low, module, input):
    return embedding(low, input, Constant(module.weight, f"{low.node.target}.weight"), max_norm=module.max_norm)


@lowers("embedding")
def embedding(low, input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
              sparse=False):
    if input.object.element != TOKEN:
        f = composed.Functions(low)
        return f.matmul(f.one_hot(input, weight.shape[0]), weight)
    if not input.is_whole() or input.object.extents != (input.view.numel(),):
        object, flat = low.new((input.view.numel(),), input.shape, element=TOKEN)
        moves.copy(low, input.view, [input], flat)
        input = flat
    if max_norm is not None:
        low.refuse("an Embedding with max_norm", "renormalize the weight before the export")
    path = weight.name.removesuffix(".weight") + ("" if weight.name.endswith(".weight") else "_embedding")
    tree = low.members.stored({"weight": rows_of(weight.tensor, weight.name)}, EMBEDDING)
    low.members.embeddings.add(path)
    count, width = weight.shape
    part = Part(f"::tinyattn::Embedding<{count}, {width}{low.members.last_argument()}>", "tinyattn/embedding.hpp", tree,
                f"embedding of {count} tokens, {width} features", {}, set())
    member = low.members.layer(path, lambda: part)
    extents = (input.view.numel(), width)
    object = low.program.activation(low.name(), extents)
    low.program.add("static_cast<void>(", member, ".forward(", Operand(input.object, input.object.extents), ", ",
                    Operand(object, extents), "));", writes=object)
    return Value(object, numbered((*input.shape, width)))
