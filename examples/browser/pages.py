# SPDX-License-Identifier: MIT
"""The pages in a folder of their own.

    pages.py MODULE... FOLDER

Each module, WebAssembly in NAME_page.*, becomes NAME.wasm.js, a text that a page loads as a script: that works without
a server too, where a browser fetches nothing.
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
