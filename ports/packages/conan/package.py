# SPDX-License-Identifier: MIT
"""Makes a recipe for Conan 2 and the files that it packs."""
import pathlib

from .. import tree

HERE = pathlib.Path(__file__).resolve().parent


def make(folder):
    tree.copy_headers(folder / "include")
    tree.copy(tree.ROOT / "LICENSE", folder / "LICENSE")
    recipe = tree.fill(HERE / "conanfile.py.in", version=tree.version(), summary=tree.SUMMARY, homepage=tree.HOMEPAGE)
    (folder / "conanfile.py").write_text(recipe, encoding="utf-8")
