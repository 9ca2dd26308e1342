"""How the pages of a study keep up with many raters at once, and what is left of their answers after a kill.

Usage: python benchmarks/annotate_load.py [--raters 50] [--contexts 12] [--database URL] [--write]

Starts `rejoinder annotate` as a process of its own and lets simulated raters go through all their replies over HTTP,
each on a connection of its own: open the page, wait, send the answer. First with a short wait before each answer, then
without any; then again with a wait while the server is killed (SIGKILL) in the middle and started anew. Afterwards the
study must hold every answer that a rater saw accepted, once, with its value. `--write` keeps the table in
benchmarks/results/annotate_load.md.
"""

from __future__ import annotations

import argparse
import datetime
import http.client
import os
import platform
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np

import rejoinder
from rejoinder.annotation.answers import all_answers, all_raters, assigned
from rejoinder.annotation.study import annotate, opened
from rejoinder.pages.show import links

RESULT = Path(__file__).parent / "results" / "annotate_load.md"
ALLOWED = 0.2  # seconds, the 95th percentile
PATIENCE = 60  # seconds that a rater tries to reach the server


@dataclass
class Log:
    """What raters saw."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"page": [], "answer": []})
    accepted: dict[tuple[str, int], str] = field(default_factory=dict)
    retries: int = 0


class Browser:
    """One rater's connection, which is made anew where it breaks."""

    def __init__(self, link: str, log: Log) -> None:
        self.at, self.log = urlsplit(link), log
        self.connection = self._connect()

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.at.hostname or "", self.at.port, timeout=10)

    def ask(self, kind: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Status, where it leads, and text; raises OSError or HTTPException where the server is gone."""
        begun = time.perf_counter()
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
        try:
            self.connection.request("POST" if form else "GET", path, urlencode(form) if form else None, headers)
            answer = self.connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = self._connect()
            raise
        self.log.seconds[kind].append(time.perf_counter() - begun)
        return answer.status, answer.headers.get("location", ""), text


def rate(name: str, link: str, pause: Callable[[], float], log: Log) -> None:
    """Go through all that a rater has, and go on where the server was away."""
    browser, rng = Browser(link, log), random.Random(name)  # noqa: S311
    time.sleep(pause())  # they do not all begin at one moment
    path, tried = f"{browser.at.path}/next", time.monotonic()
    while not path.endswith("/done"):
        try:
            status, to, text = browser.ask("page", path)
            if status == 303:
                path = to
                continue
            (mark,) = re.findall(r'name="mark" value="([^"]+)"', text)
            time.sleep(pause())
            value = str(rng.randint(1, 5))
            status, to, text = browser.ask("answer", path, {"mark": mark, "answer-0": value, "seconds": "1"})
        except (OSError, http.client.HTTPException):
            if time.monotonic() - tried > PATIENCE:
                raise
            log.retries += 1
            time.sleep(0.5 + rng.random())  # nobody opens a page again at once
            path = f"{browser.at.path}/next"  # as one who opens the link again
            continue
        tried = time.monotonic()
        if status != 303:
            raise SystemExit(f"{path}: status {status}: {text[:200]}")
        log.accepted[name, int(path.rpartition("/")[2])] = value
        path = to
    browser.connection.close()


def start(folder: Path, port: int) -> subprocess.Popen[str]:
    """The server, listening."""
    call = [sys.executable, "-m", "rejoinder", "annotate", "-o", str(folder), "--port", str(port)]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)
    if process.stdout is None or not process.stdout.readline():
        raise SystemExit("the server did not start")
    return process


def stop(server: subprocess.Popen[str], number: signal.Signals) -> None:
    """End the server, and see it end."""
    with server:
        server.send_signal(number)
        server.wait(20)


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def run(folder: Path, pause: Callable[[], float], *, kill: bool) -> tuple[Log, float]:
    """Let all raters go through the study at once; what they saw, and how long it took."""
    log, port = Log(), free_port()
    with opened(folder) as study:
        people, total = links(study, f"http://127.0.0.1:{port}"), sum(assigned(study).values())
    server = start(folder, port)
    threads = [threading.Thread(target=rate, args=(*one, pause, log)) for one in people.items()]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    if kill:
        while len(log.accepted) < total / 2:
            time.sleep(0.01)
        stop(server, signal.SIGKILL)
        time.sleep(1)
        server = start(folder, port)
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begun
    stop(server, signal.SIGINT)
    return log, seconds


def check(folder: Path, log: Log) -> int:
    """How many answers the study holds, which are just those that raters saw accepted.

    Raises:
        SystemExit: one is lost, changed or there twice.
    """
    from rejoinder.annotation import database as db

    with opened(folder) as study:
        names = {row.number: str(row.name) for row in all_raters(study)}
        stored = all_answers(study)
        with study.engine.connect() as connection:
            places = {(row.rater, row.item): row.place for row in connection.execute(db.sql.select(db.tasks))}
    found = {(names[one.rater], places[one.rater, one.item]): str(one.values["overall"]) for one in stored}
    if len(found) != len(stored) or len(found) != len(places):
        raise SystemExit(f"{len(stored)} answers to {len(places)} tasks, {len(found)} of them different")
    wrong = [key for key, value in log.accepted.items() if found[key] != value]
    if wrong:
        raise SystemExit(f"{len(wrong)} answers were accepted and are not there, such as {wrong[0]}")
    return len(stored)


def row(what: str, folder: Path, pause: Callable[[], float], *, kill: bool = False) -> str:
    """One line of the table."""
    log, seconds = run(folder, pause, kill=kill)
    kept = check(folder, log)
    times = [np.quantile(log.seconds[kind], (0.5, 0.95, 1)) * 1000 for kind in ("page", "answer")]
    if not kill and what != "no pause" and max(one[1] for one in times) > ALLOWED * 1000:
        print(f"{what}: the 95th percentile is above {ALLOWED * 1000:.0f} ms", file=sys.stderr)
    cells = " | ".join(f"{one[0]:.0f} | {one[1]:.0f} | {one[2]:.0f}" for one in times)
    return f"| {what} | {kept:,} | {kept / seconds:.0f} | {cells} | {log.retries} |"


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--contexts", type=int, default=12)
    parser.add_argument("--database", default=None)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = [
        rejoinder.Example(
            (f"What about {place}?",), f"Reply {system} to {place}.", id=f"{place}-{system}", system=system
        )
        for place in range(given.contexts)
        for system in "abcd"
    ]
    rng = random.Random(1)  # noqa: S311
    runs = [("a pause of 1 to 2 s", lambda: rng.uniform(1, 2), False), ("no pause", lambda: 0.0, False)]
    runs.append(("killed and started again", lambda: rng.uniform(1, 2), True))
    rows, busy = [], os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as place:
        for number, (what, pause, kill) in enumerate(runs):
            folder = Path(place) / str(number)
            annotate(lines, folder, raters=given.raters, database=given.database).close()
            rows.append(row(what, folder, pause, kill=kill))
            print(rows[-1], flush=True)
    machine = (
        f"{os.cpu_count()} cores (load {busy:.1f} before, priority {-os.nice(0)}), Python {platform.python_version()}"
    )
    before = " Other programs ran meanwhile; server and raters went before them (nice)." if os.nice(0) < 0 else ""
    tasks = "every answer that a rater saw accepted is there, once, with its value"
    text = f"""# Raters at once

Made by `python benchmarks/annotate_load.py --write` on {datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}, {machine}.

{given.raters} raters at once, {given.contexts * 4} replies each, over HTTP against `rejoinder annotate` in a process
of its own, SQLite in the study's folder. Milliseconds as the raters see them.{before} After each run
{tasks}.
At most {ALLOWED * 1000:.0f} ms are allowed at p95 with a pause.

| raters | answers | answers/s | page, p50 ms | p95 | most | answer, p50 ms | p95 | most | tried again |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
    text += "\n".join(rows) + "\n"
    if given.write:
        RESULT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
