"""The page of the judge in the box, which is also its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rejoinder.estimates import Estimate
from rejoinder.report.layout import Prose
from rejoinder.report.results import Results
from rejoinder.report.tables import Cell, Table
from research.cells import measured, plain, share, table
from research.domain_page import domain_tables
from research.judge import BESIDE, SETS, Found, Unseen
from research.judge_material import CORPORA
from research.page import About, Page, paper
from research.relevance import PUBLISHED
from research.sai2019 import by_attack


def page(found: Found, about: About) -> Page:
    """The page."""
    unseen, referring = _unseen(found), _referring(found.unseen)
    training = found.trained.judge.training
    shown = [one for one in found.unseen if one.spearman is not None]
    won, of = _won(found.unseen)
    return paper(
        "judge",
        about,
        {
            "corpora": Prose([f"{name}: {CORPORA[name]}" for name in found.corpora], listed=True),
            "sets": Prose([f"{name}: {SETS[name]}" for name in training["datasets"]], listed=True),
            "unseen": unseen,
            "means": _means(found),
            "referring": referring,
            "attacks": attacks_table(found.attacks),
            "relevance": relevance_table(found.relevance),
            **domain_tables(found.domain),
        },
        [unseen],
        written=found.written,
        lines=training["lines"]["train"] + training["lines"]["validation"],
        spearman=found.mean.value,
        won=won,
        of=of,
        held=f"{np.nanmean([one.held for one in shown]):.0%}",
        spread=f"{np.nanmean([one.spread for one in shown]):.0%}",
        domain_mean=f"{found.domain.mean:.1%}",
        unlike=f"{np.nanmean([one.unlike for one in shown]):.0%}",
    )


def _unseen(found: Found) -> Table:
    """The table of sets that no judge had seen, without references."""
    header = [
        "set, unseen",
        "n",
        "Spearman",
        "Pearson",
        "within systems",
        "ratings in the interval",
        "spread",
        "unlike",
    ]
    shown = [one for one in found.unseen if one.spearman is not None and one.pearson is not None]
    rows: list[list[Cell | str]] = [
        [
            one.name,
            str(one.spearman.n),
            measured(one.spearman),
            measured(one.pearson),
            plain(one.within),
            share(one.held),
            share(one.spread),
            share(one.unlike),
        ]
        for one in shown
        if one.spearman is not None and one.pearson is not None
    ]
    means = [np.nanmean([getattr(one, name) for one in shown]) for name in ("within", "held", "spread", "unlike")]
    pearsons = [one.pearson.value for one in shown if one.pearson is not None]
    last = [plain(float(np.mean(pearsons))), plain(float(means[0])), *(share(float(mean)) for mean in means[1:])]
    return table(header, [*rows, ["mean of the sets", str(found.mean.n), measured(found.mean), *last]])


def _means(found: Found) -> Table:
    """The mean correlation of judges that were fitted otherwise."""
    rows = [
        ["as it ships", measured(found.mean)],
        ["without attacked replies and DailyDialog++ to learn from", measured(found.undefended)],
        ["fitted on other conversations of the same sets too", measured(found.seen)],
    ]
    return table(["no references read", "mean Spearman over sets"], rows)


def _referring(unseen: Sequence[Unseen]) -> Table:
    """The table of sets with references."""
    shown = [one for one in unseen if one.referring is not None and one.metrics]
    rows: list[list[Cell | str]] = []
    for one in shown:
        assert one.referring is not None  # noqa: S101 - for the type checker: so they were chosen
        beside = [plain(one.metrics.get(name, float("nan"))) for name in BESIDE]
        rows.append([one.name, str(one.referring.n), measured(one.referring), *beside])
    return table(["set, unseen", "n", "judge", *BESIDE], rows)


def _won(unseen: Sequence[Unseen]) -> tuple[int, int]:
    """On how many sets with references the judge is ahead of every metric, and how many there are."""
    shown = [one for one in unseen if one.referring is not None and one.metrics]
    ahead = [one.referring is not None and one.referring.value > max(one.metrics.values()) for one in shown]
    return sum(ahead), len(ahead)


def attacks_table(attacks: Mapping[str, Results]) -> Table:
    """Return what every attack did, a column for each data set that the judge had not seen."""
    by_set = {name: by_attack(results) for name, results in attacks.items()}
    families = dict.fromkeys(family for attacked in by_set.values() for family in attacked)
    rows = []
    for family in families:
        known = [sets[family] for sets in by_set.values() if family in sets and sets[family].share.has_interval]
        if known:
            cells = [
                measured(sets[family].share, 2) if family in sets else plain(float("nan")) for sets in by_set.values()
            ]
            rows.append([family, known[0].facts["goal"], *cells])
    return table(["attack", "would show", *(f"fooled, {name}" for name in by_set)], rows)


def relevance_table(estimates: Sequence[Estimate]) -> Table:
    """Return how well relevant replies are distinguished from irrelevant ones."""
    header = ["DailyDialog++, test part: irrelevant replies", "statistic", "n", "judge", "DEB, published"]
    return table(
        header,
        [
            [
                row.group,
                row.statistic,
                str(row.n),
                measured(row),
                plain(PUBLISHED.get((row.group, row.statistic), np.nan)),
            ]
            for row in estimates
        ],
    )
