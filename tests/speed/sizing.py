# SPDX-License-Identifier: MIT
"""What a layer takes of a firmware, as tests/footprint and tests/compiled/sizes.py measure it and hold it to its limits."""
import re
import sys

import building
import tables
from rows import FOLDER

sys.path[:0] = [str(building.ROOT / "tests" / folder) for folder in ("footprint", "compiled")]
import measuring  # noqa: E402
import sizes  # noqa: E402


def measure_layers(pattern, tree):
    """{(board, layer, level): cost} for those whose names match: "mps2-an386 T1"."""
    build = building.Build(FOLDER / "size")
    layers = [measuring.Layer(build, case, tree) for case in measuring.CASES if re.search(pattern, " ".join(case))]
    build.demand()
    return {layer.case: layer.cost() for layer in layers}


def bench(options):
    layers = [measure_layers(options.filter, tree) for tree in options.trees]
    images = [sizes.measure_all(tree, [0, *sizes.COUNTS]) for tree in options.trees]
    tables.print_table(["", "", "", *measuring.Cost._fields], [[*case, *map(str, cost)] for case, cost in layers[0].items()])
    print("\nFlash of a whole firmware for the M4F, by its layers: 16 to 128 wide, of 4 heads")
    tables.print_table(["layers", "", "0", *map(str, sizes.COUNTS)], [[*row, *map(str, its.values())] for row, its in images[0].items()])
    tables.print_beside([
        {(*case, what): [size] for case, cost in its_layers.items() for what, size in cost._asdict().items()}
        | {("M4F", *row, f"{count} layers"): [its[count] - its[0]] for row, its in its_images.items() for count in sizes.COUNTS}
        for its_layers, its_images in zip(layers, images)])
