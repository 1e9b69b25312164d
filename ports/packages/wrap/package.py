# SPDX-License-Identifier: MIT
"""Makes the package for Meson's WrapDB: the wrap file, the entry of releases.json, and the archive of the release."""
import json
import pathlib

from .. import tree

HERE = pathlib.Path(__file__).resolve().parent
PROVIDED = ("tinyattn", "tinyattn-compiled")


def make(folder):
    archive = tree.release(folder)
    (folder / "tinyattn.wrap").write_text(tree.fill(
        HERE / "tinyattn.wrap.in", name=f"tinyattn-{tree.version()}", url=tree.address_of_release(), file=archive.name,
        hash=tree.checksum(archive, "sha256"), provided=", ".join(PROVIDED)), encoding="utf-8")
    entry = {"tinyattn": {"dependency_names": list(PROVIDED), "versions": [f"{tree.version()}-1"]}}
    (folder / "releases.json").write_text(json.dumps(entry, indent=2) + "\n", encoding="utf-8")
