# SPDX-License-Identifier: MIT
"""Makes the images of a new user's handwriting, from which the board learns: it leans far to the left.

    python3 -m examples.digits.hand optdigits.tra               writes hand.safetensors
    python3 -m examples.digits.hand optdigits.tra --validate    trains the last layer with other images, and prints how
                                                                many it reads right with each learning rate

optdigits.tra is the training set of the UCI Machine Learning Repository's "Optical Recognition of Handwritten Digits",
3,823 images that 30 people wrote. The model was trained on images of 13 others, the data set's test set, which
scikit-learn has. The data do not say who of the 30 wrote an image. The first and every tenth after it become the
new hand's; all choices were made with --validate, which uses the others. Needs PyTorch and scikit-learn, as train.py.
"""
import copy
import fractions
import pathlib
import statistics
import sys

import torch
from torch.nn import functional

from examples.digits import train
from examples.support import tables

HERE = pathlib.Path(__file__).resolve().parent
SIZE, SAMPLES_OF_A_DIGIT = 8, 10
GROUPS, IMAGES = 10, 360  # every tenth image belongs to one group, which has 360
EPOCHS, RATES = 10, (.01, .03, .05, .1)
# This hand writes at (x, y) what an upright one writes at (x', y') = TURN (x, y) + (SLANT y, 0); y points down.
SLANT = fractions.Fraction(-1, 2)
COSINE, SINE = fractions.Fraction(24, 25), fractions.Fraction(7, 25)


def load(path):
    """Returns [(64 pixels from 0 to 16, label)]."""
    lines = pathlib.Path(path).read_text(encoding="ascii").split()
    rows = [[int(number) for number in line.split(",")] for line in lines]
    return [(row[:-1], row[-1]) for row in rows]


def corners():
    """Returns for each pixel of a slanted image the weights of the upright image's pixels around it, [(pixel, weight)].
    The arithmetic is exact, and so the same everywhere."""
    middle = fractions.Fraction(SIZE - 1, 2)
    found = []
    for i in range(SIZE):
        for j in range(SIZE):
            x, y = j - middle, i - middle
            column = COSINE * x + (SLANT - SINE) * y + middle
            row = SINE * x + COSINE * y + middle
            left, top = column.__floor__(), row.__floor__()
            found.append([(SIZE * r + c, (1 - abs(row - r)) * (1 - abs(column - c)))
                          for r in (top, top + 1) for c in (left, left + 1) if 0 <= r < SIZE and 0 <= c < SIZE])
    return found


def slanted(pixels, between=tuple(corners())):
    return [round(sum(share * pixels[pixel] for pixel, share in shares)) for shares in between]


def slanted_images(images, first=0):
    return [(slanted(pixels), label) for pixels, label in images[first::GROUPS][:IMAGES]]


def split(images):
    """Returns the images from which the board learns, ten of each digit in turn, and the images on which it is
    tested."""
    of_digit = [[i for i, (_, label) in enumerate(images) if label == digit] for digit in range(10)]
    chosen = [of_digit[digit][k] for k in range(SAMPLES_OF_A_DIGIT) for digit in range(10)]
    return [images[i] for i in chosen], [image for i, image in enumerate(images) if i not in set(chosen)]


def known_images():
    """Returns as many images from the model's training set, the digits in turn."""
    images, labels, training, _ = train.load()
    known = [((16 * images[i]).int().flatten().tolist(), int(labels[i])) for i in training.tolist()]
    return split(known)[0]


def features(model, images):
    """Returns the classifier's inputs for these images, and their labels."""
    pixels = torch.tensor([pixels for pixels, _ in images], dtype=torch.float32).view(-1, SIZE, SIZE) / 16
    x = pixels + model.position
    with torch.no_grad():
        return torch.relu(model.attention(x) + model.shortcut(x)).flatten(-2), torch.tensor([i for _, i in images])


def learn(model, lessons, rate):
    """Trains the last layer, one image a step, as the board does. The lessons, (features, labels), supply images in
    turn."""
    head = copy.deepcopy(model.classifier)
    optimizer = torch.optim.SGD(head.parameters(), rate)
    for _ in range(EPOCHS):
        for i in range(10 * SAMPLES_OF_A_DIGIT):
            for x, labels in lessons:
                optimizer.zero_grad()
                functional.cross_entropy(head(x[i]), labels[i]).backward()
                optimizer.step()
    return head


def share(head, x, labels):
    return 100 * float((head(x).argmax(dim=-1) == labels).float().mean())


def validate(model, images, known, held):
    """Prints means over the other groups of images; each group has its own samples and tests."""
    groups = [split(slanted_images(images, first)) for first in range(1, GROUPS)]
    groups = [(features(model, samples), features(model, tests)) for samples, tests in groups]
    known, held = features(model, known), features(model, held)
    print(f"before: {statistics.mean(share(model.classifier, *tests) for _, tests in groups):.1f} %")
    for remembers in (False, True):
        for rate in RATES:
            heads = [learn(model, [samples, known] if remembers else [samples], rate) for samples, _ in groups]
            of_hand = statistics.mean(share(head, *tests) for head, (_, tests) in zip(heads, groups))
            of_others = statistics.mean(share(head, *held) for head in heads)
            print(f"rate {rate}{', and what it knew' if remembers else ''}: {of_hand:.1f} % of the hand, "
                  f"{of_others:.1f} % of the first test set", flush=True)


def save(images, known):
    """Writes the images of the hand, samples first, and those that the model knows: pixels from 0 to 16, and digits."""
    samples, tests = split(slanted_images(images))
    tensors = {}
    for name, rows in {"": samples + tests, "known_": known}.items():
        tensors[f"{name}pixels"] = ("U8", [len(rows), SIZE, SIZE], [pixel for pixels, _ in rows for pixel in pixels])
        tensors[f"{name}labels"] = ("U8", [len(rows)], [label for _, label in rows])
    tables.write(HERE / "hand.safetensors", tensors)


def trained_model():
    model = train.Digits()
    stored = tables.read(HERE / "weights.safetensors")
    model.load_state_dict({name: torch.tensor(values).view(shape) for name, (_, shape, values) in stored.items()})
    return model


def held_out():
    stored = tables.read(HERE / "held_out.safetensors")
    pixels, labels = stored["pixels"][2], stored["labels"][2]
    return [(pixels[64 * i:64 * i + 64], label) for i, label in enumerate(labels)]


def main(path, *options):
    torch.set_num_threads(1)
    images = load(path)
    if options == ("--validate",):
        validate(trained_model(), images, known_images(), held_out())
    elif options:
        sys.exit(__doc__)
    else:
        save(images, known_images())


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
