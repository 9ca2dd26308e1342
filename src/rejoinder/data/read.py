"""From files and Python objects to examples: container, format, columns, record. The whole flow is here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, get_args

from rejoinder.data import columns
from rejoinder.data.chat import is_chat, is_texts, messages_in, together
from rejoinder.data.columns import Plan, plain
from rejoinder.data.examples import example_of, expanded, pair_of, rater_name, require_id, rows_of
from rejoinder.data.files import SUFFIXES, OnError, Row, without_signs
from rejoinder.data.files import rows as rows_in
from rejoinder.data.format import Format, candidates, detect, formats, items
from rejoinder.data.formats.surveys import accepted
from rejoinder.data.joins import Note, join_messages, join_raters
from rejoinder.data.positive import with_positive
from rejoinder.data.scales import required, scale_of, with_scale
from rejoinder.data.scored_keys import EXPLAINED, INTERVALS, NOTES, SCORED, WARNINGS, WORST, fold_columns
from rejoinder.data.understood import Understood
from rejoinder.data.values import EMPTY, from_cell, kind_of, number, under
from rejoinder.errors import ColumnError, DataError, UsageError, require_one_of
from rejoinder.example import OVERALL, ROW, Example, Pair

Turns = Literal["last", "all"]
ExamplesLike = Any
"""Examples, or anything that holds them: dicts, chat messages, a data frame, the name of a file."""
_OBJECTS = ("ratings", "raters", "quality", "scale", "scales")
_WRITTEN = frozenset((*SCORED, WARNINGS, NOTES, WORST, "speakers", "followed_by", INTERVALS, EXPLAINED))
_PLANS = 1024
_FLAGS = ("true", "false", "0", "1")  # in a column `bot` of a table of messages


class How(TypedDict, total=False):
    """How files are read, beyond what they say themselves.

    Keys:
        map: what columns and keys are, ours first: `{"context": "prompt", "rating": ["ann", "bob"]}`, with dots into
            objects; an empty text: nothing in the file is that.
        input_format: the container (`csv`) or the format (`langfuse`) of all files.
        turns: which turns of the assistant in a conversation become examples, `last` or `all`.
        scale: the scale of ratings that state none: `(1, 5)`, `"1,5"`, or words, the lowest first.
        note: takes what was understood, a line at a time.
        keep: names of columns and keys that something else reads as they are.
        rows: whether an example keeps its row of a table (`example.ROW`), for an output that gives the row back.
        labels: whether columns of labels (`label`, `human`) are ratings.
        texts: whether every line has a reply; if not, the id of one is enough.
        positive: the word for a good reply: in a column of labels or verdicts that has it, all others are for bad ones.
    """

    map: Mapping[str, str | Sequence[str]]
    input_format: str | None
    turns: Turns
    scale: str | Sequence[float] | Sequence[str] | None
    note: Note
    keep: Collection[str]
    rows: bool
    labels: bool
    texts: bool
    positive: str | None


def raise_error(error: DataError) -> None:
    """Raise the error."""
    raise error


def silent(_: str) -> None:
    """Say nothing."""


def read(*paths: str | Path, on_error: OnError = raise_error, **how: Unpack[How]) -> Iterator[Example]:
    """Yield the examples of one or more files, in order.

    Args:
        paths: files; `-` is standard input, `@NAME` a bundled sample.
        on_error: takes the error of a line that cannot be used, and reading goes on; raises it by default.
        how: see `How`.

    Raises:
        DataError: a bad line; a line is a pair of replies.
        ColumnError: a column is not understood; never given to `on_error`.
        MissingAsset: a file is not there.
        MissingExtra: the library that reads the container is not installed.
        UsageError: `how` has a fault, or no line has a name of `map`.
    """
    yield from _singles(read_lines(*paths, on_error=on_error, **how), on_error)


def _singles(lines: Iterable[Example | Pair], on_error: OnError) -> Iterator[Example]:
    for line in lines:
        if isinstance(line, Pair):
            remedy = "Pairs go into rejoinder study and rejoinder score, in Python into rejoinder.study"
            on_error(DataError("a pair of replies, expected one reply", remedy, where=line.where))
        else:
            yield line


def read_pairs(*paths: str | Path, on_error: OnError = raise_error, **how: Unpack[How]) -> Iterator[Pair]:
    """Yield the pairs of replies of files whose every line is one; as `read`.

    Args:
        paths: see `read`.
        on_error: see `read`; it is given the error of a line that is no pair, too.
        how: see `How`.

    Raises:
        DataError: a bad line; a line is no pair.
        ColumnError, MissingAsset, MissingExtra, UsageError: see `read`.
    """
    for line in read_lines(*paths, on_error=on_error, **how):
        if isinstance(line, Pair):
            yield line
        else:
            on_error(_no_pair(line.where))


def read_lines(*paths: str | Path, on_error: OnError = raise_error, **how: Unpack[How]) -> Iterator[Example | Pair]:
    """Yield the examples and the pairs of replies of files, in order; as `read`."""
    reader = _Reader(how, on_error)
    return reader.lines((str(path), rows_in(path, on_error, reader.container)) for path in paths)


def read_sides(
    *sides: Sequence[str | Path],
    rated: Sequence[str | Path] | None = None,
    on_error: OnError = raise_error,
    **how: Unpack[How],
) -> tuple[list[list[Example]], list[Example] | None]:
    """Return the examples of groups of files, and those of rated files, which may hold ids and labels alone.

    With rated files, a name of `map` belongs to the files that have it. The words of all files decide on `positive`.
    """
    reader = _Reader(how, on_error, apart=rated is not None)
    every = [*sides, *([] if rated is None else [rated])]
    sources = [(str(path), rows_in(path, on_error, reader.container)) for side in every for path in side]
    streams, lines = reader.streams(sources), list[list[Example]]()
    for place, side in enumerate(every):
        reader.texts = place < len(sides) and how.get("texts", True)
        lines.append([line for _ in side for line in _singles(next(streams), on_error)])
    reader.require_met()
    return lines[: len(sides)], None if rated is None else lines[-1]


def read_rows(
    sources: Iterable[tuple[str, Iterable[Row]]],
    on_error: OnError = raise_error,
    *,
    join: bool = True,
    **how: Unpack[How],
) -> Iterator[Example | Pair]:
    """Yield the examples and the pairs of decoded rows; as `read`.

    Args:
        sources: names of files, for notes, each with its rows.
        on_error: see `read`.
        join: whether the rows of several raters of one reply become one.
        how: see `How`.
    """
    return _Reader(how, on_error, join=join).lines(sources)


def lines_of(data: ExamplesLike, *, name: str = "lines", **how: Unpack[How]) -> list[Example | Pair]:
    """Return the examples and the pairs of replies that `data` holds, in order, by the rules of `read`.

    Args:
        data: examples; dicts; conversations in chat messages; a data frame of pandas or polars; the name of a file.
        name: what messages, and ids of records that have none, call it.
        how: see `How`.

    Raises:
        DataError, UsageError: see `read`.
    """
    if isinstance(data, (str, Path)):
        return list(read_lines(data, **how))
    reader = _Reader(how, raise_error)
    if isinstance(data, Iterable) and not isinstance(data, (Mapping, list, tuple)) and not hasattr(data, "columns"):
        data = list(data)
    data = [data] if isinstance(data, (Example, Pair)) else data
    if isinstance(data, (list, tuple)) and not reader.mapped and all(isinstance(one, (Example, Pair)) for one in data):
        return list(data) if reader.scale is None else list(with_scale(data, reader.scale))
    return list(reader.lines([(name, rows_of(data, name))]))


def examples_of(data: ExamplesLike, *, name: str = "examples", **how: Unpack[How]) -> list[Example]:
    """Return the examples that `data` holds; as `lines_of`, for single replies.

    Args:
        data: see `lines_of`.
        name: what messages, and ids of records that have none, call it.
        how: see `How`.

    Raises:
        DataError: a record cannot be used, or is a pair of replies.
        UsageError: something else was given; see also `read`.
    """
    if isinstance(data, (str, Path)):
        return list(read(data, **how))
    lines = lines_of(data, name=name, **how)
    for place, line in enumerate(lines, start=1):
        if isinstance(line, Pair):
            where = line.where or f"{name}:item {place}"
            raise DataError("a pair of replies, expected one reply", "Give it to rejoinder.study", where=where)
    return [line for line in lines if isinstance(line, Example)]


def pairs_of(data: ExamplesLike, *, name: str = "pairs", **how: Unpack[How]) -> list[Pair]:
    """Return the pairs of replies that `data` holds; as `lines_of`, for pairs.

    Args:
        data: see `lines_of`.
        name: what messages, and ids of records that have none, call it.
        how: see `How`.

    Raises:
        DataError: a record cannot be used, or is no pair of replies.
        UsageError: something else was given; see also `read`.
    """
    lines = lines_of(data, name=name, **how)
    for place, line in enumerate(lines, start=1):
        if isinstance(line, Example):
            raise _no_pair(line.where or f"{name}:item {place}")
    return [line for line in lines if isinstance(line, Pair)]


def _no_pair(where: str) -> DataError:
    remedy = 'Write "chosen" and "rejected", or "responses": ["...", "..."] and "preferred"'
    return DataError("no pair of replies", remedy, where=where)


class _Reader:
    """The flow of one call: `opened`, `understood`, `joined`, each a generator."""

    def __init__(self, how: How, on_error: OnError, *, join: bool = True, apart: bool = False) -> None:
        if unknown := how.keys() - How.__annotations__.keys():
            known = ", ".join(How.__annotations__)
            raise UsageError(f"reading takes no {', '.join(sorted(unknown))}. Give one of {known}")
        require_one_of("turns", how.get("turns", "last"), get_args(Turns))
        self.on_error, self.note, self.join = on_error, how.get("note") or silent, join
        self.apart = apart  # whether a name of `map` belongs to the files that have it
        self.texts, self.positive = how.get("texts", True), how.get("positive")
        self.mapped = columns.checked(how.get("map"))
        self.missed = {name for names in self.mapped.values() for name in names}
        self.keep = frozenset(how.get("keep") or ())
        self.labels, self.rows = how.get("labels", False), how.get("rows", False)
        self.every = how.get("turns", "last") == "all"
        kind = how.get("input_format")
        containers = [*dict.fromkeys(SUFFIXES.values())]
        named = {} if kind is None or kind in containers else {one.name: one for one in formats()}
        if kind is not None:
            require_one_of("input_format", kind, [*containers, *named])
        self.container, self.format = (kind if kind in containers else None), named.get(kind or "")
        given = how.get("scale")
        scale = scale_of(given) if isinstance(given, str) else given
        self.words = tuple(map(str, scale)) if scale and isinstance(scale[0], str) else ()
        self.scale = required(scale) if scale and not self.words else None  # type: ignore[arg-type]
        self.plans: dict[tuple[Any, ...], Plan] = {}
        self.tops: dict[str, float] = {}  # of each column, in one file: the top that a cell names
        self.highest: dict[str, float] = {}  # of the cells that name none
        self.said: set[str] = set()
        self.place = ""  # of the row that was taken last

    def lines(self, sources: Iterable[tuple[str, Iterable[Row]]]) -> Iterator[Example | Pair]:
        """Yield what all sources hold."""
        for stream in self.streams(sources):
            yield from stream
        self.require_met()

    def streams(self, sources: Iterable[tuple[str, Iterable[Row]]]) -> Iterator[Iterator[Example | Pair]]:
        """Yield what each source holds."""
        if self.positive:
            named = {name for ours, names in self.mapped.items() if ours[:6] == "rating" for name in names}
            sources = with_positive(sources, self.positive, self.keep | named)
        return (self.stream(*source) for source in sources)

    def stream(self, name: str, rows: Iterable[Row]) -> Iterator[Example | Pair]:
        """Yield what a source holds; at its end, tell how it was read."""
        about = Understood(labels=self.labels)
        self.tops, self.highest = {}, {}
        try:
            stream = self.joined(self.understood(self.opened(rows, about), about))
            yield from stream if self.scale is None else with_scale(stream, self.scale, self.on_error)
        except MemoryError:
            self.on_error(DataError("does not fit into memory", "Split it, or write JSON lines (.jsonl)", where=name))
        except RecursionError:
            self.on_error(DataError("nested too deep", "Flatten it", where=name))
        except DataError:
            about.tell(name, self.note_once)
            raise
        about.tell(name, self.note_once)

    def require_met(self) -> None:
        """Raise `UsageError` if no line had a name of `map`."""
        if self.missed:
            raise UsageError(f"no line has {' or '.join(map(repr, sorted(self.missed)))}. Correct --map")

    def note_once(self, line: str) -> None:
        """Give `note` a line unless it had it before."""
        if line not in self.said:
            self.said.add(line)
            self.note(line)

    def opened(self, rows: Iterable[Row], about: Understood) -> Iterator[tuple[Format | None, Row]]:
        """Yield each row in our own form, with its format; rows of one format in succession go through it together."""
        mapped = {ours for ours, sources in self.mapped.items() if sources}
        names = [name for sources in self.mapped.values() for name in sources]
        for kind, run in groupby(accepted(rows, self.note_once, names), key=lambda row: self.kind(row, names)):
            first = next(run)
            stream = chain([first], run)  # noqa: B031
            if kind is None:
                yield from ((None, row) for row in join_messages(stream, self.note_once, mapped))
                continue
            whole = map(without_signs, stream) if kind.columns else stream
            ours = kind.columns and not first.flat and {"chosen", "responses"} & first.data.keys()
            try:
                for row in kind.records(whole, self.on_error):
                    if row.data is None:
                        about.left_out += 1
                        continue
                    about.counts[kind.about] += not ours
                    yield kind, row
            except (KeyError, TypeError, AttributeError, IndexError) as error:
                problem = f"not in the form of {kind.about} that is known ({type(error).__name__}: {error})"
                remedy = "Write it as JSON lines with context and response"
                place = first.where if kind.whole else self.place
                raise DataError(problem[:300], remedy, where=place) from error

    def kind(self, row: Row, names: Collection[str]) -> Format | None:
        """Return the format of a row, the one that the user names or the one that its keys show.

        Raises:
            DataError: the row lacks the keys of the format that the user names.
        """
        self.place = row.where
        if self.format is None:
            return detect(row, names)
        data = items(row)[0].data
        keys = tuple(map(str, data)) if isinstance(data, Mapping) else ()
        if self.format not in [kind for kind, _ in candidates(keys)]:
            problem = f"no {self.format.about} (found: {', '.join(keys[:6])})"
            raise DataError(problem, "Leave --input-format out", where=row.where)
        return self.format

    def understood(
        self, rows: Iterable[tuple[Format | None, Row]], about: Understood
    ) -> Iterator[tuple[bool, Example | Pair]]:
        """Yield the example or pair of each row, and whether the row names who rated."""
        for kind, row in rows:
            try:
                data = {"messages": row.data} if is_chat(row.data) else row.data
                if not isinstance(data, Mapping):
                    remedy = 'Write one {"context": [...], "response": "..."} a line'
                    raise DataError(f"{kind_of(data)}, expected a JSON object", remedy, where=row.where)
                row = row._replace(data=data)
                made = list(self.made(kind, row, about))
            except ColumnError:
                raise
            except DataError as error:
                self.on_error(error)
            except RecursionError:
                self.on_error(DataError("nested too deep", "Flatten it", where=row.where))
            else:
                yield from made

    def made(self, kind: Format | None, row: Row, about: Understood) -> Iterator[tuple[bool, Example | Pair]]:
        """Yield what one row comes to."""
        data, where = row.data, row.where
        if "pair" in data and kind is not None:
            if self.missed:
                self.meet(data, row)
            named = {name for names in self.mapped.values() for name in names}
            record = {key: value for key, value in data.items() if key not in {*named, *self.mapped}}
            record |= {ours: under(data, names[0]) for ours, names in self.mapped.items() if names}
            if "context" in self.mapped:
                record["pair"] = [{**reply, "context": record.get("context")} for reply in record["pair"]]
            yield any(columns.field_of(str(key)) == "rater" for key in record), pair_of(record, where)
            return
        if data.get("done") is False and "response" in data and "model" in data:
            problem = "a piece of a stream (done: false)"
            raise ColumnError(problem, "Join the pieces of each reply first", where=where, field="done")
        if self.missed:
            self.meet(data, row)
        plan = self.plan(kind, row, about)
        record = self.renamed(row, plan)
        if not self.texts:
            require_id(record, where)
        whole = self.rows and row.flat and kind is None
        several = list(expanded(record, where, every=self.every, final=kind is not None))
        for one in several:
            if (
                whole
                and len(several) == 1
                and all(isinstance(cell, (str, int, float, type(None))) for cell in data.values())
            ):
                one[ROW] = data
            example = example_of(one, where)
            if kind is None:
                about.doubt(record, example, plan)
            if example.system is None:
                about.offer_system(data)
            elif len(about.systems) < _PLANS:
                about.systems.setdefault(example.system.casefold(), set()).add(example.system)
            yield bool(plan.sources.get("rater")) and "rater" not in record, example

    def meet(self, data: Mapping[str, Any], row: Row) -> None:
        """Strike names of `map` that a row has; of a table all must be there.

        Raises:
            UsageError: a table lacks one.
        """
        self.missed = {name for name in self.missed if name not in data and under(data, name) is None}
        absent = [name for name in self.missed if not any(name.startswith(f"{key}.") for key in data)]
        if row.flat and absent and "messages" not in data and not self.apart:
            raise UsageError(
                f"{row.where}: no {' or '.join(map(repr, absent))}. Name one of {', '.join(map(str, data))}"
            )

    def plan(self, kind: Format | None, row: Row, about: Understood) -> Plan:
        """Return which columns of a row fill which fields, and remember it for the message."""
        key = (kind is None, *row.data)
        if (plan := self.plans.get(key)) is None:
            names = tuple(str(name) for name in row.data)
            mapped = columns.present(self.mapped, names) if self.apart else self.mapped
            plan = columns.plan(names, mapped, row.where, keep=self.keep, labels=self.labels, adapted=kind is not None)
            if kind is None:
                columns.require_no_near_miss(plan, row.where)
            if len(self.plans) >= _PLANS:
                self.plans.clear()
            self.plans[key] = plan
            unread = dict.fromkeys(name for name in plan.unread if plain(name) not in _WRITTEN)
            maybe = any(plain(name) in columns.MAY_BE_RATINGS for name in unread)
            lost = "response" in plan.sources and not {"context", "messages"} & plan.sources.keys()
            if kind is None and (plan.read or maybe or lost):
                about.read.setdefault(plan.read, {}).update(unread)
        return plan

    def renamed(self, row: Row, plan: Plan) -> dict[str, Any]:
        """Return a row under our names, cells decoded where the column may hold JSON; other keys stay."""
        data, where, flat = row.data, row.where, row.flat
        sources = plan.sources
        record: dict[str, Any] = {}
        for key, value in data.items():
            if key in plan.used or (flat and value in (None, "") and not str(key).startswith("scores.")):
                continue
            name = f"original_{key}" if key in sources and key not in ("rating", "rater") else key
            held = from_cell(value, where, key) if flat and key in _WRITTEN else value
            record[name] = value if key in (WARNINGS, NOTES) and not isinstance(held, Mapping) else held
        rated = []
        for ours, names in sources.items():
            if ours.partition(".")[0] == "rating":
                rated.append(ours)
            elif names and ours != "rater":
                values = [self.cell(data, name, ours, row) for name in names]
                value = together(ours, names, values) if len(values) > 1 else values[0]
                if ours in ("ratings", "quality") and not isinstance(value, Mapping):
                    rated.append(ours)
                elif value is not None or ours == "response":
                    record[ours] = value
        if self.words and isinstance(ratings := record.get("ratings"), Mapping):
            read = [(key, list(self.numbers(record, key, values, where, "ratings"))) for key, values in ratings.items()]
            record["ratings"] = dict(read)
        for ours in rated:
            self.rate(record, ours, row, plan)
        if sources.get("rater"):
            self.name_raters(record, row, plan)
        if flat:
            fold_columns(record, where)
            if "response" in sources and "messages" not in record:
                record.setdefault("response", "")
        if messages_in(record.get("context"), where) is not None and any(
            plain(name) in columns.TALKS for name in sources.get("context", ())
        ):
            record["messages"] = record.pop("context")
        return record

    def cell(self, data: Mapping[str, Any], name: str, ours: str, row: Row) -> Any:
        """Return what fills a field: a cell that stands for nothing is None, JSON is decoded where it may be."""
        value = data.get(name) if name in data else under(data, name)
        if (
            ours == "response" not in self.mapped
            and plain(name) in columns.BOTS
            and str(value).strip().lower() in _FLAGS
        ):
            remedy = f"Write each reply beside its context; if {name} holds replies: --map response={name}"
            raise DataError("a flag, expected a reply", remedy, where=row.where, field=name)
        if isinstance(value, str):
            if row.flat and value.strip() in EMPTY:
                return "" if ours == "response" else None
            if ours in _OBJECTS:
                return from_cell(value, row.where, name)
            if ours in ("context", "references", "sources", "messages"):
                inner = from_cell(value, row.where, name)
                return inner if is_texts(inner, row.where) or ours == "messages" else value
        elif row.flat and isinstance(value, Mapping):
            return {key: inner for key, inner in value.items() if inner is not None}
        return value

    def rate(self, record: dict[str, Any], ours: str, row: Row, plan: Plan) -> None:
        """Add the ratings of one dimension; a list is several people's.

        Raises:
            ColumnError: a cell is no rating, or names another top of the scale than an earlier one.
        """
        names, dimension = plan.sources[ours], ours.partition(".")[2] or OVERALL
        given: list[tuple[str, float]] = []
        for name in names:
            cell = row.data.get(name) if name in row.data else under(row.data, name)
            cell = from_cell(cell, row.where, name) if isinstance(cell, str) and cell[:1] == "[" else cell
            scale = plan.scales.get(dimension)
            given += [(name, value) for value in self.numbers(record, dimension, cell, row.where, name, scale)]
        if not given:
            return
        scales = record.get("scales") or {}
        if dimension in plan.scales and isinstance(scales, Mapping):
            record["scales"] = {dimension: list(plan.scales[dimension]), **scales}
        if ours == "quality":
            record["quality"] = {dimension: given[0][1]}
            return
        ratings = record.get("ratings") or {}
        record["ratings"] = {
            **(ratings if isinstance(ratings, Mapping) else {OVERALL: ratings}),
            dimension: [value for _, value in given],
        }
        own = record.get("raters") or {}
        if len(names) > 1 and not plan.sources.get("rater") and isinstance(own, Mapping):
            raters = dict(zip(names, plan.raters or names, strict=False))
            known = [
                rater_name(row.data.get(raters[name]), row.where, raters[name]) if plan.raters else name
                for name, _ in given
            ]
            record["raters"] = {**own, dimension: known}

    def numbers(
        self, record: dict[str, Any], dimension: str, cell: Any, where: str, name: str, scale: Any = None
    ) -> Iterator[float]:
        """Yield the ratings of a cell, or of a list; a scale that the cell states goes into the record.

        Raises:
            DataError: the record, or else its column by `scale`, states another.
        """
        for part in cell if isinstance(cell, list) else [cell]:
            if (read := number(part, where, name, self.words, labels=self.labels)) is None:
                continue
            value, top = read
            if top is None:
                self.highest[name] = max(value, self.highest.get(name, value))
            top_here, highest = top or self.tops.get(name), self.highest.get(name, 0)
            if top_here and top_here < highest:
                problem = f"a cell is out of {top_here:g} (yes and no are 1 and 0), another {highest:g}"
                raise ColumnError(problem, "Bring the column to one scale", where=where, field=name)
            if top is not None:
                self.require_one_top(name, value, top, where)
                bottom = self.scale[0] if self.scale else 0 if top == 1 or top > 10 else 1
                if isinstance(scales := record.get("scales") or {}, Mapping):
                    scale = scales.get(dimension) or scale
                    record["scales"] = {dimension: [bottom, int(top)], **scales}
                scale = (record.get("scale") if dimension == OVERALL else None) or scale
                if isinstance(scale, (list, tuple)) and top not in scale[1:]:
                    problem = f"{dimension} is out of {top:g}, but its scale is {list(scale)}"
                    raise DataError(problem, "Bring both to one scale", where=where, field=name)
            yield value

    def require_one_top(self, name: str, value: float, top: float, where: str) -> None:
        """Raise if a column holds both `3/5` and `7/10`, or a rating below the scale that its cell implies."""
        if self.tops.setdefault(name, top) != top or (self.scale and self.scale[1] != top):
            problem = f"out of {top:g} here, out of {self.scale[1] if self.scale else self.tops[name]:g} elsewhere"
            raise ColumnError(problem, "Bring the column to one scale", where=where, field=name)
        if value < 1 and top not in (1, 100) and top <= 10 and not self.scale:
            problem = f"{value:g} out of {top:g}: the scale may begin with 0 or with 1"
            raise ColumnError(problem, f"Say which: --scale 0,{top:g}", where=where, field=name)

    def name_raters(self, record: dict[str, Any], row: Row, plan: Plan) -> None:
        """Give the ratings of a row the name in its column of raters."""
        names = plan.sources["rater"]
        known = [rater_name(row.data.get(name), row.where, name) for name in names]
        ratings = record.get("ratings")
        ratings = ratings if isinstance(ratings, Mapping) else {OVERALL: ratings} if isinstance(ratings, list) else {}
        own = record.get("raters")
        own = own if isinstance(own, Mapping) else {}
        for dimension, values in ratings.items():
            if isinstance(values, list) and dimension not in own and any(known):
                raters = known if len(known) == len(values) > 1 else [known[0]] * len(values)
                own = {**own, dimension: raters}
        if own:
            record["raters"] = own

    def joined(self, found: Iterator[tuple[bool, Example | Pair]]) -> Iterator[Example | Pair]:
        """Yield the rows of several raters of one reply as one; all others as they come, one at a time."""
        first = next(found, None)
        if first is None:
            return
        stream = (line for _, line in chain([first], found))
        if first[0] and self.join:
            file = first[1].where.rpartition(":")[0]
            self.note_once(f"{file}: one rating a line; lines of one id are joined, all held in memory")
            yield from join_raters(stream, self.on_error, self.note_once)
        else:
            yield from stream
