"""A chat endpoint on loopback, for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Entry = tuple[int, dict[str, str], bytes]
"""Status, headers and content of an answer."""


class Endpoint(ThreadingHTTPServer):
    """Answers with the entries of a script, the last over and over; or with what `answering` makes of a body."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[Entry] = []
        self.answering: Callable[[dict[str, Any]], Entry] | None = None
        self.heard: list[tuple[str, dict[str, str], dict[str, Any]]] = []

    def handle_error(self, *_: Any) -> None:
        """Say nothing of a client that did not wait for its answer, as some tests have it."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.append((self.path, dict(self.headers), body))
        script = self.server.script
        if self.server.answering:
            entry = self.server.answering(body)
        else:
            entry = script.pop(0) if len(script) > 1 else script[0]
        self.answer(*entry)

    def answer(self, code: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


def completion(*replies: str | None, **more: Any) -> Entry:
    choices = [
        {"index": place, "message": {"role": "assistant", "content": text}, **more.pop("choice", {})}
        for place, text in enumerate(replies)
    ]
    return 200, {}, json.dumps({"object": "chat.completion", "choices": choices, **more}).encode()


@contextmanager
def serving() -> Iterator[Endpoint]:
    """A server that runs."""
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
