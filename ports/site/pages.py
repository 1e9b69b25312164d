# SPDX-License-Identifier: MIT
"""Converts to doxygen's Markdown each Markdown file of the tree, and each source that one of them names."""
import itertools
import os
import pathlib
import re

from ports.packages import tree

from . import errors, headers

LANGUAGES = {".cpp": ".cpp", ".hpp": ".cpp", ".h": ".cpp", ".c": ".c", ".py": ".py"}
TEXTS = {*LANGUAGES, ".ini", ".ld", ".toml", ".txt", ".json", ".build", ".cmake", ".yml", ".ino", ""}
MOST = 60_000  # bytes of a source; a larger one gets no page
CODE = re.compile(r"(`+)(.+?)\1")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
# The pages that the main page lists first, before those of folders.
FIRST = ("ports/pytorch/from_sensor_to_product.md", "examples/recipes/README.md",
         "ports/pytorch/coming_from_pytorch.md", "include/tinyattn/calling.md",
         "include/tinyattn/models.md", "include/tinyattn/streams.md", "include/tinyattn/int8.md",
         "include/tinyattn/same_bits.md")
REFERENCE = ((errors.TITLE, "errors.html"), ("Notions", "modules.html"), ("Types", "annotated.html"),
             ("All names", "namespacemembers.html"), ("Headers", "files.html"))


def slug(heading):
    """Returns the anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def label(path):
    if path == "README.md":
        return "index"
    name = re.sub(r"/README\.md$|\.md$", "", path)
    return ("page_" if path.endswith(".md") else "source_") + re.sub(r"\W", "_", name)


def title(path):
    """Returns the title of a page: its first heading, or the name of the file."""
    if not path.endswith(".md"):
        return pathlib.PurePosixPath(path).name
    return re.match(r"# (.*)", (tree.ROOT / path).read_text(encoding="utf-8"))[1]


def explained(text, suffix):
    """Returns the first comment of a source of C or C++, as lines of Markdown, and the rest of the source."""
    if LANGUAGES.get(suffix) not in (".cpp", ".c"):
        return [], text.strip("\n")
    return headers.file_comment(text), text[headers.Source(text).comments[0].end:].strip("\n")


class Pages:
    """All pages, and the links between them."""

    def __init__(self, of_headers, others):
        self.files = tree.tracked(".")
        self.known = set(self.files)
        self.headers = of_headers  # {path: its page}
        self.others = others  # {title: page} of further links of the main page
        self.documents = [*FIRST, *(path for path in self.files if path.endswith(".md") and path not in FIRST)]
        self.sources = {path for path in self.files if path.startswith("examples/")
                        and pathlib.Path(path).suffix in LANGUAGES}

    def write(self, folder):
        """Writes all pages. Those of sources come last: the other pages determine which sources get one."""
        texts = {path: self.document(path) for path in self.documents}
        for path in sorted(self.sources):
            texts[path] = self.source(path)
        below = {}
        for path in texts:
            if (parent := self.parent(path)) is not None:
                below.setdefault(parent, []).append(path)
        for path, text in texts.items():
            listed = "".join(f"- @subpage {label(child)}\n" for child in below.get(path, []))
            heading = "\n\n<h2 class=\"below\">Below this page</h2>\n\n" if listed else ""
            if path == "README.md":
                listed = "".join(f"- <a href=\"{page}\">{title}</a>\n" for title, page in self.ways(texts))
                heading = "\n\n<h2 class=\"below\">On this site</h2>\n\n"
            file = folder / f"{label(path)}.md"
            file.write_text(f"{text}{heading}{listed}", encoding="utf-8")
        return [folder / f"{label(path)}.md" for path in texts]

    def ways(self, texts):
        """Yields (title, page) of the links of the main page: the browser pages, FIRST, the reference, and each page
        that is not below another."""
        yield from self.others.items()
        of_tree = [(re.match(r"# (.*?) \{#", text)[1], f"{label(path)}.html")
                   for path, text in texts.items() if path != "README.md" and self.parent(path) is None]
        yield from of_tree[:len(FIRST)]
        yield from REFERENCE
        yield from of_tree[len(FIRST):]

    def parent(self, path):
        """Returns the README.md of the nearest folder above a page; None if that is the root, or the page is in
        FIRST."""
        if path in FIRST:
            return None
        folder = pathlib.PurePosixPath(path).parent
        if path.endswith("README.md"):
            folder = folder.parent
        while folder.as_posix() != ".":
            if f"{folder}/README.md" in self.known:
                return f"{folder}/README.md"
            folder = folder.parent
        return None if path.endswith(".md") else ".github/CONTRIBUTING.md"

    def source(self, path):
        """Returns the page of a source: its first comment as text, then the rest as code."""
        suffix = pathlib.Path(path).suffix
        said, code = explained((tree.ROOT / path).read_text(encoding="utf-8"), suffix)
        folder = pathlib.PurePosixPath(self.parent(path) or "README.md").parent.as_posix()
        title = path.removeprefix(f"{folder}/")
        head = f"# {title} {{#{label(path)}}}\n\n<code>{path}</code>"
        language = LANGUAGES.get(suffix, ".unparsed")
        return "\n\n".join([head, "\n".join(said), f"```{{{language}}}\n{code}\n```\n"])

    def page_of(self, target, here):
        """The page of what is written in a README: a file or folder, from its folder or from the root. None if there is
        none."""
        for folder in (pathlib.PurePosixPath(here).parent, pathlib.PurePosixPath(".")):
            path = os.path.normpath(folder / target)
            if path == ".":
                return "index.html"
            if f"{path}/README.md" in self.known:
                return label(f"{path}/README.md") + ".html"
            if path in self.headers:
                return self.headers[path]
            if path in self.known and (path.endswith(".md") or self.is_shown(path)):
                if not path.endswith(".md"):
                    self.sources.add(path)
                return label(path) + ".html"
        return None

    def is_shown(self, path):
        return pathlib.Path(path).suffix in TEXTS and (tree.ROOT / path).stat().st_size <= MOST

    def document(self, path):
        lines = (tree.ROOT / path).read_text(encoding="utf-8").split("\n")
        return "\n".join(Document(self, path, lines).converted())


class Document:
    """Converts one Markdown file to doxygen's Markdown."""

    def __init__(self, pages, path, lines):
        self.pages, self.path, self.lines = pages, path, lines
        self.has_title = False

    def converted(self):
        fence, indented, blank = None, False, True
        for line in [*self.lines, ""]:
            if fence:
                yield line
                fence = None if line.strip().startswith("```") else fence
                continue
            if indented and not line.startswith("    ") and line.strip():
                yield from ("```", "")
                indented = False
            if line.lstrip().startswith("```"):
                fence = line
                language = {"cpp": ".cpp", "c": ".c", "python": ".py", "py": ".py"}.get(line.strip()[3:], ".unparsed")
                yield f"{line[:len(line) - len(line.lstrip())]}```{{{language}}}"
            elif indented:
                yield line[4:]
            elif line.startswith("    ") and line.strip() and blank:
                indented = True
                yield "```{.unparsed}"
                yield line[4:]
            else:
                yield self.text(line)
            blank = not line.strip()
        if indented:
            yield "```"

    def text(self, line):
        heading = re.match(r"(#+) (.*?)\s*$", line)
        if not heading:
            return self.inline(line)
        if not self.has_title:
            self.has_title = True
            own = label(self.path)
            return f"# {heading[2]} {{#{'mainpage' if own == 'index' else own}}}"
        return f"{heading[1]} {self.inline(heading[2], linked=True)} {{#{label(self.path)}__{slug(heading[2])}}}"

    def inline(self, line, linked=False):
        """Converts links in a line to links between pages, and code that names a file to a link."""
        out, position = [], 0
        for link in LINK.finditer(line):
            out.append(self.spans(line[position:link.start()], linked))
            out.append(f"<a href=\"{self.target(link[3])}\">{self.html(link[2])}</a>")
            position = link.end()
        return bold("".join([*out, self.spans(line[position:], linked)]))

    def html(self, text):
        return CODE.sub(lambda code: f"<code>{escaped(code[2])}</code>", text)

    def spans(self, text, linked):
        out, position = [], 0
        for code in CODE.finditer(text):
            out.append(escaped(text[position:code.start()]))
            page = None if linked or re.search(r"\s", code[2]) else self.pages.page_of(code[2].rstrip("/"), self.path)
            is_file = page and ("/" in code[2] or "." in code[2])
            as_html = f"<code>{escaped(code[2])}</code>"  # doxygen ends a code span at a single quote
            out.append(f'<a href="{page}">{as_html}</a>' if is_file else as_html if "'" in code[2] else code[0])
            position = code.end()
        return "".join([*out, escaped(text[position:])])

    def target(self, target):
        if re.match(r"\w+:", target):
            return target
        path, _, anchor = target.partition("#")
        if not path:
            return f"#{label(self.path)}__{anchor}"
        page = self.pages.page_of(path.rstrip("/"), self.path)
        if page is None:
            return target  # stays a dead link, which tests/products/site reports
        return f"{page}#{page.removesuffix('.html')}__{anchor}" if anchor else page


def bold(line):
    """Converts ** to <b>, since doxygen does not recognize ** next to code."""
    parts = re.split(r"(`[^`]*`|<code>.*?</code>|\*\*)", line)
    tags = itertools.cycle(("<b>", "</b>"))
    return "".join(next(tags) if part == "**" else part for part in parts) if parts.count("**") % 2 == 0 else line


def escaped(text):
    return re.sub(r"([@\\]|(?<=\w)#|%(?=\w))", r"\\\1", text).replace("<", "&lt;")
