#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns trained weights into a C++ header of constant tinyattn layers. In Python, `import export` has the same
as functions.

    export.py WEIGHTS -o HEADER --num-heads N --context-length N (--causal | --no-causal) [--prefix PREFIX]
    export.py WEIGHTS -o HEADER --language-model --config config.json [--context-length N] [--prefix PREFIX]
"""
import sys

if sys.version_info < (3, 9):
    sys.exit("export.py needs Python 3.9 or newer")

from tinyattn_export import *
from tinyattn_export.command_line import main, streams

if __name__ == "__main__":
    with streams():
        sys.exit(main(sys.argv[1:]))
