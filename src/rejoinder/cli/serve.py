"""`rejoinder serve`: scores over HTTP."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.annotate import Host, Port
from rejoinder.cli.common import AsJson, Vectors, tell
from rejoinder.cli.places import Reads, in_scorer

TOKEN = "REJOINDER_TOKEN"  # noqa: S105 - the name of a variable

Served = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--scorer",
        help="A scorer, the folder of a judge, column:KEY, command:PROGRAM or openai:URL#MODEL; repeat for more. "
        "Requests may name these alone. Default: the judge in the box, and metrics that need no files.",
        metavar="NAME",
        show_default=False,
    ),
    Reads(in_scorer),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        help=f"A file with the token that clients have to send. Default: what {TOKEN} says, or none.",
        metavar="FILE",
    ),
    Reads(),
]
Public = Annotated[bool, typer.Option("--public", help="Let other machines ask without a token.")]
MaxLines = Annotated[int, typer.Option(min=1, help="Lines that one request may hold.", metavar="N")]
MaxBytes = Annotated[int, typer.Option(min=1, help="Bytes that one request may hold.", metavar="N")]
MaxCharacters = Annotated[
    int, typer.Option(min=1, help="Characters that one line may hold: reply, context and references.", metavar="N")
]
Timeout = Annotated[
    float, typer.Option(min=0.1, help="How long a client may take to send, or to read, or wait for scores: seconds.")
]


def command(
    scorers: Served = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token_file: TokenFile = None,
    public: Public = False,
    vectors: Vectors = None,
    max_lines: MaxLines = 1_000,
    max_bytes: MaxBytes = 1_048_576,
    max_characters: MaxCharacters = 100_000,
    timeout: Timeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """Answer requests for scores over HTTP, until Ctrl-C; what was taken until then is finished.

    POST /v1/score takes a line as files hold it, or an array of them; /openapi.json describes the rest.
    """
    from rejoinder.cli.terminal import ignore_closed_output
    from rejoinder.serving.limits import Limits
    from rejoinder.serving.run import serve

    def ready(base: str) -> None:
        """Say where to ask."""
        tell(json.dumps({"url": base}) if as_json else f"{base}  described at {base}/openapi.json; Ctrl-C stops")
        sys.stdout.flush()  # whoever reads it in a pipe waits for it

    ignore_closed_output()  # it takes nothing but the address
    try:
        serve(
            scorers,
            host=host,
            port=port,
            token=_token(token_file),
            public=public,
            vectors=vectors,
            limits=Limits(lines=max_lines, body=max_bytes, characters=max_characters, timeout=timeout),
            ready=ready,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("every request that was taken has its answer") from None


def _token(file: Path | None) -> str:
    """The token, which stands in no list of processes: from the file, or from the environment.

    Raises:
        MissingAsset: there is no such file.
        DataError: it holds no token.
    """
    from rejoinder.data.files import open_bytes
    from rejoinder.errors import DataError

    if file is None:
        return os.environ.get(TOKEN, "").strip()
    with open_bytes(file) as stream:
        token = stream.read(4096).decode("utf-8", "replace").strip()
    if not token:
        raise DataError(
            "holds no token",
            "Write one into it: python -c 'import secrets; print(secrets.token_hex())'",
            where=str(file),
        )
    return token
