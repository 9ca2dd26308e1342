"""Whether replies are good enough, in words."""

from __future__ import annotations

from textwrap import shorten

from rejoinder.scoring.domain import advice, without_domain
from rejoinder.meta.quality import Quality
from rejoinder.scoring.noted import noted
from rejoinder.stats.figure import interval, pluralize

_TURNS = 3  # of a context that are shown: the last
_LONGEST = 160  # characters of a text
_SAID = {
    "passes": "the replies are good enough",
    "fails": "the replies are not good enough",
    "cannot tell": "cannot tell whether the replies are good enough",
}


def answer(found: Quality) -> str:
    """The verdict with what it rests on, and the worst reply: the first line says it all."""
    if found.outside:
        notes = without_domain({found.scorer: found.notes}, [found.scorer])
        why = noted(notes, found.replies)
        return "\n  ".join([*filter(None, [advice(found.outside), found.facts]), *why])
    lines = [f"{_SAID[found.verdict]}: {_measured(found)}, asked for: {found.at_least:g}"]
    if found.facts:
        lines.append(found.facts)
    if found.reason:
        lines.append(found.reason)
    elif found.verdict == "cannot tell":
        lines.append("the interval holds what was asked for: it takes more replies, or less that is asked for")
    if found.empty and found.replies > 1:
        lines.append(f"empty, which counts as the worst reply: {found.empty:,} of {found.replies:,}")
    if found.replies > 1:
        lines += noted({found.scorer: found.notes}, found.replies)
    return "\n  ".join([*lines, *_lowest(found)])


def _measured(found: Quality) -> str:
    """The score and what it is of."""
    if not found.known:
        return f"no score by {found.scorer}"
    if found.replies == 1:
        return f"score {interval(found, 2)} by {found.scorer}"
    of = f"{pluralize(found.n, 'reply', 'replies')} to {pluralize(found.contexts, 'context')}"
    return f"mean score {interval(found, 2)} by {found.scorer} of {of}"


def _lowest(found: Quality) -> list[str]:
    """The worst reply in its context."""
    one = found.lowest
    if one is None:
        return []
    example, name = one.example, one.example.where or one.example.id
    shown = [f"the lowest of them, {interval(one, 2)}, is {name}" if found.replies > 1 else "the reply"]
    shown += [f"  after: {_short(turn)}" for turn in example.context[-_TURNS:]]
    shown.append(f"  reply: {_short(example.response) or '(empty)'}")
    if one.why:
        shown.append(f"  moved by: {one.why}")
    if one.notes:
        shown.append(f"  noted: {', '.join(one.notes)}")
    return shown


def _short(text: str) -> str:
    """A text on one line, cut."""
    return shorten(text, _LONGEST, placeholder=" ...")
