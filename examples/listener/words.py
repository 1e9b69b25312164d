# SPDX-License-Identifier: MIT
"""Makes the words that the model is tested with; none of their voices took part in training.

    python3 -m examples.listener.words FOLDER                  writes FOLDER/*.words, which the program `score` reads
    python3 -m examples.listener.words FOLDER --results BUILT  runs the programs in BUILT; writes printed.txt, and what
                                                               they print into README.md
    python3 -m examples.listener.words FOLDER --recordings     writes recordings.safetensors, to which boards listen

FOLDER is train.py's. The recordings of a person are from Debian's
asterisk-core-sounds-en-wav: digits, and as other words the other numbers, days, months, letters and the spelling
alphabet.
"""
import array
import pathlib
import re
import struct
import subprocess
import sys

import torch

from examples.support import tables

from . import speech, streams, train
from .speech import DIGITS, OTHER, RATE
from .streams import FRAME

HERE = pathlib.Path(__file__).resolve().parent
PROMPTS = pathlib.Path("/usr/share/asterisk/sounds/en_US_f_Allison")
TABLES = {"Synthesized voices for the test, in faint noise": "test_quiet",
          "Synthesized voices for the test, in noise": "test_noisy",
          "A person, in faint noise": "person_quiet", "A person, in noise": "person_noisy",
          "Voices for validation, in faint noise": "validation_quiet"}  # {heading in README.md: words}
QUIET, NOISY = 30, 10  # signal-to-noise ratios of the words, in decibels
FRAMES_OF_RECORDING = 25


def prompts():
    """Yields the recordings of a person: ten digits, and other words."""
    for label, _ in enumerate(DIGITS):
        yield speech.Clip(speech.read_wave(str(PROMPTS / "digits" / f"{label}.wav")), label, DIGITS[label], "Allison")
    others = (path for folder in ("digits", "letters", "phonetic") for path in (PROMPTS / folder).glob("*.wav"))
    for path in sorted(others):
        is_digit = re.fullmatch(r"[0-9]|9_p|space", path.stem)
        if not is_digit:
            yield speech.Clip(speech.read_wave(str(path)), OTHER, path.stem, "Allison")


def write(path, clips, decibels):
    generator = torch.Generator().manual_seed(1)
    with open(path, "wb") as file:
        for clip in clips:
            samples = (32768 * streams.in_noise(clip, decibels, generator)).round().clamp(-32768, 32767).int().tolist()
            file.write(struct.pack("<BI", clip.label, len(samples)) + array.array("h", samples).tobytes())


def write_all(folder):
    sets = {name: speech.clips_of(name, folder) for name in ("validation", "test")}
    for name, clips in {**sets, "person": list(prompts())}.items():
        for condition, decibels in (("quiet", QUIET), ("noisy", NOISY)):
            write(folder / f"{name}_{condition}.words", clips, decibels)


def recording(clip, generator):
    """Returns a clip as a recording of one second, in eight bits."""
    length = FRAMES_OF_RECORDING * FRAME
    samples = torch.nn.functional.pad(clip.samples / clip.samples.abs().max(), (800, length - 800 - len(clip.samples)))
    return (100 * samples + torch.randn(length, generator=generator)).round().clamp(-127, 127).int()


def recordings(clips):
    """Returns a short clip of each digit and two of other words, each by another voice."""
    voices, chosen = set(), []
    for label in (*range(3), OTHER, *range(3, 10), OTHER):
        fits = (clip for clip in clips if clip.label == label and clip.voice.split("+")[1] not in voices
                and len(clip.samples) < 0.5 * RATE)
        chosen.append(next(fits))
        voices.add(chosen[-1].voice.split("+")[1])
    return chosen


def write_recordings(clips, model):
    """Writes the recordings, their labels, and PyTorch's logits of their frames, read as one
    stream."""
    generator = torch.Generator().manual_seed(1)
    samples = torch.stack([recording(clip, generator) for clip in clips])
    with torch.no_grad():
        logits = model(samples.view(1, -1) / 127)[0]
    tables.write(HERE / "recordings.safetensors", {
        "samples": ("I8", list(samples.shape), samples.flatten().tolist()),
        "labels": ("U8", [len(clips)], [clip.label for clip in clips]),
        "logits": ("F32", list(logits.shape), logits.flatten().tolist())})


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def with_text(page, before, text):
    """Returns the page with this text between `before` and the next heading or paragraph that is not indented."""
    return re.sub(rf"({re.escape(before)}\n\n)(?:(?:[| ]|Right: ).*\n|\n)*", lambda match: f"{match[1]}{text}\n", page)


def write_results(folder, built):
    """Writes printed.txt, and puts it and the tables into README.md."""
    printed = re.sub(r"^board:.*\n", "", output(built / "listener"), flags=re.MULTILINE)
    (HERE / "printed.txt").write_text(printed, encoding="utf-8")
    path = HERE / "README.md"
    indented = "".join(f"    {line}".rstrip() + "\n" for line in printed.splitlines())
    page = with_text(path.read_text(encoding="utf-8"), "It prints, on each machine:", indented)
    for heading, name in TABLES.items():
        page = with_text(page, f"### {heading}", output(built / "score", folder / f"{name}.words"))
    path.write_text(page, encoding="utf-8")


def main(folder, *options):
    torch.set_num_threads(1)
    folder = pathlib.Path(folder)
    if options == ("--recordings",):
        write_recordings(recordings(speech.clips_of("test", folder)), train.restored(train.WEIGHTS))
    elif len(options) == 2 and options[0] == "--results":
        write_results(folder, pathlib.Path(options[1]))
    elif not options:
        write_all(folder)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
