# SPDX-License-Identifier: MIT
"""Makes the site: pages from the tree, a reference from the headers by doxygen.

    python3 -m ports.site.make_site [--browser] FOLDER     into FOLDER/site; doxygen's XML is left in FOLDER/site-xml

--browser adds the pages of examples/browser, which are built first, by emscripten.
"""
import argparse
import pathlib
import shlex
import shutil
import subprocess
import sys

from ports.packages import tree

from . import errors, finish, headers, notions, pages, search

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
AWESOME = pathlib.Path("/usr/share/doxygen-awesome-css")
INCLUDE = ROOT / "include" / "tinyattn"
BROWSER = ROOT / "build" / "browser"  # where examples/run leaves the pages of a model in the browser
IN_BROWSER = {"Draw a digit": "browser/digits.html", "A model that writes": "browser/writer.html",
              "Say a digit": "browser/listener.html", "Watch a model learn": "browser/learner.html"}
NAMESPACES = {"tinyattn": "tinyattn.hpp", "tinyattn::compiled": "compiled.hpp"}  # {name: header with its comment}


def public_headers():
    folders = INCLUDE, INCLUDE / "training", INCLUDE / "training" / "backward"
    return sorted(header for folder in folders for header in folder.glob("*.h*"))


def page_of_header(header):
    """Returns the name that doxygen gives the page of a header: its path if another has the same name."""
    is_alone = [other.name for other in public_headers()].count(header.name) == 1
    name = header.name if is_alone else header.relative_to(INCLUDE).as_posix()
    return name.replace("_", "__").replace(".", "_8").replace("/", "_2") + ".html"


def comment_of(header):
    return headers.file_comment((INCLUDE / header).read_text(encoding="utf-8"))


def notion(name, entry, costs):
    """Returns the page of a notion: the comment of each header, where it is used, what calls cost, and diagnostics."""
    parts = [f'<a class="from" href="{page_of_header(INCLUDE / header)}">tinyattn/{header}</a>\n\n'
             + "\n".join(comment_of(header))
             for header in entry["headers"]]
    used = [f'<li><a href="{pages.label(path)}.html">{pages.title(path)}</a></li>' for path in entry["see"]]
    parts += ["<h2>See it used</h2>", f"<ul>{''.join(used)}</ul>"] if used else []
    if tables := list(notions.cost_tables(entry, costs)):
        explained = (f"<p>Bytes, and instructions of one call, on emulated boards by {costs['compiler']}; flash is "
                     "what an image grows by, with all that comes along. <code>tests/bench costs</code> measures it "
                     "anew.</p>")
        parts += [f"<h2>What it costs</h2>\n{explained}", *tables]
    if diagnostics := list(errors.links([*entry["headers"], *entry.get("checks", [])])):
        parts += ["<h2>What the compiler may say</h2>",
                  f"<ul>{''.join(f'<li>{link}</li>' for link in diagnostics)}</ul>"]
    return f"/** @defgroup {name} {entry['title']}\n\n" + "\n\n".join(parts) + "\n*/\n"


def write_notions(file):
    """Writes the pages of notions and namespaces. The filter, headers.py, adds the names of each notion."""
    costs = notions.read_costs()
    text = [f"/** @namespace {name}\n" + "\n".join(comment_of(header)) + "\n*/\n" for name,
            header in NAMESPACES.items()]
    text += [notion(name, entry, costs) for name, entry in notions.read().items()]
    file.write_text("\n".join(text), encoding="utf-8")
    return file


def settings(folder, inputs):
    """Returns the settings of doxygen that Doxyfile does not have, since they depend on paths."""
    pattern_filter = f"{shlex.quote(sys.executable)} -B -m ports.site.headers"  # run at the root of the tree
    values = {
        "PROJECT_NUMBER": tree.version(),
        "OUTPUT_DIRECTORY": folder,
        "HTML_OUTPUT": "site",
        "XML_OUTPUT": "site-xml",
        "INPUT": inputs,
        "FILTER_PATTERNS": [f'"*.hpp={pattern_filter}"', f'"*.h={pattern_filter}"'],
        "STRIP_FROM_PATH": ROOT / "include",
        "STRIP_FROM_INC_PATH": ROOT / "include",
        "LAYOUT_FILE": HERE / "layout.xml",
        "HTML_EXTRA_STYLESHEET": [AWESOME / "doxygen-awesome.css", HERE / "site.css"],
        "HTML_EXTRA_FILES": [AWESOME / script for script in finish.SCRIPTS] + [search.LUNR, HERE / "search.js"],
        "GENERATE_TAGFILE": folder / "site-tags.xml",
        "WARN_LOGFILE": folder / "site-warnings.txt",
    }
    lines = [f"{name} = {' '.join(map(str, value)) if isinstance(value, list) else value}"
             for name, value in values.items()]
    return (HERE / "Doxyfile").read_text(encoding="utf-8") + "\n".join(lines) + "\n"


def add_browser(site):
    """Adds the pages of examples/browser, and shows their link to the main page."""
    subprocess.run([ROOT / "examples" / "run", "browser"], check=True)
    shutil.copytree(BROWSER, site / "browser")
    for page in (site / "browser").glob("*.html"):
        page.write_text(page.read_text(encoding="utf-8").replace('id="home" hidden', 'id="home"'), encoding="utf-8")


def report(what):
    """Prints progress at once: making the site takes half a minute."""
    print(what, flush=True)


def make(folder, browser):
    if not AWESOME.is_dir():
        sys.exit(f"there is no {AWESOME}: Debian's package doxygen-awesome-css has it; `ports/toolchain site` installs "
                 "it")
    if not search.LUNR.is_file():
        sys.exit(f"there is no {search.LUNR}: Debian's package libjs-lunr has it; `ports/toolchain site` installs it")
    work, site = folder / "site-pages", folder / "site"
    for old in (work, site, folder / "site-xml"):
        shutil.rmtree(old, ignore_errors=True)
    work.mkdir(parents=True)
    report("pages, from the tree")
    known = {header.relative_to(ROOT).as_posix(): page_of_header(header) for header in public_headers()}
    written = pages.Pages(known, IN_BROWSER if browser else {}).write(work)
    main = work / "index.md"
    first, others = written[:len(pages.FIRST)], [file for file in written[len(pages.FIRST):] if file != main]
    reference = [write_notions(work / "notions.dox"), errors.write(work / "errors.md", known)]
    inputs = [main, *first, *reference, *others, search.write_page(work / "search.md"), *public_headers()]
    report(f"doxygen: {len(inputs)} pages and headers")
    subprocess.run(["doxygen", "-"], input=settings(folder, inputs), text=True, check=True, cwd=ROOT)
    report("the search, and links between pages")
    search.write_text(site)
    finish.finish(site, folder / "site-tags.xml")
    if browser:
        report("the models in the browser, by emscripten")
        add_browser(site)
    return site


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    return parser.parse_args()


if __name__ == "__main__":
    args = parse()
    print(make(args.folder.resolve(), args.browser) / "index.html")
