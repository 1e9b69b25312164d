# SPDX-License-Identifier: MIT
"""Trains the character model of this example on Jane Austen's six novels and writes what the firmware is built from.

    python3 -m examples.writer.train               trains; writes the four data files
    python3 -m examples.writer.train --evaluate    reads the weights; prints the held-out loss and writes expected.json
    python3 -m examples.writer.train --held-out FILE    writes the held-out text, which the program `loss` reads

The last 5 % of the text take no part in training. Needs PyTorch and the novels (Debian: python3-torch,
libopenblas0-pthread, r-cran-janeaustenr). One seed and one thread: the same machine trains the same weights.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from ports.pytorch import tinyattn_export as export  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent

VOCABULARY, WIDTH, LAYERS, HEADS, HEAD_DIM, HIDDEN, CONTEXT = 60, 48, 3, 6, 8, 64, 48
ROTARY_BASE, EPSILON = 10000.0, 1e-5
STEPS, WARM_UP, BATCH, MATRIX_RATE, RATE, MOMENTUM, WEIGHT_DECAY = 30000, 300, 40, 0.02, 0.02, 0.95, 0.01
PROMPT, GREEDY = "It is a truth", 200

# The settings that the tensors do not tell, with the keys of Hugging Face's configuration of a Llama.
CONFIG = {"model_type": "llama", "vocab_size": VOCABULARY, "hidden_size": WIDTH, "intermediate_size": HIDDEN,
          "num_hidden_layers": LAYERS,
          "num_attention_heads": HEADS, "num_key_value_heads": 1, "head_dim": HEAD_DIM,
          "max_position_embeddings": CONTEXT,
          "hidden_act": "silu", "rms_norm_eps": EPSILON, "rope_theta": ROTARY_BASE, "tie_word_embeddings": True}


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


def rotated(x):
    """Rotates each pair of features (i, i + HEAD_DIM / 2) by an angle that grows with the position of the token."""
    frequencies = ROTARY_BASE ** (-torch.arange(0, HEAD_DIM, 2, dtype=torch.float64) / HEAD_DIM)
    angles = torch.arange(x.shape[-2], dtype=torch.float64).unsqueeze(-1) * frequencies
    cosines, sines = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return x * torch.cat([cosines, cosines], -1) + x.roll(HEAD_DIM // 2, -1) * torch.cat([-sines, sines], -1)


class Attention(nn.Module):
    """Causal attention with one key head for all query heads."""
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj = matrix(WIDTH, HEADS * HEAD_DIM), matrix(WIDTH, HEAD_DIM)
        self.v_proj, self.o_proj = matrix(WIDTH, HEAD_DIM), matrix(HEADS * HEAD_DIM, WIDTH)
        nn.init.zeros_(self.o_proj.weight)

    def forward(self, x):
        batch, tokens, _ = x.shape
        query = rotated(self.q_proj(x).view(batch, tokens, HEADS, HEAD_DIM).transpose(1, 2)) * HEAD_DIM ** -0.5
        scores = query.reshape(batch, HEADS * tokens, HEAD_DIM) @ rotated(self.k_proj(x)).transpose(1, 2)
        future = torch.full((tokens, tokens), -torch.inf, dtype=x.dtype).triu(1)
        weights = (scores.view(batch, HEADS, tokens, tokens) + future).softmax(-1).view(batch, HEADS * tokens, tokens)
        context = (weights @ self.v_proj(x)).view(batch, HEADS, tokens, HEAD_DIM)
        return self.o_proj(context.transpose(1, 2).reshape(batch, tokens, HEADS * HEAD_DIM))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = matrix(WIDTH, HIDDEN), matrix(WIDTH,
                                                                                     HIDDEN), matrix(HIDDEN, WIDTH)
        nn.init.zeros_(self.down_proj.weight)

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
    """A Llama whose head is its embedding: maps tokens [batch, tokens] to logits [batch, tokens, VOCABULARY]."""
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = RmsNorm(WIDTH)
        nn.init.normal_(self.embed_tokens.weight, std=WIDTH ** -0.5)

    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.embed_tokens.weight.T


def orthogonalized(matrices):
    """Moves the singular values of each of the stacked matrices close to 1, by five steps of Newton and Schulz."""
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
    def __init__(self, parameters, rate):
        by_shape = collections.defaultdict(list)
        for parameter in parameters:
            by_shape[parameter.shape].append(parameter)
        super().__init__([{"params": same} for same in by_shape.values()], {"lr": rate})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            gradients = torch.stack([parameter.grad for parameter in group["params"]])
            momentum = group.setdefault("momentum", torch.zeros_like(gradients)).lerp_(gradients, 1 - MOMENTUM)
            for parameter, change in zip(group["params"], orthogonalized(gradients.lerp(momentum, MOMENTUM))):
                longer = max(1, parameter.shape[0] / parameter.shape[1]) ** 0.5
                parameter.mul_(1 - WEIGHT_DECAY * group["lr"]).sub_(change, alpha=longer * group["lr"])


def load():
    """Returns the VOCABULARY most frequent characters, sorted, and the novels as indices into them. Each paragraph is
    one line; other characters are left out."""
    lines = subprocess.run(["Rscript", "-e", "writeLines(janeaustenr::austen_books()$text)"], capture_output=True,
                           text=True, check=True)
    text = "\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", lines.stdout)
                     if paragraph.strip())
    vocabulary = "".join(sorted(character for character, _ in collections.Counter(text).most_common(VOCABULARY)))
    tokens = {character: token for token, character in enumerate(vocabulary)}
    return vocabulary, torch.tensor([tokens[character] for character in text if character in tokens])


def windows(text, starts):
    return text[starts.unsqueeze(-1) + torch.arange(CONTEXT + 1)]


def train(text, seed=0):
    torch.manual_seed(seed)
    model, began = Writer(), time.time()
    matrices = [parameter for parameter in model.layers.parameters() if parameter.dim() == 2]
    others = [parameter for parameter in model.parameters() if all(parameter is not other for other in matrices)]
    optimizers = [Muon(matrices, MATRIX_RATE), torch.optim.AdamW(others, RATE, betas=(0.9, 0.99), weight_decay=0)]
    schedules = [torch.optim.lr_scheduler.LambdaLR(optimizer,
                                                   lambda step: min((step + 1) / WARM_UP,
                                                                    (STEPS - step) / (STEPS - WARM_UP)))
                 for optimizer in optimizers]
    for step in range(STEPS):
        batch = windows(text, torch.randint(len(text) - CONTEXT, (BATCH,)))
        loss = functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for stage in optimizers + schedules:
            stage.step()
        if step % 1000 == 999:
            print(f"step {step + 1}, {time.time() - began:.0f} s, loss of the batch {loss.item():.3f}", flush=True)
    return model


@torch.no_grad()
def loss_as_used(model, text):
    """Returns the loss, in nats per character, of the text as the firmware reads it: when the context is full, the
    model reads its last half again, so that a prediction has half a context to a full one before it."""
    half = CONTEXT // 2
    total, count = 0.0, 0
    for starts in torch.arange(0, len(text) - CONTEXT, half + 1).split(256):
        batch = windows(text, starts)
        logits, following = model(batch[:, :-1])[:, half - 1:], batch[:, half:]
        total += functional.cross_entropy(logits.flatten(0, 1), following.flatten(), reduction="sum").item()
        count += following.numel()
    return total / count


@torch.no_grad()
def greedy(model, tokens, count):
    """Returns the next `count` tokens, each the most likely one, and the logits of the last. The context is as in
    loss_as_used."""
    tokens, begin = list(tokens), 0
    for _ in range(count):
        if len(tokens) - begin > CONTEXT:
            begin = len(tokens) - CONTEXT // 2
        logits = model(torch.tensor([tokens[begin:]]))[0, -1]
        tokens.append(int(logits.argmax()))
    return tokens[-count:], logits


def expected(model, vocabulary):
    """Returns what PyTorch computes in double from the weights in float. The tests compare with it."""
    model, tokens = model.double(), [vocabulary.index(character) for character in PROMPT]
    with torch.no_grad():
        logits = model(torch.tensor([tokens]))[0]
    most_likely, last = greedy(model, tokens, GREEDY)
    return {"prompt": PROMPT, "logits": [" ".join(f"{logit:.8f}" for logit in row)
                                         for row in [*logits.tolist(), last.tolist()]],
            "greedy": "".join(vocabulary[token] for token in most_likely)}


def saved_names(model):
    return {f"model.{name}": tensor for name, tensor in model.state_dict().items()}


def restored():
    model, weights = Writer(), export.read(HERE / "weights.safetensors")
    model.load_state_dict({name.removeprefix("model."): torch.tensor(tensor.values()).view(tensor.shape)
                           for name, tensor in weights.tensors.items()})
    return model


def write_json(name, content):
    (HERE / name).write_text(json.dumps(content, indent=1) + "\n")


def main(arguments):
    torch.set_num_threads(1)
    if arguments not in ([], ["--evaluate"]) and (len(arguments) != 2 or arguments[0] != "--held-out"):
        sys.exit(__doc__)
    vocabulary, text = load()
    part = len(text) * 95 // 100
    if len(arguments) == 2:
        pathlib.Path(arguments[1]).write_text("".join(vocabulary[token] for token in text[part:]), encoding="ascii")
        return
    if arguments:
        model = restored()
    else:
        model = train(text[:part])
        export.write_safetensors(HERE / "weights.safetensors", saved_names(model))
        write_json("config.json", CONFIG)
        write_json("vocabulary.json", vocabulary)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    loss = loss_as_used(model, text[part:])
    print(f"{parameters:,} parameters; {loss:.4f} nats a character on the last {len(text) - part:,} of {len(text):,}")
    write_json("expected.json", expected(model, vocabulary))


if __name__ == "__main__":
    main(sys.argv[1:])
