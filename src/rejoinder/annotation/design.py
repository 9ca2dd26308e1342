"""What raters are asked and how much each gets: the design of a study, by default that of Lowe et al. 2017, or TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rejoinder.data.values import kind_of
from rejoinder.errors import DataError, MissingAsset
from rejoinder.example import OVERALL

YES_NO, PAIR = "yes/no", "pair"
TIE = None
"""The answer that neither of two replies is better."""
_REMEDY = "docs/annotate.md shows a design"
_MOST_POINTS = 11
_TIES = frozenset(
    ("tie", "equal", "same", "the same", "both", "neither", "draw", "no difference", "about the same", "equally good")
)
_SIDES = frozenset(
    (f"{before}{first}", f"{before}{second}")
    for before in ("", "reply ", "response ", "answer ", "system ", "the ")
    for first, second in (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("one", "two"))
)
_CODES = frozenset(map(str, range(-_MOST_POINTS, _MOST_POINTS + 1)))
_DEGREES = re.compile(
    r"^(?:very|much|strongly|completely|totally|extremely|somewhat|slightly|rather|definitely|absolutely|fully"
    r"|mostly|quite|really|highly|the|a lot|far|probably)\s+"
)
_NEGATIONS = (
    "not ",
    "not at all ",
    "un",
    "in",
    "im",
    "ir",
    "il",
    "dis",
    "non-",
    "non",
    "never ",
    "no ",
    "does not ",
    "do not ",
)
_GOOD = frozenset(
    (
        *(
            "helpful",
            "relevant",
            "acceptable",
            "appropriate",
            "satisfied",
            "satisfactory",
            "likely",
            "honest",
            "fluent",
        ),
        *("coherent", "interesting", "engaging", "consistent", "complete", "accurate", "sensible", "polite", "natural"),
    )
)
_OPPOSITES = {  # from the good one of two words to the bad ones
    "yes": ("no",),
    "agree": ("disagree",),
    "like": ("dislike",),
    "true": ("false",),
    "right": ("wrong",),
    "correct": ("wrong", "false"),
    "good": ("bad", "poor", "terrible"),
    "great": ("bad", "terrible", "awful"),
    "excellent": ("poor", "bad", "terrible", "awful"),
    "pass": ("fail",),
    "passed": ("failed",),
    "better": ("worse",),
    "best": ("worst",),
    "high": ("low",),
    "highest": ("lowest",),
    "accept": ("reject",),
    "accepted": ("rejected",),
    "love": ("hate",),
    "strong": ("weak",),
    "positive": ("negative",),
    "natural": ("clumsy",),
    "polite": ("rude",),
    "safe": ("dangerous", "harmful"),
    "harmless": ("harmful",),
    "useful": ("useless",),
    "clear": ("confusing",),
    "thumbs up": ("thumbs down",),
    "👍": ("👎",),
    "ja": ("nein", "nej", "nee"),
    "oui": ("non",),
    "sí": ("no",),
    "si": ("no",),
    "sim": ("não",),
    "да": ("нет",),
    "はい": ("いいえ",),
    "是": ("否", "不是"),
}
_LONGEST = {"title": 200, "instructions": 20_000, "name": 60, "text": 500, "label": 60}


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that can be chosen.

    Attributes:
        value: what is kept of it; of two replies 0 or 1 is the better one, None a tie.
        label: what it says, or "".
        key: the key that chooses it; "" where that could mean another answer.
    """

    value: int | None
    label: str
    key: str

    @property
    def code(self) -> str:
        """The value as a form sends it."""
        return "tie" if self.value is TIE else str(self.value)


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that is asked of every reply, or of every pair of replies.

    Attributes:
        name: the dimension that the answers are ratings of.
        text: the question.
        scale: lowest and highest answer, or `yes/no`, or `pair`.
        labels: words for the two ends, or for every answer.
    """

    name: str = OVERALL
    text: str = "How good is this reply, all in all?"
    scale: tuple[int, int] | str = (1, 5)
    labels: tuple[str, ...] = ("very bad", "very good")

    @property
    def bounds(self) -> tuple[int, int]:
        """Lowest and highest answer as a number."""
        return (0, 1) if isinstance(self.scale, str) else self.scale

    @property
    def options(self) -> tuple[Option, ...]:
        """The answers, from the lowest to the highest; of a pair first, tie, second."""
        if self.scale == PAIR:
            first, tie, second = self.labels or ("A", "tie", "B")
            return (Option(0, first, "a"), Option(TIE, tie, "t"), Option(1, second, "b"))
        if self.scale == YES_NO:
            no, yes = self.labels or ("no", "yes")
            return (Option(0, no, "n"), Option(1, yes, "y"))
        low, high = self.bounds
        points = range(low, high + 1)
        negatives = {-point for point in points if point < 0}
        ends = len(self.labels) == 2 != len(points)
        labels = (
            [self.labels[0], *[""] * (len(points) - 2), self.labels[1]] if ends else self.labels or [""] * len(points)
        )
        keys = [str(point) if 0 <= point <= 9 and point not in negatives else "" for point in points]
        return tuple(Option(*option) for option in zip(points, labels, keys, strict=True))

    def option(self, code: str) -> Option | None:
        """The answer that a form sends as `code`."""
        return next((option for option in self.options if option.code == code), None)


@dataclass(frozen=True, slots=True)
class Check:
    """A line that tells whether a rater reads.

    Attributes:
        context: its turns.
        replies: one reply, or two where pairs are judged.
        passes: answers to the first question that pass.
    """

    context: tuple[str, ...]
    replies: tuple[str, ...]
    passes: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Design:
    """What raters are asked and how much each gets.

    Attributes:
        title: what the page is called.
        instructions: what raters read first, Markdown without HTML.
        questions: what is asked of every reply; one alone where pairs are judged.
        contexts: how many contexts a rater gets; None is all, 50 at most.
        replies: how many replies to a context a rater gets at most.
        common: how many of the contexts all raters get.
        checks: how many checks of attention a rater meets; None is one for every twelve contexts, 4 at most.
        own_checks: lines that check attention; () makes some that ask for a certain answer.
        comments: whether raters may write a comment.
    """

    title: str = "How good are these replies?"
    instructions: str = (
        "You will read short conversations, each with a reply to its last message, and say how good the reply is. "
        "Judge it as if you took part in the conversation. There is no right or wrong answer: say what you think."
    )
    questions: tuple[Question, ...] = (Question(),)
    contexts: int | None = None
    replies: int = 4
    common: int = 5
    checks: int | None = None
    own_checks: tuple[Check, ...] = field(default=())
    comments: bool = True

    @property
    def pairwise(self) -> bool:
        """Whether two replies are set against each other."""
        return self.questions[0].scale == PAIR

    def contexts_of(self, there: int) -> int:
        """How many contexts a rater gets of those that are there."""
        return min(there, self.contexts or 50)

    def checks_of(self, each: int) -> int:
        """How many checks a rater meets who gets `each` contexts."""
        return min(4, -(-each // 12)) if self.checks is None else self.checks

    def to_dict(self) -> dict[str, Any]:
        """The design as `design_of` reads it."""
        plain = asdict(self)
        questions, checks = plain.pop("questions"), plain.pop("own_checks")
        return {**plain, "question": list(questions), "check": list(checks)}


PAIRWISE = Design(
    title="Which reply is better?",
    instructions=(
        "You will read short conversations, each with two replies to its last message, and say which is better. "
        "Judge them as if you took part in the conversation. There is no right or wrong answer: say what you think."
    ),
    questions=(Question(text="Which reply is better?", scale=PAIR, labels=()),),
)


def read_design(path: str | Path) -> Design:
    """The design in a TOML file.

    Raises:
        MissingAsset: there is no such file.
        DataError: it is not TOML, or a key or a value is not known.
    """
    file = Path(path)
    if not file.is_file():
        raise MissingAsset(f"{path}: no such design. {_REMEDY}")
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"not TOML ({error})", _REMEDY, where=str(path)) from error
    return design_of(table, str(path))


def design_of(table: Mapping[str, Any], where: str, *, strict: bool = True) -> Design:
    """Return the design that a table of TOML or JSON describes.

    Args:
        table: the design.
        where: its file, for messages.
        strict: whether labels that contradict their answers are refused; a study that has begun is gone on with.

    Raises:
        DataError: a key or a value is not known, or labels contradict their answers.
    """
    at = _Place(where)
    at.only(
        table, ("title", "instructions", "contexts", "replies", "common", "checks", "comments", "question", "check")
    )
    questions = tuple(_question(one, at) for one in at.tables(table, "question")) or None
    base = PAIRWISE if questions and questions[0].scale == PAIR else Design()
    asked = questions or base.questions
    _require_one_kind(asked, at)
    for question in asked if strict else ():
        _require_fitting_labels(question, at)
    return Design(
        title=at.text(table, "title", base.title),
        instructions=at.text(table, "instructions", base.instructions),
        questions=asked,
        contexts=at.whole(table, "contexts", None, 1, 100_000),
        replies=at.whole(table, "replies", base.replies, 1, 100) or base.replies,
        common=at.whole(table, "common", base.common, 0, 100_000) or 0,
        checks=at.whole(table, "checks", None, 0, 100),
        own_checks=tuple(_check(one, asked[0], at) for one in at.tables(table, "check")),
        comments=at.truth(table, "comments", base.comments),
    )


def _require_one_kind(questions: tuple[Question, ...], at: _Place) -> None:
    """Raise where two questions have one name, or pairs are asked about beside something else."""
    names = [question.name for question in questions]
    if len(set(names)) < len(names):
        raise at.wrong("question", "two questions have one name", "Give each its own")
    if len(questions) > 1 and any(question.scale == PAIR for question in questions):
        raise at.wrong("question", "a question about pairs beside another", "Ask about pairs alone")


def _question(table: Mapping[str, Any], at: _Place) -> Question:
    """One question."""
    at.only(table, ("name", "text", "scale", "labels"))
    scale = table.get("scale", (1, 5))
    if scale not in (YES_NO, PAIR):
        scale = _scale(scale, at)
    base = Question() if scale == (1, 5) else Question(scale=scale, labels=())
    labels = table.get("labels", base.labels)
    question = Question(
        name=at.text(table, "name", base.name),
        text=at.text(table, "text", "Which reply is better?" if scale == PAIR else base.text),
        scale=scale,
        labels=_labels(labels, at),
    )
    fitting = {3} if scale == PAIR else {2, question.bounds[1] - question.bounds[0] + 1}
    if question.labels and len(question.labels) not in fitting:
        wanted = "three words: first, tie, second" if scale == PAIR else "a word for each end or for every answer"
        raise at.wrong("labels", f"{len(question.labels)} of them, expected {wanted}", "Write as many as there are")
    return question


def _require_fitting_labels(question: Question, at: _Place) -> None:
    """Raise where two answers have one label, or labels say the opposite of the answers that they stand at."""
    words = [" ".join(label.casefold().split()) for label in question.labels]
    if len(set(words)) < len(words):
        raise at.wrong("labels", "two answers have one label", "Give each its own")
    options = {option.code: option.label.strip() for option in question.options if option.label}
    if question.scale != PAIR and (
        odd := next((text for code, text in options.items() if text in {*options, *_CODES} - {code}), None)
    ):
        raise at.wrong("labels", f"{odd!r} stands at another answer", "Write the words from the lowest to the highest")
    if question.scale == PAIR and words:
        if words[1] not in _TIES and (words[0] in _TIES or words[2] in _TIES):
            raise at.wrong("labels", "the tie does not stand between the replies", "Write first, tie, second")
        if (words[2], words[0]) in _SIDES:
            raise at.wrong("labels", f"{words[2]!r} stands behind {words[0]!r}", "Write first, tie, second")
    elif words and _is_turned_round(words[0], words[-1]):
        low, high = question.bounds
        problem = f"{words[0]!r} stands at {low}, the lowest answer, and {words[-1]!r} at {high}, the highest"
        raise at.wrong("labels", problem, f"Write the word for {low} first; a higher answer is a better one")


def _is_turned_round(lowest: str, highest: str) -> bool:
    """Whether the word at the lowest answer is the good one of two opposites."""
    for first, last in ((lowest, highest), (_core(lowest), _core(highest)), (_head(lowest), _head(highest))):
        good = first in _GOOD or first in _OPPOSITES
        if last in _OPPOSITES.get(first, ()) or (good and last in {f"{before}{first}" for before in _NEGATIONS}):
            return True
    return False


def _head(words: str) -> str:
    """Yes or no, where words begin so: `yes, it is safe`."""
    return next((head for head in ("yes", "no") if re.match(rf"{head}\b", words)), "")


def _core(words: str) -> str:
    """Words without those that only make them stronger or weaker: `very good` is `good`."""
    found = words.strip(" .!")
    while (rest := _DEGREES.sub("", found)) != found and rest:
        found = rest
    return found


def _scale(given: Any, at: _Place) -> tuple[int, int]:
    """A scale of whole numbers."""
    two = isinstance(given, (list, tuple)) and len(given) == 2 and all(type(bound) is int for bound in given)
    if not two or not given[0] < given[1] or given[1] - given[0] >= _MOST_POINTS:
        expected = f'[lowest, highest] with {_MOST_POINTS} points at most, "{YES_NO}" or "{PAIR}"'
        raise at.wrong("scale", f"is {given!r}, expected {expected}", "Write scale = [1, 7]")
    return (given[0], given[1])


def _labels(given: Any, at: _Place) -> tuple[str, ...]:
    """Words for answers."""
    if not isinstance(given, (list, tuple)) or not all(isinstance(word, str) for word in given):
        raise at.wrong("labels", f"is {kind_of(given)}, expected a list of texts", 'Write labels = ["bad", "good"]')
    return tuple(at.text({"label": word}, "label", word) for word in given)


def _check(table: Mapping[str, Any], question: Question, at: _Place) -> Check:
    """A line that checks attention."""
    names = ("response_a", "response_b") if question.scale == PAIR else ("response",)
    at.only(table, ("context", "passes", "replies", *names))
    replies = table.get("replies", [table.get(name) for name in names])
    context, passes = table.get("context", []), table.get("passes")
    context = [context] if isinstance(context, str) else context
    for name, texts in (("context", context), ("/".join(names), replies)):
        if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
            raise at.wrong(f"check.{name}", "expected text", "Write the text of the check")
    known = {option.code: option.value for option in question.options}
    codes = ["tie" if code is None else str(code) for code in passes] if isinstance(passes, (list, tuple)) else []
    if not codes or not set(codes) <= set(known):
        raise at.wrong("check.passes", f"is {passes!r}, expected answers that pass, of {', '.join(known)}", _REMEDY)
    return Check(tuple(context), tuple(replies), tuple(known[code] for code in codes))


@dataclass(frozen=True, slots=True)
class _Place:
    """Takes values out of a table, and says where one is wrong."""

    where: str

    def wrong(self, key: str, problem: str, remedy: str) -> DataError:
        """The error of one key."""
        return DataError(problem, remedy, where=self.where, field=key)

    def only(self, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
        """Raise at a key that means nothing."""
        if unknown := next((key for key in table if key not in known), None):
            raise self.wrong(unknown, "unknown", f"Known: {', '.join(known)}")

    def tables(self, table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """The tables under `[[key]]`."""
        found = table.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
            raise self.wrong(key, f"is {kind_of(found)}, expected tables", f"Write [[{key}]]")
        return found

    def text(self, table: Mapping[str, Any], key: str, default: str) -> str:
        """A text that is not too long."""
        found = table.get(key, default)
        if not isinstance(found, str) or not found.strip() or len(found) > _LONGEST[key]:
            problem = f"is {kind_of(found)}, expected a text of 1 to {_LONGEST[key]:,} characters"
            raise self.wrong(key, problem, _REMEDY)
        return found

    def whole(self, table: Mapping[str, Any], key: str, default: int | None, low: int, high: int) -> int | None:
        """A whole number in its range."""
        found = table.get(key, default)
        if found is not default and (type(found) is not int or not low <= found <= high):
            raise self.wrong(key, f"is {found!r}, expected a whole number from {low} to {high:,}", _REMEDY)
        return found

    def truth(self, table: Mapping[str, Any], key: str, default: bool) -> bool:
        """True or false."""
        found = table.get(key, default)
        if not isinstance(found, bool):
            raise self.wrong(key, f"is {kind_of(found)}, expected true or false", _REMEDY)
        return found
