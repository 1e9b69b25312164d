# SPDX-License-Identifier: MIT
"""What pages show, as it is typed: their blocks, and whether a line that is printed agrees with one of a page."""
import re

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def commands(page, kinds):
    """Yields (a block of one of these kinds, the lines that it must print)."""
    of_page = [*blocks(page), ("", "")]
    for (kind, text), (next_kind, printed) in zip(of_page, of_page[1:]):
        if kind in kinds:
            yield text, printed.splitlines() if next_kind == "text" else []


def is_as(found, wanted, near):
    """Tells whether a number agrees with the page: a size to the share `near`, an error to a digit."""
    if "." in wanted:
        return float(found) <= 10 * float(wanted)
    return abs(int(found) - int(wanted)) <= near * int(wanted)


def words(line):
    return " ".join(NUMBER.sub("#", line).split())


def is_line(found, wanted, near):
    """Tells whether a line agrees with one of the page: its words exactly, its numbers nearly."""
    numbers = zip(NUMBER.findall(found), NUMBER.findall(wanted))
    return words(found) == words(wanted) and all(is_as(*pair, near) for pair in numbers)


def lacks(output, wanted, near):
    """Returns the first line of the page that is not in the output, in this order."""
    lines = iter(output.splitlines())
    return next((line for line in wanted if not any(is_line(found, line, near) for found in lines)), "")
