# SPDX-License-Identifier: MIT
"""Takes samples of all figures in turns, and prints them as tables in Markdown. samples: {(row, column, whose): list},
where whose is `ours` or `beside`, for another checkout."""
import operator
import random
import statistics

from tests.support.processes import call

MOST = 1.03  # a larger ratio of `ours` to `beside` is marked


def compilers(names):
    """Returns names of compilers with their releases, since another release generates other code."""
    return ", ".join(f"{name} {call([name, '-dumpfullversion', '-dumpversion']).strip()}"
                     for name in dict.fromkeys(names))


def take_turns(tasks, rounds):
    """Takes `rounds` samples by each of `tasks`, {(row, column, whose): function}. Samples of a row follow each other,
    so that a disturbance of the machine affects all of them."""
    samples = {key: [] for key in tasks}
    rows = list(dict.fromkeys(row for row, _, _ in tasks))
    for _ in range(rounds):
        random.shuffle(rows)
        for key in sorted(random.sample(list(tasks), len(tasks)), key=lambda key: rows.index(key[0])):
            samples[key].append(tasks[key]())
    return samples


def print_table(heading, lines):
    """Prints a table. Its lines are lists of cells, which are strings."""
    widths = [max(map(len, cells)) for cells in zip(heading, *lines)]
    for line in (heading, ["-" * width for width in widths], *lines):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")


def print_ours(samples, cell):
    """Prints our figures. `cell`: a function from row, column and samples to a text."""
    shown = {(row, column): cell(row, column, its) for (row, column, whose), its in samples.items() if whose == "ours"}
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*shown))
    print_table(["", *columns], [[row, *(shown.get((row, column), "") for column in columns)] for row in rows])


def print_beside(samples, unit=""):
    """Prints the ratios of our figures to another checkout's: medians over pairs of samples of the same
    round."""
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
