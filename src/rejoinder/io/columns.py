"""From a record with other people's names to one with ours: what is understood, what `--map` says, what is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from rejoinder.errors import DataError, UsageError
from rejoinder.io.chat import as_turns, is_conversation, waits
from rejoinder.io.flat import decoded
from rejoinder.io.lines import Note, silent
from rejoinder.io.names import DIALOGUE, MESSAGES, NAMES, OURS, PAST, PERHAPS, RATER, RATING, WIDE, plain
from rejoinder.io.values import rating_of
from rejoinder.records import OVERALL

Columns = Mapping[str, str | Sequence[str]]
"""Our name to the name, or the names, in the file; an empty text: nothing in the file is this."""
_PARTS_OF_ONE_TURN = ["instruction", "input"]
_OWN = tuple(name for name in OURS if name not in (RATING, RATER))
_MANY_KEYS = 1024


@dataclass(frozen=True, slots=True)
class Take:
    """What fills one of our fields.

    Attributes:
        field: ours; `rating.DIMENSION` for ratings other than the overall ones.
        sources: the names in the file.
        perhaps: take it only where the value is a rating.
    """

    field: str
    sources: tuple[str, ...]
    perhaps: bool = False


class Names:
    """Understands the names of one call's files; says once what it took for what.

    Args:
        columns: what the user says of them; it goes before all else.
        note: is told what was understood, once for each name.
        keep: names that mean nothing else, because something reads them as they are.
    """

    def __init__(self, columns: Columns | None = None, note: Note = silent, keep: Iterable[str] = ()) -> None:
        self.columns = checked(columns or {})
        self.keep = frozenset(keep)
        self.note = note
        self._plans: dict[tuple[Any, ...], tuple[Take, ...]] = {}
        self._said: set[Take | str] = set()
        self.one_rating_a_line = False
        self._missed = {source for sources in self.columns.values() for source in sources}

    def understood(
        self, record: Mapping[str, Any], where: str, *, flat: bool = False, guess: bool = True
    ) -> Mapping[str, Any]:
        """`record` under our names; the record itself where it has no others.

        Args:
            record: what a line or row holds.
            where: `file:line`, for messages.
            flat: whether it is a row of a table, whose lists are texts.
            guess: whether common names are understood, or only what the user says of names.

        Raises:
            UsageError: two names could be the same field, or a column that was named is not in the table.
            DataError: what should be a rating is none.
        """
        if self._missed:
            self._missed.difference_update(record)
            if flat and self._missed:
                raise UsageError(f"{where}: {_absent(self._missed)}. There are: {', '.join(map(str, record))}")
        takes = self._takes(record, where, guess)
        if any(take.field == RATER and take.sources for take in takes) and not self.one_rating_a_line:
            self.one_rating_a_line = True
            self.said_once(f"{_file(where)}: one rating a line; lines of one id are joined, all held in memory")
        return _renamed(record, takes, where, flat=flat) if takes else record

    def begin(self) -> None:
        """Begin a new file."""
        self.one_rating_a_line = False

    def require_met(self) -> None:
        """Raise `UsageError` where a name that the user gave stood on no line."""
        if self._missed:
            raise UsageError(f"no line has {_absent(self._missed)}. Correct --map")

    def said_once(self, what: str) -> None:
        """Tell `note` unless it was told before."""
        if what not in self._said:
            self._said.add(what)
            self.note(what)

    def _takes(self, record: Mapping[str, Any], where: str, guess: bool) -> tuple[Take, ...]:
        """What fills our fields in records with these keys."""
        key = (guess, *record, *(_shape(record[name]) for name in record if plain(str(name)) in NAMES[MESSAGES][0]))
        if key not in self._plans:
            planner = _Planner(record, self.columns, self.keep, where)
            if len(self._plans) >= _MANY_KEYS:
                self._plans.clear()
            self._plans[key] = planner.takes(guess)
            self._tell(self._plans[key], planner.doubts, where)
        return self._plans[key]

    def _tell(self, takes: Sequence[Take], doubts: Sequence[str], where: str) -> None:
        """Say what was understood of new names, and what was not."""
        new = [take for take in takes if take not in self._said and take.field not in self.columns]
        self._said.update(new)
        told = [f"{_listed(take.sources)} as {take.field}" for take in new if _is_translated(take)]
        file = _file(where)
        if told:
            self.note(f"{file}: read {', '.join(told)}")
        for doubt in doubts:
            self.said_once(f"{file}: {doubt}")


def checked(columns: Columns) -> dict[str, tuple[str, ...]]:
    """`columns` with a tuple of names for each of our fields.

    Raises:
        UsageError: what should be one of our fields is none, or one name is to be two of them.
    """
    named: dict[str, tuple[str, ...]] = {}
    for field, given in columns.items():
        if field not in OURS and not field.startswith(f"{RATING}."):
            known = ", ".join((*OURS, f"{RATING}.DIMENSION"))
            raise UsageError(f"--map {field}=...: no field of ours. Before the = stands one of {known}")
        sources = (given,) if isinstance(given, str) else tuple(given)
        named[field] = tuple(source for source in sources if source)
    every = [source for sources in named.values() for source in sources]
    if twice := next((source for source in every if every.count(source) > 1), None):
        raise UsageError(f"--map gives {twice!r} two meanings. Give it one")
    return named


class _Planner:
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
        self.free = {name: plain(name) for name in map(str, record) if name not in mapped | own | keep}

    def takes(self, guess: bool) -> tuple[Take, ...]:
        """What fills our fields, by what the user says alone or also by `guess`."""
        for field, sources in self.columns.items():
            present = tuple(source for source in sources if source in self.record)
            if present or field in self.record:
                self.found.append(Take(field, present))
        if not guess:
            return tuple(self.found)
        self._variants()
        self._conversation()
        self._instructions()
        if "response" not in self.filled and self._may_have_response():
            self._one_of("response")
        if not {"context", MESSAGES} & self.filled or self._is_strange():
            self._context()
        for field in ("references", "id", "system", "dataset", "context_id", DIALOGUE):
            self._one_of(field)
        self._ratings()
        return tuple(self.found)

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
        for name, word in list(self.free.items()):
            if word.startswith("rating_") and name.lower().startswith("rating."):
                self._take(f"{RATING}.{name[len('rating.') :]}", name)

    def _conversation(self) -> None:
        """Chat messages under another name."""
        if MESSAGES in self.filled or {"context", "response"} <= self.filled:
            return
        for name in self._free_names(NAMES[MESSAGES][0]):
            if _shape(self.record[name]):
                self._take(MESSAGES, name)
                return

    def _instructions(self) -> None:
        """Give `system` free where it instructs a model: in ShareGPT's conversations and Anthropic's requests."""
        chats = [take.sources[0] for take in self.found if take.field == MESSAGES]
        foreign = any(plain(name) == "conversations" for name in chats) or "max_tokens" in self.record
        if foreign and "system" in self.filled - set(self.columns) and (chats or MESSAGES in self.filled):
            self.found.append(Take("system_prompt", ("system",)))
            self.filled.remove("system")

    def _may_have_response(self) -> bool:
        """Whether a response can stand beside the messages, if there are any: they do not end with one."""
        chats = [take.sources[0] for take in self.found if take.field == MESSAGES]
        chats += [MESSAGES] if MESSAGES in self.record else []
        return all(_shape(self.record[name]) == "waits" for name in chats)

    def _one_of(self, field: str) -> None:
        """Fill `field` with the one free name that means it."""
        if field in self.filled:
            return
        for words in NAMES[field]:
            if names := self._free_names(words):
                self._take(field, self._sole(field, names))
                return

    def _is_strange(self) -> bool:
        """Whether our `context` stands among other people's names, where it may be a document instead of turns."""
        return "context" in self.record and "response" not in self.record and "context" not in self.columns

    def _context(self) -> None:
        """Fill the context: from one name, from what went before and what was asked, or from instruction and input."""
        first, later = NAMES["context"]
        own = [name for name in self.filled if name == "context"]
        names = self._free_names(first) or ([] if own else self._free_names(later))
        words = {self.free[name] for name in names}
        pair = len(names) == 2 and (words == set(_PARTS_OF_ONE_TURN) or len(PAST & words) == 1)
        if names and (own or not (len(names) == 1 or pair)):
            self._refuse("context", [*own, *names])
        if names:
            comes_first = PAST | {_PARTS_OF_ONE_TURN[0]}
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
                self._refuse(RATING, [*wide, *single])
            self._take(RATING, *wide)
            return
        self._one_of(RATING)
        if RATING in self.filled:
            self._one_of(RATER)
        elif "quality" not in self.filled and (names := self._free_names(PERHAPS)):
            if len(names) > 1:
                self.doubts.append(
                    f"{_listed(names)} may each be the rating, none is read as one. {_say(RATING, names)}"
                )
                return
            self._take(RATING, names[0], perhaps=True)
            self._one_of(RATER)

    def _wide(self) -> list[str]:
        """The columns of a table with one column a rater; those of `rating1` where `rater1` holds names beside it."""
        stems: dict[str, list[str]] = {}
        for name, word in self.free.items():
            if match := WIDE.fullmatch(word):
                stems.setdefault(match[1], []).append(name)
        several = {stem: names for stem, names in stems.items() if len(names) > 1}
        rated = [stem for stem in several if stem in ("rating", "score", "stars")]
        if len(rated) > 1 or (not rated and len(several) > 1):
            self._refuse(RATING, [name for names in several.values() for name in names])
        return next(iter(several[stem] for stem in rated or several), [])

    def _sole(self, field: str, names: list[str]) -> str:
        """The one name that can be `field`; raise where there are several."""
        if len(names) > 1:
            self._refuse(field, names)
        return names[0]

    def _refuse(self, field: str, names: list[str]) -> NoReturn:
        """Raise `UsageError`: each of `names` could be `field`."""
        file = _file(self.where)
        raise UsageError(f"{file}: {_listed(names)} could each be the {field}. {_say(field, names)}")


def _renamed(record: Mapping[str, Any], takes: Sequence[Take], where: str, *, flat: bool) -> dict[str, Any]:
    """The record under our names; a key that a mapped one takes the place of stays as `original_...`."""
    taken = {source for take in takes for source in take.sources}
    fields = {take.field for take in takes} - {RATING, RATER}
    out = {f"original_{key}" if key in fields else key: value for key, value in record.items() if key not in taken}
    raters = [record[take.sources[0]] for take in takes if take.field == RATER and take.sources]
    for take in takes:
        values = [record[source] for source in take.sources]
        if not values:  # the user says that nothing in the file is this
            continue
        if take.field == "context" and len(values) > 1:
            out["context"] = _one_context(take, values, where, flat=flat)
        elif take.field == "references" and len(values) > 1:
            out["references"] = [value for value in values if value]
        elif take.field.partition(".")[0] == RATING or (
            take.field == "quality" and plain(take.sources[0]) != "quality"
        ):
            out.update(_rated(take, values, raters, out, where))
        elif take.field != RATER:
            out[take.field] = values[0]
    return out


def _one_context(take: Take, values: Sequence[Any], where: str, *, flat: bool) -> list[str]:
    """The turns of a context that stands under several names."""
    if [plain(source) for source in take.sources] == _PARTS_OF_ONE_TURN:
        return ["\n\n".join(part for part in values if isinstance(part, str) and part.strip())]
    cells = [decoded("context", value, where) if flat and isinstance(value, str) else value for value in values]
    return [turn for cell in cells if cell for turn in as_turns(cell, where)]


def _rated(
    take: Take, values: Sequence[Any], raters: Sequence[Any], out: Mapping[str, Any], where: str
) -> Iterator[tuple[str, Any]]:
    """The fields that ratings come to: `quality` from a mean, else `ratings`, with `raters` where they are known."""
    dimension = take.field.partition(".")[2] or OVERALL
    rater = str(raters[0]) if raters and raters[0] not in (None, "") else None
    given: list[tuple[float, str | None]] = []
    for source, value in zip(take.sources, values, strict=True):
        name = source if len(values) > 1 else rater
        try:
            found = [rating_of(one, where, source) for one in (value if isinstance(value, list) else [value])]
        except DataError:
            if not take.perhaps:
                raise
            yield source, value
            continue
        given += [(number, name) for number in found if number is not None]
    if not given:
        return
    if take.field == "quality":
        yield "quality", {dimension: given[0][0]}
        return
    yield "ratings", {**out.get("ratings", {}), dimension: [number for number, _ in given]}
    if any(name for _, name in given):
        yield "raters", {**out.get("raters", {}), dimension: [name for _, name in given]}


def _shape(value: Any) -> str:
    """Whether a value is a conversation in messages, and whether it waits for a reply; a text may be one in JSON."""
    if isinstance(value, str):
        return "chat" if value.lstrip().startswith("[{") else ""
    if not is_conversation(value):
        return ""
    return "waits" if waits(value) else "chat"


def _is_translated(take: Take) -> bool:
    """Whether a name had to be understood, not only its case."""
    if len(take.sources) != 1:
        return bool(take.sources)
    return plain(take.sources[0]) not in (take.field, plain(take.field))


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _say(field: str, names: Sequence[str]) -> str:
    """How to tell which of `names` is `field`."""
    return f"Say which: --map {field}={names[-1]}"


def _absent(names: set[str]) -> str:
    """The names that were looked for and are not there."""
    return " or ".join(f"no {name!r}" for name in sorted(names))


def _file(where: str) -> str:
    """The file of a `file:line`."""
    return where.rpartition(":")[0]
