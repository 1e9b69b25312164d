# SPDX-License-Identifier: MIT
"""Every layout in data/: what the exported layer computes is what PyTorch computed.

    known.py -- COMPILER ARGUMENT...
"""
import functools
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import layers
import tap

DATA = layers.ROOT / "tests" / "export" / "data"
cases = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
compiler = sys.argv[sys.argv.index("--") + 1:]
tap.report([(name, functools.partial(layers.check, DATA / f"{name}.safetensors", case, compiler)) for name, case in cases.items()])
