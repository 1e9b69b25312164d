# SPDX-License-Identifier: MIT
"""Collects what the search looks through, from doxygen's XML: the text of each section of each page, and of each name.

The site loads it as a script, because a page that is opened from a file cannot fetch data. search.js searches, by lunr.
"""
import json
import pathlib
import xml.etree.ElementTree as ElementTree

PAGE = """\
# Search {#search}

<div id="found">This needs JavaScript.</div>
@htmlonly
<script src="lunr.min.js"></script><script src="search_text.js"></script><script src="search.js"></script>
@endhtmlonly
"""
LUNR = pathlib.Path("/usr/share/javascript/lunr/lunr.min.js")
SECTIONS = {"sect1", "sect2", "sect3", "memberdef", "variablelist"}  # the last: diagnostics of errors.py
OF_NAME = {"argsstring", "briefdescription", "detaileddescription", "enumvalue"}
INLINE = {"bold", "computeroutput", "emphasis", "highlight", "ref", "ulink"}


def text_of(element, without=()):
    """Returns the text of an element, without that of some elements in it."""
    parts = [element.text or ""]
    for child in element:
        space = "" if child.tag in INLINE else " "
        parts += [space, "" if child.tag in without else text_of(child, without), space, child.tail or ""]
    return "".join(parts)


def words(elements, without=()):
    return " ".join(" ".join(text_of(element, without) for element in elements).split())


def title_of(section):
    """Returns the title of a page or of a section, the name of a member, or diagnostics."""
    titles = [title for tag in ("title", "name", "compoundname") for title in section.findall(tag)][:1]
    return words(titles or section.iter("term")).removeprefix("tinyattn::")


def rows_of(compound, page):
    """Yields [address, title, title of the page, text] of a page, and of each of its sections and members."""
    code = {"programlisting"} if page.startswith("source_") else set()
    for section in (element for element in compound.iter() if element is compound or element.tag in SECTIONS):
        name = next((of.get("id") for of in (section, *section.iter("anchor")) if of.get("id")), "")
        of_page, _, anchor = name.rpartition("_1") if section is not compound else (page, "", "")
        if of_page == page:  # else it is a member of a notion
            is_name = section.tag in ("compounddef", "memberdef")
            parts = [part for part in section if (part.tag in OF_NAME if is_name else part.tag != "title")]
            text = words(parts, SECTIONS | code)
            yield [f"{page}.html#{anchor}".rstrip("#"), title_of(section), title_of(compound), text]


def write_text(xml, site):
    rows = []
    for file in sorted(xml.glob("*.xml")):
        for compound in ElementTree.parse(file).iter("compounddef"):
            page = compound.get("id").replace("indexpage", "index")  # as it is named in HTML
            rows += rows_of(compound, page) if (site / f"{page}.html").is_file() else []
    text = json.dumps(rows, ensure_ascii=False, indent=0)
    (site / "search_text.js").write_text(f"const searchText = {text};\n", encoding="utf-8")
