# SPDX-License-Identifier: MIT
"""Reads weights from a .safetensors file, a file of torch.save, or a state_dict in memory. The last two need
PyTorch."""
import ctypes
import dataclasses
import hashlib
import json
import mmap
import os
import pathlib
import pickle
import warnings

from . import safetensors, whole_files
from .errors import ExportError, listing, printable, within

TORCH_SUFFIXES = {".pt", ".pth", ".bin", ".ckpt"}
NO_FLOATS = "Unsupported operand 71"  # PyTorch 1.13's error for a pickled float, opcode G
STATE_DICTS = ("state_dict", "model_state_dict", "model")  # keys of a checkpoint for its state_dict
DTYPES = {
    "torch.float32": "F32", "torch.float16": "F16", "torch.bfloat16": "BF16", "torch.float64": "F64",
    "torch.bool": "BOOL", "torch.uint8": "U8", "torch.int8": "I8", "torch.int16": "I16", "torch.int32": "I32",
    "torch.int64": "I64",
}


@dataclasses.dataclass
class Weights:
    """The tensors of a file."""

    source: str  # the name of the file, without its folder
    sha256: str  # of the file
    tensors: dict


def first_line(error):
    return printable((str(error).splitlines() or [type(error).__name__])[0])


def is_tensor(value):
    """Returns whether this is a tensor. A storage, which has an address but no shape, is none."""
    return hasattr(value, "data_ptr") and hasattr(value, "shape")


def from_torch(name, tensor):
    if str(tensor.dtype) not in DTYPES or str(tensor.layout) != "torch.strided":
        raise ExportError(f"{printable(name)} is a tensor of {tensor.dtype}, {tensor.layout}, which is not read")
    if str(tensor.device) == "meta":
        raise ExportError(f"{printable(name)} is on the meta device, where tensors have no values: load the weights "
                          "into the model, then save it")
    try:
        plain = tensor.detach().cpu().contiguous()
        size = plain.nelement() * plain.element_size()
        data = ctypes.string_at(plain.data_ptr(), size) if size else b""
    except Exception as error:  # any: classes like tensors have these methods, but not all of them work
        raise ExportError(f"{printable(name)} cannot be read: {first_line(error)}") from None
    return safetensors.Tensor(str(name), DTYPES[str(tensor.dtype)], tuple(tensor.shape), memoryview(data))


class Tensors(dict):
    """{name: tensor}, and the settings that the file has besides."""

    model_args = {}  # settings of the model, which nanoGPT and llama2.c store next to its weights


def tensors_in(state_dict):
    """Returns the Tensors of a state_dict. Leaves out what is no tensor."""
    return Tensors((str(name), from_torch(name, tensor)) for name, tensor in state_dict.items() if is_tensor(tensor))


def model_args_in(checkpoint):
    """Returns the model_args of a checkpoint as JSON would hold them. A file that the code of `without_floats` saved
    has them as a text of JSON already."""
    with within("its model_args", TypeError, ValueError, RecursionError):
        text = checkpoint.get("model_args_json") or json.dumps(checkpoint.get("model_args"), default=str)
        model_args = json.loads(text)
    return model_args if isinstance(model_args, dict) else {}


def without_floats(path):
    """Returns Python code that saves a checkpoint anew so that PyTorch 1.13 can read it: with only its tensors, and
    with model_args, some of which are floats, as a text of JSON."""
    return (f"import json, torch; checkpoint = torch.load({str(path)!r}, map_location='cpu'); "
            f"tensors = next((checkpoint[key] for key in {STATE_DICTS} if key in checkpoint), checkpoint); "
            "torch.save({'model': {key: value for key, value in tensors.items() if torch.is_tensor(value)}, "
            "'model_args_json': json.dumps(checkpoint.get('model_args'), default=str)}, "
            f"{str(path.with_suffix('.weights.pt'))!r})")


def pytorch(needed):
    """Returns the module torch. Raises an ExportError if there is none, which says why it is needed."""
    try:
        import torch
        return torch
    except (ImportError, OSError):
        raise ExportError(f"PyTorch is not installed, and {needed}") from None


def load_checkpoint(path):
    torch = pytorch("only it reads .pt: install it, or save the weights as .safetensors")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # of any kind; some texts advise to load the file unsafely
        if NO_FLOATS in str(error):
            raise ExportError("it holds floats next to its tensors, as nanoGPT's ckpt.pt does, which PyTorch 1.13 "
                              "cannot read with weights_only=True: take PyTorch 2, or, if you trust the file, run in "
                              "Python: "
                              + without_floats(path)) from None
        if isinstance(error, (pickle.UnpicklingError, KeyError)) or "weights_only" in str(error):
            raise ExportError("it is damaged, or holds more than tensors, as torch.save(model) and torch.jit.save do: "
                              "where the model is, write torch.save(model.state_dict(), FILE)") from None
        raise ExportError(f"torch.load(weights_only=True) refuses it: {first_line(error)}") from None


def torch_load(path):
    """Returns the Tensors of a state_dict, which may be nested in a dict under one of STATE_DICTS."""
    content = load_checkpoint(path)
    model_args = model_args_in(content) if isinstance(content, dict) else {}
    for name in STATE_DICTS:
        if isinstance(content, dict) and isinstance(content.get(name), dict):
            content = content[name]
    if not isinstance(content, dict) or not any(map(is_tensor, content.values())):
        raise ExportError("it holds no state_dict: save model.state_dict()")
    tensors = tensors_in(content)
    tensors.model_args = model_args
    return tensors


INDEX = ".safetensors.index.json"  # how the list of a model in several files ends


def read_file(path):
    """Returns the content of a file, which is mapped into memory, not copied, and its tensors."""
    with within(f"cannot read {printable(path)}", OSError, ValueError):
        if not path.is_file():
            raise ExportError("it is not a file" if path.exists() else "there is no such file")
        if path.suffix == ".json":
            raise ExportError(f"it is JSON, and has no tensors; the list of a model in several files ends with {INDEX}")
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.fstat(file.fileno()).st_size else b""
        return data, torch_load(path) if path.suffix in TORCH_SUFFIXES else safetensors.parse(data)


def read_index(path):
    """Returns the content of a model.safetensors.index.json, and the names of tensors in each file next to it."""
    with within(f"cannot read {printable(path)}", OSError, ValueError, RecursionError):
        data, files = path.read_bytes(), {}
        content = json.loads(data.decode("utf-8"), object_pairs_hook=safetensors.unique)
        places = content.get("weight_map") if isinstance(content, dict) else None
        if not isinstance(places, dict) or not places:
            raise ExportError("it has no weight_map, which names the file of each tensor")
        for name, file in places.items():
            if not isinstance(file, str) or not file or pathlib.PurePath(file).name != file:
                raise ExportError(f"{printable(name)} is in {printable(file)}, which is no file next to it")
            files.setdefault(file, set()).add(name)
    return data, files


def read(path):
    """Returns the Weights of a file, or of all files that an index lists. Raises an ExportError if one is missing, has
    other tensors than the index says, or is not valid. Several files have one hash, of the index and all of them."""
    path = pathlib.Path(path)
    if not path.name.endswith(INDEX):
        data, tensors = read_file(path)
        return Weights(path.name, hashlib.sha256(data).hexdigest(), tensors)
    data, files = read_index(path)
    digest, tensors = hashlib.sha256(data), Tensors()
    for file, names in sorted(files.items()):
        data, found = read_file(path.with_name(file))
        if found.keys() != names:
            raise ExportError(f"{printable(file)} and {printable(path.name)} differ in {listing(found.keys() ^ names)}")
        digest.update(data)
        tensors.update(found)
    return Weights(path.name, digest.hexdigest(), tensors)


def of_state_dict(state_dict, source):
    """Returns the Weights of a state_dict in memory. The hash is of the file that write_safetensors would write."""
    tensors = tensors_in(state_dict)
    return Weights(source, hashlib.sha256(safetensors.compose(tensors.values())).hexdigest(), tensors)


def write_safetensors(path, state_dict):
    whole_files.replace({path: safetensors.compose(tensors_in(state_dict).values())})
