# SPDX-License-Identifier: MIT
"""What a page says that an example takes on a board, against what it takes: to 2 %.

    figures.py BOARD PAGE PROGRAM PRINTED            for Meson: whether the board's row of the page's table holds
    figures.py --write BOARD PAGE PROGRAM PRINTED    writes the row anew, in three digits

PRINTED has the lines for the board, with the instructions and the stack.
"""
import pathlib
import re
import shlex
import sys

import building
import tap

sys.path.append(str(building.ROOT / "tests" / "footprint"))
import contents  # noqa: E402

NEAR = 0.02
SECTIONS = {"flash": (".vectors", ".text", ".rodata", ".init_array", ".data"), "RAM": (".data", ".bss")}
SAID = {"cache": "bytes of cache", "stack": "bytes of stack", "instructions": "instructions"}


def measured(board, program, printed):
    """{column: number}"""
    sizes = {name: size for name, _, size in contents.sections(building.board(board), program)}
    text = pathlib.Path(printed).read_text(encoding="utf-8")
    found = {column: sum(sizes.get(name, 0) for name in names) for column, names in SECTIONS.items()}
    for column, what in SAID.items():
        if line := re.search(rf"^board: ([\d,]+) {what}", text, re.MULTILINE):
            found[column] = number(line[1])
    clock = re.search(r"^clock_hz = (\d+)", (building.BOARDS / board / "cross.ini").read_text(encoding="utf-8"), re.MULTILINE)[1]
    return found | {"a second": int(clock) / found["instructions"]}


def number(text):
    return float(text.replace(",", ""))


def three_digits(value):
    return f"{float(f'{value:.3g}'):,.10g}"


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def row_of(page, board):
    """{column: cell} of the board's row, and the row."""
    lines = page.read_text(encoding="utf-8").split("\n")
    row = next(line for line in lines if line.startswith(f"| {board} |"))
    head = next(line for line in lines if line.startswith("| board |"))
    return dict(zip(cells(head), cells(row), strict=True)), row


def value_of(column, values):
    """`instructions per image` are instructions."""
    return next((value for name, value in values.items() if column.startswith(name)), None)


def wrong(page, board, values):
    said, _ = row_of(page, board)
    return [f"{column}: {cell}, measured {value:,.10g}" for column, cell in said.items()
            if (value := value_of(column, values)) is not None and abs(number(cell) / value - 1) > NEAR]


def write(page, board, values):
    said, row = row_of(page, board)
    written = {column: cell if (value := value_of(column, values)) is None else three_digits(value) for column, cell in said.items()}
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace(row, f"| {' | '.join(written.values())} |"), encoding="utf-8")


def is_of_another_compiler(page):
    """Another release of GCC makes other code, of which the page says nothing."""
    here = building.call(["arm-none-eabi-g++", "-dumpversion"]).split(".")[0]
    return "" if f"GCC {here}" in page.read_text(encoding="utf-8") else f"the page speaks of another GCC than {here}"


def holds(board, page, values, again):
    if reason := is_of_another_compiler(page):
        return tap.Skip(reason)
    found = wrong(page, board, values)
    return "\n".join([*found, again]) if found else ""


if __name__ == "__main__":
    name, *files = (word for word in sys.argv[1:] if word != "--write")
    readme, *example = (pathlib.Path(file).resolve() for file in files)
    takes = measured(name, *example)
    if "--write" in sys.argv:
        write(readme, name, takes)
    command = shlex.join(["python3", "-B", __file__, "--write", *map(str, (name, readme, *example))])
    tap.report([(f"{readme.parent.name} on {name} takes what {readme.name} says", holds, name, readme, takes, f"write it anew: {command}")])
