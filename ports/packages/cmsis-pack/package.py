# SPDX-License-Identifier: MIT
"""Makes the CMSIS-Pack, for Keil MDK, CMSIS-Toolbox and others: the description and the pack.

Format: https://open-cmsis-pack.github.io/Open-CMSIS-Pack-Spec/main/html/packFormat.html
"""
import pathlib
import xml.etree.ElementTree as xml

from .. import firmware, tree

HERE = pathlib.Path(__file__).resolve().parent
VENDOR = firmware.NAME
SPECIFICATION = "https://raw.githubusercontent.com/Open-CMSIS-Pack/Open-CMSIS-Pack-Spec"
SCHEMA_VERSION = "1.7.40"
# Compilers for Arm with C++20, by their names in packs: GCC, Arm Compiler 6 and Clang.
COMPILERS = ({"Tcompiler": "GCC"}, {"Tcompiler": "ARMCC", "Toptions": "AC6"}, {"Tcompiler": "CLANG"})
CPP20, COMPILED = "C++20", "The compiled library"  # ids of conditions
COMPONENT = {"Cvendor": VENDOR, "Cclass": "Machine Learning", "Cgroup": firmware.NAME}


def add(parent, tag, text=None, **attributes):
    element = xml.SubElement(parent, tag, attributes)
    element.text = text
    return element


def component(parent, sub, condition, description, files):
    element = add(parent, "component", **COMPONENT, Csub=sub, Cversion=tree.version(), condition=condition)
    add(element, "description", description)
    element = add(element, "files")
    for category, name, more in files:
        add(element, "file", category=category, name=name, **more)


def conditions(package):
    parent = add(package, "conditions")
    cpp20 = add(parent, "condition", id=CPP20)
    add(cpp20, "description", "A compiler of C++20")
    for compiler in COMPILERS:
        add(cpp20, "accept", **compiler)
    compiled = add(parent, "condition", id=COMPILED)
    add(compiled, "description", "The component Compiled, which Models, Int8 and Operations build on")
    add(compiled, "require", condition=CPP20)
    add(compiled, "require", **COMPONENT, Csub="Compiled")


def components(package):
    parent = add(package, "components")
    headers = [("header", f"include/{name}", {"path": "include/"}) for name in tree.headers()]
    component(parent, "Headers", CPP20, tree.SUMMARY, [("include", "include/", {}), *headers, ("doc", "README.md", {})])
    component(parent, "Compiled", CPP20, "The kernels compiled once, for shapes that are known at run time: for C and "
                                       "C++",
              [("include", "include/", {}), ("header", "include/tinyattn/tinyattn.h", {"path": "include/"}),
               ("header", "include/tinyattn/scratch.h", {"path": "include/"}),
               ("source", "src/attention.cpp", {"language": "cpp"})])
    component(parent, "Models", COMPILED, "Whole decoders in the compiled library: for C and C++",
              [("header", "include/tinyattn/tinyattn_models.h", {"path": "include/"}),
               ("header", "include/tinyattn/tinyattn_encoder.h", {"path": "include/"}),
               ("header", "include/tinyattn/activation_list.h", {"path": "include/"}),
               ("source", "src/encoders.cpp", {"language": "cpp"}), ("source", "src/models.cpp", {"language": "cpp"})])
    component(parent, "Int8", COMPILED, "Layers and decoders with int8 weights in the compiled library: for C and C++",
              [("source", "src/int8.cpp", {"language": "cpp"})])
    component(parent, "Operations", COMPILED, "Functions of elements, and reductions, in the compiled library: for C and "
                                              "C++",
              [("header", "include/tinyattn/tinyattn_operations.h", {"path": "include/"}),
               ("source", "src/primitives.cpp", {"language": "cpp"})])


def description():
    package = xml.Element("package", {
        "schemaVersion": SCHEMA_VERSION, "xmlns:xs": "http://www.w3.org/2001/XMLSchema-instance",
        "xs:noNamespaceSchemaLocation": f"{SPECIFICATION}/v{SCHEMA_VERSION}/schema/PACK.xsd"})
    add(package, "vendor", VENDOR)
    add(package, "name", firmware.NAME)
    add(package, "description", tree.SUMMARY)
    add(package, "url", f"{tree.HOMEPAGE}/releases/latest/download/")
    add(package, "repository", f"{tree.HOMEPAGE}.git", type="git")
    add(package, "license", "LICENSE")
    add(add(add(package, "licenseSets"), "licenseSet", id="all", default="true", gating="false"), "license",
        name="LICENSE", title="MIT", spdx="MIT")
    add(add(add(package, "requirements"), "languages"), "language", name="C++", version="20")
    add(add(package, "releases"), "release", tree.changes()[1].replace("`", ""), version=tree.version())
    keywords = add(package, "keywords")
    for keyword in firmware.KEYWORDS:
        add(keywords, "keyword", keyword)
    conditions(package)
    components(package)
    xml.indent(package)
    return xml.tostring(package, encoding="UTF-8", xml_declaration=True)


def make(folder):
    content, archive = folder / firmware.NAME, f"{VENDOR}.{firmware.NAME}.{tree.version()}.pack"
    firmware.copy_library(content)
    firmware.fill_folder(HERE / "pack", content, version=tree.version(), pack=archive)
    file = content / f"{VENDOR}.{firmware.NAME}.pdsc"
    file.write_bytes(description())
    tree.copy(file, folder / file.name)
    tree.pack(content, folder / archive)
