# SPDX-License-Identifier: MIT
"""Makes the files of a release in build/release: the archive of this tree, the packages, the site, the bill of
materials, the notes and SHA256SUMS. Makes them again, from that archive in another folder, and fails if a byte differs.
Installs what it needs.

    ports/release
    ports/release --tag vVERSION    but refuses a tag of another version, a version without a date in CHANGELOG.md, and
                                    a tree that has something which is not committed
    ports/release --once            does not make them again
"""
import argparse
import filecmp
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from . import bill_of_materials, tree

OUTPUT = tree.ROOT / "build" / "release"
JOBS = ("build", "gcc", "site", "wasm")  # of ports/toolchain, besides those of packages
# What users download of a package, if it is not the whole: the other packages are packed as folders.
FILES = {"arduino": "*.zip", "cmsis-pack": "*.p*", "single": "*.hpp", "wrap": "*.wrap"}


def call(*command, **options):
    subprocess.run([str(word) for word in command], cwd=tree.ROOT, check=True, **options)


def refusal(tag):
    """Returns why a tag may not name this tree, or an empty string."""
    date, text = tree.changes()
    if tag != f"v{tree.version()}":
        return f"{tag} is not v{tree.version()}, the version of meson.build"
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date) or not text:
        return f"CHANGELOG.md has no section `## {tree.version()} - DATE`"
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=tree.ROOT, check=True, stdout=subprocess.PIPE).stdout
    return f"not committed:\n{changed.decode()}" if changed else ""


def notes():
    """Returns the section of CHANGELOG.md, each paragraph in one line: in notes GitHub keeps line breaks."""
    return re.sub(r"\n +(?!- )", " ", tree.changes()[1]) + "\n"


def add_packages(output, work):
    call(tree.ROOT / "ports" / "packages" / "make", "--output", work)
    for package in sorted(path for path in work.iterdir() if path.is_dir()):
        name = f"tinyattn-{package.name}-{tree.version()}"
        if package.name not in FILES:
            tree.pack(package, output / f"{name}.zip", name)
            continue
        for file in package.glob(FILES[package.name]):
            shutil.copy(file, output / (f"{name}.zip" if file.suffix == ".zip" else file.name))


def add_site(output, work):
    call(sys.executable, "-B", "-m", "ports.site.make_site", "--browser", work)
    name = f"tinyattn-site-{tree.version()}"
    tree.pack(work / "site", output / f"{name}.zip", name)


def make(output):
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    for add in (add_packages, add_site):
        with tempfile.TemporaryDirectory() as work:
            add(output, pathlib.Path(work))
    bill_of_materials.write(output / f"tinyattn-{tree.version()}.spdx.json", sorted(output.iterdir()))
    tree.release(output)
    (output / "notes.md").write_text(notes(), encoding="utf-8")
    sums = [f"{tree.checksum(file, 'sha256')}  {file.name}\n" for file in sorted(output.iterdir())]
    (output / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


def differences(output):
    """Makes the release again, from its archive, and returns the names of files that differ, and are left in a folder
    next to it."""
    again = output.with_name(f"{output.name}-again")
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(next(output.glob("*.tar.gz")), folder)
        call(next(pathlib.Path(folder).iterdir()) / "ports" / "release", "--once", "--output", again, umask=0o077)
    names = {file.name for folder in (output, again) for file in folder.iterdir()}
    _, *wrong = filecmp.cmpfiles(output, again, names, shallow=False)
    if not any(wrong):
        shutil.rmtree(again)
    return sorted(sum(wrong, []))


def main():
    parser = argparse.ArgumentParser(
        prog="ports/release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", help="that this tree gets")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--output", type=pathlib.Path, default=OUTPUT, metavar="FOLDER")
    args = parser.parse_args()
    if args.tag and (reason := refusal(args.tag)):
        sys.exit(reason)
    call(tree.ROOT / "ports" / "toolchain", *JOBS)
    output = args.output.resolve()
    make(output)
    if not args.once and (names := differences(output)):
        sys.exit(f"made twice, these differ: {', '.join(names)}; the others are in {output}-again")
    print(output)


if __name__ == "__main__":
    main()
