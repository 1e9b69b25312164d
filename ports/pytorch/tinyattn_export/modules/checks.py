# SPDX-License-Identifier: MIT
"""Checks a module and its example before it is traced."""
import torch

from ..desk import MOST_TOKENS
from ..errors import ExportError, printable


def in_training(net):
    """Returns the first module in a module that draws random numbers or takes the mean of a batch, or None."""
    def differs(module):
        drops = isinstance(module, torch.nn.modules.dropout._DropoutNd) and module.p > 0
        drops_weights = isinstance(module, (torch.nn.MultiheadAttention, torch.nn.RNNBase)) and module.dropout > 0
        return drops or drops_weights or isinstance(module, torch.nn.modules.batchnorm._BatchNorm)
    return next((module for module in net.modules() if module.training and differs(module)), None)


def check_module(net):
    if not isinstance(net, torch.nn.Module):
        raise ExportError(f"net is a {type(net).__name__}, and must be a torch.nn.Module")
    for path, module in net.named_modules():
        if isinstance(module, torch.jit.ScriptModule):
            raise ExportError(f"{printable(path or 'net')} is of torch.jit, which is not traced: give the module that "
                              "it was made of")
    for path, tensor in [*net.named_parameters(), *net.named_buffers()]:
        if tensor.device.type == "meta":
            raise ExportError(f"{printable(path)} is on the meta device, where tensors have no values: load the "
                              "weights into the module first")
        if tensor.dtype.is_floating_point and tensor.dtype != torch.float32:
            raise ExportError(f"{printable(path)} is of {tensor.dtype}: call .float() of the module, since all steps "
                              "are of float32")
        if tensor.layout != torch.strided:
            raise ExportError(f"{printable(path)} is sparse: give {printable(path)}.to_dense()")
        if tensor.isnan().any():
            raise ExportError(f"{printable(path)} holds NaN: was it filled, and did training diverge?")


def has_tokens(example):
    return example.dtype in (torch.int64, torch.int32)


def tensors_of(example):
    """Returns the inputs of a call as a tuple: an example is a tensor, or a tuple of tensors, or of tuples of these."""
    if isinstance(example, (list, dict)) or example == ():
        raise ExportError("example must be one tensor, or a tuple of tensors if forward has several inputs")
    return example if isinstance(example, tuple) else (example,)


def batch_axes(example):
    """Returns which axes may be a batch of one: the first, or the second, where tokens or layers come first."""
    rank = 2 if has_tokens(example) else 3
    return [axis for axis in (0, 1) if example.shape[axis:axis + 1] == (1,) and example.dim() >= (rank if axis else 2)]


def check_example(example):
    """Returns the extents of an input in C++: without a batch of one."""
    if not isinstance(example, torch.Tensor) or example.dim() == 0 or 0 in example.shape:
        raise ExportError("example must be one tensor that is not empty, or a tuple of such tensors")
    if not has_tokens(example) and example.dtype not in (torch.float32, torch.bool):
        raise ExportError(f"example is of {example.dtype}, and must be of float32 or bool, or of int64 for tokens")
    if has_tokens(example) and (example.min() < 0 or example.max() >= MOST_TOKENS):
        raise ExportError(f"example has a token that is not from 0 to {MOST_TOKENS - 1}")
    if not torch.isfinite(example).all():
        raise ExportError("example has a number that is not finite")
    batch, *rest = example.shape
    axes = batch_axes(example)
    if not axes and len(rest) > (0 if has_tokens(example) else 1):
        raise ExportError(f"example is a batch of {batch}: give one element, example[:1]; where tokens come "
                          "first, example[:, :1]")
    return tuple(extent for axis, extent in enumerate(example.shape) if axis not in axes[:1])
