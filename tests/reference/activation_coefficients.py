#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Derives the constants of tinyattn's tanh, erf, gelu and gelu_tanh. Needs NumPy and mpmath (Debian: python3-numpy, python3-mpmath).

Each polynomial is a minimax fit, by Lawson's reweighted least squares; its error is measured in ulp of the result. The coefficients
are rounded to float one by one, the lowest first; each time the higher ones are fitted anew. They are printed as in the headers, the
highest first, with their error in exact arithmetic. tests/arithmetic checks the claimed error on every float.
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 30
NODES = (1 - np.cos(np.pi * (np.arange(300) + 0.5) / 300)) / 2  # Chebyshev nodes of [0, 1]


def rounded(x):
    """Rounds to float."""
    return float(np.float32(float(x)))


def table(function, points):
    return np.array([float(function(mp.mpf(x))) for x in points])


def ulps_per_unit(values):
    """Returns one over the spacing of floats at each value."""
    return 2.0 ** (23 - np.floor(np.log2(values)))


def minimax(powers, target, weights):
    shares, fits = np.ones(len(target)), []
    for _ in range(80):
        root = np.sqrt(shares)
        solution = np.linalg.lstsq(powers * (weights * root)[:, None], target * weights * root, rcond=None)[0]
        errors = abs(target - powers @ solution) * weights
        fits.append((errors.max(), *solution))
        shares *= errors / errors.max()
        shares /= shares.sum()
    return min(fits)[1:]


def fit(name, x, target, weights, degree):
    powers, coefficients = x[:, None] ** np.arange(degree + 1), []
    while len(coefficients) <= degree:
        k = len(coefficients)
        scale = abs(x).max() ** np.arange(k, degree + 1)
        rest = target - powers[:, :k] @ np.array(coefficients)
        coefficients.append(rounded(minimax(powers[:, k:] / scale, rest, weights)[0] / scale[0]))
    worst = (abs(powers @ np.array(coefficients) - target) * weights).max()
    print(f"{name}, {worst:.3f} ulp:", *(c.hex().replace("0000000p", "p") for c in coefficients[::-1]))


squares = NODES  # up to |x| = 1
x = np.sqrt(squares)
fit("tanh", squares, table(lambda x: (mp.tanh(x) / x - 1) / x**2, x), x**3 * ulps_per_unit(np.tanh(x)), 6)
fit("erf", squares, table(lambda x: mp.erf(x) / x - 1, x), x * ulps_per_unit(table(mp.erf, x)), 6)
# The middle of the far piece: of the numbers k / 1024, the one whose erf is nearest to a float.
middle = min((2.25 + k / 1024 for k in range(512)), key=lambda x: abs(mp.erf(x) * 2**24 - mp.nint(mp.erf(x) * 2**24)))
x = 1 + 2.93 * NODES  # of these numbers the distance to the middle is exact
u, value = x - middle, rounded(mp.erf(middle))
fit(f"far erf, {value.hex()} at {middle}", u, table(lambda x: mp.erf(x) - mp.mpf(value), x) / u, 2.0**24 * abs(u), 14)
OFFSET = 3.5
v = NODES * 13.3 / (13.3 + OFFSET)
x = OFFSET * v / (1 - v)
tails = table(lambda x: -mp.ncdf(-x) * mp.exp(x**2 / 2), x) * x / v
fit("gelu", v, tails, 2.0**24 / abs(tails), 9)
LINEAR = mp.sqrt(8 / mp.pi)
for name, value, head in ("linear", LINEAR, float.fromhex("0x1.98845p0")), ("cubic", LINEAR * mp.mpf("0.044715"), None):
    head = head or rounded(value)
    print(f"gelu_tanh, {name}:", head.hex(), rounded(value - head).hex())
