# SPDX-License-Identifier: MIT
"""Trains the model of this example and writes what the firmware is built from.

    python3 -m examples.digits.train               trains on 1,437 images; writes both data files
    python3 -m examples.digits.train --validate    trains on three quarters of them and counts the errors on the fourth

The 360 held-out images take no part in either: all choices were made with --validate. Needs PyTorch and
scikit-learn (Debian: python3-torch, python3-sklearn). One seed and one thread: the same machine trains the same
weights.
"""
import pathlib
import sys

import sklearn.datasets
import sklearn.model_selection
import torch
from torch import nn
from torch.nn import functional

from examples.support import tables
from ports.pytorch import tinyattn_export as export

HERE = pathlib.Path(__file__).resolve().parent
HELD_OUT = 360
EPOCHS, BATCH, LEARNING_RATE, WEIGHT_DECAY, LABEL_SMOOTHING, AVERAGE_DECAY = 200, 128, 4e-2, 1e-2, 0.05, 0.95


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        query, key, value = (self.split(linear(x)) for linear in (self.W_query, self.W_key, self.W_value))
        weights = torch.softmax(query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5, dim=-1)
        return self.out_proj((weights @ value).transpose(-3, -2).flatten(-2))

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, x.shape[-1] // self.num_heads)).transpose(-3, -2)


class Digits(nn.Module):
    def __init__(self, num_tokens=8, d_in=8, width=32, num_heads=4, num_classes=10):
        super().__init__()
        self.position = nn.Parameter(0.2 * torch.randn(num_tokens, d_in))
        self.attention = MultiHeadAttention(d_in, width, num_heads)
        self.shortcut = nn.Linear(d_in, width, bias=False)
        self.classifier = nn.Linear(num_tokens * width, num_classes)

    def forward(self, images):
        x = images + self.position
        return self.classifier(torch.relu(self.attention(x) + self.shortcut(x)).flatten(-2))


def load():
    """Returns the images, with pixels from 0 to 1, their labels, and the indices of the training and the held-out
    images."""
    digits = sklearn.datasets.load_digits()
    indices = range(len(digits.target))
    training, held = sklearn.model_selection.train_test_split(indices, test_size=HELD_OUT, random_state=0,
                                                              stratify=digits.target)
    images, labels = torch.tensor(digits.images, dtype=torch.float32) / 16, torch.tensor(digits.target)
    return images, labels, torch.tensor(training), torch.tensor(held)


def augment(images):
    """Rotates, stretches, slants, moves and bends each image a little at random, and adds noise."""
    n = len(images)
    angle, slant = 0.12 * torch.randn(2, n)
    stretch_x, stretch_y = torch.exp(0.08 * torch.randn(2, n))
    move_x, move_y = 0.0625 * torch.randn(2, n)
    matrices = torch.stack([
        torch.stack([angle.cos() * stretch_x, slant - angle.sin(), move_x], dim=1),
        torch.stack([angle.sin(), angle.cos() * stretch_y, move_y], dim=1)], dim=1)
    bend = functional.interpolate(0.075 * torch.randn(n, 2, 3, 3), size=(8, 8), mode="bicubic", align_corners=True)
    grid = functional.affine_grid(matrices, [n, 1, 8, 8], align_corners=False) + bend.permute(0, 2, 3, 1)
    moved = functional.grid_sample(images.unsqueeze(1), grid, align_corners=False).squeeze(1)
    return (moved + 0.08 * torch.randn(n, 8, 8)).clamp(0, 1)


def train(images, labels, seed=0):
    """Trains a model. Returns it with an average of its weights over the epochs, in which later ones count more."""
    torch.manual_seed(seed)
    model, average = Digits(), Digits()
    average.load_state_dict(model.state_dict())
    batches = len(images) // BATCH
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, EPOCHS * batches, pct_start=0.1)
    for _ in range(EPOCHS):
        augmented = augment(images)
        for batch in torch.randperm(len(images))[:batches * BATCH].view(batches, BATCH):
            loss = functional.cross_entropy(model(augmented[batch]), labels[batch], label_smoothing=LABEL_SMOOTHING)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), model.parameters()):
                slow.lerp_(fast, 1 - AVERAGE_DECAY)
    return average


def errors(model, images, labels):
    with torch.no_grad():
        return int((model(images).argmax(dim=-1) != labels).sum())


def validate(images, labels):
    folds = sklearn.model_selection.StratifiedKFold(4, shuffle=True, random_state=0)
    for fold, (training, validation) in enumerate(folds.split(images, labels)):
        model = train(images[training], labels[training])
        count = errors(model, images[validation], labels[validation])
        print(f"fold {fold}: {count} errors on {len(validation)} images", flush=True)


def save(model, images, labels):
    """Writes the weights, and what the firmware is compared with: pixels [images, 8, 8] from 0, white, to 16, black,
    labels, and PyTorch's logits."""
    with torch.no_grad():
        logits = model(images)
    export.write_safetensors(HERE / "weights.safetensors", model.state_dict())
    tables.write(HERE / "held_out.safetensors", {
        "pixels": ("U8", list(images.shape), (16 * images).int().flatten().tolist()),
        "labels": ("U8", list(labels.shape), labels.tolist()),
        "logits": ("F32", list(logits.shape), logits.flatten().tolist())})


def main(arguments):
    torch.set_num_threads(1)
    images, labels, training, held = load()
    if arguments == ["--validate"]:
        validate(images[training], labels[training])
        return
    if arguments:
        sys.exit(__doc__)
    model = train(images[training], labels[training])
    save(model, images[held], labels[held])
    print(f"{errors(model, images[held], labels[held])} errors on {len(held)} held-out images")


if __name__ == "__main__":
    main(sys.argv[1:])
