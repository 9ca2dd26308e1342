"""The warnings of scorers, counted, in words."""

from __future__ import annotations

from collections.abc import Mapping


def noted(counts: Mapping[str, Mapping[str, int]], replies: int, whose: str = "") -> list[str]:
    """Return a sentence for each warning, the most frequent first: `12 of 300 replies are noted as "not English"`.

    Args:
        counts: by scorer, the number of replies with each warning.
        replies: number of all replies.
        whose: whose replies they are, such as "of A".
    """
    scorers: dict[tuple[int, str], list[str]] = {}
    for scorer, notes in counts.items():
        for note, count in notes.items():
            scorers.setdefault((count, note), []).append(scorer)
    of = f"{replies:,} replies {whose}".rstrip()
    return [
        f'{count:,} of {of} {"is" if count == 1 else "are"} noted as "{note}" ({", ".join(names)})'
        for (count, note), names in sorted(scorers.items(), key=lambda item: (-item[0][0], item[0][1]))
    ]
