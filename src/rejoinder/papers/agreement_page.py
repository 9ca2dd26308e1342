"""The page of metrics beside published figures, and of the first ADEM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from rejoinder.judges.bilinear.learner import FittedBilinear
from rejoinder.judges.train import Trained
from rejoinder.meta import Study
from rejoinder.papers.agreement import Beside, First, Found
from rejoinder.papers.figures import turn_level
from rejoinder.papers.page import About, paper, table
from rejoinder.report.agreements import agreement_tables
from rejoinder.report.cells import count, measured, plain
from rejoinder.report.document import Block, Cell, Document, Prose, Table

_HEADER = ["dataset", "scorer", "n", "Pearson, ours", "published", "Spearman, ours", "published"]


def page(found: Found, about: About) -> Document:
    """The page."""
    beside = table(_HEADER, map(_beside, found.beside))
    return paper(
        "agreement",
        about,
        {"table": beside, "judges": [block for first in found.firsts for block in _first(first)]},
        [beside],
        lines=len(found.examples),
        copies=sum(example.copies_reference for example in found.examples),
        with_reference=sum(bool(example.references) for example in found.examples),
    )


def _beside(one: Beside) -> list[Cell | str]:
    """Ours beside a published figure."""
    published, pearson, spearman = one
    cells = [measured(pearson), plain(published.pearson), measured(spearman), plain(published.spearman)]
    return [published.dataset, published.scorer, count(pearson.n), *cells]


def _first(first: First) -> list[Block]:
    """ADEM over one file of word vectors."""
    return [
        Prose([_course(first.trained), "Without responses that equal a reference:"], first.name),
        *_pooled(first.studies[0]),
        Prose(["Over five random splits, each scorer on the same lines:"]),
        _spread(first.studies),
        Prose(["The same judge on the same test contexts, responses that equal a reference among them:"]),
        *_pooled(first.copies),
    ]


def _pooled(study: Study) -> Iterator[Table]:
    """Every statistic over the lines of all sets."""
    return agreement_tables(study, dataset="pooled", level="turn")


def _course(trained: Trained) -> str:
    """A few sentences on the training."""
    record = trained.judge.training
    lines, errors = record["lines"], cast("FittedBilinear", trained.fits[0]).course.validation_errors
    left_out = ", ".join(f"{count} {reason}" for reason, count in record["left_out"].items())
    return (
        f"{lines['train']} lines to train, {lines['validation']} to stop, {lines['test']} to test, contexts disjoint; "
        f"left out: {left_out}. Best epoch {record['best_epoch']} of {record['epochs']}; validation error (root mean "
        f"square, rating points of 1 to 5) {errors[0]:.3f} before training, {min(errors):.3f} at best. Validation "
        f"Pearson {record['validation']['pearson']:.3f}, Spearman {record['validation']['spearman']:.3f}."
    )


def _spread(studies: Sequence[Study]) -> Table:
    """How the pooled figures of every scorer vary with the split: mean, lowest and highest; best Spearman first."""
    found = [turn_level(study) for study in studies]
    means, rows = {}, {}
    for scorer in studies[0].signatures:
        rows[scorer] = [scorer]
        for statistic in ("pearson", "spearman"):
            values = [rows_of["pooled", scorer][statistic].value for rows_of in found]
            means[scorer] = sum(values) / len(values)
            rows[scorer].append(f"{means[scorer]:.3f} [{min(values):.3f}, {max(values):.3f}]")
    ordered = sorted(rows.values(), key=lambda cells: -round(means[cells[0]], 3))
    header = ["scorer", "Pearson, mean [lowest, highest]", "Spearman, mean [lowest, highest]"]
    return table(header, ordered)
