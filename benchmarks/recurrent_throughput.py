"""How fast HRED and VHRED are trained beside a bare stack of `torch.nn.LSTM` layers that is fed the same inputs.

`python benchmarks/performance.py --only training` measures it. Both get the same batches of made-up dialogues with
lengths like those of real chat, made by `pretraining/batches.py`. An update is loss, gradients, clipping and Adam. The
bare stack has the sizes of the model and nothing else: an embedding, two LSTMs over each turn, one over the turns of a
dialogue, one that decodes and reads the context at every step, and the softmax over the vocabulary, without padding.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from timing import Row, Section, Took, cpu_time, in_turn, ratios, spread
from torch import Tensor, nn

from rejoinder.data.dialogues import Dialogue
from rejoinder.models.networks.dialogue import DialogueModel, Dialogues
from rejoinder.models.networks.recurrent import cross_entropy, masked
from rejoinder.models.sizes import DialogueSizes, Normalise
from rejoinder.models.vocabulary import train_bpe
from rejoinder.pretraining.batches import batch_plan, make_batch
from rejoinder.pretraining.tokens import TokenStore, write_tokens

SIZES = DialogueSizes(vocabulary=4000, embedding=128, utterance=128, context=256, decoder=256)  # recipes/*-small.toml
LATENT = 64
TOKENS_PER_BATCH = 3000
BARE = "bare stack"
BARS = {"HRED, none": 0.9, "HRED, layers": 0.9}
NORMALISE: tuple[Normalise, ...] = ("none", "layers", "gates")
BATCHES = 2
HEADER = ("model, layer normalisation", "tokens a second of CPU time", "times as fast as the bare stack")
DIALOGUES = 2_000
Update = Callable[[Dialogues], None]


class BareStack(nn.Module):
    """LSTM layers of a model's sizes, one after the other; the decoder reads the context at every step."""

    def __init__(self, sizes: DialogueSizes) -> None:
        super().__init__()
        self.embedding = nn.Embedding(sizes.vocabulary, sizes.embedding)
        self.forwards = nn.LSTM(sizes.embedding, sizes.utterance, batch_first=True)
        self.backwards = nn.LSTM(sizes.embedding, sizes.utterance, batch_first=True)
        self.context = nn.LSTM(2 * sizes.utterance, sizes.context, batch_first=True)
        self.decoder = nn.LSTM(sizes.embedding + sizes.context, sizes.decoder, batch_first=True)
        self.narrow = nn.Linear(sizes.decoder + sizes.embedding + sizes.context, sizes.embedding)
        self.words = nn.Linear(sizes.embedding, sizes.vocabulary)

    def forward(self, dialogues: Dialogues) -> Tensor:
        """Return a loss that every layer has a part in."""
        embedded = [self.embedding(tokens) for tokens, _ in dialogues.chunks]  # of each chunk [n, T, E]
        turns = [
            torch.cat([self.forwards(turn)[0][:, -1], self.backwards(turn.flip(1))[0][:, -1]], -1) for turn in embedded
        ]
        contexts, _ = self.context(torch.cat(turns)[dialogues.rows.clamp(min=0)])  # [B, U, C]
        real = dialogues.rows >= 0
        conditions = contexts.new_zeros(sum(map(len, turns)), contexts.shape[-1])
        conditions = conditions.index_put((dialogues.rows[real],), contexts[real])  # [turns, C]
        loss = torch.zeros(())
        for (tokens, lengths), turn, condition in zip(
            dialogues.chunks, embedded, conditions.split(list(map(len, turns))), strict=True
        ):
            inputs = torch.cat([turn, condition[:, None].expand(-1, turn.shape[1], -1)], -1)  # [n, T, E + C]
            decoded, _ = self.decoder(inputs)  # [n, T, D]
            logits = self.words(masked(self.narrow(torch.cat([decoded, inputs], -1)), lengths))  # [tokens, V]
            loss = loss + cross_entropy(logits, masked(tokens, lengths))
        return loss


def conversations(source: random.Random) -> Iterator[Dialogue]:
    """Yield dialogues of 2 to 8 turns, a turn of 1 to 40 words with a long tail, words by a Zipf law."""
    words = [f"{chr(97 + number % 26)}{chr(97 + number // 26 % 26)}{chr(97 + number // 676)}" for number in range(6000)]
    weights = [1.0 / (rank + 3.0) for rank in range(len(words))]
    for number in range(DIALOGUES):
        sizes = [min(40, 1 + int(source.lognormvariate(2.1, 0.7))) for _ in range(source.randint(2, 8))]
        turns = tuple(" ".join(source.choices(words, weights, k=size)) for size in sizes)
        yield Dialogue(turns, f"made-up:{number}")


def batches(count: int, seed: int) -> tuple[list[Dialogues], float]:
    """Return the batches, and the share of their positions that is padding."""
    found = list(conversations(random.Random(seed)))  # noqa: S311 - no secret
    vocabulary = train_bpe((turn for dialogue in found for turn in dialogue.turns), SIZES.vocabulary)
    with tempfile.TemporaryDirectory() as place:
        write_tokens(found, vocabulary, Path(place) / "tokens", longest_turn=40, most_turns=8)
        store = TokenStore(Path(place) / "tokens")
        made = [make_batch(store, pieces) for pieces in islice(batch_plan(store, TOKENS_PER_BATCH, seed, 0), count)]
    chunks = [chunk for batch in made for chunk in batch.chunks]
    positions = sum(chunk.tokens.numel() for chunk in chunks)
    return made, (positions - sum(int(chunk.lengths.sum()) for chunk in chunks)) / positions


def updater(model: nn.Module, loss_of: Callable[[Dialogues], Tensor]) -> Update:
    """Return one update of a model."""
    adam = torch.optim.Adam(model.parameters(), 1e-4)

    def update(batch: Dialogues) -> None:
        adam.zero_grad()
        loss_of(batch).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()

    return update


def ours(sizes: DialogueSizes) -> Update:
    """Return an update of an HRED or a VHRED."""
    model, generator = DialogueModel(sizes).train(), torch.Generator().manual_seed(0)

    def loss_of(batch: Dialogues) -> Tensor:
        losses = model(batch, generator)
        total: Tensor = (losses.nll + losses.divergence.sum()) / losses.tokens
        return total

    return updater(model, loss_of)


def section(options: argparse.Namespace) -> Section:
    """Measure, and return the section."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    chosen, wasted = batches(BATCHES, 0)
    bare = BareStack(SIZES)
    updates = {BARE: updater(bare, bare)}
    for kind, latent in (("HRED", 0), ("VHRED", LATENT)):
        for normalise in NORMALISE:
            sizes = SIZES.model_copy(update={"latent": latent, "normalise": normalise})
            updates[f"{kind}, {normalise}"] = ours(sizes)

    def timed(update: Update) -> Took:
        return cpu_time(lambda: list(map(update, chosen)))

    times = in_turn({name: partial(timed, update) for name, update in updates.items()}, options.rounds)
    seconds = {name: [took.cpu for took in numbers] for name, numbers in times.items()}
    tokens = sum(int(chunk.lengths.sum()) for batch in chosen for chunk in batch.chunks)
    rows = []
    for name, numbers in seconds.items():
        shares, speed = ratios(seconds[BARE], numbers), f"{tokens / statistics.median(numbers):,.0f}"
        cells = (name, speed, spread(shares) if name != BARE else "")
        rows.append(Row(cells, statistics.median(shares), BARS.get(name, 0)))
    return Section("Training", TEXT.format(wasted=wasted), HEADER, rows)


TEXT = f"""
Updates with the same {BATCHES} batches of at most {TOKENS_PER_BATCH:,} positions on one thread. The bare stack has \
`torch.nn.LSTM` layers of the sizes of the model, and its decoder also reads the context at every step. VHRED has more \
to compute. `none` and `layers` use the fused LSTM; `gates` has layer normalisation inside the gates and a loop in \
Python. Vocabulary {SIZES.vocabulary:,}, embedding {SIZES.embedding}, utterance 2 x {SIZES.utterance}, context \
{SIZES.context}, decoder {SIZES.decoder}, latent {LATENT} (VHRED); {{wasted:.1%}} of the positions are padding.
"""
