# SPDX-License-Identifier: MIT
"""Tensors of PyTorch, from torch.load or from a model in memory. The only file here that needs PyTorch."""
import ctypes
import warnings

from .refusal import Refusal, shown
from .tensors import Tensor

DTYPES = {
    "torch.float32": "F32", "torch.float16": "F16", "torch.bfloat16": "BF16", "torch.float64": "F64", "torch.bool": "BOOL",
    "torch.uint8": "U8", "torch.int8": "I8", "torch.int16": "I16", "torch.int32": "I32", "torch.int64": "I64",
}
WRAPPERS = ("state_dict", "model_state_dict", "model")


def of_torch(name, tensor):
    if str(tensor.dtype) not in DTYPES or str(tensor.layout) != "torch.strided":
        raise Refusal(f"{shown(name)} is a tensor of {tensor.dtype}, {tensor.layout}, which is not read")
    kept = tensor.detach().cpu().contiguous()
    data = ctypes.string_at(kept.data_ptr(), kept.nelement() * kept.element_size()) if kept.nelement() else b""
    return Tensor(str(name), DTYPES[str(tensor.dtype)], tuple(tensor.shape), memoryview(data))


def of_state_dict(state_dict):
    """The tensors by name; what is no tensor is left out."""
    return {str(name): of_torch(name, tensor) for name, tensor in state_dict.items() if hasattr(tensor, "data_ptr")}


def unwrapped(content):
    """The state_dict of a checkpoint that holds more than one."""
    for name in WRAPPERS:
        if isinstance(content, dict) and isinstance(content.get(name), dict):
            content = content[name]
    if not isinstance(content, dict) or not any(hasattr(value, "data_ptr") for value in content.values()):
        raise Refusal("it holds no state_dict: save model.state_dict()")
    return content


def load(path):
    try:
        import torch
    except ImportError:
        raise Refusal("PyTorch is not installed, and only it reads .pt: install it, or save the weights as .safetensors") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as problem:  # torch.load promises no kind of exception for a damaged file
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise Refusal(f"torch.load(weights_only=True) refuses it: {shown(reason)}") from None
    return of_state_dict(unwrapped(content))
