# SPDX-License-Identifier: MIT
"""The C++ of a page as a header: page_code.py PAGE HEADER."""
import pathlib
import re
import sys

page, header = map(pathlib.Path, sys.argv[1:])
blocks = re.findall(r"^```cpp\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
header.write_text("\n".join([f"// Made from {page.name}.", "#pragma once", *blocks]), encoding="utf-8")
