# SPDX-License-Identifier: MIT
"""What attention layers of 1 to 16 usual shapes take in the flash of a Cortex-M4F: by the headers, and by the compiled library."""
import dataclasses
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "footprint")]
import building  # noqa: E402
import contents  # noqa: E402
import figures  # noqa: E402
import tap  # noqa: E402

COUNTS = (1, 4, 8, 16)
WAYS = {"headers": (), "compiled": ("-DCOMPILED",)}
LEVELS = ("-Os", "-O2")
MACHINE = dataclasses.replace(building.board("mps2-an386"), libraries=("-lgcc",))  # without a memory map: sixteen are more than RAM


def link(build, level, way, count):
    """An image from which the linker drops all that is not called, startup code too."""
    flags = (*building.language(), level)
    objects = [build.compile(MACHINE, HERE / "firmware.cpp", *flags, f"-DSHAPES={count}", *WAYS[way]),
               build.compile(MACHINE, building.ROOT / "src" / "library.cpp", *flags), *build.support(MACHINE)]
    return build.link(MACHINE, f"{way}{level}{count}", objects, "-Wl,--entry=entry")


def pays(sizes, level):
    """All shapes share the kernels: another costs little more than its call, least of all with the library."""
    (*_, headers), (*_, compiled) = (sizes[level, way] for way in WAYS)
    another_by_headers, another_compiled = ((sixteen - four) / 12 for _, four, _, sixteen in (sizes[level, way] for way in WAYS))
    if compiled < headers and another_compiled < 200 and another_by_headers < 300:
        return ""
    return f"{compiled} bytes against {headers}; another shape costs {another_compiled:.0f} against {another_by_headers:.0f}"


def is_what_the_page_says(sizes):
    """The table of src/README.md, at -Os."""
    page = building.ROOT / "src" / "README.md"
    if reason := figures.is_of_another_compiler(page):
        return tap.Skip(reason)
    text, wrong = page.read_text(encoding="utf-8"), []
    for name, way in (("headers", "headers"), ("library", "compiled")):
        said = figures.cells(re.search(rf"^\| {name}, -Os (\|.*)", text, re.MULTILINE)[1])
        measured = sizes["-Os", way]
        if any(abs(int(cell) / size - 1) > figures.NEAR for cell, size in zip(said, measured, strict=True)):
            wrong.append(f"| {name}, -Os | {' | '.join(map(str, measured))} | is measured, and src/README.md says {said}")
    return "\n".join(wrong)


if not shutil.which("arm-none-eabi-g++"):
    tap.report([("sizes", tap.Skip, "there is no arm-none-eabi-g++")])
with tempfile.TemporaryDirectory() as folder:
    tree = building.Build(folder)
    images = {(of_level, of_way): [link(tree, of_level, of_way, shapes) for shapes in COUNTS] for of_level in LEVELS for of_way in WAYS}
    if failed := tree.make():
        tap.report([(f"{made.name} is made", str, said) for made, said in failed.items()])
    flash = {row: [contents.flash(MACHINE, image) for image in its_images] for row, its_images in images.items()}
print(f"# flash of a Cortex-M4F, bytes\n# {'shapes':<20}" + "".join(f"{shapes:>8}" for shapes in COUNTS))
for (of_level, of_way), its_sizes in flash.items():
    print(f"# {f'{of_way}, {of_level}':<20}" + "".join(f"{size:>8}" for size in its_sizes))
tap.report([*((f"sixteen shapes at {of_level}", pays, flash, of_level) for of_level in LEVELS),
            ("the page says what is measured, to 2 %", is_what_the_page_says, flash)])
