"""A full study in words: which scorers may be believed on these data, and how far.

The first sentence names a scorer that was asked for, and says that it agrees with people only where that is shown. It
says that a scorer cannot judge the lines where none but baselines can.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.contrasts import ScorerContrast
from rejoinder.scoring.domain import advice, without_domain
from rejoinder.meta.findings import Findings
from rejoinder.meta.full_study import FullStudy
from rejoinder.meta.leave_one_out import SEEN, UNSEEN
from rejoinder.meta.standings import Standing
from rejoinder.meta.verdict import FEWEST_OWN, LEVEL, SCORES_FOR_RATINGS, TURN_RATINGS, Verdict, needed, own_scores
from rejoinder.meta.yardsticks import OF_SYSTEM
from rejoinder.scoring.noted import noted
from rejoinder.stats.figure import interval, pluralize, rounded


class _Ranking(NamedTuple):
    """What a headline is made of.

    Attributes:
        rows: Pearson correlations of those that may be named, best first.
        tried: how many scorers were asked for and have a correlation, trivial baselines among them.
        found: whose contrasts tell them apart.
        verdicts: whether each correlation is shown.
        chance: how far correlations go by chance.
        where: what they are over.
    """

    rows: Sequence[Agreement]
    tried: int
    found: Findings
    verdicts: Mapping[str, Verdict]
    chance: Mapping[str, float]
    where: str

    @property
    def lead(self) -> str:
        """The first of them."""
        return self.rows[0].scorer

    def untold(self) -> list[ScorerContrast]:
        """The contrasts of the lead with those of `rows` that it is not shown to be ahead of."""
        pairs = [_between(self.found, self.lead, row.scorer) for row in self.rows[1:]]
        return [pair for pair in pairs if pair is not None and not _ahead(pair, self.lead)]

    def higher_by_rank(self) -> list[str]:
        """Return the other scorers of `rows` whose Spearman correlation is higher than that of the lead."""
        ranks = {one.scorer: one.spearman.value for one in self.found.standings}
        return [row.scorer for row in self.rows[1:] if ranks[row.scorer] > ranks[self.lead]]

    def unbeaten(self) -> list[str]:
        """The trivial baselines, those of `rows` left out, that the lead is not shown to be ahead of."""
        return [name for name, pair in self._trivial() if not _ahead(pair, self.lead)]

    def behind(self) -> list[str]:
        """Those among them that are shown to be ahead of the lead."""
        return [name for name, pair in self._trivial() if _ahead(pair, name)]

    def _trivial(self) -> list[tuple[str, ScorerContrast]]:
        """The trivial baselines, those of `rows` left out, each with its contrast with the lead."""
        named = {row.scorer for row in self.rows}
        others = [one.scorer for one in self.found.standings if one.kind == "baseline" and one.scorer not in named]
        pairs = [(name, _between(self.found, self.lead, name)) for name in others]
        return [(name, pair) for name, pair in pairs if pair is not None]


def answer(study: FullStudy) -> tuple[str, ...]:
    """The answer as sentences, over all data sets where there are several, else over the one; what was noted last."""
    head, *more = _found(study)
    notes = without_domain(study.study.notes, study.whole.out_of_domain)
    lines = (f"{line}." for line in noted(notes, study.study.examples))
    return (head, *filter(None, [study.facts]), *more, *lines)


def _found(study: FullStudy) -> tuple[str, ...]:
    """What was found."""
    if study.pool is None:
        head, *more = study.sets[0].answer
        return (head, *_fitted(study), *more)
    rows = headline_rows(study.over_sets, study.pool, study.asked)
    first, later = _outside(study.pool, study.asked, rows)
    if not rows:
        missing = "No scorer has a correlation with people on any of these data sets."
        return (*(first or [missing]), *_fitted(study))
    own, sets = study.sets_of(rows[0].scorer), len(study.sets)
    where = f", the mean over {sets} data sets" if own == sets else f", the mean over {own} of {sets} data sets"
    ranking = _Ranking(rows, _tried(study.verdicts, study.asked), study.pool, study.verdicts, study.chance, where)
    later += _outside_in_sets(study)
    head, *more = [*first, *_headline(ranking), *later, *_own(study.sets, study.asked), *_reversed(ranking)]
    return (head, *_fitted(study), *more, *_beside(ranking), *_over_sets(study), *_speaker(study.over_sets))


def lead_of(study: FullStudy) -> Agreement | None:
    """The correlation that the headline names; None where there is none."""
    rows = study.over_sets or [one.pooled for one in study.whole.standings]
    return next(iter(headline_rows(rows, study.whole, study.asked)), None)


def answer_of(found: Findings, asked: Collection[str]) -> tuple[str, ...]:
    """The answer for one data set, of the scorers that were asked for."""
    rows = headline_rows([one.pooled for one in found.standings], found, asked)
    first, later = _outside(found, asked, rows)
    if not rows and first:
        return (*first, *_own([found], asked), *_people(found))
    if not rows:
        reason = next((one.pooled.reason for one in found.standings if one.pooled.reason), "")
        return (f"No scorer has a correlation with people here: {reason}.",)
    lead = next(one for one in found.standings if one.scorer == rows[0].scorer)
    chance = {one.scorer: one.chance.high for one in found.standings}
    verdicts = {one.scorer: one.verdict for one in found.standings}
    where = f" over {rows[0].n:,} responses{_share(found, lead)}"
    ranking = _Ranking(rows, _tried(verdicts, asked), found, verdicts, chance, where)
    return (
        *first,
        *_headline(ranking),
        *later,
        *_own([found], asked),
        *_reversed(ranking),
        *_people(found),
        *_beside(ranking),
        *_inside(lead),
        *(str(count) for count in found.mistakes if count.scorer == lead.scorer and str(count)),
        *_speaker([one.pooled for one in found.standings]),
    )


def headline_rows(rows: Sequence[Agreement], found: Findings, asked: Collection[str]) -> list[Agreement]:
    """The rows that a headline may name, best first: of scorers asked for, and of baselines where there is no other.

    No scorer is among them that cannot judge the lines.
    """
    kinds = {one.scorer: one.kind for one in found.standings}
    known = [row for row in rows if row.scorer in asked and row.scorer not in found.out_of_domain and row.known]
    known.sort(key=lambda row: -row.value)
    return [row for row in known if kinds[row.scorer] != "baseline"] or known


def _outside(found: Findings, asked: Collection[str], rows: Sequence[Agreement]) -> tuple[list[str], list[str]]:
    """Which scorers cannot judge the lines: sentences before the headline, and sentences behind it.

    They come first where the headline names nothing but baselines, or nothing at all.
    """
    kinds = {one.scorer: one.kind for one in found.standings}
    said = [advice(reason) for name, reason in found.out_of_domain.items() if name in asked]
    judged = any(kinds[row.scorer] != "baseline" for row in rows)
    return ([], said) if judged else (said, [])


def _outside_in_sets(study: FullStudy) -> list[str]:
    """Return in which data sets scorers cannot judge the lines, where they can on all lines together."""
    overall = study.whole.out_of_domain
    names = [name for name in study.asked if name not in overall]
    sets = {name: [one.card.title for one in study.sets if name in one.out_of_domain] for name in names}
    return [
        f"The mean of {name} includes {_listed(titles)}, whose replies it cannot judge (out of domain)."
        for name, titles in sets.items()
        if titles
    ]


def _tried(verdicts: Mapping[str, Verdict], asked: Collection[str]) -> int:
    """How many of the scorers asked for have a correlation and can judge the lines."""
    return sum(verdicts.get(name, "no correlation") not in ("no correlation", "out of domain") for name in asked)


def _headline(ranking: _Ranking) -> list[str]:
    """Whether any scorer is shown to agree, and which."""
    row, lead = ranking.rows[0], ranking.lead
    figure = f"Pearson {interval(row, 2)}{ranking.where}"
    if ranking.verdicts[lead] != "agrees":
        one = len(ranking.rows) == 1
        said = f"{lead} is not shown to agree with people" if one else "No scorer is shown to agree with people"
        said += f": {figure}" if one else f": the best, {lead}, reaches {figure}"
        if row.low > 0 and ranking.tried > 1:
            said += f", and the best of {ranking.tried} scorers may reach that by chance"
        return [f"{said}.", *_would_show(row, ranking.chance[lead], ranking.tried)]
    if behind := ranking.behind():
        is_nearer = f"trivial {_listed(behind)} {'is' if len(behind) == 1 else 'are'} shown to be nearer to them"
        return [f"{lead} agrees with people, but the {is_nearer}: {figure}."]
    if unbeaten := ranking.unbeaten():
        return [f"{lead} agrees with people, but is not shown to beat the trivial {_listed(unbeaten)}: {figure}."]
    best = "best " if len(ranking.rows) > 1 and not ranking.untold() and not ranking.higher_by_rank() else ""
    return [f"{lead} agrees {best}with people: {figure}."]


def _own(sets: Sequence[Findings], asked: Collection[str]) -> list[str]:
    """Whose scores are the ratings themselves: somebody took a column of scores for people's."""
    own = {name: sum(own_scores(one.scores[name], one.ratings) for one in sets if name in one.scores) for name in asked}
    return [
        f"{pluralize(count, 'rating')} are what {name} said, to the last digit. {SCORES_FOR_RATINGS}."
        for name, count in own.items()
        if count >= FEWEST_OWN
    ]


def _reversed(ranking: _Ranking) -> list[str]:
    """Who is shown to be higher where people rate lower, and what to turn round where that is no finding.

    That ratings may be upside down is said only where nobody is shown to agree with them as they are.
    """
    kinds = {one.scorer: one.kind for one in ranking.found.standings}
    names = [row.scorer for row in ranking.rows if ranking.verdicts[row.scorer] == "reversed"]
    names = [name for name in names if kinds[name] != "baseline"]
    if not names:
        return []
    column = next((name.partition(":")[2] for name in names if name.startswith("column:")), None)
    turned = f"column:{column[1:] if column.startswith('-') else f'-{column}'}" if column else ""
    scores = f" Where low scores are, say -s {turned}." if turned else ""
    scored = f"{_listed(names)} score{'s' if len(names) == 1 else ''}"
    ratings = "" if "agrees" in ranking.verdicts.values() else f" {TURN_RATINGS}."
    return [f"What {scored} higher people rate lower.{ratings}{scores}"]


def _would_show(row: Agreement, chance: float, tried: int) -> list[str]:
    """How many ratings would show a correlation like this one."""
    count = needed(row, chance, tried)
    if count is None:
        return []
    return [f"If it is as high as it looks, about {rounded(count):,} rated responses would show it."]


def _beside(ranking: _Ranking) -> list[str]:
    """Who cannot be told from the leading scorer, and what would tell."""
    if ranking.verdicts[ranking.lead] != "agrees":
        return []
    if {one.scorer: one.kind for one in ranking.found.standings}[ranking.lead] == "baseline":
        return [f"{ranking.lead} is a trivial baseline: what does no better should not be believed on these data."]
    untold = ranking.untold()
    if not untold:
        others = len(ranking.rows) > 1 and not ranking.unbeaten()
        return [f"By Pearson it is significantly ahead of every other scorer{_by_rank(ranking)}."] if others else []
    names = [one.second if one.first == ranking.lead else one.first for one in untold]
    more = untold[0].needed
    tell = "" if more is None else f" About {rounded(more):,} rated responses would tell it from {names[0]}."
    return [f"By Pearson not significantly behind it: {_listed(names)}.{tell}"]


def _by_rank(ranking: _Ranking) -> str:
    """Return which other scorers have the higher Spearman correlation, in words; "" where none has."""
    names = ranking.higher_by_rank()
    return f"; by Spearman {_listed(names)} {'is' if len(names) == 1 else 'are'} higher" if names else ""


def _share(found: Findings, lead: Standing) -> str:
    """The share of the ceiling, where there is one and the correlation is shown."""
    if not lead.share.known or lead.verdict != "agrees":
        return ""
    return f", {100 * lead.share.value:.0f} % of the ceiling of {found.people.ceiling.value:.2f}"


def _people(found: Findings) -> list[str]:
    """How far people agree with each other."""
    if found.people.one_rater.known:
        return [f"One person reaches {found.people.one_rater.value:z.2f} against the others."]
    if found.people.reason:
        return [f"How far people agree with each other, and so the ceiling, is not known: {found.people.reason}."]
    return []


def _inside(lead: Standing) -> list[str]:
    """What is left of the leading scorer inside systems."""
    if not lead.within.known or lead.verdict != "agrees":
        return []
    return [f"Inside systems, where knowing who spoke is worth nothing, its correlation is {interval(lead.within, 2)}."]


def _speaker(rows: Sequence[Agreement]) -> list[str]:
    """What knowing the system alone is worth."""
    known = next((row for row in rows if row.scorer == OF_SYSTEM and row.known), None)
    if known is None:
        return []
    if known.value <= 0:
        # What a system got in other contexts is lower where it got much in this one: with no difference it is below 0.
        return ["Knowing only which system spoke tells nothing."]
    return [f"Knowing only which system spoke gives {interval(known, 2)}."]


def _over_sets(study: FullStudy) -> list[str]:
    """Who is nearest on the lines that all scorers score, and what seeing a set is worth to a judge."""
    said = []
    rows = [one for one in study.nearness if one.scorer in study.asked]
    if len({one.sets for one in rows}) > 1 and len(study.common) > 1:
        lead = max(rows, key=lambda one: one.common.value)
        figure = interval(lead.common, 2)
        lines = f"On the {study.common_lines:,} lines of {len(study.common)} data sets that all scorers score"
        said.append(f"{lines}, {lead.scorer} is nearest: {figure}.")
    if study.left_out is None:
        return said
    mean = study.left_out.mean
    if mean.reason:
        return [*said, f"{UNSEEN} cannot be told from {SEEN}: {mean.reason}."]
    share, sets = mean.share.unseen.value, study.left_out.ceilings
    limit = f" ({100 * share:.0f} % of the ceiling, mean over the {sets} that have one)" if sets else ""
    return [
        *said,
        f"A judge reaches {interval(mean.pearson.unseen, 2)} on data sets that it never saw{limit}, and "
        f"{interval(mean.pearson.seen, 2)} where it was fitted on other conversations of the set: a gap of "
        f"{interval(mean.pearson.gap, 2)}.",
    ]


def _fitted(study: FullStudy) -> list[str]:
    """What must be known of judges that have seen lines like these."""
    return [
        f"{name} was fitted on lines of {', '.join(sets)}, these or others: on those it does better."
        for name, sets in study.fitted.items()
    ]


def _between(found: Findings, one: str, other: str) -> ScorerContrast | None:
    """The contrast of two scorers, whichever is first in it; None where there is none."""
    return next((pair for pair in found.contrasts if {pair.first, pair.second} == {one, other}), None)


def _ahead(pair: ScorerContrast, name: str) -> bool:
    """Whether `name`, one of the pair, is shown to be ahead of the other."""
    gain = pair.value if pair.first == name else -pair.value
    return pair.p_adjusted < LEVEL and gain > 0


def _listed(names: Sequence[str]) -> str:
    """Names as people write them down: a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
