"""Rated examples as the arrays that the experiments work on.

Shapes: N lines.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rejoinder.data.rated_lines import UNNAMED, refuse_duplicates
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.crossval import MIN_CONTEXTS
from rejoinder.judges.protocol import Rows
from rejoinder.judges.rated import conversations, normalised_ratings
from rejoinder.scorer import FloatArray, Need

# What the data sets call people, without spaces and signs.
_PEOPLE = ("human", "humans", "groundtruth", "originalgroundtruth", "newhumangenerated")


@dataclass(frozen=True)
class DataSet:
    """One data set of an experiment.

    Attributes:
        name: its name.
        given: lines that were given.
        used: lines that the experiment can use.
        contexts: conversations among those used.
        digest: twelve hexadecimal digits that tell its used lines from others.
    """

    name: str
    given: int
    used: int
    contexts: int
    digest: str


@dataclass(frozen=True)
class Material:
    """N rated lines that an experiment can use.

    Attributes:
        examples: the lines.
        ratings: [N] mean overall ratings, brought from their scale to 1 to 5.
        contexts: [N] number of the conversation, from 0 to G - 1 (see `conversations`).
        datasets: [N] names of the sets.
        systems: [N] who responded, one name each (see `speakers`); "" where it is not known.
        copies: [N] whether the response equals a reference word for word.
        sets: what was given and used, by data set.
        left_out: why lines were not used, counted.
    """

    examples: Sequence[Example]
    ratings: FloatArray
    contexts: Rows
    datasets: NDArray[np.str_]
    systems: NDArray[np.str_]
    copies: NDArray[np.bool_]
    sets: Sequence[DataSet]
    left_out: Mapping[str, int]

    @property
    def own(self) -> Rows:
        """The lines whose response is no copy of a reference, ascending."""
        return np.flatnonzero(~self.copies)


def collect(examples: Sequence[Example], needs: Sequence[Need]) -> Material:
    """The lines of `examples` that are rated, single responses, and have what `needs` asks for.

    Raises:
        DataError: fewer than 30 conversations are left; all ratings are equal; a rated line has no scale; an id is
            given twice.
    """
    refuse_duplicates(examples)
    why = [_unusable(example, needs) for example in examples]
    kept = [example for example, reason in zip(examples, why, strict=True) if not reason]
    left_out = Counter(reason for reason in why if reason)
    contexts = conversations(kept)
    if (found := len(set(contexts.tolist()))) < MIN_CONTEXTS:
        reasons = ", ".join(f"{count} lines: {reason}" for reason, count in left_out.most_common()) or "none left out"
        remedy = f"Give rated lines with {' and '.join(needs)}"
        raise DataError(f"{found} conversations to use, expected {MIN_CONTEXTS} or more ({reasons})", remedy)
    ratings = normalised_ratings(kept)
    if len(set(ratings.tolist())) == 1:
        raise DataError("all ratings are equal", "Give ratings that differ")
    datasets = np.array([example.dataset or UNNAMED for example in kept])
    return Material(
        examples=kept,
        ratings=ratings,
        contexts=contexts,
        datasets=datasets,
        systems=speakers([example.system or "" for example in kept]),
        copies=np.array([example.copies_reference for example in kept]),
        sets=_sets(examples, kept, contexts),
        left_out=dict(left_out.most_common()),
    )


def speakers(names: Sequence[str]) -> NDArray[np.str_]:
    """[N] who responded, one name each in small letters, whatever a data set calls them.

    Names that differ in case, spaces and signs alone are one (`KV-MemNN`, `kvmemnn`), in the spelling that comes first;
    people are `human`, whether they wrote the reply that the dialogue had or a new one.
    """
    known: dict[str, str] = dict.fromkeys(_PEOPLE, "human")
    small = [name.casefold() for name in names]
    return np.array([known.setdefault(re.sub(r"[\W_]+", "", name) or name, name) for name in small], dtype=np.str_)


def _unusable(example: Example, needs: Sequence[Need]) -> str:
    """Why an experiment cannot use a line, or ""."""
    if example.rating() is None:
        return "not rated"
    if example.extra.get("level", "turn") != "turn":
        return "a rating of a whole dialogue"
    present = {"context": example.context, "reference": example.references}
    return next((f"no {need}" for need in needs if not any(map(str.strip, present[need]))), "")


def _sets(examples: Sequence[Example], kept: Sequence[Example], contexts: Rows) -> list[DataSet]:
    """What was given and used of each data set, in order of appearance."""
    given = Counter(example.dataset or UNNAMED for example in examples)
    rows: dict[str, list[int]] = {name: [] for name in given}
    for row, example in enumerate(kept):
        rows[example.dataset or UNNAMED].append(row)
    return [
        DataSet(name, given[name], len(mine), len(set(contexts[mine].tolist())), _digest([kept[row] for row in mine]))
        for name, mine in rows.items()
    ]


def _digest(examples: Sequence[Example]) -> str:
    """Twelve hexadecimal digits that tell these lines from others: SHA-256 over all that an experiment reads."""
    total = hashlib.sha256()
    for example in examples:
        read = (example.id, example.context_key, example.context, example.response, example.references, example.system)
        total.update(repr((*read, example.rating(), example.scale())).encode())
    return total.hexdigest()[:12]


class LeftOut(NamedTuple):
    """A label, the ascending positions of all items with another label, and of those with this label."""

    label: str
    rest: Rows
    left: Rows


def leave_one_out(labels: ArrayLike) -> Iterator[LeftOut]:
    """Yield each of `labels` [N] once, in sorted order; items with the empty label are in every `rest`.

    Source: Lowe et al. 2017, section 5.4 (leave one system out); Deriu and Cieliebak 2019, section 3 (system split).
    """
    named = np.asarray(labels, dtype=np.str_)
    for label in np.unique(named[named != ""]):
        yield LeftOut(str(label), np.flatnonzero(named != label), np.flatnonzero(named == label))
