# SPDX-License-Identifier: MIT
"""Streams of speech for the training: sequences of words, in a room, on a telephone, in noise, different each
time."""
import math

import torch
from torch.nn import functional

from .speech import OTHER, RATE

FRAME = 320  # samples for which the model predicts one class
IGNORED = -1  # the label of a frame that may have either class
# A digit is labelled from FROM to TO seconds after its end: by then the model can know that the word does not go on.
FROM, TO = 0.04, 0.36


def stretched(samples, factor):
    """Returns the samples played slower by a factor, and so at a lower pitch."""
    return functional.interpolate(samples[None, None], scale_factor=factor, mode="linear", align_corners=False)[0, 0]


def label_digit(labels, digit, start, end, next_start):
    """Labels the frames that end between FROM and TO, and ignores earlier ones in which the digit may be known."""
    frame = lambda time: min(max(math.ceil(time / FRAME) - 1, 0), len(labels))
    from_frame, to_frame = frame(end + FROM * RATE), frame(min(end + TO * RATE, next_start + 0.08 * RATE))
    labels[frame((start + end) / 2):from_frame] = IGNORED
    labels[from_frame:to_frame] = digit
    labels[to_frame:to_frame + 2] = IGNORED


def stream_of_words(clips, length, stretch, generator):
    """Returns samples [length] of words with pauses, and the labels of their frames."""
    samples, words = torch.zeros(length), []
    place = int(generator.uniform(0, 0.5) * RATE)
    while True:
        clip = generator.choice(clips)
        word = stretched(clip.samples, generator.uniform(*stretch))
        if place + len(word) > length:
            break
        loudness = 10 ** (generator.uniform(-8, 0) / 20) / word.abs().max()
        samples[place:place + len(word)] = word * loudness
        words.append((clip.label, place, place + len(word)))
        place += len(word) + int(generator.choice([generator.uniform(0.08, 0.3), generator.uniform(0.2, 1.0)]) * RATE)
    labels = torch.full((length // FRAME,), OTHER)
    for (label, start, end), (_, following, _) in zip(words, words[1:] + [(None, length + RATE, None)]):
        if label != OTHER:
            label_digit(labels, label, start, end, following)
    return samples, labels


def decibels(values):
    return 10 ** (values / 20)


def uniform(count, low, high):
    return low + (high - low) * torch.rand(count, 1)


def frequency_responses(count, size):
    """Returns [count, size] gains from 0 to 4 kHz: microphones that favor low or high tones, and telephones."""
    hertz = torch.linspace(0, RATE / 2, size)
    octaves = (hertz.clamp_min(50) / 1000).log2()
    gains = decibels(uniform(count, -5, 5) * octaves)
    bumps = uniform(count, -8, 8) * torch.exp(-(octaves - uniform(count, -3, 2)).square() / 0.5)
    low = torch.where(torch.rand(count, 1) < 0.6, uniform(count, 100, 350), torch.tensor(20.0))
    high = torch.where(torch.rand(count, 1) < 0.6, uniform(count, 2800, 3900), torch.tensor(8000.0))
    return gains * decibels(bumps) / (1 + (low / hertz.clamp_min(1)) ** 8).sqrt() / (1 + (hertz / high) ** 16).sqrt()


def rooms(count, length):
    """Returns impulse responses [count, length]: the direct sound, and an echo that fades within .05 to .4 s."""
    time = torch.arange(length) / RATE
    echo = torch.randn(count, length) * decibels(-60 * time / uniform(count, 0.05, 0.4))
    echo *= decibels(uniform(count, -25, 0)) / echo.norm(dim=1, keepdim=True)
    echo *= torch.rand(count, 1) < 0.5
    echo[:, 0] = 1
    return echo


def noise(count, length):
    """Returns noise [count, length] of power 1 whose power falls or rises with frequency."""
    spectrum = torch.fft.rfft(torch.randn(count, length))
    octaves = torch.arange(1, spectrum.shape[1] + 1).clamp_min(50).log2()
    colored = torch.fft.irfft(spectrum * decibels(octaves * uniform(count, -9, 2)), length)
    return colored / colored.square().mean(1, keepdim=True).sqrt()


class Microphones:
    """Turns clean streams into a microphone's: with an echo, in noise, and with other voices. What takes time is
    computed once: `count` rooms with microphones, and noises."""
    def __init__(self, length, count=500, noises=100):
        self.size = 30000 if length <= 26000 else 2 * length  # its FFT is fast: a product of small primes
        spectra = [torch.fft.rfft(rooms(10, RATE // 2), self.size) for _ in range(count // 10)]
        self.responses = torch.cat([spectrum * frequency_responses(10, spectrum.shape[1]) for spectrum in spectra])
        self.noises = torch.cat([noise(10, length) for _ in range(noises // 10)])

    def noise(self, count):
        chosen = self.noises[torch.randint(len(self.noises), (count,))]
        return chosen.roll(int(torch.randint(chosen.shape[1], ())), 1)

    def hear(self, clean):
        """Returns streams [count, length] as the microphone records them."""
        count, length = clean.shape
        spectrum = torch.fft.rfft(clean, self.size) * self.responses[torch.randint(len(self.responses), (count,))]
        heard = torch.fft.irfft(spectrum, self.size)[:, :length]
        power = heard.square().mean(1, keepdim=True).sqrt().clamp_min(1e-3)
        babble = (heard + heard.roll((1, 7777), (0, 1))).roll((1, int(torch.randint(length, ()))), (0, 1))
        heard = heard + babble * (decibels(uniform(count, -40, -14)) * (torch.rand(count, 1) < 0.3))
        heard += self.noise(count) * (power * decibels(uniform(count, -45, -5)))
        return heard * (decibels(uniform(count, -30, 0)) / heard.abs().amax(1, keepdim=True))


def batch(clips, count, length, stretch, microphones, generator):
    """Returns streams [count, length] and labels [count, length / FRAME]."""
    samples, labels = zip(*(stream_of_words(clips, length, stretch, generator) for _ in range(count)))
    return microphones.hear(torch.stack(samples)), torch.stack(labels)


def in_noise(clip, decibels, generator):
    """Returns the clip in noise, with a quarter of a second before it and half a second after."""
    before, after = RATE // 4, RATE // 2 + -(RATE // 4 + len(clip.samples)) % FRAME
    loudest = 0.5 * clip.samples / clip.samples.abs().max()
    level = loudest.square().mean().sqrt() * 10 ** (-decibels / 20)
    samples = functional.pad(loudest, (before, after))
    return samples + level * torch.randn(len(samples), generator=generator)
