"""Rating projects of `rejoinder annotate`: a folder, or its SQLite file, read only and without an extra.

Each line comes with the ratings of all people, or with all votes; lines without ratings are included. Checks of
attention are left out. `rejoinder annotate FOLDER --export FILE` writes a row for each rating, with times and comments.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rejoinder.errors import DataError
from rejoinder.example import Choice, majority

CONFIG, DATABASE = "study.json", "study.sqlite"
MAGIC = b"SQLite format 3\x00"
"""The first bytes of an SQLite file."""
_WAIT = 30  # seconds for a server that writes


def is_project(path: str | Path) -> bool:
    """Return whether a path is the folder of a rating project."""
    return (Path(path) / CONFIG).is_file()


def project_rows(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and record of each line of a project; it may be running meanwhile.

    Args:
        path: the folder, or the SQLite file.

    Raises:
        DataError: it is no project, is damaged, or keeps its answers in a database elsewhere.
    """
    file = _database(Path(path))
    try:
        address = f"file:{quote(str(file.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_WAIT)) as connection:
            connection.execute("BEGIN")  # one state of the file, while people rate
            facts = dict(connection.execute("SELECT name, value FROM rejoinder_facts"))
            people = dict(connection.execute("SELECT number, name FROM rejoinder_raters"))
            given = connection.execute(
                "SELECT item, rater, answers FROM rejoinder_answers ORDER BY rater, at"
            ).fetchall()
            items = connection.execute(
                "SELECT number, content FROM rejoinder_items WHERE block NOT NULL ORDER BY number"
            )
            stored = items.fetchall()
        if json.loads(facts["version"]) != 1:
            problem = f"a rating project of version {facts['version']}, expected 1"
            raise DataError(problem, "Open it with the rejoinder that made it", where=str(path))
        questions = json.loads(facts["design"])["question"]
        answers: dict[int, list[tuple[str, dict[str, Any]]]] = {}
        for item, rater, held in given:
            answers.setdefault(item, []).append((people[rater], json.loads(held)))
        for number, content in stored:
            for line in json.loads(content)["lines"]:
                yield f"{path}:item {number}", _record(line, questions, answers.get(number, []))
    except (sqlite3.Error, KeyError, ValueError, TypeError) as error:
        if isinstance(error, DataError):
            raise
        problem = f"no rating project that can be read ({error})"
        raise DataError(problem, "Give the folder that rejoinder annotate made", where=str(path)) from error


def _database(path: Path) -> Path:
    if not path.is_dir():
        return path
    try:
        config = json.loads((path / CONFIG).read_text(encoding="utf-8"))
        elsewhere = config["database"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{CONFIG} cannot be read", "Put it back as it was", where=str(path)) from error
    if elsewhere is not None:
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
