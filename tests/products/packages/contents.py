# SPDX-License-Identifier: MIT
"""Tests what each package holds: the version of meson.build, what its description names, the
headers of the tree. Descriptions are read by the parsers of their formats: python3-yaml, the
standard library, xmllint, Zephyr's own kconfiglib."""
import hashlib
import json
import os
import pathlib
import re
import tarfile
import xml.etree.ElementTree as xml

from ports.packages.arduino import archives
from tests.products.packages.packages import HERE, LAYER, VERSION, made, needs, tree
from tests.support import debian, tap
from tests.support.processes import attempt

LACKS = debian.missing("yaml", "kconfiglib")
if not LACKS:
    import kconfiglib
    import yaml

NO_YAML = tap.Skip(f"there is no python3-{LACKS}")
HTTPS = r"https?://\S+"
SOURCES = ("src/attention.cpp", "src/encoders.cpp", "src/models.cpp", "src/int8.cpp", "src/primitives.cpp")  # that a description names
OPTIONS = {  # of Zephyr: {options of prj.conf: whether they can be set}
    ("TINYATTN", "STD_CPP17"): False, ("TINYATTN", "STD_CPP20"): True, ("TINYATTN", "STD_CPP2B"): True,
    ("TINYATTN", "STD_CPP20", "TINYATTN_MODELS"): False,
    ("TINYATTN", "STD_CPP20", "TINYATTN_COMPILED", "TINYATTN_MODELS"): True}
C_NAMES = {"MultiHeadAttention", "Matrix", "matmul", "tinyattn_layer", "tinyattn_forward",
           "TINYATTN_CAUSAL", "TINYATTN_DECODER_CACHE"}


def read(*path):
    return pathlib.Path(*path).read_text(encoding="utf-8")


def of_yaml(*path):
    return yaml.safe_load(read(*path))


# Each function below yields what is wrong with one package, besides what every package must have.


def arduino(library):
    lines = read(library, "library.properties").splitlines()
    properties = dict(line.split("=", 1) for line in lines)
    yield from unlike_the_tree(library, properties["version"], [
        *(f"src/{header}" for header in properties["includes"].split(",")), "src/tinyattn_models.cpp",
        "src/tinyattn_encoders.cpp", "src/tinyattn_int8.cpp", "src/tinyattn_primitives.cpp",
        *(f"src/{archives.place(*core)}/libtinyattn.a" for core in archives.CORES),
        "src/tinyattn_certify.cpp", "src/tinyattn/certify/certify.h",
        "README.md", *(f"examples/{name}/{name}.ino" for name in ("Layer", "Writer", "Certify"))], "src")
    headers = "".join(read(file) for file in (library / "src" / "tinyattn").rglob("*.h*"))
    headers += "".join(f" TINYATTN_{name}" for name in re.findall(r"use\(\w+, (\w+)", headers))
    rows = [line.split("\t") for line in read(library, "keywords.txt").splitlines() if line[0] != "#"]
    yield from (f"{name}: {kind}" for name, kind in rows if kind not in ("KEYWORD1", "KEYWORD2", "LITERAL1")
                or not re.search(rf"\b{name}\b", headers))
    yield from (f"keywords.txt has no {name}" for name in C_NAMES - {row[0] for row in rows})


def cmsis_pack(content):
    """The description must be well-formed, fit the schema if PACK_XSD names one, and name each
    header and source."""
    description = next(content.glob("*.pdsc"))
    pack = next(made("cmsis-pack").glob("*.pack"))
    package = xml.parse(description).getroot()
    version = package.find("releases/release").get("version")
    name = f"{package.findtext('vendor')}.{package.findtext('name')}"
    if (pack.name, description.name) != (f"{name}.{version}.pack", f"{name}.pdsc"):
        yield f"{pack.name} and {description.name} are not of {name} {version}"
    files = {file.get("name") for file in package.findall("components/component/files/file")}
    wanted = [*(f"include/{header}" for header in tree.headers()), *SOURCES]
    yield from (f"{name} is not named" for name in wanted if name not in files)
    yield from unlike_the_tree(content, version, [*files, package.findtext("license"), "README.md"])
    schema = ["--schema", os.environ["PACK_XSD"]] if os.environ.get("PACK_XSD") else []
    if not needs("xmllint"):
        status, output = attempt(["xmllint", "--noout", *schema, description])
        yield from [output] if status != 0 else []


def conan(package):
    recipe = read(package, "conanfile.py")
    compile(recipe, "conanfile.py", "exec")
    yield from unlike_the_tree(package, re.search(r'^    version = "(.*)"', recipe, re.MULTILINE)[1])


def esp_idf(package):
    manifest, main = of_yaml(package, "idf_component.yml"), package / "examples/layer/main"
    yield from (f"{name}: {manifest.get(name)}" for name in ("url", "repository")
                if not re.fullmatch(HTTPS, manifest.get(name) or ""))
    certify = package / "examples/certify/main"
    overrides = [(folder, entry["override_path"]) for folder in (main, certify)
                 for entry in of_yaml(folder, "idf_component.yml")["dependencies"].values()]
    if not all((folder / path).samefile(package) for folder, path in overrides) or len(overrides) != 2:
        yield "an example does not take the component that it lies in"
    for folder, wanted in ((package, SOURCES), (main, ()), (certify, ("certify.cpp",))):
        sources = re.search(r"SRCS ([\w./ ]+?)(?: [A-Z_]+ |\))", read(folder, "CMakeLists.txt"))[1].split()
        yield from (f"{folder} does not name {name}" for name in wanted if name not in sources)
        yield from (f"{folder} has no {name}" for name in sources if not (folder / name).exists())
    yield from unlike_the_tree(package, manifest["version"], ["README.md"])


def platformio(package):
    manifest = json.loads(read(package, "library.json"))
    files = [f"{example['base']}/{name}" for example in manifest["examples"] for name in example["files"]]
    files += [f"include/{name}" for name in manifest["headers"]]
    yield from unlike_the_tree(package, manifest["version"], ["README.md", "src/models.cpp", *files])


def vcpkg(package):
    """The port must have the archive's hash, and the archive the files that it
    names."""
    port = package / "ports" / "tinyattn"
    portfile = read(port, "portfile.cmake")
    archive = package / re.search(r'FILENAME "([^"]+)"', portfile)[1]
    if hashlib.sha512(archive.read_bytes()).hexdigest() != re.search(r"SHA512 (\w+)", portfile)[1]:
        yield "another hash"
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    files = {path.strip("/") for path in re.findall(r"\$\{SOURCE_PATH\}([^\"]+)", portfile)}
    yield from (f"there is no {file}" for file in files if not any(f"{name}/".startswith(f"{file}/") for name in names))
    yield from missing(port, json.loads(read(port, "vcpkg.json"))["version-semver"], ["usage"])


def wrap(package):
    entry = json.loads(read(package, "releases.json"))["tinyattn"]
    text, _, provided = read(package, "tinyattn.wrap").partition("[provide]")
    archive = package / re.search(r"^source_filename = (.+)", text, re.MULTILINE)[1]
    if hashlib.sha256(archive.read_bytes()).hexdigest() != re.search(r"source_hash = (\w+)", text)[1]:
        yield "another hash"
    yield from (f"[provide] has no {name}" for name in entry["dependency_names"] if name not in provided)
    yield from [] if entry["versions"] == [f"{VERSION}-1"] else ["another version"]


def zephyr(package):
    module = of_yaml(package, "zephyr/module.yml")
    tests = [test for place in module["samples"] for file in (package / place).glob("*/sample.yaml")
             for test in of_yaml(file)["tests"].values()]
    patterns = [pattern for test in tests for pattern in test["harness_config"]["regex"]]
    printed = f"{read(LAYER)}\ntinyattn-certificate-1 library={VERSION} line=01234567"
    yield from (f"not printed: {name}" for name in patterns if not re.search(name, printed))
    yield from [] if len(patterns) == 3 else ["no sample"]
    version = VERSION if VERSION in read(package, "README.md") else None
    yield from unlike_the_tree(package, version, [
        f"{module['build']['cmake']}/CMakeLists.txt", module["build"]["kconfig"], "src/models.cpp"])


def missing(folder, version, files):
    yield from [] if version == VERSION else [f"version {version} differs from meson.build's"]
    yield from (f"there is no {name}" for name in files if not (folder / name).exists())


def unlike_the_tree(folder, version, files=(), include="include"):
    """Yields what may be wrong with any package: another version, missing files, other headers."""
    yield from missing(folder, version, ["LICENSE", *files])
    for name, file in tree.headers().items():
        copy = folder / include / name
        if not copy.is_file() or copy.read_bytes() != file.read_bytes():
            yield f"another {name}"


@tap.in_folder
def zephyr_options(folder):
    """Checks which options can be set, evaluating Kconfig as Zephyr's scripts/kconfig/kconfig.py
    does; and that the library selects the full standard library."""
    os.environ["MODULE_KCONFIG"] = str(made("zephyr") / "zephyr" / "Kconfig")
    problems = []
    for options, is_possible in OPTIONS.items():
        kconfig = kconfiglib.Kconfig(str(HERE / "zephyr" / "Kconfig"), warn_to_stderr=False)
        (folder / "prj.conf").write_text("".join(f"CONFIG_{name}=y\n" for name in ("CPP", *options)))
        kconfig.load_config(str(folder / "prj.conf"))
        are_set = all(kconfig.syms[name].str_value == "y" for name in options)
        is_full = kconfig.syms["REQUIRES_FULL_LIBCPP"].str_value == "y"
        if are_set != is_possible or is_full != (options[1] != "STD_CPP17"):
            problems.append(f"{options}: {are_set}, {is_full}")
    return "\n".join(problems)


def problems(describe, zipped="", inner=""):
    package = made(describe.__name__.replace("_", "-"), zipped)
    return "\n".join(describe(package / inner))


tap.report([
    *((f"{describe.__name__}: what it names is there", problems, describe, *where) for describe, *where in (
        (arduino, "*.zip", "tinyattn"), (cmsis_pack, "*.pack"), (conan,), (platformio,), (vcpkg,), (wrap,))),
    *((f"{describe.__name__}: what it names is there", *([NO_YAML] if LACKS else [problems, describe]))
      for describe in (esp_idf, zephyr)),
    ("zephyr: options depend on C++20, and bring the whole standard library", NO_YAML if LACKS else zephyr_options)])
