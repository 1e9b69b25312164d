# SPDX-License-Identifier: MIT
"""Writes a module in C99, for the compiled library: NAME.h, and NAME.c with its constants and NAME_forward."""
import pathlib
import re
import types

from .. import c_source, names
from ..errors import printable
from ..header import PRODUCER
from . import c_steps
from .c_walks import type_of
from .header import comment
from .layout import literal
from .signature import name_parameters
from .values import Addends, numbers_of

HEADER = """\
#ifndef {guard}
#define {guard}
/* clang-format off */

#include "tinyattn/tinyattn_encoder.h"

#ifdef __cplusplus
extern "C" {{
#endif

/* All the scratch of a call. What shares memory is not alive at one time. */
typedef struct {name}_workspace {{
{memory}
}} {name}_workspace;

/* Computes what {title}.forward computes of one input. Inputs and outputs may not overlap.
 * Returns TINYATTN_OK; TINYATTN_BAD_ARGUMENT if a pointer is null; and what is said of an input.
{shapes} */
{signature};

/* The example, and what PyTorch computed of it. */
{examples}

/* Returns the largest difference of what the model computes of the example from what PyTorch
 * computed; NaN if an output is not a number, or the call fails. */
float {name}_example_error({name}_workspace* workspace);

#ifdef __cplusplus
}}
#endif

#endif
"""
EXAMPLE_ERROR = """\
static float larger(float largest, size_t count, const float* found, const float* wanted) {{
  for (size_t i = 0; i < count && largest == largest; ++i) {{
    const float difference = found[i] - wanted[i], error = difference < 0.0f ? -difference : difference;
    if (!(error <= largest)) largest = error;
  }}
  return largest;
}}

float {name}_example_error({name}_workspace* workspace) {{
{outputs}
  float largest = 0.0f;
  if ({name}_forward({arguments}) != TINYATTN_OK) return NAN;
{compared}
  return largest;
}}
"""


def example(tensor, type, name):
    numbers = [literal(number) if type == "float" else str(number) for number in numbers_of(tensor)]
    lines = [", ".join(numbers[i:i + 8]) for i in range(0, len(numbers), 8)]
    return f"const {type} {name}[{len(numbers)}] = {{\n  {(chr(10) + '  ').join(f'{line},' for line in lines)}\n}};\n"


def example_error(found, name):
    """Returns the function that compares the example."""
    inputs = [f"{name}_example_{x.name}" for x in found.inputs]
    return EXAMPLE_ERROR.format(
        name=name, outputs="\n".join(f"  static float {out.name}[{out.size}];" for out in found.outputs),
        arguments=", ".join([*inputs, *(out.name for out in found.outputs), "workspace"]),
        compared="\n".join(f"  largest = larger(largest, {out.size}, {out.name}, {name}_example_{out.name});"
                           for out in found.outputs))


def body(found, writer):
    """Returns the lines of NAME_forward: what it refuses, pointers to what it uses, and the steps."""
    steps = writer.statements()
    words = set(re.findall(r"\w+", "\n".join(steps)))
    pointers = [line for line in writer.pointers() if line.split()[2] in words]
    nulls = " || ".join([*(f"!{object.name}" for object in (*found.inputs, *found.outputs)), "!workspace"])
    return "\n".join([f"  if ({nulls}) return TINYATTN_BAD_ARGUMENT;", *pointers,
                      "  tinyattn_status status = TINYATTN_OK;", *steps])


def files(net, found, path, name):
    """Returns {path: content} of NAME.h and NAME.c."""
    path = str(pathlib.Path(path).with_suffix(".h"))
    c_source.check_path(path)
    names.check_c(name)
    for step in found.low.program.steps:
        if any(isinstance(part, Addends) for part in step.text):
            raise found.low.tracer.refused(step.node, "in C there is nothing for a mask that depends on the input",
                                           "write a header of C++, NAME.hpp")
    name_parameters(found.inputs, found.outputs, [*found.low.program.names, "largest", "larger"])
    parts, objects = found.low.members.finished, [*found.inputs, *found.outputs]
    writer, file_name = c_steps.Writer(found, parts, name), pathlib.Path(path).name
    sizes = types.SimpleNamespace(parameter_count=sum(part.parameter_count for part in parts.values()),
                                  content=lambda: b"".join(part.content() for part in parts.values()))
    arguments = ", ".join([*(f"const {type_of(x)}* {x.name}" for x in found.inputs),
                           *(f"float* {out.name}" for out in found.outputs), f"{name}_workspace* workspace"])
    limits = {x: f": tokens below {most}, else it returns TINYATTN_UNKNOWN_TOKEN" for x, most in found.limits.items()}
    signature = f"tinyattn_status {name}_forward({arguments})"
    head = c_source.commented(comment(net, sizes)) + HEADER.format(
        guard=f"{name.upper()}_H", name=name, memory="\n".join(writer.memory()), title=printable(type(net).__name__),
        shapes="\n".join(f" *   {object.name} {list(object.extents)}{limits.get(object.name, '')}" for object in objects),
        signature=signature,
        examples="\n".join(f"extern const {type_of(object)} {name}_example_{object.name}[{object.size}];"
                           for object in objects))
    forward = f"{signature} {{\n{body(found, writer)}\n  return status;\n}}\n"
    examples = [example(tensor, type_of(object), f"{name}_example_{object.name}")
                for object, tensor in zip(objects, [*found.checked[0][0], *found.checked[0][1]])]
    code = "\n".join([
        c_source.commented([f"What {file_name} declares, {PRODUCER}"]) + "/* clang-format off */\n"
        f'#include "{file_name}"\n\n#include <math.h>\n#include <string.h>\n',
        '#include "tinyattn/tinyattn_operations.h"\n', *writer.to.texts, forward, *examples,
        example_error(found, name)])
    return {path: head.encode(), c_source.source_of(path): code.encode()}
