"""A comparison in words: which system is better, by how much, how sure that is, and what it rests on.

The first sentence is the answer. It names a better system only where the difference is significant and the scorer can
judge the replies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rejoinder.meta.comparison import Comparison, Contrast
from rejoinder.meta.conversations import users_said
from rejoinder.scoring.domain import advice, without_domain
from rejoinder.meta.gap import Gap, Stratum
from rejoinder.meta.verdict import LEVEL
from rejoinder.scoring.noted import noted
from rejoinder.stats.figure import interval, rounded

_SINGLE = 3  # scorers that have a sentence each


def answer(found: Comparison) -> tuple[str, ...]:
    """The sentences."""
    several = [_over_all(found)] if found.judged and len(found.contrasts) > 1 else []
    outside = [advice(reason) for reason in found.out_of_domain.values()]
    single = [_by_scorer(one, found) for one in found.judged] if len(found.contrasts) <= _SINGLE else []
    strata = dict.fromkeys(said for one in found.judged[:_SINGLE] for said in _by_stratum(one, found))
    head, *more = [*several, *outside, *single]
    return (
        head,
        *filter(None, [found.facts]),
        *more,
        *strata,
        *_empty(found),
        *_unscored(found),
        *_noted(found),
        _design(found),
        *_users(found),
    )


def verdict(one: Gap, unit: str = "pairs") -> str:
    """The verdict in a few words, and where there is none, what would bring one."""
    if one.verdict != "not separable":
        return one.verdict
    if one.reason:
        return f"not separable: {one.reason}"
    if one.p_adjusted < LEVEL:
        return "not separable: the interval reaches over 0"
    if one.p < LEVEL:
        return "not separable as one of several (Holm)"
    if one.value == 0:
        return "not separable: no difference at all"
    if one.more is None:
        return f"not separable; no number of {unit} can be forecast"
    return f"not separable; about {rounded(one.more):,} more {unit} would tell"


def units(found: Comparison) -> str:
    """What is counted."""
    return "pairs" if found.design == "paired" else "replies"


def _over_all(found: Comparison) -> str:
    """How many scorers say what."""
    contrasts = found.contrasts
    groups = {
        said: [one.scorer for one in contrasts if one.verdict in verdicts]
        for said, verdicts in (
            ("B is better", ("B is better",)),
            ("A is better", ("A is better",)),
            ("there is a difference, of which they claim no direction", ("A is higher", "B is higher")),
            ("no difference is shown", ("not separable",)),
            ("there is no verdict (out of domain)", ("out of domain",)),
        )
    }
    parts = [f"by {_listed(names)} {said}" for said, names in groups.items() if names]
    text = "; ".join(parts)
    if any(one.left_out for one in found.judged):
        text += f", for those values of {found.by} that are not left out"
    if not all(one.of_whole for one in found.judged):
        text += _if_none_was_due(found)
    return f"{text[0].upper()}{text[1:]}."


def _by_scorer(one: Contrast, found: Comparison) -> str:
    """What one scorer says of the two."""
    if not one.known:
        return f"{one.scorer} cannot compare A and B: {one.reason}."
    said = f"mean {one.mean_a:.3f} of A, {one.mean_b:.3f} of B, B less A {interval(one, ends=3, signed=True)}"
    if one.win.known:
        what = "is higher than" if one.higher_is_better is None else "beats"
        other, share = "its partner" if found.pairs else "one", interval(one.win, share=True)
        said += f"; a reply of B {what} {other} of A {share} of the time"
    whole = found.pairs and one.contexts == one.n
    counted = f"{one.n:,} {units(found)}" + ("" if whole else f" of {one.contexts:,} conversations")
    where = _where(one, found) + ("" if one.of_whole else _if_none_was_due(found))
    if one.verdict == "not separable":
        rest = verdict(one, units(found)).removeprefix("not separable").lstrip(":; ")
        return f"No difference between A and B is shown by {one.scorer}{where}: {said} ({counted}); {rest}."
    return f"{_headline(one)} by {one.scorer}{where}: {said} ({counted})."


def _if_none_was_due(found: Comparison) -> str:
    """What holds only if the user's last words wanted no answer, where these end the chats of one side more often."""
    ended = found.compared.ended
    return f", if the user's last words wanted no answer (they end {ended})" if ended else ""


def _where(one: Contrast, found: Comparison) -> str:
    """For how many values of the field that holds, where some are left out."""
    left = len(one.left_out)
    kept = max(len(one.strata), 1)
    return f" for {kept:,} of {kept + left:,} values of {found.by}" if left else ""


def _headline(one: Gap) -> str:
    """Which is ahead, in words."""
    first, what = one.verdict.split(" is ")
    return f"{first} is {what} than {'A' if first == 'B' else 'B'}"


def _by_stratum(one: Contrast, found: Comparison) -> list[str]:
    """Where in the field B is better, and where worse."""
    if found.by is None:
        return []
    whose = f" ({one.scorer})" if len(found.contrasts) > 1 else ""
    lower, higher, other, outside = (
        [stratum for stratum in one.strata if stratum.verdict in verdicts]
        for verdicts in (
            ("A is better", "A is higher"),
            ("B is better", "B is higher"),
            ("not separable",),
            ("out of domain",),
        )
    )
    down, up = ("lower", "higher") if one.higher_is_better is None else ("worse", "better")
    parts = [f"B is {down} for {_names(lower)}"] if lower else []
    parts += [f"B is {up} for {_names(higher)}"] if higher else []
    if other:
        parts.append(f"no difference is shown for {'the other' if parts else 'any of'} {len(other):,}")
    if outside and one.verdict != "out of domain":
        parts.append(f"no verdict for {', '.join(stratum.name for stratum in outside)} (out of domain)")
    said = [f"By {found.by}{whose}: {'; '.join(parts)}."] if parts else []
    return [*said, *_left_out(one, found.by)]


def _left_out(one: Contrast, by: str) -> list[str]:
    """The values of the field that are not compared."""
    if not one.left_out:
        return []
    shown = ", ".join(one.left_out[:5]) + (", ..." if len(one.left_out) > 5 else "")
    what = f"{len(one.left_out):,} values" if len(one.left_out) > 1 else "a value"
    return [f"Left out: {what} of {by} with under five conversations on a side ({shown})."]


def _names(strata: Sequence[Stratum]) -> str:
    """Strata with their differences, the largest first."""
    ordered = sorted(strata, key=lambda one: -abs(one.value))
    return ", ".join(f"{one.name} ({one.value:+.3f})" for one in ordered)


def _empty(found: Comparison) -> list[str]:
    """How many replies are empty, and what they count as."""
    if not any(found.empty):
        return []
    shares = " and ".join(
        f"{empty:,} of {replies:,} of {side}"
        for side, empty, replies in zip("AB", found.empty, found.replies, strict=True)
    )
    worst = ", ".join(f"{one.worst:.3f} by {one.scorer}" for one in found.judged if not math.isnan(one.worst))
    said = f"Empty replies: {shares}" + (f"; each counts as the worst reply ({worst})." if worst else ".")
    whose = "pairs with one" if found.pairs else "of them"
    spared = [
        f"{one.spared:,} {whose} are left out by {one.scorer}, to weigh no more than the others: not all have a score."
        for one in found.contrasts
        if one.spared
    ]
    return [said, *spared]


def _unscored(found: Comparison) -> list[str]:
    """How much could not be compared."""
    scorers: dict[tuple[int, int], list[str]] = {}
    left_out = any(one.left_out for one in found.contrasts)
    why = f", those of left-out values of {found.by} included" if left_out else ""
    for one in found.contrasts:
        scorers.setdefault((one.unscored, one.unscored + one.n), []).append(one.scorer)
    return [
        f"{count:,} of {whole:,} {units(found)} could not be compared by {_listed(names)}{why}."
        for (count, whole), names in scorers.items()
        if count
    ]


def _noted(found: Comparison) -> list[str]:
    """What the scorers cannot judge, counted for each side."""
    sides = [
        without_domain({name: both[side] for name, both in found.notes.items()}, found.out_of_domain) for side in (0, 1)
    ]
    return [
        f"{line}."
        for side, counts, replies in zip("AB", sides, found.replies, strict=True)
        for line in noted(counts, replies, f"of {side}")
    ]


def _design(found: Comparison) -> str:
    """What was compared with what, and why."""
    if found.design == "unpaired":
        return f"Compared as two independent samples, conversations as wholes: {found.why}."
    alone = f"; without a partner: {found.only_a:,} of A, {found.only_b:,} of B" if found.only_a + found.only_b else ""
    return f"Compared in {found.pairs:,} pairs by {found.aligned}: {found.why}{alone}."


def _users(found: Comparison) -> list[str]:
    """That users have several conversations each, where the lines name users."""
    said = "" if found.pairs else users_said((found.compared.a, found.compared.b))
    return [f"{said}."] if said else []


def _listed(names: Sequence[str]) -> str:
    """Names, or how many there are with the first few."""
    return ", ".join(names) if len(names) <= 4 else f"{len(names)} scorers ({', '.join(names[:3])}, ...)"
