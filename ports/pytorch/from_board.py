#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns what a board has saved into a state_dict of PyTorch, bit for bit. BOARD.bin is a dump of one slot of its flash,
or of both: the newest whole model counts.

    from_board.py BOARD.bin [-o FILE.pt|FILE.safetensors]
    from_board.py BOARD.bin [-o FILE] --like WEIGHTS [the arguments that export.py had after WEIGHTS]

The names are those of the members in C++: a model whose parts are a Linear and a LayerNorm loads into
torch.nn.Sequential(Linear, LayerNorm). With --like they are those of the checkpoint that the model was exported from.
"""
from tinyattn_export import as_command, from_board_command

if __name__ == "__main__":
    as_command(from_board_command)
