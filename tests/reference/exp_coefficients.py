#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Derives the constants of tinyattn::exp. Needs mpmath; takes about a minute.

    n = the integer nearest to x / ln 2,  r = x - n ln 2,  exp(x) = (1 + r (1 + r q(r))) 2^n,  all in float, each step one fma

In exact arithmetic the best q of degree 3 would err by 1.35 ulp, that of degree 4 by 0.035. What limits the result then is not q but
three roundings: of the last fma (0.5 ulp), of r and of 1 + r q (up to 0.35 ulp together, at the ends of the interval). So q is fitted
with little room at the ends and much in the middle, and the float neighbours of its coefficients are then searched for the set whose
worst error, all roundings included, is least. The search looks only at the inputs in HARD; tests/arithmetic/exp.cpp holds the result to
its claim on every float.
"""
import itertools

from mpmath import MPContext, cos, exp, lu_solve, matrix, mp, mpf, nstr, pi, sqrt

mp.prec = 120
float32 = MPContext()
float32.prec = 24
DEGREE = 4

# Inputs on which earlier candidates of this search were worst over all floats, found by exhaustive runs.
HARD = """
0x1.ab587ap+4 -0x1.77e4dep+2 -0x1.ab490ap+4 -0x1.76ce2cp+2 0x1.77c7f4p+2 -0x1.778dfep+2 -0x1.777032p+2 0x1.ab7a6cp+4 -0x1.86eec6p+5
0x1.4cc6b8p+2 -0x1.4cac22p+2 -0x1.4ca5cap+2 -0x1.b60fb8p+4 0x1.4cc578p+2 -0x1.4cb174p+2 -0x1.b60b9ep+4 0x1.4cbcb2p+2 -0x1.dfa646p+5
0x1.791938p+2 0x1.4ccb74p+2 -0x1.b601aap+4 -0x1.4ca06ep+2 0x1.4cc156p+2 -0x1.4ca32cp+2 0x1.4cc980p+2 -0x1.196b42p+6 0x1.4cb51ep+2
-0x1.4cb83ep+2 0x1.4ce7a6p+2 -0x1.4cbf7cp+2 0x1.4cbe12p+2 0x1.86ec5cp+5 0x1.52a222p+2 0x1.52d462p+2 0x1.86f096p+5 0x1.52b628p+2
0x1.52a7f6p+2 -0x1.b492e4p+4 0x1.52d1d6p+2 -0x1.def22ap+5
"""


def rounded(x):
    return +float32.mpf(x)


def fma(a, b, c):
    return float32.fdot((a, c), (b, 1))


LN2 = mp.ln2
LOG2_E, LN2_HIGH = rounded(1 / LN2), rounded(LN2)
LN2_LOW = rounded(LN2 - mpf(LN2_HIGH))


def ulps_per_unit(r):
    """One over the spacing of the floats at exp(r)."""
    return 2 ** (23 if r >= 0 else 24)


def fit(*fixed):
    """The coefficients of q behind those that are fixed: a minimax fit by Lawson's reweighted least squares.

    The error is in ulp of exp(r), and weighted so that at the ends of the interval only a tenth of the room in the middle is left.
    """
    nodes = [-cos(pi * (i + mpf(1) / 2) / 240) for i in range(240)]
    points = [node * LN2 / 2 for node in nodes]
    weights = [r**2 * ulps_per_unit(r) / (1 - mpf(0.9) * abs(node)) for r, node in zip(points, nodes)]
    rows = [[w * r**i for i in range(len(fixed), DEGREE + 1)] for w, r in zip(weights, points)]
    targets = [w * ((exp(r) - 1 - r) / r**2 - sum(c * r**i for i, c in enumerate(map(mpf, fixed)))) for w, r in zip(weights, points)]
    shares, fits = [mpf(1)] * len(points), []
    for _ in range(60):
        solution = lu_solve(matrix([[sqrt(share) * x for x in row] for share, row in zip(shares, rows)]),
                            matrix([sqrt(share) * target for share, target in zip(shares, targets)]))
        errors = [abs(target - sum(c * x for c, x in zip(solution, row))) for target, row in zip(targets, rows)]
        fits.append((max(errors), list(solution)))
        shares = [share * error / max(errors) for share, error in zip(shares, errors)]
    return min(fits)[1]


def reduce(x):
    """r as the library computes it, and exp(x) / 2^n."""
    to_integer = rounded(1.5 * 2**23)
    n = fma(x, LOG2_E, to_integer) - to_integer
    return fma(n, -LN2_LOW, fma(n, -LN2_HIGH, x)), exp(mpf(x) - mpf(n) * LN2)


INPUTS = [reduce(rounded(float.fromhex(x))) for x in HARD.split()]


def worst_error(coefficients, limit):
    """In ulp, over the inputs; stops when it passes the limit."""
    worst = 0
    for r, exact in INPUTS:
        power = coefficients[-1]
        for coefficient in (*coefficients[-2::-1], 1, 1):
            power = fma(power, r, coefficient)
        worst = max(worst, abs(mpf(power) - exact) * ulps_per_unit(exact - 1))
        if worst >= limit:
            break
    return worst


def climb(coefficients):
    """Moves all but the first coefficient by ever smaller steps, each some floats wide, while the worst error falls."""
    steps = (2.0**-26, 2.0**-28, 2.0**-27, 2.0**-28)
    worst = worst_error(coefficients, 9)
    for size in (128, 64, 32, 16, 8, 4, 2, 1):
        before = None
        while worst != before:
            before = worst
            for signs in itertools.product((-1, 0, 1), repeat=len(steps)):
                moved = [coefficients[0], *(c + sign * step * size for c, sign, step in zip(coefficients[1:], signs, steps))]
                if (error := worst_error(moved, worst)) < worst:
                    worst, coefficients = error, moved
    return worst, coefficients


q = [rounded(0.5)]  # stays as it is: Arm has it as an immediate
while len(q) <= DEGREE:  # the lowest is rounded first; those above make up for it
    q.append(rounded(fit(*q)[0]))
starts = [[q[0], q[1] + steps * 2.0**-26, *q[2:]] for steps in range(0, 18, 2)]
worst, q = min(map(climb, starts))
for name, values in {"1 / ln 2": [LOG2_E], "ln 2": [LN2_HIGH, LN2_LOW], "q": q}.items():
    print(f"{name:<8} =", *(float(value).hex() for value in values))
print(f"worst of the hard inputs: {nstr(worst, 5)} ulp")
