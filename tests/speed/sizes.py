# SPDX-License-Identifier: MIT
"""What a layer takes of a firmware, measured as tests/footprint measures it and noted in its figures.txt."""
import itertools
import re

import building
import cores  # noqa: F401  makes the modules of tests/footprint known

import bench as footprint  # noqa: E402
import boards  # noqa: E402
import costs  # noqa: E402


def measure(pattern):
    """What tests/footprint measures, for the layers and boards whose names match: "T1 mps2-an386"."""
    folder = building.empty_folder("size")
    cases = [(board, layer) for board in boards.names() for layer in footprint.LAYERS if re.search(pattern, f"{layer} {board}")]
    benches = {name: footprint.Bench(name, folder) for name in dict.fromkeys(board for board, _ in cases)}
    all_cases = [(board, layer, level) for (board, layer), level in itertools.product(cases, footprint.LEVELS)]
    all_measured = building.in_parallel(lambda case: benches[case[0]].measure(*case[1:]), all_cases)
    problems = [f"{' '.join(measured.case)}: {measured.problem}" for measured in all_measured if measured.problem]
    if problems:
        raise building.Failed("\n".join(problems))
    return {measured.case: measured.cost for measured in all_measured}


def cell(size, most):
    return str(size) if most is None else f"{size} {'≤' if size <= most else '>'} {most}"


def table(sizes):
    lines = [["", "", "", "code and constants", "scratch", "stack", "variables"]]
    for case, cost in sizes.items():
        promised = costs.PROMISES.get(case)
        lines.append([*case, *(cell(size, promised and getattr(promised, what)) for what, size in cost.items())])
    return lines


def report(sizes, rewrite):
    """Prints what changed against the figures of tests/footprint; then they are today's, if they shall be."""
    known_with, figures = costs.read_figures()
    compiler = building.version("arm-none-eabi-g++").split()[1].split(".")[0]
    if known_with == compiler:
        found = [change for case, cost in sizes.items() for change in costs.changes(case, cost, figures)]
        print("\n".join(["Changed since the figures were noted:", *(f"  {line}" for line in found)]) if found else "As the figures say.")
    else:
        print(f"The figures are of GCC {known_with}, this is GCC {compiler}: nothing to compare with.")
    if rewrite:
        costs.write_figures(compiler, {**(figures if known_with == compiler else {}), **sizes})
