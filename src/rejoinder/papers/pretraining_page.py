"""The page of trained sequence models beside n-grams."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rejoinder.papers.page import About, Page, written
from rejoinder.papers.pretraining import Found, Model
from rejoinder.report.markdown import markdown_table
from rejoinder.report.tables import text_table
from rejoinder.stats.written import DASH, number

_NAMES = {"lm": "language model", "seq2seq": "Seq2Seq", "hred": "HRED", "vhred": "VHRED", "mrrnn": "MrRNN"}
_ORDERS = {1: "unigram", 2: "bigram, interpolated", 3: "trigram, interpolated"}
_HEADER = ["model", "perplexity", "updates, all told", "KL per turn, nats", "active latent units"]


def page(found: Found, about: About) -> Page:
    """The page, and the table of perplexities for the terminal."""
    hred, vhred = found.of("hred").config, found.of("vhred").config
    rows = [*_ngrams(found), *(_model(one, found) for one in found.models)]
    text = written(
        "pretraining",
        about,
        others="".join(map(_of_mrrnn, found.models)),
        train=found.train,
        held_out=found.held_out,
        corpora=", ".join(corpus["name"].removesuffix(".jsonl.gz") for corpus in hred["corpora"]),
        share=hred["recipe"]["text"]["held_out"],
        pieces=hred["sizes"]["vocabulary"],
        tokens_per_update=found.tokens_per_update,
        passes=hred["figures"]["updates"] * found.tokens_per_update / found.train,
        more=vhred["figures"]["updates"] * found.tokens_per_update / found.train,
        annealing=vhred["recipe"]["annealing"],
        table=markdown_table(_HEADER, rows),
        places=markdown_table(
            ["model", "weights", "updates", "turns without context", "turns with context"], _places(found)
        ),
        padding=100 * found.padding,
        samples="\n\n".join(_samples(found)),
    )
    return Page(text, {}, text_table(_HEADER, rows, 110))


def _ngrams(found: Found) -> Iterator[list[str]]:
    """A line of the table for each n-gram model."""
    for order, perplexity in found.ngrams.items():
        yield [_ORDERS[order], f"{perplexity:.1f}", DASH, DASH, DASH]


def _model(model: Model, found: Found) -> list[str]:
    """A model at its best validation; the updates of a VHRED count those of the HRED that it went on from."""
    best = model.config["figures"]
    earlier = round(found.of("hred").config["figures"]["updates"]) if model.kind == "vhred" else 0
    active = f"{best['active_units']:.0f} of {model.config['sizes']['latent']}" if "active_units" in best else DASH
    kl = number(best.get("kl_per_turn", math.nan), 2)
    return [_NAMES[model.kind], f"{best['perplexity']:.1f}", f"{best['updates'] + earlier:,.0f}", kl, active]


def _places(found: Found) -> Iterator[list[str]]:
    """Weights, updates, and perplexity of turns without and with context."""
    for one in found.models:
        if one.places is not None:
            updates = f"{one.config['figures']['updates']:,.0f}"
            yield [_NAMES[one.kind], f"{one.weights:,}", updates, *(f"{place:.1f}" for place in one.places)]


def _of_mrrnn(model: Model) -> str:
    """What the page says of a MrRNN's perplexity; nothing of another model's."""
    if model.kind != "mrrnn":
        return ""
    best = model.config["figures"]
    given, coarse = best["perplexity_given_coarse"], best["coarse_perplexity"]
    return (
        "\nThat of the MrRNN is for words and coarse sequences together, per token of the words, and so an upper bound "
        f"too: {given:.1f} for words where the true coarse sequences are given, {coarse:.1f} for a token of these.\n"
    )


def _samples(found: Found) -> Iterator[str]:
    """Every sample, as a quoted dialogue."""
    for kind in ("hred", "vhred"):
        name = _NAMES[kind]
        for place, (context, true, said) in enumerate(found.of(kind).samples, start=1):
            told = "".join(f"> {turn}\n>\n" for turn in context[-3:])
            yield f"{name} {place}\n\n{told}> *people:* {true}\n>\n> *{name}:* {said}"
