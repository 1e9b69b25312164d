# SPDX-License-Identifier: MIT
"""Turns trained weights into a C++ header of constants. This is the door: of `import export`, and of both commands."""
import sys

if sys.version_info < (3, 9):
    sys.exit("the exporter of tinyattn needs Python 3.9 or newer")

from .board_command import main as from_board_command
from .c_source import write as write_c
from .checkpoints import of_state_dict, read, write_safetensors
from .command_line import as_command, main as export_command
from .convolutions import Conv1dRequest as conv1d
from .description import read_parts
from .desk import language_model, load
from .encoders import TransformerBlockRequest as transformer_block, TransformerRequest as transformer
from .errors import ExportError
from .header import write
from .language_models import LanguageModelRequest as language_model_part
from .modules import module
from .parts import AttentionRequest as attention, LinearRequest as linear, TensorRequest as tensor
from .tokenizer_files import read_tokenizer

Refusal = ExportError  # the name of ExportError until 0.2

__all__ = ["ExportError", "Refusal", "as_command", "attention", "conv1d", "export_command", "from_board_command",
           "language_model", "language_model_part", "linear", "load", "module", "of_state_dict", "read", "read_parts",
           "read_tokenizer", "tensor", "transformer", "transformer_block", "write", "write_c", "write_safetensors"]
