# SPDX-License-Identifier: MIT
"""What is in an object or an image: its sizes, and what firmware must not hold, each said in a sentence."""
import re

import building

LIBM = "|".join("""
    acos asin atan atan2 cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb
    ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nearbyint nextafter pow remainder remquo rint round scalbln
    scalbn sin sincos sinh sqrt tan tanh tgamma trunc""".split())

# What it is, and the symbols by which it shows.
FORBIDDEN = {
    "the heap": r"(_?(malloc|calloc|realloc|free)(_r)?|aligned_alloc|_?sbrk(_r)?|_Zn[wa]\w+|_Zd[la]\w+)",
    "type information": r"(_ZT[ISV]\w+|__dynamic_cast|__cxa_pure_virtual)",
    "a guard variable": r"(__cxa_guard_\w+|_ZGV\w+)",
    "destructors at exit": r"(__cxa_atexit|__aeabi_atexit|atexit|__dso_handle)",
    "exceptions": r"(__cxa_\w+|_ZSt9terminatev|_ZSt\d+__throw_\w+)",
    "unwinding": r"(_Unwind_\w+|__gxx_personality_\w+|__aeabi_unwind_\w+|__gnu_unwind_\w+)",
    "stdio": r"(v?[fsd]?n?i?printf|v?sni?printf|f?put[cs]|putchar|f(write|flush|open|close)|perror|_impure_ptr|_ZSt4cout)",
    "an end of the program": r"(abort|_?exit|raise|__assert\w*)",
    "libm": rf"(({LIBM})[fl]?|__ieee754_\w+|__math_\w+|__errno)",
    "arithmetic in double": r"(__aeabi_(d\w+|cd\w+|f2d|u?[il]2d|ul2d)|__[a-z]+df[a-z]*\d?)",
}
# Of a compiler's own library; and what GCC calls without a libc too.
HELPER = re.compile(r"(__aeabi_\w+|__gnu_[df]2h_\w+|__gnu_h2[df]_\w+|__[a-z]+[sdt][if](3|2|4)?(vfp)?|mem(cpy|move|set|cmp))")
FLOAT_HELPER = re.compile(r"(__aeabi_(c?f\w+|u?[il]2f|ul2f|h2f)|__[a-z]+sf[a-z]*\d?)")


def symbols(machine, file):
    """Names, and nm's letter of what each is; U is undefined. But for those that only mark where code ends and data begins."""
    lines = building.call([machine.tool("nm"), "--format=posix", file]).splitlines()
    return [line.split()[:2] for line in lines if not line.startswith("$")]


def forbidden(name):
    return next((what for what, pattern in FORBIDDEN.items() if re.fullmatch(pattern, name)), None)


def unwanted_symbol(name, kind, machine):
    what = forbidden(name)
    if what or kind != "U":
        return what and f"{'needs' if kind == 'U' else 'holds'} {name}: {what}"
    if not HELPER.fullmatch(name):
        return f"needs {name}: the compiler's own library has none"
    if "-mfloat-abi=hard" in machine.cpp and FLOAT_HELPER.fullmatch(name):
        return f"needs {name}: arithmetic in float, for which this core has instructions"
    return None


def double_instructions(machine, file):
    """Moves of 8 bytes are none: they carry two floats as well."""
    code = building.call([machine.tool("objdump"), "--disassemble", "--no-show-raw-insn", file])
    found = re.findall(r"\t(v(?!mov|ldr|str|ldm|stm|push|pop)\w+(?:\.\w+)*\.f64(?:\.\w+)*)\t", code)
    return [f"computes in double: {instruction}" for instruction in sorted(set(found))]


def sections(machine, file):
    """Name, kind, flags and size of every section that takes memory on the board."""
    line = r"^\s*\[ *\d+\] (\S+)\s+(\S+)\s+[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) \d+\s+(\w*A\w*) "
    table = building.call([machine.tool("readelf"), "--section-headers", "--wide", file])
    return [(name, kind, flags, int(size, 16)) for name, kind, size, flags in re.findall(line, table, re.MULTILINE)]


def unwanted_section(name, _, flags, size):
    if re.match(r"\.((init|fini|preinit)_array|[cd]tors)", name):
        return size and f"runs code before or after main: {name}"
    if re.match(r"\.(ARM\.extab|gcc_except_table)", name):
        return size and f"carries tables for unwinding: {name}"
    return size and "W" in flags and f"keeps {size} bytes of static RAM: {name}"


def unwanted_in_object(machine, file):
    """All that firmware must not hold, in an object that is nothing but the library and its caller."""
    found = [unwanted_symbol(*symbol, machine) for symbol in symbols(machine, file)]
    found += [unwanted_section(*section) for section in sections(machine, file)]
    return [problem for problem in found if problem] + double_instructions(machine, file)


def unwanted_in_growth(machine, image, without):
    """What the linker brought along with the library: helpers of helpers."""
    before, after = ({name for name, _ in symbols(machine, file)} for file in (without, image))
    return [f"brings {name} along: {forbidden(name)}" for name in sorted(after - before) if forbidden(name)]


def helpers(machine, file):
    return [name for name, kind in symbols(machine, file) if kind == "U" and HELPER.fullmatch(name)]


def flash(machine, image):
    """Code, constants, and the first values of variables. No memory map of ours keeps tables for unwinding."""
    return sum(size for name, kind, _, size in sections(machine, image) if kind != "NOBITS" and not name.startswith(".ARM"))


def static_ram(machine, image):
    """The section for constructors counts as writable, but lies in flash."""
    return sum(size for name, _, flags, size in sections(machine, image) if "W" in flags and name not in (".stack", ".init_array"))
