"""A study of preference pairs in words: whether a scorer takes the replies that people prefer, and better than length.

The first sentence says that a scorer agrees only where that is shown, against chance and against the longer reply. It
says that a scorer cannot judge the replies where none but baselines can.
"""

from __future__ import annotations

from rejoinder.scoring.domain import advice
from rejoinder.meta.preference_results import (
    LENGTH,
    LESS_LENGTH,
    OF_LONGER,
    OF_SHORTER,
    PairStudy,
    Preference,
    Statistic,
)
from rejoinder.stats.figure import interval, pluralize


def answer(study: PairStudy) -> tuple[str, ...]:
    """The answer as sentences, one data set after the other; each sentence names its set where there are several."""
    said = [(card.dataset, sentence) for card in study.cards for sentence in _of_set(study, card.dataset)]
    head, *more = (f"{dataset}: {sentence}" if len(study.cards) > 1 else sentence for dataset, sentence in said)
    return (head, *filter(None, [study.facts]), *more)


def _of_set(study: PairStudy, dataset: str) -> list[str]:
    """The answer for one data set."""
    ranked = study.judged(dataset)
    outside = [advice(reason) for name, reason in study.out_of_domain[dataset].items() if name in study.asked]
    if not ranked:
        return [*(outside or ["No scorer could score both replies of any pair with a preferred one."])]
    lead = ranked[0]
    headline = [_headline(study, lead, len(ranked))]
    return [
        *([*outside, *headline] if lead.kind == "baseline" else [*headline, *outside]),
        *_trivial(lead),
        *_against_length(study, lead),
        *_by_length(study, lead),
        *_people(study, lead),
    ]


def _headline(study: PairStudy, lead: Preference, tried: int) -> str:
    """Whether any scorer is shown to agree, and which."""
    share = interval(lead, share=True)
    figure = f"takes the reply that they prefer in {share} of {pluralize(lead.n)}, where chance takes 50 %."
    if not shown(lead) and tried > 1:
        return f"No scorer is shown to agree with people's choices: the best, {lead.scorer}, {figure}"
    if not shown(lead):
        return f"{lead.scorer} is not shown to agree with people's choices: it {figure}"
    if lead.value < 0.5:
        return f"{lead.scorer} goes against people's choices: it {figure}"
    ahead = _row(study, lead, LESS_LENGTH)
    if ahead is not None and not (shown(ahead) and ahead.value > 0):
        return (
            f"{lead.scorer} agrees with people's choices, but is not shown to beat taking the longer reply: it {figure}"
        )
    return f"{lead.scorer} agrees with people's choices: it {figure}"


def _trivial(lead: Preference) -> list[str]:
    """What it means that a trivial baseline leads."""
    if lead.kind != "baseline" or not shown(lead):
        return []
    return [f"{lead.scorer} is a trivial baseline: what does no better should not be believed on these data."]


def _against_length(study: PairStudy, lead: Preference) -> list[str]:
    """What taking the longer reply is worth beside it."""
    ahead, longer = _row(study, lead, LESS_LENGTH), _of(study, lead.dataset, LENGTH)
    if ahead is None or longer is None:
        return []
    said = f"Taking the longer reply is right in {interval(longer, share=True)}"
    if not shown(ahead):
        return [f"{said}."]
    return [f"{said}, and {lead.scorer} is shown to be {'ahead of' if ahead.value > 0 else 'behind'} that."]


def _by_length(study: PairStudy, lead: Preference) -> list[str]:
    """How it does where people prefer the longer reply, and where the shorter one."""
    longer, shorter = (_row(study, lead, statistic) for statistic in (OF_LONGER, OF_SHORTER))
    if longer is None or shorter is None or lead.scorer == LENGTH:
        return []
    of_longer, of_shorter = (interval(one, share=True) for one in (longer, shorter))
    return [
        f"Where people prefer the longer reply {lead.scorer} takes it in {of_longer} of {pluralize(longer.n)}; "
        f"where they prefer the shorter, in {of_shorter} of {shorter.n:,}."
    ]


def _people(study: PairStudy, lead: Preference) -> list[str]:
    """How far people agree with each other."""
    person = next((row for row in study.rows(lead.dataset) if row.kind == "people"), None)
    if person is None:
        return ["How far people agree with each other is not known: no pair has several votes."]
    figure = f"{interval(person, share=True)} of {pluralize(person.n)}"
    return [f"For orientation: one rater against the others (their splits count half) gives {figure}."]


def shown(row: Preference) -> bool:
    """Whether a figure is shown to differ from chance: by its interval, and by its p for the number of scorers."""
    return row.verdict in ("above", "below")


def _row(study: PairStudy, lead: Preference, statistic: Statistic) -> Preference | None:
    """Another figure of the same scorer and data set; None where there is none."""
    return next((row for row in study.rows(lead.dataset, statistic) if row.scorer == lead.scorer), None)


def _of(study: PairStudy, dataset: str, scorer: str) -> Preference | None:
    """The accuracy of a scorer."""
    return next((row for row in study.rows(dataset) if row.scorer == scorer), None)
