# SPDX-License-Identifier: MIT
"""Products, masks and scaled dot-product attention: for each head, over views of its columns."""
import dataclasses
import math

import torch

from .elementwise import mapped, number_of
from .layout import literal
from .table import Functions, lowers
from .values import Addends, Constant, Operand, Rows, Value, numbered, operand_of

LARGEST = torch.finfo(torch.float32).max


def loop(low, function, operands, writes, *more):
    """Adds a call for each matrix of a batch. `operands`: {name in C++: Rows}; the last is written, and behind more."""
    count = max(rows.count for rows in operands.values())
    parts = [f"for (std::size_t i = 0; i < {count}; ++i) {{\n"]
    for name, rows in operands.items():
        constant = "" if rows.object is writes else "const "
        head, tail = rows.view("\0", "i").split("\0")
        parts += [f"  {constant}auto {name} = {head}", Operand(rows.object, rows.object.extents), f"{tail};\n"]
    *names, out = operands
    (*rows, last), arguments = operands.values(), ", ".join([*names, *more, out])
    return low.program.add(*parts, f"  tinyattn::{function}({arguments});\n", "}", writes=writes,
                           call=(function, [*rows, *more, last]))


def single(rows):
    """Returns the Operand of Rows that are one matrix."""
    extents = rows.object.extents
    if rows.offset == 0 and rows.stride == rows.cols and extents in ((rows.rows, rows.cols), (rows.cols,)):
        return Operand(rows.object, extents)
    return Operand(rows.object, (rows.rows, rows.cols), rows.stride, rows.offset)


@lowers("matmul", "bmm", "mm")
def product(low, input, other):
    """Computes input @ other. A matrix that lies transposed is read so."""
    a, b = low.check_floats(input), low.check_floats(other)
    if a.view.dim() == 1:
        result = product(low, Value(a.object, a.view[None]), b)
        return Value(result.object, result.view[..., 0, :] if b.view.dim() > 1 else result.view[0])
    if b.view.dim() == 1:
        result = product(low, a, Value(b.object, b.view[:, None]))
        return Value(result.object, result.view[..., 0])
    transposed = b.view.stride(-1) != 1 and b.view.shape[-1] != 1
    leading = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    left, right = low.matrices_of(a, leading=leading), low.matrices_of(b, transposed, leading)
    function, count = "matmul_transposed" if transposed else "matmul", left.count
    cols = right.rows if transposed else right.cols
    if math.prod(b.shape[:-2]) == 1:
        x, y = operand_of(a) if count > 1 else single(left), single(low.matrices_of(b, transposed))
        x = x and (x if len(x.extents) < 3 else x.with_columns(x.extents[-1]))
    if count == 1 or math.prod(b.shape[:-2]) == 1 and x:
        object = low.call(function, x, y, extents=(*x.extents[:-1], cols))
        return Value(object, numbered((*leading, left.rows, cols)))
    lies_so = not transposed and 0 < right.step <= right.stride
    object, result, rows = (contexts_of(low, right, count, left.rows, cols, leading) if lies_so
                            else heads_of(low, count, left.rows, cols, leading))
    loop(low, function, {"left_of_head": left, "right_of_head": right, "product_of_head": rows}, object)
    return result


def heads_of(low, count, rows, cols, leading):
    """Returns a new object for a matrix of each head, one after the other, its Value, and its Rows."""
    object = low.program.activation(low.name(), (*(extent for extent in leading if extent != 1), rows, cols))
    value = Value(object, numbered((*leading, rows, cols)))
    return object, value, Rows(object, ((count, rows * cols),), rows, cols, cols, 0)


def contexts_of(low, like, count, rows, cols, leading):
    """Returns the same of contexts, which lie next to each other in each row if the heads of `like` do."""
    if like.step > like.stride:
        return heads_of(low, count, rows, cols, leading)
    object = low.program.activation(low.name(), (rows, count * cols))
    view = numbered((rows, count, cols)).permute(1, 0, 2).view(*leading, rows, cols)
    return object, Value(object, view), Rows(object, ((count, cols),), rows, cols, count * cols, 0)


@lowers("masked_fill")
def masked_fill(low, input, mask, value):
    number = number_of(value)
    shape = torch.broadcast_shapes(input.shape, mask.shape)
    if isinstance(mask, Value) or number is None or (
            abs(number) > LARGEST and number != -math.inf or input.shape != shape):
        return mapped(low, "select", mask, value, input)
    input = low.check_floats(input)
    operand, view = low.elements_of(input)
    if operand.stride is not None:
        operand, view = low.elements_of(low.copied(input))
    full = mask.tensor.bool().expand(input.shape).permute(Value(operand.object, view).order())
    full = full.reshape(operand.extents)
    tail = full[(0,) * (full.dim() - 2)] if full.dim() > 2 else full
    if not torch.equal(full, tail.expand_as(full)):
        tail = full
    name = low.members.mask("tinyattn::Tensor<bool, ", tail, low.name() + "_where")
    filled = "-std::numeric_limits<float>::infinity()" if number == -math.inf else None
    return Value(low.call("masked_fill", operand, name, filled or literal(number), extents=operand.extents,
                          in_place=[operand]), view)


# --- Masks of attention ---


class Mask:
    """What masks keys: whether query i attends to keys 0 .. i only, and a mask of a type of its own, text or Addends,
    or None."""

    def __init__(self, causal=False, own=None):
        self.causal, self.own = causal, own

    def argument(self, causal_layer):
        if self.own is not None:
            return self.own
        return "tinyattn::Causal{}" if self.causal and not causal_layer else None

    def arguments(self, argument):
        """Returns the arguments of a step for this mask. A function returns `argument` once all calls are known."""
        def text():
            found = argument()
            return f"{found}, " if found and not isinstance(found, Addends) else ""
        return [text, self.own] if isinstance(self.own, Addends) else [text]


def mask_of(low, tensor, padding, is_causal, queries, keys, true_is_masked, count=1):
    """Returns the Mask of an attn_mask and a key_padding_mask, each a Constant or None. `count`: of heads and batch
    elements, which may have masks of their own where a loop over them calls attention."""
    if isinstance(padding, Value):
        return mask_of_input(low, padding, mask_of(low, tensor, None, is_causal, queries, keys, true_is_masked), keys)
    full, causal = torch.zeros(queries, keys), torch.full((queries, keys), -math.inf).triu(1)
    for mask in (tensor, padding):
        if not isinstance(mask, (Constant, type(None))):
            low.refuse("a mask that depends on the input", "make the mask of constants, or call the layer in C++")
    if tensor:
        full = additive(low, tensor.tensor, not true_is_masked, queries, keys, count)
    if is_causal and tensor and not torch.equal(full, causal):
        low.refuse("is_causal=True with a mask that is not causal", "leave is_causal out: PyTorch takes the one or the "
                   "other")
    if is_causal and not tensor:
        full = causal
    if padding:
        full = full + additive(low, padding_row(low, padding.tensor), False, queries, keys)
    if full.dim() > 2:
        only_masks = (full == 0).logical_or(full == -math.inf).all()
        kind, full = ("BlockMask", full == -math.inf) if only_masks else ("AdditiveMask", full)
        name = low.members.mask(f"tinyattn::{kind}<", full, low.name() + "_masks")
        return Mask(own=f"{name}[i{f' % {len(full)}' if len(full) < count else ''}]")
    if not (full == 0).logical_or(full == -math.inf).all():
        return Mask(own=low.members.mask("tinyattn::AdditiveMask<", rows_or_one(full), low.name() + "_mask"))
    return of_masked(low, full == -math.inf)


def mask_of_input(low, padding, other, keys):
    """Returns the Mask of a key_padding_mask that depends on the input, together with another Mask, which may be
    causal."""
    if other.own:
        low.refuse("a padding mask that depends on the input with a mask that is not causal", "give one of them")
    if padding.view.numel() != keys:
        low.refuse("a padding mask of its own for each batch element", "take one mask for all, or several inputs")
    key = (padding.object, padding.view.shape, padding.view.stride(), padding.offset, padding.dtype)
    if key not in low.copies:
        added = mapped(low, "select", padding, -math.inf, 0.0) if padding.dtype == torch.bool else padding
        fits = added.object.extents == (keys,) and added.is_whole()
        low.copies[key] = added if fits else low.copied(added, (keys,))
    return Mask(other.causal, Addends(low.copies[key].object, (keys,)))


def padding_row(low, tensor):
    """Returns the padding mask of each batch element, which must be the same for all."""
    row = rows_or_one(tensor.reshape(-1, tensor.shape[-1]))
    if row.dim() > 1:
        low.refuse("a padding mask of its own for each batch element", "take one mask for all, or several inputs")
    return row


def additive(low, tensor, inverted, queries, keys, count=1):
    flat = tensor.reshape(-1, *tensor.shape[-2:]) if tensor.dim() > 2 else tensor
    if flat.dim() > 2:
        alike = torch.equal(flat, flat[:1].expand_as(flat))
        if not alike and count % len(flat):
            low.refuse("a mask of its own for each head or batch element", "take one mask for all")
        flat = flat[0] if alike else flat
    if flat.dtype in (torch.bool, torch.uint8):
        flat = flat.bool()
        masked = ~flat if inverted else flat
        flat = torch.zeros(masked.shape).masked_fill(masked, -math.inf)
    return flat.float().expand(*flat.shape[:-2], queries, keys)


def of_masked(low, masked):
    above = torch.ones_like(masked).triu(1)
    if not masked.any():
        return Mask()
    if torch.equal(masked, above):
        return Mask(causal=True)
    last = masked[-1:].expand_as(masked)
    if torch.equal(masked, above | last):
        return Mask(True, low.members.mask("tinyattn::BlockMask<", last[0], low.name() + "_mask"))
    return Mask(own=low.members.mask("tinyattn::BlockMask<", rows_or_one(masked), low.name() + "_mask"))


def written_out(low, found):
    """Computes attention that the module writes as two products and a softmax."""
    query, key, value = (low.check_floats(low.values[node]) for node in (found.query, found.key, found.value))
    mask = None
    if found.mask is not None:
        mask = low.values[found.mask]
        mask = Constant(~mask.tensor.bool(), mask.name) if found.is_filled else mask
    key = Value(key.object, key.view.transpose(-1, -2))
    if not math.isclose(found.factor, 1, rel_tol=1e-6):
        query = low.elementwise(query, "multiply", literal(found.factor))
    return scaled_dot_product(low, query, key, value, mask, False, None)


def rows_or_one(mask):
    return mask[0] if torch.equal(mask, mask[:1].expand_as(mask)) else mask


def scaled_dot_product(low, query, key, value, mask, is_causal, scale, shares_keys=False):
    query, key, value = map(low.check_floats, (query, key, value))
    width, leading = query.shape[-1], query.shape[:-2]
    if not shares_keys and query.view.dim() > 1:
        leading = torch.broadcast_shapes(leading, key.shape[:-2], value.shape[:-2])
    if leading != query.shape[:-2]:
        query = low.copied(Value(query.object, query.view.expand(*leading, *query.shape[-2:])))
    if isinstance(mask, Constant):
        leading = query.shape[:-2] if mask.tensor.dim() > 2 else ()
        mask = Constant(mask.tensor.expand(*leading, query.shape[-2], key.shape[-2]), mask.name)
    elif mask is not None:
        f = Functions(low)
        scores = f.mul(f.matmul(query, f.transpose(key, -1, -2)), width**-0.5 if scale is None else scale)
        scores = (f.masked_fill(scores, f.logical_not(mask), -math.inf) if mask.dtype == torch.bool else
                  f.add(scores, mask))
        return f.matmul(f.softmax(scores, -1), value)
    if scale is not None and not math.isclose(scale, width**-0.5, rel_tol=1e-6):
        query = low.elementwise(query, "multiply", literal(scale * width**0.5))
    q, k, v = map(low.matrices_of, (query, key, value))
    if shares_keys:
        k, v = (dataclasses.replace(rows, leading=(*rows.leading, (q.count // rows.count, 0))) for rows in (k, v))
    count = max(rows.count for rows in (q, k, v))
    if any(rows.count not in (1, count) for rows in (q, k, v)):
        low.refuse("other numbers of heads for queries and keys", "repeat the keys, or call the layer in C++")
    causal_mask = mask_of(low, mask, None, is_causal, q.rows, k.rows, true_is_masked=False, count=count)
    if causal_mask.causal and causal_mask.own:
        low.refuse("a causal mask together with another", "give one mask")
    text = causal_mask.argument(False) or "tinyattn::NoMask{}"
    if count == 1:
        operands = [single(rows) for rows in (q, k, v)]
        extents = *operands[0].extents[:-1], v.cols
        object = low.call("scaled_dot_product_attention", *operands, text, extents=extents)
        return Value(object, numbered((*query.shape[:-1], v.cols)))
    object, result, rows = contexts_of(low, q, count, q.rows, v.cols, query.shape[:-2])
    loop(low, "scaled_dot_product_attention",
         {"query_of_head": q, "key_of_head": k, "value_of_head": v, "context_of_head": rows}, object, text)
    return result
