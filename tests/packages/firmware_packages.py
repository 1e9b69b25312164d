# SPDX-License-Identifier: MIT
"""Tests packages for firmware whose tools Debian does not have: the files that they name exist, and Debian's compilers
build their examples with the flags of the tools. Manifests are read by python3-yaml, the standard library or xmllint,
the options of Zephyr by its own kconfiglib.

    firmware_packages.py PACKAGE
"""
import json
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as xml
import zipfile

DEBIANS = "/usr/bin/python3"
try:
    import kconfiglib
    import yaml
except ImportError:
    if sys.executable != DEBIANS and pathlib.Path(DEBIANS).exists():
        os.execv(DEBIANS, [DEBIANS, "-B", "-m", "tests.packages.firmware_packages", *sys.argv[1:]])
    kconfiglib = yaml = None

from tests.packages import firmware, packages
from tests.packages.packages import CONSUMER, HERE, in_a_folder
from tests.support import tap
from tests.support.processes import attempt

HTTPS = r"https?://\S+"
SECTIONS = ("-ffunction-sections", "-fdata-sections", "-fno-exceptions", "-fno-rtti")
M4F = ("-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
STM32F4 = firmware.board("mps2-an386", "-Os", *M4F, *SECTIONS)
RP2040 = firmware.board("microbit", "-Os", "-march=armv6-m", "-mcpu=cortex-m0plus", "-mthumb", *SECTIONS)
# The flags in ESP-IDF's CMakeLists.txt.
ESP = ("-Os", "-std=gnu++2b", "-fno-jump-tables", "-fno-tree-switch-conversion", "-fstrict-volatile-bitfields",
       *SECTIONS)
ESP32_C3, ESP32_P4 = firmware.riscv32("imc", "ilp32", *ESP), firmware.riscv32("imafc", "ilp32f", *ESP)


def read(file):
    return file.read_text(encoding="utf-8")


@in_a_folder
def runs_example(folder, package, example, machine, of_library, of_example):
    """Builds the library and an example of a package. Checks that the example prints the checksums of examples/c."""
    if lacks := machine.missing():
        return lacks
    content = packages.make(package, folder / "made")
    include = (f"-I{content / 'include'}", f"-I{firmware.BOARDS}")
    start = folder / "start.c"  # calls app_main as ESP-IDF does
    start.write_text("void app_main(void);\nint main(void) { app_main(); return 0; }\n")
    sources = [(source, (*of_library, *include)) for source in sorted((content / "src").glob("*.cpp"))]
    sources += [(source, (*of_example, *include)) for source in sorted((content / example).glob("*.c*"))]
    sources += [(source, include) for source in ([firmware.CONSOLE, start] if package == "esp-idf"
                                                 else [firmware.CONSOLE])]
    output = machine.run(folder / "built", sources)
    return firmware.differs(output) or firmware.absent_functions(machine, folder / "built")


@in_a_folder
def platformio(folder):
    package = packages.make("platformio", folder)
    manifest = json.loads(read(package / "library.json"))
    files = [f"{example['base']}/{name}" for example in manifest["examples"] for name in example["files"]]
    files += [f"include/{name}" for name in manifest["headers"]]
    return "\n".join(packages.problems(package, manifest["version"], ["LICENSE", "README.md", *files]))


def without_yaml():
    return "" if yaml else tap.Skip("there is no python3-yaml or no python3-kconfiglib")


@in_a_folder
def esp_idf(folder):
    if lacks := without_yaml():
        return lacks
    package = packages.make("esp-idf", folder)
    manifest = yaml.safe_load(read(package / "idf_component.yml"))
    override = yaml.safe_load(read(package / "examples/layer/main/idf_component.yml"))["dependencies"]
    problems = [f"{name}: {manifest.get(name)}" for name in ("url", "repository")
                if not re.fullmatch(HTTPS, manifest.get(name) or "")]
    if not [entry for entry in override.values()
            if (package / "examples/layer/main" / entry["override_path"]).samefile(package)]:
        problems.append("the example does not take the component that it lies in")
    for file in (package / "CMakeLists.txt", package / "examples/layer/main/CMakeLists.txt"):
        sources = re.search(r"SRCS ([\w./ ]+?)(?: [A-Z_]+ |\))", read(file))[1].split()
        problems += [f"{file} names {name}" for name in sources if not (file.parent / name).exists()]
    return "\n".join([*problems, *packages.problems(package, manifest["version"], ["LICENSE", "README.md"])])


@in_a_folder
def zephyr(folder):
    if lacks := without_yaml():
        return lacks
    package = packages.make("zephyr", folder)
    module = yaml.safe_load(read(package / "zephyr" / "module.yml"))
    samples = [file for place in module["samples"] for file in (package / place).glob("*/sample.yaml")]
    patterns = [pattern for file in samples for test in yaml.safe_load(read(file))["tests"].values()
                for pattern in test["harness_config"]["regex"]]
    problems = [f"not printed: {pattern}" for pattern in patterns if not re.search(pattern, read(firmware.LAYER))]
    files = [f"{module['build']['cmake']}/CMakeLists.txt", module["build"]["kconfig"], "LICENSE", "README.md"]
    version = packages.VERSION if packages.VERSION in read(package / "README.md") else None
    return "\n".join([*problems, *([] if len(patterns) == 2 else ["no sample"]),
                      *packages.problems(package, version, files)])


def configure(package, folder, options):
    """Evaluates Kconfig as Zephyr's scripts/kconfig/kconfig.py does. Returns the values of all options if `options` are
    set in prj.conf, and those of `options` that could not be set."""
    os.environ["MODULE_KCONFIG"] = str(package / "zephyr" / "Kconfig")
    kconfig = kconfiglib.Kconfig(str(HERE / "zephyr" / "Kconfig"), warn_to_stderr=False)
    (folder / "prj.conf").write_text("".join(f"CONFIG_{name}=y\n" for name in options))
    kconfig.load_config(str(folder / "prj.conf"))
    values = {name: symbol.str_value for name, symbol in kconfig.syms.items()}
    return values, [name for name in options if values[name] != "y"]


@in_a_folder
def zephyr_options(folder):
    """Checks that the library can be enabled with C++20 or newer only, and that it selects the full standard
    library."""
    if lacks := without_yaml():
        return lacks
    package, problems = packages.make("zephyr", folder), []
    for standard, possible in (("CPP17", False), ("CPP20", True), ("CPP2B", True)):
        values, refused = configure(package, folder, ("CPP", "TINYATTN", f"STD_{standard}"))
        if (refused == []) != possible or (values["REQUIRES_FULL_LIBCPP"] == "y") != possible:
            problems.append(f"{standard}: {refused}")
    for options, possible in ((("TINYATTN_MODELS",), False), (("TINYATTN_COMPILED", "TINYATTN_MODELS"), True)):
        _, refused = configure(package, folder, ("CPP", "TINYATTN", "STD_CPP20", *options))
        problems += [] if (refused == []) == possible else [f"{options}: {refused}"]
    return "\n".join(problems)


def unpack(folder):
    """Unpacks a CMSIS-Pack. Returns the pack, the folder of its content, and its description."""
    pack = next(packages.make("cmsis-pack", folder / "made").glob("*.pack"))
    with zipfile.ZipFile(pack) as archive:
        archive.extractall(folder / "pack")
    return pack, folder / "pack", next((folder / "pack").glob("*.pdsc"))


@in_a_folder
def cmsis_description(folder):
    """Checks that the description is well-formed, fits the schema if PACK_XSD names one, and names each file."""
    pack, content, description = unpack(folder)
    package = xml.parse(description).getroot()
    files = {file.get("name") for file in package.findall("components/component/files/file")}
    version = package.find("releases/release").get("version")
    name = f"{package.findtext('vendor')}.{package.findtext('name')}"
    problems = [f"include/{header} is not named" for header in packages.tree.headers()
                if f"include/{header}" not in files]
    problems += [] if (pack.name, description.name) == (f"{name}.{version}.pack",
                                                        f"{name}.pdsc") else [pack.name, description.name]
    schema = ["--schema", os.environ["PACK_XSD"]] if os.environ.get("PACK_XSD") else []
    status, output = attempt(["xmllint", "--noout", *schema, description]) if not packages.needs("xmllint") else (0, "")
    return "\n".join([*problems, *([] if status == 0 else [output]),
                      *packages.problems(content, version, [*files, package.findtext("license"), "README.md"])])


@in_a_folder
def cmsis_components(folder, main):
    """Builds a program for a Cortex-M4F with the include folders and sources that the components name."""
    if lacks := STM32F4.missing():
        return lacks
    _, content, description = unpack(folder)
    files = xml.parse(description).getroot().findall("components/component/files/file")
    paths = {category: sorted({content / file.get("name") for file in files if file.get("category") == category})
             for category in ("include", "source")}
    flags = ("-std=c++20", *(f"-I{path}" for path in paths["include"]))
    output = STM32F4.run(folder / "built", [(source, flags) for source in (*paths["source"], CONSUMER / main)])
    return output or firmware.absent_functions(STM32F4, folder / "built")


CPP20, LAYER = ("-std=gnu++20",), "examples/layer"
tap.report({
    "platformio": [
        ("what library.json names is there", platformio),
        ("an STM32F4's flags: the example's checksums", runs_example, "platformio", LAYER, STM32F4, CPP20, CPP20),
        ("an RP2040's flags: the example's checksums", runs_example, "platformio", LAYER, RP2040, CPP20, CPP20)],
    "esp-idf": [
        ("what idf_component.yml and CMakeLists.txt name is there", esp_idf),
        ("an ESP32-C3's flags: the example's checksums", runs_example, "esp-idf", f"{LAYER}/main", ESP32_C3, (), ()),
        ("an ESP32-P4's flags: the example's checksums", runs_example, "esp-idf", f"{LAYER}/main", ESP32_P4, (), ())],
    "zephyr": [
        ("what module.yml and sample.yaml name is there", zephyr),
        ("CONFIG_TINYATTN depends on C++20, and brings the whole standard library", zephyr_options),
        ("the sample's checksums on a Cortex-M4F", runs_example, "zephyr", "samples/layer/src", STM32F4, CPP20, CPP20)],
    "cmsis-pack": [
        ("the description names every header, and what it names is there", cmsis_description),
        ("its components serve a program in C++ on a Cortex-M4F", cmsis_components, "main.cpp"),
        ("its components serve a program in C on a Cortex-M4F", cmsis_components, "main.c")],
}[sys.argv[1]])
