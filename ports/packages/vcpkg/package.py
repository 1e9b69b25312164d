# SPDX-License-Identifier: MIT
"""Makes a port for vcpkg, as an overlay or for its registry, and the archive of the release that the port fetches."""
import json
import pathlib

from .. import tree

HERE = pathlib.Path(__file__).resolve().parent


def make(folder):
    port = folder / "ports" / "tinyattn"
    port.mkdir(parents=True)
    archive = tree.release(folder)
    manifest = {
        "$schema": "https://raw.githubusercontent.com/microsoft/vcpkg-tool/main/docs/vcpkg.schema.json",
        "name": "tinyattn",
        "version-semver": tree.version(),
        "description": tree.SUMMARY,
        "homepage": tree.HOMEPAGE,
        "license": "MIT",
        "dependencies": [{"name": name, "host": True} for name in ("vcpkg-cmake", "vcpkg-cmake-config")]}
    (port / "vcpkg.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    portfile = tree.fill(HERE / "portfile.cmake.in", url=tree.address_of_release(), file=archive.name,
                         hash=tree.checksum(archive, "sha512"))
    (port / "portfile.cmake").write_text(portfile, encoding="utf-8")
    tree.copy(HERE / "usage", port / "usage")
