# SPDX-License-Identifier: MIT
"""Tests export.module on modules that are drawn of the stages of stages.py, the same each time. Needs PyTorch (Debian:
python3-torch).

    drawn_modules SEED [-- COMPILER ARGUMENT...]            prints one module, and what becomes of it
    drawn_modules [each_night] -- COMPILER ARGUMENT...      tests

What is accepted must compile without a warning, and compute what PyTorch does, also of inputs that it was not traced
with. What is refused must get one sentence with a line of the module, and nothing is written. Each night what C has must
have the same bits in C."""
import contextlib
import copy
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings

from tests.support import debian, tap

debian.needs_pytorch()
import torch

from ports.pytorch.tinyattn_export import ExportError, module
from tests.products.export import modules_in_c, stages
from tests.products.export.exporter import COMPILER, IS_NIGHT, WARNINGS, call

COUNT, IN_PROGRAM, LEVEL = (1000, 25, "-O2") if IS_NIGHT else (300, 25, "-O1")
ACCEPTED = 0.95  # of the modules of one stage, at least
FINE, COARSE, NOISE = 1e-5, 0.3, 4  # of the largest output, f32 and int8; times what float32 makes of it in PyTorch
SCALES = (1e-3, 1.0, 30.0)  # of new inputs
HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
MEMBERS = "block encoder new delete template union std x out model layers each i workspace unix double main".split()
CLASSES = "Block Stage Attention union Model Workspace Input auto Vector Matrix Token std Float Config weights".split()
PROGRAM = """
#include <cstdio>

template <typename Model>
bool runs(const Model& model, float (&example_error)(typename Model::Workspace&)) {
  static typename Model::Workspace workspace;
  static typename Model::Input x;
  static typename Model::Output out;
  for (int i = 0; i < INPUTS; ++i) {
    if (std::fread(static_cast<void*>(&x), sizeof x, 1, stdin) != 1) return false;
    model.forward(x, out, workspace);
    std::fwrite(static_cast<const void*>(&out), sizeof out, 1, stdout);
  }
  const float error = example_error(workspace);
  return std::fwrite(&error, sizeof error, 1, stdout) == 1;
}

int main() { return CALLS ? 0 : 1; }
"""


def table(text):
    """Returns the stages of a table, each as often as it is to be drawn."""
    lines = re.sub(r"\n\s+", " ", text).strip().splitlines()
    return [line.lstrip("*") for line in lines for _ in range(3 if line[0] == "*" else 1)]


STAGES = {kind: table(text) for kind, text in vars(stages).items() if kind.isupper()}


def spelled(text, sizes, rng):
    """Returns a text with numbers, and one of the spellings of each {a|b}."""
    while "{" in text:
        text = re.sub(r"\{([^{}]*)\}", lambda found: rng.choice(found[1].split("|")), text)
    return re.sub(r"(?<!\.)\b[DTCVEKH]\b", lambda found: str(sizes[found[0]]), text)


def stage(text, shape, number, rng):
    """Returns the statements of __init__ and of forward. All but the first stage have numbers in their members' names."""
    width, tokens = shape[-1], shape[1]
    sizes = {"D": width, "T": tokens, "C": tokens, "V": 19, "E": rng.choice((4, 6, 8, 10)), "K": rng.choice((2, 3)),
             "H": rng.choice([heads for heads in (1, 2, 2, 3, 4, 4) if width % (2 * heads) == 0] or [1])}
    code, _, own = spelled(text, sizes, rng).partition(" where ")
    members = dict(each.split(" = ", 1) for each in re.split(r";\s*", spelled(stages.MEMBERS.strip().replace("\n", "; "), sizes, rng)))
    members |= dict(each.split(" = ", 1) for each in re.split(r";\s*", own) if each)
    used = [name for name in dict.fromkeys(re.findall(r"self\.(\w+)", code)) if name in members]
    ending = f"_{number}" if number else ""
    code = re.sub(r"self\.(\w+)", lambda found: found[0] + (ending if found[1] in used else ""), code)
    *body, last = re.split(r";\s*", code)
    return [member(f"{name}{ending}", members[name]) for name in used], [*body, f"x = {last}"]


def member(name, value):
    """Returns the statement of __init__ that makes a member."""
    content = value[2:-1] if re.search("[a-z]", value) else f"torch.randn({value[2:-1]})"
    return {"B(": f'self.register_buffer("{name}", {content})', "P(": f"self.{name} = nn.Parameter({content} * 0.5)"}.get(
        value[:2], f"self.{name} = {value}")


def written(name, members, body):
    """Returns a class."""
    init = ["def __init__(self):", "    super().__init__()", *(f"    {line}" for line in members), ""]
    lines = [*(init if members else []), "def forward(self, x):", *(f"    {line}" for line in body), "    return x"]
    return "\n".join([f"class {name}(nn.Module):", *(f"    {line}" if line else "" for line in lines)])


def joined(found, rng):
    """Returns the source of a module of some stages: in one forward, or each a module."""
    form = rng.choice(("lines", "lines", "lines", "members", "sequential", "list"))
    if form == "lines":
        return written("Net", *(sum(lines, []) for lines in zip(*found)))
    classes = rng.sample(CLASSES, len(found))
    names = rng.sample(MEMBERS, len(found)) if rng.random() < 0.8 else classes
    calls, first = [f"{name}()" for name in classes], f"self.{names[0]}"
    net = {"members": ([f"self.{name} = {call}" for name, call in zip(names, calls)], [f"x = self.{name}(x)" for name in names]),
           "sequential": ([f"{first} = nn.Sequential({', '.join(calls)})"], [f"x = {first}(x)"]),
           "list": ([f"{first} = nn.ModuleList([{', '.join(calls)}])"], [f"for layer in {first}: x = layer(x)"])}[form]
    return "\n\n\n".join([*(written(name, *each) for name, each in zip(classes, found)), written("Net", *net)])


def made(source, path, seed):
    """Returns the module of a source, with numbers as if it were trained."""
    path.write_text(f"{HEAD}\n\n{source}\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    torch.manual_seed(seed)
    net = names["Net"]().eval()
    for name, tensor in net.state_dict().items():
        if name.endswith("running_var"):
            tensor.uniform_(0.5, 2.0)
        elif tensor.is_floating_point() and "." in name:
            tensor.add_(torch.randn(tensor.shape) * 0.1)
    return net


def computed(net, x):
    return net(x.clone()).detach()


def like(x, scale=1.0):
    """Returns a new input: tokens, or numbers."""
    return torch.randint(19, x.shape) if x.dtype == torch.int64 else torch.randn(x.shape) * scale


def kind_of(x):
    """Returns which stages take a result, if any do."""
    fits = isinstance(x, torch.Tensor) and 0 < x.numel() < 2000 and x.shape[:1] == (1,) and x.dtype == torch.float32
    return {2: "ROW", 3: "SEQUENCE", 4: "IMAGE"}.get(x.dim()) if fits else None


class Drawn:
    """A module, drawn by its seed, and what becomes of it."""

    def __init__(self, seed, folder):
        self.seed, self.rng, self.name = seed, random.Random(seed), f"m{seed}"
        self.path, self.header = folder / f"drawn_{seed}.py", folder / f"{self.name}.hpp"
        self.weights, self.sentence = "int8" if seed % 4 == 3 else None, ""
        while not self.draw():
            pass
        torch.manual_seed(seed)
        self.inputs = [self.x, *(like(self.x, scale) for scale in SCALES)]
        self.wanted = [computed(self.net, x).flatten() for x in self.inputs]
        self.problem = self.exported()
        self.is_accepted = not self.problem and not self.sentence
        self.is_in_c = IS_NIGHT and self.is_accepted and self.exported_in_c()

    def example(self):
        kind = self.rng.choice(("SEQUENCE",) * 6 + ("ROW", "IMAGE", "TOKENS", "WAVE"))
        tokens, width = self.rng.choice((3, 4, 5, 6, 8)), self.rng.choice((4, 6, 8, 12))
        shape = {"SEQUENCE": (1, tokens, width), "ROW": (1, width), "TOKENS": (1, tokens), "WAVE": (1, 64),
                 "IMAGE": (1, self.rng.choice((1, 2, 4)), 8, 8)}[kind]
        torch.manual_seed(self.seed)
        return kind, like(torch.zeros(shape, dtype=torch.int64 if kind == "TOKENS" else torch.float32))

    def draw(self):
        """Draws a module. Returns whether it computes numbers."""
        (kind, self.x), found = self.example(), []
        self.count, is_wrong = self.rng.choice((1, 1, 1, 1, 2, 2, 3)), self.rng.random() < 0.05
        after, self.must_be_refused = self.x, is_wrong and kind != "TOKENS"
        for i in range(self.count):
            of_any = kind != "TOKENS" and self.rng.random() < 0.3
            last = i == self.count - 1 and self.must_be_refused
            text = self.rng.choice(STAGES["REFUSED" if last else "ANY" if of_any else kind])
            found.append(stage(text, after.shape, i, self.rng))
            self.source = joined(found, self.rng)
            try:
                self.net = made(self.source, self.path, self.seed)
                after = computed(self.net, self.x)
            except Exception:  # of any kind: these stages do not go together
                return False
            kind = kind_of(after)
            if kind is None and i < self.count - 1:
                return False
        self.net = made(self.source, self.path, self.seed)  # it may keep something
        return bool(after.dtype == torch.float32 and torch.isfinite(after).all() and 1e-3 < after.abs().max() < 1e4)

    def exported(self):
        """Exports the module. Returns what is wrong."""
        try:
            module(self.net, self.x, self.header, self.name, weights=self.weights)
        except ExportError as error:
            self.sentence = str(error)
            has_line = f"{self.path.name}:" in self.sentence or self.must_be_refused and "its trace" in self.sentence
            is_right = "\n" not in self.sentence and has_line and not self.header.exists()
            return "" if is_right else f"unclear: {self.sentence}"
        except Exception as error:  # of any kind: a traceback reaches the user
            return f"{type(error).__name__}: {error}"
        return "it must be refused, and is exported" if self.must_be_refused else ""

    def noise(self, x, wanted):
        """Returns how much float32 makes of rounding, if the module can be computed in double."""
        with contextlib.suppress(RuntimeError, ValueError):  # it makes tensors of float32
            double = computed(copy.deepcopy(self.net).double(), x.double() if x.is_floating_point() else x)
            return (double.flatten() - wanted).abs().max().item()
        return 0.0

    def compare(self, outputs, example_error):
        """Finds out what is wrong with what the header computes of the inputs."""
        for x, wanted, output in zip(self.inputs, self.wanted, outputs):
            largest = wanted.abs().max().item()
            most = (COARSE if self.weights else FINE) * largest + NOISE * self.noise(x, wanted)
            errors = [(output - wanted).abs().max().item(), example_error.item() if x is self.x else 0.0]
            if math.isfinite(largest) and not max(errors) <= most:
                self.problem = f"wrong by {max(errors):.3g}, where the largest output is {largest:.3g}"

    def content(self):
        """Returns the bytes of the inputs."""
        return b"".join((x.short() if x.dtype == torch.int64 else x).contiguous().numpy().tobytes() for x in self.inputs)

    def exported_in_c(self):
        """Exports the module in C. Returns whether that has all of it."""
        try:
            module(self.net, self.x, self.header.with_suffix(".h"), self.name, weights=self.weights)
        except ExportError as error:
            self.problem = "" if ": in C there is nothing for " in str(error) else f"in C: {error}"
            return False
        return True

    def told(self):
        return (f"{self.problem}\nsee it: python3 -B -m tests.products.export.drawn_modules {self.seed}\n"
                f"{self.source}\n") if self.problem else ""


def run(folder, drawn):
    """Compiles headers in one program, runs it, and finds out what is wrong. Returns that."""
    program = folder / f"with_{drawn[0].name}"
    calls = " && ".join(f"runs({each.name}::model, {each.name}::example_error)" for each in drawn)
    program.with_suffix(".cpp").write_text("".join(f'#include "{each.header.name}"\n' for each in drawn) + PROGRAM.replace(
        "INPUTS", str(len(drawn[0].inputs))).replace("CALLS", calls))
    done = call(*COMPILER, *WARNINGS, LEVEL, program.with_suffix(".cpp"), "-o", program)
    if done.returncode and len(drawn) > 1:  # which one is it?
        return "".join(run(folder, half) for half in (drawn[::2], drawn[1::2]))
    if done.returncode:
        drawn[0].problem = f"does not compile: {done.stderr[:1500]}"
        return drawn[0].told()
    done = subprocess.run([program], input=b"".join(map(Drawn.content, drawn)), capture_output=True, check=False)
    numbers = torch.frombuffer(bytearray(done.stdout + bytes(4)), dtype=torch.float32)
    sizes = [size for each in drawn for size in (*map(len, each.wanted), 1)]
    if done.returncode or len(numbers) != sum(sizes) + 1:
        return f"{program} fails: {done.stderr}"
    outputs = iter(numbers.split([*sizes, 1]))
    for each in drawn:
        each.bits = [next(outputs) for _ in (*each.inputs, None)]
        each.compare(each.bits[:-1], each.bits[-1])
    return "".join(each.told() for each in drawn) + (in_c(folder, drawn) if IS_NIGHT else "")


def in_c(folder, drawn):
    """Compares what modules compute in C with the bits of their headers, if C has all of them."""
    drawn = [each for each in drawn if each.is_in_c]
    if not drawn:
        return ""
    modules = {each.name: (each.inputs[:1], each.wanted[:1], len(each.inputs)) for each in drawn}
    found, problem = modules_in_c.computed(folder, modules, b"".join(map(Drawn.content, drawn)))
    for each in drawn:
        own, found = found[:4 * sum(map(len, each.bits))], found[4 * sum(map(len, each.bits)):]
        same = problem or own == b"".join(tensor.numpy().tobytes() for tensor in each.bits)
        each.problem = "" if same else "other bits in C"
    return problem + "".join(each.told() for each in drawn)


def points(folder):
    """Returns points for tap.report."""
    drawn = [Drawn(seed, folder) for seed in range(COUNT)]
    alone = [each for each in drawn if each.count == 1 and not each.must_be_refused]
    accepted, share = [each for each in drawn if each.is_accepted], sum(each.is_accepted for each in alone) / len(alone)
    return [(f"{len(drawn)} modules are exported, or refused by a sentence", "".join(each.told() for each in drawn)),
            (f"of {len(alone)} stages {share:.1%} are exported", "" if share >= ACCEPTED else f"less than {ACCEPTED:.0%}"),
            *(("as PyTorch: " + " ".join(each.name for each in some), run, folder, some)
              for some in (accepted[i:i + IN_PROGRAM] for i in range(0, len(accepted), IN_PROGRAM)))]


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of PyTorch: functions that are deprecated
    with tempfile.TemporaryDirectory() as home:
        if not sys.argv[1].isdigit():
            tap.report(points(pathlib.Path(home)))
        one = Drawn(int(sys.argv[1]), pathlib.Path(home))
        print(one.source, f"{one.weights or 'f32'}, of {tuple(one.x.shape)}: {one.problem or one.sentence or 'accepted'}", sep="\n\n")
        if one.is_accepted and COMPILER:
            print(run(pathlib.Path(home), [one]) or "It computes what PyTorch does.")
