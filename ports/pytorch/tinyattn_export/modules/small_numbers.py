# SPDX-License-Identifier: MIT
"""Where small numbers matter: the library's softmax is 0 below e^-69, its sigmoid below e^-86, and erfc is 1 - erf."""
import torch

from . import moves
from .elementwise import number_of
from .table import name_of

HANDS_ON = moves.MOVES | frozenset((
    "mul neg negative abs relu where masked_fill setitem copy cat concat stack sum mean prod amax amin maximum minimum "
    "add sub rsub matmul bmm mm einsum lerp cumsum tril triu pad dropout clone contiguous detach float to "
    "type_as tanh gelu silu").split())
HIDES = frozenset((  # behind these, what differs by 1e-30 is one
    "linear layer_norm group_norm batch_norm rms_norm conv1d conv2d embedding softmax log_softmax exp sigmoid cos "
    "scaled_dot_product_attention").split())
FIRST_OF_ALL = ("argmax", "max")
SMALL = 1e-20  # much more than what softmax takes for 0


def hides(tracer, user, name, is_whole):
    """Whether a step tells no number that is below 1e-30 from 0. `is_whole`: of all that sums to 1."""
    if user.op in ("output", "call_module") or name in HIDES or is_whole and name in FIRST_OF_ALL:
        return True
    others = [tracer.value(each) if isinstance(each, torch.fx.Node) and each.op == "get_attr" else each
              for each in (*user.args[1:2], *user.kwargs.values())]
    others = [each if isinstance(each, torch.Tensor) else torch.tensor(float(each)) for each in others
              if isinstance(each, (bool, int, float, torch.Tensor))]
    has_limit = name in ("add", "sub", "rsub", "lt", "le", "gt", "ge", "clamp", "clamp_min", "clip", "maximum")
    return has_limit and len(others) > 0 and all((each.abs() > SMALL).all() for each in others)


def hands_on(tracer, user, name, node):
    """Whether a result of a step is small where this one is, and no other."""
    if getattr(tracer.value(user), "dtype", None) == torch.bool:
        return False
    is_divided = name == "truediv" and user.args[0] is node and user.args[1:2] != (node,)
    return is_divided or name in HANDS_ON or name == "pow" and (number_of(*user.args[1:2] or [None]) or 0) >= 1


def matter(tracer, node, is_whole=True):
    """Whether a later step may tell small numbers of a result from 0, as a logarithm, a quotient or a comparison do."""
    waiting, seen = [node], set()
    while waiting:
        node = waiting.pop()
        for user in node.users:
            name = name_of(user)
            if hides(tracer, user, name, is_whole):
                continue
            if not hands_on(tracer, user, name, node):
                return True
            waiting += [user] * (user not in seen)
            seen.add(user)
        is_whole = False
    return False


def is_measured(node):
    """Whether a step takes the logarithm of a result, or divides by it."""
    return any(name_of(user) in ("log", "log2", "log10", "reciprocal") or name_of(user) == "truediv" and
               user.args[1:2] == (node,) for user in node.users)
