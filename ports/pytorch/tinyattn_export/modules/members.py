# SPDX-License-Identifier: MIT
"""The members of a Model: layers, parameters and masks, in the module's own names."""
import dataclasses
import functools
import re

import torch

from .. import names
from ..checkpoints import tensors_in
from ..parts import TensorRequest
from ..storage import Storage
from .values import Object, extents_of


@dataclasses.dataclass
class Mask:
    """A mask of constants, a static member; or several, for the elements of a loop."""

    type: str
    tensor: torch.Tensor
    name: str

    @property
    def is_array(self):
        return self.tensor.dim() > 2 and not self.type.startswith("tinyattn::Tensor")


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer as a part of a statement."""

    path: str


class Members(Storage):
    def __init__(self, weights):
        self.kinds, self.current = weights, ""  # current: the path of the module that is lowered
        self.requests, self.contents, self.objects = {}, {}, {}
        self.masks, self.embeddings, self.calls, self.configs = [], set(), {}, {}

    @property
    def weights(self):
        """How weights of the current module lie in flash."""
        return self.weights_at(self.current)

    def weights_at(self, path):
        """Returns how weights of the module at a path lie in flash: what the longest name that holds it says."""
        names = [name for name in self.kinds if is_in(path, name)]
        return self.kinds[max(names, key=len)] if names else "f32"

    def layer(self, path, request, *content):
        """Returns the Layer at a path, for which `request`, a function, returns the Part when all calls are known. Two
        layers of one path with other contents, which are numbers and tensors, have paths of their own."""
        content = [contents_of(item) for item in content]
        path = names.first_free(path, lambda name: self.contents.setdefault(name, content) != content)
        self.requests.setdefault(path, (request, self.current))
        return Layer(path)

    def tensor(self, tensor, name, extents=None):
        """Returns the Object of a constant. Two constants of one name with other values have names of their own."""
        tensor = tensor.detach().contiguous()
        extents = extents or extents_of(tensor.shape)
        name = names.first_free(name, lambda name: name in self.requests or name in self.objects and not torch.equal(
            self.objects[name][1], tensor))
        if name not in self.objects:
            self.objects[name] = (Object(name, tuple(extents), "member"), tensor)
        return self.objects[name][0]

    def mask(self, kind, tensor, name):
        """Returns the name of a static mask."""
        for known in self.masks:
            if known.type.startswith(kind) and torch.equal(known.tensor, tensor):
                return known.name
        name = names.first_free(name, lambda name: any(known.name == name for known in self.masks))
        extents = tensor.shape if kind.startswith("tinyattn::Tensor") else tensor.shape[-2:]
        self.masks.append(Mask(f"{kind}{', '.join(map(str, extents))}>", tensor, name))
        return name

    def config(self, name, type, members):
        """Returns the name of a configuration, a constant. Equal ones are one."""
        name = names.first_free(f"config_of_{name}", [known for known, *_ in self.configs.values()].__contains__)
        return self.configs.setdefault((type, repr(members)), (name, type, members))[0]

    @functools.cached_property
    def finished(self):
        """{path: Part}, once all calls are known."""
        parts = {}
        for path, (request, self.current) in self.requests.items():
            parts[path] = request()
        for object, tensor in self.objects.values():
            object.name = self.outside_layers(object.name, parts)
            parts[object.name] = part_of_tensor(object, tensor)
        return parts

    def outside_layers(self, name, parts):
        """Returns a name for a tensor: what is in a layer as wte.weight, which has it, becomes wte_weight."""
        while any(other == name or name.startswith(f"{other}.") or other.startswith(f"{name}.") for other in parts):
            name = name.replace(".", "_") if "." in name else f"{name}_"
        return name


def is_in(path, name):
    """Whether a module is the one of a name, or in it."""
    return not name or path == name or path.startswith(f"{name}.")


def contents_of(item):
    return (tuple(item.shape), tuple(item.detach().flatten().tolist())) if isinstance(item, torch.Tensor) else item


def part_of_tensor(object, tensor):
    """Returns the Part of a parameter or a buffer."""
    tensors = tensors_in({"tensor": tensor.reshape(object.extents).float()})
    return dataclasses.replace(TensorRequest("tensor").part(tensors), type=object.type)


def member_name(text):
    """Returns a module's name as a name in C++: a number begins with an underscore."""
    name = re.sub(r"\W", "_", text)
    name = f"_{name}" if name[:1].isdigit() else name
    return f"{name}_" if names.objection(name) or is_reserved(name) else name


def is_reserved(name):
    """Whether the Model has a name of its own that is this."""
    return name in RESERVED or re.fullmatch(r"(In|Out)put\d+", name)


RESERVED = {*"ijklmn", *"forward Model Input Output Workspace parameter_count x out workspace tinyattn".split()}
