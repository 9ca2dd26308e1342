"""The page of Sai et al. 2019: what fools our judges, beside what fooled theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

import numpy as np

from rejoinder.auditing import Audit
from rejoinder.auditing.battery import POOL_ATTACKS
from rejoinder.auditing.published import CONICITY, PUBLISHED, Row
from rejoinder.auditing.results import FEWEST, Result
from rejoinder.estimates import estimate_of
from rejoinder.report.layout import Prose
from rejoinder.report.tables import Cell, Table
from rejoinder.report.written import DASH, interval, number, percent
from rejoinder.stats.correlation import spearman
from research.cells import count, measured, nothing, plain, share, table
from research.page import About, Page, data_table, paper
from research.sai2019 import CHANGES, CLIMBED, DRAWN, GENERIC, TABLE3, Sai2019

_ADEM = "adem"
_FANTASTIC = GENERIC[-1]
_By = Mapping[str, Mapping[str, Result]]  # by scorer, by attack
_HEADER = ("attack", "ADEM, published")


def page(found: Sai2019, about: About) -> Page:
    """The page."""
    by: _By = {one.scorer: {result.family: result for result in one.results} for one in found.audits}
    fooled, reading = _fooled(by), Prose(_reading(found, by), listed=True)
    adem = found.audits[0]
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
            "geometry": [_cones(one) for one in found.audits if one.cones],
            "breadth": _breadth(found.audits),
            "crossed": _crossed(found),
        },
        [fooled, reading],
        lines=f"{adem.examples:,}",
        contexts=f"{adem.contexts:,}",
        good=f"{adem.good:,}",
        train=f"{len(found.split.train):,}",
        validation=f"{len(found.split.validation):,}",
        encoder=found.encoder,
        conicity=CONICITY,
        fewest=FEWEST,
        pool=f"{found.pool:,}",
        machine=f"the responder {found.responder}" if found.responder else "a bigram model of the attacked replies",
        allowed=percent(adem.allowed),
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


def _table(by: _By, families: Sequence[str], shown: Callable[[Row], str], before: Sequence[Audit] = ()) -> Table:
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
        rows.insert(0, ["the replies as they were", DASH, *(shown(Row(one.mean, one.spread)) for one in before)])
    return table([*_HEADER, *by], rows)


def _about(by: _By, name: str) -> str:
    """What an attack does."""
    return next((own[name].about for own in by.values() if name in own), name)


def _cell(one: Result | None, shown: Callable[[Row], str]) -> str:
    """A cell; a dash where an attack was left out, or found too little to attack."""
    return shown(_row(one)) if _told(one) else DASH


def _told(one: Result | None) -> TypeGuard[Result]:
    """Whether there are examples enough to say something."""
    return one is not None and one.n >= FEWEST


def _row(one: Result) -> Row:
    """A result of ours as a row of the paper's tables."""
    related = one.pearson.value, one.spearman.value
    return Row(one.mean, one.sd, one.within, *related, one.better, lowest=one.lowest, highest=one.highest)


def _spread(one: Row) -> str:
    """Mean and standard deviation."""
    return number(one.mean, 2) if one.sd is None else f"{number(one.mean, 2)} ± {number(one.sd, 2)}"


def _banded(one: Row) -> str:
    """The same, and the share within one standard deviation."""
    return _spread(one) if one.within is None else f"{_spread(one)}, {percent(one.within)}"


def _ranged(one: Row) -> str:
    """Mean and standard deviation, the lowest and the highest."""
    ends = ("" if end is None else number(end, 2) for end in (one.lowest, one.highest))
    return f"{_spread(one)} [{', '.join(ends)}]"


def _related(one: Row) -> str:
    """Pearson's and Spearman's correlation with the original scores, and the share that scores better."""
    values = (np.nan if value is None else value for value in (one.pearson, one.spearman))
    return f"{', '.join(number(value, 2) for value in values)}; {percent(np.nan if one.better is None else one.better)}"


def _searches(by: _By) -> Table:
    """Table 6, and hill climbing: before the attack, which stands beside good replies alone, and after it."""
    before = [_originals(own["pool-best"]) for own in by.values()]
    rows = [["good replies as they were", _ranged(PUBLISHED["reference"]), *map(_ranged, before)]]
    for name in (*POOL_ATTACKS, CLIMBED, DRAWN):
        published = _ranged(PUBLISHED[name]) if name in PUBLISHED else DASH
        rows.append([_about(by, name), published, *(_cell(own.get(name), _ranged) for own in by.values())])
    return table([*_HEADER, *by], rows)


def _originals(one: Result) -> Row:
    """The scores that an attack started from."""
    return Row(one.original_mean, one.original_sd, lowest=one.original_lowest, highest=one.original_highest)


def _fooled(by: _By) -> Table:
    """The share of replies on which each attack fooled each scorer."""
    names = dict.fromkeys(name for own in by.values() for name in own)
    rows = [
        [_about(by, name), *(_verdict(own[name]) if name in own else nothing() for own in by.values())]
        for name in names
    ]
    return table(["attack", *by], rows)


def _verdict(one: Result) -> Cell:
    """The share with its interval, and whether that says fooled."""
    if not _told(one):
        return nothing(one.reason)
    cell = measured(one, share=True)
    return cell._replace(text=f"{cell.text}, fooled") if one.verdict == "fooled" else cell


# geometry


def _cones(audit: Audit) -> Table:
    """How the judge's vectors lie, a row for each side and space."""
    spaces = {"encoder": "encoder's", "head": "projected"}
    rows = [
        [
            cone.judge,
            cone.side,
            spaces[cone.space],
            count(cone.n),
            measured(cone, why=cone.reason),
            *map(plain, (cone.spread, cone.length)),
        ]
        for cone in audit.cones
    ]
    header = ["judge", "side", "vectors", "n", "conicity [low, high]", "spread", "length"]
    return table(header, rows, audit.scorer)


def _breadth(audits: Sequence[Audit]) -> Table:
    """How widely scores are spread beside ratings."""
    rows = []
    for one in audits:
        band = one.breadth
        related = plain(band.pearson.value) if band.pearson.known else nothing(band.pearson.reason)
        rows.append([one.scorer, share(band.scores), share(band.ratings), measured(band, why=band.reason), related])
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
    """How narrow the bands and cones are."""
    adem = found.audits[0]
    raw, seen = (
        next(estimate_of(one) for one in adem.cones if (one.side, one.space) == ("response", space))
        for space in ("encoder", "head")
    )
    published, breadth = PUBLISHED["reference"], estimate_of(adem.breadth)
    return (
        f"Our ADEM gives the replies as they were {_spread(Row(adem.mean, adem.spread))} (published, of references: "
        f"{_spread(published)}), spread {interval(breadth)} times as widely as the ratings, where its "
        f"correlation with them allows {number(adem.breadth.pearson.value, 2)}. Its responses have a conicity of "
        f"{interval(raw)} as encoded and {interval(seen)} as the head sees them (published {CONICITY}; in which "
        "space is not said)."
    )


def _columns(adem: Mapping[str, Result]) -> list[str]:
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


def _generic(adem: Mapping[str, Result]) -> list[str]:
    """What becomes of the universal answer of the paper."""
    if _FANTASTIC not in adem:
        return []
    ours, theirs = adem[_FANTASTIC], PUBLISHED[_FANTASTIC]
    best = max((adem[name] for name in GENERIC if name in adem), key=lambda one: one.better)
    told = f"“fantastic! how are you?” scores better than {percent(ours.better)} of good replies"
    other = "" if best is ours else f"; of the three the best is {best.about}, with {percent(best.better)}"
    return [f"{told} (published {percent(theirs.better or np.nan)}){other}."]


def _raised(adem: Mapping[str, Result]) -> list[str]:
    """What the searches gain."""
    start = PUBLISHED["reference"].mean
    said = []
    for name, what in (("white-box", "along the gradient"), ("pool-best", "by brute force")):
        if name in adem:
            gained = number(adem[name].mean - adem[name].original_mean, 2)
            said.append(f"{gained} points {what} (published {number(PUBLISHED[name].mean - start, 2)})")
    return [f"In place of good replies, those found in the pool score higher by {' and '.join(said)}."] if said else []


def _decided(found: Sai2019, judge: str, by: _By) -> str:
    """Whether one reply pleases a judge over vectors everywhere, or another each context."""
    (audit,) = (one for one in found.audits if one.scorer == judge)
    seen = [one for one in audit.cones if one.side == "response"][-1]  # the last is what the head sees
    crossed = found.crossed[judge]
    better = [
        f"{what} beats {percent(by[judge][name].better)} of good replies"
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
