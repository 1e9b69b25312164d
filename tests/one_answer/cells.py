# SPDX-License-Identifier: MIT
"""The rows of the table, by target, and the programs of each: one for a level of optimization and a contraction."""
import collections
import dataclasses
import functools
import itertools
import pathlib
import platform
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/support", "ports/simd", "ports/packages", "ports/packages/single")]
import amalgamate  # noqa: E402
import building  # noqa: E402
import priorities  # noqa: E402
import tree  # noqa: E402

IN_THE_COMPILER = "in_the_compiler.cpp"
ENOUGH_MEMORY = 128 * 1024  # for every workload

# Clang stops after a million steps of constant evaluation unless told otherwise; GCC counts otherwise and gets by with its default.
ANY_NUMBER_OF_STEPS = "-fconstexpr-steps=1000000000"

# Parts of -ffast-math. Clang has no macro for them, by which headers could refuse them.
UNSEEN = "-funsafe-math-optimizations -fassociative-math -freciprocal-math -fno-signed-zeros -fno-trapping-math"

AARCH64 = building.linux("aarch64")
ARMV7 = building.linux("armv7").replace("-mfpu=neon-vfpv4", "-mfpu=vfpv3-d16")
RISCV64 = building.linux("riscv64")
S390X = building.linux("s390x")  # big-endian
WASM32 = building.linux("wasm32").replace("-msimd128")
PLAYED = {"aarch64": AARCH64, "arm": ARMV7, "riscv64": RISCV64, "s390x": S390X, "wasm32": WASM32}  # by Meson's names of architectures

# As in an ESP32-C3, which has no FPU, and as in an ESP32-P4.
RISCV32 = {f"riscv32/{extensions}": building.riscv32(extensions, abi) for extensions, abi in (("imc", "ilp32"), ("imafc", "ilp32f"))}

FUSED, SEPARATE = "-ffp-contract=fast", "-ffp-contract=off"

# Flags that leave the choice of the port to the priorities.
CHOOSING = collections.defaultdict(lambda: {"": ""}, x86_64={"": "", "/native": "-march=native"}, arm={"": "", "/neon": "-mfpu=neon-vfpv4"},
                                   wasm32={"": "", "/simd": "-msimd128"})

# Those with which there is an FMA unit: here a compiler could fuse what it must not in the scalar port.
FUSIBLE = {"x86_64": "/native", "aarch64": ""}


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    machine: building.Machine
    flags: str = ""
    telling: tuple = ("-O2",)  # the levels that every change has to pass
    levels: tuple = ("-O0", "-O2", "-O3", "-Os")
    contractions: tuple = (FUSED,)
    source: str = "at_run_time.cpp"
    single: bool = False  # whether it takes all headers from tinyattn-single.hpp

    @property
    def memory(self):
        """Tensors get half of a board's RAM, the stack the rest."""
        return min(self.machine.memory // 2, ENOUGH_MEMORY)

    def options(self, every):
        """Those of the row's programs, a string for each."""
        pairs = itertools.product(self.levels, self.contractions) if every else itertools.product(self.telling, [FUSED])
        return list(map(" ".join, pairs))

    def add_to(self, build, options):
        """The file that will hold what the program prints."""
        headers = ("-iquote", single_in(build.folder)) if self.single else ()
        flags = (*headers, *building.language(), *building.WARNINGS, f"-DMEMORY_BYTES={self.memory}", *self.flags.split(), *options.split())
        name = f"{self.name} {options}".replace("/", ",").replace(" ", "_")
        return build.run(self.machine, build.program(self.machine, name, [HERE / self.source], *flags))


@functools.cache
def single_in(folder):
    """A folder in which each header is tinyattn-single.hpp."""
    headers = pathlib.Path(folder) / "single"
    for name in tree.headers():
        (headers / name).parent.mkdir(parents=True, exist_ok=True)
        (headers / name).write_text('#include "tinyattn-single.hpp"\n', encoding="utf-8")
    (headers / "tinyattn-single.hpp").write_text(amalgamate.single(), encoding="utf-8")
    return headers


def missing(machine):
    """The first of the machine's tools that is not installed, or nothing."""
    tools = [machine.cpp[0], machine.c[0], machine.link[0], *machine.wrapper[:1]]
    return next((tool for tool in tools if not shutil.which(tool)), "")


@functools.cache
def other_ports(architecture):
    """{port: its flags} for those of the ladders that no flag of CHOOSING chooses, and that this machine executes."""
    machine = PLAYED.get(architecture) or building.host()
    if missing(machine):
        return {}
    listed = priorities.ports(architecture, priorities.VECTORS, priorities.ONE_LANE)
    named = {port: " ".join([*flags, f"-DTINYATTN_PORT={port}"]) for port, flags in listed.items() if port != "scalar"}
    choosing = CHOOSING[architecture].values()
    with tempfile.TemporaryDirectory() as folder:
        build = building.Build(folder)
        probe = ROOT / "tests" / "support" / "probe.cpp"
        files = {flags: build.run(machine, build.program(machine, f"probe-{number}", [probe], *building.language(), *flags.split()))
                 for number, flags in enumerate([*choosing, *named.values()])}
        build.make()
        executed = {flags: file.read_text(encoding="utf-8").strip() for flags, file in files.items() if file.exists()}
    chosen = [executed.get(flags) for flags in choosing]
    return {port: flags for port, flags in named.items() if flags in executed and port not in chosen}


# --- Targets: the rows of each ---


def of_compilers():
    in_the_compiler = functools.partial(Row, levels=("-O0",), source=IN_THE_COMPILER)
    yield in_the_compiler("compiler", building.host(), telling=("-O0",))
    yield in_the_compiler("compiler/clang++", building.host("clang++"), ANY_NUMBER_OF_STEPS, telling=("-O0",))
    for machine in (AARCH64, ARMV7, building.board("mps2-an386")):
        yield in_the_compiler(f"compiler/{machine.cpp[0]}", machine, telling=())


def of_ports(name, machine, architecture, telling=()):
    """Scalar ones come first: what the compiler cannot compute is compared with them. Ports that no flag chooses run each night only."""
    for suffix, flags in CHOOSING[architecture].items():
        levels = ("-O3",) if suffix == FUSIBLE.get(architecture) else telling
        yield Row(f"{name}{suffix}/scalar", machine, f"{flags} -DTINYATTN_PORT=scalar", levels)
        yield Row(f"{name}{suffix}", machine, flags, contractions=(FUSED, SEPARATE))
    for port, flags in other_ports(architecture).items():
        yield Row(f"{name}/{port}", machine, flags, (), ("-O0", "-O2"))


def of_this_machine(name, architecture):
    clang = building.host("clang++")
    yield from of_ports(name, building.host(), architecture, telling=("-O2",))
    yield from of_ports(f"{name}/clang++", clang, architecture)
    for suffix, flags in CHOOSING[architecture].items():
        telling = ("-O3",) if suffix == FUSIBLE.get(architecture, "") else ()
        yield Row(f"{name}/clang++{suffix}/fast-math", clang, f"{flags} {UNSEEN}", telling, ("-O3",))


def of_riscv32():
    for name, machine in RISCV32.items():
        yield Row(name, machine, contractions=(FUSED, SEPARATE))


def more_for_helium():
    """More ways to the board that has Helium, which does not mind a program that has none."""
    machine = building.board("mps3-an547")
    return {"mps3-an547/clang++-19": building.clang_for_firmware("clang++-19", machine),
            "mps3-an547/nomve": machine.replace("-mcpu=cortex-m55", "-mcpu=cortex-m55+nomve")}


def of_single():
    """The package of one header: every change has it computed here and by a Cortex-M4F, each night by all compilers and machines."""
    of_all = functools.partial(Row, levels=("-O2",), single=True)
    yield of_all("single", building.host())
    yield of_all("single/mps2-an386", building.board("mps2-an386"))
    yield of_all("single/native", building.host(), "-march=native", ())
    yield of_all("single/clang++", building.host("clang++"), "", ())
    for architecture, machine in PLAYED.items():
        for suffix, flags in CHOOSING[architecture].items():
            yield of_all(f"single/{architecture}{suffix}", machine, flags, ())
    boards = {name: building.board(name) for name in building.boards() if name != "mps2-an386"}
    for name, machine in (RISCV32 | boards | more_for_helium()).items():
        yield of_all(f"single/{name}", machine, "", ())


def of_board(name):
    of_levels = functools.partial(Row, levels=("-O2", "-Os"))
    machine = building.board(name)
    yield of_levels(name, machine, contractions=(FUSED, SEPARATE))
    if name == "mps3-an547":
        for other, by_other in more_for_helium().items():
            yield of_levels(other, by_other)


def targets():
    """{name: its rows, when called}. The first is the one that all others are compared with."""
    name, architecture = platform.machine().replace("_", "-"), platform.machine()
    return {
        "compiler": of_compilers,
        name: functools.partial(of_this_machine, name, architecture),
        "aarch64": functools.partial(of_ports, "aarch64", AARCH64, "aarch64"),
        "armv7": functools.partial(of_ports, "armv7", ARMV7, "arm"),
        "riscv64": functools.partial(of_ports, "riscv64", RISCV64, "riscv64"),
        "riscv32": of_riscv32,
        "single": of_single,
        "s390x": functools.partial(of_ports, "s390x", S390X, "s390x"),
        "wasm32": functools.partial(of_ports, "wasm32", WASM32, "wasm32"),
        **{board: functools.partial(of_board, board) for board in building.boards()},
    }
