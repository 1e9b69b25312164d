# SPDX-License-Identifier: MIT
"""Writes the C++ of a page to a file that can be included: page_code.py PAGE FILE."""
import pathlib
import re
import sys

page, file = map(pathlib.Path, sys.argv[1:])
blocks = re.findall(r"^```cpp\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
file.write_text("\n".join([f"// Made from {page.name}.", *blocks]), encoding="utf-8")
