"""The page of the judge in the box, which is also its card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from rejoinder.judges.bilinear.judge import TERMS, Kind
from rejoinder.papers.judge import BESIDE, CORPORA, SETS, Attack, Found, Member, Unseen
from rejoinder.papers.page import About, paper, table
from rejoinder.report.cells import measured, plain, share
from rejoinder.report.document import Cell, Document, Prose, Table

_HEADER = ["set, unseen", "n", "Pearson", "Spearman", *BESIDE]


def page(found: Found, about: About) -> Document:
    """The page."""
    mean = np.nanmean([[one.pearson.value, one.spearman.value, *one.others] for one in found.unseen], axis=0)
    unseen = table(_HEADER, [*map(_unseen, found.unseen), ["mean of the sets", "", *map(plain, mean)]])
    return paper(
        "judge",
        about,
        {
            "corpora": Prose([f"{name}: {CORPORA[name]}" for name in found.corpora], listed=True),
            "sets": Prose([f"{name}: {SETS[name]}" for name in found.sets], listed=True),
            "unseen": unseen,
            "members": _members(found.members),
            "attacks": _attacks(found.attacks),
        },
        [unseen],
        tokens=found.config["counts"]["train"]["tokens"],
        pearson=mean[0],
        spearman=mean[1],
    )


def _unseen(one: Unseen) -> list[Cell | str]:
    """A set's line of the table."""
    return [one.name, str(one.pearson.n), measured(one.pearson), measured(one.spearman), *map(plain, one.others)]


def _members(members: Sequence[Member]) -> Table:
    """The table of the members."""
    rows = []
    for trained, n, pearson, spearman in members:
        sides = " and ".join(sorted(TERMS[cast("Kind", trained.name)]))
        fitted = str(trained.judge.training["lines"]["train"])
        rows.append([trained.name.upper(), sides, fitted, str(n), plain(pearson), plain(spearman)])
    return table(["member", "reads the response and", "fitted on", "n", "Pearson", "Spearman"], rows)


def _attacks(attacks: Sequence[Attack]) -> Table:
    """The table of the attacks."""
    rows = [
        [one.name, one.expected, str(one.moved.n), measured(one.moved, 2, signed=True), share(one.raised)]
        for one in attacks
    ]
    return table(["response", "should be", "n", "change of the mean score", "scored higher than before"], rows)
