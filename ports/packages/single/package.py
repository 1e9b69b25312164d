# SPDX-License-Identifier: MIT
"""tinyattn-single.hpp: all headers and all ports in one file."""
from . import amalgamate


def make(folder):
    (folder / "tinyattn-single.hpp").write_text(amalgamate.single(), encoding="utf-8")
