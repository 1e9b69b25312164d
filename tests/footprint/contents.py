# SPDX-License-Identifier: MIT
"""What is in an object or an image: its sizes, and what firmware must not hold, each said in a sentence."""
import re
import typing

from boards import call

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


class Symbol(typing.NamedTuple):
    name: str
    kind: str  # nm's letter; U is undefined


def symbols(board, file):
    """But for those that only mark where code ends and data begins."""
    lines = call([board.tool("nm"), "--format=posix", file]).splitlines()
    return [Symbol(*line.split()[:2]) for line in lines if not line.startswith("$")]


def forbidden(name):
    return next((what for what, pattern in FORBIDDEN.items() if re.fullmatch(pattern, name)), None)


def unwanted_symbol(symbol, board):
    what = forbidden(symbol.name)
    if what:
        return f"needs {symbol.name}: {what}" if symbol.kind == "U" else f"holds {symbol.name}: {what}"
    if symbol.kind != "U":
        return None
    if not HELPER.fullmatch(symbol.name):
        return f"needs {symbol.name}: the compiler's own library has none"
    if board.has_fpu and FLOAT_HELPER.fullmatch(symbol.name):
        return f"needs {symbol.name}: arithmetic in float, for which this core has instructions"
    return None


def double_instructions(board, file):
    """Moves of 8 bytes are none: they carry two floats as well."""
    code = call([board.tool("objdump"), "--disassemble", "--no-show-raw-insn", file])
    found = re.findall(r"\t(v(?!mov|ldr|str|ldm|stm|push|pop)\w+(?:\.\w+)*\.f64(?:\.\w+)*)\t", code)
    return [f"computes in double: {instruction}" for instruction in sorted(set(found))]


def sections(board, file):
    """Name, flags and size of every section that takes memory on the board."""
    line = r"^\s*\[ *\d+\] (\S+)\s+(\S+)\s+[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) \d+\s+(\w*A\w*) "
    table = call([board.tool("readelf"), "--section-headers", "--wide", file])
    return [(name, kind, flags, int(size, 16)) for name, kind, size, flags in re.findall(line, table, re.MULTILINE)]


# Patterns of section names.
UNWANTED_SECTIONS = {
    r"\.(init|fini|preinit)_array.*|\.[cd]tors.*": "runs code before or after main",
    r"\.ARM\.extab.*|\.gcc_except_table.*": "carries tables for unwinding",
}


def unwanted_section(name, flags, size):
    for pattern, what in UNWANTED_SECTIONS.items():
        if size and re.fullmatch(pattern, name):
            return f"{what}: {name}"
    return f"keeps {size} bytes of static RAM: {name}" if size and "W" in flags else None


def unwanted_in_object(board, file):
    """All that firmware must not hold, in an object that is nothing but the library and its caller."""
    found = [unwanted_symbol(symbol, board) for symbol in symbols(board, file)]
    found += [unwanted_section(name, flags, size) for name, _, flags, size in sections(board, file)]
    return [problem for problem in found if problem] + double_instructions(board, file)


def unwanted_in_growth(board, image, without):
    """What the linker brought along with the library: helpers of helpers."""
    before = {symbol.name for symbol in symbols(board, without)}
    brought = [symbol.name for symbol in symbols(board, image) if symbol.name not in before]
    return [f"brings {name} along: {forbidden(name)}" for name in brought if forbidden(name)]


def helpers(board, file):
    return sorted(symbol.name for symbol in symbols(board, file) if symbol.kind == "U" and HELPER.fullmatch(symbol.name))


def flash(board, image):
    """Code, constants, and the first values of variables. No memory map of ours keeps tables for unwinding."""
    return sum(size for name, kind, _, size in sections(board, image) if kind != "NOBITS" and not name.startswith(".ARM"))


def static_ram(board, image):
    """The section for constructors counts as writable, but lies in flash."""
    return sum(size for name, _, flags, size in sections(board, image) if "W" in flags and name not in (".stack", ".init_array"))
