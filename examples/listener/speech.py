# SPDX-License-Identifier: MIT
"""Synthesized words for training, validation and test, which have no voice in common.

A clip is one word of one voice: samples at 8 kHz from -1 to 1, without the silence around it, and a label: the
digit, or 10 for another word. Needs PyTorch and, from Debian, espeak-ng and flite.
"""
import array
import dataclasses
import io
import pathlib
import random
import subprocess
import tempfile
import wave
from concurrent import futures

import torch

RATE = 8000  # samples a second
DIGITS = "zero one two three four five six seven eight nine".split()
OTHER = len(DIGITS)  # the label of all other words

# Accents and variants of espeak-ng: a voice is one of each. A variant has other formants, another pitch and breath.
ACCENTS = "en-us en-gb en-gb-scotland en-gb-x-rp en-gb-x-gbclan en-gb-x-gbcwmd en-029 en-us-nyc".split()
TRAINING_VARIANTS = """
    Alex Alicia Andrea Andy antonio aunty belinda benjamin boris caleb Denis Diogo ed edward2 Gene gustave announcer
    Henrique iven iven3 Jacky john kaukovalta linda marcelo Marco max michel miguel Nguyen pablo pedro quincy rob
    robert robosoft steph steph3 Tweaky zac anika AnxiousAndy f2 f3 f5 grandpa klatt klatt3 klatt4 klatt6 m1 m2 m4
    m5 m7 sandro shelby travis f1 croak""".split()
VALIDATION_VARIANTS = "adam Hugo iven2 Lee Mario paul Gene2 f4 klatt2 m8 steph2 grandma".split()
TEST_VARIANTS = "Annie david edward iven4 Michael norbert victor klatt5 m3 m6 RicishayMax robosoft4 UniRobot".split()
# Voices of flite, which are cut out of recordings of people.
TRAINING_PEOPLE, VALIDATION_PEOPLE = ("slt", "awb", "kal"), ("rms",)

TRAINING_WORDS = """
    oh eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty
    seventy eighty ninety hundred thousand million first second third fourth fifth sixth seventh eighth ninth yes no
    stop go left right up down on off open close start end play pause help hello goodbye please thanks tree free
    fine find fire far fall fork fort floor door more shore store war wall warm wonder son sun run gun done fun once
    when won't what want watch white why wine line mine time sit sick sing sink sister fix mix kicks tick sticks
    since cease sense seldom send several heaven given even seeing nice night knife life live lives right rice rise
    no-one none nun noon new now know hate late rate wait great eat aid age able date state straight hay they zebra
    hero euro below yellow zoom zip sea see seat seesaw real really serial through threw thrill throw three-fold
    shoe who you do due dew tooth tune tool book look light lamp music water window kitchen table morning evening
    yesterday tomorrow monday tuesday wednesday thursday friday saturday sunday january march april june july august
    october dog cat bird horse house apple banana orange coffee computer telephone number pound star dollar message
    voicemail password press enter cancel delete the a and of in is it that for-ever with as his was be at by this
    have from or had not but some there can out other were all your word how said an each she which their will about
    many then them these so her would make like him into has""".split()
OTHER_WORDS_OF_VALIDATION = """
    umbrella river garden battery engine yellowstone paper finger silver seaside winter vision thread thirst ever
    anyone tenor knight-time fight vine fever sixpence wonderful towards freeze zealot hero-worship correct
    weather""".split()
OTHER_WORDS_OF_TEST = """
    mountain camera doctor picture bottle pencil winner foreign freedom fireman signal severe nylon narrow atom
    eager zenith tulip toucan volume alarm channel heating cooling market station ticket airport camel violin
    theatre wand fought nightly hatred""".split()


@dataclasses.dataclass
class Clip:
    samples: torch.Tensor  # float, [count]
    label: int
    word: str
    voice: str


def read_wave(file):
    """Returns the samples of a recording of 16 bits at RATE."""
    with wave.open(file) as recording:
        samples = array.array("h", recording.readframes(recording.getnframes()))
        rate = recording.getframerate()
    return resampled(torch.tensor(samples, dtype=torch.float32) / 32768, rate)


def resampled(samples, rate, taps=24):
    """Returns the samples at RATE: each is a sum of samples around it, weighted by a windowed sinc that cuts off below
    half of the lower rate."""
    if rate == RATE:
        return samples
    step, cutoff = rate / RATE, 0.95 * min(1.0, RATE / rate)
    reach = int(taps / cutoff)
    time = torch.arange(int(len(samples) / step), dtype=torch.float64) * step
    offsets = torch.arange(-reach, reach + 1)
    places = time.floor().long()[:, None] + offsets
    distance = places - time[:, None]
    weights = cutoff * torch.sinc(cutoff * distance) * torch.cos(torch.pi / 2 * distance / (reach + 1)).square()
    padded = torch.nn.functional.pad(samples, (reach, reach + 1))
    return (padded[places + reach] * weights.float()).sum(1)


def trimmed(samples, threshold=0.02, part=80):
    """Returns the samples without the parts of 10 ms before and after the word that are quieter than a share of the
    loudest part."""
    parts = samples[:len(samples) // part * part].view(-1, part)
    loudness = parts.square().mean(1).sqrt()
    loud = (loudness > threshold * loudness.max()).nonzero().flatten()
    return parts[loud[0]:loud[-1] + 1].flatten()


def of_espeak(word, accent, variant, speed, pitch):
    command = ["espeak-ng", "-v", f"{accent}+{variant}", "-s", str(speed), "-p", str(pitch), "-z", "--stdout", word]
    output = subprocess.run(command, capture_output=True, check=True).stdout
    # The header of a WAV file from a pipe does not have its length.
    with wave.open(io.BytesIO(output)) as recording:
        rate = recording.getframerate()
    samples = array.array("h", output[44:len(output) // 2 * 2])
    return trimmed(resampled(torch.tensor(samples, dtype=torch.float32) / 32768, rate))


def of_flite(word, voice, stretch, pitch):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "word.wav"
        subprocess.run(["flite", "-voice", voice, "--setf", f"duration_stretch={stretch:.2f}", "--setf",
                        f"int_f0_target_mean={pitch}", "-t", word, "-o", path], capture_output=True, check=True)
        return trimmed(read_wave(str(path)))


def labelled_words(generator, others, count):
    """Returns the ten digits `count` times, and as many other words."""
    for _ in range(count):
        yield from ((word, label) for label, word in enumerate(DIGITS))
        for _ in DIGITS:
            yield generator.choice(others), OTHER


def orders(generator, variants, people, others, count, count_of_people):
    """Yields (function, arguments, label, voice) for the clips of one of the three sets."""
    for word, label in labelled_words(generator, others, count):
        accent, variant = generator.choice(ACCENTS), generator.choice(variants)
        arguments = (accent, variant, generator.randint(105, 230), generator.randint(15, 85))
        yield of_espeak, (word, *arguments), label, f"{accent}+{variant}"
    for voice in people:
        mean = {"slt": 170, "awb": 130, "kal": 110, "rms": 100}[voice]
        for word, label in labelled_words(generator, others, count_of_people):
            arguments = (voice, generator.uniform(0.75, 1.4), round(mean * generator.uniform(0.8, 1.25)))
            yield of_flite, (word, *arguments), label, voice


def synthesized(seed, *parts):
    """Returns the clips of a set. They depend on the seed and on the versions of espeak-ng and flite only."""
    chosen = list(orders(random.Random(seed), *parts))
    with futures.ThreadPoolExecutor(2) as pool:
        samples = pool.map(lambda order: order[0](*order[1]), chosen)
        return [Clip(clip, label, arguments[0], voice) for clip, (_, arguments, label, voice) in zip(samples, chosen)]


SETS = {"training": (1, TRAINING_VARIANTS, TRAINING_PEOPLE, TRAINING_WORDS, 320, 16),
        "validation": (2, VALIDATION_VARIANTS, VALIDATION_PEOPLE, OTHER_WORDS_OF_VALIDATION, 30, 10),
        "test": (3, TEST_VARIANTS, (), OTHER_WORDS_OF_TEST, 50, 0)}


def clips_of(name, folder):
    """Returns the clips of a set, which are cached in a file in the folder."""
    path = pathlib.Path(folder) / f"{name}.pt"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        clips = synthesized(*SETS[name])
        torch.save([(clip.samples.half(), clip.label, clip.word, clip.voice) for clip in clips], path)
    return [Clip(samples.float(), label, word, voice) for samples, label, word, voice in torch.load(path)]
