"""Warnings of scores, counted, in words."""

from __future__ import annotations

from collections.abc import Mapping


def noted(counts: Mapping[str, Mapping[str, int]], replies: int, whose: str = "") -> list[str]:
    """Return a sentence for each warning, the most frequent first: `3 of 300 replies have the warning "code" (a)`.

    Args:
        counts: by scorer, the number of replies with each warning.
        replies: the number of all replies.
        whose: words behind the number, such as "of A".
    """
    scorers: dict[tuple[int, str], list[str]] = {}
    for scorer, notes in counts.items():
        for note, count in notes.items():
            scorers.setdefault((count, note), []).append(scorer)
    of = f"{replies:,} replies {whose}".rstrip()
    return [
        f'{count:,} of {of} {"has" if count == 1 else "have"} the warning "{note}" ({", ".join(names)})'
        for (count, note), names in sorted(scorers.items(), key=lambda item: (-item[0][0], item[0][1]))
    ]
