# SPDX-License-Identifier: MIT
"""Which names a header may define: none that the language, the C library or a compiler has already."""
import re

from .refusal import Refusal, shown

KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl concept const
    consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum
    explicit export extern false float for friend goto if import inline int long module mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert
    static_cast struct switch template this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void
    volatile wchar_t while xor xor_eq""".split())
TAKEN = frozenset({"std", "posix", "tinyattn", "main"})
# Macros that are not in capitals: of C headers, and of GCC and Clang on their systems unless -std=c++20 forbids them.
MACROS = frozenset(
    """alloca assert complex errno fpclassify imaginary isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan
    isnormal isunordered math_errhandling noreturn offsetof setjmp sigsetjmp signbit stderr stdin stdout unreachable va_arg va_copy va_end
    va_start be16toh be32toh be64toh htobe16 htobe32 htobe64 htole16 htole32 htole64 htonl htons le16toh le32toh le64toh ntohl ntohs
    aix alpha apollo arm arm64 bsd hpux hppa i286 i386 i486 i586 i686 i960 interrupt linux m68k mc68000 mc68020 mips ns32000 near far
    ppc powerpc pyr riscv sgi sparc sun unix vax""".split())
MATH = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin fmod
    frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow
    remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc""".split()
# Functions and types of the C library; those that end in _t are not listed.
C_LIBRARY = frozenset(
    """FILE abort abs aligned_alloc asctime at_quick_exit atexit atof atoi atol atoll bsearch btowc calloc clearerr clock ctime difftime div
    exit fclose feclearexcept fegetenv fegetexceptflag fegetround feholdexcept feof feraiseexcept ferror fesetenv fesetexceptflag
    fesetround fetestexcept feupdateenv fflush fgetc fgetpos fgets fgetwc fgetws fopen fprintf fputc fputs fputwc fputws fread free freopen
    fscanf fseek fsetpos ftell fwide fwprintf fwrite fwscanf getc getchar getenv gets getwc getwchar gmtime imaxabs imaxdiv isalnum isalpha
    isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper iswalnum iswalpha iswblank iswcntrl iswctype iswdigit iswgraph
    iswlower iswprint iswpunct iswspace iswupper iswxdigit isxdigit labs lconv ldiv llabs lldiv localeconv localtime longjmp malloc mblen
    mbrlen mbrtoc16 mbrtoc32 mbrtowc mbsinit mbsrtowcs mbstowcs mbtowc memchr memcmp memcpy memmove memset mktime perror printf putc
    putchar puts putwc putwchar qsort quick_exit raise rand realloc remove rename rewind scanf setbuf setlocale setvbuf signal snprintf
    sprintf srand sscanf strcat strchr strcmp strcoll strcpy strcspn strerror strftime strlen strncat strncmp strncpy strpbrk strrchr strspn
    strstr strtod strtof strtoimax strtok strtol strtold strtoll strtoul strtoull strtoumax strxfrm swprintf swscanf system time timespec
    timespec_get tm tmpfile tmpnam tolower toupper towctrans towlower towupper ungetc ungetwc vfprintf vfscanf vfwprintf vfwscanf vprintf
    vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wcrtomb wcscat wcschr wcscmp wcscoll wcscpy wcscspn wcsftime
    wcslen wcsncat wcsncmp wcsncpy wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof wcstoimax wcstok wcstol wcstold wcstoll wcstombs
    call_once free_aligned_sized free_sized memalignment memset_explicit once_flag timegm uabs uimaxabs ulabs ullabs
    wcstoul wcstoull wcstoumax wcsxfrm wctob wctomb wctrans wctype wmemchr wmemcmp wmemcpy wmemmove wmemset wprintf wscanf""".split())
C_LIBRARY |= {name + ending for name in MATH for ending in ("", "f", "l")}

# What else systems declare beside it: all of glibc's <stdlib.h>, and of POSIX what is a word. It troubles no name in a namespace.
SYSTEM = frozenset(
    """a64l access acct alarm arc4random arc4random_buf arc4random_uniform basename bcmp bcopy brk bzero canonicalize_file_name chdir
    chmod chown chroot clearenv clone close connect creat crypt daemon daylight dirname drand48 drand48_data drand48_r drem dup dup2
    dup3 ecvt ecvt_r environ erand48 erand48_r execl execv execve execvp fcntl fcvt fcvt_r fd_mask fd_set fdopen ffs fileno finite flock
    fork fstat fsync ftruncate gamma gammaf gammal gcvt getline getloadavg getopt getpid getpt getsubopt gettimeofday getuid grantpt
    index initstate initstate_r ioctl iovec isascii isatty j0 j1 jmp_buf jn jrand48 jrand48_r kill l64a lcong48 lcong48_r lerp link
    listen lockf lrand48 lrand48_r lseek mkdtemp mkostemp mkostemp64 mkostemps mkostemps64 mkstemp mkstemp64 mkstemps mkstemps64 mktemp
    mmap mrand48 mrand48_r munmap nanosleep nice nrand48 nrand48_r on_exit open optarg opterr optind optopt pause pclose pipe poll popen
    posix_memalign posix_openpt pread pselect ptsname ptsname_r putenv pwrite qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort_r rand_r random
    random_data random_r read readlink reallocarray realpath recv rindex rmdir rpmatch sbrk scalb secure_getenv seed48 seed48_r select
    send setenv setstate setstate_r sigaction sigevent signgam significand sigval sincos sincosf sleep socket splice srand48 srand48_r
    srandom srandom_r stat stpcpy strcasecmp strdup strfromd strfromf strfromf128 strfromf32 strfromf32x strfromf64 strfromf64x strfroml
    strndup strnlen strsep strsignal strtod_l strtof128 strtof128_l strtof32 strtof32_l strtof32x strtof32x_l strtof64 strtof64_l
    strtof64x strtof64x_l strtof_l strtol_l strtold_l strtoll_l strtoq strtoul_l strtoull_l strtouq swab symlink sync syscall sysconf
    tee timeval timex timezone toascii truncate tzname tzset u_char u_int u_long u_short ualarm uint ulong unlink unlockpt unsetenv
    ushort usleep va_list valloc vfork wait write y0 y1 yn""".split())


def objection(name):
    """Why no name in a header may be this one, or nothing."""
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        return "it is no identifier"
    if name in KEYWORDS:
        return "it is a keyword"
    if name in TAKEN or re.search("^_[A-Z]|__", name):
        return "it is reserved"
    if name in MACROS or re.fullmatch("[A-Z][A-Z0-9_]*", name):
        return "it is a macro, or in capitals as macros are"
    if name in C_LIBRARY or name.endswith("_t"):
        return "the C library has it, or may have it"
    return ""


def check_namespace(name):
    """The first of nested namespaces stands beside what systems declare."""
    parts = name.split("::")
    systems = "systems declare it" if parts[0].startswith("_") or parts[0] in SYSTEM else ""
    problem = next(filter(None, [*map(objection, parts), systems]), "")
    if problem:
        raise Refusal(f"{shown(name)} cannot be the name of a C++ namespace: {problem}")


def check_part(name):
    problem = "the header has it" if name in ("weights", "Weights") else objection(name)
    if problem:
        raise Refusal(f"{shown(name)} cannot be the name of a constant in the header: {problem}")
