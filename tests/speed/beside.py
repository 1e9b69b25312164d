# SPDX-License-Identifier: MIT
"""Figures of this tree beside those of another checkout of the project, taken in one run."""
import dataclasses
import operator
import pathlib
import statistics

import building
import markdown

# What a figure may be of the other's; above, it is marked.
MOST = 1.03


@dataclasses.dataclass(frozen=True)
class Pair:
    """A figure of both trees, as it is shown; and ours as a multiple of the other's."""

    names: tuple
    ours: str
    others: str
    ratio: float


def ratio(ours, others):
    """Of samples: the median over pairs, which were taken one after the other."""
    return statistics.median(map(operator.truediv, ours, others))


def trees(folder):
    """This tree, and that in the folder if there is one."""
    if folder is None:
        return [building.ROOT]
    tree = pathlib.Path(folder).resolve()
    if not all((tree / inner / "tinyattn").is_dir() for inner in ("include", "ports/simd")):
        raise building.Failed(f"{folder} is no checkout of this project: "
                              "it lacks include/tinyattn or ports/simd/tinyattn")
    return [building.ROOT, tree]


def print_exact(figures):
    """For each tree {names: figure}. Figures of zero are left out."""
    if len(figures) == 2:
        ours, others = figures
        print_table([Pair(names, str(figure), str(others[names]), figure / others[names])
                     for names, figure in ours.items() if others[names]])


def print_table(pairs):
    """A line for each, then the names of those that are marked."""
    above = [pair for pair in pairs if pair.ratio > MOST]
    lines = [[*pair.names, pair.ours, pair.others, f"{pair.ratio:.3f}{' ✗' * (pair in above)}"]
             for pair in pairs]
    print()
    markdown.print_table([[*("" for _ in lines[0][:-3]), "ours", "beside", "ratio"], *lines])
    said = ", ".join(f"{' '.join(pair.names)} {pair.ratio:.2f}" for pair in above)
    print(f"\nMore than {MOST} times what is beside: {said or 'nothing'}.")
