"""The pages of a study on an address of this machine, until they are stopped."""

from __future__ import annotations

from collections.abc import Callable

from rejoinder.annotation.answers import all_raters
from rejoinder.annotation.study import Study
from rejoinder.errors import MissingExtra
from rejoinder.listening import LOOPBACK, address, is_loopback, listening

HOST, PORT = "127.0.0.1", 8000
_GRACE = 5  # seconds that an answer on its way has when the server is stopped


def show(
    study: Study,
    *,
    host: str = HOST,
    port: int = PORT,
    url: str | None = None,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Show the pages of a study until the process is told to stop. Every answer is kept when it is sent.

    Args:
        study: what `annotate` has made or opened.
        host: address to listen on; only this machine unless it says otherwise.
        port: where to listen; 0 takes a free one.
        url: under which address raters reach the pages, where that is another one.
        ready: is given the address as soon as the pages can be opened.

    Raises:
        UsageError: the address cannot be listened on.
        MissingExtra: the extra `annotate` is not installed.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("uvicorn", "annotate", "The page for raters") from error
    from rejoinder.pages.app import make_app

    names = LOOPBACK if is_loopback(host) and url is None else None
    settings = uvicorn.Config(
        make_app(study, names, url),
        log_config=None,  # uvicorn's own closes the log handlers of everybody else in the process
        log_level="warning",
        access_log=False,  # it would hold the links
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
    with listening(host, port) as listener:
        ready(url or address(host, listener.getsockname()[1]))
        uvicorn.Server(settings).run(sockets=[listener])


def links(study: Study, base: str) -> dict[str, str]:
    """The link of each rater by name.

    Args:
        study: whose raters.
        base: URL of the pages.
    """
    return {str(row.name): f"{base.rstrip('/')}/r/{row.token}" for row in all_raters(study) if row.token}
