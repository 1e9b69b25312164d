# SPDX-License-Identifier: MIT
"""A page of the compiler's diagnostics, which are in the headers. errors.toml says what they mean and how to mend
them.

    errors.py            prints the page
    errors.py --check    lists diagnostics that have no entry in errors.toml, and entries that match no diagnostic
"""
import html
import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDERS = ("include", "ports/simd")
STATIC_ASSERT = re.compile(r'static_assert\([^;]*?,\s*((?:"[^"]*"\s*)+)\)\s*;')
ERROR = re.compile(r'#error\s+(?:\\\n\s*)?"([^"]*)"')
TITLE = "Errors, and how to mend them"
HEAD = """\
A wrong shape, a wrong flag or a wrong argument does not compile, and a diagnostic of the library's says why. Search
this page for some of its words. GCC and Clang print the diagnostic after `static assertion failed` or `#error`; the
lines around it say which call of yours caused it.
"""


def diagnostics():
    """Returns {diagnostic: name of its header, as notions.toml has it}, in the order of the files."""
    found = {}
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.h*")):
            text = file.read_text(encoding="utf-8")
            for literals in STATIC_ASSERT.findall(text):
                found.setdefault("".join(re.findall(r'"([^"]*)"', literals)), of_tinyattn(file))
            for diagnostic in ERROR.findall(text):
                found.setdefault(diagnostic, of_tinyattn(file))
    return found


def of_tinyattn(file):
    """Returns the path of a header after the last `tinyattn/`."""
    return str(file).rpartition("/tinyattn/")[2]


def entries():
    return tomllib.loads((HERE / "errors.toml").read_text(encoding="utf-8"))["diagnostic"]


def by_entry():
    """Returns pairs of an entry of errors.toml and its diagnostics, and the diagnostics that no entry matches."""
    pairs, left = [(entry, []) for entry in entries()], []
    for diagnostic in diagnostics():
        of = next((found for entry, found in pairs if re.search(entry["says"], diagnostic)), left)
        of.append(diagnostic)
    return pairs, left


def problems():
    pairs, left = by_entry()
    return [f"no entry of errors.toml explains: {diagnostic}" for diagnostic in left] + [
        f"no header says what errors.toml explains: {entry['says']}" for entry, found in pairs if not found]


def anchor(entry):
    """Returns the anchor of an entry, made of its regular expression: it is stable as long as that is."""
    return "errors_" + re.sub(r"\W+", "_", entry["says"]).strip("_").lower()[:60]


def links(headers):
    """Yields a link to the entry of each diagnostic of some headers."""
    origins = diagnostics()
    for entry, found in by_entry()[0]:
        for diagnostic in found:
            if origins[diagnostic] in headers:
                yield f'<a href="errors.html#{anchor(entry)}">{escaped(diagnostic)}</a>'


def box(entry, found, pages):
    """Returns the HTML of an entry: its diagnostics, what they mean, how to mend them, and their headers."""
    headers = {diagnostics()[diagnostic] for diagnostic in found}
    origins = [f'<a href="{page}">{name}</a>' for path, page in sorted(pages.items())
               if (name := of_tinyattn(path)) in headers]
    terms = "".join(f"<dt>{escaped(diagnostic)}</dt>" for diagnostic in sorted(found))
    origin = f"<br/><small>{', '.join(origins)}</small>" if origins else ""
    return (f'<a class="anchor" id="{anchor(entry)}"></a>\n<dl class="diagnostics">{terms}<dd><b>What it means.</b> '
            f'{with_code(entry["means"])}<br/><b>How to mend it.</b> {with_code(entry["mend"])}{origin}</dd></dl>\n')


def escaped(text):
    """Escapes text so that doxygen shows it unchanged."""
    return re.sub(r"([@\\])", r"\\\1", html.escape(text, quote=False))


def with_code(text):
    parts = re.split(r"`([^`]*)`", text)
    return "".join(f"<code>{escaped(part)}</code>" if i % 2 else escaped(part) for i, part in enumerate(parts))


def page(pages):
    parts = [f"# {TITLE} {{#errors}}\n", HEAD]
    for entry, found in by_entry()[0]:
        parts += [f"## {entry['title']} {{#{anchor(entry)}_and_others}}\n"] if "title" in entry else []
        parts.append(box(entry, found, pages))
    return "\n".join(parts)


def write(file, pages):
    """Writes the page. `pages`: {path of a header: its page}"""
    file.write_text(page(pages), encoding="utf-8")
    return file


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        found = problems()
        print("\n".join(found))
        sys.exit(bool(found))
    print(page({}))
