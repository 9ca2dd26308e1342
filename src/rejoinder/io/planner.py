"""Which of a record's names fill our fields: what the user says of them, then the common names, or a refusal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from rejoinder.errors import ColumnError, UsageError
from rejoinder.example import OVERALL
from rejoinder.io.names import (
    ASKED,
    BOTS,
    CONVERSATIONS,
    DIALOGUE,
    MESSAGES,
    NAMES,
    OURS,
    PAST,
    PERHAPS,
    RATER,
    RATING,
    SAID_LAST,
    SPEAKS,
    SPOKEN,
    VERSIONS,
    WIDE,
    header,
    plain,
    scaled,
)
from rejoinder.io.ratings import Scale
from rejoinder.io.shapes import is_flag, shape_of
from rejoinder.io.single_messages import has_text, is_message_of_a_user, is_one_message, one_message
from rejoinder.io.values import is_id

PARTS_OF_ONE_TURN = ("instruction", "input")
"""Names that make one turn together."""
_OWN = tuple(name for name in OURS if name not in (RATING, RATER))
_VALUES = ("rating", "score", "stars")
_MAY_BE_OTHERS = re.compile(r"score|(rating|stars)_?[a-h]$")
"""Columns of a table with a rating a rater that may be of criteria or of systems instead."""
_RATED = (RATING, "ratings", "quality")


@dataclass(frozen=True, slots=True)
class Take:
    """What fills one of our fields.

    Attributes:
        field: ours; `rating.DIMENSION` for ratings other than the overall ones.
        sources: the names in the file.
        perhaps: take it only where the value is a rating.
        scale: the scale of a rating, where a name in the file states it.
    """

    field: str
    sources: tuple[str, ...]
    perhaps: bool = False
    scale: Scale | None = None

    @property
    def dimension(self) -> str | None:
        """Which ratings the field holds; None where it holds none."""
        kind, _, dimension = self.field.partition(".")
        return dimension or OVERALL if kind in _RATED else None


class Planner:
    """Finds what fills our fields in records with the keys of `record`."""

    def __init__(
        self, record: Mapping[str, Any], columns: Mapping[str, tuple[str, ...]], keep: frozenset[str], where: str
    ) -> None:
        self.record, self.columns, self.where = record, columns, where
        self.found: list[Take] = []
        self.doubts: list[str] = []
        mapped = {source for sources in columns.values() for source in sources}
        own = {name for name in _OWN if name in record and name not in mapped and name not in columns}
        self.filled = own | set(columns)
        self.free = {name: header(name).word for name in map(str, record) if name not in mapped | own | keep}

    def takes(self, guess: bool) -> tuple[Take, ...]:
        """What fills our fields, by what the user says alone or also by `guess`."""
        for field, sources in self.columns.items():
            present = tuple(source for source in sources if source in self.record)
            if present or field in self.record:
                self.found.append(Take(field, present))
        if guess:
            self._guess()
        return self._on_scales()

    def _guess(self) -> None:
        """Take what common names mean."""
        self._variants()
        self._conversation()
        self._instructions()
        self._conversation_id()
        if "response" not in self.filled and self._may_have_response() and self._may_be_replies():
            self._one_of("response")
        if self._has_context():
            self._require_one_context()
        elif not {"context", MESSAGES} & self.filled:
            self._context()
        for field in ("references", "id", "system", "dataset", "context_id", DIALOGUE):
            self._one_of(field)
        self._require_one_system()
        self._ratings()

    def _on_scales(self) -> tuple[Take, ...]:
        """What was found, ratings with the scale that their names state."""
        stated: dict[str | None, dict[Scale, str]] = {}
        for take in self.found:
            if take.dimension:
                names = {scale: name for name in take.sources if (scale := scaled(name).scale)}
                stated.setdefault(take.dimension, {}).update(names)
        for scales in stated.values():
            if len(scales) > 1:
                self._refuse_scales(list(scales.values()))
        return tuple(replace(take, scale=next(iter(stated.get(take.dimension, ())), None)) for take in self.found)

    @property
    def unread(self) -> list[str]:
        """The names that fill nothing, where there is a response and no context; none where they are not missed."""
        missed = "response" in self.filled and self.filled.isdisjoint({"context", MESSAGES})
        return list(self.free) if missed else []

    def _take(self, field: str, *names: str, perhaps: bool = False) -> None:
        """Fill `field` with what stands under `names`."""
        self.found.append(Take(field, names, perhaps))
        self.filled.add(field)
        for name in names:
            del self.free[name]

    def _free_names(self, words: frozenset[str]) -> list[str]:
        """The names in the record that are one of `words` and fill nothing yet."""
        return [name for name, word in self.free.items() if word in words]

    def _variants(self) -> None:
        """Names that are ours but for case, blanks and hyphens."""
        for field in _OWN:
            if field not in self.filled and (names := self._free_names(frozenset({field}))):
                self._take(field, self._sole(field, names))
        named: dict[str, list[str]] = {}
        for name, word in self.free.items():
            if word.startswith("rating_") and name.lower().startswith("rating."):
                named.setdefault(f"{RATING}.{header(name).text[len('rating.') :]}", []).append(name)
        for field, names in named.items():
            self._take(field, self._sole(field, names))

    def _conversation(self) -> None:
        """Chat messages under another name."""
        if MESSAGES in self.filled or {"context", "response"} <= self.filled:
            return
        for name in self._free_names(NAMES[MESSAGES][0]):
            if shape_of(self.record[name]):
                self._take(MESSAGES, name)
                return

    def _instructions(self) -> None:
        """Give `system` free where it instructs a model: in ShareGPT's conversations and Anthropic's requests."""
        chats = self._chats()
        foreign = any(plain(name) == "conversations" for name in chats) or "max_tokens" in self.record
        if foreign and "system" in self.filled - set(self.columns) and (chats or MESSAGES in self.filled):
            self.found.append(Take("system_prompt", ("system",)))
            self.filled.remove("system")

    def _conversation_id(self) -> None:
        """The conversation by an id that stands under its name, where something else says what was said in it."""
        if DIALOGUE in self.filled or any(map(self._free_names, NAMES[DIALOGUE])):
            return
        names = [name for name in self._free_names(CONVERSATIONS) if is_id(self.record[name])]
        others = set(self._free_names(NAMES["context"][0] | NAMES["context"][1])) - set(names)
        if len(names) == 1 and (others or {"context", MESSAGES} & self.filled):
            self._take(DIALOGUE, *names)

    def _chats(self) -> list[str]:
        """The names under which chat messages were found."""
        return [source for take in self.found if take.field == MESSAGES for source in take.sources]

    def _may_have_response(self) -> bool:
        """Whether a response can stand beside the messages, if there are any: they do not end with one."""
        chats = self._chats()
        chats += [MESSAGES] if MESSAGES in self.record and MESSAGES not in self.columns else []
        return all(shape_of(self.record[name]) == "waits" for name in chats)

    def _may_be_replies(self) -> bool:
        """Whether names that may be of a reply are: no flags, and no bots by name.

        Raises:
            DataError: the record looks like one message, and they say who speaks in it.
        """
        first, later = NAMES["response"]
        if self._free_names(first):
            return True
        names = self._free_names(later)
        if speakers := [name for name in names if self.free[name] in SPEAKS]:
            asked = NAMES["context"][0]
            others = [name for name, word in self.free.items() if name not in names and word not in asked]
            flags = any(is_flag(self.record[name]) for name in speakers)
            if is_one_message(others) or is_message_of_a_user(others) or (flags and has_text(others)):
                raise one_message(list(self.record), self.where)
            if flags:
                return False
        answered = {"context", MESSAGES} & self.filled or self._chats() or self._free_names(ASKED | SAID_LAST)
        return bool(answered) or any(self.free[name] not in BOTS for name in names)

    def _one_of(self, field: str) -> None:
        """Fill `field` with the one free name that means it."""
        if field in self.filled:
            return
        for words in NAMES[field]:
            if names := self._free_names(words):
                self._take(field, self._sole(field, names))
                return

    def _has_context(self) -> bool:
        """Whether our `context` stands among the names of whoever made the file, as nobody says what it is.

        Beside `messages`, and in what scoring wrote, other names were left aside when these lines were first read.
        """
        first_read = MESSAGES not in self.filled and "signatures" not in self.record
        return "context" in self.record and "context" not in self.columns and first_read

    def _require_one_context(self) -> None:
        """Raise where what was asked stands beside our `context`, which may be a document; doubt where it only may."""
        if names := self._free_names(NAMES["context"][0] | SPOKEN):
            self._refuse("context", ["context", *names])
        for name in self._free_names(NAMES["context"][1]):  # of these most name a person or a conversation
            if isinstance(text := self.record[name], str) and len(text.split()) > 1:
                both = f"--map context=context+{name}"
                self.doubts.append(f"context is read and {name} is not. If that is what was said last, say {both}")

    def _require_one_system(self) -> None:
        """Raise where a version stands beside the name that was taken for the system: either may be what is compared.

        Raises:
            ColumnError: `model` beside `prompt_version`, for instance.
        """
        names = [take.sources[0] for take in self.found if take.field == "system" and "system" not in self.columns]
        if names and (versions := self._free_names(VERSIONS)):
            either = listed([*names, *versions])
            remedy = f"Say which: --map system={versions[0]} or --map system={names[0]}"
            raise ColumnError(f"{either} could each be the system", remedy, where=file_of(self.where))

    def _context(self) -> None:
        """Fill the context: from one name, from what went before and what was asked, or from instruction and input."""
        first, later = NAMES["context"]
        names = self._free_names(first) or self._free_names(later)
        if [self.free[name] in PAST for name in names] == [True]:
            names += [name for name in self._free_names(SAID_LAST) if isinstance(self.record[name], (str, list))]
        words = {self.free[name] for name in names}
        pair = len(names) == 2 and (words == set(PARTS_OF_ONE_TURN) or len(PAST & words) == 1)
        if names and not (len(names) == 1 or pair):
            self._refuse("context", names)
        if names:
            comes_first = PAST | {PARTS_OF_ONE_TURN[0]}
            self._take("context", *sorted(names, key=lambda name: self.free[name] not in comes_first))

    def _ratings(self) -> None:
        """Fill the ratings: a column a rater, one rating, the mean, or a column that only may be a rating."""
        if "ratings" in self.filled:
            return
        if RATING in self.columns:
            if len(self.columns[RATING]) == 1:
                self._one_of(RATER)
            return
        self._one_of("quality")
        if wide := self._wide():
            if single := self._free_names(NAMES[RATING][0] | NAMES[RATING][1]):
                self._refuse(RATING, [*wide[0], *single])
            if len(wide) == 1 and _MAY_BE_OTHERS.match(self.free[wide[0][0]]):
                said = f"{listed(wide[0])} are read as ratings of one reply by {len(wide[0])} people"
                self.doubts.append(f"{said}. If not, say which counts: --map {RATING}={wide[0][0]}")
            for field, names in zip((RATING, RATER), wide, strict=False):
                self._take(field, *names)
            return
        self._one_of(RATING)
        if RATING in self.filled:
            self._one_of(RATER)
            self._doubt_others(self.found)
        elif "quality" not in self.filled and (names := self._free_names(self._may_rate)):
            if len(names) > 1:
                self.doubts.append(
                    f"{listed(names)} may each be the rating, none is read as one. {_say(RATING, names)}"
                )
                return
            self._take(RATING, names[0], perhaps=True)
            self._one_of(RATER)
        elif any(field.startswith(f"{RATING}.") for field in self.filled):
            self._one_of(RATER)

    @property
    def _may_rate(self) -> frozenset[str]:
        """The names that may be ratings; not the `score` that `Scores.to_pandas` writes beside `unscored`."""
        return PERHAPS - {"score"} if "unscored" in self.record and "signatures" not in self.record else PERHAPS

    def _doubt_others(self, found: Sequence[Take]) -> None:
        """Say of what stands beside a rating and may be another one: `rating_2`, or a `quality` that goes before it."""
        name = next(take.sources[0] for take in found if take.field == RATING)
        again = re.compile(rf"{re.escape(header(name).word)}_?(\d|[a-h])")
        if others := [other for other, word in self.free.items() if again.fullmatch(word)]:
            both = "+".join([name, *others])
            self.doubts.append(
                f"{name} is read as the rating, {listed(others)} not. If all are, say --map rating={both}"
            )
        if "quality" in self.record and "quality" not in self.columns:
            said = f"quality is read as the mean rating, and counts where {name} says another"
            self.doubts.append(f"{said}. If it is of something else, say --map quality=")

    def _wide(self) -> list[list[str]]:
        """The columns of a table with a rating a rater, and behind them the columns with the raters' names, if any."""
        stems: dict[str, dict[str, str]] = {}
        for name, word in self.free.items():
            if match := WIDE.fullmatch(word):
                stems.setdefault(match[1], {})[match[2]] = name
        several = {stem: columns for stem, columns in stems.items() if len(columns) > 1}
        rated = [stem for stem in several if stem in _VALUES]
        others = [stem for stem in several if stem not in _VALUES]
        if len(rated) > 1 or (not rated and len(others) > 1):
            self._refuse(RATING, [name for columns in several.values() for name in columns.values()])
        if not rated:
            return [list(several[stem].values()) for stem in others]
        named = [list(several[stem].values()) for stem in others if several[stem].keys() == several[rated[0]].keys()]
        return [list(several[rated[0]].values()), *named[:1]]

    def _sole(self, field: str, names: list[str]) -> str:
        """The one name that can be `field`; raise where there are several."""
        if len(names) > 1:
            self._refuse(field, names)
        return names[0]

    def _refuse(self, field: str, names: list[str]) -> NoReturn:
        """Raise `UsageError`: each of `names` could be `field`."""
        file = file_of(self.where)
        before = names[0] == "context" or plain(names[0]) in PAST
        joined = f", or both as turns: --map context={names[0]}+{names[1]}" if before else ""
        raise UsageError(f"{file}: {listed(names)} could each be the {field}. {_say(field, names)}{joined}")

    def _refuse_scales(self, names: list[str]) -> NoReturn:
        """Raise `UsageError`: `names` are of one rating, and each states another scale."""
        last = next(take for take in self.found if names[-1] in take.sources)
        others = [take.field for take in self.found if take.dimension == last.dimension and take is not last]
        problem = f"{listed(names)} state {len(names)} scales of one rating. Bring them to one, or say which counts"
        remedy = ",".join([f"{last.field}={names[-1]}", *(f"{other}=" for other in others)])
        raise UsageError(f"{file_of(self.where)}: {problem}: --map '{remedy}'")


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _say(field: str, names: Sequence[str]) -> str:
    """How to tell which of `names` is `field`."""
    return f"Say which: --map {field}={names[-1]}"


def file_of(where: str) -> str:
    """The file of a `file:line`."""
    return where.rpartition(":")[0]
