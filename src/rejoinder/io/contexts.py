"""Contexts to answer, from examples, dialogues and conversations that wait for a reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.io.chat import spoken
from rejoinder.io.columns import Names
from rejoinder.io.corpus import Dialogue, read_dialogues, require_conversation, texts
from rejoinder.io.file_formats import Format
from rejoinder.io.lines import OnBad, raise_bad
from rejoinder.io.pairs import refuse_pair
from rejoinder.io.parse import parse_record
from rejoinder.io.read import How, names_of, records_of, rows, too_deep, within_memory

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
