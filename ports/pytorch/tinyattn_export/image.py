# SPDX-License-Identifier: MIT
"""The binary: the parts as they lie in the memory of a little-endian machine, float32 one after another without a gap."""
import array
import sys


def of(parts):
    values = array.array("f")
    for part in parts.values():
        for row in part.rows():
            values.extend(row)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()
