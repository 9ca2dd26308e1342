"""Connections that are not waited for without end: the server's own protocol, with a clock."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

PATIENCE = 20.0  # seconds


class Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Closes a connection on which no request is whole after a while, or that takes no more of its answer.

    uvicorn waits for the head of a request, and for a client to read, as long as it takes: some thousand such
    connections would be all that the system lets it have.
    """

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        self._clock: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait on where it is not a whole head yet."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        elif self._clock is None:
            self._wait()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """It does."""
        super().resume_writing()
        self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        """Close the connection in a while."""
        self._stop()
        self._clock = self.loop.call_later(PATIENCE, self.transport.abort)

    def _stop(self) -> None:
        """Leave it open."""
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None
