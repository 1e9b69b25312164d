# SPDX-License-Identifier: MIT
"""The pages of evidence, and their tables between two comments."""
import difflib
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
MARK = r"(<!-- made: {} -->\n\n)(.*?)(\n*<!-- end -->)"


class Missing(Exception):
    """This machine lacks a tool; the message says which."""


def mark(name):
    return re.compile(MARK.format(name), re.DOTALL)


def pages():
    """Returns {part: its page} of all parts."""
    return {found[1]: page for page in sorted(HERE.glob("*.md"))
            for found in re.finditer(r"^<!-- made: (\w+) -->$", page.read_text(encoding="utf-8"), re.MULTILINE)}


def table(header, rows):
    """Returns a table in Markdown. A header that begins with a space is of numbers, which stand to the right."""
    line = ["---:" if name.startswith(" ") else "---" for name in header]
    cells = [[name.strip() for name in header], line, *rows]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in cells)


def difference(name, made):
    """Returns the lines in which a table differs from that of the page."""
    committed = mark(name).search(pages()[name].read_text(encoding="utf-8"))[2]
    lines = difflib.unified_diff(committed.splitlines(), made.splitlines(), "committed", "made", lineterm="", n=0)
    return list(lines)


def write(name, made):
    """Replaces a table. Returns its page."""
    page = pages()[name]
    text = mark(name).sub(lambda found: f"{found[1]}{made}\n\n<!-- end -->", page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")
    return page.name
