# SPDX-License-Identifier: MIT
"""Checks an export on inputs that it was not traced with, before anything is written: the module must take the same
steps, and what was lowered must compute what PyTorch computes."""
import torch

from ..desk import MOST_TOKENS
from ..errors import ExportError, printable
from . import lookups
from .checks import has_tokens
from .evaluating import Memory
from .lowering import dependents
from .signature import leaves
from .table import title, writes_in_place
from .tracing import check, private, trace
from .values import Value, numbered

DRAWN, TRIES = 2, 20  # inputs, and how often each is drawn
HIDDEN = (0, 8, 64, 4096)  # times the example: a branch that the trace did not meet
BRANCH = 0.01  # what it changes, of the largest number: large numbers round otherwise
MOST_ERROR = 1e-4  # of the largest number of a step that is not exact
REPORT = "write it another way, and please report it"
MOST_NOISE = 8  # times the difference that float32 makes to float64


def drawn(examples, vocabularies, seed):
    """Returns inputs like the examples: tokens of the vocabulary, or numbers that differ from those of the example as
    these do from their neighbours."""
    generator = torch.Generator().manual_seed(seed)
    return [drawn_tokens(example, most, generator) if has_tokens(example) else drawn_numbers(example, generator)
            for example, most in zip(examples, vocabularies)]


def drawn_right(tracer, examples, vocabularies, seed):
    """Returns drawn inputs, or the examples if a table has no rows for what is drawn."""
    tried = (drawn(examples, vocabularies, seed + DRAWN * i) for i in range(TRIES))
    return next((inputs for inputs in tried if lookups.are_right(tracer, inputs)), list(examples))


def stretched(examples, seed):
    """Returns the examples, each number with its sign: a logarithm is finite of these only."""
    factors = 0.5 + torch.rand(1000, generator=torch.Generator().manual_seed(seed))
    return [example * factors[torch.arange(example.numel()) % 1000].view(example.shape)
            if example.is_floating_point() else example for example in examples]


def drawn_tokens(example, most, generator):
    most = torch.where(most < MOST_TOKENS, most, example.max() + 1)
    return (torch.rand(example.shape, generator=generator) * most).to(example.dtype)


def drawn_numbers(example, generator):
    if example.dtype == torch.bool:
        return torch.rand(example.shape, generator=generator) < 0.5
    spreads = [example.std(axis, keepdim=True).expand_as(example) for axis in range(example.dim())
               if example.shape[axis] > 1] or [torch.zeros_like(example)]
    spread = torch.stack(spreads).amin(0)
    spread = torch.where(spread > 0, spread, example.abs().mean() or torch.tensor(1.0))
    return example + spread * torch.randn(example.shape, generator=generator)


def steps_of(tracer):
    """Returns each step with its text, the shape of its result, and the result if it does not depend on the input."""
    def result(node):
        value = tracer.value(node) if node.op != "output" else None
        if not isinstance(value, torch.Tensor):
            return (), None if node in dependent else repr(value)
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            raise tracer.refused(node, f"a tensor of its own kind, {type(value).__name__}",
                                 "make a plain tensor of it, or say is_causal=True if it is a mask")
        return value.shape, None if node in dependent else value.detach().clone()
    written = {node.args[0] for node in tracer.graph.nodes if node.args and writes_in_place(node)}
    dependent = dependents(tracer.graph, written)
    return [(node, node.format_node(), *result(node)) for node in tracer.graph.nodes]


def check_same(tracer, steps, others):
    """Raises an ExportError at the first step that is another one with another input."""
    for (node, *step), (_, *other) in zip(steps, others):
        if step[:2] != other[:2] or not same(step[2], other[2]):
            raise tracer.refused(node, f"{'a constant' if node.op == 'get_attr' else title(node)} depends on what the "
                                 "input holds, since another input takes other numbers, shapes or steps",
                                 "compute it after forward, or make it of constants")


def same(a, b):
    """Whether two results are equal. A NaN equals a NaN."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return bool(((a == b) | (a != a) & (b != b)).all())
    return a == b


def check_steps(low, inputs, outputs, examples, wanted):
    """Raises an ExportError at the first step that computes other numbers than PyTorch did when the tracer ran the
    module."""
    memories = [Memory(low, inputs, examples, type) for type in (torch.float32, torch.float64)]
    for node in low.tracer.graph.nodes:
        own = [step for step in low.program.steps if step.node is node]
        try:
            for memory in memories:
                for step in own:
                    memory.run(step)
        except ExportError as error:  # of calls that do not fit together
            raise low.tracer.refused(node, *[*str(error).split(": ", 1), REPORT][:2]) from None
        except Exception as error:  # of any kind: a lowering is wrong, or not known here
            raise low.tracer.refused(node, f"what would be exported of {title(node)} cannot be computed "
                                     f"({printable(error)})", REPORT) from None
        for value, of_pytorch in results_of(low, node, own, outputs, wanted):
            error = difference(of_pytorch.detach().double(), *(memory.elements(value) for memory in memories))
            if error:
                raise low.tracer.refused(node, f"what would be exported of {title(node)} differs by {error:.3g} from "
                                         "what PyTorch computes", REPORT)


def results_of(low, node, own, outputs, wanted):
    """Returns [(Value, what PyTorch computes)] of a node, whose `own` steps are these."""
    if node.op == "output":
        return [(Value(out, numbered(tuple(tensor.shape))), tensor) for out, tensor in zip(outputs, wanted)]
    # A layer that a batch norm is folded into has the result of the norm.
    value = low.values.get(node) if own and not low.folded.get(node) else None
    written = {object for step in own for object in (*step.objects(), step.writes.resolved())}
    return [pair for pair in pairs_of(value, low.tracer.value(node) if own else None) if pair[0].object.resolved() in written]


def pairs_of(value, of_pytorch):
    """Returns each Value that a step returns, and what PyTorch computes there."""
    if isinstance(value, tuple) and of_pytorch is not None:
        return [pair for each in zip(value, of_pytorch) for pair in pairs_of(*each)]
    return [(value, of_pytorch)] if isinstance(value, Value) and isinstance(of_pytorch, torch.Tensor) else []


def difference(wanted, single, double):
    """Returns the largest difference from what PyTorch computes, or 0 if rounding explains it. Where PyTorch has no
    number, there is nothing to compare. What is exact is no measure: it may be the -1e9 of a mask."""
    inexact = torch.isfinite(wanted) & (wanted != double)
    if not inexact.any():
        return 0
    wanted, single, double = wanted[inexact], single[inexact].double(), double[inexact]
    error, noise = (wanted - double).abs().max().item(), (single - double).abs().max().item()
    return 0 if error <= MOST_ERROR * wanted.abs().max().item() + MOST_NOISE * noise else error


def check_export(steps, net, examples, found, vocabularies):
    """Raises an ExportError unless an export is right for the examples and for other inputs. Returns [(inputs, what
    PyTorch computes of them)]."""
    low, checked = found.low, [(examples, found.wanted)]
    check_steps(low, found.inputs, found.outputs, examples, found.wanted)
    for seed in range(DRAWN):
        for others in (drawn_right(low.tracer, examples, vocabularies, seed), stretched(examples, seed)):
            check_same(low.tracer, steps, steps_of(trace(private(net, others), others)))
            low.tracer.begin_anew(others)
            of_others = [tensor.detach().float() for _, tensor in leaves(check(low.tracer, low.net, others))]
            if all(torch.isfinite(tensor).all() for tensor in of_others):
                check_steps(low, found.inputs, found.outputs, others, of_others)
                checked.append((others, of_others))
                break
    for factor in HIDDEN:
        others = [example * factor if example.is_floating_point() else example for example in examples]
        if lookups.are_right(low.tracer, others):
            low.tracer.begin_anew(others)
            wanted = [tensor.detach().float() for _, tensor in leaves(check(low.tracer, low.net, others, BRANCH))]
            if all(torch.isfinite(tensor).all() for tensor in wanted):
                check_steps(low, found.inputs, found.outputs, others, wanted)
    lookups.check_whole_numbers(low.tracer, examples, vocabularies)
    return checked
