"""Tokens per second of generation: greedy search, sampling and beam search beside a bare greedy loop.

Usage: python benchmarks/generation_speed.py [--rounds 11] [--seed 0] [--write]

All write turns of 40 words after the same contexts with the same HRED of the sizes of recipes/hred-small.toml, in one
process, in turns; the end of a turn is made impossible, so that all write as many words. The weights are random, which
changes no time. The bare loop is the decoder of that network and an argmax: an embedding, an LSTM, two linear layers;
no word is forbidden, nothing is scored. Of a beam search only the words of the best turn are counted.
`--write` puts the table into benchmarks/results/generation_speed.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from rejoinder.models.networks import decoding as generate
from rejoinder.models.networks.dialogue import DialogueModel
from rejoinder.models.sizes import DialogueSizes
from rejoinder.models.vocabulary import END_ID, PAD_ID, UNK_ID
from rejoinder.report.markdown import markdown_table

RESULT = Path(__file__).parent / "results" / "generation_speed.md"
SIZES = DialogueSizes(
    vocabulary=4000, embedding=128, utterance=128, context=256, decoder=256, normalise="layers", word_drop=0
)
LONGEST, BEAM = 40, 5
BATCHES = (1, 64)
BARE, GREEDY = "bare greedy loop", "greedy"
TARGET = 0.75
Write = Callable[[Tensor], object]


def bare(model: DialogueModel, contexts: Tensor) -> list[list[int]]:
    """The most probable words, one after the other, by the shortest loop there is."""
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


def sides(model: DialogueModel, seed: int) -> dict[str, Write]:
    """Everything that is timed, by name; the bare loop first."""
    limits = generate.Limits(END_ID, (PAD_ID, UNK_ID), LONGEST, 1)

    def sampled(contexts: Tensor, top_p: float) -> object:
        generators = [torch.Generator().manual_seed(seed + row) for row in range(len(contexts))]
        return generate.sample(model.step, model.begin(contexts), limits, generators, top_p=top_p)

    return {
        BARE: lambda contexts: bare(model, contexts),
        GREEDY: lambda contexts: generate.greedy(model.step, model.begin(contexts), limits),
        "sampling": lambda contexts: sampled(contexts, 1.0),
        "sampling, top-p 0.9": lambda contexts: sampled(contexts, 0.9),
        f"beam {BEAM}": lambda contexts: generate.beam(model.step, model.begin(contexts), limits, BEAM),
    }


def race(measured: dict[str, Write], batch: int, rounds: int) -> dict[str, float]:
    """Tokens per second of the processor by side: the median over rounds, after one to warm up.

    Seconds of the processor, not of the clock, and sides that take turns: so other work on the machine disturbs little.
    """
    seconds: dict[str, list[float]] = {name: [] for name in measured}
    times = 8 if batch == 1 else 1
    for number in range(rounds + 1):
        contexts = torch.randn(batch, SIZES.context)
        for name, write in measured.items():
            start = time.process_time()
            for _ in range(times):
                write(contexts)
            if number:
                seconds[name].append((time.process_time() - start) / (times * batch * LONGEST))
    return {name: 1.0 / statistics.median(times) for name, times in seconds.items()}


def table(speeds: dict[int, dict[str, float]]) -> str:
    """The result as Markdown."""
    header = ["", *(text for batch in speeds for text in (f"tokens/s, batch {batch}", "of the bare loop"))]
    rows = []
    for name in speeds[BATCHES[0]]:
        pairs = [(f"{found[name]:,.0f}", f"{found[name] / found[BARE]:.2f}") for found in speeds.values()]
        rows.append([name, *(cell for pair in pairs for cell in pair)])
    return markdown_table(header, rows)


def page(found: str, asked: argparse.Namespace) -> str:
    """The file of the result."""
    machine = f"{os.cpu_count()} CPUs, {torch.get_num_threads()} thread(s), Python {platform.python_version()}"
    load = os.getloadavg()[0]
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return f"""# Generation beside a bare greedy loop

Turns of {LONGEST} words from an HRED with vocabulary {SIZES.vocabulary:,}, embedding {SIZES.embedding}, context
{SIZES.context}, decoder {SIZES.decoder}, in single precision on the CPU; the end of a turn is made impossible. The bare
loop has no forbidden words and no scores. Of a beam search the words of the best turn are counted. Medians of
{asked.rounds} rounds in which all take turns. Wanted: greedy at {TARGET} or more of the bare loop.

{found}
{today}, {machine}, torch {torch.__version__}, load of the machine {load:.1f}
(other work ran beside it: seconds of the processor are counted, and the ratios are what to look at)

`python benchmarks/generation_speed.py --rounds {asked.rounds} --seed {asked.seed} --write`
"""


def main() -> None:
    """Measure, print, and with --write keep; fails where greedy search is under its target."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name} into benchmarks/results")
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    model = DialogueModel(SIZES).eval()
    with torch.inference_mode():
        model.decoder.words.bias[END_ID] = -1e9
        measured = sides(model, asked.seed)
        speeds = {batch: race(measured, batch, asked.rounds) for batch in BATCHES}
    print(found := table(speeds))
    if asked.write:
        RESULT.write_text(page(found, asked), encoding="utf-8")
    if slow := [batch for batch, found in speeds.items() if found[GREEDY] / found[BARE] < TARGET]:
        sys.exit(f"short of the target in batches of {', '.join(map(str, slow))}")


if __name__ == "__main__":
    main()
