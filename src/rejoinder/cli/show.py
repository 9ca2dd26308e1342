"""`rejoinder show`: the card of one scorer or responder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import AsJson, tell
from rejoinder.cli.places import Reads, in_scorer


def command(
    name: Annotated[
        str,
        typer.Argument(help="A scorer's name, or the folder of a judge or responder.", metavar="NAME"),
        Reads(in_scorer),
    ],
    as_json: AsJson = False,
) -> None:
    """Show what a scorer needs, its range, direction, source, signature, and what it gives for an example.

    Of a trained judge also the card in its folder: what it was trained on and how far it agrees with people. Of a
    responder that card alone.
    """
    from rejoinder.catalogue import load_scorer, makers
    from rejoinder.io.folders import kind_of, read_card
    from rejoinder.judges import written_card
    from rejoinder.report.cards import card_record, card_text
    from rejoinder.scorer import run, signature_of

    if Path(name).is_dir() and (kind := kind_of(name)) in makers("responder"):
        card = read_card(name)
        record = {"version": 1, "results": [{"name": kind, "card": card}]}
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False)) if as_json else tell(card)
        return
    scorer = load_scorer(name)
    if as_json:
        record = {**card_record(scorer.card), "signature": dict(signature_of(scorer).fields)}
        typer.echo(json.dumps({"version": 1, "results": [record]}, indent=2))
    else:
        tell(card_text(scorer, lambda example: run(scorer, [example])))
        if scorer.card.kind == "judge":
            tell(f"\n{written_card(name)}")
