# SPDX-License-Identifier: MIT
"""What is in an object or an image: its flash, and what firmware must not hold, which is all that it is not known to
need."""
import re

from tests.support.processes import call

BINUTILS = "arm-none-eabi-"
# What the compiler's own library may be called for: memory and whole numbers; float where a core has no FPU; never
# double.
HELPER = re.compile(r"mem(cpy|move|set|cmp)|__aeabi_(mem\w+|u?[il]div(mod|0)?|l(mul|lsl|lsr|asr))"
                    r"|__(?!\w*[sd]f)\w+[sd]i\d")
FLOAT_HELPER = re.compile(r"__aeabi_(c?f(?!2d)\w+|u?[il]2f)|__(?!\w*df)\w+sf\w*")
# A firmware may be built with any of these. The library must come out clean with all of them, so that no flag hides
# anything.
EVERYTHING_ON = ("-fexceptions", "-frtti", "-fthreadsafe-statics")
# Code and constants; and the note of a function that nothing is thrown through it. Neither variables nor constructors.
SECTION = re.compile(r"\.(text|rodata|ARM\.exidx)(\..*)?")


def symbols(file, which):
    """Names of those that are `undefined` or `defined`; of an archive, in any of its objects."""
    lines = call([f"{BINUTILS}nm", "--format=posix", "--extern-only", f"--{which}-only", file]).splitlines()
    return {line.split()[0] for line in lines if not line.endswith(":")}


def unexpected(names, has_fpu):
    """Those that are no helpers of this core."""
    return sorted(name for name in names if not HELPER.fullmatch(name)
                  and (has_fpu or not FLOAT_HELPER.fullmatch(name)))


def double_instructions(file):
    """Moves of 8 bytes are none: they carry two floats as well."""
    code = call([f"{BINUTILS}objdump", "--disassemble", "--no-show-raw-insn", file])
    return sorted(set(re.findall(r"\t(v(?!mov|ldr|str|ldm|stm|push|pop)\w+(?:\.\w+)*\.f64(?:\.\w+)*)\t", code)))


def sections(file):
    """Name, kind and size of every section that takes memory on the board."""
    line = r"^\s*\[ *\d+\] (\S+)\s+(\S+)\s+[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) \d+\s+\w*A"
    table = call([f"{BINUTILS}readelf", "--section-headers", "--wide", file])
    return [(name, kind, int(size, 16)) for name, kind, size in re.findall(line, table, re.MULTILINE)]


def unwanted_in_object(file, has_fpu):
    """All that firmware must not hold, in an object that is nothing but the library and its caller."""
    return [*(f"needs {name}: code for this core must not" for name in unexpected(symbols(file, "undefined"), has_fpu)),
            *(f"holds {size} bytes in {name}, neither code nor a constant"
              for name, _, size in sections(file) if size and not SECTION.fullmatch(name)),
            *(f"computes in double: {instruction}" for instruction in double_instructions(file))]


def unwanted_in_growth(image, without, compiled, has_fpu):
    """What the linker brought along with an object: helpers of helpers."""
    before, after, its_own = (symbols(file, "defined") for file in (without, image, compiled))
    return [f"brings {name} along: code for this core must not need it"
            for name in unexpected(after - before - its_own, has_fpu)]


def flash(image):
    """Code, constants, and the first values of variables."""
    return sum(size for _, kind, size in sections(image) if kind == "PROGBITS")
