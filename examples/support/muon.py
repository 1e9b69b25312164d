# SPDX-License-Identifier: MIT
"""The optimizer for the matrices in transformer blocks, in the trainings of the examples."""
import collections

import torch


def orthogonalized(matrices):
    """Moves the singular values of each of the stacked matrices close to 1, by five Newton-Schulz steps."""
    x = matrices / (matrices.flatten(1).norm(dim=1).view(-1, 1, 1) + 1e-7)
    if x.shape[1] > x.shape[2]:
        return orthogonalized(x.transpose(1, 2)).transpose(1, 2)
    for _ in range(5):
        square = x @ x.transpose(1, 2)
        x = 3.4445 * x + (2.0315 * square @ square - 4.7750 * square) @ x
    return x


class Muon(torch.optim.Optimizer):
    """The optimizer Muon, which orthogonalizes the momentum: K. Jordan, "Muon: an optimizer for hidden layers in neural
    networks", 2024."""
    def __init__(self, parameters, rate, momentum, weight_decay):
        by_shape = collections.defaultdict(list)
        for parameter in parameters:
            by_shape[parameter.shape].append(parameter)
        super().__init__([{"params": same} for same in by_shape.values()],
                         {"lr": rate, "beta": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            gradients = torch.stack([parameter.grad for parameter in group["params"]])
            beta = group["beta"]
            momentum = group.setdefault("momentum", torch.zeros_like(gradients)).lerp_(gradients, 1 - beta)
            for parameter, change in zip(group["params"], orthogonalized(gradients.lerp(momentum, beta))):
                longer = max(1, parameter.shape[0] / parameter.shape[1]) ** 0.5
                parameter.mul_(1 - group["weight_decay"] * group["lr"]).sub_(change, alpha=longer * group["lr"])
