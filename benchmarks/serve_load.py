"""How the service keeps up with a thousand requests a second.

Usage: python benchmarks/serve_load.py [--rate 1000] [--seconds 60] [--only NAME] [--write]

For each row of the table, `rejoinder serve` is started as a process of its own and offered so many requests a second
for so long, one example each, by this process on the same cores. Each request has its moment, whether or not those
before it were answered, and its time counts from that moment. No text stands in two. An answer that does not hold the
request's own line is wrong, and so is one whose scores are not those that this process gives to the line (a thousand
of them are looked at). What is not answered within half a minute is lost. In the last row another client posts requests
of 1,000 lines back to back meanwhile. `--only` takes one row; `--write` keeps the table in
benchmarks/results/serve_load.md.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import itertools
import json
import os
import platform
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rejoinder
from rejoinder.report.markdown import markdown_table

RESULT = Path(__file__).parent / "results" / "serve_load.md"
PATIENCE = 30.0  # seconds until a request is lost
CONNECTIONS = 512
LARGE = 1_000  # lines of a request of the client beside the others
SETTLED = 10.0  # seconds after which memory should not grow any more
MIB = 1024


class Row(NamedTuple):
    """One row of the table.

    Attributes:
        name: what it is called.
        scorers: what is asked for.
        rate: requests a second; None is what the call says.
        references: whether examples have one.
        beside: whether another client posts requests of 1,000 lines meanwhile.
    """

    name: str
    scorers: tuple[str, ...]
    rate: int | None = None
    references: bool = False
    beside: bool = False


ROWS = (
    Row("length", ("length",)),
    Row("metrics", ("bleu-2", "rouge-l", "length"), references=True),
    Row("judge", ("rejoinder",)),
    Row("judge-200", ("rejoinder",), rate=200),
    Row("judge-beside", ("rejoinder",), rate=60, beside=True),
)


class Ask(NamedTuple):
    """One request: the line, and the bytes that ask for its scores."""

    record: dict[str, Any]
    raw: bytes


@dataclass
class Log:
    """What came of the requests.

    Attributes:
        offered: how many were due.
        seconds: of each that was scored, from the moment it was due.
        statuses: how many answers had each status.
        lost: how many had no answer.
        wrong: how many had another's.
        answers: lines with the scores that came back.
        memory: KiB of the server by second.
        busy: seconds that the server was on a core.
        large: status of each request of 1,000 lines.
    """

    offered: int = 0
    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    lost: int = 0
    wrong: int = 0
    answers: list[tuple[dict[str, Any], dict[str, float]]] = field(default_factory=list)
    memory: dict[float, int] = field(default_factory=dict)
    busy: float = 0.0
    large: list[int] = field(default_factory=list)


def asks(row: Row, seed: int) -> Iterator[Ask]:
    """Requests without end, no text of which stands in two."""
    lines = [one for one in rejoinder.read("@conture") if one.context and len(one.response.split()) < 30]
    rng, path = random.Random(seed), "/v1/score?" + "&".join(f"scorer={name}" for name in row.scorers)  # noqa: S311
    for number in itertools.count():
        line = rng.choice(lines)
        response = f"{line.response} n{number} ."
        context = [f"{turn} c{number}" for turn in line.context[-3:]]
        record: dict[str, Any] = {"id": str(number), "context": context, "response": response}
        if row.references:
            record["references"] = [f"{rng.choice(lines).response} r{number}"]
        body = json.dumps(record).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        yield Ask(record, head.encode() + body)


class _Closed(OSError):
    """A connection that was closed before the answer began."""


class Client:
    """Sends requests on connections that are kept, as many as are needed at once."""

    def __init__(self, port: int, log: Log) -> None:
        self.port, self.log = port, log
        self.free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.room = asyncio.Semaphore(CONNECTIONS)

    async def send(self, ask: Ask, due: float) -> None:
        """Send one request and note what comes of it."""
        async with self.room:
            try:
                async with asyncio.timeout(PATIENCE):
                    status, body = await self._exchange(ask)
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                self.log.lost += 1
                return
        self.log.statuses[status] += 1
        if status == 200:
            self.log.seconds.append(time.perf_counter() - due)
            (found,) = json.loads(body)["results"]
            self.log.wrong += any(found[key] != value for key, value in ask.record.items())
            self.log.answers.append((ask.record, found["scores"]))

    async def _exchange(self, ask: Ask) -> tuple[int, bytes]:
        """Status and body of the answer."""
        while self.free:  # one that was kept may have been closed meanwhile: then, as every client does, on another
            with suppress(ConnectionError, _Closed):
                return await self._asked(ask, *self.free.pop())
        return await self._asked(ask, *await asyncio.open_connection("127.0.0.1", self.port))

    async def _asked(self, ask: Ask, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[int, bytes]:
        """The same, asked on one connection.

        Raises:
            _Closed: it was closed before the answer began.
        """
        try:
            writer.write(ask.raw)
            if not (first := await reader.read(1)):
                raise _Closed
            head = (first + await reader.readuntil(b"\r\n\r\n")).lower()
            size = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
            body = await reader.readexactly(size)
        except BaseException:
            writer.close()
            raise
        if b"connection: close" in head:
            writer.close()
        else:
            self.free.append((reader, writer))
        return int(head.split(b" ", 2)[1]), body


async def post_large(row: Row, port: int, log: Log) -> None:
    """Post requests of 1,000 lines back to back, until cancelled."""
    made, path = asks(row, 1), f"/v1/score?scorer={row.scorers[0]}"
    client = Client(port, log)
    while True:
        body = json.dumps([next(made).record for _ in range(LARGE)]).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        status, _ = await client._exchange(Ask({}, head.encode() + body))
        log.large.append(status)


async def offer(row: Row, rate: float, seconds: float, port: int, pid: int) -> Log:
    """Offer the load, and wait for what is still on its way."""
    log, waiting, made = Log(), set[asyncio.Task[None]](), asks(row, 0)
    client = Client(port, log)
    for ask in itertools.islice(made, 20):  # what is loaded at the first call is no part of the measure
        await client.send(ask, time.perf_counter())
    log = client.log = Log()
    begun, busy = time.perf_counter(), _busy(pid)
    watch = [asyncio.create_task(_watch(pid, begun, log))]
    watch += [asyncio.create_task(post_large(row, port, log))] if row.beside else []
    while (now := time.perf_counter() - begun) < seconds:
        while log.offered < now * rate:
            task = asyncio.create_task(client.send(next(made), begun + log.offered / rate))
            waiting.add(task)
            task.add_done_callback(waiting.discard)
            log.offered += 1
        await asyncio.sleep(0.001)
    await asyncio.gather(*waiting)
    for task in watch:
        task.cancel()
    await asyncio.wait(watch)
    log.busy = _busy(pid) - busy
    return log


def _busy(pid: int) -> float:
    """Seconds that a process was on a core so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _watch(pid: int, begun: float, log: Log) -> None:
    """Note the memory of the server, twice a second."""
    while True:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        (resident,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        log.memory[time.perf_counter() - begun] = int(resident)
        await asyncio.sleep(0.5)


def check(row: Row, log: Log, most: int = 1_000) -> None:
    """Count the answers whose scores are not those of this process."""
    drawn = random.Random(1).sample(log.answers, min(most, len(log.answers)))  # noqa: S311
    for name in row.scorers:
        own = rejoinder.score([record for record, _ in drawn], name).values
        given = np.array([scores[name] for _, scores in drawn], np.float64)  # None, of a withheld score, is NaN
        log.wrong += int((~np.isclose(own, given, rtol=0.0, atol=1e-9, equal_nan=True)).sum())


def measured(row: Row, rate: float, seconds: float) -> tuple[str, ...]:
    """The cells of one row."""
    call = [sys.executable, "-m", "rejoinder", "serve", "--port", "0", "--json"]
    call += [word for name in row.scorers for word in ("-s", name)]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as server:
        if server.stdout is None or not (said := server.stdout.readline()):
            raise SystemExit("the server did not start")
        port = int(json.loads(said)["url"].rpartition(":")[2])
        log = asyncio.run(offer(row, rate, seconds, port, server.pid))
        server.send_signal(signal.SIGTERM)
    check(row, log)
    p50, p99 = np.quantile(log.seconds, (0.5, 0.99)) * 1000 if log.seconds else (np.nan, np.nan)
    settled = [size for at, size in log.memory.items() if at >= min(SETTLED, seconds / 2)]
    cells = f"{rate:,.0f}", f"{log.statuses[200] / seconds:,.0f}", f"{p50:.0f}", f"{p99:.0f}", f"{log.statuses[503]:,}"
    others = log.statuses.total() - log.statuses[200] - log.statuses[503]
    memory = f"{settled[0] / MIB:.0f}", f"{settled[-1] / MIB:.0f}"
    busy = f"{1000 * log.busy / max(log.statuses.total(), 1):.2f}"
    name = ", ".join(row.scorers)
    if row.beside:
        taken = log.large.count(200)
        name += f", beside a client of {LARGE:,}-line requests ({taken:,} of {len(log.large):,} answered)"
    return name, *cells, f"{others:,}", f"{log.lost:,}", f"{log.wrong:,}", *memory, busy


HEADINGS = (
    "scorers", "offered/s", "scored/s", "p50 ms", "p99 ms", "sent away (503)", "other answers", "lost", "wrong",
    "MiB settled", "MiB at the end", "ms of a core a request",
)  # fmt: skip
# Words above the table.
_SAID = """One process of `rejoinder serve` for each row, offered requests by another process on the same cores: one
example each, no text twice. Milliseconds from the moment at which a request was due until its scores were there. Memory
is that of the server; a core is counted for all that it did, what it sent away too."""


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=1_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", choices=[row.name for row in ROWS])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    rows = [measured(row, row.rate or given.rate, given.seconds) for row in ROWS if given.only in (None, row.name)]
    table = markdown_table(HEADINGS, rows)
    print(table)
    if given.write:
        head = f"Made by `{' '.join(['python', *sys.argv])}` on {datetime.date.today()}, {os.cpu_count()} cores"
        more = f"(load {load:.1f} before), Python {platform.python_version()}."
        RESULT.write_text(f"# The service under load\n\n{head} {more}\n\n{_SAID}\n\n{table}", encoding="utf-8")


if __name__ == "__main__":
    main()
