"""How a training went, as a document: whether to use the new judge, how it was fitted, and what it stands beside."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from rejoinder.judges.train import Trained
from rejoinder.meta.training import Training
from rejoinder.meta.trial import Candidate, Trial
from rejoinder.documents.cells import count, measured, plain
from rejoinder.documents.document import Cell, Document, Prose, Section, Table

LEVEL = 0.05
_ROLES = {"new": "new judge", "box": "in the box", "metric": "best metric", "baseline": "best trivial"}


def training(done: Training) -> Document:
    """The document."""
    absent = [f"no {one}: {why}" for one, why in done.trained.absent.items()]
    record = done.to_dict()
    members = [fitted(one, one.name.upper() if done.trained.members else "") for one in done.members]
    tried = [cross_validated(done.trial)] if done.trial.candidates else []
    return Document(
        title="A new judge",
        question="Is the new judge worth using?",
        answer=done.answer,
        sections=[Section("How it was fitted", [Prose(absent), *members]), Section("Cross-validation", tried)],
        brief=[Prose(absent), *members, *tried],
        results=record["results"],
        record=record,
    )


def fitted(trained: Trained, title: str = "") -> Table:
    """What a judge was trained on and how, and how far it agrees with people on what it did not see.

    Args:
        trained: a judge and how it was fitted.
        title: of the table.
    """
    training = trained.judge.training
    lines = training["lines"]
    rows: list[tuple[Cell, ...]] = [(Cell("train"), count(lines["train"]), Cell(""), Cell(""))]
    for part in (name for name in ("validation", "test") if name in training):
        values = (training[part][name] for name in ("pearson", "spearman"))
        cells = (plain(math.nan if value is None else value) for value in values)
        rows.append((Cell(part), count(lines[part]), *cells))
    left_out = [f"left out, {reason}: {lost:,}" for reason, lost in training["left_out"].items()]
    account = [sentence for fit in trained.fits for sentence in fit.account]
    said = [*account, *_doubt(training), *left_out]
    return Table(title, "", ("part", "lines", "Pearson", "Spearman"), tuple(rows), notes=said)


def cross_validated(trial: Trial) -> Table:
    """A row a candidate and what to read it by."""
    rows = []
    for one in trial.candidates:
        rows.append((Cell(f"{_ROLES[one.role]}: {one.name}"), measured(one.spearman, 2), measured(one.pearson, 2)))
        if one.role != "new":
            rows.append((Cell("  new judge less it"), measured(one.behind, 2), measured(one.behind_pearson, 2)))
    header = ("cross-validation", "Spearman", "Pearson")
    return Table("", "", header, tuple(rows), folded=header[:1], notes=_notes(trial))


def _notes(trial: Trial) -> list[str]:
    """What was asked of whom, and how the figures came about."""
    lost = f"; {trial.unscored:,} lines that one of them does not score are left out" if trial.unscored else ""
    chosen = [f"{one.name}: {_chosen(one)}." for one in trial.candidates if one.lower or len(set(one.chosen)) > 1]
    return [
        f"{trial.n:,} lines of {trial.contexts:,} contexts in {trial.folds} folds of whole conversations, each scored "
        f"by a judge fitted on the other folds{lost}.",
        *chosen,
        f"{trial.method}; seed {trial.seed}.",
    ]


def _chosen(one: Candidate) -> str:
    """What the folds chose, and which direction."""
    counts = Counter(one.chosen).most_common()
    folds = "the folds chose " + ", ".join(f"{name} ({times})" for name, times in counts)
    return "; ".join([*(["lower is taken as better"] if one.lower else []), *([folds] if len(counts) > 1 else [])])


def _doubt(training: Mapping[str, Any]) -> list[str]:
    """That the test part shows no agreement, where it shows none."""
    p = training["test"].get("p")
    if p is not None and p < LEVEL:
        return []
    few = training["test"]["n"]
    return [f"not shown to agree with people on the {few:,} lines of the test part"]
