# SPDX-License-Identifier: MIT
"""The rows of every table: an operation of one shape, the work in it, and the figure to reach on each machine."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Goal:
    """A figure to reach: as a share of the roof in percent, GFLOP/s, ns, or ns per element."""

    unit: str
    figure: float


@dataclasses.dataclass(frozen=True)
class Row:
    operation: str
    shape: str
    type: str  # in operations.hpp
    work: int  # multiply-adds of a matmul or a layer, elements of a softmax
    host: Goal | None = None
    cores: dict = dataclasses.field(default_factory=dict, hash=False)  # by title: instructions, of the unit below

    @property
    def name(self):
        return f"{self.operation} {self.shape}".strip()

    @property
    def counted_unit(self):
        """What instructions are counted for."""
        return {"matmul": "multiply-add", "softmax": "element", "attention": "call"}[self.operation]

    def per_unit(self, count):
        return count if self.operation == "attention" else count / self.work


def matmul(rows, inner, cols, host=None, cores=None):
    shape = f"{rows}³" if rows == inner == cols else f"{rows}x{inner}x{cols}"
    return Row("matmul", shape, f"Matmul<{rows}, {inner}, {cols}>", rows * inner * cols, host, cores or {})


def softmax(rows, cols, host=None, cores=None):
    return Row("softmax", f"{rows}x{cols}", f"Softmax<{rows}, {cols}>", rows * cols, host, cores or {})


def attention(name, tokens, d_in, d_out, num_heads, host=None, cores=None):
    """Causal: query i meets i + 1 keys, in its scores and again in its context."""
    projections = 3 * tokens * d_in * d_out + tokens * d_out * d_out
    pairs = tokens * (tokens + 1) // 2
    return Row("attention", name, f"Attention<{tokens}, {d_in}, {d_out}, {num_heads}>", projections + 2 * pairs * d_out, host, cores or {})


def percent(figure):
    return Goal("%", figure)


def ns(figure):
    return Goal("ns", figure)


def ns_per_element(figure):
    return Goal("ns/element", figure)


HOST = [
    matmul(6, 3, 2, ns(2.5)),
    matmul(8, 8, 8, percent(45)),
    matmul(16, 16, 16, percent(90)),
    matmul(32, 32, 32, percent(97)),
    matmul(6, 64, 64, percent(98)),
    matmul(64, 64, 64, percent(98)),
    matmul(128, 128, 128, percent(98)),
    matmul(256, 256, 256, percent(98)),
    matmul(512, 512, 512, percent(95)),
    matmul(1, 512, 512, Goal("GFLOP/s", 78)),
    softmax(6, 6, ns_per_element(1.2)),
    softmax(32, 32, ns_per_element(0.27)),
    softmax(128, 128, ns_per_element(0.20)),
    softmax(256, 256, ns_per_element(0.17)),
    softmax(64, 1024, ns_per_element(0.18)),
    attention("T0", 6, 3, 2, 2, ns(110)),
    attention("T1", 32, 64, 64, 4, percent(75)),
    attention("T2", 128, 128, 128, 4, percent(86)),
    attention("T3", 256, 256, 256, 8, percent(89)),
    attention("T4", 512, 512, 512, 8, percent(91)),
    attention("T5", 2048, 512, 512, 8, percent(85)),
]


def helium(figure, with_clang=None):
    return {"M55 Helium": figure, "M55 Helium, clang": with_clang or figure}


CORES = [
    matmul(6, 3, 2, cores={"M4F": 2.6, **helium(2.2)}),
    matmul(8, 8, 8, cores={"M4F": 2.0, **helium(0.70)}),
    matmul(16, 16, 16, cores={"M4F": 1.7, **helium(0.60)}),
    matmul(32, 32, 32, cores={"M4F": 1.45, **helium(0.62, with_clang=0.52)}),
    matmul(32, 64, 64, cores={"M4F": 1.40, **helium(0.60, with_clang=0.50)}),
    matmul(64, 64, 64, cores={"M4F": 1.40, **helium(0.60, with_clang=0.50), "AArch64": 0.33, "ARMv7 NEON": 0.50}),
    softmax(6, 6, cores={"M4F": 38, "M7": 34, "M55": 34, **helium(20)}),
    softmax(32, 32, cores={"M4F": 35, "M7": 28, "M55": 28, **helium(9)}),
    attention("T0", 6, 3, 2, 2, cores={"M4F": 2200, "M7": 1900, **helium(1900)}),
    attention("T1", 32, 64, 64, 4, cores={"M4F": 980000, "M7": 960000, "M55": 950000, **helium(330000)}),
]
