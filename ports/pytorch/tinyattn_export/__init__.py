# SPDX-License-Identifier: MIT
"""Trained weights as C++ constants of tinyattn's types."""
from .description import read as read_parts
from .output import write
from .parts import attention, linear, tensor
from .refusal import Refusal
from .sources import of_state_dict, read, write_safetensors

__all__ = ["Refusal", "attention", "linear", "of_state_dict", "read", "read_parts", "tensor", "write", "write_safetensors"]
