"""The flags that `respond`, `rerank` and `selftalk` share: who replies, and how a model chooses its words."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.places import Reads, in_responder

if TYPE_CHECKING:
    from rejoinder.models.decoding import Decoding


class Method(StrEnum):
    """How words are chosen."""

    GREEDY = "greedy"
    BEAM = "beam"
    SAMPLE = "sample"


MORE_TOKENS = "They are marked as cut_off; --longest allows more tokens"
"""What to do about replies that were cut off."""
_RESPONDER = typer.Option(
    "-r",
    "--responder",
    help="Who replies: the folder of a model, human:FILE, command:'PROGRAM ARGUMENTS' or openai:URL#MODEL. "
    "Repeat for more.",
    metavar="NAME",
)
ResponderNames = Annotated[list[str], _RESPONDER, Reads(in_responder)]
MaybeResponders = Annotated[list[str] | None, _RESPONDER, Reads(in_responder)]
Count = Annotated[int, typer.Option(min=1, help="Replies to each context; the best is the response.")]
Withhold = Annotated[
    bool,
    typer.Option(
        "--withhold",
        help="Hide the true response (first reference, else response) from models that choose.",
    ),
]
Unseen = Annotated[
    float | None,
    typer.Option(
        "--unseen",
        min=0,
        max=1,
        help="Take only dialogues that training leaves out: the share that `held_out` in its recipe names, as 0.01.",
        metavar="SHARE",
        show_default=False,
    ),
]
MethodFlag = Annotated[Method, typer.Option("--method", help="How a generator chooses its words.")]
Beam = Annotated[
    int | None,
    typer.Option(min=1, help="Width of the beam. Default: 5, or the --count where that is more.", show_default=False),
]
Temperature = Annotated[float, typer.Option(help="For sampling: under 1 the likely words get likelier.")]
TopP = Annotated[float, typer.Option(help="For sampling: among the fewest words with so much probability.")]
Longest = Annotated[
    int | None,
    typer.Option(help="Most tokens of a reply. Default: 40, of an endpoint 1,024.", metavar="N", show_default=False),
]
Shortest = Annotated[int, typer.Option(help="Fewest tokens of a reply.")]


def decoding_of(
    method: Method,
    beam: int | None,
    temperature: float,
    top_p: float,
    longest: int | None,
    shortest: int,
    count: int = 1,
) -> Decoding:
    """The decoding that the flags ask for."""
    from rejoinder.models.decoding import Decoding

    return Decoding(method.value, beam or max(5, count), temperature, top_p, longest, shortest)
