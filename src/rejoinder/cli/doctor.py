"""`rejoinder doctor`: what is installed, what is missing, how to get it."""

from __future__ import annotations

import json

import typer

from rejoinder.cli.common import AsJson, tell, width


def command(as_json: AsJson = False) -> None:
    """Check the installation: libraries, extras, data. Missing extras are no fault; each line says how to get it."""
    from rejoinder.scoring.doctor import doctor, doctor_table

    found = doctor()
    if as_json:
        typer.echo(json.dumps({"version": 1, "results": [finding._asdict() for finding in found]}, indent=2))
    else:
        tell(doctor_table(found, width()))
