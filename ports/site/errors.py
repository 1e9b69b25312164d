# SPDX-License-Identifier: MIT
"""A page of the compiler's sentences: which there are, the headers say; what they mean and how to mend them, errors.toml.

    errors.py            prints the page
    errors.py --check    what is wrong with errors.toml: a sentence without an entry, an entry without a sentence
"""
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
A wrong shape, a wrong flag or a wrong argument does not compile, and the compiler says why in a sentence of the library's. Search this
page for some of its words. GCC and Clang print the sentence behind `static assertion failed` or `#error`; the lines around it say
which call of yours caused it.
"""


def sentences():
    """Each once, in the order of the files."""
    found = {}
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.h*")):
            text = file.read_text(encoding="utf-8")
            for literals in STATIC_ASSERT.findall(text):
                found.setdefault("".join(re.findall(r'"([^"]*)"', literals)), file.name)
            for sentence in ERROR.findall(text):
                found.setdefault(sentence, file.name)
    return found


def entries():
    return tomllib.loads((HERE / "errors.toml").read_text(encoding="utf-8"))["sentence"]


def assigned():
    """Pairs of an entry and its sentences; and the sentences that have none."""
    pairs, left = [(entry, []) for entry in entries()], []
    for sentence in sentences():
        of = next((found for entry, found in pairs if re.search(entry["says"], sentence)), left)
        of.append(sentence)
    return pairs, left


def problems():
    pairs, left = assigned()
    return [f"no entry of errors.toml explains: {sentence}" for sentence in left] + [
        f"no header says what errors.toml explains: {entry['says']}" for entry, found in pairs if not found]


def page():
    parts = [f"# {TITLE} {{#errors}}\n", HEAD]
    for entry, found in assigned()[0]:
        parts += [f"## {entry['title']}\n"] if "title" in entry else []
        parts += ["\n".join(f"- *{sentence}*" for sentence in sorted(found)) + "\n",
                  f"**What it means.** {entry['means']}\n", f"**How to mend it.** {entry['mend']}\n"]
    return "\n".join(parts)


def write(file):
    file.write_text(page(), encoding="utf-8")
    return file


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        found = problems()
        print("\n".join(found))
        sys.exit(bool(found))
    print(page())
