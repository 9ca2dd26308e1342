"""Dialogues without ratings, from corpora, one at a time, so that a corpus larger than memory passes through."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rejoinder.assets import asset
from rejoinder.errors import DataError, UsageError
from rejoinder.io.chat import spoken
from rejoinder.io.lines import STDIN, OnBad, name_of, raise_bad, text_lines
from rejoinder.io.names import is_rated
from rejoinder.io.values import decoded

LONGEST_TURN = 1_000_000
"""Characters of a turn; a longer one is no turn of a conversation but a file that lost its line ends."""
LONGEST_LINE = 10_000_000
"""Characters of a line."""

_SEPARATOR = re.compile(r"\t|(?:^|\s+)__eou__(?:\s+|$)")
_MESSAGES = ("messages", "conversations", "conversation")
_FORMATS = (".jsonl", ".ndjson", ".txt")
_KNOWN = f"{', '.join(_FORMATS)}, each also with .gz"
_REMEDY = 'Write {"turns": ["...", "..."]}'
_Parse = Callable[[str, str], "Dialogue"]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One conversation.

    Attributes:
        turns: two texts or more, oldest first, none of them empty.
        where: `file:line`, for messages.
        judged: whether the corpus marks the dialogue as part of a set of human judgements, or holds ratings of it.
    """

    turns: tuple[str, ...]
    where: str
    judged: bool = False


def read_dialogues(*paths: str | Path, on_bad: OnBad = raise_bad) -> Iterator[Dialogue]:
    """Yield the dialogues of one or more files, in their order.

    Formats, by suffix, each also with `.gz`:

    - `.jsonl`, `.ndjson` and standard input (`-`): an object a line with `turns` (a list of texts; `judged` is read
      too; a line with anything that may be a rating is judged), or with `messages` or `conversations` (chat messages),
      or the array of them, or with the `context` and `response` of an example. Messages of system and tools are no
      turns.
    - `.txt`: a dialogue a line, its turns separated by a TAB or by ` __eou__ `; either may also end the line.

    Blank lines are passed over.

    Args:
        paths: files.
        on_bad: what to do with the error of a line that cannot be used; raises it unless told otherwise. With
            `on_bad=skipped.append` reading goes on and `skipped` tells what was left out.

    Raises:
        DataError: a bad line, unless `on_bad` keeps it: not UTF-8, broken JSON, no list of texts, fewer than two turns,
            an empty turn, a turn of more than a million characters, a line of more than ten million, or all turns the
            same.
        MissingAsset: a file is not there.
        UsageError: the suffix is of no known format.
    """
    for path in paths:
        parse = _parser(path)
        for number, line in text_lines(path, on_bad):
            if not line.strip():
                continue
            where = f"{name_of(path)}:{number}"
            try:
                dialogue = parse(of_fair_length(line, where, "dialogue"), where)
                require_conversation(dialogue)
            except DataError as error:
                on_bad(error)
            except RecursionError:
                on_bad(DataError("nested too deep", "Flatten it", where=where))
            else:
                yield dialogue


def corpus_files(paths: Iterable[str | Path]) -> list[str | Path]:
    """`paths`, with a folder replaced by the corpus files in it, by name.

    Raises:
        UsageError: a folder holds no file of a known format.
    """
    found: list[str | Path] = []
    for path in paths:
        if not Path(path).is_dir():
            found.append(path)
            continue
        inside = sorted(file for file in Path(path).iterdir() if _suffix(file) in _FORMATS and file.is_file())
        if not inside:
            raise UsageError(f"{path}: a folder without a corpus. Known: {_KNOWN}")
        found += inside
    return found


def of_fair_length(line: str, where: str, what: str) -> str:
    """`line`, where it is not longer than any `what` is.

    Raises:
        DataError: it is.
    """
    if len(line) > LONGEST_LINE:
        problem = f"a line of {len(line):,} characters, expected at most {LONGEST_LINE:,}"
        raise DataError(problem, f"Write one {what} a line", where=where)
    return line


def _parser(path: str | Path) -> _Parse:
    """What reads a line of the file's format."""
    suffix = ".jsonl" if str(path) == STDIN else _suffix(Path(asset(path)))
    if suffix not in _FORMATS:
        raise UsageError(f"{path}: unknown corpus format {suffix or '(no suffix)'}. Known: {_KNOWN}")
    return _from_text if suffix == ".txt" else _from_json


def _suffix(path: Path) -> str:
    """What tells the format of a file: its suffix, or the one before `.gz`."""
    return (Path(path.stem) if path.suffix == ".gz" else path).suffix.lower()


def _from_text(line: str, where: str) -> Dialogue:
    """The dialogue of a line of plain text."""
    turns = _SEPARATOR.split(line.strip(" \r\n"))
    if not turns[-1]:
        turns.pop()
    return Dialogue(tuple(turns), where)


def _from_json(line: str, where: str) -> Dialogue:
    """The dialogue of a line of JSON."""
    try:
        # Without its end, because the place of an error would be told as one on a second line.
        record = decoded(line.rstrip(), where)
    except DataError:
        raise
    except json.JSONDecodeError as error:
        problem = f"broken JSON ({error.msg} at column {error.colno})"
        raise DataError(problem, "Write one JSON object a line", where=where) from error
    except (ValueError, RecursionError) as error:
        what = "nested too deep" if isinstance(error, RecursionError) else "a number of thousands of digits"
        raise DataError(f"broken JSON ({what})", "Write one JSON object a line", where=where) from error
    if isinstance(record, list):
        record = {"messages": record}
    if not isinstance(record, Mapping):
        raise DataError("not a JSON object", _REMEDY, where=where)
    if "turns" in record:
        turns = texts(record["turns"], where)
    elif key := next((key for key in _MESSAGES if key in record), ""):
        turns = tuple(text for _, text in spoken(record[key], where))
    elif "context" in record and "response" in record:
        turns = (*texts(record["context"], where, "context"), *texts([record["response"]], where, "response"))
    else:
        found = ", ".join(list(record)[:6]) or "nothing"
        raise DataError(f'neither "turns" nor "messages" (found: {found})', _REMEDY, where=where)
    return Dialogue(turns, where, _judged(record, where))


def texts(turns: Any, where: str, field: str = "turns") -> tuple[str, ...]:
    """The value of a field that must be a list of texts.

    Raises:
        DataError: it is something else.
    """
    if not isinstance(turns, list) or not all(isinstance(turn, str) for turn in turns):
        raise DataError("is not a list of texts", _REMEDY, where=where, field=field)
    return tuple(turns)


def _judged(record: Mapping[str, Any], where: str) -> bool:
    """The value of `judged`, or, where it is absent or null, whether the line or a message of it carries ratings.

    Every name that the reader takes for a rating counts, and those that it takes for one only in sight of the value:
    to leave out too much costs a few dialogues, to leave out too little makes a judge look better than it is.
    """
    value = record.get("judged")
    if value is not None and not isinstance(value, bool):
        raise DataError(
            f"is {value!r:.40}, expected true or false", "Correct it or leave it out", where=where, field="judged"
        )
    if value is not None:
        return value
    parts: list[Any] = [
        record,
        *(part for key in _MESSAGES if isinstance(record.get(key), list) for part in record[key]),
    ]
    return any(is_rated(part) for part in parts if isinstance(part, Mapping))


def require_conversation(dialogue: Dialogue) -> None:
    """Raise where the turns of `dialogue` are no conversation.

    Raises:
        DataError: see `read_dialogues`.
    """
    turns, where = dialogue.turns, dialogue.where
    if len(turns) < 2:
        found = "one turn" if turns else "no turn"
        raise DataError(f"{found}, a dialogue has two or more", "Leave the line out or give all its turns", where=where)
    for number, turn in enumerate(turns, start=1):
        if not turn.strip():
            raise DataError(f"turn {number} is empty", "Leave the turn out or give its text", where=where)
        if len(turn) > LONGEST_TURN:
            problem = f"turn {number} has {len(turn):,} characters, expected at most {LONGEST_TURN:,}"
            raise DataError(problem, "Check the file's line ends, or cut the turn", where=where)
    if len(set(turns)) == 1:
        raise DataError(f"all {len(turns)} turns are the same", "Leave the line out", where=where)
