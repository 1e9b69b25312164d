# SPDX-License-Identifier: MIT
"""Checks of a site: every public name is documented, no link is dead, and links lead to each page.

Each check returns a list of what is wrong.
"""
import collections
import graphlib
import html.parser
import pathlib
import re
import urllib.parse
import xml.etree.ElementTree as ElementTree

TYPES = ("class", "struct", "union", "concept")
MEMBERS = ("function", "variable", "typedef", "enum", "define")


def is_documented(element):
    parts = map(element.find, ("briefdescription", "detaileddescription"))
    return any("".join(part.itertext()).strip() for part in parts if part is not None)


def public_names(xml):
    """Yields each public type, member and enumerator of doxygen's XML: its kind, name, place and element."""
    for file in sorted(pathlib.Path(xml).glob("*.xml")):
        for compound in ElementTree.parse(file).iter("compounddef"):
            kind, scope = compound.get("kind"), ""
            if kind in TYPES:
                name = compound.findtext("compoundname")
                yield kind, name, place(compound), compound
                scope = f"{name}::"
            for member in compound.iter("memberdef"):
                if kind == "page" or member.get("prot") != "public" or member.get("kind") not in MEMBERS:
                    continue
                name = scope + member.findtext("name")
                yield member.get("kind"), name, place(member), member
                for value in member.findall("enumvalue"):
                    yield "enumerator", f"{name}::{value.findtext('name')}", place(member), value


def undocumented(xml, least=100):
    """Returns public names without documentation, with their lines. One overload may explain the others."""
    names = list(public_names(xml))
    if len(names) < least:
        return [f"the XML has only {len(names)} public names: it is not that of the headers"]
    explained = {name for _, name, _, element in names if is_documented(element)}
    return sorted({f"{where}: the {kind} {name} has no documentation"
                   for kind, name, where, element in names if name not in explained})


def place(element):
    location = element.find("location")
    return f"{location.get('file')}:{location.get('line')}" if location is not None else ""


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, file):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value and name in ("id", "name"):
                self.anchors.add(value)
            if value is not None and name in ("href", "src"):
                self.links.append(value)


def read(site):
    """Returns {name: Page} of all pages."""
    site = pathlib.Path(site)
    files = {file.relative_to(site).as_posix(): file for file in sorted(site.rglob("*.html"))}
    return {name: Page(file) for name, file in files.items()}


def target_of(page, link):
    """Returns the file, relative to the root of the site, and the anchor of a link; None if it leaves the site."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = urllib.parse.unquote(parts.path)
    folder = pathlib.PurePosixPath(page).parent
    target = re.sub(r"^\./", "", (folder / path).as_posix()) if path else page
    return target, urllib.parse.unquote(parts.fragment)


def dead_links(site, pages, least=100):
    wrong, count = collections.defaultdict(set), 0
    for name, page in pages.items():
        for link in page.links:
            if link.startswith("javascript:") or (target := target_of(name, link)) is None:
                continue
            count += 1
            file, anchor = target
            if not (pathlib.Path(site) / file).is_file():
                wrong[f"{link}: there is no such file"].add(name)
            elif anchor and file in pages and anchor not in pages[file].anchors:
                wrong[f"{link}: there is no such anchor"].add(name)
    if count < least:
        return [f"only {count} links: this is no site"]
    return [f"{min(names)}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {problem}"
            for problem, names in sorted(wrong.items())]


def lost_pages(pages):
    """Returns the pages that no path of links reaches from the main page."""
    reached, waiting = set(), ["index.html"]
    while waiting:
        name = waiting.pop()
        if name in pages and name not in reached:
            reached.add(name)
            waiting += [target[0] for link in pages[name].links if (target := target_of(name, link))]
    return [f"{name}: no link leads to it" for name in sorted(set(pages) - reached)]


def untrue_tables(folder, code):
    """Returns what tables on the page of a folder of headers name that does not exist, and headers and folders that the
    page lacks. `code` is the text of all headers."""
    page, words = pathlib.Path(folder, "README.md"), set(re.findall(r"\w+", code))
    text = page.read_text(encoding="utf-8")
    names = set(re.findall(r"`([^`]+)`", "".join(re.findall(r"^\|(.*)\|.*\|$", text, re.MULTILINE))))
    listed = {name for name in names if re.search(r"/$|\.h(pp)?$", name)}
    headers = {file.name for file in page.parent.rglob("*.h*") if file.suffix in (".h", ".hpp")}
    folders = {f"{file.name}/" for file in page.parent.iterdir() if file.is_dir()}
    unknown = (listed - headers - folders) | {name for name in names - listed
                                              if not words.issuperset(re.findall(r"\w+", name))}
    own = {name for name in headers if (page.parent / name).is_file()}
    lacking = (own - listed) | {name for name in folders if f"`{name}`" not in text}
    return [*(f"{page}: there is no {name}" for name in sorted(unknown)),
            *(f"{page}: its table lacks {name}" for name in sorted(lacking))]


def circles(folder):
    """Returns a circle of includes among the headers of a folder, if there is one."""
    texts = {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8")
             for file in pathlib.Path(folder).rglob("*.h*")}
    included = {name: re.findall(r'^#include "(.+)"', text, re.MULTILINE) for name, text in texts.items()}
    try:
        graphlib.TopologicalSorter(included).prepare()
    except graphlib.CycleError as problem:
        return [f"a circle of includes: {', '.join(problem.args[1])}"]
    return []
