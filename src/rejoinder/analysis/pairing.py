"""Pairing: which replies of two systems answer the same.

Ids alone are not enough: two logs that number their lines from 1 share every id. In a simulation of such logs without a
difference, 39 % of the intervals over pairs of equal numbers excluded zero (`tests/analysis/test_pairing.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from rejoinder.data.shared_ids import refuse_again
from rejoinder.errors import DataError, require_one_of
from rejoinder.example import Example
from rejoinder.report.written import percent
from rejoinder.text.normalize import visible_text

PairBy = Literal["id", "context", "none"]
ENOUGH = 0.8
"""The share of the smaller file's lines that must have a partner, and of pairs that must answer the same turn."""
FEWEST = 3
"""Pairs that a test needs: more lines are not merged into fewer pairs, unless you ask for it."""
Places = Sequence[Sequence[int]]
Key = tuple[str, ...]


class Pairing(NamedTuple):
    """Which lines of A and B belong together, [P] pairs."""

    by: PairBy  # what the lines of a pair share; "none" for two independent samples
    a: Places = ()  # [P] the positions of each pair's lines in A; the mean score of several lines counts
    b: Places = ()
    only_a: int = 0  # lines of A without a partner
    only_b: int = 0
    differing: int = 0  # pairs whose last user turns differ
    why: str = ""  # the reason for independent samples, in words

    @property
    def paired(self) -> bool:
        """Whether there are pairs."""
        return self.by != "none"


def pairing(a: Sequence[Example], b: Sequence[Example], by: PairBy | None = None) -> Pairing:
    """Return the pairs of two systems; without any, they are independent samples.

    By default lines are paired by id if at least 80 % of the smaller file's lines have a partner and at least 80 % of
    the pairs answer the same last user turn (without a context: have the same references). Otherwise they are paired by
    context if at least 80 % of the smaller file's lines have a partner and no context has more lines in one file than
    in the other. Otherwise they are two independent samples. "id" and "context" take the pairs there are, without these
    checks.

    Raises:
        UsageError: `by` is another word.
        DataError: a side is empty; an id occurs twice in a side; there is no pair.
    """
    if by is not None:
        require_one_of("pair_by", by, get_args(PairBy))
    for name, side in (("A", a), ("B", b)):
        if not side:
            raise DataError("no line is left to compare", "Correct the lines that were skipped", where=name)
        _refuse_duplicates(side)
    samples = Pairing("none", only_a=len(a), only_b=len(b), why="as requested")
    if by == "none":
        return samples
    by_id, by_context = _pairs(a, b, "id", _id), _pairs(a, b, "context", _context)
    if by is not None:
        chosen = by_id if by == "id" else by_context
        if not chosen.a:
            files = ", ".join(side[0].where.rpartition(":")[0] for side in (a, b))
            raise DataError(f"the files share no {by}, so there are no pairs", "Use --pair-by none", where=files)
        return chosen
    smaller, least = ("A", len(a)) if len(a) <= len(b) else ("B", len(b))
    ids, contexts = (least - (pairs.only_a if smaller == "A" else pairs.only_b) for pairs in (by_id, by_context))
    enough = ENOUGH * least
    has_ids = ids >= enough and len(by_id.a) >= min(FEWEST, least)
    has_contexts = contexts >= enough and len(by_context.a) >= min(FEWEST, least)
    if has_ids and len(by_id.a) - by_id.differing >= ENOUGH * len(by_id.a):
        return by_id
    if has_contexts and list(map(len, by_context.a)) == list(map(len, by_context.b)):
        return by_context
    why = "the files share neither ids nor contexts"
    if has_ids:
        same = percent(1 - by_id.differing / len(by_id.a))
        why = f"the files share ids, but only {same} of these pairs answer the same last user turn (see --pair-by id)"
    elif has_contexts:
        why = "some contexts have more lines in one file than in the other (see --pair-by context)"
    elif ids or contexts:
        why = f"{ids:,} of the {least:,} lines of {smaller} have a partner by id and {contexts:,} by context"
    return samples._replace(why=why)


def _refuse_duplicates(side: Sequence[Example]) -> None:
    """Raise `DataError` with both places if an id occurs twice, unless for two systems."""
    try:
        refuse_again(side)
    except DataError as error:
        remedy = f"{error.remedy}; where ids name conversations: --map dialogue_id=id"
        raise DataError(error.problem, remedy, where=error.where, field=error.field) from None


def _pairs(a: Sequence[Example], b: Sequence[Example], by: PairBy, key: Callable[[Example], Key | None]) -> Pairing:
    """Return the pairs of lines with the same key."""
    first, second = _places(a, key), _places(b, key)
    shared = [name for name in first if name in second]
    of_a, of_b = ([side[name] for name in shared] for side in (first, second))
    turns = [(_prompt(a[first[0]]), _prompt(b[second[0]])) for first, second in zip(of_a, of_b, strict=True)]
    differing = sum(first != second or not first for first, second in turns)
    only_a, only_b = len(a) - sum(map(len, of_a)), len(b) - sum(map(len, of_b))
    return Pairing(by, of_a, of_b, only_a, only_b, differing)


def _places(side: Sequence[Example], key: Callable[[Example], Key | None]) -> dict[Key, list[int]]:
    """Return the positions of the lines with each key."""
    places: dict[Key, list[int]] = {}
    for place, example in enumerate(side):
        if (name := key(example)) is not None:
            places.setdefault(name, []).append(place)
    return places


def _id(example: Example) -> Key | None:
    """Return the id in the data; the reader's name for a line without one is its place."""
    return (example.dataset or "", example.id) if example.id and example.id != example.where else None


def _context(example: Example) -> Key | None:
    """Return what tells the context from others."""
    if example.context_id is not None:
        return (example.dataset or "", "id", example.context_id)
    turns = tuple(map(_seen, example.context))
    return ("turns", *turns) if any(turns) else None


def _prompt(example: Example) -> Key:
    """Return the last turn, or the references if there is no context."""
    last = _seen(example.context[-1]) if example.context else ""
    return (last,) if last else tuple(filter(None, map(_seen, example.references)))


@lru_cache(maxsize=1 << 14)
def _seen(text: str) -> str:
    """Return a turn as a reader sees it: two files may differ in accents, blanks and markup."""
    return visible_text(text)
