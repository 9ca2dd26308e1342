"""`rejoinder show`: the card of one scorer or responder."""

from __future__ import annotations

import json
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
    from rejoinder.scoring.cards import show, show_text

    if as_json:
        typer.echo(json.dumps(show(name), indent=2, ensure_ascii=False))
    else:
        tell(show_text(name))
