"""What people would say of systems, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rejoinder.data.scales import in_words
from rejoinder.meta.estimates import Estimate, Estimates
from rejoinder.meta.verdict import FEWEST_OWN, SCORES_FOR_RATINGS
from rejoinder.stats.figure import interval, p_value, pluralize, rounded
from rejoinder.stats.prediction_powered import FREEDOM_TO_TUNE

_LISTED = 5


def answer(found: Estimates) -> tuple[str, ...]:
    """The answer as sentences, the main thing first."""
    return (_first(found), *_own(found), *_apart(found), *_worth(found), *_plans(found), *_warnings(found))


def _first(found: Estimates) -> str:
    """The mean of the one system, or of the highest and the lowest."""
    known = [one for one in found.systems if one.known]
    scale = "" if found.scale is None else f" ({in_words(found.scale)})"
    if len(known) == 1:
        (one,) = known
        of = "these replies" if len(found.systems) == 1 else one.system
        alone = f"; by the ratings alone {interval(one.alone, 2)}" if one.power else ""
        return f"People would rate {of} {interval(one, 2)} on average{scale}{alone}."
    high, low = known[0], known[-1]
    apart = [one for one in found.differences if {one.system, one.minus} == {high.system, low.system}]
    if apart and not any(one.verdict for one in apart):
        return (
            f"Not shown to differ: {high.system}, by estimate the highest, {interval(high, 2)} on average{scale}, and "
            f"{low.system}, the lowest, {interval(low, 2)}."
        )
    return (
        f"People would rate {high.system} highest, {interval(high, 2)} on average{scale}, and {low.system} lowest, "
        f"{interval(low, 2)}."
    )


def _own(found: Estimates) -> list[str]:
    """That ratings are the scorer's own scores."""
    if found.own < FEWEST_OWN:
        return []
    return [f"{pluralize(found.own, 'rating')} are what {found.scorer} said, to the last digit. {SCORES_FOR_RATINGS}."]


def _apart(found: Estimates) -> list[str]:
    """Which systems are shown to differ."""
    if not found.differences:
        return []
    if len(found.differences) == 1:
        (one,) = found.differences
        by = f"{interval(one, 2, signed=True)}, p {p_value(one.p)}"
        if one.verdict:
            return [f"{one.system} is shown to be {one.verdict} than {one.minus}: {by}."]
        return [f"Which of the two is better is not shown: {one.system} less {one.minus} {by}."]
    top = found.systems[0].system
    against = [one for one in found.differences if one.system == top]
    shown = [one.minus for one in against if one.verdict == "higher"]
    if len(shown) == len(against):
        return [f"{top} is shown to be higher than every other."]
    rest = [one.minus for one in against if one.verdict != "higher"]
    over = f"It is shown to be higher than {_names(shown)}, and" if shown else "It is"
    return [f"{over} not shown to be higher than {_names(rest)}."]


def _worth(found: Estimates) -> list[str]:
    """What the estimate rests on, and what the scorer was worth."""
    basis = f"That rests on {pluralize(found.ratings, 'rating')} of {pluralize(found.lines, 'line')}"
    known = [one for one in found.systems if not math.isnan(one.worth)]
    had, alone = sum(one.n for one in known), sum(one.worth for one in known)
    if found.ratings == found.lines:
        return [f"{basis}, which leaves nothing for {found.scorer} to tell."]
    if any(one.power for one in known) and alone > had:
        return [
            f"{basis} and on what {found.scorer} says of all, which was worth {rounded(round(alone - had)):,} ratings: "
            f"by ratings alone it would take {rounded(round(alone)):,} in place of {had:,} to know as much."
        ]
    few = bool(known) and not any(one.power for one in known) and all(one.n < FREEDOM_TO_TUNE for one in known)
    why = "they are too few to tell what it is worth" if few else "on these lines it hardly agrees with people"
    return [f"{basis}; {found.scorer} was worth no rating here: {why}."]


def _plans(found: Estimates) -> list[str]:
    """How many ratings would do."""
    planned = [one for one in found.systems if one.plan is not None and one.known]
    return [_plan(one, several=len(found.systems) > 1) for one in planned[:_LISTED]]


def _plan(one: Estimate, *, several: bool) -> str:
    """How many ratings of a system would do."""
    assert one.plan is not None  # noqa: S101 - for the type checker: so they were chosen
    plan = one.plan
    of = f" of {one.system}" if several else ""
    start = f"For an interval of ± {plan.half:g}"
    if plan.alone is None and plan.scored is None:
        return f"{start} the ratings{of} at hand do not tell how many it takes."
    counts = [
        "no number of ratings of so few lines does" if count is None else f"{rounded(count):,} ratings{of} are needed"
        for count in (plan.scored, plan.alone)
    ]
    if plan.scored is not None and plan.scored > one.lines:
        return f"{start} {counts[0]}, and there are {pluralize(one.lines, 'line')}: collect more."
    return (
        f"{start} {counts[0]} with the scorer, without it {counts[1].removesuffix(' are needed')}; there are {one.n:,}."
    )


def _warnings(found: Estimates) -> list[str]:
    """What the figures may be spoilt by."""
    warnings = []
    if found.unlike:
        warnings.append(
            f"The rated lines of {_names(found.unlike)} score unlike the others, as chance would hardly choose them: "
            "where they were chosen by hand, the estimate is of such lines and not of all."
        )
    if found.fitted:
        warnings.append(
            f"{found.scorer} was fitted on lines of {', '.join(found.fitted)}. If these ratings were among them, the "
            "intervals are too narrow: take another scorer."
        )
    wanting = dict.fromkeys(one.reason for one in found.systems if one.known and not one.has_interval)
    warnings += [f"{_names([one.system for one in found.systems if one.reason == why])}: {why}." for why in wanting]
    if empty := [one.system for one in found.systems if not one.known]:
        warnings.append(f"Without a rating, and so without an estimate: {_names(empty)}.")
    if found.nameless:
        warnings.append(f"{pluralize(found.nameless, 'line')} without a system left out.")
    if found.unscored:
        many = sum(found.unscored.values())
        why = max(found.unscored, key=found.unscored.__getitem__)
        warnings.append(f"{pluralize(many, 'line')} without a score counted as middling ones, most often: {why}.")
    return warnings


def _names(names: Sequence[str]) -> str:
    """The first of some names."""
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
