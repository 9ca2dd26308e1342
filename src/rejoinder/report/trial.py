"""What cross-validation says of a new judge, as a table."""

from __future__ import annotations

import math
from collections import Counter

from rejoinder.meta.trials import Candidate, Trial
from rejoinder.report.tables import text_table
from rejoinder.stats.figure import Figure

_ROLES = {"new": "new judge", "box": "in the box", "metric": "best metric", "baseline": "best trivial"}


def trial_table(trial: Trial, width: int) -> str:
    """A row a candidate and what to read it by; "" where there is no trial."""
    if not trial.candidates:
        return ""
    rows = []
    for one in trial.candidates:
        rows.append([f"{_ROLES[one.role]}: {one.name}", _cell(one.spearman), _cell(one.pearson)])
        if one.role != "new":
            rows.append(["  new judge less it", _cell(one.behind), _cell(one.behind_pearson)])
    header = ["cross-validation", "Spearman", "Pearson"]
    return text_table(header, rows, width, folded=(0,)) + "".join(f"{line}\n" for line in _notes(trial))


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


def _cell(figure: Figure) -> str:
    """A figure and its interval, without a minus sign before zero."""
    if math.isnan(figure.value):
        return "–"
    ends = "" if math.isnan(figure.low) else f" [{figure.low:z.2f}, {figure.high:z.2f}]"
    return f"{figure.value:z.2f}{ends}"
