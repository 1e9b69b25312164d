# SPDX-License-Identifier: MIT
"""Chapter 5: trains the book's GPTModel for a minute, on characters, and exports it.

    PYTHONPATH=ports/pytorch python3 examples/book/train.py    writes examples/book/gpt.hpp and gpt.bin
"""
import pathlib
import random

import torch

import export
from gpt import GPTModel

HERE = pathlib.Path(__file__).parent
CHARACTERS = "\n .abcdefghijklmnopqrstuvwxyz"
CONFIG = {"vocab_size": len(CHARACTERS), "context_length": 14, "emb_dim": 24, "n_heads": 2, "n_layers": 2,
          "drop_rate": 0.0, "qkv_bias": False}
STEPS = 1500  # a minute on one core
WHO = "the old fox.the small bird.the red hen.a grey cat.a young dog".split(".")
DOES = "sees.likes.follows.hears.waits for".split(".")
WHERE = " in the garden. near the river. on the hill. at night.".split(".")


def text(sentences, seed):
    draw = random.Random(seed)
    return "".join(f"{draw.choice(WHO)} {draw.choice(DOES)} {draw.choice(WHO)}{draw.choice(WHERE)}.\n"
                   for _ in range(sentences))


def tokens(characters):
    return torch.tensor([CHARACTERS.index(character) for character in characters])


def loss_of(model, data, positions):
    """Returns the mean cross entropy of the windows of a text that begin at these positions."""
    windows = torch.stack([data[i:i + CONFIG["context_length"] + 1] for i in positions])
    logits = model(windows[:, :-1])
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())


def train(model, steps):
    data = tokens(text(2000, seed=1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model, data, torch.randint(len(data) - CONFIG["context_length"] - 1, (32,))).backward()
        optimizer.step()
        schedule.step()


if __name__ == "__main__":
    torch.manual_seed(123)
    torch.set_num_threads(1)
    model = GPTModel(CONFIG)
    train(model, STEPS)
    model.eval()
    new = tokens(text(100, seed=2))
    with torch.no_grad():
        print(f"loss {loss_of(model, new, range(0, len(new) - 17)):.3f}")
    board = export.module(model, tokens("the old fox se")[None], HERE / "gpt.hpp", name="gpt",
                          binary=HERE / "gpt.bin")
    print(board)
