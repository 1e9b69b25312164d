# SPDX-License-Identifier: MIT
"""The worst stack of each call of tests/speed/costs/calls.hpp, from the call graph and the frames that GCC writes,
beside the painted one of ports/site/costs.json. A function of libgcc counts as all that its object file pushes, and
what that calls."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import tempfile

from tests.speed.costs import costs
from tests.support import runner, targets
from tests.support.processes import call

from . import parts

BOARDS = ("microbit", "mps2-an386", "mps3-an547")
GCC, OBJDUMP = "arm-none-eabi-g++", "arm-none-eabi-objdump"
OBJECTS = ("layer_T0_O2", "libboard.*memory.c", "libtinyattn.*attention.cpp")  # the last one for the call `compiled`
NODE = re.compile(r'^node: { title: "(?:[^":]*:)?([^":]+)" label: ".*\\n(\d+) bytes \((\w+)', re.MULTILINE)
EDGE = re.compile(r'^edge: { sourcename: "(?:[^":]*:)?([^":]+)" targetname: "(?:[^":]*:)?([^":]+)"', re.MULTILINE)
PUSHED = re.compile(r"\tv?(?:push|stmdb)\S*\t(?:sp!, )?{(.*)}|\tsub\S*\tsp, (?:sp, )?#(\d+)|, \[sp, #-(\d+)\]!")
CALLED = re.compile(r"R_ARM_THM_(?:CALL|JUMP24)\s+(\S+)")
REGISTERS = re.compile(r"([a-z]+)(\d*)(?:-[a-z]+(\d+))?")


class Graph(dict):
    """{function: (its own bytes, what it calls)}"""

    def add(self, text):
        """Adds what -fcallgraph-info=su wrote. Raises ValueError for a frame whose size is not known."""
        for name, size, kind in NODE.findall(text):
            if kind != "static":
                raise ValueError(f"the frame of {name} is {kind}")
            self[name] = int(size), set()
        for name, callee in EDGE.findall(text):
            self[name][1].add(callee)

    def add_pushed(self, text):
        """Raises frames to what the instructions of a disassembly push, with those of asm, which GCC does not count."""
        for function in re.split(r"^(?=[0-9a-f]{8} <)", text, flags=re.MULTILINE)[1:]:
            name = function[10:function.index(">")]
            size, callees = self.get(name, (0, set()))
            self[name] = max(size, sum(map(pushed, PUSHED.findall(function)))), callees | set(CALLED.findall(function))

    def worst(self, name, callers=()):
        """Returns the bytes of a call of a function. Raises ValueError if it calls itself, or its size is not known."""
        if name in callers or name not in self:
            raise ValueError(f"{name} {'calls itself' if name in callers else 'is not known'}: {' '.join(callers)}")
        size, callees = self[name]
        return size + max((self.worst(callee, (*callers, name)) for callee in callees), default=0)


def pushed(instruction):
    """Returns the bytes by which an instruction, as PUSHED found it, moves the stack pointer."""
    registers, *numbers = instruction
    several = (int(found[3] or found[2] or 0) - int(found[2] or 0) + 1 for found in REGISTERS.finditer(registers))
    return sum(several) * (8 if registers.startswith("d") else 4) + sum(int(number or 0) for number in numbers)


def of_libgcc(flags):
    """Returns the graph of libgcc for these flags."""
    library = call([GCC, *flags, "-print-libgcc-file-name"]).strip()
    _, *objects = re.split(r"\n\S+\.o: +file format .*\n", call([OBJDUMP, "-dt", "--no-show-raw-insn", library]))
    graph = Graph()
    for text in objects:
        symbols = re.findall(r"^[0-9a-f]{8} (.{7}) (\S+)\t[0-9a-f]{8} (?:\.hidden )?(\S+)$", text, re.MULTILINE)
        needed = {name for _, section, name in symbols if section == "*UND*"}
        size = sum(map(pushed, PUSHED.findall(text)))
        graph |= {name: (size, needed) for kind, section, name in symbols if section != "*UND*" and kind[0] != "l"}
    return graph


def compiled(build, output):
    """Returns the command of a build that writes an object, without what it writes."""
    listed = json.loads((build.folder / "compile_commands.json").read_text(encoding="utf-8"))
    command = next(entry["command"] for entry in listed if re.search(output, entry["output"]))
    return shlex.split(re.sub(r" -M[QF] \S+| -MD| -o \S+", "", command))


def graph_of(build, libgcc, commands):
    """Returns the graph of what commands compile. A call through a pointer may call each function whose address is
    taken."""
    graph, taken = Graph(libgcc), set()
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            call([*command, "-fcallgraph-info=su", "-o", f"{folder}/object.o"], folder=build.folder)
            graph.add(pathlib.Path(folder, "object.ci").read_text(encoding="utf-8"))
            graph.add_pushed(call([OBJDUMP, "-dr", "--no-show-raw-insn", f"{folder}/object.o"]))
            taken.update(re.findall(r"R_ARM_ABS32\s+(\S+)", call([OBJDUMP, "-r", f"{folder}/object.o"])))
    graph["__indirect_call"] = 0, taken & set(graph)
    return graph


def of_board(board, names):
    """Returns {call: bytes, or a ValueError} on a board."""
    build = targets.BUILDS[board]
    if not runner.Run(build, []).configure():
        raise RuntimeError(f"{board} cannot be configured")
    of_call, *others = (compiled(build, output) for output in OBJECTS)
    libgcc = of_libgcc([word for word in of_call if word.startswith("-m")])

    def worst(name):
        its = [re.sub("(?<=FOOTPRINT_CALL=).*", name, word) for word in of_call]
        try:
            return graph_of(build, libgcc, [its, *others[:1 + (name == "compiled")]]).worst("attend")
        except ValueError as reason:
            return reason
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(worst, names)))


def made():
    known = json.loads(costs.COSTS.read_text(encoding="utf-8"))
    if not shutil.which(GCC) or call([GCC, "--version"]).splitlines()[0] not in known["compiler"]:
        raise parts.Missing(f"the figures are of {known['compiler']}")
    painted = {name: {board: its["boards"][board]["stack"] for board in BOARDS if board in its["boards"]}
               for name, its in known["rows"].items() if its["boards"]}
    found = {board: of_board(board, [name for name in painted if board in painted[name]]) for board in BOARDS}
    rows = [(f"`{name}`", *(f"{found[board][name]} / {its[board]}" if board in its else "" for board in BOARDS))
            for name, its in painted.items()]
    problems = [f"{name} on {board}: {found[board][name]}, painted {size}" for name, its in painted.items()
                for board, size in its.items() if not isinstance(found[board][name], int) or found[board][name] < size]
    return parts.table(("call", *(f" {known['cores'][board]}" for board in BOARDS)), rows), problems
