"""`rejoinder serve` as a process of its own, for tests that need a real one."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# A scorer that takes as long as a line says, in `seconds`.
DAWDLING = """
import time

def dawdle(examples):
    for one in examples:
        time.sleep(one.extra.get("seconds", 0))
    return [float(len(one.response)) for one in examples]
"""
SCORER = "python:dawdling:dawdle"
PATIENCE = 2  # seconds


@dataclass
class Server:
    """A service that listens.

    Attributes:
        process: whose it is.
        port: where.
    """

    process: subprocess.Popen[str]
    port: int

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Status, and what the JSON of the answer holds."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, raw, headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        return answer.status, json.loads(text) if answer.getheader("content-type") == "application/json" else text

    def dawdle(self, seconds: float, response: str = "abc") -> tuple[int, Any]:
        """Ask for a score that takes so long."""
        return self.ask("POST", "/v1/score", {"response": response, "seconds": seconds})

    def connected(self) -> socket.socket:
        """A connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def memory(self) -> int:
        """Resident memory, MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        (resident,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        return int(resident) // 1024

    def end(self, number: int = signal.SIGTERM, within: float = 20) -> tuple[int, str]:
        """Ask it to end; its exit code, and what it said on standard error."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=within)
        return self.process.returncode, said


@contextmanager
def serving(
    folder: Path,
    *words: str,
    scorers: tuple[str, ...] = (SCORER,),
    patience: float = PATIENCE,
    env: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """A service that is killed in the end, where it still runs."""
    (folder / "dawdling.py").write_text(DAWDLING)
    call = [sys.executable, "-m", "rejoinder", "serve", "--json"]
    call += ["--timeout", str(patience), *(("--port", "0") if "--port" not in words else ()), *words]
    call += [word for name in scorers for word in ("-s", name)]
    process = subprocess.Popen(
        call,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]), **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert said, process.communicate()[1]
            yield Server(process, int(json.loads(said)["url"].rpartition(":")[2]))
        finally:
            process.kill()
