# SPDX-License-Identifier: MIT
"""Collects the pages in a folder of their own.

    pages.py MODULE... FOLDER

Each module, WebAssembly in NAME_page.*, becomes NAME.wasm.js, a script with the module as text. A page can load a
script without a server too, while a browser refuses to fetch other files then.
"""
import base64
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main(*arguments):
    *modules, folder = map(pathlib.Path, arguments)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in HERE.iterdir():
        if file.suffix in (".html", ".css", ".js"):
            shutil.copy(file, folder)
    for module in modules:
        name = module.stem.removesuffix("_page")
        code = base64.b64encode(module.read_bytes()).decode()
        (folder / f"{name}.wasm.js").write_text(f'const moduleCode = "{code}";\n', encoding="utf-8")


main(*sys.argv[1:])
