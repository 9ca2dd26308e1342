"""The names that columns and keys of other people's files go by, and which of our fields each of them is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from rejoinder.io.parse import FIELDS
from rejoinder.io.ratings import Scale

RATING, RATER, DIALOGUE, MESSAGES = "rating", "rater", "dialogue_id", "messages"
OURS = (*FIELDS, RATING, RATER, DIALOGUE, MESSAGES)
"""What a column or key can be, and what stands before the `=` of `--map` (with `rating.DIMENSION` beside these)."""
SAID = ("response", "context", "references", MESSAGES)
"""Those of them that hold what somebody said."""


def _words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def _joined(first: str, last: str) -> frozenset[str]:
    """Every word of `first` with every word of `last` behind it."""
    return frozenset(map("_".join, product(first.split(), last.split())))


_ANSWER = "answer response reply output completion message text turn utterance"
_STAR = "rating stars score"
PAST = _words("history previous_turns") | _joined("chat conversation dialogue dialog", "history context")
ASKED = _words("prompt question query instruction input") | _joined(
    "user customer human", "prompt question query message input turn utterance"
)
SPOKEN = _words("message utterance")
"""Names of what was said last, whoever said it."""
SAID_LAST = SPOKEN | _words("user human")
"""What these hold, beside what went before; alone they are the context too."""
_REPLIED = _words("answer reply output completion prediction generation") | _joined(
    "bot chatbot model ai assistant agent system llm generated predicted actual", f"{_ANSWER} generation"
)
_IDEAL = _words("reference ground_truth ground_truths groundtruth gold ideal expected") | _joined(
    "reference gold golden expected correct ideal human true target", "answer response reply output completion text"
)
_STARS = _words("stars") | _joined("human user customer star overall quality", _STAR)
_MEANS = _joined("mean average avg", _STAR)
_RATER = "rater annotator worker evaluator reviewer labeler labeller assessor coder grader"
_RATED_BY = (
    "rated_by annotated_by labeled_by labelled_by reviewed_by evaluated_by scored_by graded_by judged_by coded_by"
)

BOTS = _words("bot chatbot agent")
"""Names of what a bot said, but of who it is as often."""
SPEAKS = BOTS | _words("assistant ai gpt")
"""Names that beside a row's message may say who speaks."""

# A later set counts only where none of the earlier names is there.
NAMES: dict[str, tuple[frozenset[str], ...]] = {
    MESSAGES: (_words("messages conversations conversation contents dialogue dialog chat"),),
    "response": (_REPLIED, _words("assistant bot chatbot agent ai gpt hypothesis candidate")),
    "context": (PAST | ASKED, _words("user human message utterance conversation dialogue dialog chat")),
    "references": (_IDEAL, _words("target truth")),
    "id": (
        _words("item example_id item_id sample_id line_id row_id record_id uid uuid custom_id"),
        _words("message_id response_id turn_id"),
    ),
    "system": (
        _words("model model_name model_id system_name system_id engine"),
        _words("bot chatbot agent bot_name bot_id chatbot_name agent_name"),
    ),
    "dataset": (_words("data_set dataset_name"),),
    "context_id": (_words("prompt_id question_id query_id"),),
    DIALOGUE: (
        _words("conversation_id conv_id dialog_id chat_id session_id thread_id ticket_id call_id"),
        _words("session ticket"),
    ),
    "quality": (_MEANS,),
    RATING: (_words(RATING), _STARS),
    RATER: (
        _words(f"{_RATER} {_RATED_BY}") | _joined(_RATER, "id name"),
        _words("participant respondent prolific_id prolific_pid") | _joined("participant respondent", "id name"),
    ),
}
VERSIONS = _words("version variant release experiment arm") | _joined(
    "prompt model system bot agent app", "version variant"
)
"""Names of a version of a system: beside a column that names the system, either may be what is compared."""
CONVERSATIONS = _words("conversation dialogue dialog chat")
"""Names of a conversation itself, or of its id."""
_DECIDING = (
    (frozenset({MESSAGES, "conversations"}),),
    *(
        (NAMES[field][0] | {field}, *NAMES[field][1:], *more)
        for field, more in (("response", ()), ("context", ()), (RATING, (*NAMES["quality"], _words("quality score"))))
    ),
)
"""Names of what a line is judged by; a later set counts only where none of the earlier names is there."""
PERHAPS = _words("score label overall grade likert mos feedback vote thumb thumbs")
"""Names of ratings only where the value is one."""
WIDE = re.compile(rf"(rating|score|stars|{'|'.join(_RATER.split())}|person)_?(\d{{1,3}}|[a-h])")
_LABELS = _words("human_label gold_label annotation annotations")
_END = r"([+\-−]?(?:0|[1-9][0-9]{0,2})(?:\.0+)?)"  # no leading zero: 05 is a month
_TO = r"\s*(?:[-–—−~,…]|\.{2,3}|to)\s*"
_SCALE = re.compile(rf"[(\[]\s*(?:scale|from)?\s*{_END}{_TO}{_END}\s*(?:scale|stars|points)?\s*[)\]]\W*", re.IGNORECASE)
_HIGHEST = 100  # beyond it lie years and numbers of lines
_LONGEST_NAME = 200
_TURK = re.compile(r"^(?:Input|Answer)\.(?=\w)")
_WORDS = re.compile(r"[\W_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """A name in small letters with `_` between its words: `Bot reply`, `bot-reply` and `botReply` are `bot_reply`.

    What Mechanical Turk puts before it (`Input.prompt`, `Answer.rating`) is no part of it.
    """
    name = _TURK.sub("", name.strip())
    return _WORDS.sub("_", _HUMP.sub("_", name.strip())).strip("_").lower()


class Header(NamedTuple):
    """What the name of a column says.

    Attributes:
        text: the name as it stands, without its scale.
        word: the same, as `plain` has it.
        scale: the lowest and highest rating, where the name ends with them (`Human rating (1-5)`).
    """

    text: str
    word: str
    scale: Scale | None = None


@lru_cache(maxsize=4096)
def scaled(name: str) -> Header:
    """A name and the scale behind it: two whole numbers in brackets, from 0, from 1 or from as far below 0 as above."""
    name = name.strip()
    places = _SCALE.finditer(name) if len(name) <= _LONGEST_NAME else iter(())
    found = next((place for place in places if place.end() == len(name)), None)
    if found is None:
        return Header(name, plain(name))
    low, high = (int(float(end.replace("−", "-"))) for end in found.groups())
    if low not in (0, 1, -high) or not low < high <= _HIGHEST:
        return Header(name, plain(name))
    text = name[: found.start()].strip()
    return Header(text, plain(text), (low, high))


def header(name: str) -> Header:
    """What a name says, with its scale only where it names a rating by itself."""
    found = scaled(name)
    return found if found.scale and is_rating(found.word) else Header(name, plain(name))


def is_rating(word: str) -> bool:
    """Whether a plain name is one of a rating, or may be."""
    known = word in PERHAPS or any(word in names for field in (RATING, "quality") for names in NAMES[field])
    return known or word in ("ratings", "quality") or word.startswith("rating_") or bool(WIDE.fullmatch(word))


def is_rated(record: Mapping[str, Any]) -> bool:
    """Whether a record holds what somebody may have rated it with, under any name of a rating or of a label."""
    return any(
        (value is not None and value != "" and value != [] and value != {})
        and (is_rating(word := scaled(str(name)).word) or word in _LABELS)
        for name, value in record.items()
    )


def is_known(name: str) -> bool:
    """Whether a column of that name would be understood."""
    word = header(name).word
    return word in OURS or word in PERHAPS or any(word in names for tiers in NAMES.values() for names in tiers)


def deciding(names: Iterable[str]) -> list[str]:
    """The names of a reply, a context or a rating, of which a file must not have two by mistake."""
    words = {name: header(name).word for name in names}
    tiers = (next((tier for tier in tiers if not tier.isdisjoint(words.values())), ()) for tiers in _DECIDING)
    return [name for tier in tiers for name, word in words.items() if word in tier]
