# SPDX-License-Identifier: MIT
"""Builds archives of the compiled library for the cores of Arduino boards, whose C++ is mostly too old for the headers.

The IDE looks for archives in src/{build.mcu}/{-mfpu}-{-mfloat-abi}, then in src/{build.mcu}:
https://arduino.github.io/arduino-cli/latest/library-specification/#precompiled-binaries
"""
import pathlib
import subprocess
import tempfile

from .. import firmware, tree

COMPILER, ARCHIVER = "arm-none-eabi-g++", "arm-none-eabi-gcc-ar"
FLAGS = ("-std=c++20", "-Os", "-mthumb", "-ffreestanding", "-ffunction-sections", "-fdata-sections", "-fno-exceptions",
         "-fno-rtti", "-fno-threadsafe-statics")
# {(build.mcu, -mfpu, -mfloat-abi): boards with such a core}; without an FPU only build.mcu
CORES = {
    ("cortex-m0plus",): "SAMD21, RP2040",
    ("cortex-m3",): "Due, STM32F1",
    ("cortex-m4", "fpv4-sp-d16", "hard"): "SAMD51, UNO R4, STM32F4",
    ("cortex-m4", "fpv4-sp-d16", "softfp"): "Nano 33 BLE",
    ("cortex-m7", "fpv4-sp-d16", "hard"): "STM32F7, STM32H7",
    ("cortex-m7", "fpv5-d16", "hard"): "the same with double",
    ("cortex-m7", "fpv5-d16", "softfp"): "Portenta H7, Giga R1",
}


def flags(core, fpu="", float_abi="soft"):
    return (f"-mcpu={core}", *([f"-mfpu={fpu}"] if fpu else []), f"-mfloat-abi={float_abi}")


def place(core, *fpu):
    return pathlib.PurePath(core, "-".join(fpu))


def archive(core, to):
    """Builds the archive of a core in the folder `to`: always the same bytes."""
    to.mkdir(parents=True)
    include = [f"-I{tree.ROOT / folder}" for folder in tree.FOLDERS]
    with tempfile.TemporaryDirectory() as work:
        include += [f"-I{folder}" for folder in firmware.CALLS]
        sources = [*(tree.ROOT / "src" / name for name in firmware.COMPILED), firmware.CERTIFY / "certify.cpp"]
        objects = [pathlib.Path(work) / f"{source.stem}.o" for source in sources]
        for source, file in zip(sources, objects):
            subprocess.run([COMPILER, *FLAGS, *flags(*core), *include, "-c", source, "-o", file], check=True)
        subprocess.run([ARCHIVER, "rcsD", to / f"lib{firmware.NAME}.a", *objects], check=True)
