"""Contexts to answer, from examples, dialogues and conversations that wait for a reply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rejoinder.errors import DataError
from rejoinder.io.chat import spoken
from rejoinder.io.corpus import Dialogue, read_dialogues, require_conversation, texts
from rejoinder.io.lines import OnBad, raise_bad
from rejoinder.io.parse import parse_record
from rejoinder.io.read import rows
from rejoinder.records import Example


def read_contexts(*paths: str | Path, on_bad: OnBad = raise_bad) -> Iterator[Example]:
    """Yield the contexts of one or more files, in their order, as examples whose response may be empty.

    Formats: those of `read`, and `.txt` of `read_dialogues`. A line is

    - an example as `read` takes it, or one without a response;
    - a dialogue, `{"turns": [...]}`: its last turn is the reference, what stands before it the context;
    - a conversation in chat messages; where it ends with the user's turn, all of it is context.

    Args:
        paths: files.
        on_bad: what to do with the error of a line that cannot be used; raises it unless told otherwise.

    Raises:
        DataError: a bad line, unless `on_bad` keeps it.
        MissingAsset: a file is not there.
        UsageError: the suffix is of no known format.
    """
    for path in paths:
        if str(path).removesuffix(".gz").endswith(".txt"):
            for dialogue in read_dialogues(path, on_bad=on_bad):
                *context, last = dialogue.turns
                yield Example(tuple(context), "", (last,), id=dialogue.where, where=dialogue.where)
            continue
        for where, record in rows(path, on_bad):
            try:
                example = parse_record(_as_example(record, where), where)
            except DataError as error:
                on_bad(error)
            else:
                yield example


def _as_example(record: Any, where: str) -> Any:
    """The JSON value of a line with a response, empty where it has none; what cannot be told is left to the parser."""
    if isinstance(record, list):
        record = {"messages": record}
    if not isinstance(record, Mapping) or "response" in record:
        return record
    if "turns" in record:
        dialogue = Dialogue(texts(record["turns"], where), where)
        require_conversation(dialogue)
        *context, last = dialogue.turns
        rest = {key: value for key, value in record.items() if key != "turns"}
        return {**rest, "context": context, "response": "", "references": [last]}
    if "messages" in record:
        turns = spoken(record["messages"], where)
        waits = bool(turns) and turns[-1][0] == "user"
        return {**record, "context": [text for _, text in turns], "response": ""} if waits else record
    if record.get("context") is None:
        found = ", ".join(map(str, list(record)[:6])) or "nothing"
        remedy = 'Give every line a "context", "turns" or "messages"'
        raise DataError(f"missing (found: {found})", remedy, where=where, field="context")
    return {**record, "response": ""}
