# SPDX-License-Identifier: MIT
"""The programs of the table: one for each compiler, target and set of flags. Ninja builds and runs what is not up to date."""
import dataclasses
import functools
import itertools
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BOARDS = ROOT / "ports" / "boards"
PROBE = ROOT / "tests" / "support" / "probe.cpp"
sys.path[:0] = [str(ROOT / "tests" / "footprint"), str(ROOT / "ports" / "simd")]
import boards  # noqa: E402
import ladder  # noqa: E402

LANGUAGE = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror",
            *(f"-I{folder}" for folder in (ROOT / "include", ROOT / "ports" / "simd", BOARDS, ROOT / "tests"))]
LEVELS = ["-O0", "-O2", "-O3", "-Os"]
SECONDS = 120
ENOUGH_MEMORY = 128 * 1024  # for every workload

# Clang stops after a million steps of constant evaluation unless told otherwise; GCC counts otherwise and gets by with its default.
ANY_NUMBER_OF_STEPS = {"clang++": ["-fconstexpr-steps=1000000000"]}


@dataclasses.dataclass
class Machine:
    """What a compiler builds for, and how its programs run."""

    compiler: list
    wrapper: list = dataclasses.field(default_factory=list)
    support: list = dataclasses.field(default_factory=list)  # commands that compile a file each, beside the program
    link: list = dataclasses.field(default_factory=list)
    memory: int = ENOUGH_MEMORY


@dataclasses.dataclass
class Cell:
    row: str
    contract: str
    level: str
    machine: Machine
    flags: list
    source: str = "at_run_time.cpp"

    @property
    def name(self):
        return " ".join(filter(None, [self.row, self.level, self.contract and f"-ffp-contract={self.contract}"]))

    @property
    def stem(self):
        return re.sub(r"[^\w+.=-]+", "_", self.name)


# --- Machines ---


def hosted(*compiler, wrapper=()):
    compile_host = [*compiler, "-std=c++20", f"-I{BOARDS}", '-DBOARD_NAME="host"', str(BOARDS / "host" / "host.cpp")]
    return Machine(list(compiler), list(wrapper), [compile_host], ["-static"] if wrapper else [])


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)([KM])", text).groups()
    return int(number) * {"K": 1024, "M": 1024 * 1024}[unit]


def board(name):
    """As ports/boards/meson.build builds for it. Tensors get half of the RAM, the stack the rest."""
    machine = boards.read_machine_files(BOARDS / name / "cross.ini", BOARDS / "cortex-m.ini")
    compile_c = [machine["c"], *machine["c_args"], "-Os", "-fno-tree-loop-distribute-patterns", f'-DBOARD_NAME="{name}"',
                 f"-DBOARD_CLOCK_HZ={machine['clock_hz']}"]
    memory_map = (BOARDS / name / "memory.ld").read_text(encoding="utf-8")
    ram = bytes_of(re.search(r"RAM .*LENGTH = (\w+)", memory_map).group(1))
    return Machine([machine["cpp"], *machine["cpp_args"], "-fno-exceptions", "-fno-rtti"], machine["exe_wrapper"],
                   [[*compile_c, str(source)] for source in sorted(BOARDS.glob("*.c"))],
                   [*machine["cpp_link_args"], f"-T{BOARDS / name / 'memory.ld'}", f"-L{BOARDS}", "-lgcc"], min(ram // 2, ENOUGH_MEMORY))


def include_paths(compiler):
    """Where a GCC finds the headers of its libraries, not those of the compiler itself."""
    said = subprocess.run([*compiler, "-E", "-v", "-x", "c++", os.devnull], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                          errors="replace", check=False, env={**os.environ, "LC_ALL": "C"})
    listed = said.stderr.partition("#include <...> search starts here:\n")[2].partition("End of search list.")[0]
    return [path for path in map(os.path.realpath, listed.split()) if "/gcc/" not in path]


def without_helium(machine):
    """A Cortex-M55 may be built without it. The board has it, and does not care."""
    scalar = {"-mcpu=cortex-m55": "-mcpu=cortex-m55+nomve"}
    return dataclasses.replace(machine, compiler=[scalar.get(word, word) for word in machine.compiler],
                               link=[scalar.get(word, word) for word in machine.link])


def helium_with_clang():
    """The board's program from Clang 19, with GCC's headers, its linker, and its startup code."""
    machine = board("mps3-an547")
    script = next(option.removeprefix("-T") for option in machine.link if option.startswith("-T"))
    libgcc = subprocess.run([*machine.compiler, "-print-libgcc-file-name"], capture_output=True, encoding="utf-8", check=False).stdout.strip()
    machine.link = [f"--ld-path={shutil.which('arm-none-eabi-ld')}", "-nostdlib", f"-Wl,--gc-sections,--no-warn-execstack,-L{BOARDS},-T{script}",
                    libgcc]
    machine.compiler = ["clang++-19", "--target=thumbv8.1m.main-none-eabihf", "-mcpu=cortex-m55", "-mfloat-abi=hard", "-meabi", "gnu",
                        "-fshort-enums", "-fno-threadsafe-statics", "-fno-exceptions", "-fno-rtti", "-ffunction-sections",
                        *(f"-isystem{path}" for path in include_paths(machine.compiler))]
    return machine


AARCH64 = hosted("aarch64-linux-gnu-g++", wrapper=["qemu-aarch64"])
ARMV7 = hosted("arm-linux-gnueabihf-g++", "-march=armv7-a", "-mfpu=vfpv3-d16", "-mfloat-abi=hard", wrapper=["qemu-arm"])
PLAYED = {"aarch64": AARCH64, "arm": ARMV7}

# Flags that leave the choice of the port to the ladder.
CHOOSING = {"x86_64": ["", "-march=native"], "arm": ["", "-mfpu=neon-vfpv4"]}

# The scalar port on a core with an FMA unit: here a compiler could fuse what it must not.
SCALAR = "-DTINYATTN_PORT=scalar"
FUSIBLE = {"x86_64": f"-march=native {SCALAR}", "aarch64": SCALAR}

# Parts of -ffast-math. Clang has no macro for them, by which headers could refuse them.
UNSEEN = "-funsafe-math-optimizations -fassociative-math -freciprocal-math -fno-signed-zeros -fno-trapping-math"


# --- Ports ---


def port_of(machine, flags):
    """The port that a program has with these flags; none if the machine cannot execute it."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "probe"
        build = [*machine.compiler, *LANGUAGE, *shlex.split(flags), str(PROBE), *machine.link]
        for command in ([*build, "-o", str(program)], [*machine.wrapper, str(program)]):
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                                  encoding="utf-8", check=False)
            if done.returncode != 0:
                return ""
    return done.stdout.strip()


@functools.cache
def other_ports(architecture):
    """Flags for each port of the ladders that no other row has, and that this machine executes. The
    scalar one is first: what the compiler cannot compute is compared with it."""
    machine = PLAYED.get(architecture) or hosted("g++")
    chosen = {port_of(machine, flags) for flags in CHOOSING.get(architecture, [""])}
    listed = ladder.ports(architecture, ladder.VECTORS, ladder.ONE_LANE)
    named = {port: " ".join([*flags, f"-DTINYATTN_PORT={port}"]) for port, flags in listed.items()}
    found = {port: flags for port, flags in named.items()
             if port not in chosen | {"scalar"} and port_of(machine, flags) == port}
    return found if FUSIBLE.get(architecture) == SCALAR else {"scalar": SCALAR, **found}


# --- Cells ---


def row(name, machine, flags="", levels=LEVELS, contracts=("off", "fast")):
    return [Cell(name, contract, level, machine, shlex.split(flags)) for contract, level in itertools.product(contracts, levels)]


def rows(name, machine, architecture):
    cells = []
    for port, flags in other_ports(architecture).items():
        cells += row(f"{name}, {port}", machine, flags, ["-O0", "-O2"], ["fast"])
    for flags in CHOOSING.get(architecture, [""]):
        cells += row(f"{name} {flags}".strip(), machine, flags)
    if architecture in FUSIBLE:
        flags = FUSIBLE[architecture]
        cells += row(f"{name} {flags}", machine, flags, ["-O2", "-O3"], ["fast"])
    return cells


def in_the_compiler(compiler, machine):
    return Cell(f"in the compiler, {compiler}", "", "", machine, ANY_NUMBER_OF_STEPS.get(compiler, []), "in_the_compiler.cpp")


# Rows of machines without a fused multiply-add: a compiler has nothing to contract to.
WITHOUT_FMA = re.compile(r"microbit|mps2-an385|^ARMv7$|^x86_64, \S+$")


def is_telling(cell):
    """With -ffp-contract=off nothing is fused without leave: one level nearly says it for all. And unoptimized, ports are much alike."""
    if cell.contract == "off":
        return cell.level == "-O2" and not WITHOUT_FMA.search(cell.row)
    by_name = any(flag.startswith("-DTINYATTN_PORT=") for flag in cell.flags)
    return not (by_name and cell.level == "-O0" and cell.flags != [SCALAR])


def all_cells():
    """The first is the one that all others are compared with."""
    here = platform.machine()
    cells = [in_the_compiler("g++", hosted("g++")), in_the_compiler("clang++", hosted("clang++")),
             in_the_compiler("aarch64-linux-gnu-g++", AARCH64), in_the_compiler("arm-linux-gnueabihf-g++", ARMV7),
             in_the_compiler("arm-none-eabi-g++", board("mps2-an386"))]
    for compiler in ("g++", "clang++"):
        cells += rows(f"{here}, {compiler}", hosted(compiler), here)
    for flags in ("", "-march=native "):
        cells += row(f"{here}, clang++ {flags}with parts of -ffast-math", hosted("clang++"), flags + UNSEEN, ["-O3"], ["fast"])
    cells += rows("AArch64", AARCH64, "aarch64")
    cells += rows("ARMv7", ARMV7, "arm")
    for name in boards.names():
        cells += row(name, board(name), levels=["-O2", "-Os"])
    cells += row("mps3-an547, Clang 19", helium_with_clang(), levels=["-O2", "-Os"], contracts=["fast"])
    cells += row("mps3-an547 without Helium", without_helium(board("mps3-an547")), levels=["-O2", "-Os"], contracts=["fast"])
    return cells


# --- Ninja ---

RULES = f"""
rule compile
  command = $call -MD -MF $out.d -MT $out -o $out
  depfile = $out.d
  deps = gcc
rule run
  command = (timeout {SECONDS} $call ./$in > $out.part || (tail -n 12 $out.part | cut -c 1-100; exit 1)) && mv $out.part $out
"""


def path_for_ninja(path):
    return re.sub(r"([$ :])", r"$\1", str(path))


def edge(rule, made, inputs, command):
    """`made` is also made again if the tool that makes it changes, as with a new version of a compiler."""
    tools = [os.path.realpath(shutil.which(word) or word) for word in command[:1]]
    paths = [" ".join(map(path_for_ninja, group)) for group in (inputs, tools)]
    return f"build {path_for_ninja(made)}: {rule} {paths[0]} | {paths[1]}\n  call = {shlex.join(command).replace('$', '$$')}\n"


def edges(cell):
    """Support files are named after what compiles them: cells share them."""
    machine = cell.machine
    support = {f"support-{zlib.crc32(shlex.join(command).encode()):08x}.o": [*command, "-c"] for command in machine.support}
    source = HERE / cell.source
    compile_program = [*machine.compiler, *LANGUAGE, f"-DMEMORY_BYTES={machine.memory}", *filter(None, [cell.level]), *cell.flags,
                       *([f"-ffp-contract={cell.contract}"] if cell.contract else []), str(source), *support, *machine.link]
    yield from (edge("compile", made, command[-2:-1], command) for made, command in support.items())
    yield edge("compile", f"{cell.stem}.elf", [source, *support], compile_program)
    yield edge("run", f"{cell.stem}.txt", [f"{cell.stem}.elf"], machine.wrapper)


def ninja(folder, *arguments):
    done = subprocess.run(["ninja", "-C", str(folder), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False)
    return done.returncode, done.stdout


def build(cells, folder):
    """Builds and runs what it can. Returns what the programs printed, and what the steps said that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    text = RULES + "".join(dict.fromkeys(itertools.chain.from_iterable(map(edges, cells))))
    (folder / "build.ninja").write_text(text, encoding="utf-8")
    status, said = ninja(folder, "-k", "0", f"-j{os.cpu_count()}")
    printed = {}
    for cell in cells:
        if status == 0 or "no work to do" in ninja(folder, "-n", f"{cell.stem}.txt")[1]:
            printed[cell.name] = (folder / f"{cell.stem}.txt").read_text(encoding="utf-8")
    return printed, said if status != 0 else ""
