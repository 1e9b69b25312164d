# SPDX-License-Identifier: MIT
"""What all packages share: the version, the headers, and functions that copy and pack files."""
import gzip
import hashlib
import io
import pathlib
import re
import shutil
import subprocess
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("include", "ports/simd")  # a user's include path
HOMEPAGE = "https://github.com/tinyattn/tinyattn"  # this address is nowhere else
SUMMARY = "Attention and transformers for microcontrollers: C++20 headers, no heap, the same bits on every target"
EPOCH = (1980, 1, 1, 0, 0, 0)  # time of each file in an archive, so that two builds give the same bytes


def version():
    """Returns the version, which only meson.build has."""
    return re.search(r"^  version: '([0-9.]+)'", (ROOT / "meson.build").read_text(encoding="utf-8"), re.MULTILINE)[1]


def headers():
    """Returns {name in an #include: file} of all headers."""
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder / "tinyattn").rglob("*.h*"))]
    return {str(file.relative_to(next(ROOT / folder for folder in FOLDERS if file.is_relative_to(ROOT / folder)))): file
            for file in files}


def copy(file, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, to)


def copy_headers(to):
    for name, file in headers().items():
        copy(file, to / name)


def copy_folder(folder, to):
    """Copies the tracked files of a folder, without files of editors and builds."""
    for file in tracked(folder):
        copy(ROOT / folder / file, to / file)


def tracked(folder):
    """Returns the names of the files below a folder that git does not ignore. Without git, as in an archive: of all
    files except builds'."""
    # env fails where git is missing
    command = ["env", "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."]
    git = subprocess.run(command, cwd=ROOT / folder, capture_output=True, encoding="utf-8")
    if git.returncode == 0 and git.stdout:
        return sorted(file for file in git.stdout.split("\0") if file and (ROOT / folder / file).is_file())
    files = (file.relative_to(ROOT / folder) for file in (ROOT / folder).rglob("*") if file.is_file())
    return sorted(str(file) for file in files if not any(map(is_of_a_build, file.parts[:-1])))


def is_of_a_build(folder):
    return folder.startswith(("build", "__pycache__", ".git")) and folder != ".github"


def fill(template, **values):
    """Returns the text of a file in which each @NAME@ is replaced. A name without a value is an error."""
    return re.sub(r"@([A-Z_]+)@", lambda name: str(values[name[1].lower()]), template.read_text(encoding="utf-8"))


def changes():
    """Returns what CHANGELOG.md says of this version: its date, which may be `unreleased`, and the text."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(version())} - (.+)\n((?:(?!## ).*\n)*)", text, re.MULTILINE)
    return (found[1], found[2].strip()) if found else ("unreleased", "")


def release(folder):
    """Makes the archive of a release, which packages fetch, in a folder: always the same bytes."""
    name = f"tinyattn-{version()}"
    file, packed = folder / f"{name}.tar.gz", io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for member in tracked("."):
            content = (ROOT / member).read_bytes()
            entry = tarfile.TarInfo(f"{name}/{member}")
            entry.size, entry.mode = len(content), 0o755 if (ROOT / member).stat().st_mode & 0o100 else 0o644
            archive.addfile(entry, io.BytesIO(content))
    file.write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return file


def address_of_release():
    return f"{HOMEPAGE}/releases/download/v{version()}/tinyattn-{version()}.tar.gz"


def checksum(file, algorithm):
    return hashlib.new(algorithm, file.read_bytes()).hexdigest()


def pack(folder, archive, inside=""):
    """Packs a folder in a zip, below the folder `inside`: always the same bytes."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(str(pathlib.PurePath(inside) / file.relative_to(folder)), EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(entry, file.read_bytes())
