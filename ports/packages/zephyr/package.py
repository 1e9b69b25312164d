# SPDX-License-Identifier: MIT
"""Makes the package for Zephyr: a module with its CMake and Kconfig, and a sample.

Modules: https://docs.zephyrproject.org/latest/develop/modules.html
"""
import pathlib

from .. import firmware, tree

HERE = pathlib.Path(__file__).resolve().parent


def make(folder):
    of_library, of_headers = (line.replace("+", r"\+") for line in firmware.printed_checksums())  # regexes
    firmware.fill_folder(HERE / "module", folder, version=tree.version(), summary=tree.SUMMARY, of_library=of_library,
                         of_headers=of_headers)
    firmware.copy_library(folder)
    firmware.copy_layer(folder / "samples" / "layer" / "src")
    firmware.copy_certificate(folder / "samples" / "certify" / "src", firmware.CONSOLES / "print_certificate.hpp")
