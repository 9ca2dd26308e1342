"""The word for a good reply that `--positive` names, in columns of labels and of verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from rejoinder.data.columns import is_rating, plain
from rejoinder.data.files import Row
from rejoinder.data.values import UNRATED, folded
from rejoinder.errors import UsageError

Sources = Iterable[tuple[str, Iterable[Row]]]
_SHOWN, _LONGEST = 8, 40  # words in a message, characters of a word


def with_positive(sources: Sources, word: str, named: Collection[str]) -> list[tuple[str, list[Row]]]:
    """Return files with `pass` for a word and `fail` for every other one, in each column that has the word.

    Args:
        sources: names of files, each with its rows.
        word: the word for a good reply.
        named: columns that hold labels or verdicts, by dotted name; those with the name of a rating are known.

    Raises:
        UsageError: no such column has the word.
    """
    held = [(name, list(rows)) for name, rows in sources]
    words: dict[str, set[str]] = {}

    def note(column: str, text: str) -> str:
        words.setdefault(column, set()).add(folded(text))
        return text

    for _, rows in held:
        for row in rows:
            _mapped(row.data, "", named, note)
    chosen = {column for column, of_column in words.items() if folded(word) in of_column}
    if not chosen:
        every = sorted(text for text in set().union(*words.values()) if len(text) <= _LONGEST)
        more = f" and {len(every) - _SHOWN:,} more" if len(every) > _SHOWN else ""
        there = (
            f"Name one of {', '.join(every[:_SHOWN])}{more}" if every else "No column of labels or verdicts has a word"
        )
        raise UsageError(f"--positive {word}: the word does not occur. {there}")

    def marked(column: str, text: str) -> str:
        return text if column not in chosen else "pass" if folded(text) == folded(word) else "fail"

    return [(name, [row._replace(data=_mapped(row.data, "", named, marked)) for row in rows]) for name, rows in held]


def _mapped(value: Any, column: str, named: Collection[str], change: Callable[[str, str], str]) -> Any:
    """Return a value with `change(column, text)` for each text in a column of labels or verdicts."""
    if isinstance(value, str) and value.lstrip()[:1] == "{" and any(name.startswith(f"{column}.") for name in named):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, Mapping):
        return {key: _mapped(inner, f"{column}.{key}".lstrip("."), named, change) for key, inner in value.items()}
    if isinstance(value, list) and column:
        return [_mapped(inner, column, named, change) for inner in value]
    is_label = column in named or ("." not in column and is_rating(plain(column)))
    return change(column, value) if is_label and isinstance(value, str) and value.strip() not in UNRATED else value
