"""The service on an address of this machine, until it is stopped."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import cast

from rejoinder.errors import MissingExtra, UsageError, shown
from rejoinder.external.command import CommandScorer
from rejoinder.listening import LOOPBACK, address, is_loopback, listening
from rejoinder.scorer import Scorer, ScorerLike, run
from rejoinder.scoring.cards import EXAMPLE
from rejoinder.scoring.catalog import DEFAULT, PREFIXES, cards, load_scorers
from rejoinder.serving.limits import Limits

HOST, PORT = "127.0.0.1", 8000
SHORTEST_TOKEN = 16  # characters
_GRACE = 60  # seconds that what was taken has when the server is stopped


def serve(
    scorers: Iterable[ScorerLike] | None = None,
    *,
    host: str = HOST,
    port: int = PORT,
    token: str = "",
    public: bool = False,
    vectors: str | Path | None = None,
    limits: Limits | None = None,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Answer requests over HTTP until the process is told to stop; what was taken until then is finished.

    Args:
        scorers: what a request may ask for, the first where it names none; see `load_scorer`. None is the judge in the
            box and the closed-form metrics that need no files.
        host: address to listen on; only this machine unless it says otherwise.
        port: where to listen; 0 takes a free one.
        token: what clients have to send; "" asks for nothing.
        public: whether other machines may ask without a token.
        vectors: file of word vectors for scorers that need them; None takes those in the box.
        limits: how much it takes; None is the usual.
        ready: is given the address as soon as requests are taken.

    Raises:
        UsageError: other machines could ask without a token, the token is short, or the address cannot be listened on;
            see also `load_scorers`.
        MissingExtra: the extra `serve` is not installed.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("uvicorn", "serve", "The service") from error
    from rejoinder.serving.app import make_app
    from rejoinder.serving.patience import Patient

    if not isinstance(port, int):
        raise UsageError(f"port is {shown(port)}, expected a whole number; 0 takes a free one")
    _require_closed(host, token, public=public)
    loaded = load_scorers(default_scorers() if scorers is None else scorers, vectors=vectors)
    if not loaded:
        raise UsageError("no scorer was named; a service needs at least one")
    _warm(loaded)
    loaded = without_places(without_commands(loaded))
    limits = limits or Limits()
    app = make_app(loaded, token=token, hosts=LOOPBACK if is_loopback(host) else None, limits=limits)
    settings = uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", partial(Patient, patience=limits.timeout)),
        ws="none",
        proxy_headers=False,
        log_config=None,  # uvicorn's own closes the log handlers of everybody else in the process
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
    with listening(host, port) as listener:
        ready(address(host, listener.getsockname()[1]))
        uvicorn.Server(settings).run(sockets=[listener])


def default_scorers() -> list[ScorerLike]:
    """The judge in the box, and the closed-form metrics that need no files."""
    plain = [name for name, card in cards().items() if "/" not in name and not card.needs & {"vectors", "wordnet"}]
    return [DEFAULT, *(name for name in plain if name != DEFAULT)]


def without_commands(scorers: Mapping[str, Scorer]) -> dict[str, Scorer]:
    """Scorers by names for clients: programs are `command`, `command-2` and so on, in the order that they came in."""
    names = ("command" if number == 1 else f"command-{number}" for number in count(1))
    free = (name for name in names if name not in scorers)
    served: dict[str, Scorer] = {}
    for name, scorer in scorers.items():
        if isinstance(scorer, CommandScorer):
            neutral = next(free)
            served[neutral] = scorer.under(neutral)
        else:
            served[name] = scorer
    return served


def without_places(scorers: Mapping[str, Scorer]) -> dict[str, Scorer]:
    """Scorers by names for clients: of a judge's folder the last part, or as many as tell it from the others.

    Raises:
        UsageError: one folder was named twice.
    """
    folders = {
        name: Path(os.path.abspath(name)).parts  # noqa: PTH100 - a link is called as it is
        for name, scorer in scorers.items()
        if name != scorer.card.name and Path(name).is_dir()
    }
    for length in range(1, max(map(len, folders.values()), default=1) + 1):
        shown = ["/".join(folders[name][-length:]) if name in folders else name for name in scorers]
        if len({*shown}) == len(shown):
            return dict(zip(shown, scorers.values(), strict=True))
    raise UsageError(f"a folder among {', '.join(folders)} was named twice. Name each once")


def _warm(scorers: Mapping[str, Scorer]) -> None:
    """Score something once, so that the first request does not wait for what is made ready at the first call.

    Programs and endpoints are not asked before somebody wants their scores.
    """
    for name, scorer in scorers.items():
        if name.partition(":")[0] not in PREFIXES:
            run(scorer, [EXAMPLE])


def _require_closed(host: str, token: str, *, public: bool) -> None:
    """Refuse to answer whoever asks, unless that is what is wanted.

    Raises:
        UsageError: so it would be.
    """
    if token and len(token) < SHORTEST_TOKEN:
        raise UsageError(f"the token has {len(token)} characters, expected {SHORTEST_TOKEN} or more")
    if not token and not public and not is_loopback(host):
        raise UsageError(
            f"{host} can be reached by other machines, and no token is set. Set REJOINDER_TOKEN or --token-file; "
            "--public lets everybody ask"
        )
