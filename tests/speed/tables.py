# SPDX-License-Identifier: MIT
"""Figures: {(row, column, whose): samples}, where whose is `ours` or `beside`. Taken in turns, and printed as tables in
Markdown."""
import operator
import random
import statistics

from tests.support.processes import call

MOST = 1.03  # what a figure may be of the other's; above, it is marked


def compilers(names):
    """With their releases: another release makes other code."""
    return ", ".join(f"{name} {call([name, '-dumpfullversion', '-dumpversion']).strip()}"
                     for name in dict.fromkeys(names))


def take_turns(tasks, rounds):
    """tasks: {(row, column, whose): function that takes a sample}. Those of a row follow each other, so that a
    disturbance meets all."""
    samples = {key: [] for key in tasks}
    rows = list(dict.fromkeys(row for row, _, _ in tasks))
    for _ in range(rounds):
        random.shuffle(rows)
        for key in sorted(random.sample(list(tasks), len(tasks)), key=lambda key: rows.index(key[0])):
            samples[key].append(tasks[key]())
    return samples


def print_table(heading, lines):
    """Of cells, each a string."""
    widths = [max(map(len, cells)) for cells in zip(heading, *lines)]
    for line in (heading, ["-" * width for width in widths], *lines):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")


def print_ours(samples, cell):
    """cell: what to show of (row, column, samples)."""
    shown = {(row, column): cell(row, column, its) for (row, column, whose), its in samples.items() if whose == "ours"}
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*shown))
    print_table(["", *columns], [[row, *(shown.get((row, column), "") for column in columns)] for row in rows])


def print_beside(samples, unit=""):
    """A ratio is the median over pairs of samples, which were taken one after the other."""
    pairs = {(row, column): (samples[row, column, "ours"], beside)
             for (row, column, whose), beside in samples.items() if whose == "beside"}
    if not pairs:
        return
    ratios = {names: statistics.median(map(operator.truediv, *pair)) for names, pair in pairs.items()}
    print()
    print_table(["", "", "ours", "beside", "ratio"], [
        [*names, *(f"{statistics.median(its):.7g}{unit}" for its in pairs[names]),
         f"{ratio:.3f}{' ✗' * (ratio > MOST)}"]
        for names, ratio in ratios.items()])
    above = [f"{row} {column} {ratio:.2f}" for (row, column), ratio in ratios.items() if ratio > MOST]
    print(f"\nMore than {MOST} times what is beside: {', '.join(above) or 'nothing'}.")
