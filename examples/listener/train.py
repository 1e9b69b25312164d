# SPDX-License-Identifier: MIT
"""Trains the model of this example and writes what the firmware is built from.

    python3 -m examples.listener.train FOLDER               synthesizes the clips into FOLDER, and trains
    python3 -m examples.listener.train FOLDER --evaluate    reads the weights; prints how many words of the voices for
                                                            validation are heard right

One seed and one thread: the same machine, PyTorch and espeak-ng train the same weights. All choices were made with
the voices for validation.
"""
import dataclasses
import math
import os
import pathlib
import random
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from examples.support.muon import Muon  # noqa: E402
from ports.pytorch import tinyattn_export as export  # noqa: E402

from . import speech, streams  # noqa: E402
from .speech import OTHER, RATE  # noqa: E402
from .streams import FRAME, IGNORED  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
WEIGHTS = HERE / "weights.safetensors"

FILTERS, KERNEL, STRIDE = 24, 32, 20  # of the filter bank, in samples
POOLED = 8  # outputs of a filter that are averaged to a sound: 20 ms
SOUNDS, SOUND_STRIDE = 4, 2  # sounds of which a frame consists, and new ones among them
CLASSES = OTHER + 1
WIDTH, LAYERS, HEADS, KV_HEADS, HIDDEN, WINDOW = 48, 2, 3, 1, 72, 20
ROTARY_BASE, EPSILON = 100, 1e-5
FLOOR = 1e-6  # added to a loudness before its root: silence in 16 bits is below
BATCH, LENGTH = 16, 80 * FRAME
MATRIX_RATE, LEARNING_RATE, MOMENTUM, WEIGHT_DECAY = 0.02, 6e-3, 0.95, 0.02


@dataclasses.dataclass
class Round:
    """A part of the training, at the end of which the learning rates are zero."""
    steps: int
    rate: float  # the part of the full learning rates
    window: int
    stretch: tuple  # the smallest and largest factor by which words are played slower
    times_people: int  # how many times as often clips cut from recordings of people are drawn
    dropout: float  # of the features of frames


# In the second round voices differ more, and the model gets used to a shorter window, with which a micro:bit keeps up
# with the sound.
ROUNDS = (Round(12000, 1.0, 24, (0.84, 1.2), 1, 0.0), Round(5000, 0.4, WINDOW, (0.75, 1.32), 3, 0.1))
RUN = 3  # frames in a row with the same digit that count as recognized


class RmsNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * self.weight


def matrix(d_in, d_out):
    return nn.Linear(d_in, d_out, bias=False)


def rotated(x):
    """Rotates each pair of features (i, i + half) by an angle that grows with the position of the token."""
    half = x.shape[-1] // 2
    frequencies = ROTARY_BASE ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = torch.arange(x.shape[-2], dtype=torch.float64).unsqueeze(-1) * frequencies
    cosines, sines = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return x * torch.cat([cosines, cosines], -1) + x.roll(half, -1) * torch.cat([-sines, sines], -1)


class Attention(nn.Module):
    """Causal attention with one key head for all heads. A token attends to itself and the window - 1 tokens before
    it."""
    def __init__(self):
        super().__init__()
        head_dim = WIDTH // HEADS
        self.q_proj, self.o_proj = matrix(WIDTH, WIDTH), matrix(WIDTH, WIDTH)
        self.k_proj, self.v_proj = matrix(WIDTH, KV_HEADS * head_dim), matrix(WIDTH, KV_HEADS * head_dim)
        self.window = WINDOW

    def forward(self, x):
        batch, tokens, _ = x.shape
        heads = lambda y: y.view(batch, tokens, -1, WIDTH // HEADS).transpose(1, 2)
        of_group = lambda y: y.repeat_interleave(HEADS // KV_HEADS, 1)
        query, key = rotated(heads(self.q_proj(x))), of_group(rotated(heads(self.k_proj(x))))
        distance = torch.arange(tokens)[:, None] - torch.arange(tokens)
        scores = query @ key.transpose(-2, -1) * (WIDTH // HEADS) ** -0.5
        scores = scores.masked_fill((distance < 0) | (distance >= self.window), -torch.inf)
        context = scores.softmax(-1) @ of_group(heads(self.v_proj(x)))
        return self.o_proj(context.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj, self.up_proj = matrix(WIDTH, HIDDEN), matrix(WIDTH, HIDDEN)
        self.down_proj = matrix(HIDDEN, WIDTH)

    def forward(self, x):
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_layernorm, self.self_attn = RmsNorm(WIDTH), Attention()
        self.post_attention_layernorm, self.mlp = RmsNorm(WIDTH), FeedForward()

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


def filter_bank():
    """Returns the initial filters: tones under a Hann window, from low to high in steps like the
    ear's."""
    mel = torch.linspace(*(2595 * math.log10(1 + hertz / 700) for hertz in (120, 3800)), FILTERS)
    hertz = 700 * (10 ** (mel / 2595) - 1)
    time = torch.arange(KERNEL) - (KERNEL - 1) / 2
    phase = 2 * torch.pi * torch.rand(FILTERS, 1)
    tones = torch.cos(2 * torch.pi * hertz[:, None] / RATE * time + phase) * torch.hann_window(KERNEL, periodic=False)
    return tones / tones.norm(dim=1, keepdim=True) * (hertz[:, None] / 1000).clamp_min(0.3)


class Listener(nn.Module):
    """Maps samples [batch, FRAME * frames] to logits [batch, frames, CLASSES]. Before the first sample is
    silence."""
    def __init__(self):
        super().__init__()
        self.filters = nn.Conv1d(1, FILTERS, KERNEL, STRIDE)
        self.sounds = nn.Conv1d(FILTERS, WIDTH, SOUNDS, SOUND_STRIDE)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.lm_head, self.dropout = RmsNorm(WIDTH), matrix(WIDTH, CLASSES), 0.0
        with torch.no_grad():
            self.filters.weight.copy_(filter_bank()[:, None])
            self.filters.bias.zero_()
            # Most sounds are between 0 and 1, and their differences matter more than their sum.
            self.sounds.weight.sub_(self.sounds.weight.mean(1, keepdim=True)).mul_(8)
            self.lm_head.weight.zero_()
            for layer in self.layers:
                layer.self_attn.o_proj.weight.zero_()
                layer.mlp.down_proj.weight.zero_()

    def loudness(self, samples):
        """Returns sounds [batch, FILTERS, count]: the fourth root of each filter's mean output."""
        passed = self.filters(functional.pad(samples, (KERNEL - STRIDE, 0))[:, None]).relu()
        return (functional.avg_pool1d(passed, POOLED) + FLOOR).sqrt().sqrt()

    def forward(self, samples):
        loudness = self.loudness(samples)
        silence = self.loudness(torch.zeros(1, STRIDE * POOLED)).expand(len(samples), -1, SOUNDS - SOUND_STRIDE)
        x = self.sounds(torch.cat([silence, loudness], 2)).transpose(1, 2)
        x = functional.dropout(x, self.dropout, self.training)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def optimizers_of(model):
    matrices = [parameter for parameter in model.layers.parameters() if parameter.dim() == 2]
    others = [parameter for parameter in model.parameters() if all(parameter is not other for other in matrices)]
    return [Muon(matrices, MATRIX_RATE, MOMENTUM, WEIGHT_DECAY),
            torch.optim.AdamW(others, LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0)]


def learning_rate(step, steps):
    """Returns the factor of the learning rate at a step: it rises, stays, and falls to zero."""
    return min((step + 1) / 200, 1.0, (steps - step) / (0.7 * steps))


def decision(classes):
    """Returns the digit of the longest run of frames of its class, or OTHER if none is long enough."""
    best, longest, run = OTHER, RUN - 1, 0
    for i, label in enumerate(classes):
        run = run + 1 if i and label == classes[i - 1] else 1
        if label != OTHER and run > longest:
            best, longest = label, run
    return best


@torch.no_grad()
def heard(model, clips, decibels):
    generator = torch.Generator().manual_seed(1)
    return [decision(model(streams.in_noise(clip, decibels, generator)[None])[0].argmax(-1).tolist()) for clip in clips]


def print_score(model, clips):
    for decibels in (30, 10):
        answers = heard(model, clips, decibels)
        for what, is_one in (("digits", lambda clip: clip.label != OTHER), ("others", lambda clip: clip.label == OTHER),
                             ("digits of people", lambda clip: clip.label != OTHER and "+" not in clip.voice)):
            right = [answer == clip.label for answer, clip in zip(answers, clips) if is_one(clip)]
            print(f"  {decibels} dB: {sum(right)} of {len(right)} {what}", end=";")
        print(flush=True)


def train_step(model, optimizers, samples, labels, rate):
    """Makes one step of training, and returns the loss of the batch, in nats a frame."""
    loss = functional.cross_entropy(model(samples).flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
    model.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer, full_rate in zip(optimizers, (MATRIX_RATE, LEARNING_RATE)):
        for group in optimizer.param_groups:
            group["lr"] = full_rate * rate
        optimizer.step()
    return loss.item()


def train_round(model, clips, validation, seed):
    settings = ROUNDS[seed]
    torch.manual_seed(seed)
    generator, optimizers, microphones = random.Random(seed), optimizers_of(model), streams.Microphones(LENGTH)
    clips = clips + (settings.times_people - 1) * [clip for clip in clips if clip.voice in speech.TRAINING_PEOPLE]
    model.train().dropout = settings.dropout
    for layer in model.layers:
        layer.self_attn.window = settings.window
    began, total = time.time(), 0.0
    for step in range(settings.steps):
        samples, labels = streams.batch(clips, BATCH, LENGTH, settings.stretch, microphones, generator)
        rate = settings.rate * learning_rate(step, settings.steps)
        total += train_step(model, optimizers, samples, labels, rate)
        if step % 500 == 499:
            print(f"step {step + 1}, {time.time() - began:.0f} s, loss {total / 500:.4f} a frame", flush=True)
            total = 0.0
    print_score(model.eval(), validation)


def train(clips, validation):
    torch.manual_seed(0)
    model = Listener()
    for seed in range(len(ROUNDS)):
        train_round(model, clips, validation, seed)
    return model


def saved_names(model):
    """Returns the tensors by their names in the file. A Llama has a token embedding there: this model gets sounds
    instead, so the embedding is zeros."""
    tensors = {name if name.startswith(("filters", "sounds", "lm_head")) else f"model.{name}": tensor
               for name, tensor in model.state_dict().items()}
    return {**tensors, "model.embed_tokens.weight": torch.zeros(CLASSES, WIDTH)}


def save(model, path):
    export.write_safetensors(path, saved_names(model))


def restored(path):
    model, weights = Listener(), export.read(path)
    model.load_state_dict({name.removeprefix("model."): torch.tensor(tensor.values()).view(tensor.shape)
                           for name, tensor in weights.tensors.items() if "embed" not in name})
    return model


def main(arguments):
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["--evaluate"]):
        sys.exit(__doc__)
    validation = speech.clips_of("validation", arguments[0])
    if arguments[1:]:
        print_score(restored(WEIGHTS), validation)
        return
    model = train(speech.clips_of("training", arguments[0]), validation)
    save(model, WEIGHTS)


if __name__ == "__main__":
    main(sys.argv[1:])
