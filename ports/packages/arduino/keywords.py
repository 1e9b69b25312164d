# SPDX-License-Identifier: MIT
"""Makes keywords.txt, by which the IDE colours a sketch, from the names in the C headers and the C++ headers."""
import re

from .. import tree

IN_C = ("tinyattn/tinyattn.h", "tinyattn/tinyattn_encoder.h", "tinyattn/tinyattn_models.h",
        "tinyattn/tinyattn_operations.h", "tinyattn/scratch.h", "tinyattn/activation_list.h")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
TYPES_OF_C = re.compile(r"^\} (\w+);", re.MULTILINE)
FUNCTIONS_OF_C = re.compile(r"^TINYATTN_API [\w* ]*?(tinyattn_\w+)\(", re.MULTILINE)
CONSTANTS_OF_C = re.compile(r"^  (TINYATTN_[A-Z_]+)(?: = 0)?,? *$", re.MULTILINE)
ACTIVATIONS = re.compile(r"^ +use\((\w+), (\w+),", re.MULTILINE)  # the function, and the enumerator without TINYATTN_
MACROS = re.compile(r"^#define (TINYATTN_\w*(?:SCRATCH|CACHE)(?:_INT8)?)\(", re.MULTILINE)
# Declarations of a C++ header in the namespace tinyattn itself: they are not indented.
TYPES = re.compile(r"^(?:struct|class|enum class|using) (?:TINYATTN_\w+ )?([A-Z]\w+)\b", re.MULTILINE)
FUNCTIONS = re.compile(r"^(?:.*requires\(.*\) ?)?(?:\w+ )*constexpr "
                       r"(?!.*\boperator)[\w:<>., ]*?\b([a-z]\w+)\(", re.MULTILINE)
INNER = re.compile(r"^namespace (?:tinyattn \{.* namespace )?(?!tinyattn\b)([a-z]\w+) \{\n"
                   r".*?^\}+  // namespace [\w:]*\b\1$", re.MULTILINE | re.DOTALL)


def keywords_of(kind, pattern, headers):
    """Returns the lines of all names of a kind; a tab separates the fields."""
    texts = (INNER.sub("", tree.headers()[name].read_text(encoding="utf-8")) for name in headers)
    names = {name for text in texts for name in pattern.findall(COMMENT.sub("", text))}
    return [f"{name}\t{kind}" for name in sorted(names)]


def keywords(headers):
    """Returns the text of keywords.txt."""
    in_cpp = [name for name in headers if name not in IN_C and not name.endswith("_checks.hpp")]
    lines = [*keywords_of("KEYWORD1", TYPES_OF_C, IN_C), *keywords_of("KEYWORD1", TYPES, in_cpp),
             *keywords_of("KEYWORD2", FUNCTIONS_OF_C, IN_C), *keywords_of("KEYWORD2", FUNCTIONS, in_cpp),
             *keywords_of("LITERAL1", CONSTANTS_OF_C, IN_C), *keywords_of("LITERAL1", MACROS, IN_C)]
    listed = tree.headers()["tinyattn/activation_list.h"].read_text(encoding="utf-8")
    for function, enumerator in ACTIVATIONS.findall(listed):
        lines += [f"{function}\tKEYWORD2", f"TINYATTN_{enumerator}\tLITERAL1"]
    return "\n".join(["# What a sketch may name of tinyattn.", *lines]) + "\n"
