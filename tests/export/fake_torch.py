# SPDX-License-Identifier: MIT
"""What the exporter uses of PyTorch, for where there is none: `import torch` finds this module once it is imported."""
import ctypes
import sys

CONTENTS = {}  # what load gives for a path, or the exception that it raises

sys.modules["torch"] = sys.modules[__name__]


class Tensor:
    """Of float32, or of what is no type at all; on no device it has values."""

    def __init__(self, shape, data=b"", dtype="torch.float32", layout="torch.strided", device="cpu"):
        self.shape, self.dtype, self.layout, self.device = shape, dtype, layout, device
        self.kept = ctypes.create_string_buffer(data, max(len(data), 1))
        self.size = len(data)

    def cpu(self):
        if self.device == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        return self

    def detach(self):
        return self

    contiguous = detach

    def data_ptr(self):
        return ctypes.addressof(self.kept)

    def nelement(self):
        return self.size // 4

    def element_size(self):
        return 4


def load(path, map_location, weights_only):
    content = CONTENTS[path]
    if isinstance(content, Exception):
        raise content
    return content if weights_only and map_location == "cpu" else None
