"""The page of trained sequence models beside n-grams."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rejoinder.papers.page import About, paper, table
from rejoinder.papers.pretraining import Found, Model
from rejoinder.report.cells import count, nothing, plain
from rejoinder.report.document import Case, Cases, Cell, Document, Prose
from rejoinder.stats.written import DASH

_NAMES = {"lm": "language model", "seq2seq": "Seq2Seq", "hred": "HRED", "vhred": "VHRED", "mrrnn": "MrRNN"}
_ORDERS = {1: "unigram", 2: "bigram, interpolated", 3: "trigram, interpolated"}
_HEADER = ["model", "perplexity", "updates, all told", "KL per turn, nats", "active latent units"]


def page(found: Found, about: About) -> Document:
    """The page."""
    hred, vhred = found.of("hred").config, found.of("vhred").config
    perplexities = table(_HEADER, [*_ngrams(found), *(_model(one, found) for one in found.models)])
    return paper(
        "pretraining",
        about,
        {
            "table": perplexities,
            "others": [block for model in found.models for block in _of_mrrnn(model)],
            "places": table(
                ["model", "weights", "updates", "turns without context", "turns with context"], _places(found)
            ),
            "samples": Cases("", {"": list(_samples(found))}),
        },
        [perplexities],
        train=found.train,
        held_out=found.held_out,
        corpora=", ".join(corpus["name"].removesuffix(".jsonl.gz") for corpus in hred["corpora"]),
        share=hred["recipe"]["text"]["held_out"],
        pieces=hred["sizes"]["vocabulary"],
        tokens_per_update=found.tokens_per_update,
        passes=hred["figures"]["updates"] * found.tokens_per_update / found.train,
        more=vhred["figures"]["updates"] * found.tokens_per_update / found.train,
        annealing=vhred["recipe"]["annealing"],
        padding=100 * found.padding,
    )


def _ngrams(found: Found) -> Iterator[list[Cell | str]]:
    """A line of the table for each n-gram model."""
    for order, perplexity in found.ngrams.items():
        yield [_ORDERS[order], plain(perplexity, 1), nothing(), nothing(), nothing()]


def _model(model: Model, found: Found) -> list[Cell | str]:
    """A model at its best validation; the updates of a VHRED count those of the HRED that it went on from."""
    best = model.config["figures"]
    earlier = round(found.of("hred").config["figures"]["updates"]) if model.kind == "vhred" else 0
    active = f"{best['active_units']:.0f} of {model.config['sizes']['latent']}" if "active_units" in best else DASH
    kl = plain(best.get("kl_per_turn", math.nan), 2)
    return [_NAMES[model.kind], plain(best["perplexity"], 1), f"{best['updates'] + earlier:,.0f}", kl, active]


def _places(found: Found) -> Iterator[list[Cell | str]]:
    """Weights, updates, and perplexity of turns without and with context."""
    for one in found.models:
        if one.places is not None:
            updates = f"{one.config['figures']['updates']:,.0f}"
            yield [_NAMES[one.kind], count(one.weights), updates, *(plain(place, 1) for place in one.places)]


def _of_mrrnn(model: Model) -> list[Prose]:
    """What the page says of a MrRNN's perplexity; nothing of another model's."""
    if model.kind != "mrrnn":
        return []
    best = model.config["figures"]
    given, coarse = best["perplexity_given_coarse"], best["coarse_perplexity"]
    said = (
        "That of the MrRNN is for words and coarse sequences together, per token of the words, and so an upper bound "
        f"too: {given:.1f} for words where the true coarse sequences are given, {coarse:.1f} for a token of these."
    )
    return [Prose([said])]


def _samples(found: Found) -> Iterator[Case]:
    """Every sample, as a quoted dialogue."""
    for kind in ("hred", "vhred"):
        for place, (context, true, said) in enumerate(found.of(kind).samples, start=1):
            yield Case(f"{_NAMES[kind]} {place}", "", context, [("people", true), (_NAMES[kind], said)])
