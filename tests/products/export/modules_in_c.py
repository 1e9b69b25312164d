# SPDX-License-Identifier: MIT
"""Compiles modules in C99, and runs them."""
from tests.products.export import exporter

FUNCTION = """
static {name}_workspace workspace_of_{name};
static int run_{name}(void) {{
  {arrays}
  if ({nulls}) return 1;
  for (int i = 0; i < {count}; ++i) {{
    if ({reads}) return 1;
    if ({name}_forward({arguments}, &workspace_of_{name})) return 1;
    {writes}
  }}
  const float error = {name}_example_error(&workspace_of_{name});
  return fwrite(&error, sizeof error, 1, stdout) != 1;
}}
"""


def runs(name, inputs, outputs, count):
    """Returns a function of C that reads inputs, tensors, and writes what a module computes of them, and its error. It fails unless
    the module refuses each null pointer."""
    types = ["float" if x.is_floating_point() else "uint16_t" for x in inputs]
    ins, outs = ([f"{name}{i}" for i in range(len(each))] for name, each in (("in", inputs), ("out", outputs)))
    pointers = [*ins, *outs, f"&workspace_of_{name}"]
    refused = [", ".join("NULL" if i == null else each for i, each in enumerate(pointers)) for null in range(len(pointers))]
    return FUNCTION.format(
        name=name, nulls=" || ".join(f"{name}_forward({each}) != TINYATTN_BAD_ARGUMENT" for each in refused),
        count=count, arguments=", ".join(ins + outs),
        arrays=" ".join([*(f"static {type} {x}[{of.numel()}];" for type, x, of in zip(types, ins, inputs)),
                         *(f"static float {out}[{of.numel()}];" for out, of in zip(outs, outputs))]),
        reads=" || ".join(f"fread({x}, sizeof {x}, 1, stdin) != 1" for x in ins),
        writes=" ".join(f"fwrite({out}, sizeof {out}, 1, stdout);" for out in outs))


def computed(folder, modules, content):
    """Returns what modules {name: (tensors like its inputs, like its outputs, how many inputs)}, written to the folder,
    print of content, and what a compiler said."""
    main = folder / f"run_{next(iter(modules))}"
    main.with_suffix(".c").write_text("".join([
        "#include <stdio.h>\n", *(f'#include "{name}.h"\n' for name in modules),
        *(runs(name, *sizes) for name, sizes in modules.items()),
        f"\nint main(void) {{ return {' || '.join(f'run_{name}()' for name in modules)}; }}\n"]))
    with exporter.STREAMS:
        library, problem, _ = exporter.library()
    done = exporter.c_compiler("-O2", "-Wshadow", "-Wdouble-promotion", "-I", folder, main.with_suffix(".c"),
                               *(folder / f"{name}.c" for name in modules), library, "-o", main)
    if problem or done.returncode:
        return b"", problem + done.stderr[:2000]
    done = exporter.subprocess.run([main], input=content, capture_output=True, check=False)
    return done.stdout, f"main returns {done.returncode}" * bool(done.returncode)
