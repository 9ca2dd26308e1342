"""Sentences about counted warnings."""

from __future__ import annotations

from collections.abc import Mapping


def noted(counts: Mapping[str, Mapping[str, int]], replies: int, whose: str = "") -> list[str]:
    """Return a sentence for each warning, the most frequent first: `3 of 9 replies have the warning "code" (bleu-4)`.

    Args:
        counts: by scorer, the number of replies with each warning.
        replies: the number of all replies.
        whose: words after that number, such as "of A".
    """
    scorers: dict[tuple[int, str], list[str]] = {}
    for scorer, warnings in counts.items():
        for warning, count in warnings.items():
            scorers.setdefault((count, warning), []).append(scorer)
    of = f"{replies:,} replies {whose}".rstrip()
    return [
        f'{count:,} of {of} {"has" if count == 1 else "have"} the warning "{warning}" ({", ".join(names)})'
        for (count, warning), names in sorted(scorers.items(), key=lambda item: (-item[0][0], item[0][1]))
    ]
