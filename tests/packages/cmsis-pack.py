# SPDX-License-Identifier: MIT
"""The CMSIS-Pack: its description, and what it gives a project, unpacked as cpackget does.

    cmsis-pack.py COMPILER

Debian does not have the schema of a description. Where it lies on this machine, PACK_XSD=file has xmllint read it:
https://github.com/Open-CMSIS-Pack/Open-CMSIS-Pack-Spec/blob/main/schema/PACK.xsd
"""
import os
import re
import xml.etree.ElementTree as xml
import zipfile

import firmware_packages as on_boards
import packages
from packages import CONSUMER, building

BOARD = "mps2-an386"
# Of RestrictedString, CidPartType and FileCategoryType in that schema: what of it this pack uses.
NAME = r"[\-_A-Za-z0-9]+"
PART_OF_NAME = r"[A-Za-z0-9][A-Za-z0-9_+()'/\-\s.]{1,31}"
CATEGORIES = {"doc", "header", "include", "library", "source"}


def unpacked(folder):
    """Where the pack's content lies, and its description."""
    pack = next(packages.made("cmsis-pack", folder / "made").glob("*.pack"))
    with zipfile.ZipFile(pack) as packed:
        packed.extractall(folder / "pack")
    return pack, folder / "pack", xml.parse(next((folder / "pack").glob("*.pdsc"))).getroot()


@packages.in_a_folder
def description(folder):
    """Names, versions, and each file."""
    pack, content, package = unpacked(folder)
    vendor, name = package.findtext("vendor"), package.findtext("name")
    version = package.find("releases/release").get("version")
    problems = [] if version == packages.tree.version() else ["another version than meson.build"]
    problems += [] if pack.name == f"{vendor}.{name}.{version}.pack" else [f"{pack.name} of {vendor}, {name}, {version}"]
    problems += [] if (content / f"{vendor}.{name}.pdsc").is_file() else ["the description has another name"]
    problems += [f"{word!r} as a name" for word in (vendor, name) if not re.fullmatch(NAME, word)]
    conditions = {condition.get("id") for condition in package.findall("conditions/condition")}
    for component in package.findall("components/component"):
        problems += [f"{key}: {component.get(key)}" for key in ("Cclass", "Cgroup", "Csub")
                     if not re.fullmatch(PART_OF_NAME, component.get(key))]
        if component.get("Cversion") != version or component.get("condition") not in conditions:
            problems.append(f"version or condition of {component.get('Csub')}")
    files = package.findall("components/component/files/file")
    problems += [f"no such category: {file.get('category')}" for file in files if file.get("category") not in CATEGORIES]
    problems += [f"there is no {file.get('name')}" for file in files if not (content / file.get("name")).exists()]
    named = {file.get("name") for file in files}
    problems += [f"{header} is not named" for header in packages.tree.headers() if f"include/{header}" not in named]
    problems += [f"another {header}" for header in on_boards.lists_every_header(content, "include")]
    return "\n".join([*problems, *on_boards.not_in(content, [package.findtext("license"), "README.md"])])


@packages.in_a_folder
def is_well_formed(folder):
    if lacks := packages.needs("xmllint"):
        return lacks
    unpacked(folder)
    status, said = building.attempt(["xmllint", "--noout", *(folder / "pack").glob("*.pdsc")])
    return "" if status == 0 else said


@packages.in_a_folder
def fits_the_schema(folder):
    if lacks := packages.needs("xmllint"):
        return lacks
    if not os.environ.get("PACK_XSD"):
        return packages.tap.Skip("there is no PACK.xsd: name one by PACK_XSD")
    unpacked(folder)
    status, said = building.attempt(["xmllint", "--noout", "--schema", os.environ["PACK_XSD"], *(folder / "pack").glob("*.pdsc")])
    return "" if status == 0 else said


@packages.in_a_folder
def serves_a_project(folder):
    """All components: their include folders and their sources, with someone's program for a Cortex-M4F."""
    machine = building.board(BOARD)
    if lacks := packages.needs(machine.cpp[0], machine.wrapper[0]):
        return lacks
    _, content, package = unpacked(folder)
    files = package.findall("components/component/files/file")
    include = sorted({f"-I{content / file.get('name')}" for file in files if file.get("category") == "include"})
    sources = [content / file.get("name") for file in files if file.get("category") == "source"]
    build = building.Build(folder / "build")
    for main in ("main.cpp", "main.c"):
        objects = [build.compile(machine, source, *include, "-std=c++20", "-Os") for source in sources]
        objects.append(build.compile(machine, CONSUMER / main, *include, *(["-std=c++20"] if main.endswith("pp") else []), "-Os"))
        build.run(machine, build.link(machine, main.replace(".", "_"), [*objects, *build.support(machine)]))
    build.demand()
    return on_boards.lacks_functions(machine, objects, *on_boards.BOTH)


packages.tap.report([
    ("the description names every header, and what it names is there", description),
    ("the description is well-formed", is_well_formed),
    ("the description fits its schema", fits_the_schema),
    ("its components serve a program in C++ and one in C on an emulated Cortex-M4F", serves_a_project)])
