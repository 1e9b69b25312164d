#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns what a board has saved into a state_dict of PyTorch, bit for bit. BOARD.bin is a dump of one slot of its flash,
or of both: the newest whole model counts.

    from_board.py BOARD.bin [-o FILE.pt|FILE.safetensors]
    from_board.py BOARD.bin [-o FILE] --like WEIGHTS [the arguments that export.py had after WEIGHTS]

The names are those of the members in C++: a model whose parts are a Linear and a LayerNorm loads into
torch.nn.Sequential(Linear, LayerNorm). With --like they are those of the checkpoint that the model was exported from.
"""
import sys

if sys.version_info < (3, 9):
    sys.exit("from_board.py needs Python 3.9 or newer")

from tinyattn_export.board_command import main
from tinyattn_export.command_line import streams

if __name__ == "__main__":
    with streams():
        sys.exit(main(sys.argv[1:]))
