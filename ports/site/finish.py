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
    for page in sorted(site.glob("*.html")):
        text = page.read_text(encoding="utf-8").replace("</head>", RUN, 1)
        text = text.replace(BELOW_HEADER, SEARCH + BELOW_HEADER, 1)
        if page.name.startswith("source_"):  # modules of Python have no pages
            text = re.sub(r'<a (?:class="code[^"]*" )?href="namespace\w+\.html">([^<]*)</a>', r"\1", text)
        if SPEAK_OF_NAMES.fullmatch(page.name):
            text = CODE.sub(lambda code: linked(code, names), text)
        page.write_text(text, encoding="utf-8")


def name_folders(site, xml):
    """Names the pages of folders by their paths; doxygen does so by hashes of absolute paths, which differ between
    machines. Removes pages of folders that are not the site's: their paths are absolute."""
    paths = {file.stem: ElementTree.parse(file).findtext("compounddef/compoundname") for file in xml.glob("dir_*.xml")}
    names = {page: "dir_" + re.sub(r"\W", "_", path) for page, path in paths.items() if not path.startswith("/")}
    for file in (*site.glob("*.html"), *site.glob("*.js")):
        text = re.sub("|".join(names), lambda page: names[page[0]], file.read_text(encoding="utf-8"))
        text = re.sub(r'(^"dir_.*\n)+', lambda lines: "".join(sorted(lines[0].splitlines(True))), text, flags=re.MULTILINE)
        file.write_text(text, encoding="utf-8")
        if file.stem in names:
            file.rename(file.with_stem(names[file.stem]))
        elif file.stem in paths:
            file.unlink()


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
