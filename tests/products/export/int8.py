# SPDX-License-Identifier: MIT
"""Tests the bits of int8 weights: codes and scales agree with exact fractions, all else stays float,
and the report states the loss of each matrix."""
import array
import fractions
import random
import re
import struct
import time
import zlib

from ports.pytorch.tinyattn_export import int8
from tests.products.export import exporter
from tests.products.export.files import safetensors
from tests.products.export.models import STORED
from tests.support import tap
from tests.support.tap import in_folder

SECONDS = 2.0  # of processor time, for 524,288 weights
TINY, SMALL = 2.0**-149, 2.0**-126
# Weights of an output, then its scale and codes, computed by hand.
BY_HAND = [
    ([1.0, -1.0, 0.0, -0.0], "3c010204", [255, 1, 128, 128]),
    ([127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5], "3f800000", [255, 128, 130, 130, 128, 126, 126]),
    ([-254.0, 1.0, 3.0, -3.0], "40000000", [1, 128, 130, 126]),
    ([0.0, -0.0], "3f800000", [128, 128]),
    ([3.4028234663852886e38, -3.4028234663852886e38], "7c010204", [255, 1]),
    ([127 * SMALL, SMALL], "00800000", [255, 129]),
    ([100 * TINY, -TINY], "00000001", [228, 127]),  # the scale is rounded up a lot
    ([190 * TINY, -190 * TINY, TINY], "00000001", [255, 1, 129]),  # the scale is rounded down: codes are clamped
    ([63 * TINY, -TINY], "3f800000", [128, 128]),  # the scale is rounded to zero: no weights
    ([0.127] * 17, "3a83126f", [255] * 17),
]


def float32(value):
    """Rounds a fraction to the nearest float32, ties to even."""
    if not value:
        return value
    exponent = -149
    while value / fractions.Fraction(2)**exponent >= 2**24:
        exponent += 1
    return round(value / fractions.Fraction(2)**exponent) * fractions.Fraction(2)**exponent


def double(value):
    return fractions.Fraction(float(value))  # correctly rounded


def exact(weights):
    """Returns the scale and the codes of an output, by exact fractions: each quotient is rounded to double, as the rule
    says."""
    weights = [fractions.Fraction(weight) for weight in weights]
    scale = float32(double(max(map(abs, weights)) / 127)) or fractions.Fraction(1)
    return scale, [128 + min(max(round(double(weight / scale)), -127), 127) for weight in weights]


def by_hand():
    for weights, scale, codes in BY_HAND:
        (found,), scales, _ = int8.quantize([weights])
        padded = codes + [128] * (-len(codes) % 16)
        if [scales.tolist(), list(found)] != [[of_bits(scale)], padded]:
            return f"{weights}: {scales} {found}"
    return ""


def of_bits(text):
    return struct.unpack(">f", bytes.fromhex(text))[0]


def of_random_bits():
    """Compares rows of random bits, with one exponent or any, and rows whose quotients are near a half."""
    generator = random.Random(7)
    for _ in range(2000):
        base, spread = generator.randrange(1, 250), generator.choice((1, 4, 250))
        bits = [generator.getrandbits(23) | min(base + generator.randrange(spread), 254) << 23
                | generator.getrandbits(1) << 31 for _ in range(generator.randint(1, 40))]
        weights = list(struct.unpack(f"<{len(bits)}f", struct.pack(f"<{len(bits)}I", *bits)))
        step = max(map(abs, weights)) / 127
        halves = [(generator.randint(-127, 126) + 0.5) * step for _ in range(9)]
        weights += struct.unpack("<9f", struct.pack("<9f", *halves))
        (found,), scales, _ = int8.quantize([weights])
        scale, codes = exact(weights)
        if scales[0] != scale or list(found[:len(codes)]) != codes:
            return f"{weights}: {scales} {found}, not {float(scale)} {codes}"
    return ""


# --- What the exporter writes ---


@in_folder
def written(folder, name):
    """Checks the CRC and the report of a case of models.toml. headers.py checks what it computes."""
    weights = folder / "a.safetensors"
    weights.write_bytes(safetensors(STORED[name].tensors))
    arguments = exporter.arguments_of(STORED[name], folder)
    report = exporter.must_run(weights, "-o", folder / "a.hpp", "--binary", folder / "a.bin", *arguments)
    exporter.must_run(weights, "-o", folder / "b.hpp", *arguments)
    exporter.must_run(weights, "-o", folder / "f.hpp", "--binary", folder / "f.bin", *arguments, "--weights", "f32", "--cache", "f32")
    header, codes = ((folder / file).read_text() for file in ("a.hpp", "b.hpp"))
    binary, size = (folder / "a.bin").read_bytes(), (folder / "f.bin").stat().st_size
    lost = [float(error) for error in re.findall(r": largest error (\S+) steps", report)]
    wrong = {
        "not the CRC of the binary": f"crc_32 = {zlib.crc32(binary):#010x};" not in header,
        "the report": f"  {len(binary)} bytes, with weights of floats {size}\n" not in report,
        "the errors": len(lost) != codes.count(".code = ") or not all(0.1 < error <= 0.501 for error in lost)}
    return "; ".join(what for what, found in wrong.items() if found)


@in_folder
def parts_of_each_kind(folder):
    """Checks that --weights is the default of all parts that have weights, and that a part can override it."""
    tensors = {"a.weight": ("F32", (2, 3), struct.pack("<6f", 1, 2, 3, -4, 5, 127)),
               "a.bias": ("F32", (2,), struct.pack("<2f", 0.5, -1))}
    (folder / "a.safetensors").write_bytes(safetensors(tensors))
    (folder / "p.toml").write_text("[x]\nlinear = 'a'\n[y]\ntensor = 'a.weight'\n[z]\nlinear = 'a'\nweights = 'f32'\n")
    status, _, errors = exporter.run(folder / "a.safetensors", "-o", folder / "a.hpp", "--parts", folder / "p.toml",
                                     "--weights", "int8", "--binary", folder / "a.bin")
    codes = [[170, 213, 255], [124, 133, 255]]
    own = b"".join(bytes(row).ljust(16, b"\x80") for row in codes)
    own += struct.pack("<2f", 3 / 127, 1) + tensors["a.bias"][2]
    floats = tensors["a.weight"][2] + struct.pack("<6f", 1, -4, 2, 5, 3, 127) + tensors["a.bias"][2]
    header = (folder / "a.hpp").read_text()
    types = ("Linear<3, 2, true, ::tinyattn::Weights::int8> x;", "Linear<3, 2, true> z;", "offsetof(Weights, y) == 48")
    is_right = (folder / "a.bin").read_bytes() == own + floats and all(text in header for text in types)
    return errors or ("" if status == 0 and is_right else header)


def quick():
    weights = [array.array("f", range(-9, 1015))] * 512
    start = time.thread_time()
    int8.quantize(int8.transposed(weights))
    seconds = time.thread_time() - start
    return "" if seconds < SECONDS else f"{seconds} s"


tap.report([
    ("by hand", by_hand), ("of random bits", of_random_bits),
    *((f"what is written: {name}", written, name) for name in STORED if name.endswith("_int8")),
    ("parts of each kind", parts_of_each_kind), ("half a million weights in two seconds", quick),
])
