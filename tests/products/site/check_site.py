# SPDX-License-Identifier: MIT
"""Makes the site and checks it."""
import json
import pathlib
import re
import shutil
import sys
import tempfile

from tests.speed.costs import costs
from tests.products.site import checks
from tests.support import figures, tap
from tests.support.processes import ROOT, attempt

HERE = pathlib.Path(__file__).resolve().parent
FIGURES = ROOT / "tests/products/footprint/figures.txt"

# A site's pages and doxygen's XML, with one fault of each kind; and what the checks report.
FAULTY = {
    "index.html": '<a href="other.html#there">a</a> <a href="other.html#gone">b</a> <a href="missing.html">c</a>',
    "other.html": '<a href="index.html" id="there">d</a>',
    "lost.html": '<a href="index.html">e</a>',
    "faulty.xml": """<doxygen><compounddef kind="struct"><compoundname>Layer</compoundname>
        <detaileddescription>What it is.</detaileddescription><location file="l.hpp" line="1"/>
        <memberdef kind="variable" prot="public"><name>said</name><briefdescription>why</briefdescription></memberdef>
        <memberdef kind="variable" prot="public"><name>unsaid</name><location file="l.hpp" line="2"/></memberdef>
        </compounddef></doxygen>""",
    "README.md": "| header | what |\n| --- | --- |\n| `first.hpp` `gone.hpp` | `not_code` |\n\n| `gone` | |\n",
    "first.hpp": '#include "left_out.hpp"\n',
    "left_out.hpp": '#include "first.hpp"\n',
}
FOUND = """l.hpp:2: the variable Layer::unsaid has no documentation
index.html: missing.html: there is no such file
index.html: other.html#gone: there is no such anchor
lost.html: no link leads to it
README.md: there is no gone
README.md: there is no gone.hpp
README.md: its table lacks left_out.hpp
a circle of includes: first.hpp, left_out.hpp, first.hpp"""


def planted():
    """Returns what the checks find in the faulty site, if that is not FOUND; else an empty string."""
    with tempfile.TemporaryDirectory() as faulty:
        for name, text in FAULTY.items():
            pathlib.Path(faulty, name).write_text(text, encoding="utf-8")
        pages = checks.read(faulty)
        found = problem([*checks.undocumented(faulty, least=1), *checks.dead_links(faulty, pages, least=1),
                         *checks.lost_pages(pages), *checks.untrue_tables(faulty, "first"), *checks.circles(faulty)])
    found = found.replace(f"{faulty}/", "")
    return "" if found == FOUND else f"found:\n{found}"


def unexplained():
    """Returns what is wrong with errors.toml."""
    return attempt([sys.executable, "-B", "-m", "ports.site.errors"])[1].strip()


def wrong_on_pages():
    """Returns wrong statements about names and includes on the headers' pages."""
    headers = [file for folder in ("include", "ports/simd") for file in sorted((ROOT / folder).rglob("*.h*"))]
    code = "".join(file.read_text(encoding="utf-8") for file in headers)
    folders = (ROOT / "include" / "tinyattn" / name for name in ("", "detail", "kernel", "training"))
    return problem([*(line for folder in folders for line in checks.untrue_tables(folder, code)),
                    *checks.circles(ROOT / "include")])


def escapes(site):
    """Returns pages that show Markdown instead of its result: a backslash, two stars, a backtick or a quote for one."""
    texts = ((page.name, re.sub(r"(?s)<(pre|code|script)\b.*?</\1>|<div class=\"fragment.*?</div><!-- fragment -->", "",
                                page.read_text()))
             for page in sorted(site.glob("*.html")) if not page.name.endswith("_source.html"))
    return [name for name, text in texts if re.search(r"\w \.\\|\*\*|`|‘", text)]


def stale():
    """Returns where costs.json and the figures of tests/products/footprint differ on a layer by more than the test there
    allows, or where a page differs."""
    measured = json.loads(costs.COSTS.read_text(encoding="utf-8"))
    rows = re.findall(r"^(\S+) +(\w+) +-O2 +(\d+) +(\d+) +(\d+)\b", FIGURES.read_text(encoding="utf-8"), re.MULTILINE)
    found = [] if len(rows) > 10 else ["there are no figures"]
    for board, layer, flash, scratch, stack in rows:
        cost = measured["rows"][layer]["boards"][board]
        near = abs(cost["flash"] / int(flash) - 1) <= .03 and abs(cost["stack"] - int(stack)) <= 16
        if not near or cost["scratch"] != int(scratch):
            found.append(f"{layer} on {board}: measure it anew, by tests/bench costs")
    for page, board, values in costs.on_pages(measured):
        found += [f"{page.name}, {board}, {what}" for what in figures.differences(page, board, values)]
    return found


def not_found(site):
    """Returns words whose page is not among the first three results of the search."""
    if not shutil.which("node"):
        return tap.Skip("there is no Node.js")
    lines = HERE.joinpath("words.txt").read_text(encoding="utf-8").split("\n")
    table = [re.split(" {2,}", line) for line in lines if line and not line.startswith("#")]
    status, search = attempt(["node", HERE / "find.js", site, *(words for words, _ in table)])
    if status != 0 or len(table) < 20:
        return search or "there are too few words"
    return problem(f"{words}: {wanted} is not in {found[:3]}"
                   for (words, wanted), found in zip(table, json.loads(search), strict=True)
            if not any(address == wanted or re.match(re.escape(wanted) + r"(#|__)", address) for address in found[:3]))


def without_search(pages):
    return [name for name, page in pages.items() if "MSearchField" not in page.anchors
            and not name.startswith("browser/")]


def problem(lines):
    return "\n".join(list(lines)[:40])


if not shutil.which("doxygen"):
    tap.report([("site", tap.Skip, "there is no doxygen")])
with tempfile.TemporaryDirectory() as folder:
    in_browser = ["--browser"] if shutil.which("em++") and shutil.which("node") else []
    status, output = attempt([sys.executable, "-B", "-m", "ports.site.make_site", *in_browser, folder])
    if status != 0 or re.search("warning|error", output):
        tap.report([("the site is made", output)])
    site, xml = pathlib.Path(folder, "site"), pathlib.Path(folder, "site-xml")
    warnings = pathlib.Path(folder, "site-warnings.txt").read_text(encoding="utf-8")
    pages = checks.read(site)
    tap.report([
        ("doxygen understands every page and header", warnings),
        ("every public name is documented", lambda: problem(checks.undocumented(xml))),
        ("every link leads somewhere", lambda: problem(checks.dead_links(site, pages))),
        ("a way leads to every page", lambda: problem(checks.lost_pages(pages))),
        ("tables of headers name each header, and nothing that is gone", wrong_on_pages),
        ("every sentence of the compiler is explained, and no other", unexplained),
        ("the search finds the page of each word", not_found, site),
        ("each page can be searched from", lambda: problem(without_search(pages))),
        ("no page shows signs of Markdown", lambda: problem(escapes(site))),
        ("what calls cost is what the footprint's figures and pages say", lambda: problem(stale())),
        ("mutants are found", planted),
    ])
