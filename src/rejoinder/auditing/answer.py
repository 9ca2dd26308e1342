"""What an audit comes to, in words."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.auditing.attack import BAD, GOOD, SAME, Goal
from rejoinder.auditing.card import Audit
from rejoinder.auditing.results import FEWEST, UNTOLD, Result, Verdict
from rejoinder.judges.notes import NOT_ENGLISH
from rejoinder.scoring.domain import advice, without_domain
from rejoinder.meta.verdict import LEVEL, TURN_RATINGS
from rejoinder.scoring.noted import noted
from rejoinder.stats.figure import number, percent, pluralize

_NAMED = 4
_AGAINST = -0.3  # a correlation that judges have with ratings turned round, and length with hardly any
_SAID: dict[Goal, str] = {
    BAD: "Bad replies that score as good ones",
    GOOD: "Good replies that lose score",
    SAME: "Changes of nothing that move the score",
}


def answer(found: Audit) -> tuple[str, ...]:
    """The sentences, the first of which is enough for those in a hurry."""
    facts = [*filter(None, [found.facts])]
    if found.out_of_domain:
        return (advice(found.out_of_domain), *facts, *_caveats(found))
    fooled, holds, untold = (_of(found, verdict) for verdict in ("fooled", "holds", UNTOLD))
    few = sum(one.n < FEWEST for one in untold)
    why = f", and {few} {'attack' if few == 1 else 'attacks'} found fewer than {FEWEST}" if few else ""
    return (
        f"{found.scorer} is fooled by {len(fooled)} of {pluralize(len(found.results), 'attack')} and holds against "
        f"{len(holds)}; "
        f"{len(untold)} cannot be told.",
        *facts,
        f"That is on {replies_to(found.examples, found.contexts)}, of which up to "
        f"{percent(found.allowed)} may fool a scorer that holds{why}.",
        *(said for goal in _SAID if (said := _goal(goal, found))),
        *_bias(found),
        *_caveats(found),
    )


def replies_to(replies: int, contexts: int) -> str:
    """So many replies to so many contexts, in words."""
    return f"{pluralize(replies, 'reply', 'replies')} to {pluralize(contexts, 'context')}"


def _goal(goal: Goal, found: Audit) -> str:
    """What the attacks of one goal did; "" where there are none."""
    of_goal = [one for one in found.results if one.goal == goal]
    if not of_goal:
        return ""
    fooled = sorted((one for one in of_goal if one.verdict == "fooled"), key=lambda one: -one.value)
    holds = [one.family for one in of_goal if one.verdict == "holds"]
    told = f"{_SAID[goal]}: {len(fooled)} of {len(of_goal)}"
    if fooled:
        told += f", above all {_named([f'{one.family} ({percent(one.value)})' for one in fooled])}"
    return f"{told}; it holds against {_named(holds)}." if holds else f"{told}."


def _bias(found: Audit) -> list[str]:
    """What the score goes with that people did not reward, the strongest first."""
    shown = sorted((one for one in found.biases if one.excludes()), key=lambda one: -abs(one.value))
    if not shown:
        return []
    said = [
        f"{one.property} ({number(one.value, 2)}; {number(one.points.value, 2)} points for {one.step})" for one in shown
    ]
    looked_at = sum(one.known for one in found.biases)
    return [f"Where people rated alike, its score still goes with {_named(said)}, of {looked_at} properties looked at."]


def _caveats(found: Audit) -> list[str]:
    """What takes something away from the rest."""
    said = []
    if not found.rated:
        taken = "the first reference where there are several, else the reply" if found.human else "each reply"
        said.append(f"Nobody rated these replies, so {taken} is taken to be good; rated replies tell more.")
    if unknown := found.rated - found.scaled:
        said.append(
            f"{pluralize(unknown, 'rating')} came without a scale, so replies from the median of their data set on are "
            "taken to be good, however low that is; --scale says it."
        )
    related = found.breadth.pearson
    if found.directed and related.known and related.value < _AGAINST and related.p < LEVEL:
        said.append(
            f"The ratings run against {found.scorer} (Pearson {number(related.value, 2)}). {TURN_RATINGS}. As it is, "
            "bad replies are taken to be good then."
        )
    if not found.directed:
        said.append(f"{found.scorer} claims no direction; higher is taken as better.")
    if found.fitted:
        sets = ", ".join(found.fitted)
        said.append(f"{found.scorer} was fitted on lines of {sets}, these or others; on other data it may fare worse.")
    if found.spread == 0:
        said.append(f"{found.scorer} gives every reply the same score, so it tells nothing from anything.")
    if found.left_out:
        said.append(f"Left out, for want of what they need: {', '.join(found.left_out)}.")
    notes = without_domain({found.scorer: found.noted}, [found.scorer] if found.out_of_domain else [])
    said += [f"{line}." for line in noted(notes, found.examples)]
    if 2 * found.noted.get(NOT_ENGLISH, 0) > found.examples:
        said.append("The attacks are English (sentences, synonyms, stop words): in another language they tell little.")
    return said


def _of(found: Audit, verdict: Verdict) -> list[Result]:
    """The results with a verdict."""
    return [one for one in found.results if one.verdict == verdict]


def _named(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
