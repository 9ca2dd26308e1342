"""Write `docs/results/pretraining.md`: perplexity of trained models beside n-grams, their curves' end, and samples.

    python recipes/pretraining.py HRED_FOLDER VHRED_FOLDER [OTHER_FOLDER...] [--seed 0]

Each FOLDER was made by `rejoinder pretrain`, and FOLDER.run is still beside it: the n-gram models are fitted on exactly
the tokens that the HRED was trained on and measured on exactly those it was validated on. The others may be a language
model, a Seq2Seq and a MrRNN.
"""

from __future__ import annotations

import argparse
import datetime
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rejoinder.encoders.batching import as_dialogues, with_weights
from rejoinder.io.folders import read_folder
from rejoinder.nn.dialogue import DialogueModel, Sizes
from rejoinder.nn.language import LanguageModel, LanguageSizes
from rejoinder.report.markdown import markdown_table
from rejoinder.responder import Decoding, answer, request
from rejoinder.responders.generation import from_parts
from rejoinder.stats.ngrams import fit_ngrams
from rejoinder.stats.written import number
from rejoinder.training.batches import batch_count, batch_stream, padding
from rejoinder.training.tokens import TokenStore

RESULT = Path(__file__).resolve().parent.parent / "docs" / "results" / "pretraining.md"
SAMPLES, LONGEST = 10, 30
TOGETHER = 32
WITHOUT_LATENT = ("lm", "seq2seq", "hred")
NAMES = {"lm": "language model", "seq2seq": "Seq2Seq", "hred": "HRED", "vhred": "VHRED", "mrrnn": "MrRNN"}
ORDERS = {1: "unigram", 2: "bigram, interpolated", 3: "trigram, interpolated"}


def ngram_rows(train: TokenStore, held_out: TokenStore, size: int) -> list[list[str]]:
    """Perplexity of modified Kneser-Ney models of the orders 1 to 3."""
    rows = []
    for order, name in ORDERS.items():
        model = fit_ngrams(turns_of(train), order, vocabulary_size=size)
        rows.append([name, f"{model.perplexity(turns_of(held_out)):.1f}", "–", "–", "–"])
    return rows


def turns_of(store: TokenStore) -> Iterator[NDArray[Any]]:
    """Every turn in a store."""
    return (turn for piece in range(store.pieces) for turn in store.turns(piece))


def model_row(folder: Path, earlier: int) -> list[str]:
    """Perplexity, KL and active units at the best validation, and the updates that led there, `earlier` ones too."""
    config = read_folder(folder).config
    best = config["figures"]
    kl = number(best.get("kl_per_turn", math.nan), 2)
    active = f"{best['active_units']:.0f} of {config['sizes']['latent']}" if "active_units" in best else "–"
    return [NAMES[config["kind"]], f"{best['perplexity']:.1f}", f"{best['updates'] + earlier:,.0f}", kl, active]


def place_row(folder: Path, held_out: TokenStore) -> list[str]:
    """Weights, updates, and perplexity of turns without context and of the others."""
    parts = read_folder(folder)
    kind, sizes = parts.config["kind"], parts.config["sizes"]
    empty = LanguageModel(LanguageSizes(**sizes)) if kind == "lm" else DialogueModel(Sizes(**sizes))
    model, generator = with_weights(empty, parts.tensors), torch.Generator()
    sums = np.zeros((2, 2))  # first turns, all turns; nats, tokens
    with torch.inference_mode():
        for start in range(0, held_out.pieces, TOGETHER):
            pieces = range(start, min(start + TOGETHER, held_out.pieces))
            told = [[turn.tolist() for turn in held_out.turns(piece)] for piece in pieces]
            for row, turns in enumerate(([one[:1] for one in told], told)):
                losses = model(as_dialogues(turns), generator)
                sums[row] += float(losses.nll), losses.tokens
    first, later = sums[0], sums[1] - sums[0]
    weights = sum(tensor.size for tensor in parts.tensors.values())
    updates = f"{parts.config['figures']['updates']:,.0f}"
    return [NAMES[kind], f"{weights:,}", updates, *(f"{math.exp(nats / count):.1f}" for nats, count in (first, later))]


def of_mrrnn(folder: Path) -> str:
    """What the page says of a MrRNN's perplexity; nothing of another model's."""
    config = read_folder(folder).config
    if config["kind"] != "mrrnn":
        return ""
    given, coarse = config["figures"]["perplexity_given_coarse"], config["figures"]["coarse_perplexity"]
    return (
        "\nThat of the MrRNN is for words and coarse sequences together, per token of the words, and so an upper bound"
        f"\ntoo: {given:.1f} for words where the true coarse sequences are given, {coarse:.1f} for a token of these.\n"
    )


def run_of(folder: Path) -> Path:
    """Where the tokens of a model's run lie."""
    return folder.with_name(f"{folder.name}.run")


def require_same(held_out: TokenStore, folders: list[Path]) -> None:
    """Leave where one of the models was validated on other tokens."""
    for folder in folders:
        other = TokenStore(run_of(folder) / "held_out")
        if other.counts != held_out.counts or not all(map(np.array_equal, turns_of(other), turns_of(held_out))):
            sys.exit(f"{folder} was validated on different tokens than the HRED")


def samples(folder: Path, held_out: TokenStore, seed: int) -> Iterator[tuple[list[str], str, str]]:
    """Yield (context, true turn, the model's turn) for the last turns of random held-out dialogues.

    The model writes greedily; a VHRED draws from its prior.
    """
    responder = from_parts(read_folder(folder), Decoding("greedy", longest=LONGEST))
    chosen = np.random.default_rng(seed).choice(held_out.pieces, SAMPLES, replace=False).tolist()
    told = [[responder.vocabulary.decode(turn.tolist()) for turn in held_out.turns(piece)] for piece in chosen]
    answers = answer(responder, [request(tuple(turns[:-1]), seed) for turns in told])
    for turns, found in zip(told, answers, strict=True):
        yield turns[:-1], turns[-1], found.replies[0].text if found.replies else f"({found.reason})"


def padding_share(store: TokenStore, budget: int) -> float:
    """Share of the positions of an epoch's batches that hold padding."""
    counts = [padding(batch) for batch in batch_stream(store, tokens_per_batch=budget, seed=0, epoch=0)]
    return sum(padded for padded, _ in counts) / sum(positions for _, positions in counts)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hred", type=Path)
    parser.add_argument("vhred", type=Path)
    parser.add_argument("others", type=Path, nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    train, held_out = (TokenStore(run_of(asked.hred) / part) for part in ("train", "held_out"))
    require_same(held_out, [asked.vhred, *asked.others])
    config: dict[str, Any] = dict(read_folder(asked.hred).config)
    vhred: dict[str, Any] = dict(read_folder(asked.vhred).config)
    budget = config["recipe"]["tokens_per_batch"]
    tokens_per_update = train.tokens / batch_count(train, tokens_per_batch=budget, seed=0, epoch=0)
    rows = ngram_rows(train, held_out, config["sizes"]["vocabulary"])
    rows += [model_row(folder, 0) for folder in (*asked.others, asked.hred)]
    rows.append(model_row(asked.vhred, round(config["figures"]["updates"])))
    kinds = {folder: read_folder(folder).config["kind"] for folder in (*asked.others, asked.hred)}
    places = [place_row(folder, held_out) for folder, kind in kinds.items() if kind in WITHOUT_LATENT]
    header = ["model", "perplexity", "updates, all told", "KL per turn, nats", "active latent units"]
    shown = []
    for name, folder in (("HRED", asked.hred), ("VHRED", asked.vhred)):
        for place, (context, true, said) in enumerate(samples(folder, held_out, asked.seed), start=1):
            dialogue = "".join(f"> {turn}\n>\n" for turn in context[-3:])
            shown.append(f"{name} {place}\n\n{dialogue}> *people:* {true}\n>\n> *{name}:* {said}\n")
    RESULT.write_text(
        _PAGE.format(
            folders=" ".join(folder.name for folder in (asked.hred, asked.vhred, *asked.others)),
            others="".join(map(of_mrrnn, asked.others)),
            seed=asked.seed,
            date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
            train=train.tokens,
            held_out=held_out.tokens,
            corpora=", ".join(corpus["name"].removesuffix(".jsonl.gz") for corpus in config["corpora"]),
            share=config["recipe"]["text"]["held_out"],
            pieces=config["sizes"]["vocabulary"],
            tokens_per_update=tokens_per_update,
            passes=config["figures"]["updates"] * tokens_per_update / train.tokens,
            more=vhred["figures"]["updates"] * tokens_per_update / train.tokens,
            annealing=vhred["recipe"]["annealing"],
            table=markdown_table(header, rows),
            places=markdown_table(
                ["model", "weights", "updates", "turns without context", "turns with context"], places
            ),
            padding=100 * padding_share(train, budget),
            samples="\n".join(shown),
        ),
        encoding="utf-8",
    )


_PAGE = """\
# Pre-training: HRED, VHRED and others beside n-grams

Made by `python recipes/pretraining.py {folders} --seed {seed}`
on {date}; the models by `rejoinder pretrain` with recipes/hred-small.toml and its like and, started from the HRED,
recipes/vhred-small.toml.

Corpora: {corpora}.
Dialogues that occur in public sets of human judgements were left out; {train:,} tokens to train on, {held_out:,} to
validate on ({share:.0%} of the dialogues, by a hash of their opening, see docs/pretraining.md),
byte-pair encoding of {pieces:,} pieces, lower case. Perplexity per token, ends of turns
included, on the same tokens for every model; that of the VHRED is an upper bound. The n-gram models are modified
Kneser-Ney, turn by turn, and counted all tokens. An update of a network reads about {tokens_per_update:,.0f}: the HRED
has read {passes:.2f} of the corpus, and the VHRED, which goes on from it, {more:.2f} more.

{table}{others}
The same perplexity, of the first turns of the held-out pieces and of all later turns:

{places}
What these figures are: the lowest of the validations after each stretch of updates (of the VHRED: since annealing was
over), on the part that also chose them; there is no third part. All runs went from start to end as their recipes say.

The VHRED's KL term gains its full weight over {annealing:,} updates. In training it also has to tell the words of a
turn, in no order, from its condition ("bag of words", Zhao et al. 2017), which the paper does not have: without, the
latent variable collapsed at these sizes (docs/lab-notes.md). That loss is no part of the bound in the table.

Padding: {padding:.1f} % of all positions. The curves stand in each model's folder.

## Ten unseen contexts each, greedy, unedited

Drawn dialogues of the held-out part: the last three turns of the context, the turn that people said, and the model's,
without `<pad>` and `<unk>`. The dialogues are quoted from the corpora named above (BSD-3-Clause;
CDLA-Sharing-1.0; CC BY 4.0; CC BY 4.0; MIT and Apache-2.0; Apache-2.0; CC BY 4.0; CC BY 4.0; CC BY-SA 4.0, in that
order) and stay under their licences.

{samples}"""


if __name__ == "__main__":
    main()
