"""The page of the judge in the box, which is also its card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from rejoinder.judges.bilinear.judge import TERMS, Kind
from rejoinder.papers.judge import BESIDE, CORPORA, SETS, Attack, Found, Member, Unseen
from rejoinder.papers.page import About, Page, written
from rejoinder.report.markdown import markdown_table
from rejoinder.report.tables import text_table
from rejoinder.stats.written import interval, number, percent

_HEADER = ["set, unseen", "n", "Pearson", "Spearman", *BESIDE]


def page(found: Found, about: About) -> Page:
    """The page, and the table of unseen sets for the terminal."""
    mean = np.nanmean([[one.pearson.value, one.spearman.value, *one.others] for one in found.unseen], axis=0)
    rows = [*map(_unseen, found.unseen), ["mean of the sets", "", *map(number, mean)]]
    text = written(
        "judge",
        about,
        tokens=found.config["counts"]["train"]["tokens"],
        corpora="\n".join(f"- {name}: {CORPORA[name]}" for name in found.corpora),
        sets="\n".join(f"- {name}: {SETS[name]}" for name in found.sets),
        pearson=mean[0],
        spearman=mean[1],
        unseen=markdown_table(_HEADER, rows),
        members=_members(found.members),
        attacks=_attacks(found.attacks),
    )
    return Page(text, {}, text_table(_HEADER, rows, 120))


def _unseen(one: Unseen) -> list[str]:
    """A set's line of the table."""
    return [one.name, str(one.pearson.n), interval(one.pearson), interval(one.spearman), *map(number, one.others)]


def _members(members: Sequence[Member]) -> str:
    """The table of the members."""
    rows = []
    for trained, n, pearson, spearman in members:
        sides = " and ".join(sorted(TERMS[cast("Kind", trained.name)]))
        fitted = str(trained.judge.training["lines"]["train"])
        rows.append([trained.name.upper(), sides, fitted, str(n), number(pearson), number(spearman)])
    return markdown_table(["member", "reads the response and", "fitted on", "n", "Pearson", "Spearman"], rows)


def _attacks(attacks: Sequence[Attack]) -> str:
    """The table of the attacks."""
    rows = [
        [
            one.name,
            one.expected,
            str(one.moved.n),
            interval(one.moved, 2, signed=True),
            percent(one.raised),
        ]
        for one in attacks
    ]
    return markdown_table(["response", "should be", "n", "change of the mean score", "scored higher than before"], rows)
