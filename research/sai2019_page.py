"""The page of Sai et al. 2019: what fools our judges, beside what fooled theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeGuard

import numpy as np

from rejoinder.auditing.attack import POOL_ATTACKS
from rejoinder.auditing.fooling import FEWEST
from rejoinder.auditing.layout import PUBLISHED as ADEM
from rejoinder.auditing.layout import cone_table
from rejoinder.estimates import Estimate
from rejoinder.report.layout import Prose
from rejoinder.report.results import Results
from rejoinder.report.tables import Cell, Table
from rejoinder.report.written import DASH, interval, number, percent
from rejoinder.stats.correlation import spearman
from research.attacks import Attacked, by_attack, scorer_of
from research.cells import measured, nothing, plain, share, table
from research.page import About, Page, data_table, paper
from research.sai2019 import CHANGES, CLIMBED, DRAWN, GENERIC, TABLE3, Sai2019

_ADEM = "adem"
_FANTASTIC = GENERIC[-1]


class Published(NamedTuple):
    """Scores of the replies of an attack; NaN if the paper has no such number.

    Attributes:
        mean: of the scores.
        sd: their standard deviation.
        within: share of them within one standard deviation of their mean.
        pearson: correlation with the scores of the original replies.
        spearman: the same of ranks.
        better: share that scored better than the original.
        people: mean rating by people, of 150 of them (in table 6: of 250).
        lowest: the lowest score.
        highest: the highest.
    """

    mean: float
    sd: float = np.nan
    within: float = np.nan
    pearson: float = np.nan
    spearman: float = np.nan
    better: float = np.nan
    people: float = np.nan
    lowest: float = np.nan
    highest: float = np.nan


CONICITY = 0.59
"""Conicity of ADEM's vectors of 200,000 responses, as published."""
PUBLISHED = {name: Published(**row) for name, row in ADEM.items()}
_Write = Callable[[Published], str]
_By = Mapping[str, Mapping[str, Attacked]]  # by scorer, by attack
_HEADER = ("attack", "ADEM, published")


def page(found: Sai2019, about: About) -> Page:
    """The page."""
    by: _By = {scorer_of(audit): by_attack(audit) for audit in found.audits}
    fooled, reading = _fooled(by), Prose(_reading(found, by), listed=True)
    counts = found.audits[0].about.counts
    return paper(
        "sai2019",
        about,
        {
            "data": data_table(found.material),
            "trained": _trained(found),
            "reading": reading,
            "fooled": fooled,
            "table3": _table(by, TABLE3, _spread, found.audits),
            "table4": _table(by, ("reference", *CHANGES, *GENERIC), _banded),
            "table5": _table(by, (*CHANGES, _FANTASTIC), _related),
            "table6": _searches(by),
            "geometry": [
                cones._replace(title=scorer_of(audit), caption="")
                for audit in found.audits
                if (cones := cone_table(audit.estimates)) is not None
            ],
            "breadth": _breadth(found.audits),
            "crossed": _crossed(found),
        },
        [fooled, reading],
        lines=f"{counts['replies']:,}",
        contexts=f"{counts['contexts']:,}",
        good=f"{counts['good']:,}",
        train=f"{len(found.split.train):,}",
        validation=f"{len(found.split.validation):,}",
        encoder=found.encoder,
        conicity=CONICITY,
        fewest=FEWEST,
        pool=f"{found.pool:,}",
        machine=f"the responder {found.responder}" if found.responder else "a bigram model of the attacked replies",
        allowed=percent(found.audits[0].about.options["allowed"]),
    )


def _trained(found: Sai2019) -> Table:
    """The judges trained anew."""
    rows = []
    for kind, one in found.trained.items():
        kept = one.judge.projection
        components = DASH if kept is None else str(len(kept.components))
        rows.append(
            [
                kind,
                found.encoder,
                one.state or DASH,
                str(one.judge.encoder.width),
                components,
                *map(plain, one.validation),
            ]
        )
    return table(["judge", "encoder", "state", "numbers", "components", "Pearson, validation", "Spearman"], rows)


# tables 3 to 6


def _table(by: _By, families: Sequence[str], shown: _Write, before: Sequence[Results] = ()) -> Table:
    """A row an attack: what is published of ADEM, then a column a scorer.

    Args:
        by: all results.
        families: the rows.
        shown: what a cell says.
        before: audits whose scores of the replies as they were make a first row.
    """
    rows = [
        [_about(by, name), shown(PUBLISHED[name]), *(_cell(own.get(name), shown) for own in by.values())]
        for name in families
    ]
    if before:
        rows.insert(0, ["the replies as they were", DASH, *(shown(_unchanged(audit)) for audit in before)])
    return table([*_HEADER, *by], rows)


def _about(by: _By, name: str) -> str:
    """What an attack does."""
    return next((own[name].about for own in by.values() if name in own), name)


def _cell(one: Attacked | None, shown: _Write) -> str:
    """A cell; a dash where an attack was left out, or found too little to attack."""
    return shown(_row(one)) if _told(one) else DASH


def _told(one: Attacked | None) -> TypeGuard[Attacked]:
    """Whether there are examples enough to say something."""
    return one is not None and one.n >= FEWEST


def _row(attack: Attacked, prefix: str = "attacked score") -> Published:
    """Return the scores of an attack as a row of the paper's tables."""
    mean, sd, within, lowest, highest = (
        attack.value(f"{prefix}, {key}") for key in ("mean", "sd", "within 1 sd", "lowest", "highest")
    )
    first, second = (attack.value(f"{name} with the original score") for name in ("pearson", "spearman"))
    return Published(mean, sd, within, first, second, attack.better, lowest=lowest, highest=highest)


def _unchanged(audit: Results) -> Published:
    """Return the scores of the original replies."""
    facts = next(iter(audit.about.scorers.values()))
    return Published(facts["mean"], facts["spread"])


def _spread(one: Published) -> str:
    """Mean and standard deviation."""
    return number(one.mean, 2) if np.isnan(one.sd) else f"{number(one.mean, 2)} ± {number(one.sd, 2)}"


def _banded(one: Published) -> str:
    """The same, and the share within one standard deviation."""
    return _spread(one) if np.isnan(one.within) else f"{_spread(one)}, {percent(one.within)}"


def _ranged(one: Published) -> str:
    """Mean and standard deviation, the lowest and the highest."""
    ends = ("" if np.isnan(end) else number(end, 2) for end in (one.lowest, one.highest))
    return f"{_spread(one)} [{', '.join(ends)}]"


def _related(one: Published) -> str:
    """Pearson's and Spearman's correlation with the original scores, and the share that scores better."""
    return f"{number(one.pearson, 2)}, {number(one.spearman, 2)}; {percent(one.better)}"


def _searches(by: _By) -> Table:
    """Table 6, and hill climbing: before the attack, which stands beside good replies alone, and after it."""
    before = [_originals(own["pool-best"]) for own in by.values()]
    rows = [["good replies as they were", _ranged(PUBLISHED["reference"]), *map(_ranged, before)]]
    for name in (*POOL_ATTACKS, CLIMBED, DRAWN):
        published = _ranged(PUBLISHED[name]) if name in PUBLISHED else DASH
        rows.append([_about(by, name), published, *(_cell(own.get(name), _ranged) for own in by.values())])
    return table([*_HEADER, *by], rows)


def _originals(attack: Attacked) -> Published:
    """Return the scores that an attack started from."""
    return _row(attack, "original score")


def _fooled(by: _By) -> Table:
    """The share of replies on which each attack fooled each scorer."""
    names = dict.fromkeys(name for own in by.values() for name in own)
    rows = [
        [_about(by, name), *(_verdict(own[name]) if name in own else nothing() for own in by.values())]
        for name in names
    ]
    return table(["attack", *by], rows)


def _verdict(attack: Attacked) -> Cell:
    """Return the share with its interval, and whether that says fooled."""
    if not _told(attack):
        return nothing(attack.share.reason)
    cell = measured(attack.share, share=True)
    return cell._replace(text=f"{cell.text}, fooled") if attack.verdict == "fooled" else cell


# geometry


def _breadth(audits: Sequence[Results]) -> Table:
    """Return how far scores spread compared with ratings."""
    rows = []
    for audit in audits:
        scores, ratings = (
            audit.one(statistic=f"sd of {name}, share of the scale").value for name in ("scores", "ratings")
        )
        ratio, related = audit.one(statistic="ratio of spreads"), audit.one(statistic="pearson")
        cells = (share(scores), share(ratings), measured(ratio, why=ratio.reason))
        rows.append([scorer_of(audit), *cells, plain(related.value) if related.known else nothing(related.reason)])
    return table(["scorer", "SD of scores", "SD of ratings", "ratio [low, high]", "Pearson with people"], rows)


def _crossed(found: Sai2019) -> Table:
    """What decides the score of any reply to any context."""
    rows = [[name, share(one.columns), share(one.rows), share(one.both)] for name, one in found.crossed.items()]
    return table(["scorer", "the reply", "the context and reference", "how they go together"], rows)


# the reading


def _reading(found: Sai2019, by: _By) -> list[str]:
    """Where ours and theirs agree, and where not, in sentences."""
    adem = {name: one for name, one in by[_ADEM].items() if _told(one)}
    why = [_decided(found, judge, by) for judge in found.crossed]
    return [_counted(by), _band(found), *_columns(adem), *_generic(adem), *_raised(adem), *why]


def _counted(by: _By) -> str:
    """How many attacks fool each scorer."""
    said = []
    for name, own in by.items():
        told = list(filter(_told, own.values()))
        said.append(f"{name} by {sum(one.verdict == 'fooled' for one in told)} of {len(told)}")
    return f"Attacks that fool: {', '.join(said)}. The paper counts none so, and finds ADEM wanting in nearly all."


def _band(found: Sai2019) -> str:
    """Return how narrow the bands and cones are."""
    adem = found.audits[0]
    raw, seen = (_conicity(adem, kind) for kind in ("encoder", "projected"))
    published, ratio, related = (
        PUBLISHED["reference"],
        adem.one(statistic="ratio of spreads"),
        adem.one(statistic="pearson"),
    )
    return (
        f"Our ADEM gives the original replies {_spread(_unchanged(adem))} (published, of references: "
        f"{_spread(published)}), spread {interval(ratio, 2)} times as widely as the ratings, where its "
        f"correlation with them explains {number(related.value, 2)}. Its responses have a conicity of "
        f"{interval(raw, 2)} as encoded and {interval(seen, 2)} as the head sees them (published {CONICITY}; in which "
        "space is not said)."
    )


def _conicity(audit: Results, kind: str) -> Estimate:
    """Return the conicity of the vectors of responses: of the encoder, or projected."""
    cones = [row for row in audit.pick(statistic="conicity") if row.group.endswith(f": response, {kind}")]
    return cones[0] if cones else Estimate()


def _columns(adem: Mapping[str, Attacked]) -> list[str]:
    """How alike the columns of table 5 are over its attacks."""
    both = [(_row(adem[name]), PUBLISHED[name]) for name in (*CHANGES, _FANTASTIC) if name in adem]
    if not both:  # without WordNet there may be no attack of the table
        return []
    said = []
    for column, what in (("pearson", "correlation with the original's scores"), ("better", "share that scores better")):
        ours, theirs = (np.array([getattr(row, column) for row in rows], float) for rows in zip(*both, strict=True))
        rank = spearman(ours, theirs)
        if rank.known:
            told = f"{number(rank.value, 2)} (p {number(rank.p, 3)})"
            said.append(f"{told} by their {what}")
    if not said:
        return []
    return [f"Order of the {len(both)} attacks of table 5, Spearman's correlation with the paper's: {', '.join(said)}."]


def _generic(adem: Mapping[str, Attacked]) -> list[str]:
    """What becomes of the universal answer of the paper."""
    if _FANTASTIC not in adem:
        return []
    ours, theirs = adem[_FANTASTIC], PUBLISHED[_FANTASTIC]
    best = max((adem[name] for name in GENERIC if name in adem), key=lambda attack: attack.better)
    told = f"“fantastic! how are you?” scores better than {percent(ours.value('share scored better'))} of good replies"
    other = (
        ""
        if best is ours
        else f"; of the three the best is {best.about}, with {percent(best.value('share scored better'))}"
    )
    return [f"{told} (published {percent(theirs.better or np.nan)}){other}."]


def _raised(adem: Mapping[str, Attacked]) -> list[str]:
    """What the searches gain."""
    start = PUBLISHED["reference"].mean
    said = []
    for name, what in (("white-box", "along the gradient"), ("pool-best", "by brute force")):
        if name in adem:
            gained = number(adem[name].value("attacked score, mean") - adem[name].value("original score, mean"), 2)
            said.append(f"{gained} points {what} (published {number(PUBLISHED[name].mean - start, 2)})")
    return [f"In place of good replies, those found in the pool score higher by {' and '.join(said)}."] if said else []


def _decided(found: Sai2019, judge: str, by: _By) -> str:
    """Whether one reply pleases a judge over vectors everywhere, or another each context."""
    (audit,) = (audit for audit in found.audits if scorer_of(audit) == judge)
    projected = _conicity(audit, "projected")
    seen = projected if projected.known else _conicity(audit, "encoder")
    crossed = found.crossed[judge]
    better = [
        f"{what} beats {percent(by[judge][name].value('share scored better'))} of good replies"
        for name, what in (
            (DRAWN, "one drawn from elsewhere"),
            (_FANTASTIC, "“fantastic! ...”"),
            ("pool-best", "the best of the pool"),
            ("pool-fixed", "one of the pool for all contexts"),
        )
        if _told(by[judge].get(name))
    ]
    return (
        f"{judge}: its head compares responses of conicity {number(seen.value, 2)}; of the scores of all replies to "
        f"all contexts the reply alone decides {percent(crossed.columns)}, how both go together "
        f"{percent(crossed.both)}. "
        f"A reply that was not made for the context: {', '.join(better)}."
    )
