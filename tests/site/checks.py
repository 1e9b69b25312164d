# SPDX-License-Identifier: MIT
"""Checks of a site: every public name is documented, no link is dead, and links lead to each page.

Each check returns a list of what is wrong.
"""
import collections
import html.parser
import pathlib
import re
import urllib.parse
import xml.etree.ElementTree as ElementTree

PUBLIC_KINDS = {"function", "variable", "typedef", "enum", "define"}


def text_of(element):
    return "".join(element.itertext()).strip() if element is not None else ""


def is_documented(element):
    return any(text_of(element.find(part)) for part in ("briefdescription", "detaileddescription", "inbodydescription"))


def members(compound):
    """Yields the public members of a class, a namespace or a file."""
    for member in compound.iter("memberdef"):
        if member.get("prot") == "public" and member.get("kind") in PUBLIC_KINDS:
            yield member


def undocumented(xml, least=100):
    """Returns public names without documentation, with their lines."""
    found, count = {}, 0
    for file in sorted(pathlib.Path(xml).glob("*.xml")):
        for compound in ElementTree.parse(file).iter("compounddef"):
            kind, name = compound.get("kind"), text_of(compound.find("compoundname"))
            if kind in ("class", "struct", "union", "concept"):
                count += 1
                if not is_documented(compound):
                    found[name, place(compound)] = kind
            if kind in ("class", "struct", "union", "namespace", "file", "group"):
                for member in members(compound):
                    scope = f"{name}::" if kind in ("class", "struct", "union") else ""
                    called = scope + text_of(member.find("name"))
                    count += 1
                    if not is_documented(member):
                        found[called, place(member)] = member.get("kind")
                    for value in member.findall("enumvalue"):
                        count += 1
                        if not is_documented(value):
                            found[f"{called}::{text_of(value.find('name'))}", place(member)] = "enumerator"
    if count < least:
        return [f"the XML has only {count} public names: it is not that of the headers"]
    return sorted(f"{where}: the {kind} {name} has no documentation" for (name, where), kind in found.items())


def place(element):
    location = element.find("location")
    return f"{location.get('file')}:{location.get('line')}"


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, file):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        for name in ("href", "src"):
            if attributes.get(name) is not None:
                self.links.append(attributes[name])


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
    reached, waiting = {"index.html"}, ["index.html"]
    while waiting:
        name = waiting.pop()
        for link in pages[name].links:
            target = target_of(name, link)
            if target and target[0] in pages and target[0] not in reached:
                reached.add(target[0])
                waiting.append(target[0])
    return [f"{name}: no link leads to it" for name in sorted(set(pages) - reached)]
