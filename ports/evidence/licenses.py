# SPDX-License-Identifier: MIT
"""The license of each file of this tree: its own line, or one of licenses.toml."""
import fnmatch
import re
import tomllib

from ports.packages import tree

from . import parts

LINE = re.compile(rb"SPDX-License-Identifier: ([\w.+-]+(?: (?:AND|OR|WITH) [\w.+-]+)*)")
PATTERNS = tomllib.loads(parts.HERE.joinpath("licenses.toml").read_text(encoding="utf-8"))


def of(path):
    """Returns a file's license and origin; empty strings if nothing says them."""
    line = LINE.search((tree.ROOT / path).read_bytes())
    said = next((said for pattern, said in reversed(PATTERNS.items()) if fnmatch.fnmatchcase(path, pattern)), {})
    return line[1].decode() if line else said.get("license", ""), said.get("origin", "")


def problems():
    """Returns the files whose license nothing says, and patterns of licenses.toml that match no file."""
    files = tree.tracked(".")
    return [*(f"{path}: neither it nor licenses.toml says its license" for path in files if not of(path)[0]),
            *(f"licenses.toml: no file is {pattern}" for pattern in PATTERNS if not fnmatch.filter(files, pattern))]
