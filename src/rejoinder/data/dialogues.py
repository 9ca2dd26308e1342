"""Dialogues without ratings and contexts to answer, one at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from rejoinder.assets import asset
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.io.chat import spoken
from rejoinder.io.columns import Names
from rejoinder.io.file_formats import Format
from rejoinder.io.lines import STDIN, OnBad, name_of, raise_bad, text_lines
from rejoinder.io.names import is_rated
from rejoinder.io.pairs import refuse_pair
from rejoinder.io.parse import parse_record
from rejoinder.io.read import How, names_of, records_of, rows, too_deep, within_memory
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


_GIVE = 'Give every line a "context", "turns" or "messages"'
Cut = Callable[[Dialogue], int]
"""How many turns of a dialogue, one or more and not all, are the context."""


def before_the_last(dialogue: Dialogue) -> int:
    """All turns but the last are the context."""
    return len(dialogue.turns) - 1


def read_contexts(
    *paths: str | Path,
    wanted: Callable[[Dialogue], bool] | None = None,
    cut: Cut = before_the_last,
    on_bad: OnBad = raise_bad,
    **how: Unpack[How],
) -> Iterator[Example]:
    """Yield the contexts of one or more files, in their order, as examples whose response may be empty.

    Formats: those of `read`, and `.txt` of `read_dialogues`. A line is

    - an example as `read` takes it, or one without a response;
    - a dialogue, `{"turns": [...]}`: the turn after the `cut` is the reference, what stands before it the context;
    - a conversation in chat messages; where it ends with the user's turn, all of it is context.

    Args:
        paths: files.
        wanted: which dialogues to take; of an example, the dialogue is its context and what follows it. None takes all.
        cut: where a dialogue is cut; before its last turn unless told otherwise.
        on_bad: what to do with the error of a line that cannot be used; raises it unless told otherwise.
        how: see `How`; all turns of a conversation are context.

    Raises:
        DataError: a bad line, unless `on_bad` keeps it.
        MissingAsset: a file is not there.
        UsageError: the suffix is of no known format.
    """
    names = names_of(how)
    for path in paths:
        for whole, example in _lines(path, names, on_bad, how.get("input_format")):
            if wanted is not None and not wanted(whole or _dialogue_of(example)):
                continue
            yield example if whole is None else _cut(whole, example, cut(whole))
    names.require_met()


def context_in(record: Mapping[str, Any], where: str) -> Example:
    """The context of one record under our names, as `read_contexts` makes it of a line that is no dialogue.

    Raises:
        DataError: it cannot be used.
    """
    return parse_record(_as_example(record, where, f"{_GIVE}; rejoinder.examples_of reads other names"), where)


def _lines(
    path: str | Path, names: Names, on_bad: OnBad, input_format: Format | None
) -> Iterator[tuple[Dialogue | None, Example]]:
    """Yield the lines of a file: the dialogue where a line is one, and the example that it makes, cut nowhere yet."""
    if input_format is None and str(path).removesuffix(".gz").endswith(".txt"):
        for dialogue in read_dialogues(path, on_bad=on_bad):
            yield dialogue, Example((), "", id=dialogue.where, where=dialogue.where)
        return
    records = records_of(rows(path, on_bad, input_format, names.note), names, on_bad)
    for where, record in within_memory(records, path, on_bad):
        try:
            found = _whole(record, where), parse_record(_as_example(record, where), where)
        except DataError as error:
            on_bad(error)
        except RecursionError:
            on_bad(too_deep(where))
        else:
            yield found


def _cut(dialogue: Dialogue, example: Example, place: int) -> Example:
    """`example` with the first `place` turns of a dialogue as its context and the next as its reference."""
    return replace(example, context=dialogue.turns[:place], references=dialogue.turns[place : place + 1])


def _dialogue_of(example: Example) -> Dialogue:
    """The dialogue that an example is the end of; where no turn follows, its context alone, if that is one."""
    waits = not example.references and not example.response and len(example.context) > 1
    return Dialogue(example.context if waits else (*example.context, ""), example.where)


def _whole(record: Any, where: str) -> Dialogue | None:
    """The dialogue that a line of JSON is, or None where it is none."""
    if not isinstance(record, Mapping) or "response" in record or "turns" not in record:
        return None
    dialogue = Dialogue(texts(record["turns"], where), where)
    require_conversation(dialogue)
    return dialogue


def _as_example(record: Any, where: str, remedy: str = _GIVE) -> Any:
    """The JSON value of a line with a response, empty where it has none; what cannot be told is left to the parser."""
    if not isinstance(record, Mapping) or "response" in record:
        return record
    if "turns" in record:
        rest = {key: value for key, value in record.items() if key != "turns"}
        return {**rest, "context": [], "response": ""}
    if "messages" in record:
        turns = spoken(record["messages"], where)
        waits = bool(turns) and turns[-1][0] == "user"
        return {**record, "context": [text for _, text in turns], "response": ""} if waits else record
    if record.get("context") is None:
        refuse_pair(record, where)
        found = ", ".join(map(str, list(record)[:6])) or "nothing"
        raise DataError(f"missing (found: {found})", remedy, where=where, field="context")
    return {**record, "response": ""}
