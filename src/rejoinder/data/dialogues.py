"""Dialogues without ratings, and contexts to answer, one at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from rejoinder.assets import asset
from rejoinder.data import limits
from rejoinder.data.chat import is_chat, messages_in, turns
from rejoinder.data.columns import checked, plain, plan
from rejoinder.data.examples import example_of
from rejoinder.data.files import SUFFIXES, OnError, Row, not_utf8, open_bytes, rows
from rejoinder.data.format import detect
from rejoinder.data.read import How, raise_error, read_rows
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example

LONGEST_TURN = 1_000_000
"""Characters of a turn; a longer one is a file that lost its line ends."""
Cut = Callable[["Dialogue"], int]
"""Returns how many turns of a dialogue, one or more and not all, are the context."""
_SEPARATOR = re.compile(r"\t|(?:^|\s+)__eou__(?:\s+|$)")
_MESSAGES = ("messages", "conversations", "conversation")
_FORMATS = (".jsonl", ".ndjson", ".txt")
_KNOWN = f"Known: {', '.join(_FORMATS)}, each also with .gz"
_REMEDY = 'Write {"turns": ["...", "..."]}'
_GIVE = 'Give every line a "context", "turns" or "messages"'
_RATED = re.compile(
    r"(?:^|_)(?:ratings?|stars|score|grade|likert|mos|feedback|vote|thumbs?|overall|quality|label|annotation)(?:_|$)"
)
_NOTHING: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation: two turns or more, oldest first, none empty; `judged` if it or the corpus holds ratings."""

    turns: tuple[str, ...]
    where: str
    judged: bool = False


def read_dialogues(*paths: str | Path, on_error: OnError = raise_error) -> Iterator[Dialogue]:
    """Yield the dialogues of files, one after the other.

    A line of `.jsonl`, `.ndjson` or standard input is an object with `turns` (texts), with `messages` or
    `conversations` (chat messages), or with `context` and `response`; or an array of messages. It may say `judged`.
    A line of `.txt` has its turns separated by a TAB or ` __eou__ `. Any suffix may be followed by `.gz`.

    `on_error` receives the error of a line that cannot be used: no texts, fewer than two turns, an empty turn, one of
    more than a million characters, or all turns the same. By default it raises the error.

    Raises:
        DataError, MissingAsset, UsageError: as `rows`; the suffix is unknown.
    """
    for path in paths:
        if (suffix := ".jsonl" if str(path) == "-" else _suffix(asset(path))) not in _FORMATS:
            raise UsageError(f"{path}: unknown corpus format {suffix or '(no suffix)'}. {_KNOWN}")
        for row in _rows(path, on_error):
            try:
                dialogue = _dialogue(row.data, row.where)
                _require_conversation(dialogue)
            except DataError as error:
                on_error(error)
            else:
                yield dialogue


def corpus_files(paths: Iterable[str | Path]) -> list[str | Path]:
    """Return `paths`, with a folder replaced by the corpora in it, by name. Raises `UsageError` if it holds none."""
    files: list[str | Path] = []
    for path in paths:
        if not Path(path).is_dir():
            files.append(path)
        elif inside := sorted(file for file in Path(path).iterdir() if _suffix(file) in _FORMATS):
            files += inside
        else:
            raise UsageError(f"{path}: a folder without a corpus. {_KNOWN}")
    return files


def text_lines(path: str | Path, on_error: OnError) -> Iterator[tuple[str, str]]:
    """Yield the place and the text, without blanks around it, of each line of a text file that is not blank."""
    name = "stdin" if str(path) == "-" else str(path)
    with open_bytes(path) as stream:
        for number, line in enumerate(limits.lines(stream, name), start=1):
            try:
                if text := line.decode("utf-8-sig" if number == 1 else "utf-8").strip(" \r\n"):
                    yield f"{name}:{number}", text
            except UnicodeDecodeError as error:
                on_error(not_utf8(error, f"{name}:{number}"))


def texts(value: Any, where: str, field: str = "turns") -> tuple[str, ...]:
    """Return the value of a field that must be a list of texts. Raises `DataError`."""
    if not isinstance(value, list) or not all(isinstance(turn, str) for turn in value):
        raise DataError("is not a list of texts", _REMEDY, where=where, field=field)
    return tuple(value)


def _rows(path: str | Path, on_error: OnError, kind: str | None = None) -> Iterator[Row]:
    """Return the rows of a file; a line of plain text is an object with `turns`."""
    if kind is not None or _suffix(path) != ".txt":
        return rows(path, on_error, kind)
    split = ((where, _SEPARATOR.split(line)) for where, line in text_lines(path, on_error))
    return (Row(where, {"turns": turns if turns[-1] else turns[:-1]}) for where, turns in split)


def _suffix(path: Any) -> str:
    return Path(str(path).removesuffix(".gz")).suffix.lower()


def _dialogue(record: Any, where: str) -> Dialogue:
    record = {"messages": record} if isinstance(record, list) else record
    if not isinstance(record, Mapping):
        raise DataError("not a JSON object", _REMEDY, where=where)
    if "turns" in record:
        found = texts(record["turns"], where)
    elif key := next((key for key in _MESSAGES if key in record), ""):
        found = tuple(turn.text for turn in turns(record[key], where) if turn.text is not None)
    elif "context" in record and "response" in record:
        found = (*texts(record["context"], where, "context"), *texts([record["response"]], where, "response"))
    else:
        names = ", ".join(list(record)[:6]) or "nothing"
        raise DataError(f'neither "turns" nor "messages" (found: {names})', _REMEDY, where=where)
    return Dialogue(found, where, _is_judged(record, where))


def _is_judged(record: Mapping[str, Any], where: str) -> bool:
    """Return the value of `judged`, or whether the line or a message of it may carry a rating, by the names alone.

    To leave out too much costs a few dialogues, to leave out too little makes a judge look better than it is.
    """
    value = record.get("judged")
    if value is not None and not isinstance(value, bool):
        raise DataError(f"is {value!r:.40}, expected true or false", "Correct it", where=where, field="judged")
    parts = [record, *(part for key in _MESSAGES if isinstance(record.get(key), list) for part in record[key])]
    filled = (str(key) for part in parts if isinstance(part, Mapping) for key in part if part[key] not in _NOTHING)
    return value if value is not None else any(_RATED.search(plain(key)) for key in filled)


def _require_conversation(dialogue: Dialogue) -> None:
    """Raise `DataError` if the turns are no conversation; see `read_dialogues`."""
    problem, remedy, count = "", "Delete the line, or give all its turns", len(dialogue.turns)
    if count < 2:
        problem = f"{'one turn' if count else 'no turn'}, a dialogue has two or more"
    elif empty := next((place for place, turn in enumerate(dialogue.turns, start=1) if not turn.strip()), 0):
        problem, remedy = f"turn {empty} is empty", "Delete the turn, or give its text"
    elif (longest := max(map(len, dialogue.turns))) > LONGEST_TURN:
        problem = f"a turn has {longest:,} characters, expected at most {LONGEST_TURN:,}"
        remedy = "Check the file's line ends, or cut the turn"
    elif len(set(dialogue.turns)) == 1:
        problem, remedy = f"all {count} turns are the same", "Delete the line"
    if problem:
        raise DataError(problem, remedy, where=dialogue.where)


def before_the_last(dialogue: Dialogue) -> int:
    """Return the number of turns before the last."""
    return len(dialogue.turns) - 1


def read_contexts(
    *paths: str | Path,
    wanted: Callable[[Dialogue], bool] | None = None,
    cut: Cut = before_the_last,
    on_error: OnError = raise_error,
    **how: Unpack[How],
) -> Iterator[Example]:
    """Yield the contexts of files as examples whose response may be empty.

    A line is an example, with or without a response; a dialogue (`turns`, or a line of `.txt`), whose turn after the
    `cut` is the reference; or chat messages, all of them context if they end with the user's turn.

    Args:
        paths: files of the formats of `read`, and `.txt`.
        wanted: returns whether to take a dialogue; of an example, the dialogue is its context and the reply to it.
        cut: where a dialogue is cut.
        on_error: receives the error of a line that cannot be used; raises it by default.
        how: see `How`.
    """
    kind, dialogues = how.get("input_format"), dict[str, Dialogue]()  # of the line that is read, by its place
    container = kind if kind in SUFFIXES.values() else None
    files = ((path, _open_ended(_rows(path, on_error, container), dialogues, on_error, how)) for path in paths)
    for example in examples_of_rows(files, on_error, how):
        dialogue = dialogues.pop(example.where, None)
        waits = not example.references and not example.response and len(example.context) > 1
        ended = Dialogue(example.context if waits else (*example.context, ""), example.where)
        if wanted is not None and not wanted(dialogue or ended):
            continue
        if dialogue is not None:
            place = cut(dialogue)
            example = replace(example, context=dialogue.turns[:place], references=dialogue.turns[place : place + 1])
        yield example


def _open_ended(found: Iterable[Row], dialogues: dict[str, Dialogue], on_error: OnError, how: How) -> Iterator[Row]:
    """Yield rows with a response, an empty one if they lack it; of a dialogue, keep it by its place."""
    mapped = checked(how.get("map"))
    for row in found:
        try:
            data = {"messages": row.data} if is_chat(row.data) else row.data
            if isinstance(data, Mapping) and "response" not in data and detect(Row(row.where, data, row.flat)) is None:
                if "turns" in data:
                    dialogues[row.where] = dialogue = Dialogue(texts(data["turns"], row.where), row.where)
                    _require_conversation(dialogue)
                data = _with_response(data, row.where, mapped)
        except DataError as error:
            on_error(error)
        else:
            yield Row(row.where, data, row.flat)


def _with_response(data: Mapping[str, Any], where: str, mapped: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record without a response, with an empty one if it waits for a reply."""
    if "turns" in data:
        return {**{key: value for key, value in data.items() if key != "turns"}, "context": [], "response": ""}
    sources = plan(tuple(data), mapped, where).sources
    if "response" in sources:
        return data
    if sources.get("messages"):
        said = [turn for turn in turns(messages_in(data[sources["messages"][0]]), where) if turn.text is not None]
        open_ended = bool(said) and said[-1].role == "user"
        return {**data, "context": [turn.text for turn in said], "response": ""} if open_ended else data
    if not sources.get("context"):
        found = ", ".join(map(str, list(data)[:6])) or "nothing"
        raise DataError(f"missing (found: {found})", _GIVE, where=where, field="context")
    return {**data, "response": ""}


def context_in(record: Mapping[str, Any], where: str) -> Example:
    """Return the context of a record under our names, as of a line that is no dialogue. Raises `DataError`."""
    if not {"context", "turns", "messages", "response"} & record.keys():
        names = ", ".join(map(str, list(record)[:6])) or "nothing"
        remedy = f"{_GIVE}; rejoinder.examples_of reads other names"
        raise DataError(f"missing (found: {names})", remedy, where=where, field="context")
    return example_of(record if "response" in record else _with_response(record, where, {}), where)


def examples_of_rows(
    files: Iterable[tuple[str | Path, Iterator[Row]]], on_error: OnError, how: How
) -> Iterator[Example]:
    """Yield the examples of rows; a pair of replies is none."""
    how = {**how, "turns": "last"}
    for line in read_rows(((str(path), found) for path, found in files), on_error, **how):
        if isinstance(line, Example):
            yield line
        else:
            on_error(DataError("a pair of replies, expected a context", _GIVE, where=line.where))
