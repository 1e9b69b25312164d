# SPDX-License-Identifier: MIT
"""Implements `tests/bench costs`: measures what the calls of calls.hpp cost on each board, for the pages of notions.
Writes ports/site/costs.json, what a frame of a stream costs into include/tinyattn/streams.md, and what a step of a training costs into
include/tinyattn/training_costs.md.

Flash, scratch and stack are measured as in footprint.py, instructions and cycles as `./tests/bench boards` counts them.
"""
import json
import pathlib
import re

from tests.products.footprint import footprint
from tests.speed import counting, programs
from tests.support import figures, targets
from tests.support.processes import ROOT, call

COSTS = ROOT / "ports" / "site" / "costs.json"
STREAMS = ROOT / "include" / "tinyattn" / "streams.md"
TRAINING = STREAMS.with_name("training_costs.md")
CALL = re.compile(r"^// (.+)\nusing (\w+) =", re.MULTILINE)


def calls():
    """Returns {name: the call, as a page shows it}."""
    listed = pathlib.Path(__file__).with_name("calls.hpp").read_text(encoding="utf-8").partition("namespace calls")[2]
    return {name: what for what, name in CALL.findall(listed)}


def cost(name, without, image, printed, counted):
    its = footprint.Layer(name, "-O2", without, "", image, printed).cost()
    (_, (instructions,)), (_, cycles) = counting.counted(counted).items()
    return {"flash": its.flash, "scratch": its.scratch & ~1, "stack": its.stack,  # an empty struct has a byte
            "instructions": instructions, "cycles": cycles}  # exact, or two bounds


def core(board):
    """Returns a board's core, by its name in ports/boards/README.md."""
    listed = (targets.BOARDS / "README.md").read_text(encoding="utf-8")
    return re.search(rf"^\| `?{board}`? \| ([^|]+) \| ([^|]+) \|", listed, re.MULTILINE)[1].partition(",")[0].strip()


def costs_of(board, options):
    """Returns {call: costs} for the calls that fit into the board."""
    build = programs.Build(targets.BUILDS[board], options)
    kinds = ("without_{}", "with_{}_O2", "{}_O2.txt", "counted_{}.txt")
    files = {name: [f"tests/products/footprint/{kind.format(name)}" for kind in kinds]
             for name in calls() if f"counted_{name}" in build.targets}
    build.make(file for its in files.values() for file in its)
    return {name: cost(name, *(build.folder / file for file in its)) for name, its in files.items()}


def clock_hz(board):
    settings = (targets.BOARDS / board / "cross.ini").read_text(encoding="utf-8")
    return int(re.search(r"^clock_hz = (\d+)$", settings, re.MULTILINE)[1])


def on_pages(costs):
    """Yields each page, each board, and the board's figures on that page."""
    def of(name, board, what="cycles"):
        return costs["rows"][name]["boards"][board][what]

    def each(function, bounds):
        return sorted(map(function, bounds))
    for board in costs["cores"]:
        clock, frame, step = clock_hz(board), of("frame", board), of("learn", board)
        yield STREAMS, board, {"instructions": of("frame", board, "instructions"), "cycles": frame,
                               "frames": each(lambda cycles: clock / cycles, frame)}
        yield TRAINING, board, {
            "last layer": of("last_layer", board), "whole model": step,
            **{title: each(lambda cycles: cycles / 256, of(f"{title.lower()}_step", board))
               for title in ("SGD", "AdamW")},
            "minutes": each(lambda cycles: 1000 * cycles / clock / 60, step)}


def bench(options):
    by_board = {board: costs_of(board, options) for board in targets.boards()}
    rows = {name: {"what": what, "boards": {board: costs[name] for board, costs in by_board.items() if name in costs}}
            for name, what in calls().items()}
    release = call(["arm-none-eabi-g++", "--version"]).splitlines()[0]
    written = {"compiler": f"{release}, -O2", "cores": {board: core(board) for board in by_board}, "rows": rows}
    COSTS.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    for page, board, values in on_pages(written):
        figures.write(page, board, values)
    print(f"{COSTS}: {sum(map(len, by_board.values()))} measurements")
