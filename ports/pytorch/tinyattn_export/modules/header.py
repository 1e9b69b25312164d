# SPDX-License-Identifier: MIT
"""Composes the header of a Model: comment, includes, configurations, the Model, its weights, and the example."""
import hashlib
import pathlib
import re

from ..checkpoints import tensors_in
from ..errors import printable
from ..header import PRODUCER, braces, in_binary, text_of
from ..safetensors import compose as compose_safetensors
from ..settings import ACTIVATIONS
from .layout import broken, configuration
from .signature import types
from .values import numbers_of

NEEDED = {  # {header: what needs it}
    "activation": ("standardize", *ACTIVATIONS), "arithmetic": ("add", "subtract", "multiply"),
    "attention": ("scaled_dot_product_attention",), "lifetime": ("begin_lifetime",),
    "mask": ("Causal", "NoMask", "BlockMask", "AdditiveMask", "masked_fill"),
    "matmul": ("matmul", "matmul_transposed"), "softmax": ("softmax",),
    "elementwise": ("elementwise",), "reduce": ("reduce",), "strided": ("copy", "StridedView"),
    "tensor": ("concat_rows", "concat_columns", "transpose", "row", "columns", "Matrix", "Vector", "Tensor"),
    "token": ("Token",),
    "pooling": ["mean", "largest", *(f"{kind}_pool{rank}d" for rank in (1, 2)
                                     for kind in ("max", "avg", "adaptive_max", "adaptive_avg"))],
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
ERROR_OF_SEVERAL = """\
// Returns the largest difference of what the model computes of the example from what PyTorch
// computed; NaN if an output is not a number.
inline float example_error({parameter}Model::Workspace& workspace) noexcept {{
{outputs}
{call}
  float largest = 0.0f;
  const auto compare = [&largest](const auto& found, const auto& wanted) {{
    for (std::size_t i = 0; i < found.size() && largest == largest; ++i) {{
      const float difference = found.elements[i] - wanted.elements[i];
      const float error = difference < 0.0f ? -difference : difference;
      if (!(error <= largest)) largest = error;
    }}
  }};
{compare}
  return largest;
}}
"""


def comment(net, structs):
    sha = hashlib.sha256(compose_safetensors(tensors_in(net.state_dict()).values())).hexdigest()
    return [f"{printable(type(net).__name__)}, a torch.nn.Module,", PRODUCER, "", f"SHA-256 of its state_dict: {sha}",
            f"{structs.parameter_count} parameters, {len(structs.content())} bytes."]


def includes(structs, code, binary):
    used = set(re.findall(r"tinyattn::(\w+)", code))
    words = {word for word, names in NEEDED.items() if used.intersection(names)}
    own = {f'"{part.header}"' for part in structs.parts.values()} | {f'"tinyattn/{word}.hpp"' for word in words}
    std = {"<cstddef>"} | ({"<limits>"} if "numeric_limits" in code or binary else set())
    std |= {"<cstdint>"} if "std::uint16_t" in code else set()
    return own | std | ({"<bit>", "<cstdint>", "<type_traits>"} if binary else set())


def constant(type, tensor):
    """Returns the definition of an example."""
    return f"inline constexpr Model::{type} example_{type.lower()} = {braces([numbers_of(tensor)], '')};\n"


def example_error(found, binary):
    """Returns the definition of example_error."""
    parameter = "" if binary is None else "const Model& model, "
    if len(found.inputs) == len(found.outputs) == 1:
        return ERROR.format(parameter=parameter)
    pairs = [(type, f"example_{type.lower()}") for type in types("Output", found.outputs)]
    inputs = [f"example_{type.lower()}" for type in types("Input", found.inputs)]
    call = f"model.forward({', '.join([*inputs, *(out.name for out in found.outputs), 'workspace'])});"
    return ERROR_OF_SEVERAL.format(
        parameter=parameter, call="\n".join(broken(call, "", "  ")),
        outputs="\n".join(f"  static Model::{type} {out.name};" for (type, _), out in zip(pairs, found.outputs)),
        compare="\n".join(f"  compare({out.name}, {wanted});" for (_, wanted), out in zip(pairs, found.outputs)))


def compose(net, name, structs, model, found, binary):
    """Returns the text of the header of a module that is `found`, as Lowered."""
    code, (begin, end) = "\n".join(model), FORMATTED
    configs = "".join("\n".join([f"inline constexpr {type} {config} = {{", *configuration(members, "    "), "};\n\n"])
                      for config, type, members in found.low.members.configs.values())
    examples, wanted = found.checked[0]
    tree = {name: field.tree for name, field in structs.fields.items()}
    weights = f"{begin}inline constexpr Model model = {braces(tree, '')};\n{end}" if binary is None else in_binary(
        "Model", structs.sizes(), structs.content(), printable(pathlib.Path(binary).name))
    tensors = [*zip(types("Input", found.inputs), examples), *zip(types("Output", found.outputs), wanted)]
    body = "".join([
        configs, code, "\n\n", weights, "\n", begin, "\n".join(constant(*each) for each in tensors), end, "\n",
        example_error(found, binary)])
    return text_of(comment(net, structs), includes(structs, code, binary is not None), name, body)
