# SPDX-License-Identifier: MIT
"""Writes the module of programs/modules.hpp in C, by onnx2c.

    onnx2c PROGRAM FILE.c

onnx2c refuses shapes that the graph computes. PyTorch 1.13 writes two such, though they never change; here they are
constants: the sizes of the three parts of a joint projection, and that a class token is repeated once."""
import pathlib
import sys

from tests.support import debian
from tests.support.processes import call

debian.missing("torch")
import torch

from tests.products.export.field_modules import made


def chunk(graph, x, chunks, dim):
    sizes = graph.op("Constant", value_t=torch.tensor([x.type().sizes()[dim] // chunks] * chunks))
    return graph.op("Split", x, sizes, axis_i=dim, outputs=chunks)


def write(program, file):
    onnx = torch.onnx
    opset = 14  # from 17 on there is LayerNormalization, for which onnx2c writes C that does not compile
    onnx.register_custom_op_symbolic("prim::ConstantChunk", chunk, opset)
    onnx.register_custom_op_symbolic("aten::repeat", lambda graph, x, repeats: x, opset)
    net, example = made("gestures")
    net.training = True  # of none of its parts; else equal parameters, which trained ones are not, would become one
    onnx.export(net, example, file.with_suffix(".onnx"), opset_version=opset, training=onnx.TrainingMode.PRESERVE)
    file.write_text(call([program, "-l0", file.with_suffix(".onnx")]), encoding="utf-8")


if __name__ == "__main__":
    write(*map(pathlib.Path.absolute, map(pathlib.Path, sys.argv[1:])))
