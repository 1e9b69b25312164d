# SPDX-License-Identifier: MIT
"""Converts to doxygen's Markdown each Markdown file of the tree, and each source that one of them names."""
import collections
import functools
import os
import pathlib
import re

from ports.packages import tree

from . import errors, headers

IN_C = {".cpp", ".hpp", ".h", ".c"}
TEXTS = {*IN_C, ".py", ".ini", ".ld", ".toml", ".txt", ".json", ".build", ".cmake", ".yml", ".ino", ""}
MOST = 60_000  # bytes of a source; a larger one gets no page
# The pages that the main page lists first, before those of folders.
FIRST = ("ports/pytorch/from_sensor_to_product.md", "ports/pytorch/learns_on_the_board.md",
         "ports/pytorch/conversation.md", "examples/recipes/README.md", "ports/pytorch/coming_from_pytorch.md",
         *(f"include/tinyattn/{file.name}" for file in sorted((tree.ROOT / "include/tinyattn").glob("[a-z]*.md"))))
REFERENCE = ((errors.TITLE, "errors.html"), ("Notions", "modules.html"), ("Types", "annotated.html"),
             ("All names", "namespacemembers.html"), ("Headers", "files.html"))
# What of a Markdown file doxygen would read in another way than GitHub.
PARTS = re.compile(r"""
    (?P<comment><!--(?:.|\n)*?-->\n?) |
    ^(?P<code_block>[ ]*```.*\n(?:.*\n)*?[ ]*```$ | (?<=\n\n)(?:[ ]{4}.*\n|\n(?=[ ]{4}))+) |
    ^(?P<level>\#+)[ ](?P<heading>.*?)[ ]*$ |
    !?\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\) |
    (?P<ticks>`+)(?P<code>.+?)(?P=ticks) |
    \*\*(?P<bold>(?:.|\n(?!\n))+?)\*\* |
    (?P<special>[@\\<]|(?<=\w)\#|%(?=\w))""", re.MULTILINE | re.VERBOSE)


def label(path):
    if path == "README.md":
        return "index"
    name = path.removesuffix(".md")
    folder = name.removesuffix("/README")
    name = name if (tree.ROOT / f"{folder}.md").is_file() else folder
    return ("page_" if path.endswith(".md") else "source_") + re.sub(r"\W", "_", name)


def read(path):
    return (tree.ROOT / path).read_text(encoding="utf-8")


def title(path):
    """Returns the title of a page: its first heading, or the name of the file."""
    if not path.endswith(".md"):
        return pathlib.PurePosixPath(path).name
    return re.match(r"# (.*)", read(path))[1]


def html_link(way):
    return f'<a href="{way[1]}">{way[0]}</a>'


def link(path):
    return html_link((title(path), f"{label(path)}.html"))


def escaped(text):
    return re.sub(r"[@\\#%]", r"\\\g<0>", text).replace("<", "&lt;")


class Pages:
    """All pages, and the links between them."""

    def __init__(self, of_headers):
        files = tree.tracked(".")
        self.files = set(files)
        self.headers = of_headers  # {path: its page}
        self.documents = ["README.md", *FIRST]
        self.documents += [path for path in files if path.endswith(".md") and path not in self.documents]
        self.sources = {path for path in files if path.startswith("examples/")
                        and pathlib.Path(path).suffix in (*IN_C, ".py")}

    def write(self, folder, ways):
        """Writes all pages, and returns their files. `ways`: {title: page} of further links of the main page."""
        texts = {path: self.converted(path, read(path), linked=True) for path in self.documents}
        texts |= {path: self.source(path) for path in sorted(self.sources)}  # the documents have named them
        below = collections.defaultdict(list)
        for path in texts:
            below[self.parent(path)].append(path)
        for path, text in texts.items():
            listed = [f"@subpage {label(child)}" for child in below[path]]
            heading = "Below this page"
            if path == "README.md":
                others = [link(other) for other in below[None] if other not in (path, *FIRST)]
                listed = [*map(html_link, ways.items()), *map(link, FIRST), *map(html_link, REFERENCE), *others]
                heading = "On this site"
            more = "\n- ".join([f'\n\n<h2 class="below">{heading}</h2>\n', *listed]) if listed else ""
            (folder / f"{label(path)}.md").write_text(f"{text}{more}\n", encoding="utf-8")
        return [folder / f"{label(path)}.md" for path in texts]

    def parent(self, path):
        """Returns the README.md of the nearest folder above a page; None if that is the root, or the page is in
        FIRST."""
        folder = pathlib.PurePosixPath(path).parent
        above = [folder, *folder.parents][path.endswith("README.md"):-1]
        readme = next((f"{folder}/README.md" for folder in above if f"{folder}/README.md" in self.files), None)
        return None if path in FIRST else readme or (None if path.endswith(".md") else ".github/CONTRIBUTING.md")

    def source(self, path):
        """Returns the page of a source: its first comment as text, then the rest as code."""
        suffix = pathlib.Path(path).suffix
        said, code = headers.first_comment(read(path)) if suffix in IN_C else ("", read(path))
        folder = pathlib.PurePosixPath(self.parent(path)).parent.as_posix()
        head = f"# {path.removeprefix(f'{folder}/')} {{#{label(path)}}}\n\n<code>{path}</code>"
        language = suffix if suffix in (*IN_C, ".py") else ".unparsed"
        return "\n\n".join([head, said, "```{%s}\n%s\n```" % (language, code.strip("\n"))])

    def page_of(self, target, here):
        """The page of what is written in a README: a file or folder, from its folder or from the root. None if there is
        none."""
        for folder in (pathlib.PurePosixPath(here).parent, pathlib.PurePosixPath(".")):
            path = os.path.normpath(folder / target)
            readme = os.path.normpath(f"{path}/README.md")
            if path in self.headers:
                return self.headers[path]
            if readme in self.files:
                return label(readme) + ".html"
            file = tree.ROOT / path
            is_shown = pathlib.Path(path).suffix in TEXTS and path in self.files and file.stat().st_size <= MOST
            if is_shown:
                self.sources.add(path)
            if is_shown or path in self.documents:
                return label(path) + ".html"
        return None

    def converted(self, path, text, linked):
        return PARTS.sub(functools.partial(self.part, path, linked), text)

    def part(self, path, linked, found):
        """Converts one of PARTS on the page of `path`; `linked`: code that names a file becomes a link."""
        if found["comment"]:
            return ""
        if found["code_block"]:
            return found[0]
        if found["heading"]:
            return self.heading(path, found["level"], found["heading"])
        if found["target"]:
            return html_link((self.converted(path, found["text"], linked=False), self.target(path, found["target"])))
        if found["bold"]:  # doxygen does not recognize ** next to code
            return f"<b>{self.converted(path, found['bold'], linked)}</b>"
        return self.code(path, found[0], found["code"], linked) if found["code"] else escaped(found["special"])

    def heading(self, path, level, text):
        if level == "#":
            return f"# {text} {{#{'mainpage' if path == 'README.md' else label(path)}}}"
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")  # as GitHub makes it
        return f"{level} {self.converted(path, text, linked=False)} {{#{label(path)}__{anchor}}}"

    def code(self, path, span, code, linked):
        names_file = linked and re.fullmatch(r"\S*[/.]\S*", code)
        page = self.page_of(code.rstrip("/"), path) if names_file else None
        if not page and "'" not in code:
            return span
        html = f"<code>{escaped(code)}</code>"  # doxygen ends a code span at a single quote
        return html_link((html, page)) if page else html

    def target(self, path, target):
        file, _, anchor = target.partition("#")
        page = self.page_of(file.rstrip("/"), path) if file else f"{label(path)}.html"
        if page is None:
            return target  # leaves the site, or is a dead link, which tests/products/site reports
        return f"{page}#{page.removesuffix('.html')}__{anchor}" if anchor else page
