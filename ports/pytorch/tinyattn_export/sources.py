# SPDX-License-Identifier: MIT
"""Where weights come from: a .safetensors, a file of torch.save, or a state_dict in memory."""
import hashlib
import mmap
import os
import pathlib

from . import safetensors, torch_tensors, whole_files
from .refusal import Refusal, reason, shown
from .tensors import Weights

OF_TORCH = {".pt", ".pth", ".bin", ".ckpt"}


def mapped(path):
    """The bytes of a file, in memory only as far as they are looked at."""
    try:
        if not path.is_file():
            raise Refusal("it is not a file" if path.exists() else "there is no such file")
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.fstat(file.fileno()).st_size else b""
    except (OSError, ValueError) as problem:
        raise Refusal(reason(problem)) from None


def read(path):
    """A file's tensors. A Refusal if it is not what it should be."""
    path = pathlib.Path(path)
    try:
        data = mapped(path)
        tensors = torch_tensors.load(path) if path.suffix in OF_TORCH else safetensors.parse(data)
    except Refusal as problem:
        raise Refusal(f"cannot read {shown(path)}: {problem}") from None
    return Weights(path.name, hashlib.sha256(data).hexdigest(), tensors)


def of_state_dict(state_dict, source):
    """The same without a file; the hash is of what write_safetensors would write."""
    tensors = torch_tensors.of_state_dict(state_dict)
    return Weights(source, hashlib.sha256(safetensors.compose(tensors.values())).hexdigest(), tensors)


def write_safetensors(path, state_dict):
    whole_files.replace({path: safetensors.compose(torch_tensors.of_state_dict(state_dict).values())})
