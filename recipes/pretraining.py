"""Write `docs/results/pretraining.md`: perplexity of trained models beside n-grams, their curves' end, and samples.

    python recipes/pretraining.py HRED_FOLDER VHRED_FOLDER [--seed 0]

Each FOLDER was made by `rejoinder pretrain`, and FOLDER.run is still beside it: the n-gram models are fitted on exactly
the tokens that the HRED was trained on and measured on exactly those it was validated on.
"""

from __future__ import annotations

import argparse
import datetime
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from rejoinder.encoders import load_encoder
from rejoinder.encoders.recurrent import RecurrentEncoder
from rejoinder.io.folders import read_folder
from rejoinder.nn.generate import greedy
from rejoinder.report.tables import markdown_table, number
from rejoinder.stats.ngrams import fit_ngrams
from rejoinder.text.bpe import END_ID, PAD_ID, UNK_ID
from rejoinder.training.batches import batch_count, batch_stream, padding
from rejoinder.training.tokens import TokenStore

RESULT = Path(__file__).resolve().parent.parent / "docs" / "results" / "pretraining.md"
SAMPLES, LONGEST = 10, 30
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
    return [config["kind"].upper(), f"{best['perplexity']:.1f}", f"{best['updates'] + earlier:,.0f}", kl, active]


def samples(folder: Path, held_out: TokenStore, seed: int) -> list[tuple[list[str], str, str]]:
    """(context, true turn, the model's turn) for the last turns of random held-out dialogues."""
    encoder = load_encoder(folder)
    if not isinstance(encoder, RecurrentEncoder):
        sys.exit(f"{folder}: no HRED or VHRED")
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randperm(held_out.pieces, generator=generator)[:SAMPLES].tolist()
    found = []
    for piece in chosen:
        turns = [encoder.vocabulary.decode(turn.tolist()) for turn in held_out.turns(piece)]
        found.append((turns[:-1], turns[-1], reply(encoder, tuple(turns[:-1]), generator)))
    return found


def reply(encoder: RecurrentEncoder, context: tuple[str, ...], generator: torch.Generator) -> str:
    """The greedy turn after a context; a VHRED draws from its prior."""
    model = encoder.model
    states = torch.from_numpy(encoder.encode_contexts([context])).float()
    noise = torch.randn(1, model.sizes.latent, generator=generator)
    condition = model.condition_after(states, noise)
    (ids,) = greedy(model, condition, end=END_ID, forbidden=(PAD_ID, UNK_ID), longest=LONGEST)
    return encoder.vocabulary.decode(ids)


def padding_share(store: TokenStore, budget: int) -> float:
    """Share of the positions of an epoch's batches that hold padding."""
    counts = [padding(batch) for batch in batch_stream(store, tokens_per_batch=budget, seed=0, epoch=0)]
    return sum(padded for padded, _ in counts) / sum(positions for _, positions in counts)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hred", type=Path)
    parser.add_argument("vhred", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    run = asked.hred.with_name(f"{asked.hred.name}.run")
    train, held_out = TokenStore(run / "train"), TokenStore(run / "held_out")
    other = TokenStore(asked.vhred.with_name(f"{asked.vhred.name}.run") / "held_out")
    if [turn.tolist() for turn in turns_of(other)] != [turn.tolist() for turn in turns_of(held_out)]:
        sys.exit("the two models were validated on different tokens")
    config: dict[str, Any] = dict(read_folder(asked.hred).config)
    vhred: dict[str, Any] = dict(read_folder(asked.vhred).config)
    budget = config["recipe"]["tokens_per_batch"]
    tokens_per_update = train.tokens / batch_count(train, tokens_per_batch=budget, seed=0, epoch=0)
    rows = ngram_rows(train, held_out, config["sizes"]["vocabulary"])
    rows += [model_row(asked.hred, 0), model_row(asked.vhred, round(config["figures"]["updates"]))]
    header = ["model", "perplexity", "updates, all told", "KL per turn, nats", "active latent units"]
    shown = []
    for name, folder in (("HRED", asked.hred), ("VHRED", asked.vhred)):
        for place, (context, true, said) in enumerate(samples(folder, held_out, asked.seed), start=1):
            dialogue = "".join(f"> {turn}\n>\n" for turn in context[-3:])
            shown.append(f"{name} {place}\n\n{dialogue}> *people:* {true}\n>\n> *{name}:* {said}\n")
    RESULT.write_text(
        _PAGE.format(
            hred=asked.hred.name,
            vhred=asked.vhred.name,
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
            padding=100 * padding_share(train, budget),
            samples="\n".join(shown),
        ),
        encoding="utf-8",
    )


_PAGE = """\
# Pre-training: HRED and VHRED beside n-grams

Made by `python recipes/pretraining.py {hred} {vhred} --seed {seed}` on {date}; the models by `rejoinder pretrain`
with recipes/hred-small.toml and, started from the HRED, recipes/vhred-small.toml.

Corpora: {corpora}.
Dialogues that occur in public sets of human judgements were left out; {train:,} tokens to train on, {held_out:,} to
validate on ({share:.0%} of the dialogues, by a hash of their opening, see docs/pretraining.md),
byte-pair encoding of {pieces:,} pieces, lower case. Perplexity per token, ends of turns
included, on the same tokens for every model; that of the VHRED is an upper bound. The n-gram models are modified
Kneser-Ney, turn by turn, and counted all tokens. An update of a network reads about {tokens_per_update:,.0f}: the HRED
has read {passes:.2f} of the corpus, and the VHRED, which goes on from it, {more:.2f} more.

{table}
What these figures are: the lowest of the validations after each stretch of updates (of the VHRED: since annealing was
over), on the part that also chose them; there is no third part. Both runs went from start to end as their recipes say.

The VHRED's KL term gains its full weight over {annealing:,} updates. In training it also has to tell the words of a
turn, in no order, from its condition ("bag of words", Zhao et al. 2017), which the paper does not have: without, the
latent variable collapsed at these sizes (docs/lab-notes.md). That loss is no part of the bound in the table.

Padding: {padding:.1f} % of all positions. The curves stand in each model's folder.

## Ten unseen contexts each, greedy, unedited

Drawn dialogues of the held-out part: the last three turns of the context, the turn that people said, and the model's,
in which `<pad>` and `<unk>` are not allowed. The dialogues are quoted from the corpora named above (BSD-3-Clause;
CDLA-Sharing-1.0; CC BY 4.0; CC BY 4.0; MIT and Apache-2.0; Apache-2.0; CC BY 4.0; CC BY 4.0; CC BY-SA 4.0, in that
order) and stay under their licences.

{samples}"""


if __name__ == "__main__":
    main()
