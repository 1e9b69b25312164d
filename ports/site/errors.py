# SPDX-License-Identifier: MIT
"""A page of the compiler's diagnostics, which are in the headers. errors.toml says what they mean and how to mend
them.

    python3 -m ports.site.errors    lists diagnostics that no entry of errors.toml explains, and entries that match none
"""
import functools
import html
import pathlib
import re
import sys
import tomllib
import typing

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DIAGNOSTIC = re.compile(r'(?:(?:static_assert|TINYATTN_DIAGNOSTIC)\([^;"]*?,|#error\s+\\?)\s*((?:"[^"]*"\s*)+)')
TITLE = "Errors, and how to mend them"
HEAD = """\
A wrong shape, a wrong flag or a wrong argument does not compile, and a diagnostic of the library's says why. Search
this page for some of its words. GCC and Clang print the diagnostic after `static assertion failed` or `#error`; the
lines around it say which call of yours caused it.
"""


class Entry(typing.NamedTuple):
    """An entry of errors.toml."""

    title: str  # of its section
    says: str
    means: str
    mend: str


@functools.cache
def diagnostics():
    """Returns {diagnostic: its header, as notions.toml has it}, in the order of the files."""
    found = {}
    for file in (*sorted((ROOT / "include").rglob("*.h*")), *sorted((ROOT / "ports/simd").rglob("*.h*"))):
        for literals in DIAGNOSTIC.findall(file.read_text(encoding="utf-8")):
            found.setdefault("".join(re.findall(r'"([^"]*)"', literals)), str(file).rpartition("/tinyattn/")[2])
    return found


@functools.cache
def by_entry():
    """Returns pairs of an entry of errors.toml and its diagnostics, and the diagnostics that no entry matches."""
    sections = tomllib.loads((HERE / "errors.toml").read_text(encoding="utf-8"))
    pairs, left = [(Entry(title, says, *texts), []) for title, section in sections.items()
                   for says, texts in section.items()], []
    for diagnostic in diagnostics():
        next((found for entry, found in pairs if re.search(entry.says, diagnostic)), left).append(diagnostic)
    return pairs, left


def anchor(entry):
    """Returns the anchor of an entry, made of its regular expression: it is stable as long as that is."""
    return "errors_" + re.sub(r"\W+", "_", entry.says).strip("_").lower()[:60]


def links(headers):
    """Yields a link to the entry of each diagnostic of some headers."""
    for entry, found in by_entry()[0]:
        for diagnostic in found:
            if diagnostics()[diagnostic] in headers:
                yield f'<a href="errors.html#{anchor(entry)}">{escaped(diagnostic)}</a>'


def box(entry, found, headers):
    """Returns the HTML of an entry: its diagnostics, what they mean, how to mend them, and their headers."""
    files = sorted({diagnostics()[diagnostic] for diagnostic in found} & headers.keys())
    origins = ", ".join(f'<a href="{headers[file]}">{file}</a>' for file in files)
    terms = "</dt><dt>".join(map(escaped, sorted(found)))
    return (f'<dl class="diagnostics"><dt><a class="anchor" id="{anchor(entry)}"></a>{terms}</dt><dd>'
            f'<b>What it means.</b> {with_code(entry.means)}<br/>'
            f'<b>How to mend it.</b> {with_code(entry.mend)}<br/><small>{origins}</small></dd></dl>\n')


def escaped(text):
    """Escapes text so that doxygen shows it unchanged."""
    return re.sub(r"([@\\])", r"\\\1", html.escape(text, quote=False))


def with_code(text):
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped(text))


def page(headers):
    """Returns the page. `headers`: {header: its page}"""
    parts, title = [f"# {TITLE} {{#errors}}\n", HEAD], None
    for entry, found in by_entry()[0]:
        parts += [f"## {entry.title} {{#{anchor(entry)}_and_others}}\n"] if entry.title != title else []
        title = entry.title
        parts.append(box(entry, found, headers))
    return "\n".join(parts)


if __name__ == "__main__":
    pairs, left = by_entry()
    problems = [f"no entry of errors.toml explains: {diagnostic}" for diagnostic in left] + [
        f"no header says what errors.toml explains: {entry.says}" for entry, found in pairs if not found]
    sys.exit("\n".join(problems) or None)
