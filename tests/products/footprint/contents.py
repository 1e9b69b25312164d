# SPDX-License-Identifier: MIT
"""Examines an object or an image: its flash, and symbols and sections that firmware must not contain, which are all
that are not on a list of allowed ones."""
import re

from tests.support.processes import call

BINUTILS = "arm-none-eabi-"
# Functions of the compiler's run-time library that may be called: for memory and integers. FLOAT_HELPER: for float, on
# a core without an FPU. Never for double.
HELPER = re.compile(r"mem(cpy|move|set|cmp)|__aeabi_(mem\w+|u?[il]div(mod|0)?|l(mul|lsl|lsr|asr))"
                    r"|__(?!\w*[sd]f)\w+[sd]i\d")
FLOAT_HELPER = re.compile(r"__aeabi_(c?f(?!2d)\w+|u?[il]2f)|__(?!\w*df)\w+sf\w*")
# Flags that a firmware may or may not use. The library is compiled with all of them, so that it cannot depend on their
# absence.
EVERYTHING_ON = ("-fexceptions", "-frtti", "-fthreadsafe-statics")
# Allowed sections: code, constants, and .ARM.exidx, which notes that a function throws nothing. Neither variables nor
# constructors.
SECTION = re.compile(r"\.(text|rodata|ARM\.exidx)(\..*)?")


def symbols(file, which):
    """Returns the names of external symbols that are `undefined` or `defined`, in any object of an archive."""
    lines = call([f"{BINUTILS}nm", "--format=posix", "--extern-only", f"--{which}-only", file]).splitlines()
    return {line.split()[0] for line in lines if not line.endswith(":")}


def unexpected(names, has_fpu):
    """Returns the names that are no allowed helpers on this core, sorted."""
    return sorted(name for name in names if not HELPER.fullmatch(name)
                  and (has_fpu or not FLOAT_HELPER.fullmatch(name)))


def double_instructions(file):
    """Returns the instructions that compute in double. Moves of 8 bytes are left out: they can move two floats."""
    code = call([f"{BINUTILS}objdump", "--disassemble", "--no-show-raw-insn", file])
    return sorted(set(re.findall(r"\t(v(?!mov|ldr|str|ldm|stm|push|pop)\w+(?:\.\w+)*\.f64(?:\.\w+)*)\t", code)))


def sections(file):
    """Returns name, kind and size of each section that takes memory on the board."""
    line = r"^\s*\[ *\d+\] (\S+)\s+(\S+)\s+[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) \d+\s+\w*A"
    table = call([f"{BINUTILS}readelf", "--section-headers", "--wide", file])
    return [(name, kind, int(size, 16)) for name, kind, size in re.findall(line, table, re.MULTILINE)]


def unwanted_in_object(file, has_fpu):
    """Returns what firmware must not contain, in an object of only the library and its caller."""
    return [*(f"needs {name}: code for this core must not" for name in unexpected(symbols(file, "undefined"), has_fpu)),
            *(f"holds {size} bytes in {name}, neither code nor a constant"
              for name, _, size in sections(file) if size and not SECTION.fullmatch(name)),
            *(f"computes in double: {instruction}" for instruction in double_instructions(file))]


def unwanted_in_growth(image, without, compiled, has_fpu):
    """Returns what firmware must not contain, among the symbols that the linker added for an object: helpers of
    helpers."""
    before, after, its_own = (symbols(file, "defined") for file in (without, image, compiled))
    return [f"brings {name} along: code for this core must not need it"
            for name in unexpected(after - before - its_own, has_fpu)]


def flash(image):
    """Returns the bytes of flash: code, constants, and initial values of variables."""
    return sum(size for _, kind, size in sections(image) if kind == "PROGBITS")
