# SPDX-License-Identifier: MIT
"""Tables in Markdown, of figures and of those beside them."""
import operator
import statistics

import building

MOST = 1.03  # what a figure may be of the other's; above, it is marked


def compilers(*names):
    """Their names and releases: another release makes other code."""
    return ", ".join(f"{name} {building.call([name, '-dumpfullversion', '-dumpversion']).strip()}" for name in dict.fromkeys(names))


def print_table(heading, lines):
    """Of cells, each a string."""
    widths = [max(map(len, cells)) for cells in zip(heading, *lines)]
    for line in (heading, ["-" * width for width in widths], *lines):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")


def print_beside(figures, unit=""):
    """figures: of each tree, {names: samples}. A ratio is the median over pairs of samples, which were taken one after the other.
    There is none to zero."""
    if len(figures) < 2 or not figures[0]:
        return
    ours, others = figures
    ratios = {names: statistics.median(map(operator.truediv, ours[names], others[names])) for names in ours if all(others[names])}
    lines = [[*names, *(f"{statistics.median(samples[names]):.7g}{unit}" for samples in figures), f"{ratio:.3f}{' ✗' * (ratio > MOST)}"]
             for names, ratio in ratios.items()]
    print()
    print_table([*("" for _ in lines[0][3:]), "ours", "beside", "ratio"], lines)
    above = [f"{' '.join(names)} {ratio:.2f}" for names, ratio in ratios.items() if ratio > MOST]
    print(f"\nMore than {MOST} times what is beside: {', '.join(above) or 'nothing'}.")
