# SPDX-License-Identifier: MIT
"""Tensors of PyTorch, from torch.load or from a model in memory. The only file here that needs PyTorch."""
import ctypes
import pickle
import warnings

from .refusal import Refusal, shown
from .tensors import Tensor

DTYPES = {
    "torch.float32": "F32", "torch.float16": "F16", "torch.bfloat16": "BF16", "torch.float64": "F64", "torch.bool": "BOOL",
    "torch.uint8": "U8", "torch.int8": "I8", "torch.int16": "I16", "torch.int32": "I32", "torch.int64": "I64",
}
WRAPPERS = ("state_dict", "model_state_dict", "model")


def is_tensor(value):
    """No storage either, which has an address but no shape."""
    return hasattr(value, "data_ptr") and hasattr(value, "shape")


def of_torch(name, tensor):
    if str(tensor.dtype) not in DTYPES or str(tensor.layout) != "torch.strided":
        raise Refusal(f"{shown(name)} is a tensor of {tensor.dtype}, {tensor.layout}, which is not read")
    if str(tensor.device) == "meta":
        raise Refusal(f"{shown(name)} is on the meta device, where tensors have no values: load the weights into the model, then save it")
    try:
        kept = tensor.detach().cpu().contiguous()
        data = ctypes.string_at(kept.data_ptr(), kept.nelement() * kept.element_size()) if kept.nelement() else b""
    except Exception as problem:  # as for torch.load; tensors of other kinds have all names, but not all work
        raise Refusal(f"{shown(name)} cannot be read: {first_line(problem)}") from None
    return Tensor(str(name), DTYPES[str(tensor.dtype)], tuple(tensor.shape), memoryview(data))


def of_state_dict(state_dict):
    """The tensors by name; what is no tensor is left out."""
    return {str(name): of_torch(name, tensor) for name, tensor in state_dict.items() if is_tensor(tensor)}


def unwrapped(content):
    """The state_dict of a checkpoint that holds more than one."""
    for name in WRAPPERS:
        if isinstance(content, dict) and isinstance(content.get(name), dict):
            content = content[name]
    if not isinstance(content, dict) or not any(map(is_tensor, content.values())):
        raise Refusal("it holds no state_dict: save model.state_dict()")
    return content


def first_line(problem):
    return shown((str(problem).splitlines() or [type(problem).__name__])[0])


def why_not_loaded(problem):
    """In other words than PyTorch's, which advise to run what the file says."""
    if isinstance(problem, pickle.UnpicklingError) or "weights_only" in str(problem):
        return ("it is damaged, or holds more than tensors, as torch.save(model) and torch.jit.save do: where the model is, write "
                "torch.save(model.state_dict(), FILE)")
    return f"torch.load(weights_only=True) refuses it: {first_line(problem)}"


def load(path):
    try:
        import torch
    except (ImportError, OSError):
        raise Refusal("PyTorch is not installed, and only it reads .pt: install it, or save the weights as .safetensors") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as problem:  # torch.load promises no kind of exception for a damaged file
        raise Refusal(why_not_loaded(problem)) from None
    return of_state_dict(unwrapped(content))
