# SPDX-License-Identifier: MIT
"""Implements `tests/bench costs`: measures what calls cost on each board, for the pages of notions. Writes
ports/site/costs.json.

Flash, scratch and stack are measured as in footprint.py, instructions as `./tests/bench boards` counts them.

    costs --list     prints, for Meson, each row and the flags of its firmware
"""
import json
import pathlib
import re
import sys

from tests.footprint import contents
from tests.speed import programs
from tests.support import targets
from tests.support.processes import ROOT, call

COSTS = ROOT / "ports" / "site" / "costs.json"
ROWS = pathlib.Path(__file__).resolve().parent / "rows.hpp"
ROW = re.compile(r"^// (.+)\ntemplate <>\nstruct Firmware<Row::(\w+)>", re.MULTILINE)
# The rows for the layers of layers.hpp.
LAYERS = {
    "T0": "layer.forward(x, out, workspace): 6 tokens, 3 -> 2 features, 2 heads, causal",
    "T1": "layer.forward(x, out, workspace): 32 tokens of 64 features, 4 heads, causal",
    "TOKEN": "model.forward(token, cache, logits, workspace): a token of llama2.c's stories260K",
}


def rows():
    """Returns {name of a row: the call}."""
    return {name: what for what, name in ROW.findall(ROWS.read_text(encoding="utf-8"))} | LAYERS


def flags(name):
    layer = name if name in LAYERS else f"Row::{name} -include {ROWS}"
    return f"-DTINYATTN_FOOTPRINT_LAYER={layer}"


def cost(folder, name):
    printed, counted = ((folder / f"{kind}_{name}.txt").read_text(encoding="utf-8") for kind in ("call", "counted"))
    sizes = dict(re.findall(r"^(\w+) (\w{8})$", printed, re.MULTILINE))
    return {
        "flash": contents.flash(folder / f"with_call_{name}") - contents.flash(folder / f"without_call_{name}"),
        "scratch": int(sizes["scratch"], 16) & ~1,  # an empty struct has a byte
        "stack": int(sizes["stack"], 16),
        "instructions": int(re.search(r"^(\d+)$", counted, re.MULTILINE)[1]),
    }


def core(board):
    """Returns the core of a board, as the README of ports/boards names it."""
    listed = (targets.BOARDS / "README.md").read_text(encoding="utf-8")
    return re.search(rf"^\| `?{board}`? \| ([^|]+) \| ([^|]+) \|", listed, re.MULTILINE)[1].partition(",")[0].strip()


def costs_of(board, options):
    """Returns {row: costs} of the rows that fit into the board."""
    build = programs.Build(targets.board_build(board), options)
    names = [name for name in rows() if build.has(f"counted_{name}")]
    build.make([f"../footprint/costs/{kind}{name}{ending}" for name in names
                for kind, ending in (("without_call_", ""), ("call_", ".txt"), ("counted_", ".txt"))])
    return {name: cost(build.file("../footprint/costs"), name) for name in names}


def bench(options):
    by_board = {board: costs_of(board, options) for board in targets.boards()}
    found = {name: {"what": what, "boards": {board: costs[name] for board, costs in by_board.items() if name in costs}}
             for name, what in rows().items()}
    release = call(["arm-none-eabi-g++", "--version"]).splitlines()[0]
    written = {"compiler": f"{release}, -O2", "cores": {board: core(board) for board in by_board}, "rows": found}
    COSTS.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    print(f"{COSTS}: {sum(map(len, by_board.values()))} measurements")


if __name__ == "__main__" and sys.argv[1:] == ["--list"]:
    print(*(f"{name}\t{flags(name)}" for name in rows()), sep="\n")
