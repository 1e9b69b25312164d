# SPDX-License-Identifier: MIT
"""Types the commands of ports/packages/release.md in a copy of this tree, which is a repository of its own, and looks into the files of the
release. ports/release itself fails if they are not the same bytes twice. SPDX_SCHEMA may name the JSON schema of SPDX 2.3."""
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import tarfile
import tempfile

from ports.packages import tree
from tests.support import debian, tap
from tests.support.processes import ROOT, attempt, call

SCHEMA = os.environ.get("SPDX_SCHEMA")
if SCHEMA:
    debian.missing("jsonschema")
    import jsonschema

VERSION = tree.version()
COMMANDS = re.findall(r"^    (.*)", (ROOT / "ports/packages/release.md").read_text(encoding="utf-8"), re.MULTILINE)
NEEDED = ("arm-none-eabi-g++", "cmake", "doxygen", "em++", "git", "ssh-keygen")
PLANTED = {"ports/packages/__main__.py": ("NAMES = ", 'NAMES = ["wrap"] or '),
           "ports/packages/release.py": ("(add_packages, add_site)", "(add_packages,)"),
           "ports/packages/wrap/package.py": ('name=f"tinyattn-{tree.version()}"', "name=HERE")}
CONFIG = """[user]\n name = A\n email = a@example.org\n signingkey = ../key.pub\n[gpg]\n format = ssh
[remote "origin"]\n url = ../origin\n"""


def copied(folder):
    for name in tree.tracked("."):
        tree.copy(ROOT / name, folder / name)
        shutil.copymode(ROOT / name, folder / name)
    return folder


def new_repository(folder):
    """Makes a repository of this tree, whose version has no date, a key that signs tags, and a repository for pushes."""
    repository, log = copied(folder / "tree"), folder / "tree" / "CHANGELOG.md"
    log.write_text(re.sub(rf"(?m)^(## {VERSION}) - .*", r"\1 - unreleased", log.read_text(encoding="utf-8")), encoding="utf-8")
    call(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key"])
    call(["sh", "-ec", "git init -q --bare ../origin; git init -q; cat >>.git/config; git add -A; git commit -q -m 'A version'"],
         folder=repository, text=CONFIG)
    return repository


def typed(line):
    status, output = attempt(["bash", "-c", line], folder=REPOSITORY)
    return "" if status == 0 else output[-1500:]


def refused(reason, tag=f"v{VERSION}"):
    status, output = attempt(["ports/release", "--tag", tag], folder=REPOSITORY)
    return "" if status == 1 and reason in output else f"{status}, {output[-500:]}"


@tap.in_folder
def finds_a_path(folder):
    """Checks that a release of one package, which has a path inside, is found to differ."""
    copied(folder)
    for name, (old, new) in PLANTED.items():
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text, name
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    status, output = attempt([folder / "ports/release"], folder=folder)
    return "" if status == 1 and f"these differ: SHA256SUMS, tinyattn-{VERSION}.spdx.json, tinyattn.wrap;" in output else output[-500:]


def is_complete():
    packages = {*call([ROOT / "ports/packages/make", "--list"]).split(), "site"} - {"cmsis-pack", "single", "wrap"}
    wanted = {*(f"tinyattn-{name}-{VERSION}.zip" for name in packages), "SHA256SUMS", "notes.md", "tinyattn-single.hpp", "tinyattn.wrap",
              f"tinyattn-{VERSION}.tar.gz", f"tinyattn-{VERSION}.spdx.json", "tinyattn.tinyattn.pdsc", f"tinyattn.tinyattn.{VERSION}.pack"}
    return " ".join(sorted(wanted ^ {file.name for file in RELEASE.iterdir()}))


def untrue():
    """Yields in what the bill of materials differs from the archive, the other files, and itself."""
    bill = json.loads((RELEASE / f"tinyattn-{VERSION}.spdx.json").read_text(encoding="utf-8"))
    with tarfile.open(RELEASE / f"tinyattn-{VERSION}.tar.gz") as archive:
        contents = {f".{name[name.index('/'):]}": archive.extractfile(name).read() for name in archive.getnames()}
    named = collections.Counter(file["fileName"] for file in bill["files"])
    yield from (f"{name} is named {named[name]} times" for name in {*contents, *named} if named[name] != (name in contents))
    contents |= {file.name: file.read_bytes() for file in RELEASE.iterdir()}
    entries = [(file["fileName"], file) for file in bill["files"]]
    entries += [(package["packageFileName"], package) for package in bill["packages"] if "checksums" in package]
    yield from (f"{name}: another {said['algorithm']}" for name, entry in entries for said in entry["checksums"]
                if hashlib.new(said["algorithm"], contents[name]).hexdigest() != said["checksumValue"])
    related = {link[end] for link in bill["relationships"] for end in ("spdxElementId", "relatedSpdxElement")}
    elements = {element["SPDXID"] for element in (bill, *bill["packages"], *bill["files"])}
    yield from (f"{name} is in no relationship, or nothing" for name in related ^ {*elements, "NONE"})
    yield from (f"{file['fileName']} has no license" for file in bill["files"] if not file["licenseConcluded"])
    if SCHEMA:
        schema = json.loads(pathlib.Path(SCHEMA).read_text(encoding="utf-8"))
        yield from (error.message for error in jsonschema.Draft7Validator(schema).iter_errors(bill))


def other_notes():
    section = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8").partition(f"\n## {VERSION} - ")[2].partition("\n## ")[0].split()[1:]
    return "" if section and (RELEASE / "notes.md").read_text(encoding="utf-8").split() == section else "other words"


if lacking := [program for program in NEEDED if not shutil.which(program)]:
    tap.report([("a release", tap.Skip(f"there is no {lacking[0]}"))])
with tempfile.TemporaryDirectory() as scratch:
    REPOSITORY = new_repository(pathlib.Path(scratch))
    RELEASE = REPOSITORY / "build" / "release"
    of_tags = [("a tag of another version is refused", refused("v9.9.9 is not v", "v9.9.9")),
               ("a version without a date is refused", refused("CHANGELOG.md has no section"))]
    (REPOSITORY / "new.txt").touch()
    of_tags.append(("a version that is not committed is refused", typed(COMMANDS[0]) or refused("?? new.txt")))
    (REPOSITORY / "new.txt").unlink()
    tap.report([*of_tags, *((line, typed(line)) for line in COMMANDS[1:]),
                ("a path in a package is found", finds_a_path), ("it has all packages and the site", is_complete),
                ("the bill of materials is true", lambda: "\n".join(list(untrue())[:20])),
                ("the notes are the section of the changelog", other_notes)])
