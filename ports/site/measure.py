# SPDX-License-Identifier: MIT
"""ports/site/measure: what calls cost on each board, for the pages of notions. Writes costs.json.

Flash, scratch and stack are taken as tests/footprint takes those of a layer, instructions as `./tests/bench boards` counts them.
"""
import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "tests"
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "footprint")]
import building  # noqa: E402
import contents  # noqa: E402

COSTS = HERE / "costs.json"
LEVEL = "-O2"
FOOTPRINT = TESTS / "footprint"
ROW = re.compile(r"^// (.+)\ntemplate <>\nstruct Firmware<Row::(\w+)>", re.MULTILINE)
# Those of tests/footprint/layers.hpp.
LAYERS = {
    "T0": "layer.forward(x, out, workspace): 6 tokens, 3 -> 2 features, 2 heads, causal",
    "T1": "layer.forward(x, out, workspace): 32 tokens of 64 features, 4 heads, causal",
    "TOKEN": "model.forward(token, cache, logits, workspace): a token of llama2.c's stories260K",
}
MEMORY = {"T1": 128 * 1024, "TOKEN": 2048 * 1024}  # that a board needs for it, beside those of no more than 32 KB
SMALL = ("feed_forward", "block", "cached", "compiled")  # whose weights do not fit beside it into the smallest board's RAM


def rows():
    """{name: (what is called, what the program is compiled with)}"""
    listed = ROW.findall((HERE / "costs" / "rows.hpp").read_text(encoding="utf-8"))
    ours = {name: (what, ("-include", HERE / "costs" / "rows.hpp", f"-DTINYATTN_FOOTPRINT_LAYER=Row::{name}")) for what, name in listed}
    return ours | {name: (what, (f"-DTINYATTN_FOOTPRINT_LAYER={name}",)) for name, what in LAYERS.items()}


class Case:
    """A row on a board. Declares what to build; cost() reads what was made."""

    def __init__(self, build, board, name, flags):
        self.machine = machine = building.board(board)
        self.board, self.name = board, name
        flags = (*building.language(), f"-I{FOOTPRINT}", *flags)
        support = build.support(machine)
        firmware = [*support, build.compile(machine, FOOTPRINT / "firmware.cpp", *flags, "-Os")]
        call = build.compile(machine, FOOTPRINT / "layer.cpp", *flags, LEVEL)
        library = [build.compile(machine, TESTS.parent / "src" / "library.cpp", *building.language(), LEVEL)] if name == "compiled" else []
        counted = build.compile(machine, HERE / "costs" / "counted.cpp", *flags, LEVEL)
        title = f"{board}-{name}"
        self.without = build.link(machine, f"{title}-without", firmware)
        self.image = build.link(machine, title, [*firmware, call, *library])
        self.said = build.run(machine, self.image)
        self.counted = self.count(build, build.link(machine, f"{title}-counted", [*firmware, counted, *library]))

    def count(self, build, program):
        host = building.host()
        counter = build.compile(host, TESTS / "speed" / "programs" / "counter.cpp", "-std=c++20", "-O2", "-fPIC")
        plugin = build.link(host, "counter", [counter], "-shared")
        qemu, *arguments = self.machine.wrapper
        command = [qemu, "-d", "plugin", "-plugin", plugin, *arguments, program]
        return build.step("run", program.with_suffix(".txt"), [program, plugin], command)

    def cost(self):
        said = dict(re.findall(r"^(\w+) (\w{8})$", self.said.read_text(encoding="utf-8"), re.MULTILINE))
        return {
            "flash": contents.flash(self.machine, self.image) - contents.flash(self.machine, self.without),
            "scratch": int(said["scratch"], 16) & ~1,  # a struct of nothing has a byte
            "stack": int(said["stack"], 16),
            "instructions": int(re.search(r"^(\d+)$", self.counted.read_text(encoding="utf-8"), re.MULTILINE)[1]),
        }


def fits(board, name):
    memory = building.board(board).memory
    return memory >= MEMORY.get(name, 0) and (name not in SMALL or memory >= 64 * 1024)


def core(board):
    """As ports/boards says it."""
    listed = (building.BOARDS / "README.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `?{board}`? \| ([^|]+) \| ([^|]+) \|", listed, re.MULTILINE)
    return row[1].partition(",")[0].strip()


def main():
    listed = rows()
    with tempfile.TemporaryDirectory() as folder:
        build = building.Build(folder)
        cases = [Case(build, board, name, flags) for name, (_, flags) in listed.items() for board in building.boards() if fits(board, name)]
        build.demand()
        costs = {name: {"what": what, "boards": {case.board: case.cost() for case in cases if case.name == name}}
                 for name, (what, _) in listed.items()}
    version = building.call(["arm-none-eabi-g++", "--version"]).splitlines()[0]
    said = {"compiler": f"{version}, {LEVEL}", "cores": {board: core(board) for board in building.boards()}, "rows": costs}
    COSTS.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    print(f"{COSTS}: {len(cases)} measurements")


if __name__ == "__main__":
    try:
        main()
    except building.Failed as problem:
        sys.exit(str(problem))
