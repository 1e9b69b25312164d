# SPDX-License-Identifier: MIT
"""What a layer takes of a firmware, measured as tests/footprint measures it and noted in its figures.txt."""
import itertools
import re
import sys

import building
import cores  # noqa: F401  makes the modules of tests/footprint known

import bench as footprint  # noqa: E402
import boards  # noqa: E402
import costs  # noqa: E402

sys.path.insert(0, str(building.ROOT / "tests" / "compiled"))
import sizes as images  # noqa: E402


def measure(pattern, tree):
    """What tests/footprint measures, for the layers and boards whose names match: "T1 mps2-an386"."""
    folder = building.empty_folder("size")
    cases = [(board, layer) for board in boards.names() for layer in footprint.LAYERS if re.search(pattern, f"{layer} {board}")]
    benches = {name: footprint.Bench(name, folder, tree) for name in dict.fromkeys(board for board, _ in cases)}
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


def measure_images(tree):
    """{(level, way, how many usual layers): bytes of a whole firmware for a Cortex-M4F}"""
    return images.measure_all(tree, [0, *images.COUNTS])


def image_table(sizes):
    lines = {}
    for (level, way, _), size in sizes.items():
        lines.setdefault((level, way), [level, way]).append(str(size))
    return [["layers", "", "0", *map(str, images.COUNTS)], *lines.values()]


def numbers(sizes, image_sizes):
    """{names: bytes} of both; of an image, what the layers add to one without any."""
    of_layers = {(*case, what): size for case, cost in sizes.items() for what, size in cost.items()}
    added = {("M4F", f"layers: {count}", level, way): size - image_sizes[level, way, 0]
             for (level, way, count), size in image_sizes.items()}
    return {**of_layers, **added}


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
