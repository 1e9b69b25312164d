# SPDX-License-Identifier: MIT
"""Which names a header may define: none that the language, the C library or a compiler has already."""
import re

from .errors import ExportError, printable

KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if import
    inline int long module mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
    public register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast
    struct switch template this thread_local throw true try typedef typeid typename typeof union unsigned using
    virtual void volatile wchar_t while xor xor_eq""".split())
RESERVED = frozenset({"std", "posix", "tinyattn", "main"})


def any_of(patterns):
    return re.compile("|".join(patterns.split()))


# Macros that are not in capitals: of C headers, and of GCC and Clang on their systems unless -std=c++20 forbids them.
MACROS = any_of(
    r"""alloca assert complex errno fpclassify imaginary
    is(finite|(greater|less)(equal)?|inf|lessgreater|nan|normal|unordered) math_errhandling noreturn offsetof
    (sig)?setjmp signbit std(err|in|out) unreachable va_(arg|copy|end|start) (be|le)(16|32|64)toh
    hto(be|le)(16|32|64) hton[ls] ntoh[ls] aix alpha apollo arm(64)? bsd hpux hppa i[2-9]86 i960 interrupt linux
    m68k mc680[02]0 mips ns32000 near far ppc powerpc pyr riscv sgi sparc sun unix vax""")
# Functions and types of the C library; those that end in _t are not listed.
C_LIBRARY = any_of(
    r"""(a?(cos|sin|tan)h?|atan2|cbrt|ceil|copysign|erfc?|exp2?|expm1|fabs)[fl]?
    (fdim|floor|fma|fmax|fmin|fmod|frexp|hypot|ilogb|ldexp)[fl]?
    ([lt]gamma|l?l?rint|l?l?round|log|log10|log1p)[fl]?
    (log2|logb|modf|nan|nearbyint|nextafter|nexttoward|pow|remainder|remquo)[fl]?
    (scalbl?n|sqrt|trunc)[fl]? isw?(alnum|alpha|blank|cntrl|ctype|digit|graph|lower|print|punct|space|upper|xdigit)
    tow?(lower|upper|ctrans)
    (str|wcs)(n?(cat|cmp|cpy)|r?chr|c?spn|coll|error|ftime|len|pbrk|str|tok|xfrm|to(d|f|ld|ll?|ull?|[iu]max))
    w?mem(chr|cmp|cpy|move|set) v?(f|sn?)?w?(printf|scanf) f?(un)?(get|put)w?(c|s|char)
    f(close|flush|open|read|reopen|seek|tell|wide) fwrite f[gs]etpos
    fe(of|rror|(clear|raise|test)except|holdexcept|[gs]et(env|round|exceptflag)|updateenv)
    mb(r?len|rtoc(16|32)|r?towc|sinit|sr?towcs) wc(r?tomb|sr?tombs|tob|type|trans) u?(ll?|imax)?(abs|div)
    ato([fil]|ll) [cm]alloc aligned_alloc realloc free_(aligned_)?sized FILE abort asctime (at_)?quick_exit atexit
    bsearch btowc call_once clearerr clock ctime difftime exit free getenv gmtime lconv localeconv localtime longjmp
    memalignment memset_explicit mktime once_flag perror qsort raise s?rand remove rename rewind setbuf setlocale
    setvbuf signal system time timegm timespec timespec_get tm tmpfile tmpnam""")
# What else systems declare: all of glibc's <stdlib.h>, and of POSIX what is a word. Names within a namespace do not
# collide with these.
SYSTEM = any_of(
    r"""(([dejlmn]r|sr)and48|(lcong|seed)48|s?random|rand|initstate|setstate|q?[ef]cvt|ptsname|environ|qsort)(_r)?
    drand48_data random_data strto[dflqu0-9x]+(_l)? strfrom[dfl0-9x]+ q?gcvt mk(o?stemps?(64)?|temp|dtemp) a64l l64a
    arc4random(_buf|_uniform)? [jy][01n] gamma[fl]? sincos[fl]? scalb drem finite significand lerp
    str(n?dup|nlen|casecmp|sep|signal) stpcpy bcmp bcopy bzero r?index ffs swab acct access alarm ualarm u?sleep
    nanosleep brk sbrk dup[23]? pipe fork vfork exec(l|v|ve|vp) wait kill pause nice send recv poll select pselect
    listen link unlink symlink readlink rmdir chdir chmod chown chroot open close creat read write pread pwrite
    lseek lockf flock stat fstat fsync sync ftruncate truncate mmap munmap msync ioctl iovec fcntl fdopen fileno
    popen pclose socket connect splice tee syscall daemon getline getopt opt(arg|err|ind|opt) getpid getpt getsubopt
    getloadavg gettimeofday getuid grantpt isascii toascii isatty tzname timezone daylight timeval timex basename
    dirname realpath canonicalize_file_name crypt clearenv putenv setenv unsetenv secure_getenv on_exit
    posix_(memalign|openpt) reallocarray valloc rpmatch sigaction sigevent sigval signgam jmp_buf fd_(mask|set)
    u_(char|int|long|short) u(int|long|short) unlockpt va_list clone sysconf tzset""")


def objection(name):
    """Returns why nothing in a header may have this name, or an empty string if it may."""
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        return "it is no identifier"
    if name in KEYWORDS:
        return "it is a keyword"
    if name in RESERVED or re.search("^_[A-Z]|__", name):
        return "it is reserved"
    if MACROS.fullmatch(name) or re.fullmatch("[A-Z][A-Z0-9_]*", name):
        return "it is a macro, or in capitals as macros are"
    if C_LIBRARY.fullmatch(name) or name.endswith("_t"):
        return "the C library has it, or may have it"
    return ""


def check_namespace(name):
    """Raises an ExportError if this cannot be the name of a namespace. The outermost namespace, which is global, must
    also differ from what systems declare."""
    parts = name.split("::")
    systems = "systems declare it" if parts[0].startswith("_") or SYSTEM.fullmatch(parts[0]) else ""
    problem = next(filter(None, [*map(objection, parts), systems]), "")
    if problem:
        raise ExportError(f"{printable(name)} cannot be the name of a C++ namespace: {problem}")


def check_c(name):
    """Raises an ExportError if this cannot be the name of a constant in C, which is global."""
    systems = "systems declare it" if name.startswith("_") or SYSTEM.fullmatch(name) else ""
    own = "the library has it" if name.startswith("tinyattn_") else ""
    problem = objection(name) or systems or own
    if problem:
        raise ExportError(f"{printable(name)} cannot be the name of a constant in C: {problem}")


def check_part(name):
    problem = "the header has it" if name in ("weights", "Weights") else objection(name)
    if problem:
        raise ExportError(f"{printable(name)} cannot be the name of a constant in the header: {problem}")
