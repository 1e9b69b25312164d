# SPDX-License-Identifier: MIT
"""Makes the files that `cmake --install` installs, for find_package: sources, the same for every machine."""
import shutil
import subprocess
import tempfile

from .. import tree


def make(folder):
    by_ninja = ["-G", "Ninja"] if shutil.which("ninja") else []  # else by make
    with tempfile.TemporaryDirectory() as build:
        for arguments in (["-S", tree.ROOT / "ports" / "cmake", "-B", build, *by_ninja],
                          ["--install", build, "--prefix", folder]):
            subprocess.run(["cmake", *arguments], check=True, stdout=subprocess.DEVNULL)
