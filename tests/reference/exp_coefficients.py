#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Derives the constants of tinyattn::exp. Needs NumPy, on a machine whose long double has 64 bits or more.

    n = the integer nearest to x / ln 2,  r = x - n ln 2,  exp(x) = (1 + r (1 + r q(r))) 2^n,  all in float, each step one fma

In exact arithmetic the best q of degree 3 would err by 1.35 ulp, that of degree 4 by 0.035. What limits the result then is not q but
three roundings: of the last fma (0.5 ulp), of r and of 1 + r q (up to 0.35 ulp together, at the ends of the interval). So q is fitted
with a small error at the ends and a larger one in the middle. Of many sets of coefficients near this fit, the one with the least worst
error, all roundings included, is chosen. Only the inputs in HARD are evaluated; tests/arithmetic/exp.cpp checks every float.
"""
import itertools

import numpy as np

DEGREE = 4
STEPS = np.longdouble([2.0**-22, 2.0**-24, 2.0**-23, 2.0**-24])  # between candidates, for each coefficient but the first
REACH = range(-4, 5)

# Inputs on which candidates had their worst error of all floats, found by exhaustive runs. They suffice to find the best candidate.
HARD = np.longdouble([float.fromhex(x) for x in "0x1.ab7a6cp+4 0x1.4cc980p+2 -0x1.76ce2cp+2 0x1.86f096p+5 -0x1.ab490ap+4".split()])


def rounded(x):
    """Rounds to float."""
    return np.longdouble(np.float32(x))


def fma(a, b, c):
    """Returns the fma of floats: their product is exact in a long double."""
    return rounded(a * b + c)


LN2 = np.log(np.longdouble(2))
LOG2_E, LN2_HIGH = rounded(1 / LN2), rounded(LN2)
LN2_LOW = rounded(LN2 - LN2_HIGH)


def ulps_per_unit(r):
    """Returns one over the spacing of floats at exp(r)."""
    return np.where(r >= 0, 2**23, 2**24)


def fit(fixed):
    """Returns the coefficients of q after those that are fixed: a minimax fit by Lawson's reweighted least squares.

    The error is in ulp of exp(r), and weighted: at the ends of the interval it may only be a tenth of that in the middle.
    """
    nodes = -np.cos(np.pi * (np.arange(240) + np.longdouble(0.5)) / 240)
    r = nodes * LN2 / 2
    powers = r[:, None] ** np.arange(DEGREE + 1)
    target = (np.expm1(r) - r) / r**2 - powers[:, :len(fixed)] @ fixed
    weights = r**2 * ulps_per_unit(r) / (1 - np.longdouble(0.9) * abs(nodes))
    rows, wanted = (weights[:, None] * powers[:, len(fixed):]).astype(float), (weights * target).astype(float)
    shares, fits = np.ones(len(r)), []
    for _ in range(60):
        root = np.sqrt(shares)
        solution = np.linalg.lstsq(rows * root[:, None], wanted * root, rcond=None)[0]
        errors = abs(wanted - rows @ solution)
        fits.append((errors.max(), *solution))
        shares *= errors / errors.max()
    return min(fits)[1:]


def worst_error(q):
    """Returns the worst error of exp over the inputs in HARD, in ulp."""
    n = np.rint(HARD * LOG2_E)
    r, exact = fma(n, -LN2_LOW, fma(n, -LN2_HIGH, HARD)), np.exp(HARD - n * LN2)
    power = q[DEGREE]
    for coefficient in (*q[DEGREE - 1::-1], 1, 1):
        power = fma(power, r, coefficient)
    return max(abs(power - exact) * ulps_per_unit(exact - 1))


fitted = [rounded(0.5)]  # fixed: Arm has it as an immediate operand
while len(fitted) <= DEGREE:  # rounds the lowest; the next fit of those above compensates for it
    fitted.append(rounded(fit(fitted)[0]))
candidates = [[fitted[0], *(fitted[1:] + STEPS * moves)] for moves in itertools.product(REACH, repeat=DEGREE)]
q = min(candidates, key=worst_error)
for name, values in {"1 / ln 2": [LOG2_E], "ln 2": [LN2_HIGH, LN2_LOW], "q": q}.items():
    print(f"{name:<8} =", *(float(value).hex() for value in values))
print(f"worst of the hard inputs: {worst_error(q):.5} ulp")
