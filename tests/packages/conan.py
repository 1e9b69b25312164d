# SPDX-License-Identifier: MIT
"""The recipe for Conan 2, which Debian does not have: a stand-in for the few names that it imports, and what it packs.

    conan.py COMPILER
"""
import fnmatch
import pathlib
import shutil
import sys
import types

import packages
from packages import CONSUMER, building


def copy(_, pattern, source, destination):
    """As conan.tools.files.copy: files below a folder whose names fit, at the same place below another."""
    for file in pathlib.Path(source).rglob("*"):
        if file.is_file() and fnmatch.fnmatch(file.name, pattern):
            to = pathlib.Path(destination) / file.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, to)


def recipe(package):
    """The class that conanfile.py defines."""
    for name, members in {"conan": {"ConanFile": object}, "conan.tools": {}, "conan.tools.build": {"check_min_cppstd": lambda *_: None},
                          "conan.tools.files": {"copy": copy}}.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)
    names = {}
    exec(compile((package / "conanfile.py").read_text(encoding="utf-8"), "conanfile.py", "exec"), names)
    return names["Tinyattn"]


@packages.in_a_folder
def packs(folder):
    source = packages.made("conan", folder / "made")
    packed = recipe(source)()
    packed.source_folder, packed.package_folder = source, folder / "package"
    packed.package()
    if packed.version != packages.tree.version() or packed.package_type != "header-library":
        return f"{packed.version}, {packed.package_type}"
    if not (folder / "package" / "licenses" / "LICENSE").is_file():
        return "there is no license"
    building.call([sys.argv[1], "-std=c++20", "-fsyntax-only", f"-I{folder / 'package' / 'include'}", CONSUMER / "main.cpp"])
    return ""


packages.tap.report([("the recipe packs headers that compile", packs)])
