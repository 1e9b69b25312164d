# SPDX-License-Identifier: MIT
"""The input filter of doxygen: prints a header as its users see it.

    headers.py HEADER

Comments before and after a declaration become its documentation. What is not public is left out: namespaces `detail`
and `kernel`, private members, overloads that only give a diagnostic, bodies. Every line keeps its number, so that links
to the source are right.
"""
import dataclasses
import pathlib
import re
import sys

from . import notions

HIDDEN_NAMESPACE = re.compile(r"(^|::|\s)(detail|kernel|port)\b")
MACHINERY = re.compile(r"#define (TINYATTN_API|TINYATTN_\w+_H)\b")
# Replacements of private names in public declarations by what a user can read.
PLAIN_NAMES = (
    (re.compile(r"TINYATTN_(ALWAYS_INLINE|BEGIN|END)\b"), ""),
    (re.compile(r"\[\[\w+\]\]"), ""),
    (re.compile(r"\bdetail::(?:changeable<Cache>|cache_of<config>) (\w+)"), r"class \1"),
    (re.compile(r"\bdetail::RateBetween0And1\b"), "DropoutRate"),
    (re.compile(r"\bdetail::LayoutOf<Query>::rows"), "tokens"),
    (re.compile(r"\bdetail::LayoutOf<Key>::rows"), "source_tokens"),
    (re.compile(r"\bdetail::Norm(Of)?<[^;]*>"), "LayerNorm or RmsNorm"),
    (re.compile(r"\bdetail::head_dim<config>"), "config.d_out / config.num_heads"),
    (re.compile(r"\bdetail::kv_heads<config>"), "config.num_kv_heads"),
    (re.compile(r"\s*:\s*(?:detail|kernel)::[^{}]*(?=\{)"), " "),  # a base class
)
OPTIONAL = re.compile(r"detail::Optional<((?:[^,<>]|<[^<>]*>)+),\s*(.+)>(\s+\w+)(?:\{\})?;$", re.DOTALL)
REQUIRES = re.compile(r"\brequires\s*(?=\()|\brequires\s+requires\b")


def blanked(text):
    return "".join("\n" if char == "\n" else " " for char in text)


def only_newlines(text):
    return "\n" * text.count("\n")


@dataclasses.dataclass
class Comment:
    start: int
    end: int
    trailing: bool  # code precedes it, on its line
    block: bool

    def lines(self, text):
        """Returns the lines of the comment without comment marks, margin and NOLINT."""
        content = text[self.start:self.end]
        if self.block:
            content = re.sub(r"\s*\*/$", "", content.removeprefix("/*"))
            lines = [re.sub(r"^\s*\* ?|^ ", "", line) for line in content.split("\n")]
            if self.trailing:
                lines = [line.strip() for line in lines]
        else:
            lines = [re.sub(r"^\s*// ?", "", line) for line in content.split("\n")]
        return ["" if line.startswith(("NOLINT", "---")) else re.sub(r"\s*\bNOLINT\S*(: .*)?$", "", line).rstrip()
                for line in lines]


class Source:
    """A header: `text` is all of it; `code` is the same with comments and strings replaced by spaces."""

    def __init__(self, text):
        self.text = text
        self.comments = []
        code = list(text)
        for match in re.finditer(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'',
                                 text, re.DOTALL):
            code[match.start():match.end()] = blanked(match[0])
            if match[0].startswith(("//", "/*")):
                self.add(match)
        self.code = "".join(code)

    def add(self, match):
        line = self.text[self.text.rfind("\n", 0, match.start()) + 1:match.start()]
        trailing, block = line.strip() != "", match[0].startswith("/*")
        before = self.comments[-1] if self.comments else None
        if before and not trailing and not block and not before.block and self.goes_on(before, match.start(),
                                                                                       len(line)):
            before.end = match.end()
        elif before and not trailing and block and before.trailing and self.goes_on(before, match.start(), len(line)):
            before.end = match.end()
        else:
            self.comments.append(Comment(match.start(), match.end(), trailing, block))

    def goes_on(self, before, start, column):
        """Returns whether a comment continues the one before: it is on the next line, in the same column."""
        between = self.text[before.end:start]
        first = before.start - self.text.rfind("\n", 0, before.start) - 1
        return between.count("\n") == 1 and between.strip() == "" and column == first

    def line_end(self, position):
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end

    def matching(self, position):
        """Returns the position after the brace that closes the one at `position`."""
        depth = 0
        for match in re.compile(r"[{}]").finditer(self.code, position):
            depth += 1 if match[0] == "{" else -1
            if depth == 0:
                return match.end()
        return len(self.code)


@dataclasses.dataclass
class Declaration:
    start: int
    end: int
    head: int  # the position of its opening brace, or its end
    what: str  # directive, access, namespace, type, enum, function or other


def kind_of(head):
    plain = re.sub(r"^(template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>\s*|requires\s*\([^{}]*?\)\s*)+", "", head.strip())
    word = re.match(r"(?:typedef\s+|inline\s+)?(namespace|extern|struct|class|union|enum)\b", plain)
    if word:
        return {"namespace": "namespace", "extern": "namespace", "enum": "enum"}.get(word[1], "type")
    if re.match(r"using\b|static_assert\b|concept\b|friend\b", plain):
        return "other"
    return "function" if "(" in plain.partition("=")[0].replace("operator==",
                                                                "operator") or "operator" in plain else "other"


def next_declaration(source, position, end):
    code = source.code
    while position < end and code[position] in " \n;}":
        position += 1
    if position >= end:
        return None
    start = position
    if code[start] == "#":
        while source.text[source.line_end(position) - 1] == "\\":
            position = source.line_end(position) + 1
        return Declaration(start, source.line_end(position), source.line_end(position), "directive")
    if macro := re.compile(r"TINYATTN_(BEGIN|END)\b|extern\s+ *\{").match(code, start):
        if macro[0].startswith("extern"):
            return Declaration(start, source.matching(macro.end() - 1), macro.end() - 1, "namespace")
        return Declaration(start, macro.end(), macro.end(), "directive")
    if access := re.compile(r"(public|private|protected):").match(code, start):
        return Declaration(start, access.end(), access.end(), "access")
    depth, head = 0, None
    while position < end:
        char = code[position]
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == ";" and depth == 0:
            break
        elif char == "{":
            after = source.matching(position)
            if depth == 0 and not re.search(r"\brequires\s*(\([^{}]*\))?\s*$", code[start:position]):
                head = position if head is None else head
                following = code[after:].lstrip()[:1]
                if kind_of(code[start:position]) == "namespace":
                    return Declaration(start, after, position, "namespace")
                if kind_of(code[start:position]) == "function" and following not in (",", ">", ")",
                                                                                     ";") and not following == "-":
                    return Declaration(start, after, position, "function")
            position = after
            continue
        position += 1
    head = position if head is None else head
    return Declaration(start, min(position + 1, end), head, kind_of(code[start:head]))


# --- Comments in doxygen's Markdown ---


def escaped(line):
    """Escapes a line so that Markdown and doxygen show it unchanged; but keeps code in backticks."""
    parts = re.split(r"(`[^`]*`)", line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([\\@%*#|~])", r"\\\1", parts[i]).replace("<", "&lt;").replace(">", "&gt;")
        parts[i] = re.sub(r"(?<=[\w)])\[", r"\\[", parts[i])
        parts[i] = re.sub(r"(?<=[ .])\. ", ".&nbsp;", parts[i])  # no end of a sentence, as in 0 .. i
    return "".join(parts)


def as_markdown(lines):
    """Converts lines of a comment to as many lines of Markdown. Indented lines become a table of arguments."""
    out, in_table = [], False
    for i, line in enumerate(lines):
        is_row = re.match(r"\s{2,}\S", line) is not None
        if is_row:
            cells = [escaped(cell) for cell in re.split(r"\s{2,}", line.strip())]
            cells[0] = f"<code>{cells[0]}</code>"
            opened = "" if in_table else '<table class="arguments">'
            closed = "" if i + 1 < len(lines) and re.match(r"\s{2,}\S", lines[i + 1]) else "</table>"
            in_table = not closed
            row = "".join(f"<td>{cell}</td>" for cell in cells)
            out.append(f"{opened}<tr>{row}</tr>{closed}")
        else:
            out.append(escaped(line))
    return out


def file_comment(text):
    """Returns the first comment of a header, without the license, as lines of Markdown."""
    source = Source(text)
    lines = [line for line in source.comments[0].lines(text)]
    while lines and (not lines[0].strip() or "SPDX" in lines[0]):
        lines.pop(0)
    return as_markdown(lines)


# --- The header as its users see it ---


class Shown:
    def __init__(self, text, notion=""):
        self.source = Source(text)
        self.edits = []  # (start, end, the text that replaces it)
        self.group = f" @ingroup {notion}" if notion else ""
        self.used = set()  # where the comments start that are documentation already

    def result(self):
        self.show_file()
        self.scope(self.source.comments[0].end if self.source.comments else 0, len(self.source.text), False)
        for comment in self.source.comments:
            if comment.start not in self.used:
                self.hide(comment.start, comment.end)
        text, position = [], 0
        for start, end, new in sorted(self.edits,
                                      key=lambda edit: (edit[0], edit[0] != edit[1],
                                                        -edit[1])):  # insertions first, then the larger edit
            if start < position:
                continue  # inside a part that is hidden as a whole
            text += [self.source.text[position:start], new]
            position = end
        return "".join([*text, self.source.text[position:]])

    def hide(self, start, end):
        self.edits.append((start, end, only_newlines(self.source.text[start:end])))

    def show_file(self):
        first = self.source.comments[0]
        lines = as_markdown(["" if "SPDX" in line else line for line in first.lines(self.source.text)])
        self.used.add(first.start)
        self.edits.append((first.start, first.end, "/** @file\n" + "\n".join(lines[1:]) + "*/"))

    def scope(self, start, end, in_class):
        """Rewrites all declarations between two positions."""
        position, public, before = start, True, ("", [])
        while (found := next_declaration(self.source, position, end)) is not None:
            position = found.end
            if found.what == "access":
                public = self.source.code.startswith("public", found.start)
            elif found.what != "access" and not public:
                self.hide(found.start, found.end)
            else:
                before = self.declaration(found, in_class, before)

    def declaration(self, found, in_class, before):
        """Rewrites a declaration. Returns its name and its documentation, which the next overload may inherit."""
        code = self.source.code[found.start:found.end]
        if found.what == "directive":
            return self.directive(found)
        if found.what == "namespace":
            self.namespace(found, code)
            return "", []
        name = name_of(without_requires(plain(code)))
        leading = self.leading_comment(found.start)
        lines = leading.lines(self.source.text) if leading else []
        if self.is_private(found, code, lines):
            self.hide(leading.start if leading else found.start, found.end)
            return before
        lines = inherited(lines, name, before)
        more = []
        if found.what == "type" and found.end - found.head > 2:
            self.scope(found.head + 1, self.source.matching(found.head) - 1, True)
            self.rewrite(found.start, found.head + 1)
        elif found.what == "enum":
            self.enumerators(found)
            self.rewrite(found.start, found.head)
        elif found.what == "function":
            signature_end = self.signature_end(found)
            self.rewrite(found.start, signature_end)
            self.edits.append((signature_end, found.end,
                               "{}" + only_newlines(self.source.text[signature_end:found.end])))
        else:
            parts = declarators(self.source.code[found.start:found.end]) if in_class else []
            if len(parts) > 1:
                self.document_each(found, leading, lines, parts)
                return name, lines
            more = self.rewrite(found.start, found.end)
        self.document(found, leading, lines, in_class, more)
        return name, lines

    def directive(self, found):
        text = self.source.text[found.start:found.end]
        leading = self.leading_comment(found.start)
        if MACHINERY.match(text) or not text.startswith("#define"):
            if text.startswith("#define") or text.startswith("TINYATTN_"):
                self.hide(found.start, found.end)
        elif leading:
            self.document(found, leading, leading.lines(self.source.text), False, [])
        return "", []

    def namespace(self, found, code):
        head = self.source.code[found.start:found.head]
        if HIDDEN_NAMESPACE.search(head):
            self.hide(found.start, found.end)
            return
        if head.startswith(("extern", "inline")):
            self.hide(found.start, found.head + 1)
            self.hide(found.end - 1, found.end)
        self.scope(found.head + 1, found.end - 1, False)

    def is_private(self, found, code, lines):
        if re.match(r"(friend|static_assert|using tinyattn::detail::\w+)\b|TINYATTN_ALWAYS_INLINE friend", code):
            return True
        if found.what == "function" and re.search(r"\bDiagnosed\b|=\s*delete\b|\bno_such_call\b", code):
            return True
        if lines and lines[0].startswith(("For kernels", "As the kernels see")):
            return True
        if found.what == "function" and re.search(r"\w<[^()]*>::~?\w+\s*\(",
                                                  self.source.code[found.start:found.head].split("(")[0] + "("):
            return True  # a definition outside of the class that declares it
        if found.what != "function":
            return False
        if re.search(r"^(?:template\s*<[^<>]*>\s*)?(\w+)\(.*\)\s*->\s*\1<", code, re.DOTALL):
            return True  # a deduction guide
        signature = without_requires(plain(self.source.code[found.start:self.signature_end(found)]))
        return re.search(r"\b(detail|kernel)::", signature) is not None

    def signature_end(self, found):
        """Returns where the signature ends: at the body, or at the initializers of a constructor."""
        code = self.source.code[found.start:found.head]
        initializers = re.search(r"\)\s*(noexcept)?\s*:(?!:)", code)
        return found.start + initializers.end() - 1 if initializers else found.head

    def enumerators(self, found):
        for comment in self.source.comments:
            if found.head < comment.start < found.end and comment.trailing:
                text = " ".join(escaped(line) for line in comment.lines(self.source.text))
                self.document_after(comment, text)

    def document_after(self, comment, text):
        """Turns a trailing comment into documentation of the declaration before it, on the same line."""
        self.used.add(comment.start)
        newlines = only_newlines(self.source.text[comment.start:comment.end])
        self.edits.append((comment.start, comment.end, f"/**< {text} */{newlines}"))

    def rewrite(self, start, end):
        """Replaces private names in a declaration by public ones. Returns what to add to the documentation."""
        old, more = self.source.text[start:end], []
        inner = [comment for comment in self.source.comments if start <= comment.start < end]
        for comment in reversed(inner):
            if comment.start not in self.used:
                first, last = comment.start - start, comment.end - start
                old = old[:first] + blanked(old[first:last]) + old[last:]
        new = without_requires(plain(old))
        if optional := OPTIONAL.search(new):
            more = ["", f"There only if `{' '.join(optional[1].split())}`."]
            new = new[:optional.start()] + " ".join(optional[2].split()) + optional[3] + ";"
        new = re.sub(r"(concept \w+ = )requires.*", r"\1requires {};", new, flags=re.DOTALL)
        if new != self.source.text[start:end]:
            self.edits.append((start, end, new + "\n" * (old.count("\n") - new.count("\n"))))
        return more

    def leading_comment(self, start):
        """Returns the comment that ends on the line before a position, or None."""
        for comment in reversed(self.source.comments):
            if comment.end <= start:
                between = self.source.text[comment.end:start]
                return comment if not comment.trailing and between.count("\n") == 1 and between.strip() == "" else None
        return None

    def trailing_comment(self, found):
        end = self.source.line_end(found.end)
        return next((comment for comment in self.source.comments if comment.trailing
                     and found.end <= comment.start < end), None)

    def document_each(self, found, leading, lines, parts):
        """Splits a declaration of several names, and gives each name the documentation."""
        comment = leading or self.trailing_comment(found)
        if comment:
            self.hide(comment.start, comment.end)
            lines = lines or comment.lines(self.source.text)
        documentation = " <p>".join(part.replace("\n", " ") for part in paragraphs(as_markdown(lines)))
        text = " ".join(f"/** {documentation} */ {plain(part)}" if documentation else plain(part) for part in parts)
        self.edits.append((found.start, found.end, text + only_newlines(self.source.text[found.start:found.end])))

    def document(self, found, leading, lines, in_class, more):
        group = "" if in_class else self.group
        trailing = self.trailing_comment(found) if in_class else None
        if trailing and leading is None:
            text = " ".join(escaped(line) for line in trailing.lines(self.source.text) + more)
            self.document_after(trailing, text)
            return
        if not any(lines):
            return
        marked = [*as_markdown(lines), *more]
        if leading is None or len(marked) != len(leading.lines(self.source.text)):
            # Inherited, or of another length: the documentation goes on the line of the declaration.
            body = " <p>".join(part.replace("\n", " ") for part in paragraphs(marked))
            if leading:
                self.used.add(leading.start)
                self.hide(leading.start, leading.end)
            self.edits.append((found.start, found.start, f"/** {body}{group} */ "))
        else:
            self.used.add(leading.start)
            self.edits.append((leading.start, leading.end, "/** " + "\n".join(marked) + f"{group} */"))


def declarators(code):
    """Splits `T a = x, b;` into the declarations [`T a = x;`, `T b;`]."""
    if re.match(r"(using|template|concept|typedef)\b", code):
        return [code]
    parts, depth = [""], 0
    for char in code.rstrip(";"):
        depth += (char in "<({[") - (char in ">)}]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    first = re.match(r"(.*?[\s*])\w+(\[.*\])?\s*(=.*)?$", parts[0], re.DOTALL)
    if not first or len(parts) == 1:
        return [code]
    return [" ".join(text.split()) + ";" for text in (parts[0], *(first[1] + part for part in parts[1:]))]


def paragraphs(lines):
    return [part for part in re.split(r"\n\s*\n", "\n".join(lines)) if part.strip()]


def plain(code):
    for pattern, new in PLAIN_NAMES:
        code = pattern.sub(lambda match, new=new: match.expand(new) + only_newlines(match[0]) * (new == " "), code)
    return code


def without_requires(code):
    """Removes the constraints of a declaration: they only tell overloads apart, as the parameters do for a reader."""
    while match := REQUIRES.search(code):
        depth, position = 0, match.end()
        while position < len(code):
            depth += (code[position] in "({") - (code[position] in ")}")
            position += 1
            if depth == 0 and code[position - 1] in ")}" and (code[position - 1] == "}"
                                                              or "requires" not in match[0][8:]):
                break
        code = code[:match.start()] + only_newlines(code[match.start():position]) + code[position:]
    return code


def name_of(code):
    called = re.search(r"(\w+|operator\S+)\s*\(", re.sub(r"^template\s*<.*?>\s*(?=\w)", "", code, flags=re.DOTALL))
    return called[1] if called else ""


def inherited(lines, name, before):
    """Returns the documentation of an overload: that of the overload before if it has none; both if its own begins with
    "By value"."""
    if name and name == before[0]:
        if not lines:
            return before[1]
        if lines[0].startswith("By value"):
            return [*lines, "", *before[1]]
    return lines


def shown(text, notion=""):
    return Shown(text, notion).result()


def with_enumerators(text, activations):
    """Writes out the enumerators that a header has by the list of activations, with their formulas as comments."""
    listed = re.findall(r'^ +use\((\w+), (\w+), "(.+)"\)', activations, re.MULTILINE)
    in_cpp = " ".join(f"{name}, /* {formula} */" for name, _, formula in listed)
    in_c = " ".join(f"TINYATTN_{name}, /* {formula} */" for _, name, formula in listed)
    text = text.replace("TINYATTN_ACTIVATIONS(TINYATTN_ENUMERATOR_OF_CPP)", in_cpp)
    return text.replace("TINYATTN_ACTIVATIONS(TINYATTN_ENUMERATOR_OF_C)", in_c)


def main():
    path = pathlib.Path(sys.argv[1])
    root = next(folder for folder in path.parents if folder.name == "tinyattn")
    activations = (root / "activation_list.h").read_text(encoding="utf-8")
    text = with_enumerators(path.read_text(encoding="utf-8"), activations)
    sys.stdout.write(shown(text, notions.notion_of(path.relative_to(root).as_posix())))


if __name__ == "__main__":
    main()
