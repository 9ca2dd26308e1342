"""Rating projects of `rejoinder annotate`: a folder, or its SQLite file, read only and without an extra.

Each line comes with the ratings of all people, or with all votes; lines without ratings are included. Checks of
attention are left out. `rejoinder annotate FOLDER --export FILE` writes a row for each rating, with times and comments.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from rejoinder.assets import as_path
from rejoinder.errors import DataError
from rejoinder.example import Choice, majority

CONFIG, DATABASE = "study.json", "study.sqlite"
MAGIC = b"SQLite format 3\x00"
"""The first bytes of an SQLite file."""
_WAIT = 30  # seconds for a server that writes


def is_project(path: str | Path) -> bool:
    """Return whether a path is the folder of a rating project, or its SQLite file."""
    path = as_path(path)
    if path.is_dir():
        return (path / CONFIG).is_file()
    try:
        with path.open("rb") if path.is_file() else nullcontext() as stream:  # nothing is taken from a pipe
            return stream is not None and stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def project_rows(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and record of each line of a project; it may be running meanwhile.

    Args:
        path: the folder, or the SQLite file.

    Raises:
        DataError: it is no project, is damaged, or keeps its answers in a database elsewhere.
    """
    with _opened(path) as project:
        answers: dict[int, list[tuple[str, dict[str, Any]]]] = {}
        for item, rater, values, _ in project.answers:
            answers.setdefault(item, []).append((project.raters[rater][0], values))
        for number, block, content in project.items:
            for line in content["lines"] if block is not None else ():
                yield f"{path}:item {number}", _record(line, project.questions, answers.get(number, []))


def project_raters(path: str | Path) -> dict[str, tuple[int, int, tuple[float, ...]]]:
    """Return missed checks of attention, all checks, and the seconds for each reply, by rater; see `project_rows`."""
    with _opened(path) as project:
        passes = {number: content["passes"] for number, block, content in project.items if block is None}
        first = project.questions[0]["name"]
        raters = {}
        for rater, (name, imported) in project.raters.items():
            given = [answer for answer in project.answers if answer[1] == rater]
            checks = [values[first] in passes[item] for item, _, values, _ in given if item in passes]
            passed, failed = json.loads(imported) if imported else (sum(checks), len(checks) - sum(checks))
            seconds = tuple(taken for item, _, _, taken in given if item not in passes and taken is not None)
            raters[name] = (failed, passed + failed, seconds)
        return raters


def keeps_answers_elsewhere(path: str | Path) -> bool:
    """Return whether the answers of a project are in a database outside its folder."""
    return Path(path).is_dir() and _config(Path(path))["database"] is not None


class _Project(NamedTuple):
    """The state of a project at one moment."""

    questions: list[dict[str, Any]]
    raters: dict[int, tuple[str, str | None]]  # name; passed and failed checks of imported answers, as JSON
    items: list[tuple[int, int | None, dict[str, Any]]]  # number, block (None of a check), content
    answers: list[tuple[int, int, dict[str, Any], float | None]]  # item, rater, values, seconds


@contextmanager
def _opened(path: str | Path) -> Iterator[_Project]:
    """Read a project. What is wrong in it, also in the block, is a `DataError`."""
    file = _database(Path(path))
    try:
        address = f"file:{quote(str(file.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_WAIT)) as connection:
            connection.execute("BEGIN")  # one state of the file, while people rate
            facts = dict(connection.execute("SELECT name, value FROM rejoinder_facts"))
            if json.loads(facts["version"]) != 1:
                problem = f"a rating project of version {facts['version']}, expected 1"
                raise DataError(problem, "Open it with the rejoinder that made it", where=str(path))
            people = connection.execute("SELECT number, name, checks FROM rejoinder_raters ORDER BY number")
            raters = {number: (name, checks) for number, name, checks in people}
            items = connection.execute("SELECT number, block, content FROM rejoinder_items ORDER BY number").fetchall()
            answers = connection.execute(
                "SELECT item, rater, answers, seconds FROM rejoinder_answers ORDER BY rater, at"
            ).fetchall()
        yield _Project(
            json.loads(facts["design"])["question"],
            raters,
            [(number, block, json.loads(content)) for number, block, content in items],
            [(item, rater, json.loads(values), seconds) for item, rater, values, seconds in answers],
        )
    except (sqlite3.Error, LookupError, ValueError, TypeError) as error:
        if isinstance(error, DataError):
            raise
        problem = f"no rating project that can be read ({error})"
        raise DataError(problem, "Give the folder that rejoinder annotate made", where=str(path)) from error


def _config(folder: Path) -> Any:
    """Return what `study.json` holds."""
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        config["database"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{CONFIG} cannot be read", "Put it back as it was", where=str(folder)) from error
    return config


def _database(path: Path) -> Path:
    if not path.is_dir():
        return path
    if _config(path)["database"] is not None:
        remedy = f"Export them: rejoinder annotate {path} --export ratings.csv"
        raise DataError("the answers are in a database elsewhere", remedy, where=str(path))
    if not (path / DATABASE).is_file():
        raise DataError(f"{DATABASE} is missing", "Put it back; it holds the answers", where=str(path))
    return path / DATABASE


def _record(line: Any, questions: list[dict[str, Any]], answers: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return a line with its ratings; of a line with two replies both replies with the votes."""
    if isinstance(line, list):
        votes: list[Choice | None] = [vote for _, values in answers for vote in values.values()]
        record = {**line[0], "responses": [reply["response"] for reply in line]}
        del record["response"]
        if systems := [reply["system"] for reply in line if reply.get("system")]:
            record = {key: value for key, value in record.items() if key != "system"} | {"systems": systems}
        return {**record, "preferred": majority(votes), "votes": votes}
    record = {**line}
    for question in questions:
        name, scale = question["name"], question["scale"]
        bounds = [0, 1] if isinstance(scale, str) else scale
        if name == "overall":
            record["scale"] = bounds
        else:
            record.setdefault("scales", {})[name] = bounds
        rated = [(person, values[name]) for person, values in answers if values.get(name) is not None]
        if rated:
            record.setdefault("ratings", {})[name] = [value for _, value in rated]
            record.setdefault("raters", {})[name] = [person for person, _ in rated]
    return record
