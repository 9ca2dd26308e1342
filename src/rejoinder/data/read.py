"""From a file to examples: container, format, columns, record. The whole flow stands here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from rejoinder.data import columns as names
from rejoinder.data.chat import is_chat, messages_in, replies, turns, turns_in
from rejoinder.data.files import OnError, Row
from rejoinder.data.files import rows as rows_of
from rejoinder.data.format import Format, detect, formats
from rejoinder.data.values import EMPTY, from_cell, number, under
from rejoinder.errors import ColumnError, DataError

Note = Callable[[str], None]
TEXTS = (
    "context",
    "references",
    "sources",
    "messages",
    "ratings",
    "raters",
    "quality",
    "scale",
    "scales",
)  # columns that may hold JSON


def raise_error(error: DataError) -> None:
    raise error


def read(
    *paths: str | Path,
    map: Mapping[str, Any] | None = None,
    format: str | None = None,
    input_format: str | None = None,
    turns: str = "last",
    scale: tuple[str, ...] = (),
    on_error: OnError = raise_error,
    note: Note = lambda _: None,
) -> Iterator[dict[str, Any]]:
    """The records of files, one at a time unless rows belong together."""
    mapped = {
        ours: (given,) if isinstance(given, str) and given else tuple(given) for ours, given in (map or {}).items()
    }
    for path in paths:
        found = rows_of(path, on_error, input_format)
        chosen = next((one for one in formats() if one.name == format), None)
        records = opened(found, chosen, on_error, lambda said: note(f"{path}: {said}"))
        yield from joined(understood(records, mapped, turns, scale, on_error, note), note)


def opened(
    found: Iterable[Row], chosen: Format | None, on_error: OnError, note: Note
) -> Iterator[tuple[Format | None, Row]]:
    """Each row with its format, in our own form; rows of one format that follow each other go through it together."""
    counts: Counter[str] = Counter()
    for kind, run in groupby(found, key=lambda row: chosen or detect(row)):
        records = messages_joined(run, note) if kind is None else kind.records(run, on_error)
        for row in records:
            counts[kind.about if kind else ""] += 1
            yield kind, row
    for about, count in counts.items():
        if about:
            note(f"{count:,} records, {about}")


def understood(
    found: Iterable[tuple[Format | None, Row]],
    mapped: Mapping[str, tuple[str, ...]],
    every: str,
    scale: tuple[str, ...],
    on_error: OnError,
    note: Note,
) -> Iterator[dict[str, Any]]:
    """Each row under our names, a chat as its reply; what was understood is said once for each set of columns."""
    plans: dict[tuple[Any, ...], names.Plan] = {}
    for kind, row in found:
        try:
            data = {"messages": row.data} if is_chat(row.data) else row.data
            if not isinstance(data, Mapping):
                raise DataError(
                    "expected a JSON object", 'Write one {"context": [...], "response": "..."} a line', where=row.where
                )
            if "pair" in data:
                yield {**data, "where": row.where}
                continue
            if "done" in data and "response" in data and "model" in data and data["done"] is False:
                raise ColumnError(
                    "a piece of a stream (done: false)", "Join the pieces of each reply first", where=row.where
                )
            keys = (kind is None, *data)
            if keys not in plans:
                plans[keys] = names.plan(tuple(data), mapped, row.where)
                if kind is None and (said := str(plans[keys])):
                    note(f"{row.where.rpartition(':')[0]}: {said}")
            record = renamed(data, plans[keys], row, scale)
            made = list(chats(record, row.where, every == "all"))
        except ColumnError:
            raise
        except DataError as error:
            on_error(error)
            continue
        for one in made:
            yield one


def renamed(data: Mapping[str, Any], plan: names.Plan, row: Row, words: tuple[str, ...]) -> dict[str, Any]:
    """A row under our names, cells decoded where the column may hold JSON; other keys stay."""
    used = {name for sources in plan.sources.values() for name in sources}
    record: dict[str, Any] = {key: value for key, value in data.items() if key not in used}
    for ours, sources in plan.sources.items():
        held = [under(data, name) if "." in name else data.get(name) for name in sources]
        if ours.partition(".")[0] == "rating":
            rate(record, ours.partition(".")[2] or "overall", sources, held, row.where, plan, words)
            continue
        if row.flat:
            held = [None if isinstance(one, str) and one in EMPTY else one for one in held]
        if ours in TEXTS:
            held = [from_cell(one, row.where, name) for one, name in zip(held, sources)]
        if ours == "context" and len(held) > 1:
            parts = [one for one in held if one]
            record[ours] = (
                ["\n\n".join(parts)]
                if names.plain(sources[0]) == "instruction"
                else [turn for one in parts for turn in as_turns(one, row.where)]
            )
        elif len(held) > 1:
            record[ours] = [one for one in held if one is not None]
        elif held:
            record[ours] = held[0]
    for dimension, bounds in plan.scales.items():
        record.setdefault("scales", {})[dimension] = list(bounds)
    if row.flat and "response" in plan.sources:
        record["response"] = record.get("response") or ""
    return {key: value for key, value in record.items() if value is not None or key == "response"}


def rate(
    record: dict[str, Any],
    dimension: str,
    sources: Iterable[str],
    held: list[Any],
    where: str,
    plan: names.Plan,
    words: tuple[str, ...],
) -> None:
    """Add the ratings of one dimension; a list is several people's."""
    given = [
        (name, rated)
        for name, value in zip(sources, held)
        for one in (value if isinstance(value, list) else [value])
        if (rated := number(one, where, name, words)) is not None
    ]
    if not given:
        return
    record.setdefault("ratings", {})[dimension] = [value for _, (value, _) in given]
    if len(held) > 1:
        record.setdefault("raters", {})[dimension] = [name for name, _ in given]
    if (top := next((top for _, (_, top) in given if top), None)) and dimension not in plan.scales:
        record.setdefault("scales", {})[dimension] = [0 if top in (1.0, 100.0) else 1, top]


def as_turns(value: Any, where: str) -> list[Any]:
    """The turns of a context: a text, texts, chat messages, pairs."""
    if isinstance(value, str):
        return turns_in(value)
    if (messages := messages_in(value)) is not None:
        return [turn.text for turn in turns(messages, where) if turn.text is not None]
    if isinstance(value, list):
        return [turn for part in value for turn in (part if isinstance(part, list) else [part])]
    return [] if value is None else [value]


def chats(record: dict[str, Any], where: str, every: bool) -> Iterator[dict[str, Any]]:
    """The record with context and response as texts; of messages the last reply, or each."""
    messages, response = record.get("messages"), record.get("response")
    if (
        isinstance(response, str)
        and response[:1] in "[{"
        and response
        and messages_in(inner := from_cell(response, where, "response"))
    ):
        response = inner
    if (said := messages_in(response)) is not None:
        response = replies_text(said, where)
    if messages is None and is_chat(record.get("context")) and "response" not in record:
        messages = record.pop("context")
    if messages is not None and "response" not in record:
        rest = {key: value for key, value in record.items() if key not in ("messages", "context")}
        found = list(replies(messages, where, every=every, record=record))
        for count, reply in enumerate(found, start=1):
            own = (
                rest
                if count == len(found)
                else {
                    key: value
                    for key, value in rest.items()
                    if key not in ("ratings", "raters", "quality", "references")
                }
            )
            names_ = (
                {
                    "id": f"{record.get('id') or where}#{count}",
                    "dialogue_id": record.get("dialogue_id") or record.get("id") or where,
                }
                if every
                else {}
            )
            yield finished({**own, **names_, **reply}, where)
        return
    if messages is not None and not record.get("context"):
        before = as_turns(messages, where)
        record = {
            **record,
            "context": before[:-1] if before and before[-1].strip() == str(response).strip() else before,
        }
    yield finished({**{key: value for key, value in record.items() if key != "messages"}, "response": response}, where)


def replies_text(messages: list[Any], where: str) -> str:
    said = [turn for turn in turns(messages, where) if turn.text is not None]
    return said[-1].text or "" if said else ""


def finished(record: dict[str, Any], where: str) -> dict[str, Any]:
    """The record with its texts checked."""
    if not isinstance(record.get("response"), str):
        inner = [
            f"{key}.{name}"
            for key, value in record.items()
            if isinstance(value, Mapping)
            for name, one in value.items()
            if isinstance(one, str)
        ]
        hint = f" (inside: {', '.join(inner[:6])})" if inner else ""
        raise DataError(
            "expected text" if "response" in record else f"missing (found: {', '.join(record)})",
            f"Say which it is: --map response=NAME{hint}",
            where=where,
            field="response",
        )
    record["context"] = as_turns(record.get("context"), where)
    for field in ("references", "sources"):
        if field in record:
            value = record[field]
            texts = [value] if isinstance(value, str) else [text_of(one) for one in value]
            record[field] = [text for text in texts if text]
            if not record[field]:
                del record[field]
    if odd := next(
        (one for one in (*record["context"], *record.get("references", ())) if not isinstance(one, str)), None
    ):
        raise DataError(
            f"holds a {type(odd).__name__}, expected texts", 'Write ["...", "..."]', where=where, field="context"
        )
    if isinstance(record.get("system"), str):
        record["system"] = record["system"].strip()
    if "overall" in record.get("scales", {}):
        record["scale"] = record["scales"].pop("overall")
        if not record["scales"]:
            del record["scales"]
    return {**record, "where": where}


def text_of(value: Any) -> Any:
    """The text of a retrieved document, whatever wraps it."""
    if isinstance(value, Mapping):
        return next(
            (
                value[key]
                for key in ("page_content", "content", "text", "document.content")
                if isinstance(value.get(key), str)
            ),
            str(value),
        )
    return value


# --- rows that belong together ----------------------------------------------------------------------------------


def joined(found: Iterator[dict[str, Any]], note: Note) -> Iterator[dict[str, Any]]:
    """Rows of several raters of one reply as one record; all other records as they come, one at a time."""
    first = next(found, None)
    if first is None:
        return
    if "rater" not in first or "pair" in first:
        yield first
        yield from found
        return
    note("one rating a line; lines of one id are joined, all held in memory")
    everything = [first, *found]
    ids = [one.get("id") for one in everything]
    by_id = None not in ids and len(set(ids)) < len(ids)
    groups: dict[Any, dict[str, Any]] = {}
    seen: set[Any] = set()
    for one in everything:
        key = (one["id"], one.get("system")) if by_id else (tuple(one["context"]), one["response"], one.get("system"))
        rater = one.pop("rater", None)
        for dimension, values in one.get("ratings", {}).items():
            one.setdefault("raters", {}).setdefault(dimension, [rater] * len(values))
        again = (key, rater, str(one.get("ratings")))
        if rater is not None and again in seen:
            continue  # the same row again; another rating by the same person stays, for the study to see
        seen.add(again)
        group = groups.setdefault(key, one)
        if group is one:
            continue
        group |= {field: one[field] for field in ("scale", "scales") if field in one}
        for field in ("ratings", "raters"):
            for dimension, values in one.get(field, {}).items():
                group.setdefault(field, {}).setdefault(dimension, []).extend(values)
        for name in [
            key
            for key in group
            if key not in ("ratings", "raters", "where", "scale", "scales") and group[key] != one.get(key)
        ]:
            del group[name]
    yield from groups.values()


TALK, WHO, SAID = (
    "conversation_id conversation chat_id chat thread_id thread ticket_id ticket session_id",
    "role sender sender_type speaker author",
    "text message content body",
)
WHEN = "timestamp created_at time turn date sent_at"


def messages_joined(found: Iterable[Row], note: Note) -> Iterator[Row]:
    """Tables with a row a message as one chat a conversation, sorted by a time in one form; else the rows as they come."""
    found = iter(found)
    first = next(found, None)
    if first is None:
        return
    named = {names.plain(key): key for key in first.data} if isinstance(first.data, Mapping) else {}
    talk, who, said = (
        next((named[word] for word in words.split() if word in named), None) for words in (TALK, WHO, SAID)
    )
    if not (talk and who and said) or "response" in named or "answer" in named:
        yield first
        yield from found
        return
    note(f"a row for each message; {talk}, {who} and {said} make conversations, all held in memory")
    when = next((named[word] for word in WHEN.split() if word in named), None)
    groups: dict[Any, list[Row]] = {}
    for row in chain([first], found):
        groups.setdefault(row.data[talk], []).append(row)
    for key, group in groups.items():
        if when:
            group.sort(key=lambda row: clock(row.data[when], row.where, when))
        shared = {
            name: value
            for name, value in group[0].data.items()
            if name not in (talk, who, said, when) and all(row.data.get(name) == value for row in group)
        }
        yield Row(
            group[0].where,
            {**shared, "id": key, "messages": [{"role": row.data[who], "content": row.data[said]} for row in group]},
            flat=True,
        )


def clock(value: Any, where: str, field: str) -> float:
    """A time as a number: seconds, ISO 8601, or hours and minutes; any other form is an error."""
    from datetime import datetime

    text = str(value).strip()
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(f"2000-01-01T{text:0>5}" if ":" in text[:3] else text).timestamp()
    except ValueError as error:
        raise ColumnError(
            f"{text!r} is no time",
            f"Write 2026-01-31T09:58, or sort the rows and leave {field} alone: delete it",
            where=where,
            field=field,
        ) from error
