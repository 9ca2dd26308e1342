"""From a record with other people's names to one with ours: what is understood, what `--map` says, what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rejoinder.errors import DataError, UsageError, shown
from rejoinder.example import OVERALL
from rejoinder.io.blanks import Blanks
from rejoinder.io.chat import as_context, as_said, turns_of
from rejoinder.io.flat import OBJECTS, decoded
from rejoinder.io.lines import Note, silent
from rejoinder.io.names import CONVERSATIONS, DIALOGUE, MESSAGES, NAMES, OURS, RATER, RATING, SAID, SPEAKS, plain
from rejoinder.io.planner import PARTS_OF_ONE_TURN, Planner, Take, file_of, listed
from rejoinder.io.rating_words import is_word, rating_in
from rejoinder.io.ratings import rater_named
from rejoinder.io.scales import said
from rejoinder.io.shapes import is_flag, shape_of
from rejoinder.io.single_messages import REMEDY, speakers_in
from rejoinder.io.values import inside, is_id, rating_of, yes_or_no

Columns = Mapping[str, str | Sequence[str]]
"""Our name to the name, or the names, in the file; an empty text: nothing in the file is this."""
_TEXTS = [field for field in OURS if field not in (RATING, *OBJECTS)]
_MANY_KEYS = 1024
_CHOICE = re.compile(r"(Answer\..+)\.(\d{1,3})")
_LABEL_STUDIO = re.compile(r'\[\{"rating": ?(\d+)\}\]')


class Names:
    """Understands the names of one call's files; says once what it took for what.

    Args:
        columns: what the user says of them; it goes before all else.
        note: is told what was understood, once for each name.
        keep: names that mean nothing else, because something reads them as they are.
        rows: whether examples keep their rows of a table.
    """

    def __init__(
        self, columns: Columns | None = None, note: Note = silent, keep: Iterable[str] = (), *, rows: bool = False
    ) -> None:
        self.rows = rows
        self.columns = checked(columns or {})
        self.keep = frozenset(keep)
        self.note = note
        self.blanks = Blanks()
        self._plans: dict[tuple[Any, ...], tuple[Take, ...]] = {}
        self._said: set[Take | str] = set()
        self.one_rating_a_line = False
        self.mapped = frozenset(source for sources in self.columns.values() for source in sources)
        self._missed = set(self.mapped)
        self._dotted = sorted(source for source in self._missed if "." in source)

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
            DataError: what should be a rating is none; the record is one message, or holds two replies.
        """
        record = self._with_inner(_with_choices(record))
        if self._missed:
            self._missed.difference_update(record)
            if flat and self._missed:
                raise UsageError(f"{where}: no {_quoted(self._missed)}. There are: {', '.join(map(str, record))}")
        takes = self._takes(record, where, guess)
        if flat:
            texts = _texts_of(takes)
            record = self.blanks.without(record, texts, names=texts - _said_in(takes))
        if not self.one_rating_a_line and self._has_one_rater(record, takes, guess):
            self.one_rating_a_line = True
            what = "one rating a line; lines of one id" if guess else "one vote a line; lines of one pair"
            self.said_once(f"{file_of(where)}: {what} are joined, all held in memory")
        found = _renamed(record, takes, where, flat=flat) if takes else record
        self._doubt_words(record, takes, where)
        if flat and found.get(DIALOGUE, where) in (None, ""):
            said = "rows without a conversation's id are taken for conversations of their own"
            self.said_once(f"{file_of(where)}: {said}. If cells were merged, fill the id in on every row")
        if guess and MESSAGES in found and not {"response", "context"} & {*found, *self.columns}:
            self._require_one_reply(found, where)
        return found

    def _has_one_rater(self, record: Mapping[str, Any], takes: Sequence[Take], guess: bool) -> bool:
        """Whether a record says who rated it.

        A pair of replies keeps its names, so that any name of raters says so, but for a judge's, which published pairs
        have where each is judged once.
        """
        if any(take.field == RATER and len(take.sources) == 1 for take in takes):
            return True
        known = () if guess or RATER in self.columns else map(plain, map(str, record))
        return any(name in words and "judge" not in name for name in known for words in NAMES[RATER])

    def _doubt_words(self, record: Mapping[str, Any], takes: Sequence[Take], where: str) -> None:
        """Say that a column which only may be a rating holds words for ratings, which are not read."""
        for name in (take.sources[0] for take in takes if take.perhaps):
            if is_word(record[name]):
                remedy = f"If they are the ratings, say --map rating={name}"
                self.said_once(f"{file_of(where)}: words under {name} are not read as ratings. {remedy}")

    def _require_one_reply(self, record: Mapping[str, Any], where: str) -> None:
        """Raise where messages end with a reply and what is called one beside them is another."""
        beside = {
            name: value
            for name, value in record.items()
            if isinstance(value, str) and name not in self.keep and plain(str(name)) in NAMES["response"][0]
        }
        if not beside:
            return
        messages = decoded(MESSAGES, record[MESSAGES], where) if isinstance(record[MESSAGES], str) else record[MESSAGES]
        _, reply = turns_of(messages, where)
        for name, value in beside.items():
            if value.strip() not in ("", reply.strip()):
                problem = "is not the reply that the messages end with"
                remedy = (
                    f"Say what it is: --map references={name}; or which is judged: --map response= takes the messages, "
                    f"--map messages=,response={name} takes it without them"
                )
                raise DataError(problem, remedy, where=where, field=name)

    def _with_inner(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """The record, with what the user names inside its objects (`metadata.stars`) under that very name too."""
        inner = {name: inside(record, name) for name in self._dotted if name not in record}
        found = {name: value for name, value in inner.items() if value is not None}
        return {**record, **found} if found else record

    def begin(self) -> None:
        """Begin a new file."""
        self.one_rating_a_line = False

    def require_met(self) -> None:
        """Raise `UsageError` where a name that the user gave stood on no line."""
        if self._missed:
            raise UsageError(f"no line has {_quoted(self._missed)}. Correct --map")

    def said_once(self, what: str) -> None:
        """Tell `note` unless it was told before."""
        if what not in self._said:
            self._said.add(what)
            self.note(what)

    def _takes(self, record: Mapping[str, Any], where: str, guess: bool) -> tuple[Take, ...]:
        """What fills our fields in records with these keys."""
        shapes = (shape_of(record[name]) for name in record if plain(str(name)) in NAMES[MESSAGES][0])
        flags = (is_flag(record[name]) for name in record if plain(str(name)) in SPEAKS)
        ids = (is_id(record[name]) for name in record if plain(str(name)) in CONVERSATIONS)
        key = (guess, *record, *shapes, *flags, *ids)
        if key not in self._plans:
            planner = Planner(record, self.columns, self.keep, where)
            if len(self._plans) >= _MANY_KEYS:
                self._plans.clear()
            self._plans[key] = planner.takes(guess)
            self._tell(self._plans[key], planner.doubts, where, planner.unread)
        return self._plans[key]

    def _tell(self, takes: Sequence[Take], doubts: Sequence[str], where: str, unread: Sequence[str]) -> None:
        """Say what was understood of new names, and what was not."""
        new = [take for take in takes if take not in self._said and (take.field not in self.columns or take.scale)]
        self._said.update(new)
        told = [f"{listed(take.sources)} as {_meaning(take)}" for take in new if _is_translated(take)]
        file = file_of(where)
        if told:
            self.note(f"{file}: read {', '.join(told)}")
        for doubt in doubts:
            self.said_once(f"{file}: {doubt}")
        # A file in our own form may well have no context.
        if unread and (told or any(self.columns.values())):
            rest = f"nothing was read as context, and not read at all: {listed(unread)}"
            remedy = "If one of them is what was said before, say --map context=NAME"
            if speakers := speakers_in(unread):
                remedy = f"Where {listed(speakers)} says who speaks, messages of all speakers are judged. {REMEDY}"
            self.said_once(f"{file}: {rest}. {remedy}")


def _with_choices(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with the number that was chosen where Mechanical Turk has a column of true or false for each.

    `Answer.rating.1` to `Answer.rating.5`, of which one is true, become `Answer.rating`.
    """
    groups: dict[str, dict[str, str]] = {}
    for name in record:
        if isinstance(name, str) and name.startswith("Answer.") and (found := _CHOICE.fullmatch(name)):
            groups.setdefault(found[1], {})[name] = found[2]
    for group, numbers in groups.items():
        said = {name: str(record[name]).strip().lower() for name in numbers}
        if len(numbers) > 1 and group not in record and set(said.values()) <= {"true", "false", ""}:
            chosen = [numbers[name] for name, value in said.items() if value == "true"]
            rest = {name: value for name, value in record.items() if name not in numbers}
            record = {**rest, group: chosen[0] if len(chosen) == 1 else ""}
    return record


def checked(columns: Columns) -> dict[str, tuple[str, ...]]:
    """`columns` with a tuple of names for each of our fields.

    Raises:
        UsageError: what should be one of our fields is none, or one name is to be two of them; or there are no names.
    """
    if not isinstance(columns, Mapping):
        raise UsageError(f'map is {shown(columns)}, expected a dict such as {{"response": "answer"}}')
    named: dict[str, tuple[str, ...]] = {}
    for field, given in columns.items():
        if field not in OURS and not field.startswith(f"{RATING}."):
            known = ", ".join((*OURS, f"{RATING}.DIMENSION"))
            raise UsageError(f"--map {field}=...: no field of ours. Before the = stands one of {known}")
        sources = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
        if odd := [source for source in sources if not isinstance(source, str)]:
            raise UsageError(f"map says that {field} is {shown(odd[0])}, expected a name, or a list of names, as text")
        named[field] = tuple(source for source in sources if source)
    every = [source for sources in named.values() for source in sources]
    if twice := next((source for source in every if every.count(source) > 1), None):
        raise UsageError(f"--map gives {twice!r} two meanings. Give it one")
    return named


def _renamed(record: Mapping[str, Any], takes: Sequence[Take], where: str, *, flat: bool) -> dict[str, Any]:
    """The record under our names; a key that a mapped one takes the place of stays as `original_...`."""
    taken = {source for take in takes for source in take.sources}
    fields = {take.field for take in takes} - {RATING, RATER}
    out = {f"original_{key}" if key in fields else key: value for key, value in record.items() if key not in taken}
    raters = [record[source] for take in takes if take.field == RATER for source in take.sources]
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
            out.update(_decoded_ratings(out, where) if flat else ())
            out.update(_rated(take, values, raters, out, where))
        elif take.field != RATER:
            out[take.field] = values[0]
    return out | _scales(takes, out, where, flat=flat)


def _one_context(take: Take, values: Sequence[Any], where: str, *, flat: bool) -> list[Any]:
    """The turns of a context that stands under several names."""
    if [plain(source) for source in take.sources] == list(PARTS_OF_ONE_TURN):
        return ["\n\n".join(part for part in values if isinstance(part, str) and part.strip())]
    cells = [decoded("context", value, where) if flat and isinstance(value, str) else value for value in values]
    said = [turn for cell in cells if cell for turn in as_said(cell, where)]
    if any(role for role, _ in said) and said[-1][0] is None:  # what was asked, behind a history that tells who spoke
        said[-1] = ("user", said[-1][1])
    return as_context(said)


def _rated(
    take: Take, values: Sequence[Any], raters: Sequence[Any], out: Mapping[str, Any], where: str
) -> Iterator[tuple[str, Any]]:
    """The fields that ratings come to: `quality` from a mean, else `ratings`, with `raters` where they are known."""
    dimension = take.field.partition(".")[2] or OVERALL
    known = raters if len(raters) == len(values) else take.sources if len(values) > 1 else [None]
    given: list[tuple[Any, str | None]] = []
    for source, value, rater in zip(take.sources, values, known, strict=True):
        name = rater_named(rater, where, RATER)
        try:
            found = [_rating(one, take, where, source) for one in (value if isinstance(value, list) else [value])]
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
    for field, values in (("ratings", [number for number, _ in given]), ("raters", [name for _, name in given])):
        beside = out.get(field) or {}
        if set(values) != {None} and isinstance(beside, Mapping):  # anything else there is for the parser to refuse
            yield field, {**beside, dimension: values}


def _rating(value: Any, take: Take, where: str, source: str) -> Any:
    """A rating, or its text where that is read with its column.

    A word in a column that only may be a rating is none.
    """
    value = _in_label_studio(value)
    said = rating_in(value) if isinstance(value, str) and yes_or_no(value) is None else None
    return rating_of(value, where, source) if said is None or (take.perhaps and said.value is None) else value


def _in_label_studio(value: Any) -> Any:
    """What stands in a rating as Label Studio writes it: `{"rating": 4}`, in a cell `[{"rating": 4}]`; else itself."""
    if isinstance(value, str) and value[:1] == "[" and (found := _LABEL_STUDIO.fullmatch(value.strip())):
        return found[1]
    return value["rating"] if isinstance(value, Mapping) and value.keys() == {"rating"} else value


def _decoded_ratings(out: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The cells of a row's own ratings and raters, to which those of other columns are added."""
    cells = {field: out.get(field) for field in ("ratings", "raters")}
    return {field: decoded(field, cell, where) for field, cell in cells.items() if isinstance(cell, str) and cell}


def _scales(takes: Sequence[Take], out: Mapping[str, Any], where: str, *, flat: bool) -> dict[str, Any]:
    """`scales` with what the names of ratings state where the record has such ratings; its own go before them."""
    named = {take.dimension: list(take.scale) for take in takes if take.scale and _is_rated(out, take.dimension)}
    own = out.get("scales") or {}
    if named and flat and isinstance(own, str):
        own = decoded("scales", own, where)
    return {"scales": {**named, **own}} if named and isinstance(own, Mapping) else {}


def _is_rated(out: Mapping[str, Any], dimension: str | None) -> bool:
    """Whether a record under our names has a rating in a dimension."""
    given = [out.get("ratings"), out.get("quality")]
    return any(dimension in one if isinstance(one, Mapping) else one not in (None, "") for one in given)


def _texts_of(takes: Sequence[Take]) -> set[str]:
    """The columns of a table whose cells are texts or names; of ratings, signs of none are counted as such."""
    return {*_TEXTS, *(source for take in takes if take.dimension is None for source in take.sources)}


def _said_in(takes: Sequence[Take]) -> set[str]:
    """The columns of what was said; the other texts are names, as of systems and raters."""
    return {*SAID, *(source for take in takes if take.field in SAID for source in take.sources)}


def _meaning(take: Take) -> str:
    """What a name was read as, with the scale that it states."""
    return f"{take.field} from {said(take.scale)}" if take.scale else take.field


def _is_translated(take: Take) -> bool:
    """Whether a name had to be understood, not only its case."""
    if len(take.sources) != 1:
        return bool(take.sources)
    return plain(take.sources[0]) not in (take.field, plain(take.field))


def _quoted(names: set[str]) -> str:
    """Names in quotes."""
    return " or ".join(map(repr, sorted(names)))
