# SPDX-License-Identifier: MIT
"""Which names a header may define."""
import re

from .refusal import Refusal, shown

KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl concept const
    consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum
    explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or
    or_eq private protected public register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
    xor xor_eq""".split())
TAKEN = frozenset({"std", "posix", "tinyattn", "main"})
TAKEN_IN_A_NAMESPACE = frozenset({"weights", "Weights"})


def is_identifier(name):
    return bool(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name)) and name not in KEYWORDS and not re.search("^_[A-Z]|__", name)


def check_namespace(name):
    first = name.split("::")[0]
    if not all(map(is_identifier, name.split("::"))) or first.startswith("_") or first in TAKEN:
        raise Refusal(f"{shown(name)} cannot be the name of a C++ namespace")


def check_part(name):
    if not is_identifier(name) or name in TAKEN_IN_A_NAMESPACE:
        raise Refusal(f"{shown(name)} cannot be the name of a constant in the header")
