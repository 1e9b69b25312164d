# SPDX-License-Identifier: MIT
"""The component for ESP-IDF, whose compilers Debian does not have: its manifest, and its example built by stand-ins of ESP-IDF's CMake
functions for 32-bit RISC-V without and with an FPU, where QEMU runs it in user mode, and for this machine.

    esp-idf.py COMPILER
"""
import re
import shutil
import sys

import firmware_packages as on_boards
import packages
from packages import HERE, building

IDF = HERE / "esp_idf"
# As ESP-IDF's CMakeLists.txt has them.
FLAGS = ("-Os", "-ffunction-sections", "-fdata-sections", "-fno-jump-tables", "-fno-tree-switch-conversion", "-fstrict-volatile-bitfields",
         "-Wall", "-Wextra")
OF_CPP = ("-fno-exceptions", "-fno-rtti")
# Metadata that the component manager knows: idf_component_tools/manifest/models.py of its sources.
FIELDS = {"name", "version", "targets", "maintainers", "description", "license", "tags", "dependencies", "files", "examples", "url",
          "repository", "documentation", "issues", "discussion", "repository_info"}
SEMVER = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"


@packages.in_a_folder
def manifest(folder):
    """Of YAML it uses a line for a field, and indented ones for what a field holds."""
    package = packages.made("esp-idf", folder)
    lines = (package / "idf_component.yml").read_text(encoding="utf-8").splitlines()
    told = dict(re.fullmatch(r"(\w+):(?: +(.*))?", line).groups() for line in lines if re.match(r"\w", line))
    problems = [f"no such field: {name}" for name in set(told) - FIELDS]
    problems += [f"{name}: {told.get(name)}" for name, rule in (
        ("version", rf'"{SEMVER}"'), ("description", r'".+"'), ("license", "MIT"), ("url", r"https://\S+"),
        ("repository", r"https://\S+\.git")) if not re.fullmatch(rule, told.get(name) or "")]
    if (told["version"] or "").strip('"') != packages.tree.version():
        problems.append("another version than meson.build")
    problems += [f"another {name}" for name in on_boards.lists_every_header(package, "include")]
    return "\n".join([*problems, *on_boards.not_in(package, ["LICENSE", "README.md", "CMakeLists.txt"])])


def options(machine, *support):
    """A machine's compilers and flags, and what its programs are linked with beside the components."""
    return [f"-DCMAKE_C_COMPILER={machine.c[0]}", f"-DCMAKE_C_FLAGS={' '.join((*machine.c[1:], *FLAGS, f'-I{building.BOARDS}'))}",
            f"-DCMAKE_CXX_COMPILER={machine.cpp[0]}", f"-DCMAKE_CXX_FLAGS={' '.join((*machine.cpp[1:], *FLAGS, *OF_CPP))}",
            f"-DBOARD_SOURCES={';'.join(map(str, [IDF / 'start.c', *support]))}"]


def example(package):
    return package / "examples" / "layer"


def in_components(package):
    """The example as a project that has the package in components/ and names it, as the page says."""
    project = package.parent / "project"
    shutil.copytree(example(package), project)
    shutil.copytree(package, project / "components" / "tinyattn", ignore=shutil.ignore_patterns("examples"))
    (project / "main" / "idf_component.yml").unlink()
    main = project / "main" / "CMakeLists.txt"
    main.write_text(re.sub(r"\)$", " REQUIRES tinyattn)", main.read_text(encoding="utf-8"), flags=re.MULTILINE), encoding="utf-8")
    return project


def builds(folder, machine, *given, project=example):
    package = packages.made("esp-idf", folder / "made")
    if lacks := packages.needs("cmake", machine.cpp[0], *machine.wrapper[:1]):
        return lacks
    building.call(["cmake", "-G", "Ninja", "-S", project(package), "-B", folder / "build", *given], IDF_PATH=str(IDF))
    building.call(["cmake", "--build", folder / "build"])
    said = building.call([*machine.wrapper, folder / "build" / "layer.elf"])
    archives = sorted((folder / "build" / "components").rglob("*.a"))
    return on_boards.differs(said, on_boards.C_EXAMPLE) or on_boards.lacks_functions(machine, archives, *on_boards.BOTH)


@packages.in_a_folder
def on_risc_v(folder, extensions, abi):
    machine = building.riscv32(extensions, abi)
    if not building.headers_of_newlib():
        return packages.tap.Skip("there are no headers of C++ for bare metal")
    support = [source for source, _ in machine.support]
    return builds(folder, machine, *options(machine, *support, on_boards.CONSOLE), "-DCMAKE_SYSTEM_NAME=Generic", "-DLIBRARIES=gcc",
                  "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", f"-DCMAKE_EXE_LINKER_FLAGS={' '.join(machine.link[1:])}")


@packages.in_a_folder
def on_this_machine(folder, project):
    machine = building.host(sys.argv[1])
    return builds(folder, machine, *options(machine), project=project)


packages.tap.report([
    ("idf_component.yml has what the component manager asks for", manifest),
    ("its example as ESP-IDF would build it for an ESP32-C3, rv32imc", on_risc_v, "imc", "ilp32"),
    ("its example as ESP-IDF would build it for an ESP32-P4, rv32imafc", on_risc_v, "imafc", "ilp32f"),
    ("its example on this machine, by -std=gnu++2b", on_this_machine, example),
    ("a project that has it in components/", on_this_machine, in_components)])
