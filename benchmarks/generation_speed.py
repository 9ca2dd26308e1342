"""How fast replies are generated: greedy search, sampling and beam search beside a bare greedy loop.

`python benchmarks/performance.py --only generation` measures it. All write turns of 40 words after the same contexts
with the same HRED of the sizes of recipes/hred-small.toml; the end of a turn is made impossible, so that all write as
many words. The weights are random, which changes no time. The bare loop is the decoder of that network and an argmax:
an embedding, an LSTM, two linear layers; no word is forbidden, nothing is scored.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from functools import partial

import torch
from timing import Row, Section, Took, cpu_time, in_turn, ratios, spread
from torch import Tensor

from rejoinder.models.networks import decoding as generate
from rejoinder.models.networks.dialogue import DialogueModel
from rejoinder.models.sizes import DialogueSizes
from rejoinder.models.vocabulary import END_ID, PAD_ID, UNK_ID

SIZES = DialogueSizes(
    vocabulary=4000, embedding=128, utterance=128, context=256, decoder=256, normalise="layers", word_drop=0
)
LONGEST, BEAM = 40, 5
BATCHES = (1, 64)
BARE, GREEDY, TOP_P = "bare loop", "greedy", "sampling, top-p 0.9"
BARS = {(GREEDY, 1): 0.75, (GREEDY, 64): 0.75, (TOP_P, 1): 0.7, (TOP_P, 64): 0.5}
HEADER = ("what", "program", "words a second of CPU time", "times as fast as the bare loop")
Write = Callable[[Tensor], object]


def bare(model: DialogueModel, contexts: Tensor) -> list[list[int]]:
    """Return the most probable words, one after the other, by the shortest loop there is."""
    decoder = model.decoder
    hidden, memory = decoder.layer.state_from(torch.tanh(decoder.first(contexts)))
    state, embedded = (hidden[None], memory[None]), contexts.new_zeros(len(contexts), 1, SIZES.embedding)
    condition, said = contexts[:, None], []
    for _ in range(LONGEST):
        outputs, state = decoder.layer.core(torch.cat([embedded, condition], -1), state)
        outputs = decoder.layer.norm(outputs)
        words = decoder.words(decoder.narrow(torch.cat([outputs, embedded, condition], -1))).argmax(-1)  # [n, 1]
        said.append(words)
        embedded = model.embedding(words)
    written: list[list[int]] = torch.cat(said, 1).tolist()
    return written


def writers(model: DialogueModel) -> dict[str, Write]:
    """Return what is timed, by name; the bare loop first."""
    limits = generate.Limits(END_ID, (PAD_ID, UNK_ID), LONGEST, 1)

    def sampled(contexts: Tensor, top_p: float) -> object:
        generators = [torch.Generator().manual_seed(row) for row in range(len(contexts))]
        return generate.sample(model.step, model.begin(contexts), limits, generators, top_p=top_p)

    return {
        BARE: lambda contexts: bare(model, contexts),
        GREEDY: lambda contexts: generate.greedy(model.step, model.begin(contexts), limits),
        "sampling": lambda contexts: sampled(contexts, 1.0),
        TOP_P: lambda contexts: sampled(contexts, 0.9),
        f"beam {BEAM}": lambda contexts: generate.beam(model.step, model.begin(contexts), limits, BEAM),
    }


def measure(programs: dict[str, Write], batch: int, rounds: int) -> list[Row]:
    """Return the rows of a batch size."""
    calls = 8 if batch == 1 else 1
    contexts = torch.randn(batch, SIZES.context)

    def timed(write: Write) -> Took:
        return cpu_time(lambda: [write(contexts) for _ in range(calls)])

    times = in_turn({name: partial(timed, write) for name, write in programs.items()}, rounds)
    seconds = {name: [took.cpu for took in numbers] for name, numbers in times.items()}
    rows = []
    for name, numbers in seconds.items():
        speed = f"{calls * batch * LONGEST / statistics.median(numbers):,.0f}"
        shares = ratios(seconds[BARE], numbers)
        bar = BARS.get((name, batch), 0)
        cells = (f"batch {batch}", name, speed, spread(shares) if name != BARE else "")
        rows.append(Row(cells, statistics.median(shares), bar))
    return rows


def section(options: argparse.Namespace) -> Section:
    """Measure, and return the section."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = DialogueModel(SIZES).eval()
    with torch.inference_mode():
        model.decoder.words.bias[END_ID] = -1e9
        programs = writers(model)
        rows = [row for batch in BATCHES for row in measure(programs, batch, options.rounds)]
    return Section("Generation", TEXT, HEADER, rows)


TEXT = f"""
Turns of {LONGEST} words from an HRED with vocabulary {SIZES.vocabulary:,}, embedding {SIZES.embedding}, context \
{SIZES.context}, decoder {SIZES.decoder}, on one thread. The bare loop runs the same decoder and takes the most \
probable word; it forbids no words and keeps no scores. Of a beam search only the words of the best turn are counted.
"""
