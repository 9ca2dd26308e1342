"""`rejoinder list`: which scorers, judges, encoders and responders there are, and what each needs."""

from __future__ import annotations

import json

import typer

from rejoinder.cli.common import AsJson, tell, width


def command(as_json: AsJson = False) -> None:
    """List every scorer, and the kinds of judges, encoders and responders: what each is, how it comes about.

    What each needs stands beside it. A folder that `rejoinder train` or `rejoinder pretrain` made is a name too.
    """
    from rejoinder.auditing.attack import listing
    from rejoinder.scoring.cards import card_record, cards_table, kinds_table
    from rejoinder.scoring.catalog import cards

    scorers, groups = cards(), listing()
    if as_json:
        found = {group: [entry.record for entry in entries] for group, entries in groups.items()}
        results = [card_record(card) for card in scorers.values()]
        typer.echo(json.dumps({"version": 1, "results": results, **found}, indent=2))
    else:
        tell(f"{cards_table(scorers.values(), width())}\n{kinds_table(groups, width())}")
