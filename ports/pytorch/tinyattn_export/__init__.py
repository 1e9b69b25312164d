# SPDX-License-Identifier: MIT
"""Turns trained weights into a C++ header of constants."""
from .c_source import write as write_c
from .checkpoints import of_state_dict, read, write_safetensors
from .convolutions import Conv1dRequest as conv1d
from .description import read_parts
from .encoders import TransformerBlockRequest as transformer_block, TransformerRequest as transformer
from .errors import ExportError
from .header import write
from .language_models import LanguageModelRequest as language_model
from .modules import module
from .parts import AttentionRequest as attention, LinearRequest as linear, TensorRequest as tensor
from .tokenizer_files import read_tokenizer

Refusal = ExportError  # the name of ExportError until 0.2

__all__ = ["ExportError", "Refusal", "attention", "conv1d", "language_model", "linear", "module", "of_state_dict",
           "read", "read_parts", "read_tokenizer", "tensor", "transformer", "transformer_block", "write", "write_c",
           "write_safetensors"]
