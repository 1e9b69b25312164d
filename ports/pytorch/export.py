#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns trained weights into a C++ header of constant tinyattn layers. In Python, `import export` has the same
as functions.

    export.py WEIGHTS -o HEADER --num-heads N --context-length N (--causal | --no-causal) [--prefix PREFIX]
    export.py WEIGHTS -o HEADER --language-model --config config.json [--context-length N] [--prefix PREFIX]
"""
from tinyattn_export import *
from tinyattn_export import as_command, export_command

if __name__ == "__main__":
    as_command(export_command)
