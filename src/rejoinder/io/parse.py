"""From a JSON object to an `Example` and back. Every rule about fields stands here, once, for all file formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, TypeGuard

from rejoinder.errors import DataError
from rejoinder.example import OVERALL, UNANSWERED, Example
from rejoinder.io.chat import (
    SPEAKERS,
    as_context,
    as_said,
    as_turns,
    in_turn,
    is_conversation,
    replies_in,
    spoken,
)
from rejoinder.io.logs import reply_in
from rejoinder.io.ratings import grouped, quality_of, ratings_of, scales_of
from rejoinder.io.single_messages import is_one_message, listed, one_message
from rejoinder.io.values import kind_of, plain_json

Record = Mapping[str, Any]
FIELDS = (
    "id",
    "dataset",
    "context",
    "response",
    "references",
    "system",
    "context_id",
    "ratings",
    "raters",
    "quality",
    "scale",
    "scales",
)
SCORED = ("scores", "unscored", "signatures")
"""What scoring writes beside the fields: one object each, by scorer. They are read as extra keys."""
NOTES = "notes"
"""It writes these too, lists of texts by scorer. The word is a common one, so any other value is the user's own."""
INTERVALS = "intervals"
"""And these, two numbers by scorer, of scorers that say how sure they are; any other value is the user's own too."""

EXPLAINED = "explained"
"""And these, what moved each score, of scorers that are asked and can tell."""

WORST = "worst_turns"
"""And these, of scores of whole conversations: lists of turns by scorer."""

_OF_ONE_REPLY = ("references", "ratings", "raters", "quality", UNANSWERED)
# Fields whose absence goes unnoticed, so that a typing error in their name would only show in the results.
_EASILY_LOST = ("context", "response", "references", "system", "ratings", "quality", "scale", "context_id")
_LIKENESS = 0.88  # above "content" (0.86), a name in use, and below "scal" (0.89)


def parse_record(record: Any, where: str) -> Example:
    """The `Example` that a JSON object describes.

    A conversation (`[{"role", "content"}, ...]`, or an object with it under `messages`) is an example too: the last
    turn of the assistant is the response, what stands before it is the context. The messages stay among the extra keys.
    Where the user asks something after it, the reply is a missing one.

    Args:
        record: a decoded JSON value.
        where: `file:line`, for messages and as the id of a line that has none.

    Raises:
        DataError: a field is missing, of the wrong type or outside its range; an unknown key is nearly that of a field
            that is absent.
    """
    if isinstance(record, list):
        record = {"messages": record}
    if not isinstance(record, Mapping):
        raise DataError(
            f"{kind_of(record)}, expected a JSON object",
            'Write one {"context": [...], "response": "..."} a line',
            where=where,
        )
    record = _with_texts(record, where)
    _refuse_near_misses(record, where)
    if not isinstance(record.get("response"), str):
        raise _no_response(record, where)
    _require_objects(record, where)
    record = _with_speakers(record, where)
    scales = scales_of(record, where)
    return Example(
        context=texts_in(record, "context", where),
        response=record["response"],
        references=texts_in(record, "references", where),
        id=name_in(record, "id", where) or where,
        system=name_in(record, "system", where),
        dataset=name_in(record, "dataset", where),
        context_id=name_in(record, "context_id", where),
        ratings=ratings_of(record, scales, where),
        quality=quality_of(record, scales, where),
        scales=scales,
        extra=plain_json({key: value for key, value in record.items() if key not in FIELDS}, where),
        where=where,
    )


def _no_response(record: Record, where: str) -> DataError:
    """The error of a record without a text to judge."""
    if "response" not in record and is_one_message(record):
        return one_message(list(record), where)
    found = f"is {kind_of(record['response'])}" if "response" in record else f"missing (found: {listed(list(record))})"
    remedy = 'Give every line a "response": "...", or say which is: --map response=NAME'
    if record.get("response", "") is None:
        remedy = (
            'Write "" for an empty reply (in a data frame: fillna("")), leave the line out, or say --map response=NAME'
        )
    inner = [
        f"{key}.{name}"
        for key, value in record.items()
        if isinstance(value, Mapping)
        for name, one in value.items()
        if isinstance(one, (str, list))
    ]
    if inner:
        remedy += f", where NAME may be one inside an object ({listed(inner)})"
    return DataError(f"{found}, expected text", remedy, where=where, field="response")


def _with_texts(record: Record, where: str) -> Record:
    """The record with the context and the response that its messages come to, and with the text of a logged reply."""
    reply = record.get("response")
    if reply is not None and not isinstance(reply, str) and (text := reply_in(reply, where)) is not None:
        record = {**record, "response": text}
    if "messages" not in record:
        return record
    if "response" not in record:
        return {**record, **replies_in(record, where, every=False)[-1]}
    if record.get("context") is None and is_conversation(record["messages"]):
        return {**record, "context": _before(record["response"], record["messages"], where)}
    return record


def _before(response: Any, messages: Any, where: str) -> list[str]:
    """The turns before a response that stands beside messages: all, or all but the last where they end with it.

    Raises:
        DataError: they end with another turn of the assistant.
    """
    turns = spoken(messages, where)
    texts = [text for _, text in turns]
    if not turns or turns[-1][0] != "assistant":
        return texts
    if isinstance(response, str) and texts[-1].strip() != response.strip():
        problem = "the messages end with another reply of the assistant"
        remedy = "Say which is judged: --map response= takes the messages, --map messages= the response without them"
        raise DataError(problem, remedy, where=where, field="response")
    return texts[:-1]


def _with_speakers(record: Record, where: str) -> Record:
    """The record with who said each turn, where its context tells it and they do not alternate; its own go before."""
    context = record.get("context")
    if SPEAKERS in record or not (isinstance(context, str) or is_conversation(context)):
        return record
    speakers = [*(role for role, _ in as_said(context, where)), "assistant"]
    return record if None in speakers or speakers == in_turn(len(speakers)) else {**record, SPEAKERS: speakers}


def _with_reply_said(record: Record, where: str) -> Record:
    """The record with the response as the last of its messages, where no context stands beside them."""
    said, text = record["messages"], reply_in(record.get("response"), where)
    if text is None or record.get("context") is not None or not is_conversation(said):
        return record
    ends = len(_before(text, said, where)) < len(spoken(said, where))
    rest = {key: value for key, value in record.items() if key != "response"}
    return {**rest, "messages": said if ends else [*said, {"role": "assistant", "content": text}]}


def _as_messages(record: Record, where: str) -> dict[str, Any] | None:
    """The record with its context and response as messages, where the context tells who spoke and the bot did."""
    context, reply = record.get("context"), record.get("response")
    if not isinstance(reply, str) or not (isinstance(context, str) or is_conversation(context)):
        return None
    said = as_said(context, where)
    roles = {role for role, _ in said}
    if None in roles or "assistant" not in roles:
        return None
    rest = {key: value for key, value in record.items() if key not in ("context", "response", SPEAKERS)}
    return {**rest, "messages": as_context([*said, ("assistant", reply)])}


def every_turn(record: Any, where: str) -> list[Any]:
    """One record for each turn of the assistant in a conversation, or in a context that tells who spoke; else itself.

    Each has the messages up to its turn, an id of its own (`chat1#2` is the second turn) and the id of the conversation
    as its `dialogue_id`. Ratings and references are of the last turn, as where only that is read. A last question of
    the user that has no answer makes one more, without a reply.
    """
    if not isinstance(record, Mapping):
        return [record]
    if "messages" not in record:
        said = _as_messages(record, where)
        turns = every_turn(said, where) if said else [record]
        return [{key: value for key, value in one.items() if key != "messages"} for one in turns]
    record = _with_reply_said(record, where)
    if "response" in record:
        return [record]
    name = name_in(record, "id", where) or where
    shared = {"dialogue_id": record.get("dialogue_id") or name}
    before = {key: value for key, value in record.items() if key not in _OF_ONE_REPLY}
    replies = replies_in(record, where, every=True)
    return [
        {**(record if number == len(replies) else before), **shared, "id": f"{name}#{number}", **reply}
        for number, reply in enumerate(replies, start=1)
    ]


def to_record(example: Example) -> dict[str, Any]:
    """The JSON object of `example`, in the order of the input line's contract; keys it has nothing for are left out."""
    record: dict[str, Any] = {"id": example.id, "context": list(example.context), "response": example.response}
    if example.dataset is not None:
        record = {"id": example.id, "dataset": example.dataset, **record}
    if example.references:
        record["references"] = list(example.references)
    for key in ("system", "context_id"):
        if (value := getattr(example, key)) is not None:
            record[key] = value
    if example.ratings:
        record["ratings"], raters = grouped(example.ratings)
        if raters:
            record["raters"] = raters
    if example.quality:
        record["quality"] = dict(example.quality)
    if OVERALL in example.scales:
        record["scale"] = list(example.scales[OVERALL])
    if set(example.scales) - {OVERALL}:
        record["scales"] = {dimension: list(scale) for dimension, scale in example.scales.items()}
    return {**record, **example.extra}


def are_notes(value: Any) -> bool:
    """Whether the value of the key `notes` is what scoring writes there."""
    return isinstance(value, Mapping) and all(
        isinstance(notes, list) and all(isinstance(note, str) for note in notes) for notes in value.values()
    )


def are_intervals(value: Any) -> TypeGuard[Mapping[str, list[float]]]:
    """Whether the value of the key `intervals` is what scoring writes there."""
    return isinstance(value, Mapping) and all(
        isinstance(ends, list) and len(ends) == 2 and all(type(end) in (int, float) for end in ends)
        for ends in value.values()
    )


def are_explained(value: Any) -> TypeGuard[Mapping[str, Mapping[str, Any]]]:
    """Whether the value of the key `explained` is what scoring writes there."""
    return isinstance(value, Mapping) and all(
        isinstance(one, Mapping)
        and one.keys() == {"base", "moved"}
        and isinstance(one["moved"], Mapping)
        and all(type(points) in (int, float) for points in (one["base"], *one["moved"].values()))
        for one in value.values()
    )


def are_worst(value: Any) -> bool:
    """Whether the value of the key `worst_turns` is what scoring writes there."""
    return isinstance(value, Mapping) and all(
        isinstance(turns, list)
        and all(isinstance(turn, Mapping) and turn.keys() == {"turn", "response", "score"} for turn in turns)
        for turns in value.values()
    )


def of_scoring(key: str, value: Any) -> bool:
    """Whether a value under one of its common words, such as `notes` or `intervals`, is what scoring writes there."""
    told: dict[str, Callable[[Any], bool]] = {
        NOTES: are_notes,
        INTERVALS: are_intervals,
        EXPLAINED: are_explained,
        WORST: are_worst,
    }
    return key in told and told[key](value)


def _refuse_near_misses(record: Record, where: str) -> None:
    """Raise where an unknown key is all but the name of a field that the record lacks."""
    for key in record:
        if key not in (*FIELDS, "rating") and (meant := _nearest(key)) and record.get(meant) is None:
            raise DataError("unknown", f'Did you mean "{meant}"? If not, rename it', where=where, field=key)


@lru_cache(maxsize=1024)
def _nearest(key: str) -> str | None:
    """The field that `key` is a near miss of; the first letter is seldom mistyped, and "preference" is a word."""
    found = get_close_matches(key.strip().lower(), _EASILY_LOST, n=1, cutoff=_LIKENESS)
    return found[0] if found and found[0][0] == key.strip().lower()[0] else None


def _require_objects(record: Record, where: str) -> None:
    """Raise where a key that scoring adds to holds something else."""
    for key in SCORED:
        if record.get(key) is not None and not isinstance(record[key], Mapping):
            raise DataError(
                f"is {kind_of(record[key])}, expected what scoring writes there, an object",
                "Rename it",
                where=where,
                field=key,
            )


def texts_in(record: Record, field: str, where: str) -> tuple[str, ...]:
    """A list of texts; absent or null is the empty list, a text a list of one, of a context of the turns in it."""
    value = record.get(field)
    if value is None:
        return ()
    if field == "context" and isinstance(value, (str, list)):
        value = as_turns(value, where)
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        odd = (
            next((kind_of(text) for text in value if not isinstance(text, str)), "") if isinstance(value, list) else ""
        )
        found = f"a list that holds {odd}" if odd else kind_of(value)
        remedy = f'Write "{field}": ["...", "..."]'
        raise DataError(f"is {found}, expected a list of texts", remedy, where=where, field=field)
    return tuple(value)


def name_in(record: Record, field: str, where: str) -> str | None:
    """A name: text or a whole number; absent, null and "" are None."""
    value = record.get(field)
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise DataError(
            f"is {kind_of(value)}, expected a name", "Write text or a whole number", where=where, field=field
        )
    return str(value)
