# SPDX-License-Identifier: MIT
"""Tests the port for vcpkg and the recipe for Conan, whose tools Debian does not have: the files that they name exist,
and the hash in the port is that of the archive that vcpkg fetches."""
import hashlib
import json
import re
import tarfile

from tests.packages import packages
from tests.support import tap


@packages.in_a_folder
def vcpkg(folder):
    package = packages.make("vcpkg", folder)
    port = package / "ports" / "tinyattn"
    manifest = json.loads((port / "vcpkg.json").read_text(encoding="utf-8"))
    portfile = (port / "portfile.cmake").read_text(encoding="utf-8")
    archive = package / re.search(r'FILENAME "([^"]+)"', portfile)[1]
    sha512 = re.search(r"SHA512 (\w+)", portfile)[1]
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "sources")
    source = next((folder / "sources").iterdir())
    problems = [] if hashlib.sha512(archive.read_bytes()).hexdigest() == sha512 else ["another hash"]
    files = [path.strip("/") for path in re.findall(r"\$\{SOURCE_PATH\}([^\"]+)", portfile)]
    return "\n".join([*problems, *([] if (port / "usage").is_file() else ["no usage"]),
                      *(f"there is no {name}" for name in files if not (source / name).exists()),
                      *([] if manifest["version-semver"] == packages.VERSION else ["another version"])])


@packages.in_a_folder
def conan(folder):
    package = packages.make("conan", folder)
    recipe = (package / "conanfile.py").read_text(encoding="utf-8")
    compile(recipe, "conanfile.py", "exec")
    version = re.search(r'^    version = "(.*)"', recipe, re.MULTILINE)[1]
    return "\n".join(packages.problems(package, version, ["LICENSE"]))


tap.report([("vcpkg: the portfile's hash and files are those of the archive", vcpkg),
            ("conan: the recipe is Python, and packs the tree's headers", conan)])
