# SPDX-License-Identifier: MIT
"""The C++ of a page as a file to include: page_code.py PAGE FILE."""
import pathlib
import re
import sys

page, file = map(pathlib.Path, sys.argv[1:])
blocks = re.findall(r"^```cpp\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
file.write_text("\n".join([f"// Made from {page.name}.", *blocks]), encoding="utf-8")
