"""What re-ranking came to, in words."""

from __future__ import annotations

from collections.abc import Mapping

from rejoinder.improve.result import Reranking
from rejoinder.scoring.domain import advice, without_domain
from rejoinder.scoring.noted import noted
from rejoinder.stats.figure import interval, percent, pluralize

_NAMED = 6  # systems in a sentence


def answer(found: Reranking) -> tuple[str, ...]:
    """The answer as sentences, what was gained first."""
    outside = [advice(reason) for reason in found.out_of_domain.values()]
    head, *more = [*outside, _gain(found)]
    wins = [] if found.scorer in found.out_of_domain else _wins(found)
    return (head, *filter(None, [found.facts]), *more, *wins, *_unanswered(found), *_caveats(found))


def _gain(found: Reranking) -> str:
    """By how much the replies became better, or what would tell."""
    chosen = f"{found.scorer} chose a reply in {found.answered:,} of {pluralize(found.contexts, 'context')}"
    if found.measured_by is None:
        return f"{chosen}. Whether they are better says a scorer that did not choose: --measure-by NAME."
    if found.measured_by in found.out_of_domain:
        return f"{chosen}."
    best = found.best_single
    if best is None:
        why = _most(found.unmeasured) or found.chosen.reason
        return f"{chosen}. By {found.measured_by} there is nothing to compare: {why}."
    sign = -1 if found.higher_is_better is False else 1
    single = f"{best.name}, the best single system" if len(found.systems) > 1 else f"{best.name} by itself"
    figures = f"{interval(best.gain, 2, signed=True)} over {single} ({pluralize(best.gain.n, 'context')})"
    by = f"by {found.measured_by}, which did not choose"
    if not best.gain.excludes(0):
        return f"The chosen replies are not shown to be better: {by}, {figures}."
    better = "better" if sign * best.gain.value > 0 else "worse"
    return f"The chosen replies are {better}: {by}, {figures}."


def _wins(found: Reranking) -> list[str]:
    """How often each system won."""
    if not found.answered:
        return []
    if len(found.systems) == 1:
        (one,) = found.systems
        first = "the first in its list" if one.name == "first listed" else f"the first of {one.name}"
        return [f"In {percent(one.kept / found.answered)} of them the chosen reply is {first}."]
    shares = [f"{one.name} {percent(one.share.value)}" for one in found.systems[:_NAMED]]
    rest = [f"{len(found.systems) - _NAMED} more"] if len(found.systems) > _NAMED else []
    return [f"Won by {', '.join([*shares, *rest])}."]


def _unanswered(found: Reranking) -> list[str]:
    """How many contexts have no reply, and why."""
    if found.answered == found.contexts:
        return []
    why = ", ".join(f"{reason}: {times:,}" for reason, times in found.unanswered.items())
    return [f"{pluralize(found.contexts - found.answered, 'context')} left without a reply ({why})."]


def _caveats(found: Reranking) -> list[str]:
    """What speaks against the figures."""
    said = []
    if found.several < found.contexts:
        said.append(f"Only {found.several:,} of {found.contexts:,} contexts have two candidates to choose from.")
    if found.shared:
        sets = ", ".join(found.shared)
        said.append(f"Both scorers were fitted on {sets}: what one overrates, the other may too.")
    if found.references:
        who = f"{found.scorer} compares with references, which nobody has who looks for a reply"
        said.append(f"{who}: this is the most that these candidates hold.")
    if found.unscored:
        lost = sum(found.unscored.values())
        said.append(
            f"{lost:,} of {found.candidates:,} candidates could not be chosen; most often: {_most(found.unscored)}."
        )
    if found.unmeasured and found.best_single is not None:
        lost = sum(found.unmeasured.values())
        said.append(f"{lost:,} chosen replies were not measured; most often: {_most(found.unmeasured)}.")
    notes = without_domain({found.scorer: found.noted}, found.out_of_domain)
    return [*said, *(f"{line}." for line in noted(notes, found.answered, "chosen"))]


def _most(reasons: Mapping[str, int]) -> str:
    """The most frequent reason."""
    return max(reasons, key=lambda reason: reasons[reason], default="")
