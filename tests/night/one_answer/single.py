# SPDX-License-Identifier: MIT
"""Makes a folder `single` whose headers, by the library's names, include the single-header one: single.py FOLDER."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
folder = pathlib.Path(sys.argv[1]) / "single"


def write(file, text):
    """Writes a file only if its text changes, so that nothing is compiled again without need."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


made = folder.with_name("package")
subprocess.run([ROOT / "ports" / "packages" / "make", "single", "--output", made], check=True,
               stdout=subprocess.DEVNULL)
text = (made / "single" / "tinyattn-single.hpp").read_text(encoding="utf-8")
for place in (folder, folder.parent):  # FOLDER too, where Meson looks for it
    write(place / "tinyattn-single.hpp", text)
for include in (ROOT / "include", ROOT / "ports" / "simd"):
    for header in include.glob("tinyattn/**/*.h*"):
        write(folder / header.relative_to(include), '#define TINYATTN_TRAINING\n#include "tinyattn-single.hpp"\n')
