# SPDX-License-Identifier: MIT
"""What packages for firmware share: the sources of the compiled library, a sample, and texts for manifests."""
import pathlib
import re

from . import tree

NAME = "tinyattn"
# of src/: the units that a firmware compiles; its flags choose the port
COMPILED = ("attention.cpp", "encoders.cpp", "models.cpp", "int8.cpp", "primitives.cpp")
KEYWORDS = ("attention", "transformer", "language model", "machine learning", "inference", "embedded", "cortex-m",
            "risc-v", "constexpr")
SAMPLES = pathlib.Path(__file__).resolve().parent / "samples"
LAYER = tree.ROOT / "examples" / "c"
CERTIFY = tree.ROOT / "examples" / "certify"
CALLS = (tree.ROOT / "tests", tree.ROOT / "tests" / "headers")  # include paths of its drawn calls
CONSOLES = pathlib.Path(__file__).resolve().parent / "certify"
OURS = re.compile(r'^#include "(?!tinyattn/)([\w./]+)"', re.MULTILINE)


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


def certificate():
    """Returns {name: text} of certify.cpp and of the headers that it includes, all for one folder."""
    found = [CERTIFY / "certify.cpp"]
    for file in found:
        for name in OURS.findall(file.read_text(encoding="utf-8")):
            places = ((place / name).resolve() for place in (file.parent, *CALLS))
            header = next(path for path in places if path.exists())
            found += [header] if header not in found else []
    def in_one_folder(include):
        return f'#include "{pathlib.Path(include[1]).name}"'
    return {file.name: OURS.sub(in_one_folder, file.read_text(encoding="utf-8")) for file in found}


def copy_certificate(folder, *more):
    """Copies the sources of examples/certify, and more files. Returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in certificate().items():
        (folder / name).write_text(text, encoding="utf-8")
    for file in more:
        tree.copy(file, folder / file.name)
    return [*certificate(), *(file.name for file in more)]


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
