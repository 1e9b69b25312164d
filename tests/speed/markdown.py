# SPDX-License-Identifier: MIT
"""Tables as a README holds them."""


def print_table(lines):
    """lines: the heading, then the rows; each a list of cells."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for number, line in enumerate(lines):
        print("| " + " | ".join(word.ljust(width) for word, width in zip(line, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
