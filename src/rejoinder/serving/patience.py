"""Connections that are not waited for without end: the server's own protocol, with clocks."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol


class Clock:
    """Closes a connection when it has run out.

    Args:
        connection: which.
        seconds: how long it runs.
    """

    def __init__(self, connection: Patient, seconds: float) -> None:
        self._connection, self._seconds = connection, seconds
        self._handle: asyncio.TimerHandle | None = None

    def run(self) -> None:
        """Let it run, where it does not yet."""
        if self._handle is None:
            self._handle = self._connection.loop.call_later(self._seconds, self._connection.transport.abort)

    def stop(self) -> None:
        """Stop it."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


class Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Closes a connection on which no request is whole after a while, or that takes no more of its answer.

    uvicorn waits for the head of a request, and for a client to read, as long as it takes: some thousand such
    connections would be all that the system lets it have.

    Args:
        patience: seconds.
    """

    def __init__(self, *given: Any, patience: float, **named: Any) -> None:
        super().__init__(*given, **named)
        self._coming = Clock(self, patience)  # runs while the head of a request is waited for
        self._going = Clock(self, patience)  # runs while the client does not read

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._coming.run()

    def data_received(self, data: bytes) -> None:
        """Wait on where it is not a whole head yet."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._coming.stop()
        else:
            self._coming.run()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._going.run()

    def resume_writing(self) -> None:
        """It does."""
        super().resume_writing()
        self._going.stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._coming.stop()
        self._going.stop()
        super().connection_lost(exc)
