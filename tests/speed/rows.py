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

    @property
    def name(self):
        return f"{self.operation} {self.shape}"


def matmul(rows, inner, cols, host=None):
    shape = f"{rows}³" if rows == inner == cols else f"{rows}x{inner}x{cols}"
    return Row("matmul", shape, f"Matmul<{rows}, {inner}, {cols}>", rows * inner * cols, host)


def softmax(rows, cols, host=None):
    return Row("softmax", f"{rows}x{cols}", f"Softmax<{rows}, {cols}>", rows * cols, host)


def attention(name, tokens, d_in, d_out, num_heads, host=None):
    """Causal: query i meets i + 1 keys, in its scores and again in its context."""
    projections = 3 * tokens * d_in * d_out + tokens * d_out * d_out
    pairs = tokens * (tokens + 1) // 2
    return Row("attention", name, f"Attention<{tokens}, {d_in}, {d_out}, {num_heads}>", projections + 2 * pairs * d_out, host)


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
