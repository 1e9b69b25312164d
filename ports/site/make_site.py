# SPDX-License-Identifier: MIT
"""Makes the site: pages from the tree, a reference from the headers by doxygen.

    python3 -m ports.site.make_site [--browser] FOLDER     into FOLDER/site; doxygen's XML is left in FOLDER/site-xml

--browser adds the pages of examples/browser, which are built first, by emscripten.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

from ports.packages import tree

from . import errors, finish, headers, notions, pages, search

HERE = pathlib.Path(__file__).resolve().parent
AWESOME = pathlib.Path("/usr/share/doxygen-awesome-css")
NEEDED = {AWESOME: "doxygen-awesome-css", search.LUNR: "libjs-lunr"}  # with the packages of Debian that have them
INCLUDE = tree.ROOT / "include" / "tinyattn"
BROWSER = tree.ROOT / "build" / "browser"  # where examples/run leaves the pages of a model in the browser
IN_BROWSER = {"Draw a digit": "browser/digits.html", "A model that writes": "browser/writer.html",
              "Say a digit": "browser/listener.html", "Watch a model learn": "browser/learner.html"}
NAMESPACES = (("tinyattn", "tinyattn.hpp"), ("tinyattn::compiled", "compiled.hpp"))  # and what explains them
TABS = {"mainpage": "tinyattn", "modules": "Notions", "pages": "Pages", "classlist": "Types",
        "namespacemembers": "Names", "filelist": "Headers"}


def public_headers():
    """Returns {header: its page}: doxygen names a page by the path if another header has the same name."""
    folders = INCLUDE, INCLUDE / "training", INCLUDE / "training/backward"
    files = [file for folder in folders for file in sorted(folder.glob("*.h*"))]
    names = [file.name for file in files]
    found = {}
    for file in files:
        header = file.relative_to(INCLUDE).as_posix()
        name = file.name if names.count(file.name) == 1 else header
        found[header] = name.replace("_", "__").replace(".", "_8").replace("/", "_2") + ".html"
    return found


def comment_of(header):
    return headers.first_comment((INCLUDE / header).read_text(encoding="utf-8"))[0]


def write_layout(file):
    """Writes doxygen's own layout, but with descriptions first, other tabs, and without friends and bases."""
    subprocess.run(["doxygen", "-l", file], check=True)
    tabs = "".join(f'<tab type="{kind}" visible="yes" title="{title}"/>' for kind, title in TABS.items())
    layout = re.sub(r"(?s)(?<=<navindex>).*(?=</navindex>)", tabs, file.read_text(encoding="utf-8"))
    layout = re.sub(r"<(detaileddescription|friends|inheritancegraph)\b.*", "", layout)
    layout = layout.replace('<briefdescription visible="yes"/>', '<detaileddescription title="What it is"/>')
    file.write_text(layout, encoding="utf-8")


def run_doxygen(folder, inputs):
    scripts = [*(AWESOME / script for script in finish.SCRIPTS), search.LUNR]
    variables = {"VERSION": tree.version(), "FOLDER": folder, "PYTHON": sys.executable, "AWESOME": AWESOME,
                 "INPUT": " ".join(map(str, inputs)), "SCRIPTS": " ".join(map(str, scripts))}
    subprocess.run(["doxygen", HERE / "Doxyfile"], check=True, cwd=tree.ROOT, env={**os.environ, **variables})


def add_browser(site):
    """Adds the pages of examples/browser, and shows their link to the main page."""
    subprocess.run([tree.ROOT / "examples" / "run", "browser"], check=True)
    shutil.copytree(BROWSER, site / "browser")
    for page in (site / "browser").glob("*.html"):
        page.write_text(page.read_text(encoding="utf-8").replace('id="home" hidden', 'id="home"'), encoding="utf-8")


def write_pages(work, in_browser):
    """Writes all pages, and returns their files in the order of the site's tree of pages."""
    known = public_headers()
    main, *others = pages.Pages({f"include/tinyattn/{header}": page for header, page in known.items()}).write(
        work, in_browser)
    texts = {
        "namespaces.dox": "".join(f"/** @namespace {name}\n{comment_of(header)} */\n" for name, header in NAMESPACES),
        "notions.dox": notions.pages(known, comment_of, pages.link),
        "errors.md": errors.page(known),
        "search.md": search.PAGE,
    }
    for name, text in texts.items():
        (work / name).write_text(text, encoding="utf-8")
    first = len(pages.FIRST)
    return [main, *others[:first], *(work / name for name in texts), *others[first:]]


def make(folder, browser):
    for file, package in NEEDED.items():
        if not file.exists():
            sys.exit(f"there is no {file}: Debian's package {package} has it; `ports/toolchain site` installs it")
    work, site, xml = folder / "site-pages", folder / "site", folder / "site-xml"
    for old in (work, site, xml):
        shutil.rmtree(old, ignore_errors=True)
    work.mkdir(parents=True)
    inputs = [*write_pages(work, IN_BROWSER if browser else {}), *(INCLUDE / header for header in public_headers())]
    write_layout(work / "layout.xml")
    print(f"doxygen: {len(inputs)} pages and headers", flush=True)  # making the site takes half a minute
    run_doxygen(folder, inputs)
    finish.name_folders(site, xml)
    search.write_text(xml, site)
    finish.finish(site, folder / "site-tags.xml")
    if browser:
        print("the models in the browser, by emscripten", flush=True)
        add_browser(site)
    return site


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    print(make(args.folder.resolve(), args.browser) / "index.html")
