# SPDX-License-Identifier: MIT
"""Makes the package for ESP-IDF: a component with its manifest, and a project that uses it.

Manifest: https://docs.espressif.com/projects/idf-component-manager/en/latest/reference/manifest_file.html
"""
import pathlib

from .. import firmware, tree

HERE = pathlib.Path(__file__).resolve().parent


def make(folder):
    firmware.fill_folder(HERE / "component", folder, version=tree.version(), summary=tree.SUMMARY,
                         homepage=tree.HOMEPAGE, authors=firmware.authors(),
                         sources=" ".join(f"src/{name}" for name in firmware.COMPILED))
    firmware.copy_library(folder)
    firmware.copy_layer(folder / "examples" / "layer" / "main")
    firmware.copy_certificate(folder / "examples" / "certify" / "main", firmware.CONSOLES / "print_certificate.hpp")
