# SPDX-License-Identifier: MIT
"""Makes the package for PlatformIO: library.json, headers and sources.

Fields: https://docs.platformio.org/en/latest/manifests/library-json/
"""
import json
import pathlib

from .. import firmware, tree

HERE = pathlib.Path(__file__).resolve().parent
SCHEMAS = "https://raw.githubusercontent.com/platformio/platformio-core/develop/platformio/assets/schema"
LAYER, CERTIFY = "examples/layer", "examples/certify"


def manifest(examples):
    """`examples`: {folder: names of its files}."""
    return {
        "$schema": f"{SCHEMAS}/library.json",
        "name": firmware.NAME,
        "version": tree.version(),
        "description": tree.SUMMARY,
        "keywords": list(firmware.KEYWORDS),
        "homepage": tree.HOMEPAGE,
        "repository": {"type": "git", "url": f"{tree.HOMEPAGE}.git"},
        "authors": [{"name": firmware.authors(), "maintainer": True}],
        "license": "MIT",
        "frameworks": "*",
        "platforms": "*",
        "headers": firmware.public_headers(),
        "examples": [{"name": pathlib.PurePath(base).name, "base": base, "files": sorted(files)}
                     for base, files in examples.items()],
        # For the library alone, after the -std of the framework. A project sets the flag for its own files.
        "build": {"flags": ["-std=gnu++20"]}}


def make(folder):
    firmware.copy_library(folder)
    firmware.fill_folder(HERE, folder, version=tree.version())
    examples = {LAYER: ["main.cpp", *firmware.copy_layer(folder / LAYER)],
                CERTIFY: ["main.cpp", *firmware.copy_certificate(folder / CERTIFY, *firmware.CONSOLES.iterdir())]}
    (folder / "library.json").write_text(json.dumps(manifest(examples), indent=2) + "\n", encoding="utf-8")
