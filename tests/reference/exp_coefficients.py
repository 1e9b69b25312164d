#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Derives the constants of tinyattn::exp. Needs Python 3 and mpmath, nothing else; takes a quarter of a minute.
#
#   n = the integer nearest to x / ln 2,  r = x - n ln 2,  exp(x) = (1 + r (1 + r q(r))) 2^n,  all in float, each step one fma
#
# What limits the result is not q but three roundings: of the last fma (0.5 ulp), of r and of 1 + r q (up to 0.35 ulp
# together, at the ends of the interval). So q is fitted with little room at the ends and much in the middle, and the
# float neighbours of its coefficients are then searched for the set whose worst error, all roundings included, is least.
# The search looks only at the inputs in `hard`; tests/arithmetic/exp.cpp holds the result to its claim on every float.
import itertools
import struct

from mpmath import cos, exp, log, lu_solve, matrix, mp, mpf, nstr, pi

mp.prec = 120

# Inputs on which earlier candidates of this search were worst over all floats, found by exhaustive runs.
hard = """
0x1.ab587ap+4 -0x1.77e4dep+2 -0x1.ab490ap+4 -0x1.76ce2cp+2 0x1.77c7f4p+2 -0x1.778dfep+2 -0x1.777032p+2 0x1.ab7a6cp+4
-0x1.86eec6p+5 0x1.4cc6b8p+2 -0x1.4cac22p+2 -0x1.4ca5cap+2 -0x1.b60fb8p+4 0x1.4cc578p+2 -0x1.4cb174p+2 -0x1.b60b9ep+4
0x1.4cbcb2p+2 -0x1.dfa646p+5 0x1.791938p+2 0x1.4ccb74p+2 -0x1.b601aap+4 -0x1.4ca06ep+2 0x1.4cc156p+2 -0x1.4ca32cp+2
0x1.4cc980p+2 -0x1.196b42p+6 0x1.4cb51ep+2 -0x1.4cb83ep+2 0x1.4ce7a6p+2 -0x1.4cbf7cp+2 0x1.4cbe12p+2 0x1.86ec5cp+5
0x1.52a222p+2 0x1.52d462p+2 0x1.86f096p+5 0x1.52b628p+2 0x1.52a7f6p+2 -0x1.b492e4p+4 0x1.52d1d6p+2 -0x1.def22ap+5
"""

interval_end = log(2) / 2


def to_float(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def neighbour(x, steps):
    """The float `steps` places away from x > 0."""
    bits = struct.unpack("I", struct.pack("f", x))[0]
    return struct.unpack("f", struct.pack("I", bits + steps))[0]


def hexadecimal(x):
    """The shortest hexadecimal literal of a float."""
    mantissa, exponent = x.hex().split("p")
    return mantissa.rstrip("0").rstrip(".") + "p" + exponent + "f"


def fma(a, b, c):
    """Float fma: the product is exact in double, the sum is rounded to odd there and then once to float."""
    product = a * b
    total = product + c
    back = total - product
    rest = (product - (total - back)) + (c - back)
    bits = struct.unpack("q", struct.pack("d", total))[0]
    if rest != 0 and bits % 2 == 0:
        total = struct.unpack("d", struct.pack("q", bits + (1 if (rest > 0) == (total > 0) else -1)))[0]
    return to_float(total)


def ulps_per_unit(r):
    """One over the spacing of the floats at exp(r)."""
    return mpf(2) ** (23 if r >= 0 else 24)


def quotient(r):
    """What q approximates: (exp(r) - 1 - r) / r^2."""
    return (exp(r) - 1 - r) / r**2


def fit(degree, room_at_the_ends, fixed=()):
    """Minimax fit of q by Lawson's reweighted least squares; `fixed` holds leading coefficients that are already floats.

    The error, in ulp of exp(r), is weighted so that at the ends of the interval only `room_at_the_ends` of the room in
    the middle is left. Returns the coefficients that are not fixed, and the largest error in ulp.
    """
    points = [-interval_end * cos(pi * (i + mpf(1) / 2) / 240) for i in range(240)]
    slope = 1 - mpf(room_at_the_ends)
    ulps = [r * r * ulps_per_unit(r) for r in points]
    weights = [u / (1 - slope * abs(r) / interval_end) for u, r in zip(ulps, points)]
    targets = [quotient(r) - sum(c * r**i for i, c in enumerate(fixed)) for r in points]
    powers = [[r**i for i in range(len(fixed), degree + 1)] for r in points]
    unknowns = degree + 1 - len(fixed)
    shares = [mpf(1)] * len(points)
    best = None
    for _ in range(60):
        normal, right = matrix(unknowns, unknowns), matrix(unknowns, 1)
        for share, weight, power, target in zip(shares, weights, powers, targets):
            for i in range(unknowns):
                right[i] += share * weight**2 * power[i] * target
                for j in range(unknowns):
                    normal[i, j] += share * weight**2 * power[i] * power[j]
        solution = list(lu_solve(normal, right))
        differences = [abs(t - sum(c * p for c, p in zip(solution, power))) for t, power in zip(targets, powers)]
        errors = [d * w for d, w in zip(differences, weights)]
        if best is None or max(errors) < best[0]:
            best = max(errors), solution, max(d * u for d, u in zip(differences, ulps))
        total = sum(s * e for s, e in zip(shares, errors))
        shares = [s * e / total for s, e in zip(shares, errors)]
    return best[1], best[2]


def rounded_fit(degree, room_at_the_ends, first):
    """Rounds one coefficient after the other, the lowest first; those above make up for it."""
    coefficients = [first]
    while len(coefficients) <= degree:
        solution, _ = fit(degree, room_at_the_ends, coefficients)
        coefficients.append(to_float(solution[0]))
    return coefficients


log2_e = to_float(1 / log(2))
ln2_high = to_float(log(2))
ln2_low = to_float(log(2) - mpf(ln2_high))
round_to_integer = 1.5 * 2**23


def reduce(x):
    """r as the library computes it, exp(x) / 2^n, and how many ulp a unit has there."""
    n = fma(x, log2_e, round_to_integer) - round_to_integer
    r = fma(n, -ln2_low, fma(n, -ln2_high, x))
    exact = exp(mpf(x) - mpf(n) * log(2))
    return r, float(exact), 2.0 ** (23 if exact >= 1 else 24)


def worst_error(coefficients, inputs, limit):
    """In ulp, over the inputs; stops when it passes the limit."""
    worst = 0.0
    for r, exact, scale in inputs:
        q = coefficients[-1]
        for coefficient in coefficients[-2::-1]:
            q = fma(q, r, coefficient)
        worst = max(worst, abs(fma(r, fma(r, q, 1.0), 1.0) - exact) * scale)
        if worst >= limit:
            break
    return worst


def climb(coefficients, inputs):
    """Moves all but the first coefficient by ever smaller steps while the worst error falls."""
    steps = (1, 1, 8, 32)  # floats: about the same change of q for each coefficient
    worst = worst_error(coefficients, inputs, 9)
    for size in (128, 64, 32, 16, 8, 4, 2, 1):
        improved = True
        while improved:
            improved = False
            for move in itertools.product((-1, 0, 1), repeat=len(steps)):
                moved = [neighbour(c, m * s * size) for c, m, s in zip(coefficients[1:], move, steps)]
                candidate = [coefficients[0]] + moved
                error = worst_error(candidate, inputs, worst)
                if error < worst:
                    worst, coefficients, improved = error, candidate, True
    return worst, coefficients


def search():
    """The best of nine climbs. 0.5 stays as it is: Arm has it as an immediate."""
    inputs = [reduce(float.fromhex(x)) for x in hard.split()]
    start = rounded_fit(4, 0.1, 0.5)
    starts = [[start[0], neighbour(start[1], steps)] + start[2:] for steps in range(0, 18, 2)]
    return min((climb(s, inputs) for s in starts), key=lambda result: result[0])


def main():
    for degree in (3, 4, 5):
        _, error = fit(degree, 1)
        print(f"q of degree {degree} in exact arithmetic: {nstr(error, 3)} ulp")
    print("log2_e   =", hexadecimal(log2_e), "  1 / ln 2, to nearest")
    print("ln2_high =", hexadecimal(ln2_high), "  ln 2, to nearest: x - n ln2_high is exact in one fma")
    print("ln2_low  =", hexadecimal(ln2_low), "  ln 2 - ln2_high, to nearest")
    worst, coefficients = search()
    for power, coefficient in enumerate(coefficients):
        print(f"q[{power}]     =", hexadecimal(coefficient))
    print(f"worst of the hard inputs: {worst:.5f} ulp")


if __name__ == "__main__":
    main()
