# SPDX-License-Identifier: MIT
"""The tables of rotary positions, with the bits that the compiler computes for a header: the same steps, in double, as
include/tinyattn/detail/sinusoids.hpp, rounded once."""
import array

LN_2, SQRT_2 = float.fromhex("0x1.62e42fefa39efp-1"), float.fromhex("0x1.6a09e667f3bcdp+0")
TWO_OVER_PI, TURN = float.fromhex("0x1.45f306dc9c883p-1"), float.fromhex("0x1.921fb54442d18p+2")
HALF_PI = float.fromhex("0x1.921fb544p+0"), float.fromhex("0x1.0b4611a626331p-34")  # in two parts


def alternating_series(term, divisor, square):
    total = term
    for _ in range(9):
        term *= -square / (divisor * (divisor + 1))
        total += term
        divisor += 2
    return total


def cosine_and_sine(angle):
    quarters = int(angle * TWO_OVER_PI + 0.5)
    x = angle - quarters * HALF_PI[0] - quarters * HALF_PI[1]
    cosine, sine = alternating_series(1.0, 1.0, x * x), alternating_series(x, 2.0, x * x)
    return ((cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine))[quarters % 4]


def logarithm(x):
    halvings = 0.0
    while x > SQRT_2:
        x, halvings = x / 2, halvings + 1
    ratio = (x - 1) / (x + 1)
    power, total = ratio, 0.0
    for i in range(1, 50, 2):
        total += power / i
        power *= ratio * ratio
    return 2 * total + halvings * LN_2


def exponential_of_minus(x):
    halved = term = total = 1.0
    while x > LN_2:
        x, halved = x - LN_2, halved / 2
    for i in range(1, 20):
        term *= -x / i
        total += term
    return total * halved


def frequency(base, pair, dim):
    return exponential_of_minus(logarithm(float(base)) * (2 * pair) / dim)


def tables(positions, dim, base):
    """Returns cosines and sines of p / base^(2 i / dim): a row of pairs i for each position p."""
    frequencies = [frequency(base, pair, dim) for pair in range(dim // 2)]
    rows = [[cosine_and_sine(p * each) for each in frequencies] for p in range(positions)]
    return tuple([array.array("f", (pair[kind] for pair in row)) for row in rows] for kind in (0, 1))


def speeds(dim, base):
    """Returns frequencies in turns, of which 2^64 are one, for positions without an end."""
    return [2 * int(frequency(base, pair, dim) / TURN * 2.0**63) for pair in range(dim // 2)]
