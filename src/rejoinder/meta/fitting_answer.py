"""What an adaptation bought, in words."""

from __future__ import annotations

from rejoinder.data.scales import in_words
from rejoinder.meta.fitting_figures import WITHIN
from rejoinder.meta.fitting_results import Fit, Gain
from rejoinder.meta.verdict import IF_HIGH_IS_GOOD, SCORES_FOR_RATINGS, TURN_RATINGS
from rejoinder.stats.figure import interval, number, percent

_CHANCE = 0.5
_OWN = 0.9999  # of a correlation with people: nobody has it
_RISING = 0.01  # of the last doubling: less is noise


def fitting_answer(found: Fit) -> tuple[str, ...]:
    """The answer as sentences, what to do first."""
    return (
        _verdict(found),
        *_between_systems(found),
        *_own(found),
        *_against(found),
        *_agreement(found),
        *_by_length(found),
        *_curve(found),
        *_use(found),
    )


def _verdict(found: Fit) -> str:
    """Whether anything was gained."""
    lead, share = _lead(found), found.kind == "choices"
    where = "inside folds" if lead is found.gains[0] else "within systems"
    what = "accuracy" if share else f"Spearman {where}"
    on = f"on {lead.n:,} {'pairs' if share else 'ratings'} of {found.contexts:,} conversations, each judged without it"
    figures = f"{what} {_before_and_after(lead, share=share)}, {on}"
    if lead is not found.gains[0]:
        figures += f"; over all lines, where telling systems apart counts too, {_before_and_after(found.gains[0])}"
    if not found.corrected:
        kept = "the judge as it was" + ("" if share else ", brought to the scale of your ratings")
        return f"These {found.kind} bought nothing: {figures}. The folder holds {kept}."
    high = IF_HIGH_IS_GOOD if _runs_against(found) else ""
    if lead.gain.low > 0:
        return f"The adapted judge is better{high}: {figures}."
    if lead.gain.high < 0:
        return f"The adapted judge is worse within systems: {figures}. What it learnt is kept for the figure over all."
    if lead.gain.value > 0:
        return f"The adapted judge may be better{high}, which is not shown: {figures}. What it learnt is kept."
    learnt = "What it learnt is kept, because it is not shown to be worse; give more to know"
    return f"These {found.kind} bought nothing that shows: {figures}. {learnt}."


def _lead(found: Fit) -> Gain:
    """The figure that leads: within systems where there are several, where telling systems apart is worth nothing."""
    within = next((one for one in found.gains if one.name == f"spearman{WITHIN}"), found.gains[0])
    return within if within.gain.known else found.gains[0]


def _before_and_after(gain: Gain, *, share: bool = False) -> str:
    """A figure after and before, and how much more that is."""
    before, after = (interval(one, 2, share=share) for one in (gain.before, gain.after))
    return f"{after} after, {before} before (gain {interval(gain.gain, 2, share=share, signed=True)})"


def _between_systems(found: Fit) -> list[str]:
    """That most of the gain comes from telling systems apart, where it does."""
    first, lead = found.gains[0], _lead(found)
    if lead is first or not found.corrected or not first.gain.low > 0 or lead.gain.value > first.gain.value / 2:
        return []
    return [
        f"Most of the gain over all lines is telling systems apart ({number(first.gain.value, 2)} over all, "
        f"{number(lead.gain.value, 2)} within systems): expect less of it among the replies of one system."
    ]


def _own(found: Fit) -> list[str]:
    """That the ratings seem to be what the judge said itself."""
    own = found.kind == "ratings" and found.gains[0].before.value > _OWN
    return [f"The judge agreed with these ratings as with none of people's. {SCORES_FOR_RATINGS}."] if own else []


def _runs_against(found: Fit) -> bool:
    """Whether the judge as it was is shown to be higher where the ratings are lower."""
    return found.kind == "ratings" and found.gains[0].before.high < 0


def _against(found: Fit) -> list[str]:
    """What to make of ratings that run against the judge as it was: they may count from the best down."""
    if not _runs_against(found):
        return []
    learnt = " As it is, the adapted judge gives bad replies the high scores then." if found.corrected else ""
    return [f"The ratings run against the judge as it was. {TURN_RATINGS}.{learnt}"]


def _agreement(found: Fit) -> list[str]:
    """That it is not shown to agree with people at all, where it is not."""
    lead = _lead(found)
    one = lead.after if found.corrected else lead.before
    if one.low > (_CHANCE if found.kind == "choices" else 0.0):
        return []
    return ["It is not shown to agree with people on such lines: do not rank replies or systems by it."]


def _by_length(found: Fit) -> list[str]:
    """How it fares where the longer, and where the shorter reply is preferred."""
    if found.kind != "choices":
        return []
    each = [
        f"{percent(one.after.value)} of {one.n:,} with the {one.name} ({percent(one.before.value)} before)"
        for one in found.gains[1:]
        if one.n
    ]
    return [f"It takes the preferred reply in {', in '.join(each)}."] if each else []


def _curve(found: Fit) -> list[str]:
    """What fewer would have bought, and whether more may help."""
    if len(found.curve) < 2:
        return []
    share = found.kind == "choices"
    points = ", ".join(
        f"{point.items}: {percent(point.value) if share else number(point.value, 2)}" for point in found.curve
    )
    last, before = found.curve[-1].value, found.curve[-2].value
    more = "more may help" if last - before > _RISING else "more of them would hardly help"
    over = "" if _lead(found) is found.gains[0] else ", over all lines"
    return [f"By how many were fitted on{over}: {points}; {more}."]


def _use(found: Fit) -> list[str]:
    """What its scores are."""
    if found.kind == "choices":
        return ["Choices tell an order and no ratings: its scores spread as they did before, and so do its intervals."]
    return [
        f"It answers from {in_words(found.judge.scale)}: the mean rating to be expected, with an interval that holds "
        "90 %."
    ]
