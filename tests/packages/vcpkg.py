# SPDX-License-Identifier: MIT
"""The port for vcpkg: its manifest, and what its portfile installs. vcpkg itself is not in Debian; run_port.cmake stands in for its functions.

    vcpkg.py COMPILER
"""
import json
import re
import shutil
import sys

import packages
from packages import CONSUMER, HERE, building


# All that a manifest of a port may say: https://learn.microsoft.com/en-us/vcpkg/reference/vcpkg-json
FIELDS = {"$schema", "name", "version", "version-semver", "version-date", "version-string", "port-version", "builtin-baseline", "configuration",
          "default-features", "dependencies", "description", "documentation", "features", "homepage", "license", "maintainers", "overrides",
          "supports", "summary"}


@packages.in_a_folder
def manifest(folder):
    """As vcpkg's documentation of vcpkg.json asks."""
    port = packages.made("vcpkg", folder) / "ports" / "tinyattn"
    told = json.loads((port / "vcpkg.json").read_text(encoding="utf-8"))
    problems = [name for name in ("name", "version-semver", "description", "homepage", "license") if not told.get(name)]
    problems += [f"no such field: {name}" for name in told if name not in FIELDS and not name.startswith("$")]
    problems += [] if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", told["name"]) else ["the name has other letters"]
    problems += [] if told["version-semver"] == packages.tree.version() else ["another version than meson.build"]
    return "\n".join(problems)


@packages.in_a_folder
def installs(folder):
    if lacks := packages.needs("cmake"):
        return lacks
    package = packages.made("vcpkg", folder / "made")
    shutil.copytree(package, folder / "downloads", ignore=lambda *_: ["ports"])  # as the page says
    building.call(["cmake", f"-DDOWNLOADS={folder / 'downloads'}", f"-DWORK={folder}", f"-DPORTFILE_FOLDER={package / 'ports' / 'tinyattn'}",
                   "-P", HERE / "vcpkg" / "run_port.cmake"])
    installed = folder / "packages" / "tinyattn"
    building.call(["cmake", "-G", "Ninja", "-S", CONSUMER, "-B", folder / "program", "-DWAY=find_package", "-DMAIN=main.cpp",
                   f"-DCMAKE_PREFIX_PATH={installed}", f"-DVERSION={packages.tree.version()}"], CXX=sys.argv[1])
    building.call(["cmake", "--build", folder / "program"])
    building.call([folder / "program" / "program"])
    left = [name for name in ("copyright", "usage") if not (installed / "share" / "tinyattn" / name).is_file()]
    return f"not installed: {left}" if left else ""


packages.tap.report([("the manifest", manifest), ("the portfile installs what a program is built with", installs)])
