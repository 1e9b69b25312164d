# SPDX-License-Identifier: MIT
"""What modules of torch.nn of one input become. Convolutions and attention have files of their own."""
import functools

from ..matrices import EMBEDDING
from ..parts import Part
from ..settings import ACTIVATIONS
from . import functions
from .checks import TRAINING, in_training
from .functions import INSTEAD as INSTEAD_OF_FUNCTIONS
from .table import MODULES, SAME_PARAMETERS, call, lowers_module
from .tracing import torch_class
from .values import TOKEN, Operand, Value, numbered
from .weighted import linear, rows_of

INSTEAD = {
    **{module: INSTEAD_OF_FUNCTIONS[function] for module, function in (
        ("Tanh", "tanh"), ("LeakyReLU", "tanh"), ("ELU", "tanh"), ("Sigmoid", "sigmoid"),
        ("LogSoftmax", "log_softmax"), ("MaxPool1d", "max_pool1d"), ("AvgPool1d", "avg_pool1d"))},
    "GRU": "attention sees all tokens at once", "LSTM": "attention sees all tokens at once",
    "TransformerDecoderLayer": "compose it of MultiheadAttention, LayerNorm and Linear",
    "BatchNorm2d": "take BatchNorm1d on tokens", "GroupNorm": "take LayerNorm over the features of a token",
}
AS_FUNCTIONS = {  # {module: (the function or method that computes the same, what the module gives it after the input)}
    **dict.fromkeys(("Identity", "Dropout", "Dropout1d", "AlphaDropout"), ("identity",)), "Softmax": ("softmax", "dim"),
    **{module: (function, *arguments) for function, module, arguments, *_ in ACTIVATIONS.values()},
    "Flatten": ("flatten", "start_dim", "end_dim"), "Unflatten": ("unflatten", "dim", "unflattened_size"),
    "AdaptiveAvgPool1d": ("adaptive_avg_pool1d", "output_size"),
    "AdaptiveMaxPool1d": ("adaptive_max_pool1d", "output_size"),
    "LayerNorm": ("layer_norm", "normalized_shape", "weight", "bias", "eps"),
    "RMSNorm": ("rms_norm", "normalized_shape", "weight", "eps"),
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


def as_function(low, module, input):
    function, *settings = AS_FUNCTIONS[torch_class(module).__name__]
    arguments = {SAME_PARAMETERS.get(name, name): getattr(module, name) for name in settings}
    return functions.named(low, low.node, function, [input], arguments)


@lowers_module("Linear", "NonDynamicallyQuantizableLinear")
def linear_module(low, module, input):
    weight, bias = low.folded.get(low.node.target, (module.weight, module.bias))
    return linear(low, input, weight, bias, low.node.target)


@lowers_module("Embedding")
def embedding(low, module, input):
    if not isinstance(input, Value) or input.object.element != TOKEN or not input.is_whole():
        low.refuse("an Embedding of what is not the input", "embed the tokens of the input")
    if module.max_norm is not None:
        low.refuse("an Embedding with max_norm", "renormalize the weight before the export")
    tree = low.members.stored({"weight": rows_of(module.weight, f"{low.node.target}.weight")}, EMBEDDING)
    low.members.embeddings.add(low.node.target)
    count, width = module.weight.shape
    part = Part(f"::tinyattn::Embedding<{count}, {width}{low.members.last_argument()}>", "tinyattn/embedding.hpp", tree,
                f"embedding of {count} tokens, {width} features", {}, set())
    member = low.members.layer(low.node.target, lambda: part)
    extents = (input.view.numel(), width)
    object = low.program.activation(low.name(), extents)
    low.program.add("static_cast<void>(", member, ".forward(", Operand(input.object, input.object.extents), ", ",
                    Operand(object, extents), "));", writes=object)
    return Value(object, numbered((*input.shape, width)))
