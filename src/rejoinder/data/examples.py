"""One record under our names to an `Example` or a `Pair`, and back. Every rule about fields is here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rejoinder.data.chat import (
    SPEAKERS,
    UNANSWERED,
    in_turn,
    is_chat,
    messages_in,
    replies,
    spoken,
    transcript,
    turns_in,
    without_label,
    without_thoughts,
)
from rejoinder.data.columns import words
from rejoinder.data.content import source_texts
from rejoinder.data.files import Row
from rejoinder.data.scales import BINARY, Scale, require_inside
from rejoinder.data.scored_keys import SCORED
from rejoinder.data.values import from_cell, is_missing, is_number, kind_of, native, number, plain_json, yes_or_no
from rejoinder.errors import DataError, UsageError
from rejoinder.example import OVERALL, Example, Pair, Rating, majority

Record = Mapping[str, Any]
FIELDS = frozenset(
    words("id dataset context response references sources system context_id ratings raters quality scale scales")
)
"""Keys that scoring writes: objects, by scorer."""
_UNSEEN = re.compile("[\u200b-\u200d\u2060\ufeff]")
_OF_ONE_REPLY = ("references", "ratings", "raters", "quality", "scale", "scales", UNANSWERED)
_LAST_REPLY = "the messages end with another reply of the assistant"


def example_of(record: Any, where: str) -> Example:
    """Return the `Example` of a record under our names; of messages without a response, the last reply.

    Args:
        record: a JSON object, or chat messages.
        where: `file:line`, for messages and as the id of a record that has none.

    Raises:
        DataError: a field is missing, of the wrong type or outside its range.
    """
    record = {"messages": record} if isinstance(record, list) else record
    if not isinstance(record, Mapping):
        remedy = 'Write one {"context": [...], "response": "..."} a line'
        raise DataError(f"{kind_of(record)}, expected a JSON object", remedy, where=where)
    if not isinstance(record.get("response"), str) or not isinstance(record.get("context", []), list):
        record = next(expanded(record, where))
    for key in SCORED:
        if record.get(key) is not None and not isinstance(record[key], Mapping):
            problem = f"is {kind_of(record[key])}, expected an object by scorer, as scoring writes it"
            raise DataError(problem, "Rename it", where=where, field=key)
    scales = _scales(record, where)
    extra = {key: value for key, value in record.items() if key not in FIELDS}
    return Example(
        context=_texts(record, "context", where),
        response=record["response"],
        references=_texts(record, "references", where),
        sources=_texts(record, "sources", where),
        id=_name(record, "id", where) or where,
        system=_name(record, "system", where),
        dataset=_name(record, "dataset", where),
        context_id=_name(record, "context_id", where),
        ratings=_ratings(record, scales, where) if record.get("ratings") is not None else (),
        quality=_quality(record, scales, where) if record.get("quality") is not None else {},
        scales=scales,
        extra=plain_json(extra, where) if extra else {},
        where=where,
    )


def require_id(record: dict[str, Any], where: str) -> None:
    """Give a record without any text an empty reply; `DataError` if it has no id either."""
    if not {"response", "messages"} & record.keys():
        if not {"id", "dialogue_id"} & record.keys():
            problem = f"neither a reply nor its id (found: {', '.join(map(str, record)) or 'nothing'})"
            raise DataError(problem, "Say which column is the id: --map id=NAME", where=where, field="id")
        record["response"] = ""


def expanded(record: Record, where: str, *, every: bool = False, final: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the record with context and response as texts; of messages the last reply, or a record for each.

    Of each reply, `messages` are those up to it; ratings and references are of the last. Ids end in `#1`, `#2` ...

    Args:
        record: under our names.
        where: `file:line`.
        every: whether each turn of the assistant is a record.
        final: whether a response in text is what was said, even where it looks like messages in JSON.

    Raises:
        DataError: no text to judge, messages without an assistant, or a response that contradicts the messages.
    """
    record = dict(record)
    if UNANSWERED in record:
        record[UNANSWERED] = _unanswered(record[UNANSWERED])
    if (reply := record.get("response")) is not None:
        record["response"] = without_thoughts(reply) if final and isinstance(reply, str) else _reply_text(reply, where)
    context, messages, response = record.get("context"), record.get("messages"), record.get("response")
    said = _with_roles(context, where)
    roles = [role for role, _ in said]
    if messages is not None and not context:
        if "response" not in record:
            yield from _each_reply(record, where, every=every)
            return
        before, ends = _before(response, messages, where)
        if every:
            chat = messages if ends else [*messages, {"role": "assistant", "content": response}]
            rest = {key: value for key, value in record.items() if key != "response"}
            yield from _each_reply({**rest, "messages": chat}, where, every=True)
            return
        record["context"] = before
    elif messages is None and every and "assistant" in roles and None not in roles and "response" in record:
        chat = [{"role": role, "content": text} for role, text in [*said, ("assistant", response)]]
        rest = {key: value for key, value in record.items() if key not in ("context", "response")}
        for reply in _each_reply({**rest, "messages": chat}, where, every=True):
            yield {key: value for key, value in reply.items() if key != "messages"}
        return
    elif said:
        record["context"] = [text for _, text in said]
        if isinstance(response, str) and None not in roles and messages_in(context, where) is None:  # a transcript
            response = record["response"] = without_label(response)
        if None not in roles and SPEAKERS not in record and [*roles, "assistant"] != in_turn(len(roles) + 1):
            record[SPEAKERS] = [*roles, "assistant"]
    if not isinstance(response, str):
        raise _no_response(record, where)
    yield record


def _each_reply(record: Record, where: str, *, every: bool) -> Iterator[dict[str, Any]]:
    """Yield the record of the last reply of messages, or of each."""
    answers = list(replies(record["messages"], where, every=every, record=record))
    if not every:
        yield {**record, **answers[-1]}
        return
    name = _name(record, "id", where) or where
    names = {"dialogue_id": record.get("dialogue_id") or name}
    earlier = {key: value for key, value in record.items() if key not in _OF_ONE_REPLY}
    for place, answer in enumerate(answers, start=1):
        yield {**(record if place == len(answers) else earlier), **names, "id": f"{name}#{place}", **answer}


def _before(response: Any, messages: Any, where: str) -> tuple[list[str], bool]:
    """Return the turns of messages before a response, and whether the messages end with it."""
    said = spoken(messages, where)
    texts = [text for _, text in said]
    if not said or said[-1][0] != "assistant":
        return texts, False
    if isinstance(response, str) and texts[-1].strip() != response.strip():
        problem = "the messages end with another reply of the assistant"
        remedy = "Say which is judged: --map response= takes the messages, --map messages= the response without them"
        raise DataError(problem, remedy, where=where, field="response")
    return texts[:-1], True


def _with_roles(context: Any, where: str) -> list[tuple[str | None, Any]]:
    """Return the turns of a context (a text, texts, messages, pairs), each with its speaker or None."""
    if isinstance(context, str):
        said = [(role, without_thoughts(text) if role == "assistant" else text) for role, text in transcript(context)]
        return [*said] or [(None, text) for text in turns_in(context)]
    if (messages := messages_in(context, where)) is not None:
        return [*spoken(messages, where)]
    if not isinstance(context, list):
        return [] if context is None else [(None, context)]
    if all(isinstance(turn, str) and without_label(turn, anyone=True) != turn for turn in context):
        labelled = transcript("\n".join(context))
        if len(labelled) == len(context):
            return [*labelled]
    listed = [turn for part in context for turn in (part if isinstance(part, list) and len(part) == 2 else [part])]
    return [  # every second turn, counted from the end, is the bot's
        (None, without_thoughts(turn) if isinstance(turn, str) and (len(listed) - place) % 2 == 0 else turn)
        for place, turn in enumerate(listed)
    ]


def as_turns(context: Any, where: str) -> list[Any]:
    """Return the turns of a context: of a text, texts, chat messages, or pairs."""
    return [text for _, text in _with_roles(context, where)]


def _reply_text(response: Any, where: str) -> Any:
    """Return the text of a response that is messages or their JSON, without thoughts; any other as it is."""
    if isinstance(response, str) and response.lstrip()[:1] not in ("[", "{"):
        return without_thoughts(response)
    messages = messages_in(from_cell(response, where, "response"), where)
    if messages is None:
        return without_thoughts(response) if isinstance(response, str) else response
    said = spoken(messages, where)
    asked = max((place for place, (role, _) in enumerate(said, start=1) if role != "assistant"), default=0)
    return "\n".join(text for _, text in said[asked:]) if said[asked:] or not said else None


def _no_response(record: Record, where: str) -> DataError:
    """Return the error of a record without a text to judge."""
    missing = "response" not in record
    names = ", ".join(map(str, [*record][:6])) + (", ..." if len(record) > 6 else "")
    problem = (
        f"missing (found: {names or 'nothing'})" if missing else f"is {kind_of(record['response'])}, expected text"
    )
    remedy = 'Write "response": "..." in every line, or say which is: --map response=NAME'
    if not missing and record["response"] is None:
        remedy = 'Write "" for an empty reply (in a data frame: fillna("")), or say which is: --map response=NAME'
    if missing and {"id", "ratings"} <= record.keys():
        remedy = f"If these are labels of replies in another file: REPLIES --rated {where.rpartition(':')[0]}. {remedy}"
    objects = [(key, value) for key, value in record.items() if isinstance(value, Mapping)]
    if inner := [
        f"{key}.{name}" for key, value in objects for name, one in value.items() if isinstance(one, (str, list))
    ]:
        remedy += f", where NAME may be one of {', '.join(inner[:6])}"
    return DataError(problem, remedy, where=where, field="response")


def _unanswered(value: Any) -> Any:
    """Return the reason for no reply, or whether there is none; None for a missing word."""
    value = native(value)
    if is_missing(value):
        return None
    return False if yes_or_no(value) is False or str(value).strip() in ("0", "0.0") else value


def _texts(record: Record, field: str, where: str) -> tuple[str, ...]:
    value = record.get(field)
    if value is None:
        return ()
    texts = [value] if isinstance(value, str) else value
    if field == "sources":
        return tuple(source_texts(texts))
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        odd = (
            next((kind_of(text) for text in texts if not isinstance(text, str)), "") if isinstance(texts, list) else ""
        )
        problem = f"is {f'a list that holds {odd}' if odd else kind_of(value)}, expected a list of texts"
        raise DataError(problem, f'Write "{field}": ["...", "..."]', where=where, field=field)
    return tuple(texts)


def _name(record: Record, field: str, where: str) -> str | None:
    value = native(record.get(field))
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        problem = f"is {kind_of(value)}, expected a name"
        raise DataError(problem, "Write text or a whole number", where=where, field=field)
    return _one_spelling(value) or None if field == "system" and isinstance(value, str) else str(value)


def _one_spelling(name: str) -> str:
    """Return a name with single blanks, without unseen characters, accents in one form."""
    return " ".join(unicodedata.normalize("NFC", _UNSEEN.sub("", name)).split())


def rater_name(value: Any, where: str, field: str) -> str | None:
    """Return the name of a rater or None; 3.0 and "3.0" of a column of numbers are rater 3.

    Raises:
        DataError: it is another float, true or false, a list or an object.
    """
    value = native(value)
    if is_missing(value):
        return None
    if isinstance(value, (bool, list, Mapping)) or (isinstance(value, float) and not value.is_integer()):
        problem = f"is {f'{value:g}' if isinstance(value, float) else kind_of(value)}, expected a name"
        raise DataError(problem, "Write text or a whole number", where=where, field=field)
    return re.sub(r"\A(\d+)\.0\Z", r"\1", _one_spelling(str(value)))


# --- ratings ---------------------------------------------------------------------------------------------------------


def _object(record: Record, field: str, such_as: str, where: str) -> Mapping[str, Any]:
    """Return the object in a field, or an empty one."""
    value = record.get(field)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        problem = f"is {kind_of(value)}, expected an object"
        raise DataError(problem, f'Write "{field}": {such_as}', where=where, field=field)
    return value


def _scales(record: Record, where: str) -> dict[str, Scale]:
    """Return the scale of every dimension; `scale` is that of `overall`; ratings of yes and no have 0 and 1."""
    if not any(record.get(field) is not None for field in ("ratings", "quality", "scale", "scales")):
        return {}
    stated = dict(_object(record, "scales", '{"overall": [1, 5]}', where))
    if record.get("scale") is not None:
        stated = {OVERALL: record["scale"], **{key: value for key, value in stated.items() if key != OVERALL}}
    scales: dict[str, Scale] = {}
    for field in ("quality", "ratings"):
        for dimension, values in _object(record, field, "{...}", where).items():
            if any(yes_or_no(value) is not None for value in (values if isinstance(values, list) else [values])):
                scales[dimension] = BINARY
    for dimension, bounds in stated.items():
        bounds = list(bounds) if isinstance(bounds, tuple) else bounds
        if bounds is None:
            continue
        if not (
            isinstance(bounds, list) and len(bounds) == 2 and all(map(is_number, bounds)) and bounds[0] < bounds[1]
        ):
            problem = f"{dimension} is {bounds!r}, expected [lowest, highest]"
            raise DataError(problem, 'Write "scale": [1, 5]', where=where, field="scale")
        scales[dimension] = (bounds[0], bounds[1])
    return scales


def _rated(value: Any, dimension: str, scales: Mapping[str, Scale], where: str, field: str) -> float:
    scale, value = scales.get(dimension), native(value)
    if (word := yes_or_no(value)) is not None and scale != BINARY:
        problem = f"{dimension} is {'yes' if word else 'no'}, but its scale is {list(scale or ())}"
        raise DataError(problem, 'Write a number, or "scale": [0, 1]', where=where, field=field)
    read = number(value, where, field) if isinstance(value, (str, bool)) or is_number(value) else None
    if read is None:
        problem = (
            f"{dimension} is {'NaN or infinite' if isinstance(value, float) else kind_of(value)}, expected a number"
        )
        raise DataError(problem, "Leave a missing rating out", where=where, field=field)
    if scale is not None and read[1] not in (None, 1, scale[1]):
        problem = f"{dimension} is out of {read[1]:g}, but its scale is {list(scale)}"
        raise DataError(problem, "Bring both to one scale", where=where, field=field)
    require_inside(read[0], scale, dimension, where, field)
    return read[0]


def _quality(record: Record, scales: Mapping[str, Scale], where: str) -> dict[str, float]:
    stated = _object(record, "quality", '{"overall": 3.5}', where)
    known = {dimension: value for dimension, value in stated.items() if value is not None}
    return {dimension: _rated(value, dimension, scales, where, "quality") for dimension, value in known.items()}


def _ratings(record: Record, scales: Mapping[str, Scale], where: str) -> tuple[Rating, ...]:
    ratings: list[Rating] = []
    for dimension, values in _object(record, "ratings", '{"overall": [3, 4]}', where).items():
        if values is None:
            continue
        if not isinstance(values, list):
            problem = f"{dimension} is {kind_of(values)}, expected a list"
            raise DataError(problem, 'Write "ratings": {"overall": [3, 4]}', where=where, field="ratings")
        raters = record.get("raters")
        raters = raters.get(dimension) if isinstance(raters, Mapping) else raters
        names = [None] * len(values) if raters is None else raters
        if not isinstance(names, list) or len(names) != len(values):
            found = f"{len(names)} names" if isinstance(names, list) else kind_of(names)
            problem = f"{dimension} has {len(values)} ratings and {found}"
            raise DataError(problem, "Name one rater a rating", where=where, field="raters")
        for value, name in zip(values, names, strict=True):
            # A name that is text stays: "3.0" is another than "3" here, where it was no column of numbers.
            rater = _one_spelling(name) or None if isinstance(name, str) and name else rater_name(name, where, "raters")
            ratings.append(Rating(_rated(value, dimension, scales, where, "ratings"), dimension, rater))
    return tuple(ratings)


# --- pairs, and back -------------------------------------------------------------------------------------------------


def pair_of(record: Record, where: str) -> Pair:
    """Return the `Pair` of a record with two replies under `pair`, and `preferred` or `votes`.

    Raises:
        DataError: a reply cannot be used, or the two answer different prompts.
    """
    shared = {key: value for key, value in record.items() if key not in ("pair", "preferred", "votes", "id")}
    name = _name(record, "id", where) or where
    both = [{**reply, "response": without_thoughts(reply["response"])} for reply in record["pair"]]
    first, second = (
        example_of({**shared, **reply, "id": f"{name}/{place}"}, where) for place, reply in enumerate(both)
    )
    votes = tuple(record.get("votes") or ())
    preferred = record["preferred"] if "preferred" in record else majority(votes)
    pair = Pair((first, second), preferred, votes, name, where)
    if first.context != second.context and not pair.shared_turns:
        problem = "the two replies answer different prompts"
        raise DataError(problem, "Write the same prompt for both", where=where, field="context")
    return pair


def both_replies(pair: Pair) -> Iterator[Example]:
    """Yield the two replies of a pair; each with the pair's id and whether people prefer it among its extra keys."""
    for place, reply in enumerate(pair.replies):
        preferred = None if pair.preferred is None else pair.preferred == place
        yield replace(reply, extra={**reply.extra, "pair": pair.id, "preferred": preferred})


def to_record(example: Example) -> dict[str, Any]:
    """Return the JSON object of an example, in the order of our own line; fields that it lacks are left out."""
    record: dict[str, Any] = {"id": example.id, "context": list(example.context), "response": example.response}
    if example.dataset is not None:
        record = {"id": example.id, "dataset": example.dataset, **record}
    for key in ("references", "sources"):
        if texts := getattr(example, key):
            record[key] = list(texts)
    for key in ("system", "context_id"):
        if (value := getattr(example, key)) is not None:
            record[key] = value
    ratings: dict[str, list[Rating]] = {}
    for rating in example.ratings:
        ratings.setdefault(rating.dimension, []).append(rating)
    if ratings:
        record["ratings"] = {dimension: [one.value for one in given] for dimension, given in ratings.items()}
        raters = {dimension: [one.rater for one in given] for dimension, given in ratings.items()}
        if named := {dimension: names for dimension, names in raters.items() if any(names)}:
            record["raters"] = named
    if example.quality:
        record["quality"] = dict(example.quality)
    if OVERALL in example.scales:
        record["scale"] = list(example.scales[OVERALL])
    if example.scales.keys() - {OVERALL}:
        record["scales"] = {dimension: list(scale) for dimension, scale in example.scales.items()}
    return {**record, **example.extra}


# --- what Python programs hold ---------------------------------------------------------------------------------------

_FORMS = "a list of Example or of dicts, a data frame, chat messages, or the name of a file"


def rows_of(data: Any, name: str) -> Iterator[Row]:
    """Yield the rows of records, chat messages or a data frame of pandas or polars.

    Raises:
        UsageError: it is none of these.
        DataError: two columns of a frame have one name.
    """
    if frame_library(data):
        data = data.collect() if hasattr(data, "collect") else data
        if not hasattr(data, "columns"):
            raise UsageError(f"{name} are of type {type(data).__name__}, expected {_FORMS}")
        if len(set(data.columns)) < len(data.columns):
            raise DataError("two columns have one name", "Rename one", where=name)
        polars = hasattr(data, "iter_rows")
        rows = (
            data.iter_rows(named=True) if polars else data.astype(object).where(data.notna(), None).to_dict("records")
        )
        for number_, row in enumerate(rows, start=1):
            cells = {str(key): cell.tolist() if hasattr(cell, "tolist") else cell for key, cell in row.items()}
            yield Row(f"{name}:row {number_}", cells, flat=True)
        return
    data = [data] if isinstance(data, Mapping) or is_chat(data) else data
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes)):
        raise UsageError(f"{name} are of type {type(data).__name__}, expected {_FORMS}")
    for number_, one in enumerate(data, start=1):
        one = to_record(one) if isinstance(one, Example) else one
        if not isinstance(one, (Mapping, list)):
            raise UsageError(f"{name}:item {number_}: of type {type(one).__name__}, expected {_FORMS}")
        yield Row(f"{name}:item {number_}", one)


def frame_library(data: Any) -> str:
    """Return the library of a data frame, `pandas` or `polars`; "" for anything else."""
    library = type(data).__module__.partition(".")[0]
    return library if library in ("pandas", "polars") else ""


def index_of(frame: Any, examples: Sequence[Example]) -> Any:
    """Return the index of a pandas frame whose rows are the examples; their ids where rows were joined; else None.

    With any other index, scores would be at the wrong replies once rows were sorted or selected.
    """
    if frame_library(frame) != "pandas" or not hasattr(frame, "index"):
        return None
    rows = [example.where.rpartition(" ")[2] for example in examples]
    whole = rows == [str(number_ + 1) for number_ in range(len(frame))]
    return frame.index if whole else [example.id for example in examples]
