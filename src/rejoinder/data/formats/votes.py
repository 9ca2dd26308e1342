"""Votes between two replies: Chatbot Arena, MT-bench, `chosen` and `rejected`, `response_a` and `response_b`, PandaLM.

Sources: lm-sys/FastChat (conversation_a, conversation_b, winner, turn, judge); lmsys-arena-human-preference-55k
(prompt, response_a, response_b as JSON lists; winner_model_a ...); WeOpenML/PandaLM data/testset-v1.json.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rejoinder.data.chat import is_chat, messages_in, turns
from rejoinder.data.columns import plain
from rejoinder.data.format import Format, each, without_nothing
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError

_NAMES = ("response", "output", "answer", "completion", "reply", "conversation", "text", "generation", "human_ref")
_PAIRS = [
    ("chosen", "rejected"),
    *(
        (f"{name}{sep}{a}", f"{name}{sep}{b}")
        for name in _NAMES
        for sep in ("_", "")
        for a, b in (("a", "b"), ("1", "2"), ("0", "1"))
    ),
]
_VERDICTS = ("preferred", "winner", "preference", "choice", "label", "better", "better_response_id", "verdict")
_TIES = frozenset(("tie", "tie (bothbad)", "both", "bothbad", "neither", "draw", "equal"))


def keys_of(row: Mapping[str, Any]) -> tuple[str, str] | None:
    named = {plain(key): key for key in row}
    return next(((named[a], named[b]) for a, b in _PAIRS if a in named and b in named), None)


def confirm(row: Mapping[str, Any]) -> bool:
    keys = keys_of(row)
    verdict = keys and (
        keys[0].lower() == "chosen"
        or _columns(row)
        or _verdict(row)
        or "votes" in row
        or _annotators(row)
        or _rated(row, keys)
    )
    return bool(verdict) and "response" not in row


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    keys = keys_of(row) or ("", "")
    if rated := _rated(row, keys):
        shared = {key: value for key, value in row.items() if key not in (*keys, *rated)}
        for key, rating in zip(keys, rated):
            mark = key[-1].lower()
            yield {**shared, "id": f"{row.get('id', where)}/{mark}", "response": row[key], "rating": row[rating]}
        return
    preferred, votes = _preferred(row, keys, where)
    number = row.get("turn") if {"conversation_a", "conversation_b"} <= row.keys() else None
    prompt = next(
        (
            from_cell(row[key], where, key)
            for key in ("context", "prompt", "question", "instruction", "query", "input")
            if row.get(key)
        ),
        None,
    )
    if "instruction" in row and row.get("input"):
        prompt = f"{row['instruction']}\n\n{row['input']}"
    replies = []
    for key, mark in zip(keys, "ab"):
        context, response = _reply(from_cell(row[key], where, key), prompt, number, where, key)
        replies.append(
            without_nothing({"context": context, "system": row.get(f"model_{mark}")}) | {"response": response}
        )
    yield without_nothing({"id": row.get("id"), "rater": row.get("judge") if number else None}) | {
        "pair": replies,
        "preferred": preferred,
        "votes": votes,
    }


def _reply(value: Any, prompt: Any, number: Any, where: str, key: str) -> tuple[list[str], str]:
    """Context and reply: messages, a list of replies to a list of prompts (Arena), or a text."""
    if (messages := messages_in(value)) is not None:
        said = [turn for turn in turns(messages, where) if turn.text is not None]
        places = [n for n, turn in enumerate(said) if turn.role == "assistant"]
        place = places[min(int(number), len(places)) - 1] if number else places[-1]
        before = [turn.text or "" for turn in said[:place]]
        asked = prompt if isinstance(prompt, list) else [prompt] if prompt else []
        return (before if before or not asked else asked), said[place].text or ""
    if (
        isinstance(value, list)
        and isinstance(prompt, list)
        and len(value) == len(prompt)
        and all(isinstance(one, str) for one in (*value, *prompt))
    ):
        return [turn for pair in zip(prompt, value) for turn in pair][:-1], value[-1]
    if isinstance(value, str):
        asked = (
            [turn.text for turn in turns(prompt, where) if turn.text]
            if is_chat(prompt)
            else prompt
            if isinstance(prompt, list)
            else [prompt]
            if prompt
            else []
        )
        return asked, value
    raise DataError(
        f"is a {type(value).__name__}, expected text or chat messages",
        "Give both replies, or leave the line out",
        where=where,
        field=key,
    )


def _rated(row: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    """The two columns of ratings, one for each reply, where nothing says which reply is better."""
    named = {plain(key): key for key in row}
    found = [named[f"rating_{key[-1].lower()}"] for key in keys if f"rating_{key[-1].lower()}" in named]
    return found if len(found) == 2 and not (_columns(row) or _verdict(row)) else []


def _verdict(row: Mapping[str, Any]) -> str | None:
    return next((key for key in row if plain(key) in _VERDICTS and row[key] not in (None, "")), None)


def _columns(row: Mapping[str, Any]) -> bool:
    return {"winner_model_a", "winner_model_b"} <= row.keys()


def _annotators(row: Mapping[str, Any]) -> list[str]:
    return [key for key in row if key.startswith("annotator") and key[9:].isdigit()]


def _preferred(row: Mapping[str, Any], keys: Sequence[str], where: str) -> tuple[int | None, list[int | None]]:
    if keys[0].lower() == "chosen":
        return 0, []
    if _columns(row):
        return next(
            (
                choice
                for key, choice in (("winner_model_a", 0), ("winner_model_b", 1))
                if str(row[key]).lower() in ("1", "1.0", "true")
            ),
            None,
        ), []
    if votes := [_choice(row[key], row, keys, where, key) for key in _annotators(row)] or [
        _choice(one, row, keys, where, "votes") for one in from_cell(row.get("votes"), where, "votes") or ()
    ]:
        (most, count), *rest = Counter(votes).most_common()
        return (None if rest and rest[0][1] == count else most), votes
    key = _verdict(row)
    return _choice(row[key] if key else None, row, keys, where, key or "preferred"), []


def _choice(value: Any, row: Mapping[str, Any], keys: Sequence[str], where: str, field: str) -> int | None:
    """0, 1, or None for a tie; the name of a system, a mark (`model_a`, `A`, `1`), or a word."""
    word = str(value).strip().casefold()
    if word in _TIES or (value == 0 and keys[0][-1] == "1"):
        return None
    marks = [
        {
            key[-1].casefold(),
            key.casefold(),
            f"model_{key[-1]}".casefold(),
            str(row.get(f"model_{key[-1]}", "")).casefold(),
        }
        - {""}
        for key in keys
    ]
    found = [place for place in (0, 1) if word in marks[place]]
    if len(found) != 1:
        raise DataError(
            f"{value!r} names neither reply",
            f'Write "{keys[0][-1]}", "{keys[1][-1]}" or "tie"',
            where=where,
            field=field,
        )
    return found[0]


FORMAT = Format(
    "votes", "Two replies and which is better", tuple(frozenset(pair) for pair in _PAIRS), each(record), confirm
)
