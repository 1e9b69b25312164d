# SPDX-License-Identifier: MIT
"""A recipe for Conan 2 beside the files that it packs."""
import pathlib

import tree

HERE = pathlib.Path(__file__).resolve().parent


def make(folder):
    tree.copy_headers(folder / "include")
    tree.copy(tree.ROOT / "LICENSE", folder / "LICENSE")
    (folder / "conanfile.py").write_text(
        tree.fill(HERE / "conanfile.py.in", version=tree.version(), summary=tree.SUMMARY, homepage=tree.HOMEPAGE), encoding="utf-8")
