# SPDX-License-Identifier: MIT
"""The input filter of doxygen: prints a header with its comments as doxygen reads them.

    headers.py HEADER

What is not public, doxygen leaves out by the settings of Doxyfile. Every line keeps its number, so that links to the
source are right.
"""
import pathlib
import re
import sys

from . import notions

IN_C = re.compile(r"/\*(.*?)\*/", re.DOTALL)
FOR_TOOLS = re.compile(r"((?<=\S) *//|(?<=//)) ?(?:NOLINT|clang-format|SPDX).*")
# Comments that document nothing: those of an end, of a condition or of a friend, and those before an empty line.
OF_END = re.compile(r"^(}.*?|#(?!define).*?) *//.*", re.MULTILINE)
STANDING_ALONE = re.compile(r"(?:^ *///.*\n)+(?=\n| *}|#(?!define)| *(?:TINYATTN_\w+ )?friend\b)", re.MULTILINE)
# What is public, but not for users: Members, deduction guides, and overloads that are there for a diagnostic.
NOT_FOR_USERS = re.compile(r"""^([ ]*)(?= using[ ]Members\b | (?:template[ ].*\n)?\w+\(.*\)[ ]->[ ] |
    (?:template|requires|constexpr|explicit|Diagnosed)\b[^;{}]*?
    (?:\bDiagnosed\b | \{\s*static_assert\(\s*(?:detail::)?no_such_call\b))""", re.MULTILINE | re.VERBOSE)
# Several variables that have one comment, after them or before them.
COMMENT_AFTER = re.compile(r"^( +[\w:]+ )(\w+(?:, \w+)+)(?=; *(/\*\*<.*\*/))", re.MULTILINE)
COMMENT_BEFORE = re.compile(r"((?:^ *///.*\n)+)( *static constexpr \S+ \w+ =[^;]*)", re.MULTILINE)
# Functions of elements, each made by a macro of functions.hpp: its operands, and what is computed of them.
SECTION = re.compile(r"^// --- (.*) ---\n", re.MULTILINE)
OF_ELEMENTS = re.compile(r"""^(\#define[ ]TINYATTN_FUNCTION_OF_.*\)[ ])?
    TINYATTN_(FUNCTION|OF_VECTOR|OF_FLOATS?)\((\w+),\s*
    (?:(?:<class[ ]Port>)?\(([^()]*)\),\s*)?((?:.|\n)*?)\)\n(?=\n|//|\#|TINYATTN)""", re.MULTILINE | re.VERBOSE)
# What a module declares besides its members.
MODULE = re.compile(r"^ +TINYATTN_MODULE\([^()]*\)$", re.MULTILINE)
OF_MODULE = (" /** The number of weights and biases. */ static constexpr std::size_t parameter_count = 0;"
             " /** The bytes that they take. */ static constexpr std::size_t parameter_bytes = 0;")
NAMESPACE = re.compile(r"^namespace tinyattn \{( namespace compiled \{)?( inline namespace \w+ \{)?$", re.MULTILINE)
INNER_NAMESPACE = re.compile(r"^(namespace (function|reduction) \{)$((?:.|\n)*?)^(})  // namespace \2$", re.MULTILINE)
END_OF_NAMESPACE = re.compile(r"^(}+)  // namespace tinyattn\b(?!.*detail).*", re.MULTILINE)


def as_in_cpp(comment):
    """Returns a comment of C as lines that begin with // in its column."""
    column = comment.start() - comment.string.rfind("\n", 0, comment.start()) - 1
    return "//" + re.sub(r"\n *\*", "\n" + " " * column + "//", comment[1].rstrip())


def markdown(said):
    """Returns a line of a comment in doxygen's Markdown, where lines that are indented by more become a block."""
    if said.startswith("   "):
        return "    " + said
    parts = re.split(r"(`[^`]*`)", said)
    parts[::2] = [re.sub(r"[\\@%*#<>]", r"\\\g<0>", text) for text in parts[::2]]
    return re.sub(r" (\.\.?) ", r" \1&nbsp;", "".join(parts))  # no end of a sentence


def first_comment(text):
    """Returns the first comment of a source of C or C++ in Markdown, without the license, and the rest."""
    text = IN_C.sub(as_in_cpp, text, count=1) if text.startswith("/*") else text
    said = re.match(r"(?://.*\n)*", text)[0]
    lines = [markdown(line.removeprefix("//")) for line in FOR_TOOLS.sub("", said).splitlines()]
    return "\n".join(lines).strip("\n"), text[len(said):]


def in_one_line(found):
    said = re.sub(r"\n *///<", " ", found[1])
    return f"/**< {said} */" + "\n" * found[0].count("\n")


def documented(text):
    """Marks comments as documentation: of what follows, or of what precedes them on their line."""
    lines, after = [], None  # the column of a comment after code
    for line in text.split("\n"):
        code, mark, said = line.partition("//")
        after = len(code) if mark and (code.strip() or after == len(code)) else None
        said = "///<" + markdown(said.strip()) if after else "///" + markdown(said) if mark else ""
        lines.append(code + said)
    return re.sub(r"///<(.*(?:\n *///<.*)*)", in_one_line, "\n".join(lines))


def for_each_name(text):
    """Repeats a comment for each of the variables that it documents."""
    def before(found):
        said = re.sub(r"\n? *///", "", found[1]).strip()
        return found[1] + re.sub(r",\s+(?=\w+ =)", rf"\g<0>/** {said} */ ", found[2])
    text = COMMENT_AFTER.sub(lambda found: found[1] + found[2].replace(", ", f", {found[3]} "), text)
    return COMMENT_BEFORE.sub(before, text)


def of_elements(text):
    """Makes variables of the macros that define functions of elements; their comments say how they are called."""
    def variable(found, section):
        define, macro, name, operands, computed = found.groups()
        operands = re.findall(r"\w+(?=,|$)", operands or ("a, b" if macro == "OF_FLOATS" else "x"))
        formula = re.sub(r"(\w)\* ", r"\1 * ", " ".join(re.sub(r"decltype\(x\)\((\S+)\)", r"\1", computed).split()))
        equals = f" = {formula}" if macro == "FUNCTION" and "return" not in formula else ""
        said = f"/** `{name}({', '.join(operands)}){equals}`. {section}. */ "
        return (define or said) + f"inline constexpr Function {name};" + "\n" * found[0].count("\n")
    first, *parts = SECTION.split(text)
    return first + "".join("\n" + OF_ELEMENTS.sub(lambda found, of=section: variable(found, of), part)
                           for section, part in zip(parts[::2], parts[1::2], strict=True))


def grouped(text, notion):
    """Puts the names of the namespace, or those of a header of C, on the page of a notion."""
    begin, end = f"/** @of_notion{{{notion}}} */", "/** @} */"  # an alias of Doxyfile
    if "_H\n\n" in text:
        return text.replace("_H\n\n", f"_H\n{begin}\n", 1) + end
    text = INNER_NAMESPACE.sub(rf"{end} \1 {begin}\3{end} \4 {begin}", text)
    return END_OF_NAMESPACE.sub(rf"{end} \1", NAMESPACE.sub(rf"\g<0> {begin}", text))


def shown(header):
    """Returns a header as doxygen is to read it."""
    text = FOR_TOOLS.sub("", IN_C.sub(as_in_cpp, header.read_text(encoding="utf-8")))
    name = header.as_posix().rpartition("/tinyattn/")[2]
    text = of_elements(text) if name == "functions.hpp" else text
    for notion in (notion for notion, entry in notions.read().items() if name in entry["headers"]):
        text = grouped(text, notion)
    text = documented(OF_END.sub(r"\1", text))
    text = STANDING_ALONE.sub(lambda found: "\n" * found[0].count("\n") if found.start() > 0 else found[0], text)
    text = for_each_name(text).replace("///", "/// @file", 1)  # the first comment, which stands alone, too
    text = re.sub(r"/// (For kernels|As the kernels see)", r"/// @private \1", text)
    text = re.sub(r"(TINYATTN_(?:ENUMERATOR|FUNCTION|BACKWARD)_OF_\w+\(.*\)) ", r"\1 /** formula */ ", text)
    text = MODULE.sub(lambda found: OF_MODULE + "\n" * found[0].count("\n"), text)
    text = text.replace("inline namespace TINYATTN_PORT_NAMESPACE", 'extern "C++"')
    return NOT_FOR_USERS.sub(r"\1/** @private */ ", text)


if __name__ == "__main__":
    sys.stdout.write(shown(pathlib.Path(sys.argv[1])))
