"""Tokens per second in training: HRED and VHRED beside a bare stack of `torch.nn.LSTM` layers.

Usage: python benchmarks/recurrent_throughput.py [--batches 4] [--rounds 3] [--seed 0] [--write]

Both sides get the same batches, made up with lengths like those of real chat and put together by
`pretraining/batches.py`, in one process, in turns. An update is loss, gradients, clipping and Adam. The bare stack has
the sizes of the model and nothing else: an embedding, two LSTMs over each turn, one over the turns of a dialogue, one
that decodes, and the softmax over the vocabulary, where there is no padding. Its decoder reads what that of an HRED
reads: the word before and the context, at every step. Times are CPU seconds. The last row is the whole call of `train`,
with validation and checkpoints.
`--write` puts the table into benchmarks/results/recurrent_throughput.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn

from rejoinder.data.dialogues import Dialogue
from rejoinder.models.networks.dialogue import DialogueModel, Dialogues
from rejoinder.models.networks.recurrent import cross_entropy, masked
from rejoinder.models.sizes import DialogueSizes, Normalise
from rejoinder.models.vocabulary import train_bpe
from rejoinder.pretraining.batches import DialogueBatches, batch_plan, make_batch
from rejoinder.pretraining.dialogue import DialogueTask
from rejoinder.pretraining.loop import train
from rejoinder.pretraining.recipe import Run
from rejoinder.pretraining.tokens import TokenStore, write_tokens

RESULT = Path(__file__).parent / "results" / "recurrent_throughput.md"
SIZES = DialogueSizes(vocabulary=4000, embedding=128, utterance=128, context=256, decoder=256)  # recipes/*-small.toml
LATENT = 64
TOKENS_PER_BATCH = 3000
TARGETS: dict[Normalise, float] = {"none": 0.9, "layers": 0.9, "gates": 0.5}
BARE, WHOLE = "bare stack", "HRED, layers: the whole call of train"
DIALOGUES = 2_000
Update = Callable[[Dialogues], None]


class BareStack(nn.Module):
    """LSTM layers of a model's sizes, one after the other."""

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
        """A loss that every layer has a part in."""
        embedded = [self.embedding(tokens) for tokens, _ in dialogues.chunks]  # each [n, T, E]
        turns = [
            torch.cat([self.forwards(words)[0][:, -1], self.backwards(words.flip(1))[0][:, -1]], -1)
            for words in embedded
        ]
        contexts, _ = self.context(torch.cat(turns)[dialogues.rows.clamp(min=0)])  # [B, U, C]
        inside = dialogues.rows >= 0
        conditions = torch.zeros(sum(map(len, turns)), contexts.shape[-1])
        conditions = conditions.index_put((dialogues.rows[inside],), contexts[inside])
        loss, start = torch.zeros(()), 0
        for words, (tokens, lengths) in zip(embedded, dialogues.chunks, strict=True):
            condition = conditions[start : start + len(tokens)][:, None].expand(-1, words.shape[1], -1)  # [n, T, C]
            decoded, _ = self.decoder(torch.cat([words, condition], -1))  # [n, T, D]
            logits = self.words(self.narrow(masked(torch.cat([decoded, words, condition], -1), lengths)))  # [tokens, V]
            loss = loss + cross_entropy(logits, masked(tokens, lengths))
            start += len(tokens)
        return loss


def conversations(source: random.Random) -> Iterator[Dialogue]:
    """Dialogues of 2 to 8 turns, a turn of 1 to 40 words with a long tail, words by a Zipf law."""
    words = [f"{chr(97 + number % 26)}{chr(97 + number // 26 % 26)}{chr(97 + number // 676)}" for number in range(6000)]
    weights = [1.0 / (rank + 3.0) for rank in range(len(words))]
    for number in range(DIALOGUES):
        sizes = [min(40, 1 + int(source.lognormvariate(2.1, 0.7))) for _ in range(source.randint(2, 8))]
        turns = tuple(" ".join(source.choices(words, weights, k=size)) for size in sizes)
        yield Dialogue(turns, f"made-up:{number}")


def batches(folder: Path, count: int, seed: int) -> tuple[list[Dialogues], TokenStore, float]:
    """Return the batches, the store that they are of, and the share of their positions that is padding."""
    dialogues = list(conversations(random.Random(seed)))  # noqa: S311 - no secret
    vocabulary = train_bpe((turn for dialogue in dialogues for turn in dialogue.turns), SIZES.vocabulary)
    write_tokens(dialogues, vocabulary, folder / "tokens", longest_turn=40, most_turns=8)
    store = TokenStore(folder / "tokens")
    made = [make_batch(store, pieces) for pieces in islice(batch_plan(store, TOKENS_PER_BATCH, seed, 0), count)]
    chunks = [chunk for batch in made for chunk in batch.chunks]
    positions = sum(chunk.tokens.numel() for chunk in chunks)
    return made, store, (positions - sum(int(chunk.lengths.sum()) for chunk in chunks)) / positions


def whole_call(store: TokenStore, folder: Path, seed: int) -> float:
    """Return tokens per CPU second of `train`: an HRED, 40 updates, two validations and checkpoints."""
    run = Run(updates=40, stretch=20, learning_rate=1e-4, accelerator="cpu", seed=seed)
    task = DialogueTask(SIZES.model_copy(update={"normalise": "layers"}), run)
    batches = DialogueBatches(store, store, TOKENS_PER_BATCH, seed)
    updates = list(islice(batch_plan(store, TOKENS_PER_BATCH, seed, 0), run.updates))
    tokens = sum(int(store.starts[piece + 1, 1] - store.starts[piece, 1]) for pieces in updates for piece in pieces)
    few = Few(batches)
    start = time.process_time()
    train(task, few, run, folder)
    return tokens / (time.process_time() - start)


class Few:
    """The same batches with a short validation part."""

    def __init__(self, batches: DialogueBatches) -> None:
        self.training = batches.training
        self.batches = batches

    def validation(self) -> Iterator[object]:
        """Return one batch."""
        return islice(self.batches.validation(), 1)


def updater(model: nn.Module, loss_of: Callable[[Dialogues], Tensor]) -> Update:
    """What one update of a model is."""
    adam = torch.optim.Adam(model.parameters(), 1e-4)

    def update(batch: Dialogues) -> None:
        adam.zero_grad()
        loss_of(batch).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()

    return update


def ours(sizes: DialogueSizes) -> Update:
    """An update of an HRED or a VHRED."""
    model, generator = DialogueModel(sizes).train(), torch.Generator().manual_seed(0)

    def loss_of(batch: Dialogues) -> Tensor:
        losses = model(batch, generator)
        total: Tensor = (losses.nll + losses.divergence.sum()) / losses.tokens
        return total

    return updater(model, loss_of)


def sides() -> dict[str, Update]:
    """Everything that is timed, by name; the bare stack first."""
    bare = BareStack(SIZES)
    found = {BARE: updater(bare, bare)}
    for kind, latent in (("HRED", 0), ("VHRED", LATENT)):
        for normalise in TARGETS:
            found[f"{kind}, {normalise}"] = ours(SIZES.model_copy(update={"latent": latent, "normalise": normalise}))
    return found


def race(given: list[Dialogues], rounds: int) -> dict[str, float]:
    """Tokens per second by side: the median over batches and rounds, after one batch to warm up.

    The sides take turns batch by batch, so that whatever else the machine does falls on all of them alike.
    """
    updates = sides()
    for update in updates.values():
        update(given[0])
    seconds: dict[str, list[float]] = {name: [] for name in updates}
    for batch in given * rounds:
        tokens = sum(int(chunk.lengths.sum()) for chunk in batch.chunks)
        for name, update in updates.items():
            start = time.process_time()
            update(batch)
            seconds[name].append((time.process_time() - start) / tokens)
    return {name: 1.0 / statistics.median(times) for name, times in seconds.items()}


def table(speeds: dict[str, float]) -> str:
    """The result as Markdown."""
    lines = ["| model, layer norm | tokens/s | of the bare stack | at least |", "| --- | ---: | ---: | ---: |"]
    for name, speed in speeds.items():
        target = f"{TARGETS[_norm(name)]:.1f}" if name not in (BARE, WHOLE) else ""
        lines.append(f"| {name} | {speed:,.0f} | {speed / speeds[BARE]:.2f} | {target} |")
    return "\n".join(lines)


def _norm(name: str) -> Normalise:
    """The layer normalisation in a side's name."""
    return next(norm for norm in TARGETS if name.endswith(norm))


def page(found: str, wasted: float, asked: argparse.Namespace) -> str:
    """The file of the result."""
    machine = f"{os.cpu_count()} CPUs, {torch.get_num_threads()} thread(s), Python {platform.python_version()}"
    options = f"--batches {asked.batches} --rounds {asked.rounds} --seed {asked.seed}"
    sizes = (
        f"utterance 2 x {SIZES.utterance}, context {SIZES.context}, decoder {SIZES.decoder}, latent {LATENT} (VHRED)"
    )
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return f"""# Training throughput beside a bare stack of LSTM layers

The same {asked.batches} batches of at most {TOKENS_PER_BATCH:,} positions for all, {asked.rounds} rounds, medians.
Vocabulary {SIZES.vocabulary:,}, embedding {SIZES.embedding}, {sizes}.
The bare stack's decoder reads what that of an HRED reads: word and context at every step. `none` and `layers` use the
fused LSTM, `gates` has layer normalisation inside the gates and a loop in Python.

{found}

Padding: {wasted:.1%} of all positions (under 10 % wanted).

{today}, {machine}, torch {torch.__version__}

`python benchmarks/recurrent_throughput.py {options} --write`
"""


def main() -> None:
    """Measure, print, and with --write keep; fails where a ratio is under its target."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name} into benchmarks/results")
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    with tempfile.TemporaryDirectory() as place:
        given, store, wasted = batches(Path(place), asked.batches, asked.seed)
        speeds = race(given, asked.rounds) | {WHOLE: whole_call(store, Path(place), asked.seed)}
    print(found := table(speeds), f"padding: {wasted:.1%}", sep="\n\n")
    if asked.write:
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(page(found, wasted, asked), encoding="utf-8")
    slow = [name for name in speeds if name not in (BARE, WHOLE) and speeds[name] / speeds[BARE] < TARGETS[_norm(name)]]
    if slow or wasted >= 0.1:
        sys.exit(f"short of the target: {', '.join(slow) or 'padding'}")


if __name__ == "__main__":
    main()
