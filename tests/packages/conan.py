# SPDX-License-Identifier: MIT
"""The recipe for Conan 2, which Debian does not have: a stand-in for the few names that it imports, what it packs, and what it says.

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


class Refused(Exception):
    """ConanInvalidConfiguration."""


def check_min_cppstd(recipe, least):
    """As conan.tools.build.check_min_cppstd."""
    standard = recipe.settings.get_safe("compiler.cppstd")
    if int(str(standard).removeprefix("gnu")) < least:
        raise Refused(standard)


class Info:
    """As self.cpp_info: what is told to those who use the package."""

    def __init__(self):
        self.properties, self.includedirs, self.bindirs, self.libdirs = {}, ["include"], ["bin"], ["lib"]

    def set_property(self, name, value):
        self.properties[name] = value


def recipe(package):
    """The class that conanfile.py defines."""
    for name, members in {"conan": {"ConanFile": object}, "conan.tools": {}, "conan.tools.build": {"check_min_cppstd": check_min_cppstd},
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


def accepts(package, standard):
    """With such a compiler.cppstd in a profile."""
    asked = recipe(package)()
    asked.settings = types.SimpleNamespace(get_safe={"compiler.cppstd": standard}.get)
    try:
        asked.validate()
    except Refused:
        return False
    return True


@packages.in_a_folder
def asks_for_cpp20(folder):
    package = packages.made("conan", folder)
    accepted = [standard for standard in ("14", "gnu17", "20", "gnu20", "23", None) if accepts(package, standard)]
    return "" if accepted == ["20", "gnu20", "23", None] else f"it accepts {accepted}"


@packages.in_a_folder
def tells(folder):
    told = recipe(packages.made("conan", folder))()
    told.cpp_info = Info()
    told.package_info()
    found = (told.cpp_info.includedirs, told.cpp_info.libdirs, told.cpp_info.bindirs, told.cpp_info.properties)
    return "" if found == (["include"], [], [], {"cmake_target_name": "tinyattn::tinyattn"}) else str(found)


packages.tap.report([
    ("the recipe packs headers that compile", packs),
    ("an older C++ is refused", asks_for_cpp20),
    ("it tells of headers, and of a target for CMake", tells)])
