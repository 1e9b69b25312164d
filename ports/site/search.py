# SPDX-License-Identifier: MIT
"""Collects what the search looks through: the text of each section of each page, and of each name in the reference.

The site loads it as a script, because a page that is opened from a file cannot fetch data. search.js searches, by lunr.
"""
import html.parser
import json
import pathlib
import re

LUNR = pathlib.Path("/usr/share/javascript/lunr/lunr.min.js")
LISTS = re.compile(r"(files|annotated|modules|pages|search|namespacemembers\w*|dir_\w+|\w+(_source|-members))\.html")
SILENT = {"memberdecls", "definition", "permalink", "groupheader", "ttc"}  # is not to be found
KIND = re.compile(r" (Struct|Class|Concept|Namespace|File)( Template)? Reference\b.*")
END = re.compile(r" The documentation for this (struct|class) was generated from.*")
WHOLE_PAGE = re.compile(r"md_|mainpage")
INLINE = {"a", "b", "code", "em", "i", "small", "span"}


class Sections(html.parser.HTMLParser):
    """The sections of a page of doxygen: each has an anchor, a title and a text. The first has the title of the page
    and no anchor."""

    def __init__(self, text, without=()):
        super().__init__()
        self.silent = {*SILENT, *without}
        self.open = []  # pairs of a tag and its class
        self.sections = [{"anchor": "", "title": "", "text": []}]
        self.feed(text)
        self.title = KIND.sub("", words(self.sections[0]["title"]))
        self.sections[0]["title"] = self.title

    def within(self, *classes):
        return any(of & set(classes) for _, of in self.open)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        of = set((values.get("class") or "").split())
        if "anchor" in of and not WHOLE_PAGE.match(values["id"]):
            self.begin(values["id"])
        if tag == "dt" and self.sections[-1]["title"].strip():  # several diagnostics share one explanation
            self.begin(self.sections[-1]["anchor"], self.sections[-1]["text"])
        if tag == "a" and self.within("permalink"):
            self.begin(values["href"].removeprefix("#"))
        self.handle_data("" if tag in INLINE else " ")
        self.open.append((tag, of))

    def handle_endtag(self, tag):
        self.handle_data("" if tag in INLINE else " ")
        last = next((i for i in reversed(range(len(self.open))) if self.open[i][0] == tag), len(self.open))
        del self.open[last:]

    def handle_data(self, data):
        section, tags = self.sections[-1], [tag for tag, _ in self.open]
        if self.within("headertitle"):
            self.sections[0]["title"] += data
        elif self.within("contents") and not self.within(*self.silent):
            if section["anchor"] and {"h1", "h2", "h3", "h4",
                                      "dt"} & set(tags) and not "".join(section["text"]).strip():
                section["title"] += data
            else:
                section["text"].append(data)

    def begin(self, anchor, text=None):
        self.sections.append({"anchor": anchor, "title": "", "text": [] if text is None else text})


def words(text):
    return re.sub(r"\s+", " ", END.sub("", text.replace("\u200b", ""))).strip()


def sections(page):
    """Yields [address, title, title of the page, text] of each section; of the page of a source, without its code."""
    found = Sections(page.read_text(encoding="utf-8"), without=("fragment",) if page.name.startswith("source_") else ())
    for section in found.sections:
        title, text = words(section["title"]), words("".join(section["text"]))
        if title or text:
            address = f"{page.name}#{section['anchor']}" if section["anchor"] else page.name
            yield [address, title, found.title, text]


def write_page(file):
    """Writes the page that shows the results."""
    file.write_text('# Search {#search}\n\n<div id="found">This needs JavaScript.</div>\n', encoding="utf-8")
    return file


def write_text(site):
    rows = [row for page in sorted(site.glob("*.html")) if not LISTS.fullmatch(page.name) for row in sections(page)]
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("],[", "],\n[")
    (site / "search_text.js").write_text(f"const searchText = {text};\n", encoding="utf-8")
