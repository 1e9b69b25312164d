# SPDX-License-Identifier: MIT
"""The training of the learner in PyTorch, by autograd: the same model from the same weights, on the same sequences,
with the same settings. Counts what seeds.cpp counts, and runs that program first. Seconds are of one core, for
the training on a seed and its test; PyTorch's are without the random numbers, which come from a Philox in Python.

    with_pytorch.py SEEDS_PROGRAM COUNT
"""
import pathlib
import re
import resource
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

LENGTH, VOCABULARY, WIDTH, STEPS = 8, 10, 16, 120
FIRST_SEED, SEQUENCES, ENOUGH = 2001, 1000, 7920
WEIGHTS, TRAINING, TEST = (number << 32 for number in range(3))  # streams, as in model.hpp
LOW = 0xffffffff


def settings():
    """Returns the numbers of model.hpp: ranges of the weights, rates, the largest norm."""
    text = pathlib.Path(__file__).with_name("model.hpp").read_text(encoding="utf-8")
    best = text[text.index("best_settings"):]

    def numbers(name):
        return [float(each) for each in re.findall(r"= ([\d.]+)f", re.search(rf"\.{name} = {{(.*)}}", best)[1])]

    return numbers("range"), numbers("rate"), float(re.search(r"\.max_norm = ([\d.]+)f", best)[1])


def block(seed, stream, counter):
    """Four random words of Philox 4x32 with ten rounds."""
    words, key = [counter, 0, stream & LOW, stream >> 32], [seed, 0]
    for _ in range(10):
        first, second = 0xd2511f53 * words[0], 0xcd9e8d57 * words[2]
        words = [second >> 32 ^ words[1] ^ key[0], second & LOW, first >> 32 ^ words[3] ^ key[1], first & LOW]
        key = [(key[0] + 0x9e3779b9) & LOW, (key[1] + 0xbb67ae85) & LOW]
    return words


def sequences(seed, stream, count):
    words = [block(seed, stream, counter) for counter in range(2 * count)]
    return torch.tensor(words).reshape(count, LENGTH) * VOCABULARY >> 32


class Learner(nn.Module):
    def __init__(self, seed, ranges):
        super().__init__()
        self.token, self.position = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        token, position, query_and_key, value, head = ranges
        parts = [(self.token, token), (self.position, position), (self.query, query_and_key), (self.key, query_and_key),
                 (self.value, value), (self.head, head)]
        for stream, (part, largest) in enumerate(parts):
            weight = part.weight.data if isinstance(part, nn.Embedding) else part.weight.data.T
            words = [block(seed, WEIGHTS + stream, counter) for counter in range(weight.numel() // 4)]
            weight.copy_(largest * (2 * (torch.tensor(words) & 0xffffff).float() * 2**-24 - 1).reshape(weight.shape))

    def forward(self, digits):
        x = self.token(digits) + self.position.weight
        weights = torch.softmax(self.query(x) @ self.key(x).transpose(-2, -1) * WIDTH**-0.5, -1)
        return self.head(weights @ self.value(x) + x)


def train(model, samples):
    _, (embedding, attention, head), max_norm = settings()
    parts = [(model.token, embedding), (model.position, embedding), (model.query, attention), (model.key, attention),
             (model.value, attention), (model.head, head)]
    optimizer = torch.optim.SGD([{"params": part.parameters(), "lr": rate} for part, rate in parts], lr=1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (2 * STEPS - step) / (2 * STEPS))
    for digits in samples:
        optimizer.zero_grad()
        F.cross_entropy(model(digits), digits.flip(0)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        schedule.step()


def right_digits(model, digits):
    with torch.no_grad():
        return int((model(digits).argmax(-1) == digits.flip(1)).sum())


def of_pytorch(count):
    """Trains on seeds. Returns on how many at least 99 % of the digits are right, the right digits on the worst, and
    seconds a seed."""
    right, seconds = [], 0.0
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        model = Learner(seed, settings()[0])
        samples, tests = sequences(seed, TRAINING, STEPS), sequences(seed, TEST, SEQUENCES)
        start = time.process_time()
        train(model, samples)
        right.append(right_digits(model, tests))
        seconds += time.process_time() - start
    return sum(each >= ENOUGH for each in right), min(right), seconds / count


def of_program(program, count):
    """Returns the same for seeds.cpp."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    text = subprocess.run([program, str(count)], stdout=subprocess.PIPE, text=True, check=True).stdout
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return int(re.search(r"on (\d+) of", text)[1]), int(re.search(r"worst +(\d+)", text)[1]), seconds / count


def main(program, count):
    torch.set_num_threads(1)
    version = torch.__version__.split("a")[0]
    print(f"{'':16} of {count} seeds  worst of 8000 digits  seconds a seed")
    runs = {"tinyattn": lambda: of_program(program, count), f"PyTorch {version}": lambda: of_pytorch(count)}
    for name, run in runs.items():
        succeeded, worst, seconds = run()
        print(f"{name:16} {succeeded:{len(f'of {count} seeds')}}  {worst:20}  {seconds:14.3g}", flush=True)
    print(f"PyTorch's process has {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]))
