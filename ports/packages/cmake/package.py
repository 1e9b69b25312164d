# SPDX-License-Identifier: MIT
"""What `cmake --install` installs, for find_package: sources, the same for every machine."""
import subprocess
import tempfile

import tree


def make(folder):
    with tempfile.TemporaryDirectory() as build:
        for command in (["cmake", "-S", tree.ROOT / "ports" / "cmake", "-B", build], ["cmake", "--install", build, "--prefix", folder]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
