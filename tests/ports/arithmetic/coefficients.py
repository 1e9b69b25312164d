#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Derives the constants of tinyattn's exp, tanh, erf, gelu, gelu_tanh and log. Needs NumPy and mpmath (Debian: python3-numpy,
python3-mpmath), on a machine whose long double has 64 bits or more.

Each polynomial is a minimax fit, by Lawson's reweighted least squares; its error is measured in ulp of the result. The coefficients are
rounded to float one by one, the lowest first; each time the higher ones are fitted anew. They are printed as in the headers, the highest
first, with their error in exact arithmetic. tests/ports/arithmetic checks the claimed errors on every float.
"""
import itertools

import mpmath as mp
import numpy as np

mp.mp.dps = 30


def chebyshev_nodes(count):
    """Returns the Chebyshev nodes of [0, 1]."""
    return (1 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2


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


def fitted(x, target, weights, degree, first=()):
    """Returns the coefficients from the lowest on, which begin with the given `first`; and the worst error."""
    powers, coefficients = x[:, None] ** np.arange(degree + 1), list(first)
    while len(coefficients) <= degree:
        k = len(coefficients)
        scale = abs(x).max() ** np.arange(k, degree + 1)
        rest = target - powers[:, :k] @ np.array(coefficients)
        coefficients.append(rounded(minimax(powers[:, k:] / scale, rest, weights)[0] / scale[0]))
    return coefficients, (abs(powers @ np.array(coefficients) - target) * weights).max()


def show(name, coefficients, worst):
    print(f"{name}, {worst:.3f} ulp:", *(float(c).hex().replace("0000000p", "p") for c in coefficients[::-1]))


# exp: n = the integer nearest to x / ln 2,  r = x - n ln 2,  exp(x) = (1 + r (1 + r q(r))) 2^n,  all in float, each step one fma.
#
# In exact arithmetic the best q of degree 3 would err by 1.35 ulp, the best of degree 4 by 0.035. What limits the result then is not q but
# three roundings: of the last fma (0.5 ulp), of r and of 1 + r q (up to 0.35 ulp together, at the ends of the interval). So q is fitted
# with an error at the ends that is a tenth of the one in the middle. Of many sets of coefficients near this fit, the one with
# the least worst error, all roundings included, is chosen.
STEPS = np.array([2.0**-22, 2.0**-24, 2.0**-23, 2.0**-24])  # between candidates, for each coefficient but the first
# Inputs on which candidates had their worst error of all floats, found by exhaustive runs. They suffice to find the best candidate.
HARD = np.longdouble([float.fromhex(x) for x in "0x1.ab7a6cp+4 0x1.4cc980p+2 -0x1.76ce2cp+2 0x1.86f096p+5 -0x1.ab490ap+4".split()])
LN2 = np.log(np.longdouble(2))
LOG2_E, LN2_HIGH = rounded(1 / LN2), rounded(LN2)
LN2_LOW = rounded(LN2 - LN2_HIGH)


def fma(a, b, c):
    """Returns the fma of floats: their product is exact in a long double."""
    return np.longdouble(np.float32(np.longdouble(a) * b + c))


def worst_error(q):
    """Returns the worst error of exp over the inputs in HARD, in ulp."""
    n = np.rint(HARD * LOG2_E)
    r, exact = fma(n, -LN2_LOW, fma(n, -LN2_HIGH, HARD)), np.exp(HARD - n * LN2)
    power = q[-1]
    for coefficient in (*q[-2::-1], 1, 1):
        power = fma(power, r, coefficient)
    return max(abs(power - exact) * ulps_per_unit(exact.astype(float)))


t = 2 * chebyshev_nodes(240) - 1
r = t * float(LN2) / 2
weights = r**2 * ulps_per_unit(np.exp(r)) / (1 - 0.9 * abs(t))
first, *rest = fitted(r, table(lambda r: (mp.expm1(r) - r) / r**2, r), weights, 4, [0.5])[0]  # 0.5 is an immediate operand on Arm
candidates = ([first, *(rest + STEPS * moves)] for moves in itertools.product(range(-4, 5), repeat=4))
q = min(candidates, key=worst_error)
show("exp, on the hard inputs", q, worst_error(q))
print("1 / ln 2 =", LOG2_E.hex(), " ln 2 =", LN2_HIGH.hex(), LN2_LOW.hex())

nodes = chebyshev_nodes(300)
squares = nodes  # up to |x| = 1
x = np.sqrt(squares)
show("tanh", *fitted(squares, table(lambda x: (mp.tanh(x) / x - 1) / x**2, x), x**3 * ulps_per_unit(np.tanh(x)), 6))
show("erf", *fitted(squares, table(lambda x: mp.erf(x) / x - 1, x), x * ulps_per_unit(table(mp.erf, x)), 6))
# The middle of the far piece: the number k / 1024 whose erf is nearest to a float.
middle = min((2.25 + k / 1024 for k in range(512)), key=lambda x: abs(mp.erf(x) * 2**24 - mp.nint(mp.erf(x) * 2**24)))
x = 1 + 2.93 * nodes  # the distance to the middle is exact for these numbers
u, value = x - middle, rounded(mp.erf(middle))
show(f"far erf, {value.hex()} at {middle}", *fitted(u, table(lambda x: mp.erf(x) - mp.mpf(value), x) / u, 2.0**24 * abs(u), 14))
OFFSET = 3.5
v = nodes * 13.3 / (13.3 + OFFSET)
x = OFFSET * v / (1 - v)
tails = table(lambda x: -mp.ncdf(-x) * mp.exp(x**2 / 2), x) * x / v
show("gelu", *fitted(v, tails, 2.0**24 / abs(tails), 9))
LINEAR = mp.sqrt(8 / mp.pi)
for name, value, head in ("linear", LINEAR, float.fromhex("0x1.98845p0")), ("cubic", LINEAR * mp.mpf("0.044715"), None):
    head = head or rounded(value)
    print(f"gelu_tanh, {name}:", head.hex(), rounded(value - head).hex())
least, most = float(mp.sqrt(2) / 2) - 1, float(mp.sqrt(2)) - 1
f = least + (most - least) * nodes
show("log", *fitted(f, table(lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, f), abs(f) ** 3 * ulps_per_unit(abs(np.log1p(f))), 7))
short = int(LN2 * 2**15) / 2**15  # its product with an exponent is exact
print("log, ln 2 =", short.hex(), rounded(LN2 - short).hex())
