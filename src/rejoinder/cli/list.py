"""`rejoinder list`: what scorers there are and what each needs."""

from __future__ import annotations

import json

import typer

from rejoinder.cli.common import AsJson, tell, width


def command(as_json: AsJson = False) -> None:
    """List every scorer, what it needs and what it returns; a folder of a trained judge is a scorer name too."""
    from rejoinder.catalogue import cards
    from rejoinder.report.cards import card_record, cards_table

    found = cards()
    if as_json:
        typer.echo(json.dumps({"version": 1, "results": [card_record(card) for card in found.values()]}, indent=2))
    else:
        tell(cards_table(found.values(), width()))
