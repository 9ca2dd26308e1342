"""What people's ratings are worth, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist

from rejoinder.humans.agreement import LEAST, RaterAgreement
from rejoinder.meta.rating_results import RatingStudy, SetRatings
from rejoinder.meta.verdict import LEVEL
from rejoinder.stats.figure import Figure, interval, number, pluralize

# What Landis and Koch (1977) call a kappa, up to which value.
_WORDS = ((0.0, "no"), (0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"), (1.0, "almost perfect"))


def answer(study: RatingStudy) -> tuple[str, ...]:
    """The sentences, the main thing first."""
    several = len(study.sets) > 1
    return tuple(f"{one.title}: {said}" if several else said for one in study.sets for said in _of_set(one, study))


def words_for(alpha: float) -> str:
    """What an agreement beyond chance is called."""
    return next((word for most, word in _WORDS if alpha <= most), _WORDS[-1][1])


def _of_set(one: SetRatings, study: RatingStudy) -> Iterator[str]:
    """What is said of a data set."""
    counting = one.counting
    if one.excluded and len(one.excluded) == one.agreement.raters:
        remedy = "" if one.chance is None else " Leave out --min-kappa: then only missed attention checks count"
        yield f"Nobody's ratings count: the rule leaves out every rater.{remedy}."
    elif counting.reason:
        yield f"how far people agree is not known: {counting.reason}."
    else:
        yield _agreement(counting)
    if one.excluded:
        names = ", ".join(who.rater for who in one.excluded[:5])
        more = f" and {len(one.excluded) - 5} more" if len(one.excluded) > 5 else ""
        yield (
            f"{pluralize(len(one.excluded), 'rater')} of {one.agreement.raters} {_are(len(one.excluded))} left out by "
            f"rule ({names}{more}); with them alpha is {interval(one.agreement.alpha_interval)}."
        )
    if one.chance is not None:
        chance, alpha = one.chance, number(one.chance.alpha, 2)
        yield (
            f"By chance alone this rule would leave out about {chance.raters:.0f} of {one.agreement.raters} raters and "
            f"give alpha {alpha} (mean of {chance.shuffles} shuffles of each line's ratings among its raters)."
        )
    yield from _against(one.agreement)
    unsure = f"; {pluralize(one.unsure, 'line')} without, as the least sure" if one.unsure else ""
    yield from _stand_ins(one, study)
    have = "has" if one.rated == 1 else "have"
    yield f"{pluralize(one.rated, 'line')} {have} a rating by {study.aggregation}{unsure}."


def _against(found: RaterAgreement) -> Iterator[str]:
    """Who is shown to rate higher what the others rate lower: one of them who does spoils the figures of all.

    Intervals are as much wider as so many raters ask for: of 60 who guess one or two have one under 0 by chance.
    """
    tried = [one for one in found.by_rater if one.n >= LEAST and one.spearman.known]
    edges = [NormalDist().inv_cdf(1 - LEVEL / 2 / count) for count in (1, max(1, len(tried)))]
    against = [
        one for one in tried if one.spearman.value + (one.spearman.high - one.spearman.value) * edges[1] / edges[0] < 0
    ]
    if against:
        who = ", ".join(f"{one.rater} (Spearman {number(one.spearman.value, 2)})" for one in against[:5])
        more = f" and {len(against) - 5} more" if len(against) > 5 else ""
        verb = "rates" if len(against) == 1 else "rate"
        yield (
            f"{who}{more} {verb} higher what others rate lower. Where somebody took the scale upside down, turn those "
            "ratings round, or take them out, and call again: they spoil the figures of the others too."
        )


def _stand_ins(one: SetRatings, study: RatingStudy) -> Iterator[str]:
    """Whether scorers may stand in for a rater, and whether that means anything."""
    *scorers, nothing = one.alternatives or (None,)
    for found in scorers:
        assert found is not None  # noqa: S101 - scorers come with the mean rating behind them
        known = (
            f" ({found.scorer} was fitted on lines of this set)" if one.dataset in _fitted(found.scorer, study) else ""
        )
        if found.reason:
            yield f"Whether {found.scorer} may stand in for a rater is not known: {found.reason}."
            continue
        beats = f"it beats {round(found.winning.value * found.winning.n)} of {pluralize(found.winning.n, 'rater')}"
        verdict = f"{found.scorer} {'may' if found.passes else 'may not'} stand in for a rater{known}"
        yield f"{verdict}: {beats} by the alternative annotator test, epsilon {found.epsilon:g}."
        if found.passes and nothing is not None and nothing.passes:
            advantages = f"{interval(found.advantage)}, of the mean rating {interval(nothing.advantage)}"
            yield (
                "But so may whoever always says the mean rating of other contexts, since single raters are that far "
                f"apart: average advantage {advantages}."
            )


def _fitted(scorer: str, study: RatingStudy) -> Sequence[str]:
    """The data sets here that a scorer was fitted on."""
    return study.fitted.get(scorer, ())


def _agreement(found: RaterAgreement) -> str:
    """How far those who count agree."""
    alpha = _first(found.alpha_interval, found.icc_1)
    name = "Krippendorff's alpha (interval)" if alpha is found.alpha_interval else "ICC(1)"
    who = pluralize(found.raters, "rater") if found.named else f"up to {found.raters} unnamed raters a line"
    mean = f"; of the mean of a line's ratings ICC(1, k) {interval(found.icc_1k)}" if found.icc_1k.known else ""
    return f"{who} {_show(alpha)} beyond chance: {name} {interval(alpha)}{mean}."


def _show(alpha: Figure) -> str:
    """What raters show; a value whose interval reaches down to chance shows nothing."""
    open_yet = alpha.has_interval and alpha.low <= 0 < alpha.value
    return "are not shown to agree" if open_yet else f"show {words_for(alpha.value)} agreement"


def _first(*figures: Figure) -> Figure:
    """The first that is known."""
    return next((one for one in figures if one.known), figures[-1])


def _are(count: int) -> str:
    """Is or are."""
    return "is" if count == 1 else "are"
