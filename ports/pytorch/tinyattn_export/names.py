# SPDX-License-Identifier: MIT
"""Which names a header may define: none that the language has already, nor one that looks like a macro."""
import itertools
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
MACROS = frozenset("assert complex errno far i386 linux near stderr stdin stdout unix".split())  # of headers and GCC

OF_C = frozenset((  # functions and variables that programs may have at global scope
    "abs ceil clock close cos div environ exit exp floor free gamma index link log open pause pow printf raise read remove "
    "rename rint round select signal sin sleep sqrt system tan time tm truncate write").split())


def objection(name):
    """Returns why nothing in a header may have this name, or an empty string if it may."""
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        return "it is no identifier"
    if name in KEYWORDS:
        return "it is a keyword"
    if name in RESERVED or re.search("^_[A-Z]|__", name):
        return "it is reserved"
    if name in MACROS or re.fullmatch("[A-Z][A-Z0-9_]*", name):
        return "it is a macro, or in capitals as macros are"
    if name.endswith("_t"):
        return "it ends as types of the C library do"
    return ""


def check(name, what, problem):
    """Raises an ExportError if there is a problem with this name of what is given."""
    if problem:
        raise ExportError(f"{printable(name)} cannot be the name of {what}: {problem}")


def check_namespace(name):
    check(name, "a C++ namespace", next(filter(None, map(objection, name.split("::"))), ""))
    check(name, "a C++ namespace", "the C library has it" if name in OF_C else "")


def check_c(name):
    check(name, "a constant in C", "the library has it" if name.startswith("tinyattn_") else objection(name))


def check_part(name):
    check(name, "a constant in the header", "the header has it" if name in ("weights", "Weights") else objection(name))


def first_free(base, is_taken, form="{}_{}"):
    """Returns a name, or else the first of name_2, name_3 and so on that is not taken."""
    numbered = (form.format(base, number) for number in itertools.count(2))
    return next(name for name in itertools.chain([base], numbered) if not is_taken(name))
