# SPDX-License-Identifier: MIT
"""Trains the language model of this example on Jane Austen's six novels and writes what the firmware is built from.

    python3 -m examples.writer.train                      trains; writes weights.safetensors, config.json, expected.json
    python3 -m examples.writer.train --checkpoint FILE
    python3 -m examples.writer.train --evaluate           reads the weights; prints the held-out losses, and writes
                                                          expected.json
    python3 -m examples.writer.train --held-out FILE      writes the held-out text, which the program `loss` reads

With --checkpoint the training goes on from FILE, if there is one. It is written every 1000 steps, and FILE.stable
before the learning rates fall: with more STEPS, a copy of that continues as if they had been there before.

The last 5 % of the text take no part in training. Needs PyTorch, SentencePiece, NumPy and the novels (Debian:
python3-torch, libopenblas0-pthread, python3-sentencepiece, python3-numpy, r-cran-janeaustenr). One seed and one thread:
the same machine trains the same weights. Two settings that change no result take two thirds off the time where they
apply: OPENBLAS_CORETYPE=SKYLAKEX on a processor with AVX-512, and LD_PRELOAD=libtcmalloc_minimal.so.4.
"""
import collections
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import sentencepiece  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from examples.support.muon import Muon  # noqa: E402
from examples.writer import tokenizer as pieces  # noqa: E402
from ports.pytorch import tinyattn_export as export  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
WEIGHTS = HERE / "weights.safetensors"

WIDTH, LAYERS, HEADS, HEAD_DIM, HIDDEN, WINDOW = 64, 4, 4, 16, 112, 48
# Each step takes BATCH pieces of text of LENGTH tokens, a multiple of the window. The learning rates fall during the
# last DECAY steps.
STEPS, DECAY, BATCH, LENGTH = 28833, 14998, 7, 288
CHARACTERS, VOCABULARY = 60, 512
ROTARY_BASE, EPSILON = 10000.0, 1e-5
WARM_UP, MATRIX_RATE, RATE, MOMENTUM, WEIGHT_DECAY = 200, 0.03, 0.015, 0.95, 0.01
BEGINNING = ".\n"  # each text begins after this piece: most paragraphs end with it
PROMPT, GREEDY = "It is a truth", 100


class RmsNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * self.weight


def matrix(d_in, d_out):
    linear = nn.Linear(d_in, d_out, bias=False)
    nn.init.normal_(linear.weight, std=0.7 * d_in ** -0.5)
    return linear


def matrix_of_zeros(d_in, d_out):
    linear = nn.Linear(d_in, d_out, bias=False)
    nn.init.zeros_(linear.weight)
    return linear


def rotated(x):
    """Rotates each pair of features (i, i + half) by an angle that grows with the position of the token."""
    half = x.shape[-1] // 2
    frequencies = ROTARY_BASE ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = torch.arange(x.shape[-2], dtype=torch.float64).unsqueeze(-1) * frequencies
    cosines, sines = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return x * torch.cat([cosines, cosines], -1) + x.roll(half, -1) * torch.cat([-sines, sines], -1)


def in_int8(x):
    """Returns x as an int8 cache holds it: integers of eight bits and, for each row, a scale of 8 to 15 times a power
    of two."""
    least = (x.abs().amax(-1, keepdim=True) / 127.5).clamp_min(2.0 ** -22)
    power = 2.0 ** (least.log2().floor() - 3)
    scale = (least / power).ceil() * power
    return (x / scale).round() * scale


class Attention(nn.Module):
    """Causal attention with one key head for all query heads. A token attends to itself and the window - 1 tokens
    before it. Tokens are computed in blocks as long as the window: a block attends to its own keys and to the
    previous block's."""
    def __init__(self):
        super().__init__()
        self.int8_cache = False
        self.q_proj, self.k_proj = matrix(WIDTH, WIDTH), matrix(WIDTH, HEAD_DIM)
        self.v_proj, self.o_proj = matrix(WIDTH, HEAD_DIM), matrix_of_zeros(WIDTH, WIDTH)
        query = torch.arange(WINDOW, 2 * WINDOW).unsqueeze(-1)
        key = torch.arange(2 * WINDOW)
        self.hidden_keys = (key > query) | (key <= query - WINDOW)

    def keys_of_blocks(self, x):
        blocks = x.view(x.shape[0], -1, WINDOW, x.shape[-1])
        return torch.cat([functional.pad(blocks[:, :-1], (0, 0, 0, 0, 1, 0)), blocks], 2).flatten(0, 1)

    def forward(self, x):
        batch, tokens, _ = x.shape
        query = rotated(self.q_proj(x).view(batch, tokens, HEADS, HEAD_DIM).transpose(1, 2)) * HEAD_DIM ** -0.5
        key, value = rotated(self.k_proj(x)), self.v_proj(x)
        if self.int8_cache:
            key, value = in_int8(key), in_int8(value)
        query = query.reshape(batch, HEADS, -1, WINDOW, HEAD_DIM).transpose(1, 2).flatten(0, 1).flatten(1, 2)
        scores = query @ self.keys_of_blocks(key).transpose(1, 2)
        scores = scores.view(batch, -1, HEADS, WINDOW, 2 * WINDOW).masked_fill(self.hidden_keys, -torch.inf)
        scores[:, 0, :, :, :WINDOW] = -torch.inf
        weights = scores.softmax(-1).view(-1, HEADS * WINDOW, 2 * WINDOW)
        context = (weights @ self.keys_of_blocks(value)).view(batch, -1, HEADS, WINDOW, HEAD_DIM)
        return self.o_proj(context.transpose(2, 3).reshape(batch, tokens, WIDTH))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj, self.up_proj = matrix(WIDTH, HIDDEN), matrix(WIDTH, HIDDEN)
        self.down_proj = matrix_of_zeros(HIDDEN, WIDTH)

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


class Writer(nn.Module):
    """A Llama with a window: maps tokens [batch, tokens] to logits [batch, tokens, VOCABULARY]. The head and the
    embedding are not tied: that costs no time."""
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.lm_head = RmsNorm(WIDTH), matrix_of_zeros(WIDTH, VOCABULARY)
        nn.init.normal_(self.embed_tokens.weight, std=0.5)

    def forward(self, tokens):
        x = self.embed_tokens(functional.pad(tokens, (0, -tokens.shape[1] % WINDOW)))
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x[:, :tokens.shape[1]]))


def load():
    """Returns the novels without their last 5 %, and these 5 %. Each paragraph is one line; only the CHARACTERS
    most frequent characters are kept."""
    lines = subprocess.run(["Rscript", "-e", "writeLines(janeaustenr::austen_books()$text)"], capture_output=True,
                           text=True, check=True)
    text = "\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", lines.stdout)
                     if paragraph.strip())
    frequent = {character for character, _ in collections.Counter(text).most_common(CHARACTERS)}
    text = "".join(character for character in text if character in frequent)
    part = len(text) * 95 // 100
    return text[:part], text[part:]


def tokenizer_of(text):
    """Returns the tokenizer in tokenizer.model; makes it from the text if there is none."""
    path = HERE / "tokenizer.model"
    if not path.exists():
        path.write_bytes(pieces.sentencepiece_model(pieces.pieces_of(text, VOCABULARY - 1)))
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def learning_rate(step):
    """Returns the factor of the learning rate at a step: it rises, stays, and falls to zero."""
    return min((step + 1) / WARM_UP, 1.0, (STEPS - step) / DECAY)


def optimizers_of(model):
    matrices = [parameter for parameter in model.layers.parameters() if parameter.dim() == 2]
    others = [parameter for parameter in model.parameters() if all(parameter is not other for other in matrices)]
    return [Muon(matrices, MATRIX_RATE, MOMENTUM, WEIGHT_DECAY),
            torch.optim.AdamW(others, RATE, betas=(0.9, 0.99), weight_decay=0)]


def save(path, model, optimizers, step):
    torch.save({"model": model.state_dict(), "optimizers": [optimizer.state_dict() for optimizer in optimizers],
                "step": step, "generator": torch.get_rng_state()}, path)


def resume(path, model, optimizers):
    """Returns the step at which a saved training continues."""
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    for optimizer, state in zip(optimizers, saved["optimizers"]):
        optimizer.load_state_dict(state)
    torch.set_rng_state(saved["generator"])
    return saved["step"]


def train_step(model, optimizers, batch, rate):
    """Makes one step of training, and returns the loss of the batch, in nats a token."""
    loss = functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
    model.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer, full_rate in zip(optimizers, (MATRIX_RATE, RATE)):
        for group in optimizer.param_groups:
            group["lr"] = full_rate * rate
        optimizer.step()
    return loss.item()


def train(tokens, checkpoint=None, seed=0):
    torch.manual_seed(seed)
    model, began = Writer(), time.time()
    optimizers = optimizers_of(model)
    first = resume(checkpoint, model, optimizers) if checkpoint and os.path.exists(checkpoint) else 0
    for step in range(first, STEPS):
        if checkpoint and step == STEPS - DECAY:
            save(f"{checkpoint}.stable", model, optimizers, step)
        starts = torch.randint(len(tokens) - LENGTH, (BATCH, 1))
        loss = train_step(model, optimizers, tokens[starts + torch.arange(LENGTH + 1)], learning_rate(step))
        if step % 1000 == 999:
            print(f"step {step + 1}, {time.time() - began:.0f} s, loss of the batch {loss:.3f} a token", flush=True)
            if checkpoint:
                save(checkpoint, model, optimizers, step + 1)
    return model


@torch.no_grad()
def total_loss(model, tokens):
    """Returns the loss, in nats, of consecutive tokens as in the firmware: each but the first attends to the
    window before it, and through deeper layers to what that attended to."""
    seen, at_once = LAYERS * WINDOW, 8192
    total = 0.0
    for begin in range(1, len(tokens), at_once):
        from_token = max(0, begin - 1 - seen)
        part = tokens[from_token:begin + at_once]
        following = part[begin - from_token:]
        logits = model(part[None, :-1])[0, -len(following):]
        total += functional.cross_entropy(logits, following, reduction="sum").item()
    return total


@torch.no_grad()
def with_int8_weights(model):
    """Returns the model with each row of its matrices rounded to integers of eight bits times the row's scale."""
    model = copy.deepcopy(model)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            scale = parameter.abs().amax(1, keepdim=True) / 127
            parameter.copy_((parameter / scale).round() * scale)
    return model


def with_int8_cache(model):
    model = copy.deepcopy(model)
    for layer in model.layers:
        layer.self_attn.int8_cache = True
    return model


def print_losses(model, text, tokens):
    """Prints the losses of the held-out text, in nats a character. Its first token is given."""
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(f"{parameters:,} parameters; {len(text) / len(tokens):.3f} characters a token; "
          f"cache {2 * LAYERS * WINDOW * (HEAD_DIM + 1):,} bytes")
    int8 = with_int8_weights(model)
    for what, variant in (("f32, cache f32", model), ("int8, cache f32", int8),
                          ("int8, cache int8", with_int8_cache(int8))):
        print(f"weights {what:18} {total_loss(variant, tokens) / len(text):.4f} nats a character")


def beginning(tokenizer, prompt):
    return [tokenizer.piece_to_id(BEGINNING), *tokenizer.encode(prompt)]


@torch.no_grad()
def expected(model, tokenizer):
    """Returns PyTorch's results in double, with float weights, for a prompt at the beginning of a paragraph: the
    logits after each of its tokens, the most likely tokens that follow, and the logits of the last of them."""
    model, tokens = copy.deepcopy(model).double(), beginning(tokenizer, PROMPT)
    logits = model(torch.tensor([tokens]))[0]
    text = list(tokens)
    for _ in range(GREEDY):
        text.append(int(model(torch.tensor([text]))[0, -1].argmax()))
    last = model(torch.tensor([text[:-1]]))[0, -1]
    return {"prompt": PROMPT, "tokens": tokens, "logits": [" ".join(f"{logit:.8f}" for logit in row)
                                                           for row in [*logits.tolist(), last.tolist()]],
            "greedy": tokenizer.decode(text[len(tokens):]), "greedy_tokens": text[len(tokens):]}


def config_of(tokenizer):
    """Returns the settings that are not in the tensors, with the keys of Hugging Face's configuration of a Mistral.
    There is no end token: a paragraph ends with a newline, which is also the last character of other pieces."""
    return {"model_type": "mistral", "vocab_size": VOCABULARY, "hidden_size": WIDTH, "intermediate_size": HIDDEN,
            "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": 1, "head_dim": HEAD_DIM,
            "max_position_embeddings": LENGTH, "sliding_window": WINDOW, "hidden_act": "silu", "rms_norm_eps": EPSILON,
            "rope_theta": ROTARY_BASE, "tie_word_embeddings": False, "bos_token_id": tokenizer.piece_to_id(BEGINNING)}


def saved_names(model):
    return {name if name.startswith("lm_head") else f"model.{name}": tensor
            for name, tensor in model.state_dict().items()}


def restored(path):
    model, weights = Writer(), export.read(path)
    model.load_state_dict({name.removeprefix("model."): torch.tensor(tensor.values()).view(tensor.shape)
                           for name, tensor in weights.tensors.items()})
    return model


def write_json(name, content):
    (HERE / name).write_text(json.dumps(content, indent=1) + "\n")


def main(arguments):
    torch.set_num_threads(1)
    option, file = (arguments + [None, None])[:2]
    if len(arguments) > 2 or (option, file is None) not in (
            (None, True), ("--evaluate", True), ("--held-out", False), ("--checkpoint", False)):
        sys.exit(__doc__)
    text, held_out = load()
    if option == "--held-out":
        pathlib.Path(file).write_text(held_out, encoding="ascii")
        return
    tokenizer = tokenizer_of(text)
    if option == "--evaluate":
        model = restored(WEIGHTS)
    else:
        model = train(torch.tensor(tokenizer.encode(text)), file)
        export.write_safetensors(WEIGHTS, saved_names(model))
        write_json("config.json", config_of(tokenizer))
    print_losses(model, held_out, torch.tensor(tokenizer.encode(held_out)))
    write_json("expected.json", expected(model, tokenizer))


if __name__ == "__main__":
    main(sys.argv[1:])
