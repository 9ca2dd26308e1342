"""The page of tweet2vec beside word models."""

from __future__ import annotations

from rejoinder.papers.page import About, Page, written
from rejoinder.papers.tweet2vec import RESAMPLES, Found
from rejoinder.report.markdown import markdown_table
from rejoinder.report.tables import text_table
from rejoinder.stats.written import interval, number

_HEADER = ["model", "n", "precision at 1, %", "mean rank"]


def page(found: Found, about: About) -> Page:
    """The page, and its table for the terminal."""
    tweets = found.tweets
    rows = [
        [row.name, f"{tweets['test']:,}", interval(row.first, 1, ends=1), interval(row.rank, 1, ends=1)]
        for row in found.rows
    ]
    best = [
        [
            name,
            f"{one['updates']:,.0f}",
            number(one["validation_loss"]),
            number(100 * one["precision_at_1"], 1),
            number(one["mean_rank"], 1),
        ]
        for name, one in found.best.items()
    ]
    text = written(
        "tweet2vec",
        about,
        corpus=found.corpus,
        hashtags=found.hashtags,
        train=tweets["train"],
        validation=tweets["validation"],
        test=tweets["test"],
        left_out=", ".join(f"{count:,} {reason}" for reason, count in found.left_out.items()),
        resamples=RESAMPLES,
        table=markdown_table(_HEADER, rows),
        a_tweet=found.a_tweet,
        digest=found.digest,
        best=markdown_table(["", "updates", "loss, nats", "precision at 1, %", "mean rank"], best),
    )
    return Page(text, {}, text_table(_HEADER, rows, 100))
