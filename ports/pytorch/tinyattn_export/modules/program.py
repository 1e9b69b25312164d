# SPDX-License-Identifier: MIT
"""The steps of `forward`, and which memory each activation takes: those that are not alive together share it."""
import dataclasses

from ..names import first_free
from .members import Layer
from .values import FLOAT, Object, Operand


@dataclasses.dataclass
class Scratch:
    """The workspace of a layer, alive in one step only."""

    path: str  # of the layer


@dataclasses.dataclass
class Step:
    """One statement of C++. Its text is made of strings and of arguments: Operands and Scratches."""

    text: list
    writes: Object
    comment: str
    in_place: tuple = ()  # objects that `writes` may be
    node: object = None  # the step of the graph that it is a part of
    also: tuple = ()  # objects that it writes, too
    call: tuple = (None, ())  # what it calls, the name of a function or a Layer; arguments: Rows in a loop over them

    def objects(self):
        return [part.object.resolved() for part in self.text if isinstance(part, Operand)]

    def members(self):
        """Returns the names of the tensors of the module that it reads."""
        return [object.name for object in self.objects() if object.place == "member"]

    def has_view_of(self, object):
        """Whether an argument is a view of an object, whose elements lie elsewhere than those of the result."""
        return any(isinstance(part, Operand) and part.stride is not None and part.object.resolved() is object
                   for part in self.text)

    def takes_views(self):
        """Whether objects that it names as a whole may be views: these have no member `elements`."""
        return self.call[0] != "masked_fill" and not any(
            isinstance(part, str) and part.startswith(".elements") for part in self.text)

    def is_nothing(self):
        """Whether it copies an object to itself."""
        operands = [part for part in self.text if isinstance(part, Operand) and part.stride is None]
        return self.call[0] == "copy" and len(operands) == 2 and len(set(self.objects())) == 1

    def scratches(self):
        return [part for part in self.text if isinstance(part, Scratch)]


@dataclasses.dataclass
class Slot:
    """Memory of the workspace: a union if it has more than one member."""

    members: list  # of (declared type, name)
    busy: list = dataclasses.field(default_factory=list)  # intervals of steps

    def member(self, type, name):
        """Returns the name of the member of a type, which is new if there was none."""
        known = dict(self.members)
        if type not in known:
            self.members.append((type, name))
        return known.get(type, name)


class Program:
    def __init__(self):
        self.steps, self.scratch_names, self.members = [], {}, {}
        self.names = {"status", "memcpy"}  # C has them
        self.node = None  # the step of the graph that is turned into steps of C++

    def unique(self, name):
        """Returns a name that no other activation has."""
        free = first_free(name, self.names.__contains__)
        self.names.add(free)
        return free

    def activation(self, name, extents, element=None):
        return Object(self.unique(name), tuple(extents), "activation", element or FLOAT)

    def keep_what_is_read(self, results):
        """Leaves out the steps whose results nothing reads. What a layer with scratch takes, it may write, too."""
        read, kept = {result.resolved() for result in results}, []
        for step in reversed(self.steps):
            written = step.objects() if step.scratches() else [step.writes.resolved()]
            if not read.isdisjoint(written):
                read.update(step.objects())
                kept.insert(0, step)
        self.steps = kept

    def add(self, *text, writes, call=(None, ()), in_place=(), comment=None, also=()):
        shape = ", ".join(map(str, writes.extents))
        self.steps.append(Step(list(text), writes, comment or f"[{shape}]", tuple(in_place), self.node, also, call))
        return writes

    def call(self, function, *arguments, method="forward", **more):
        """Adds a call of a function of the library, or of a method of a Layer. An argument may be a function that
        returns text, with a comma, or none."""
        start = [function, f".{method}("] if isinstance(function, Layer) else [f"tinyattn::{function}("]
        text = [part for argument in arguments for part in ([argument] if callable(argument) else [argument, ", "])]
        return self.add(*start, *text[:-1], ");", call=(function, arguments), **more)

    def lifetimes(self):
        """Returns {activation: (first step, last step)}."""
        lives = {}
        for i, step in enumerate(self.steps):
            for object in (*step.objects(), step.writes.resolved()):
                if object.place == "activation":
                    lives[object] = (lives.get(object, (i,))[0], i)
        return lives

    def compute_in_place(self, kept):
        """Lets a step write to one of its inputs, if nothing reads this input later, and it is not to be kept. The
        oldest comes first: so a residual stream stays where it is, and blocks are passes of a loop."""
        for i, step in enumerate(self.steps):
            lives = self.lifetimes()
            for candidate in sorted((each.resolved() for each in step.in_place), key=lambda each: lives.get(each, (0,))[0]):
                later = candidate in [object.resolved() for object in kept] or any(
                    candidate in later.objects() for later in self.steps[i + 1:])
                if (candidate.place == "activation" and not later and candidate is not step.writes
                        and candidate.extents == step.writes.extents and not step.has_view_of(candidate)):
                    step.writes.same_as = candidate
                    break
        self.steps = [step for step in self.steps if not step.is_nothing()]

    def slots(self, type_of):
        """Returns the Slots of the workspace: scratch, then activations, the largest first, each in the first
        slot that is free while it is alive. `type_of` returns the type of the workspace of the layer at a path."""
        slots, steps = [], range(len(self.steps))
        for i in steps:
            for scratch in self.steps[i].scratches():
                self.scratch_names.setdefault(type_of(scratch.path), None)
                if not slots:
                    slots.append(Slot([]))
                slots[0].busy.append((i, i))
        for type in self.scratch_names:
            self.scratch_names[type] = self.unique("scratch")
            slots[0].members.append((type, self.scratch_names[type]))
        lives = self.lifetimes()
        for object in sorted(lives, key=lambda object: (-object.size, lives[object])):
            first, last = lives[object]
            slot = next((slot for slot in slots
                         if all(last < begin or end < first for begin, end in slot.busy)), None)
            if slot is None:
                slot = Slot([])
                slots.append(slot)
            slot.busy.append((first, last))
            self.members[object] = slot.member(object.type, object.name)
        return slots
