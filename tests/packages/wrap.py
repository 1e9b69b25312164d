# SPDX-License-Identifier: MIT
"""Tests a Meson project that takes tinyattn by its wrap file, from a local archive.

    wrap.py COMPILER
"""
import json
import re
import shutil
import sys

from tests.packages import packages
from tests.packages.packages import CONSUMER, ROOT
from tests.support import tap
from tests.support.processes import attempt, call

PAGE = (ROOT / "ports" / "packages" / "README.md").read_text(encoding="utf-8")
SECTION = re.search(r"^## Meson\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)[1]


def project(folder):
    """Makes a project, and runs the commands of the page in it. Meson finds the archive in its cache, and checks its
    hash."""
    package = packages.make("wrap", folder / "made")
    commands = re.findall(r"^    (.*)", SECTION.partition("In `meson.build`")[0], re.MULTILINE)
    shutil.copytree(CONSUMER / "wrap", folder / "project")
    shutil.copy(CONSUMER / "main.cpp", folder / "project")
    call(["sh", "-ec", "\n".join(re.sub(r"\bP/", f"{package}/", line) for line in commands)], folder=folder / "project")
    return folder / "project"


def set_up(where):
    return ["meson", "setup", "-Dwerror=true", f"-Dat_least=>={packages.VERSION}", where / "build", where]


@packages.in_a_folder
def consumes(folder):
    where = project(folder)
    call(set_up(where), CXX=sys.argv[1])
    call(["meson", "test", "-C", where / "build"])
    return ""


@packages.in_a_folder
def as_the_page_has_it(folder):
    """Checks a project whose meson.build is that of the page."""
    where = project(folder)
    (where / "meson.build").write_text("\n".join(re.findall(r"^    (.*)", SECTION.partition("In `meson.build`")[2],
                                                            re.MULTILINE)))
    program = '#include "tinyattn/tinyattn.hpp"\nint main() { return tinyattn::exp(0.0f) == 1.0f ? 0 : 1; }\n'
    (where / "main.cpp").write_text(program)
    call(["meson", "setup", where / "build", where], CXX=sys.argv[1])
    call(["meson", "compile", "-C", where / "build"])
    call([where / "build" / "yours"])
    return ""


@packages.in_a_folder
def checks_the_archive(folder):
    where = project(folder)
    archive = next((where / "subprojects" / "packagecache").iterdir())
    archive.write_bytes(archive.read_bytes()[:-1] + b"?")
    status, output = attempt(set_up(where))
    return "" if status != 0 and "hash" in output.lower() else f"a damaged archive is taken:\n{output[-500:]}"


@packages.in_a_folder
def names_what_it_provides(folder):
    package = packages.make("wrap", folder)
    entry = json.loads((package / "releases.json").read_text(encoding="utf-8"))["tinyattn"]
    wrap = (package / "tinyattn.wrap").read_text(encoding="utf-8")
    missing = [name for name in entry["dependency_names"] if name not in wrap.partition("[provide]")[2]]
    return f"not in [provide]: {missing}" if missing or entry["versions"] != [f"{packages.VERSION}-1"] else ""


tap.report([
    ("a project takes the archive", consumes),
    ("a project as the page has it", as_the_page_has_it),
    ("a damaged archive is not taken", checks_the_archive),
    ("releases.json and the wrap file agree", names_what_it_provides)])
