"""The page of tweet2vec beside word models."""

from __future__ import annotations

from rejoinder.papers.page import About, paper, table
from rejoinder.papers.tweet2vec import RESAMPLES, Found
from rejoinder.report.cells import count, measured, plain
from rejoinder.report.document import Document

_HEADER = ["model", "n", "precision at 1, %", "mean rank"]


def page(found: Found, about: About) -> Document:
    """The page."""
    tweets = found.tweets
    rows = [
        [row.name, count(tweets["test"]), measured(row.first, 1, ends=1), measured(row.rank, 1, ends=1)]
        for row in found.rows
    ]
    best = [
        [
            name,
            f"{one['updates']:,.0f}",
            plain(one["validation_loss"]),
            plain(100 * one["precision_at_1"], 1),
            plain(one["mean_rank"], 1),
        ]
        for name, one in found.best.items()
    ]
    ranks = table(_HEADER, rows)
    return paper(
        "tweet2vec",
        about,
        {"table": ranks, "best": table(["", "updates", "loss, nats", "precision at 1, %", "mean rank"], best)},
        [ranks],
        corpus=found.corpus,
        hashtags=found.hashtags,
        train=tweets["train"],
        validation=tweets["validation"],
        test=tweets["test"],
        left_out=", ".join(f"{lost:,} {reason}" for reason, lost in found.left_out.items()),
        resamples=RESAMPLES,
        a_tweet=found.a_tweet,
        digest=found.digest,
    )
