# SPDX-License-Identifier: MIT
"""Composes the header of a Model: comment, includes, configurations, the Model, its weights, and the example."""
import hashlib
import pathlib
import re
import zlib

from ..checkpoints import tensors_in
from ..errors import printable
from ..header import PRODUCER, braces, in_lines, number
from ..safetensors import compose as compose_safetensors
from .layout import configuration
from .values import TOKEN

NEEDED = {  # {header: what needs it}
    "activation": ("relu", "gelu", "gelu_tanh", "silu", "standardize"), "arithmetic": ("add", "subtract", "multiply"),
    "attention": ("scaled_dot_product_attention",), "lifetime": ("begin_lifetime",),
    "mask": ("Causal", "NoMask", "BlockMask", "AdditiveMask", "masked_fill"),
    "matmul": ("matmul", "matmul_transposed"), "pooling": ("mean", "largest"), "softmax": ("softmax",),
    "tensor": ("concat_rows", "concat_columns", "transpose", "row", "columns", "Matrix", "Vector", "Tensor"),
    "token": ("Token",),
}
FORMATTED = ("// clang-format off\n", "// clang-format on\n")
ERROR = """\
// Returns the largest difference of what the model computes of example_input from what PyTorch
// computed; NaN if an output is not a number.
inline float example_error({parameter}Model::Workspace& workspace) noexcept {{
  static Model::Output out;
  model.forward(example_input, out, workspace);
  float largest = 0.0f;
  for (std::size_t i = 0; i < out.size(); ++i) {{
    const float difference = out.elements[i] - example_output.elements[i];
    const float error = difference < 0.0f ? -difference : difference;
    if (!(error <= largest)) largest = error;
    if (largest != largest) break;
  }}
  return largest;
}}
"""


def comment(net, structs):
    sha = hashlib.sha256(compose_safetensors(tensors_in(net.state_dict()).values())).hexdigest()
    lines = [f"{printable(type(net).__name__)}, a torch.nn.Module,", PRODUCER, "", f"SHA-256 of its state_dict: {sha}",
             f"{structs.parameter_count} parameters, {len(structs.content())} bytes."]
    return "".join(f"// {line}".rstrip() + "\n" for line in lines)


def includes(structs, code, binary):
    used = set(re.findall(r"tinyattn::(\w+)", code))
    words = {word for word, names in NEEDED.items() if used.intersection(names)}
    own = {f'"{part.header}"' for part in structs.parts.values()} | {f'"tinyattn/{word}.hpp"' for word in words}
    std = {"<cstddef>"} | ({"<limits>"} if "numeric_limits" in code or binary else set())
    std |= {"<bit>", "<cstdint>", "<type_traits>"} if binary else set()
    return "\n".join("".join(f"#include {name}\n" for name in sorted(names)) for names in (own, std))


def constant(type, name, tensor, is_token):
    """Returns the definition of an example."""
    values = in_lines([tensor.flatten().tolist()], *((16, str) if is_token else (8, number)), "  ")
    return f"inline constexpr Model::{type} {name} = {{{{\n{values}}}}};\n"


def in_flash(structs):
    """Returns the weights as a constant."""
    tree = {name: field.tree for name, field in structs.fields.items()}
    begin, end = FORMATTED
    return f"{begin}inline constexpr Model model = {braces(tree, '')};\n{end}\n"


def in_binary(structs, file_name):
    """Returns checks of the layout, and the function that finds the model in the binary."""
    content, checks, offset = structs.content(), "", 0
    for name, size in structs.sizes().items():
        checks += f"static_assert(offsetof(Model, {name}) == {offset} && sizeof(Model::{name}) == {size});\n"
        offset += size
    return f"""\
static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == {len(content)} && alignof(Model) == alignof(float), "no padding");
{checks}
// CRC-32 of {file_name}, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = {zlib.crc32(content):#010x};

// Where {file_name} lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {{
  return *static_cast<const Model*>(address);
}}

"""


def compose(net, name, structs, model, example, wanted, binary):
    """`example` and `wanted`: the Object and the tensor of the input and of the output."""
    code, (begin, end) = "\n".join(model), FORMATTED
    configs = "".join("\n".join([f"inline constexpr {type} {config} = {{", *configuration(members, "    "), "};\n\n"])
                      for config, type, members in structs.configs.values())
    (x, inputs), (_, outputs) = example, wanted
    examples = "\n".join([constant("Input", "example_input", inputs, x.element == TOKEN),
                          constant("Output", "example_output", outputs, False)])
    body = "".join([
        configs, code, "\n\n", in_flash(structs) if binary is None else
        in_binary(structs, printable(pathlib.Path(binary).name)), begin, examples, end, "\n",
        ERROR.format(parameter="" if binary is None else "const Model& model, ")])
    return (f"{comment(net, structs)}#pragma once\n\n{includes(structs, code, binary is not None)}\n"
            f"namespace {name} {{\n\n{body}\n}}  // namespace {name}\n")
