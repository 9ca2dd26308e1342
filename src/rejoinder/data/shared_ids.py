"""Ids in several files: of the replies of several systems, which are several lines, or of a repeated line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from rejoinder.data.rated_lines import LEAVE_IDS_OUT, UNNAMED, given_twice
from rejoinder.errors import DataError
from rejoinder.example import Example

_Id = tuple[str | None, str]


@dataclass
class Shared:
    """The ids that two files both give.

    Attributes:
        files: the two.
        others: how many of the second's lines are other replies, or those of another system by name.
        unnamed: how many of these do not say which system it is.
        same: its lines with the same reply, each behind the line that has it in the first.
    """

    files: tuple[str, str]
    others: int = 0
    unnamed: int = 0
    same: list[tuple[Example, Example]] = field(default_factory=list)

    def __str__(self) -> str:
        """The note on how they were read."""
        ids = self.others + len(self.same)
        told = f"{' and '.join(self.files)} share {ids} id{'s' if ids > 1 else ''}, taken as the replies of two systems"
        told += ": each is a line of its own"
        if self.same:
            told += f", {len(self.same)} of them said by both (first that of id {self.same[0][1].id!r})"
        return told + ('; a column "system" would have the systems compared' if self.unnamed else "")


def refuse_copies(lines: Sequence[Example]) -> None:
    """Raise if a line is repeated, so that it would count twice.

    In one file an id belongs to one line of each named system. In two files it belongs to two lines if these have the
    replies of two systems: if the reply or the named system differs for most of the shared ids.

    Raises:
        DataError: a file repeats an id; two files have it with different replies of one named system; or half of the
            ids that two files share have the same reply in both.
    """
    _shared(lines)


def shared_ids_said(lines: Sequence[Example]) -> str:
    """Return the note on lines whose ids are in several files, in a sentence, or "".

    Raises:
        DataError: see `refuse_copies`.
    """
    return ". ".join(map(str, _shared(lines)))


def _shared(lines: Sequence[Example]) -> list[Shared]:
    """Return the ids that each two files share, in order of appearance; raises as `refuse_copies` does."""
    named = [(line.dataset, line.id) for line in lines if line.id]
    if len(set(named)) == len(named):
        return []
    refuse_again(lines, _file)
    if len(set(map(_file, lines))) < 2:
        return []
    found: dict[tuple[str, str], Shared] = {}
    for first, line, same in _met_again(lines):
        files = (_file(first), _file(line))
        shared = found.setdefault(files, Shared(files))
        if same:
            shared.same.append((first, line))
        else:
            shared.others += 1
            shared.unnamed += line.system is None
    for shared in found.values():
        if len(shared.same) >= max(shared.others, 1):
            raise _copied(shared.same)
    return [shared for shared in found.values() if shared.others]


def refuse_again(lines: Sequence[Example], of: Callable[[Example], str] = lambda _line: "") -> None:
    """Raise `DataError` if an id is repeated, unless each time for another named system.

    Args:
        lines: the lines.
        of: within what an id belongs to one line of each system: the file, or anywhere.
    """
    seen: defaultdict[tuple[_Id, str], dict[str | None, int]] = defaultdict(dict)
    for place, line in enumerate(lines):
        if line.id:
            systems = seen[(line.dataset, line.id), of(line)]
            if systems and (line.system is None or None in systems or line.system in systems):
                raise given_twice(lines, systems.get(line.system, next(iter(systems.values()))), place)
            systems[line.system] = place


def _met_again(lines: Sequence[Example]) -> Iterator[tuple[Example, Example, bool]]:
    """Yield each line whose id is in an earlier file, after the line there, and whether that is the same reply."""
    first: dict[_Id, Example] = {}
    replies: defaultdict[tuple[_Id, str], dict[str | None, Example]] = defaultdict(dict)
    of_system: dict[tuple[_Id, str | None], Example] = {}
    for line in lines:
        if not line.id:
            continue
        key = (line.dataset, line.id)
        systems = replies[key, " ".join(line.response.split())]
        same = _of_system(systems, line)
        if same is not None:
            yield same, line, True
        elif _file(first.setdefault(key, line)) != _file(line):
            _refuse_other_reply(of_system.get((key, line.system)), line)
            _refuse_label(first[key], line)
            yield first[key], line, False
        of_system.setdefault((key, line.system), line)
        systems.setdefault(line.system, line)


def _of_system(systems: dict[str | None, Example], line: Example) -> Example | None:
    """Return the line with the same reply that may be of its system, which either may leave open."""
    if line.system is None:
        return next(iter(systems.values()), None)
    return systems.get(line.system, systems.get(None))


def _refuse_other_reply(first: Example | None, line: Example) -> None:
    """Raise if a named system has another reply than on an earlier line with this id."""
    if first is not None and line.system is not None:
        raise DataError(
            f"id {line.id!r} was already given at {first.where}, with another reply of the same system {line.system!r}",
            f"Give one of the files; name two systems in a column system; {LEAVE_IDS_OUT}",
            where=line.where,
            field="id",
        )


def _refuse_label(first: Example, line: Example) -> None:
    """Raise if a line is a label, without texts, of an earlier line."""
    if first.response and not (line.response or line.context):
        problem = f"id {line.id!r} has no reply here, and is the id of a reply at {first.where}"
        raise DataError(problem, f"If these are labels: --rated {_file(line)}", where=line.where, field="response")


def _copied(same: Sequence[tuple[Example, Example]]) -> DataError:
    """Return the error for lines that are in two files."""
    first, again = same[0]
    rated_anew = any((one.ratings, one.quality) != (other.ratings, other.quality) for one, other in same)
    joined = "put the rows of two raters into one file with a column rater; " if rated_anew else ""
    return DataError(
        f"id {again.id!r} of data set {again.dataset or UNNAMED!r} was already given at {first.where}, with this reply",
        f"Give each file once; {joined}name two systems in a column system; {LEAVE_IDS_OUT}",
        where=again.where,
        field="id",
    )


def _file(line: Example) -> str:
    """Return the file that a line was read from."""
    return line.where.rpartition(":")[0]
