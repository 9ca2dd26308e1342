"""Which column is which field: one table of names, `--map`, and what is said of it. Never looks at a value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rejoinder.errors import ColumnError, DataError

FIELDS = (
    "id",
    "dataset",
    "context",
    "response",
    "references",
    "sources",
    "system",
    "context_id",
    "dialogue_id",
    "ratings",
    "raters",
    "rating",
    "rater",
    "quality",
    "scale",
    "scales",
    "messages",
)
ALIASES: dict[str, tuple[str, str]] = {  # names; and names that count only where none of the first is there
    "context": (
        "prompt question query instruction input history chat_history dialogue_history conversation_history "
        "user_message user_input user_query user_question customer_message customer_question",
        "user human message utterance conversation dialogue",
    ),
    "response": (
        "answer completion output reply prediction generation bot_reply bot_response model_output model_response actual_output generated_text",
        "assistant bot chatbot agent ai gpt hypothesis candidate",
    ),
    "references": (
        "reference ground_truth gold expected ideal expected_output expected_response correct_answer reference_answer human_response",
        "target",
    ),
    "sources": ("documents retrieved_documents retrieved_contexts retrieval_context", ""),
    "rating": ("stars human_rating user_rating human_score user_score quality_rating", ""),
    "quality": ("mean_rating average_rating avg_rating mean_score average_score", ""),
    "rater": (
        "annotator annotator_id worker worker_id rater_id evaluator reviewer coder assessor labeler grader rated_by judge",
        "participant respondent prolific_id",
    ),
    "system": ("model model_name model_id engine system_name", "bot_name chatbot_name agent_name"),
    "id": ("item item_id example_id sample_id uid uuid custom_id", "message_id response_id"),
    "context_id": ("prompt_id question_id", ""),
    "dialogue_id": ("conversation_id session_id thread_id chat_id ticket_id call_id", "session ticket chat"),
    "messages": ("conversations contents", ""),
}
_FIRST = {name: ours for ours, (first, _) in ALIASES.items() for name in first.split()}
_LATER = {name: ours for ours, (_, later) in ALIASES.items() for name in later.split()}
_HISTORY = frozenset(["history", "chat_history", "dialogue_history", "conversation_history"])
_ASKED = frozenset(["message", "utterance", "user", "human"])
MAY_BE_RATINGS = frozenset(["score", "label", "overall", "grade", "likert", "mos", "feedback", "vote"])
_SCALE = re.compile(r"\s*[(\[]\s*(-?\d+)\s*(?:-|–|to)\s*(\d+)\s*[)\]]\s*$")
_PER_RATER = re.compile(r"(rater|annotator|rating|worker)_?(\d{1,3}|[a-h])")


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """`Bot reply`, `bot-reply` and `botReply` are `bot_reply`; Mechanical Turk's `Input.` and `Answer.` go."""
    name = re.sub(r"^(Input|Answer)\.(?=\w)", "", _SCALE.sub("", name.strip()))
    return re.sub(r"[\W_]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)).strip("_").lower()


def is_known(name: str) -> bool:
    """Whether a column of that name is understood."""
    word = plain(name)
    return word in FIELDS or word in _FIRST or word in _LATER or bool(_PER_RATER.fullmatch(word))


@dataclass(frozen=True)
class Plan:
    """What each of our fields is read from, for rows with these keys.

    Attributes:
        sources: our field to the columns, in their order.
        unread: columns of text or numbers that mean nothing here; kept and written back.
        scales: dimension to the scale that a header states, `Rating (1-5)`.
    """

    sources: Mapping[str, tuple[str, ...]]
    unread: tuple[str, ...] = ()
    scales: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        read = ", ".join(
            f"{' + '.join(names)} as {ours}" for ours, names in self.sources.items() if names and names != (ours,)
        )
        maybe = [name for name in self.unread if plain(name) in MAY_BE_RATINGS]
        hint = f"; not read: {', '.join(self.unread)}" if self.unread and read else ""
        return (f"read {read}{hint}" if read else "") + (
            f" (if {maybe[0]} is the rating: --map rating={maybe[0]})" if maybe else ""
        )


def plan(keys: Sequence[str], mapped: Mapping[str, Sequence[str]], where: str) -> Plan:
    """Which columns fill which fields; depends on the names alone.

    Raises:
        ColumnError: two columns could be the same field; it shows the `--map` that decides.
    """
    taken = {name.partition(".")[0] if name not in keys else name for names in mapped.values() for name in names}
    found: dict[str, tuple[str, ...]] = {ours: tuple(names) for ours, names in mapped.items()}
    free = [key for key in keys if key not in taken]
    if "system" in free and ("conversations" in free or "max_tokens" in free):  # ShareGPT, Anthropic: instructions
        found["system_prompt"] = ("system",)
        free.remove("system")
    for key in [key for key in free if key.lower().startswith("rating.") and key.count(".") == 1]:
        found.setdefault(f"rating.{key[7:]}", (key,))
    free = [key for key in free if not (key.lower().startswith("rating.") and key.count(".") == 1)]
    wide = [key for key in free if _PER_RATER.fullmatch(plain(key))]
    if len(wide) > 1 and "rating" not in found:
        found["rating"] = tuple(wide)
        free = [key for key in free if key not in wide]
    for lookup in ({ours: ours for ours in FIELDS}, _FIRST, _LATER):
        sides: dict[str, list[str]] = {}
        for key in free:
            if (ours := lookup.get(plain(key))) and ours not in found:
                sides.setdefault(ours, []).append(key)
        for ours, names in sides.items():
            if ours == "context" and "messages" in {*found, *sides}:
                continue
            if ours == "context" and len(names) == 2 and _pair(names):
                names = sorted(names, key=lambda name: plain(name) not in _HISTORY | {"instruction"})
            elif len(names) > 1:
                _refuse(ours, names, where)
            found[ours] = tuple(names)
            free = [key for key in free if key not in names]
    context = found.get("context", ())
    if (
        context == ("context",)
        and "context" not in mapped
        and (asked := [key for key in free if _FIRST.get(plain(key)) == "context"])
    ):
        _refuse("context", ["context", *asked], where)
    if len(context) == 1 and plain(context[0]) in _HISTORY and "context" not in mapped:
        last = [key for key in free if plain(key) in _ASKED]
        found["context"] = (*context, *last[:1])
        free = [key for key in free if key not in last[:1]]
    scales = {}
    for ours, names in found.items():
        for match in filter(None, map(_SCALE.search, names)):
            scales[ours.partition(".")[2] or "overall"] = (int(match[1]), int(match[2]))
    return Plan(found, tuple(free), scales)


def _pair(names: Sequence[str]) -> bool:
    words = set(map(plain, names))
    return words == {"instruction", "input"} or len(words & _HISTORY) == 1


def _refuse(ours: str, names: Sequence[str], where: str) -> None:
    both = f", or both as turns: --map {ours}={'+'.join(names)}" if ours == "context" else ""
    if names[0] == "context":
        both = f", or it is a document: --map context={names[1]},sources=context" + both
    raise ColumnError(
        f"{' and '.join(names)} could each be the {ours}", f"Say which: --map {ours}={names[-1]}{both}", where=where
    )


def mapping(text: str) -> dict[str, tuple[str, ...]]:
    """`--map ours=theirs,rating=ann+bob` as a mapping; nothing behind the `=` leaves a column alone."""
    found = {}
    for part in text.split(","):
        ours, mark, theirs = part.partition("=")
        if not mark or (ours not in FIELDS and not ours.startswith("rating.")):
            raise DataError(f"--map {part!r}: no field of ours", f"Before the = stands one of {', '.join(FIELDS)}")
        found[ours] = tuple(name for name in theirs.split("+") if name)
    return found
