# SPDX-License-Identifier: MIT
"""Finishes the pages that doxygen has made: adds scripts and the search, links names in code, removes leftovers."""
import re
import xml.etree.ElementTree as ElementTree

SCRIPTS = ("doxygen-awesome-darkmode-toggle.js", "doxygen-awesome-fragment-copy-button.js")
RUN = ("".join(f'<script src="{script}"></script>' for script in SCRIPTS) +
       "<script>DoxygenAwesomeDarkModeToggle.init(); DoxygenAwesomeFragmentCopyButton.init();</script>\n</head>")
BELOW_HEADER = "</div>\n<!-- end header part -->"
SEARCH = ('<form id="MSearchBox" role="search" action="search.html">'
          '<input type="search" id="MSearchField" name="for" placeholder="Search" '
          'aria-label="Search" accesskey="S"/></form>\n')  # the dark-mode switch is put next to this id
# Pages on which a name in code is one of the library. On other pages `fma` may be the operation of a port.
SPEAK_OF_NAMES = re.compile(r"(index|page_(include_tinyattn(?!_kernel)|examples|src|ports_pytorch)\w*)\.html")
CODE = re.compile(r'(<a [^>]*>)?<code>(?:tinyattn::)?(\w+)((?:\([^<]*\)|&lt;[^<]*)?)</code>')


def finish(site, tags):
    names = public_names(tags)
    listed = (site / "files.html").read_text(encoding="utf-8")
    for page in sorted(site.glob("*.html")):
        if page.name.startswith("dir_") and page.name not in listed:
            page.unlink()  # the page of a folder, to which no page links
            continue
        text = page.read_text(encoding="utf-8").replace("</head>", RUN, 1)
        text = text.replace(BELOW_HEADER, SEARCH + BELOW_HEADER, 1)
        if page.name.startswith("source_"):  # modules of Python have no pages
            text = re.sub(r'<a (?:class="code[^"]*" )?href="namespace\w+\.html">([^<]*)</a>', r"\1", text)
        if SPEAK_OF_NAMES.fullmatch(page.name):
            text = CODE.sub(lambda code: linked(code, names), text)
        page.write_text(text, encoding="utf-8")


def public_names(tags):
    """Returns {name: its address} of documented types, functions and macros; for overloads, that of the first."""
    names = {}
    for compound in ElementTree.parse(tags).getroot():
        name, kind = compound.findtext("name"), compound.get("kind")
        if kind in ("struct", "class", "concept"):
            names.setdefault(name.removeprefix("tinyattn::").partition("<")[0], compound.findtext("filename"))
        if kind in ("group", "file") or name == "tinyattn":
            for member in compound.findall("member"):
                address = f"{member.findtext('anchorfile')}#{member.findtext('anchor')}"
                names.setdefault(member.findtext("name"), address)
    return names


def linked(code, names):
    """Makes code that names something public a link to its documentation."""
    inside, name, _ = code.groups()
    return code[0] if inside or name not in names else f'<a href="{names[name]}">{code[0]}</a>'
