# SPDX-License-Identifier: MIT
"""One way to build a program, for this machine and for all that Meson's machine files describe.

    build = building.Build(folder)
    board = building.board("mps2-an386")
    program = build.program(board, "layer", [source], *building.language(), "-O2")
    said = build.run(board, program)
    problems = build.make()    # by ninja, in parallel, what is not up to date: {file: what its step said} if it failed
"""
import configparser
import dataclasses
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOARDS = ROOT / "ports" / "boards"
MACHINES = ROOT / "ports" / "machines"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror")
ANY_AMOUNT = 1 << 40  # of memory, where there is an operating system


class Failed(Exception):
    """What a compiler or a program said."""


def language(tree=ROOT):
    """The flags by which a program of this tree takes the library of a tree, this or another."""
    return ("-std=c++20", *(f"-I{folder}" for folder in (tree / "include", tree / "ports" / "simd", BOARDS, ROOT / "tests")))


def attempt(command, folder=ROOT, text="", seconds=1800, **environment):
    """Status and what was said; no status if it did not end, or is not there."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=folder, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", errors="replace", timeout=seconds, check=False,
                              env={**os.environ, "LC_ALL": "C", **environment})
    except subprocess.TimeoutExpired:
        return None, f"did not end within {seconds} s"
    except FileNotFoundError as error:
        return None, str(error)
    return done.returncode, done.stdout


def call(command, **options):
    """What was said by a command that succeeds."""
    status, said = attempt(command, **options)
    if status != 0:
        first = "\n".join(line[:300] for line in said.splitlines()[:20])
        raise Failed(f"{shlex.join(map(str, command))}\nexit status {status}\n{first}")
    return said


def processor_seconds(command, **options):
    """What a command takes of the processor's time: of the user and of the system, since only the sum is exact."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call(command, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


# --- Machines ---


@dataclasses.dataclass(frozen=True)
class Machine:
    """What a compiler builds for, and how its programs run."""

    cpp: tuple  # the compiler of C++ and its flags
    c: tuple
    link: tuple  # the linker's command, before the objects
    libraries: tuple = ()  # after them
    support: tuple = ()  # what every program needs: files and their flags
    wrapper: tuple = ()  # what runs its programs
    memory: int = ANY_AMOUNT

    def tool(self, name):
        """Of the binutils beside GCC: nm, size, objdump."""
        return re.sub(r"g(cc|\+\+)$", name, self.c[0])

    def replace(self, old, *new):
        """The same with other flags in the place of one."""
        commands = {what: tuple(word for flag in getattr(self, what) for word in (new if flag == old else (flag,)))
                    for what in ("cpp", "c", "link")}
        return dataclasses.replace(self, **commands)


def read_machine_files(*files):
    """The values in Meson's machine files: Python would write them the same way, but for true and false."""
    parser = configparser.ConfigParser(interpolation=None, delimiters="=")
    parser.optionxform = str
    parser.read(files, encoding="utf-8")
    constants = {"true": True, "false": False}
    values = {}
    for section in sorted(parser.sections(), key=lambda section: section != "constants"):
        for name, expression in parser[section].items():
            value = eval(expression, {"__builtins__": {}}, constants)  # our own files
            (constants if section == "constants" else values)[name] = value
    return values


def words(value):
    return (value,) if isinstance(value, str) else tuple(value)


def hosted(cpp, c, wrapper=(), link=()):
    """A machine with an operating system."""
    support = ((BOARDS / "host" / "host.cpp", (*language(), '-DBOARD_NAME="host"')),)
    return Machine(words(cpp), words(c), (*words(cpp), *words(link)), support=support, wrapper=words(wrapper))


def host(compiler="g++"):
    return hosted(compiler, "gcc")


def linux(name):
    """One of ports/machines, which QEMU plays in user mode."""
    values = read_machine_files(MACHINES / f"{name}.ini")
    cpp = (values["cpp"], *values.get("cpp_args", ()))
    return hosted(cpp, values["c"], values["exe_wrapper"], values["cpp_link_args"])


def headers_of_newlib():
    """Those of C++ for Arm's bare metal, by their flags: they name no processor, and Debian has none for bare RISC-V."""
    return tuple(word for folder in sorted(pathlib.Path("/usr/include/newlib/c++").glob("*/"))[-1:]
                 for path in (folder, folder / "arm-none-eabi") for word in ("-isystem", str(path)))


def riscv32(extensions, abi):
    """A 32-bit RISC-V without a C library, played by QEMU in user mode."""
    core = (f"-march=rv32{extensions}", f"-mabi={abi}")
    bare = ("--specs=picolibc.specs", "-ffreestanding", "-fno-tree-loop-distribute-patterns")
    support = tuple((BOARDS / source, (f"-I{BOARDS}", "-Os")) for source in ("riscv32/riscv32.c", "memory.c"))
    return Machine(
        cpp=("riscv64-unknown-elf-g++", *core, *bare, *headers_of_newlib(), "-fno-exceptions", "-fno-rtti"),
        c=("riscv64-unknown-elf-gcc", *core, *bare),
        link=("riscv64-unknown-elf-gcc", *core, "-nostdlib", "-Wl,--no-warn-rwx-segments"),
        libraries=("-lgcc",),
        support=support,
        wrapper=("qemu-riscv32",))


def memory_of(board):
    memory_map = (BOARDS / board / "memory.ld").read_text(encoding="utf-8")
    number, unit = re.search(r"RAM .*LENGTH = (\d+)([KM])", memory_map).groups()
    return int(number) * {"K": 1024, "M": 1024 * 1024}[unit]


def board(name):
    """One of ports/boards, as its meson.build builds for it."""
    values = read_machine_files(BOARDS / name / "cross.ini", BOARDS / "cortex-m.ini")
    flags = ("-Os", "-fno-tree-loop-distribute-patterns", f'-DBOARD_NAME="{name}"', f"-DBOARD_CLOCK_HZ={values['clock_hz']}")
    return Machine(
        cpp=(values["cpp"], *values["cpp_args"], "-fno-exceptions", "-fno-rtti"),
        c=(values["c"], *values["c_args"]),
        link=(values["cpp"], *values["cpp_link_args"]),
        libraries=("-lgcc", f"-T{BOARDS / name / 'memory.ld'}", f"-L{BOARDS}"),
        support=tuple((source, flags) for source in sorted(BOARDS.glob("*.c"))),
        wrapper=tuple(values["exe_wrapper"]),
        memory=memory_of(name))


def boards():
    return sorted(file.parent.name for file in BOARDS.glob("*/cross.ini"))


def clang_for_firmware(clang, machine):
    """The machine whose C++ Clang compiles. Headers are those of GCC's bare-metal library: whatever others are installed, none is taken."""
    _, said = attempt([*machine.cpp, "-E", "-v", "-x", "c++", os.devnull, "-o", os.devnull])
    listed = said.partition("#include <...> search starts here:\n")[2].partition("End of search list.")[0].split()
    headers = [word for path in map(os.path.realpath, listed) if "/lib/gcc/" not in path for word in ("-isystem", path)]
    # In a freestanding program Clang mangles the name of main; with -meabi gnu it calls memset by that name.
    flags = [flag for flag in machine.cpp[1:] if flag not in ("-masm-syntax-unified", "-ffreestanding")]
    cpp = (clang, "--target=arm-none-eabi", "-meabi", "gnu", "-fshort-enums", "-nostdinc++", "-nostdlibinc", *headers, *flags)
    return dataclasses.replace(machine, cpp=cpp, link=(*machine.link, "-Wl,-z,noexecstack"))


# --- Building ---

RULES = """
rule compile
  command = $call -MD -MF $out.d -MT $out -o $out
  depfile = $out.d
  deps = gcc
rule link
  command = $call -o $out
rule run
  command = (timeout 120 $call >$out.part || (tail -n 12 $out.part | cut -c 1-100; exit 1)) && mv $out.part $out
"""
FAILED_STEP = re.compile(r"^FAILED: (?:\[code=\d+\] )?(\S+).*\n(.*\n(?:(?!\[\d+/\d+\]|FAILED: |ninja: ).*\n)*)", re.MULTILINE)


class Build:
    """Steps that make files in a folder, one each. The same step twice is one."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.steps = {}

    def step(self, rule, made, inputs, command):
        """`made` is also made again if the tool that makes it changes, as with a new version of a compiler."""
        tool = os.path.realpath(shutil.which(command[0]) or command[0])
        paths = [re.sub(r"([$ :])", r"$\1", str(path)) for path in (made, *inputs, tool)]
        call_it = shlex.join(map(str, command)).replace("$", "$$")
        self.steps[made] = f"build {paths[0]}: {rule} {' '.join(paths[1:-1])} | {paths[-1]}\n  call = {call_it}\n"
        return made

    def compile(self, machine, source, *flags):
        source = pathlib.Path(source)
        command = [*(machine.c if source.suffix == ".c" else machine.cpp), *flags, "-c", source]
        number = zlib.crc32(shlex.join(map(str, command)).encode())
        return self.step("compile", self.folder / f"{source.stem}-{number:08x}.o", [source], command)

    def link(self, machine, name, objects, *flags):
        return self.step("link", self.folder / f"{name}.elf", objects, [*machine.link, *objects, *flags, *machine.libraries])

    def support(self, machine):
        """The objects that every program needs there."""
        return [self.compile(machine, source, *flags) for source, flags in machine.support]

    def program(self, machine, name, sources, *flags):
        return self.link(machine, name, [*(self.compile(machine, source, *flags) for source in sources), *self.support(machine)])

    def run(self, machine, program):
        """What the program prints, in a file."""
        return self.step("run", program.with_suffix(".txt"), [program], [*machine.wrapper, program])

    def make(self, keep_going=True):
        """{file: what was said} of the steps that failed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "build.ninja").write_text(RULES + "".join(self.steps.values()), encoding="utf-8")
        status, said = attempt(["ninja", "-C", self.folder, "-k", "0" if keep_going else "1", f"-j{os.cpu_count()}"], seconds=None)
        failed = {pathlib.Path(made): text for made, text in FAILED_STEP.findall(said)}
        return failed or ({self.folder: said[-2000:]} if status != 0 else {})

    def is_made(self, file):
        """After some steps failed: are this file and all that it is made of up to date?"""
        return "no work to do" in attempt(["ninja", "-C", self.folder, "-n", file])[1]

    def demand(self):
        """All of it, or what was said first."""
        for made, said in self.make(keep_going=False).items():
            raise Failed(f"{made.name}: {said[:3000]}")
