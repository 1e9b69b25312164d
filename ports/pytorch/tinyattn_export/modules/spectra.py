# SPDX-License-Identifier: MIT
"""Spectra of real samples: products with constant matrices of cosines and sines. A complex result is a pair."""
import math

import torch

from . import moves
from .composed import composed
from .table import Functions, lowers
from .values import Complex, Constant, Value


def waves(count, window=None):
    """Returns the Constants [samples, frequencies] of the cosines and sines of a real Fourier transform."""
    turns = torch.outer(torch.arange(count), torch.arange(count // 2 + 1)).remainder(count)
    angle = turns.double() * (2 * math.pi / count)
    window = torch.ones(count, 1) if window is None else window.reshape(-1, 1)
    return [Constant((wave(angle) * sign * window.double()).float(), f"{name}_of_{count}")
            for wave, sign, name in ((torch.cos, 1, "cosines"), (torch.sin, -1, "sines"))]


def transformed(f, frames, count, window=None, factor=1.0):
    return Complex(*(f.matmul(frames, Constant(wave.tensor * factor, wave.name)) for wave in waves(count, window)))


@composed("fft_rfft")
def rfft(f, input, n=None, dim=-1, norm=None):
    last = f.movedim(input, dim, -1)
    given, count = last.shape[-1], n or last.shape[-1]
    last = f.narrow(last, -1, 0, count) if count < given else f.pad(last, (0, count - given)) if count > given else last
    factor = {"ortho": count**-0.5, "forward": 1 / count}.get(norm, 1.0)
    return transformed(f, last, count, factor=factor).each(lambda part: f.movedim(part, -1, dim))


@composed("stft")
def stft(f, input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
         normalized=False, onesided=None, return_complex=None):
    if isinstance(window, Value) or onesided is False:
        f.low.refuse("stft of a window that depends on the input, or of both sides",
                     "take a constant window, and onesided")
    if center:
        padding = (n_fft // 2, n_fft // 2)
        rows = input if len(input.shape) > 1 else f.unsqueeze(input, 0)
        padded = f.squeeze(f.pad(f.unsqueeze(rows, 0), padding, pad_mode), 0)
        input = padded if len(input.shape) > 1 else f.squeeze(padded, 0)
    length = win_length or n_fft
    shape = torch.zeros(n_fft)
    begin = (n_fft - length) // 2
    shape[begin:begin + length] = 1.0 if window is None else window.tensor.float()
    frames = f.unfold(input, -1, n_fft, hop_length or n_fft // 4)
    found = transformed(f, frames, n_fft, shape, n_fft**-0.5 if normalized else 1.0)
    found = found.each(lambda part: f.transpose(part, -1, -2))
    return found if return_complex else view_as_real(f, found)


@composed("view_as_real")
def view_as_real(f, input):
    return f.stack([input.real, input.imag], -1)


@composed("view_as_complex")
def view_as_complex(f, input):
    return Complex(f.select(input, -1, 0), f.select(input, -1, 1))


COMPLEX = {  # what functions make of a Complex
    "abs": lambda f, z: f.sqrt(f.add(f.square(z.real), f.square(z.imag))), "real": lambda f, z: z.real,
    "imag": lambda f, z: z.imag, "view_as_real": view_as_real,
    "conj": lambda f, z: Complex(z.real, f.neg(z.imag))}


@lowers("of_complex")
def of_complex(low, name, z, *args, **kwargs):
    """Returns what a function or method makes of a Complex."""
    if name == "mul" and not isinstance(z, Complex):
        z, args = args[0], [z]
    f = Functions(low)
    if name in ("absolute", "linalg_vector_norm"):
        name = "abs"
    if name in COMPLEX:
        return COMPLEX[name](f, z)
    if name == "mul" and isinstance(args[0], Constant) and args[0].tensor.is_complex():
        args = [Complex(*(Constant(part, f"{args[0].name}_{of}") for part, of in ((args[0].tensor.real, "real"),
                                                                                (args[0].tensor.imag, "imag"))))]
    if name == "mul" and isinstance(args[0], Complex):
        other = args[0]
        return Complex(f.sub(f.mul(z.real, other.real), f.mul(z.imag, other.imag)),
                       f.add(f.mul(z.real, other.imag), f.mul(z.imag, other.real)))
    if name not in moves.MOVES | {"mul", "truediv", "contiguous", "resolve_conj"} or any(
            isinstance(each, Complex) for each in args):
        low.refuse(f"{name} of complex numbers", "take their .abs(), .real or .imag")
    return z.each(lambda part: getattr(f, name)(part, *args, **kwargs))
