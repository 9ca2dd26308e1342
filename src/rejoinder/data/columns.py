"""The names of columns and keys: which is which field, and `--map`. No value is looked at."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from itertools import product
from typing import NoReturn

from rejoinder.errors import ColumnError, DataError, UsageError, shown


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


FIELDS = words(
    "id dataset context response references sources system context_id dialogue_id "
    "ratings raters rating rater quality scale scales messages"
)


def _joined(first: str, last: str) -> str:
    """Return every word of `first` with every word of `last` behind it."""
    return " ".join(map("_".join, product(first.split(), last.split())))


_PAST = "history previous_turns " + _joined("chat conversation dialogue dialog", "history context")
_ASKED = "prompt question query instruction input " + _joined(
    "user customer human", "prompt question query message input turn utterance"
)
_LAST = "user human message utterance"
_ANSWERS = "answer response reply output completion message text turn utterance"
_RATER = "annotator worker evaluator reviewer labeler labeller assessor coder grader"
_PERSON = "participant respondent prolific"
# Names that mean one thing, and names that count only where none of the first is there.
ALIASES: dict[str, tuple[str, str]] = {
    "messages": ("conversations contents", ""),
    "response": (
        "answer reply output completion prediction generation "
        + _joined(
            "bot chatbot model ai assistant agent system llm generated predicted actual", f"{_ANSWERS} generation"
        ),
        "assistant bot chatbot agent ai gpt hypothesis candidate",
    ),
    "context": (f"{_PAST} {_ASKED}", f"{_LAST} conversation dialogue dialog inputs"),
    "references": (
        "reference ground_truth ground_truths groundtruth gold ideal expected "
        + _joined(
            "reference gold golden expected correct ideal human true target", "answer response reply output text"
        ),
        "target truth",
    ),
    "sources": ("documents retrieved_documents retrieved_contexts retrieval_context", ""),
    "rating": (
        "stars star_rating overall_rating quality_rating " + _joined("human user customer", "rating stars score"),
        "",
    ),
    "quality": (_joined("mean average avg", "rating stars score"), ""),
    "rater": (
        f"{_RATER} rated_by annotated_by " + _joined(f"rater {_RATER}", "id name"),
        f"participant respondent {_joined(_PERSON, 'id name pid')}",
    ),
    "system": (
        "model model_name model_id system_name system_id engine",
        "bot chatbot agent bot_name bot_id chatbot_name agent_name",
    ),
    "id": (
        "item example_id item_id sample_id line_id row_id record_id uid uuid custom_id",
        "message_id response_id turn_id",
    ),
    "dataset": ("data_set dataset_name", ""),
    "context_id": ("prompt_id question_id query_id", ""),
    "dialogue_id": (
        "conversation_id conv_id dialog_id chat_id session_id thread_id ticket_id call_id",
        "session ticket",
    ),
}
LABELS = frozenset(("label", "human_label", "human", "gold_label", "annotation"))
"""Names of ratings with `labels=True`."""
OF_LABELS = frozenset(("split", "look", "reason", "explanation", "comment", "rationale"))
"""Columns beside labels and verdicts that the commands with labels use."""
MAY_BE_RATINGS = LABELS | {
    *words("score overall overall_score quality_score grade likert mos feedback vote thumb thumbs")
}
BOTS, TALKS = frozenset(("bot", "chatbot", "agent")), frozenset(("conversation", "dialogue", "dialog", "chat"))
VERSIONS = frozenset(
    f"version variant release experiment arm {_joined('prompt model system bot agent app', 'version variant')}".split()
)
_OURS = {ours: ours for ours in FIELDS}
_FIRST = {name: ours for ours, (first, _) in ALIASES.items() for name in first.split()}
_LATER = {
    rank: {name: ours for ours, (_, later) in ALIASES.items() for name in later.split() if (ours == "system") == rank}
    for rank in (False, True)  # `bot` is a reply before it is a system
}
_HISTORY = frozenset(_PAST.split())
_SAID_LAST = frozenset(_LAST.split())
_REPLIES = frozenset(ALIASES["response"][1].split())
_END = r"([+\-−]?(?:0|[1-9]\d{0,2})(?:\.0+)?)"  # no leading zero: 05 is a month
_SCALE = re.compile(
    rf"\s*[(\[]\s*(?:scale|from)?\s*{_END}\s*(?:[-–—−~,…]|\.{{2,3}}|to)\s*{_END}\s*(?:scale|stars|points)?\s*[)\]]\W*$",
    re.IGNORECASE,
)
_WIDE = re.compile(rf"(rating|stars|rater|person|{_RATER.replace(' ', '|')})_?(\d{{1,3}}|[a-h])")
_HIGHEST = 100  # beyond it are years and numbers of lines


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """Return a name in one form: `Bot reply`, `botReply` and Mechanical Turk's `Answer.bot-reply` are `bot_reply`."""
    name = re.sub(r"^(Input|Answer)\.(?=\w)", "", name.strip())
    return re.sub(r"[\W_]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)).strip("_").lower()


@lru_cache(maxsize=4096)
def header(name: str) -> tuple[str, tuple[int, int] | None]:
    """Return the name of a column and the scale behind it, `Rating (1-5)`; the scale of a rating only."""
    match = _SCALE.search(name) if len(name) <= 200 else None
    if match is None:
        return name, None
    low, high = (int(float(end.replace("−", "-"))) for end in match.groups())
    ends_fit = low in (0, 1, -high) and low < high <= _HIGHEST
    return (name[: match.start()].strip(), (low, high)) if ends_fit else (name, None)


def _word(name: str) -> str:
    """Return a name as the tables have it; without the scale where it names a rating."""
    word = plain(header(name)[0])
    return word if is_rating(word) else plain(name)


def is_rating(word: str) -> bool:
    """Return whether a plain name is one of a rating, or may be."""
    known = _FIRST.get(word) in ("rating", "quality") or word in ("rating", "ratings", "quality")
    return known or word in MAY_BE_RATINGS or word.startswith("rating_") or bool(_WIDE.fullmatch(word))


def is_known(name: str) -> bool:
    """Return whether a column of that name is understood."""
    word = _word(name)
    return (
        word in FIELDS
        or word in _FIRST
        or any(word in later for later in _LATER.values())
        or bool(_WIDE.fullmatch(word))
    )


def field_of(name: str) -> str | None:
    """Return the field that a name of the tables means by itself, `rater` of `Annotator ID`; None for any other."""
    word = _word(name)
    return word if word in FIELDS else _FIRST.get(word)


@dataclass(frozen=True)
class Plan:
    """Which columns fill which fields, for rows with these keys.

    Attributes:
        sources: our field to its columns, in order; a mapped field may have none.
        unread: columns that mean nothing here; kept and written back.
        scales: dimension to the scale that a header states, `Rating (1-5)`.
        read: what was understood, for the message: `answer as response`.
        raters: the columns with the names of those who rated, one for each column of `rating`.
        used: all columns that fill a field.
    """

    sources: Mapping[str, tuple[str, ...]]
    unread: tuple[str, ...] = ()
    scales: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    read: tuple[str, ...] = ()
    raters: tuple[str, ...] = ()
    used: frozenset[str] = frozenset()


def plan(
    keys: Sequence[str],
    mapped: Mapping[str, Sequence[str]],
    where: str,
    *,
    keep: Collection[str] = (),
    labels: bool = False,
    adapted: bool = False,
) -> Plan:
    """Return which columns fill which fields; it depends on the names alone.

    Args:
        keys: the columns or keys.
        mapped: what the user says: our field to columns.
        where: `file:line`, for messages.
        keep: columns that something else reads as they are, which are nothing else.
        labels: whether columns of labels (`label`, `human`) are ratings.
        adapted: whether a format's reader filled our fields, so that other names for them are its own.

    Raises:
        ColumnError: two columns could be the same field; the message shows the `--map` that decides.
    """
    taken = {*keep, *(part for names in mapped.values() for name in names for part in (name, *_roots(name, keys)))}
    free = {key: _word(key) for key in keys if key not in taken}
    found: dict[str, tuple[str, ...]] = {ours: tuple(names) for ours, names in mapped.items()}
    raters: tuple[str, ...] = ()

    def take(ours: str, names: Iterable[str]) -> None:
        found[ours] = tuple(names)
        for name in found[ours]:
            free.pop(name, None)

    if "system" in free and {"conversations", "max_tokens"} & {*keys}:  # instructions, of ShareGPT and Anthropic
        take("system_prompt", ["system"])
    for key in [key for key in free if key.lower().startswith("rating.") and key.count(".") == 1]:
        ours = f"rating.{header(key)[0][7:]}"
        if ours in found and ours not in mapped:
            _refuse(ours, [*found[ours], key], where)
        take(ours, [*found.get(ours, ()), *([key] if ours not in mapped else [])])
    if "rating" not in mapped and "ratings" not in keys:
        raters = _wide(free, found, where)
    for lookup in (_OURS, _FIRST, _LATER[False], _LATER[True]):
        if labels and lookup is _LATER[False] and not {"rating", "ratings", "quality"} & found.keys():
            is_turn = "response" not in found and _REPLIES & {*free.values()}  # `human` next to `assistant`
            names = [key for key, word in free.items() if word in LABELS and not (is_turn and word == "human")]
            if len(names) > 1:
                _refuse("rating", names, where)
            if names:
                take("rating", names)
        sides: dict[str, list[str]] = {}
        for key, word in free.items():
            if (ours := lookup.get(word, "")) and ours not in found:
                sides.setdefault(ours, []).append(key)
        for ours, names in sides.items():
            if _is_moot(ours, lookup, found, sides):
                continue
            if ours == "context" and len(names) == 2 and _are_pair(names):
                names.sort(key=lambda name: plain(name) not in _HISTORY | {"instruction"})
            elif len(names) > 1:
                _refuse(ours, names, where)
            take(ours, names)
    if not adapted:
        _require_clear(found, free, mapped, where)
    context = found.get("context", ())
    if len(context) == 1 and "context" not in mapped and plain(context[0]) in _HISTORY:
        take("context", [*context, *[key for key, word in free.items() if word in _SAID_LAST][:1]])
    scales = _stated_scales(found, where)
    read = (
        f"{' + '.join(names)} as {ours}"
        for ours, names in found.items()
        if names and ours not in mapped and tuple(map(plain, names)) not in ((ours,), (plain(ours),))
    )
    rated = any(ours.partition(".")[0] in ("rating", "ratings") for ours in found)
    used = frozenset((*raters, *(name for ours, names in found.items() if ours != "rater" or rated for name in names)))
    unread = tuple(key for key, word in free.items() if not labels or word not in OF_LABELS)
    return Plan(found, unread, scales, tuple(read), raters, used)


def _stated_scales(found: Mapping[str, Sequence[str]], where: str) -> dict[str, tuple[int, int]]:
    """Return the scales in the names of columns of ratings, by dimension; ColumnError if one has two."""
    scales: dict[str, tuple[int, int]] = {}
    rated_by = [(ours, name) for ours, names in found.items() for name in names if ours[:6] in ("rating", "qualit")]
    for ours, name in rated_by:
        dimension = ours.partition(".")[2] or "overall"
        if (scale := header(name)[1]) and scales.setdefault(dimension, scale) != scale:
            _refuse("rating", [other for _, other in rated_by if header(other)[1]], where)
    return scales


_EASILY_LOST = ("context", "response", "references", "system", "ratings", "quality", "scale", "context_id")
_LIKENESS = 0.88  # above "content" (0.86), a name in use, and below "scal" (0.89)


def require_no_near_miss(plan: Plan, where: str) -> None:
    """Raise `DataError` where a key is all but the name of a field that the record lacks."""
    for name in plan.unread:
        word = name.strip().lower()
        if word and word not in FIELDS and (meant := _nearest(word)) and meant not in plan.sources:
            raise DataError("unknown", f'Did you mean "{meant}"? If not, rename it', where=where, field=name)


def _nearest(word: str) -> str | None:
    """Return the field that a name nearly is; the first letter is seldom mistyped, and "preference" is a word."""
    meant = get_close_matches(word, _EASILY_LOST, n=1, cutoff=_LIKENESS)
    return meant[0] if meant and meant[0][0] == word[0] else None


def _roots(name: str, keys: Collection[str]) -> list[str]:
    """Return the columns that a dotted name leads into, which fill no field then."""
    parts = name.split(".")
    return [] if name in keys else [root for n in range(1, len(parts)) if (root := ".".join(parts[:n])) in keys]


def _wide(free: dict[str, str], found: dict[str, tuple[str, ...]], where: str) -> tuple[str, ...]:
    """Take the columns of several raters (`rater1`, `rater2`) as ratings; return those of their names, if any."""
    stems: dict[str, dict[str, str]] = {}
    for name, word in free.items():
        if match := _WIDE.fullmatch(word):
            stems.setdefault(match[1], {})[match[2]] = name
    several = {stem: columns for stem, columns in stems.items() if len(columns) > 1}
    values = [stem for stem in several if stem in ("rating", "stars")] or [*several]
    if not values:
        return ()
    single = [name for name, word in free.items() if word == "rating" or _FIRST.get(word) == "rating"]
    if len(values) > 1 or single:
        _refuse("rating", [name for stem in values for name in several[stem].values()] + single, where)
    columns = several.pop(values[0])
    found["rating"] = tuple(columns.values())
    raters = next((tuple(names.values()) for names in several.values() if names.keys() == columns.keys()), ())
    for name in (*found["rating"], *raters):
        del free[name]
    return raters


def _is_moot(ours: str, lookup: Mapping[str, str], found: Collection[str], sides: Collection[str]) -> bool:
    """Return whether names for a field mean nothing in view of the other names."""
    if "messages" in found or "messages" in sides:
        return (ours == "context" and "response" not in {*found, *sides}) or (
            ours in ("context", "response") and lookup not in (_OURS, _FIRST)
        )
    return ours in ("rating", "quality") and "ratings" in {*found, *sides} and (ours == "rating" or lookup is not _OURS)


_WHO = frozenset(words("sender sender_type speaker author role from"))


def _require_clear(
    found: Mapping[str, tuple[str, ...]], free: Mapping[str, str], mapped: Collection[str], where: str
) -> None:
    """Raise if two names make each other doubtful: a system and its version, a context and a question."""
    system = found.get("system", ())
    if (
        system
        and plain(system[0]) != "system"
        and "system" not in mapped
        and (versions := [key for key, word in free.items() if word in VERSIONS])
    ):
        _refuse("system", [*system, *versions], where)
    response, context = (found.get(ours, ()) for ours in ("response", "context"))
    if len(response) == 1 and "response" not in mapped and plain(response[0]) in BOTS and _WHO & {*free.values()}:
        remedy = f"Say which: --map response={response[0]}, or --map system={response[0]},response=NAME"
        problem = f"{response[0]} could be the reply or the name of the speaker"
        raise ColumnError(problem, remedy, where=where, field=response[0])
    asked = [key for key, word in free.items() if _FIRST.get(word) == "context" or word == "message"]
    if (
        asked
        and "context" not in mapped
        and "signatures" not in free
        and [*map(plain, context)] == ["context"]
        and "messages" not in found
    ):
        _refuse("context", [*context, *asked], where)  # our context may be a document
    if (
        "response" not in mapped
        and len(response) == 1 == len(context)
        and plain(response[0]) in BOTS
        and plain(context[0]) in TALKS
    ):
        problem = f"{response[0]} could be the reply or the name of the speaker"
        remedy = f"Say which: --map response={response[0]} or --map messages={context[0]},system={response[0]}"
        raise ColumnError(problem, remedy, where=where, field=response[0])


def _are_pair(names: Sequence[str]) -> bool:
    words = set(map(plain, names))
    return words == {"instruction", "input"} or len(words & _HISTORY) == 1


def _refuse(ours: str, names: Sequence[str], where: str) -> NoReturn:
    remedy = f"Say which: --map {shlex.quote(f'{ours}={names[-1]}')}"
    if ours == "context" and plain(names[0]) == "context":
        remedy += f", or, if context is a document: --map context={names[-1]},sources={names[0]}"
    if ours == "context":
        remedy += f", or both as turns: --map context={'+'.join(names)}"
    raise ColumnError(f"{' and '.join(names)} could each be the {ours}", remedy, where=where, field=names[-1])


def checked(mapping: Mapping[str, str | Sequence[str]] | None) -> dict[str, tuple[str, ...]]:
    """Return `map` with a tuple of names for each of our fields.

    Raises:
        UsageError: a key is none of our fields, a name is no text, or one name has two meanings.
    """
    if not isinstance(mapping or {}, Mapping):
        raise UsageError(f'map is {shown(mapping)}, expected a dict such as {{"response": "answer"}}')
    named: dict[str, tuple[str, ...]] = {}
    for ours, given in (mapping or {}).items():
        if ours not in FIELDS and not str(ours).startswith("rating."):
            raise UsageError(
                f"--map {ours}=...: no field. Write one of {', '.join(FIELDS)} or rating.NAME before the ="
            )
        names = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
        if odd := [name for name in names if not isinstance(name, str)]:
            raise UsageError(f"--map {ours}: {shown(odd[0])}, expected a name as text, or a list of names")
        named[ours] = tuple(name for name in names if name)
    every = [name for names in named.values() for name in names]
    if twice := next((name for name in every if every.count(name) > 1), None):
        raise UsageError(f"--map gives {twice!r} two meanings. Give it one")
    return named


def present(mapped: Mapping[str, tuple[str, ...]], keys: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the part of `map` that is about these columns or keys, or about none."""
    return {
        ours: names
        for ours, names in mapped.items()
        if not names or any(name in keys or _roots(name, keys) for name in names)
    }


def mapping(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return `--map ours=theirs,rating=ann+bob` as a mapping; a comma ends a name only before another `ours=`.

    Raises:
        UsageError: a part has no `=`, or two parts name one field; see also `checked`.
    """
    named: dict[str, tuple[str, ...]] = {}
    for part in (part for text in texts for part in re.split(r",(?=[\w.]+=)", text)):
        ours, mark, theirs = part.partition("=")
        if not mark or ours.strip() in named:
            problem = "names a field again" if mark else "has no ="
            raise UsageError(f"--map {part}: {problem}. Write --map context=prompt,rating=stars")
        named[ours.strip()] = tuple(name for name in theirs.split("+") if name)
    return checked(named)
