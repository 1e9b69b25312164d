# SPDX-License-Identifier: MIT
"""What packages for firmware share: the sources of the compiled library, a sample, and texts for manifests."""
import pathlib
import re

from . import tree

NAME = "tinyattn"
# of src/: the units that a firmware compiles; its flags choose the port
COMPILED = ("attention.cpp", "encoders.cpp", "models.cpp", "int8.cpp")
KEYWORDS = ("attention", "transformer", "language model", "machine learning", "inference", "embedded", "cortex-m",
            "risc-v", "constexpr")
SAMPLES = pathlib.Path(__file__).resolve().parent / "samples"
LAYER = tree.ROOT / "examples" / "c"


def authors():
    notice = (tree.ROOT / "LICENSE").read_text(encoding="utf-8")
    return re.search(r"^Copyright \(c\) \d+ (.+)$", notice, re.MULTILINE)[1]


def public_headers():
    """Returns the names of the headers that programs include. Headers in subfolders are included by these."""
    return [name for name in tree.headers() if name.count("/") == 1]


def sources():
    """Returns {name: file} of the sources of the compiled library and the headers of src/ that they include."""
    found, folder = list(COMPILED), tree.ROOT / "src"
    for name in found:
        text = (folder / name).read_text(encoding="utf-8")
        found += [include for include in re.findall(r'#include "(\w+\.hpp)"', text) if include not in found]
    return {name: folder / name for name in found}


def copy_library(folder):
    """Copies what every package has: include/, src/ and the license."""
    tree.copy_headers(folder / "include")
    for name, file in sources().items():
        tree.copy(file, folder / "src" / name)
    tree.copy(tree.ROOT / "LICENSE", folder / "LICENSE")


def copy_layer(folder):
    """Copies the layer of examples/c, computed by the compiled library and by the headers, whose results a sample's
    main prints. Returns the names of the files."""
    files = [LAYER / "layer.h", LAYER / "headers.cpp", *sorted(SAMPLES.iterdir())]
    for file in files:
        tree.copy(file, folder / file.name)
    return [file.name for file in files]


def printed_checksums():
    """Returns the lines with checksums that every machine prints for this layer."""
    return re.findall(r"^crc32 .*$", (LAYER / "printed.txt").read_text(encoding="utf-8"), re.MULTILINE)


def fill_folder(template, folder, **values):
    """Copies the files of a folder to a package. Fills in those that end with .in, and removes that suffix."""
    for file in sorted(path for path in template.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")):
        to = folder / file.relative_to(template)
        if file.suffix != ".in":
            tree.copy(file, to)
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        to.with_suffix("").write_text(tree.fill(file, **values), encoding="utf-8")
